"""What a message says to the questions that are open in its thread: a yes means exactly one of them, or asks which."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.consent import Stakes, highest
from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.registry import stakes_of
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.requests.model import ActionResult, Asked, ResultStatus
from kinkeeper.actions.requests.request_runner import result_of
from kinkeeper.actions.states import as_of
from kinkeeper.conversation.choices import chosen, means_all, only_chooses
from kinkeeper.conversation.routing.confirmation import rethinks
from kinkeeper.conversation.turn import Turn

FRESH = timedelta(minutes=10)
"""How long a plain yes may mean something."""

_LATELY = timedelta(days=3)
_UNDECIDED = frozenset({ActionStatus.EXPIRED, ActionStatus.WITHDRAWN})
_NOT_DONE = frozenset({ResultStatus.FAILED, ResultStatus.UNCLEAR})
_REFUSED = frozenset({Outcome.DENIED, Outcome.CHANGED})

_SENDS = re.compile(r"\b(?:send|mail|e-mail|email|post|forward)\b", re.IGNORECASE)
"""A yes that speaks of sending is none to what sends nothing."""

_SENT = frozenset({ActionType.EMAIL, ActionType.FOREIGN_TOOL})


class Verb(StrEnum):
    """What a person decides about an open question."""

    CONFIRM = "confirm"
    REJECT = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """What awaits this person in a thread.

    Attributes:
        fresh: Open, and asked about lately; oldest first.
        older: Open, asked about long ago, or only after the message was sent.
        lapsed: The last one, where time ran out or what was said has been taken back.
        listed: Those that the last answer listed, in its order, to choose among; also what was settled since.
        verb: What was to be done with the one chosen.
        is_passed_over: Whether the last answer told of something else that could not be done, or nothing came of a
            second thought: then a plain yes may mean that.
    """

    fresh: Sequence[PendingAction] = ()
    older: Sequence[PendingAction] = ()
    lapsed: PendingAction | None = None
    listed: Sequence[PendingAction] = ()
    verb: Verb = Verb.CONFIRM
    is_passed_over: bool = False

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
    """Return what was open in a thread when a message came.

    What was decided while the message waited, or by an earlier try of it, counts as open: the decision then
    meets that one again, and no other in its place.

    Args:
        conn: Any transaction.
        household: Tenant key.
        earlier: Turns of the thread before this one, oldest first.
        now: When the message came, aware.
    """
    asked_at = {each: at for each, at in _asked_at(earlier).items() if now - at <= _LATELY}
    if not asked_at:
        return Open()
    found = {each: as_of(load_action(conn, household, each), now) for each in asked_at}
    told_settled = _told_settled(earlier)
    waiting = [
        found[id_]
        for id_ in sorted(asked_at, key=asked_at.__getitem__)
        if found[id_].status is ActionStatus.PENDING
        or (id_ not in told_settled and _decided_since(found[id_], now))
    ]
    last = earlier[-1]
    seen = last.asked_about if last.finished_at is not None and last.finished_at <= now else None
    listed = seen or {"verb": Verb.CONFIRM, "actions": []}
    newest = max(asked_at, key=asked_at.__getitem__)
    fresh = [each for each in waiting if timedelta(0) <= now - asked_at[each.id] <= FRESH]
    return Open(
        fresh=fresh,
        older=[each for each in waiting if each not in fresh],
        lapsed=_lapsed(found[newest], now - asked_at[newest]) if not waiting else None,
        listed=[found[id_] for id_ in listed["actions"]],
        verb=Verb(listed["verb"]), is_passed_over=_passes_over(last),
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
        picked = _picked(text, verb, found.listed)
        # A single one was asked about because its yes has to be plain.
        if picked and (verb is not None or len(found.listed) > 1):
            return _meant(verb or found.verb, picked, is_weak=is_weak)
    if verb is None or not found.all:
        return None
    # "Yes to all" means what was asked lately, and nothing that was asked long ago.
    about = found.fresh if found.fresh and means_all(text) else found.all
    named = _picked(text, verb, about)
    targets = named or _only(found)
    is_in_doubt = verb is Verb.CONFIRM and found.is_passed_over and not named
    if (
        not targets
        or is_in_doubt
        or (verb is Verb.CONFIRM and _SENDS.search(text) and _stays_at_home(targets))
    ):
        return _which(verb, found)
    return _meant(verb, targets, is_weak=is_weak)


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


def _picked(
    text: str, verb: Verb | None, among: Sequence[PendingAction]
) -> Sequence[PendingAction]:
    """Return those that a message names; a no may say more besides, for it does nothing."""
    labels = [each.proposal.summary for each in among]
    if verb is not Verb.REJECT and not only_chooses(text, labels):
        return ()
    return [among[each] for each in chosen(text, labels)]


def _meant(verb: Verb, targets: Sequence[PendingAction], *, is_weak: bool) -> Meant:
    if verb is Verb.CONFIRM and is_weak and _is_high(targets):
        return Meant(verb=verb, question=_sure(targets), ask_about=targets)
    return Meant(verb=verb, actions=targets)


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
    return Meant(verb=verb, question=f"Which one should I {what}?\n{lines}", ask_about=about)


def _sure(targets: Sequence[PendingAction]) -> str:
    summaries = "; ".join(each.proposal.summary for each in targets)
    return f"This can't easily be undone, so please type “yes” to confirm: {summaries}"


def _stays_at_home(targets: Sequence[PendingAction]) -> bool:
    return not any(each.proposal.type in _SENT for each in targets)


def _is_high(targets: Sequence[PendingAction]) -> bool:
    return any(
        highest(each.proposal.stakes, stakes_of(each.proposal.effects)) is Stakes.HIGH
        for each in targets
    )


def _lapsed(action: PendingAction, age: timedelta) -> PendingAction | None:
    """Return an action that time or others have settled, if a yes may still mean it."""
    return action if action.status in _UNDECIDED and age <= _LATELY else None


def _decided_since(action: PendingAction, now: datetime) -> bool:
    return (
        action.decided_by is not None and action.decided_at is not None and action.decided_at >= now
    )


def _passes_over(last: Turn) -> bool:
    """Whether a turn tells of what could not be done, or came to nothing though it was a second thought, and asks for no yes itself."""
    statuses = {each.status for each in last.results}
    is_not_done = bool(statuses & _NOT_DONE) and ResultStatus.AWAITING not in statuses
    return is_not_done or (not last.results and not last.asked_about and rethinks(last.text))


def _told_settled(earlier: Sequence[Turn]) -> frozenset[str]:
    """Return the actions of which a thread has been told what a decision came to."""
    return frozenset(
        each.action_id
        for turn in earlier
        for each in turn.results
        if each.status is not ResultStatus.AWAITING and each.action_id is not None
    )


def _asked_at(earlier: Sequence[Turn]) -> dict[str, datetime]:
    """Return when a person could last read of each action that awaited somebody."""
    asked: dict[str, datetime] = {}
    for turn in earlier:
        waiting = [
            each.action_id
            for each in turn.results
            if each.status is ResultStatus.AWAITING and each.action_id is not None
        ]
        listed = (turn.asked_about or {}).get("actions", ())
        asked |= dict.fromkeys((*waiting, *listed), turn.finished_at or turn.received_at)
    return asked
