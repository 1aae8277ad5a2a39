"""What a message says to the questions that are open in its thread: a yes means exactly one of them, or asks which."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.requests.model import ActionResult, Asked, ResultStatus
from kinkeeper.actions.requests.performing import result_of
from kinkeeper.actions.states import as_of
from kinkeeper.conversation.choosing import chosen
from kinkeeper.conversation.turn import Turn

FRESH = timedelta(minutes=10)
"""How long a plain yes may mean something."""

_LATELY = timedelta(days=3)
_UNDECIDED = frozenset({ActionStatus.EXPIRED, ActionStatus.WITHDRAWN})
_REFUSED = frozenset({Outcome.DENIED, Outcome.CHANGED})


class Verb(StrEnum):
    """What a person decides about an open question."""

    CONFIRM = "confirm"
    REJECT = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """What awaits this person in a thread.

    Attributes:
        fresh: Open, and asked about lately; oldest first.
        older: Open, asked about long ago.
        lapsed: The last one, where time ran out or what was said has been taken back.
        listed: Those that the last answer listed, in its order, to choose among.
        verb: What was to be done with the one chosen.
    """

    fresh: Sequence[PendingAction] = ()
    older: Sequence[PendingAction] = ()
    lapsed: PendingAction | None = None
    listed: Sequence[PendingAction] = ()
    verb: Verb = Verb.CONFIRM

    @property
    def asked(self) -> str | bool:
        """What a yes or no may be about, in words; False where there is nothing."""
        if self.all:
            return ". ".join(action.proposal.summary for action in self.all)
        return self.lapsed.proposal.summary if self.lapsed is not None else False

    @property
    def all(self) -> Sequence[PendingAction]:
        """All that is open, the oldest first."""
        return (*self.older, *self.fresh)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What a message means by its yes or no.

    Attributes:
        verb: What is decided.
        actions: About these, at least one; none where it has to be asked.
        question: What to ask, where it has to be asked.
        ask_about: The actions that the question lists.
    """

    verb: Verb
    actions: Sequence[PendingAction] = ()
    question: str | None = None
    ask_about: Sequence[PendingAction] = ()

    @property
    def asked_about(self) -> Mapping[str, Any] | None:
        """As it is stored with the turn."""
        if not self.ask_about:
            return None
        return {"verb": self.verb.value, "actions": [action.id for action in self.ask_about]}


def find_open(conn: Connection, household: str, earlier: Sequence[Turn], *, now: datetime) -> Open:
    """Return what is open in a thread.

    Args:
        conn: Any transaction.
        household: Tenant key.
        earlier: Turns of the thread before this one, oldest first.
        now: Aware.
    """
    asked_at = _asked_at(earlier)
    if not asked_at:
        return Open()
    found = {each: as_of(load_action(conn, household, each), now) for each in asked_at}
    waiting = [
        found[id_]
        for id_ in sorted(asked_at, key=asked_at.__getitem__)
        if found[id_].status is ActionStatus.PENDING
    ]
    listed = earlier[-1].asked_about or {"verb": Verb.CONFIRM, "actions": []}
    newest = max(asked_at, key=asked_at.__getitem__)
    return Open(
        fresh=[each for each in waiting if now - asked_at[each.id] <= FRESH],
        older=[each for each in waiting if now - asked_at[each.id] > FRESH],
        lapsed=_lapsed(found[newest], now - asked_at[newest]) if not waiting else None,
        listed=[each for id_ in listed["actions"] for each in waiting if each.id == id_],
        verb=Verb(listed["verb"]),
    )  # fmt: skip


def meant_by(text: str, verb: Verb | None, found: Open, *, is_weak: bool = False) -> Meant | None:
    """Return what a message decides, or what has to be asked first; None where it decides nothing. Pure.

    Args:
        text: The message.
        verb: What it says by itself to an open question; None where it says neither yes nor no.
        found: What is open.
        is_weak: Whether it is a yes that only counts for what is easily put right.
    """
    if found.listed:
        picked = chosen(text, [each.proposal.summary for each in found.listed])
        if picked:
            return Meant(verb=verb or found.verb, actions=[found.listed[each] for each in picked])
    if verb is None or not found.all:
        return None
    picked = chosen(text, [each.proposal.summary for each in found.all])
    targets = [found.all[each] for each in picked] or _only(found)
    if not targets:
        return _which(verb, found)
    if verb is Verb.CONFIRM and is_weak and _is_high(targets):
        return Meant(verb=verb, question=_sure(targets), ask_about=targets)
    return Meant(verb=verb, actions=targets)


def decide(conn: Connection, meant: Meant, asked: Asked) -> list[ActionResult]:
    """Confirm or reject what a message means, bound to what was shown; return what came of it.

    Args:
        conn: In a write transaction.
        meant: With actions.
        asked: Who decides, when.
    """
    return [_decided(conn, action, meant.verb, asked) for action in meant.actions]


def _decided(conn: Connection, action: PendingAction, verb: Verb, asked: Asked) -> ActionResult:
    settle = approvals.confirm if verb is Verb.CONFIRM else approvals.reject
    receipt = settle(
        conn, action.id, member=asked.member, household=asked.household, now=asked.now,
        expected_hash=action.payload_hash,
    )  # fmt: skip
    return told(receipt)


def told(receipt: Receipt) -> ActionResult:
    """Return what a press came to as a result of the turn."""
    result = result_of(receipt.action)
    if receipt.outcome in _REFUSED:
        return replace(result, status=ResultStatus.FAILED, error=receipt.message)
    if result.status is ResultStatus.CANCELLED and not receipt.is_change:
        return replace(result, error=receipt.message)
    return result


def _only(found: Open) -> Sequence[PendingAction]:
    return found.fresh if len(found.fresh) == 1 else ()


def _which(verb: Verb, found: Open) -> Meant:
    about = found.fresh or found.older
    what = "go ahead with" if verb is Verb.CONFIRM else "drop"
    if len(about) == 1:
        return Meant(
            verb=verb, question=f"Do you mean this: {about[0].proposal.summary}?", ask_about=about
        )
    lines = "\n".join(f"{at}. {each.proposal.summary}" for at, each in enumerate(about, start=1))
    return Meant(verb=verb, question=f"Which one shall I {what}?\n{lines}", ask_about=about)


def _sure(targets: Sequence[PendingAction]) -> str:
    summaries = "; ".join(each.proposal.summary for each in targets)
    return f"This cannot easily be put right, so please say yes in words: {summaries}"


def _is_high(targets: Sequence[PendingAction]) -> bool:
    return any(each.proposal.stakes is Stakes.HIGH for each in targets)


def _lapsed(action: PendingAction, age: timedelta) -> PendingAction | None:
    """Return an action that time or others have settled, if a yes may still mean it."""
    return action if action.status in _UNDECIDED and age <= _LATELY else None


def _asked_at(earlier: Sequence[Turn]) -> dict[str, datetime]:
    """Return when each action that awaited somebody was last spoken of."""
    asked: dict[str, datetime] = {}
    for turn in earlier:
        waiting = [
            each.action_id
            for each in turn.results
            if each.status is ResultStatus.AWAITING and each.action_id is not None
        ]
        listed = (turn.asked_about or {}).get("actions", ())
        asked |= dict.fromkeys((*waiting, *listed), turn.received_at)
    return asked
