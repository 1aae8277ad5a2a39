"""What a message says to the questions that are open in its thread, and what comes of a yes, a no or an edit."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import accumulate, product
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.authority import is_own
from kinkeeper.actions.consent import Stakes, highest
from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction, as_of
from kinkeeper.actions.proposals import supersede
from kinkeeper.actions.readers import Reader, waiting_for
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.receipts import settled as receipt_of_settled
from kinkeeper.actions.registry import stakes_of
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.requests.model import ActionResult, Asked, ResultStatus
from kinkeeper.actions.requests.request_runner import result_of
from kinkeeper.conversation.choice_words import chosen, means_all, only_chooses
from kinkeeper.conversation.model import Branch, Confirmation, Mode, Social, Triage
from kinkeeper.conversation.routing.confirmation import Decision, hesitates, refuses, rethinks
from kinkeeper.conversation.stages import Course, Stage
from kinkeeper.conversation.tool_loop import TAKE_BACK_WHAT, Acted
from kinkeeper.conversation.tool_work import ToolWork
from kinkeeper.conversation.turn import Turn
from kinkeeper.memory.finding.terms import stems
from kinkeeper.reading.asked import StateKind, asked_state
from kinkeeper.store.store import Store

FRESH = timedelta(minutes=10)
"""How long a plain yes may mean something."""

_LATELY = timedelta(days=3)
_UNDECIDED = frozenset({ActionStatus.EXPIRED, ActionStatus.WITHDRAWN})
_PLEASANT = frozenset({Mode.ACKNOWLEDGE, Mode.IGNORE, Mode.CANCEL})
_REFUSED = frozenset({Outcome.DENIED, Outcome.CHANGED})
_TIMES = frozenset({"start_time", "deadline", "shift_minutes"})

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
        latest: Those that the last turn asked about.
        is_past: Whether the last turn wrote something, and asked about nothing.
        is_passed_over: Whether the last turn was about something else, or nothing came of a second thought: then a plain
            yes or no may mean that.
    """

    fresh: Sequence[PendingAction] = ()
    older: Sequence[PendingAction] = ()
    lapsed: PendingAction | None = None
    listed: Sequence[PendingAction] = ()
    verb: Verb = Verb.CONFIRM
    latest: Sequence[PendingAction] = ()
    is_past: bool = False
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
        earlier: Turns of the thread before this one, oldest first.
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
    asked_last = _asked_at([last])
    fresh = [each for each in waiting if timedelta(0) <= now - asked_at[each.id] <= FRESH]
    return Open(
        fresh=fresh,
        older=[each for each in waiting if each not in fresh],
        lapsed=_lapsed(found[newest], now - asked_at[newest]) if not waiting else None,
        listed=[found[id_] for id_ in listed["actions"]],
        verb=Verb(listed["verb"]),
        latest=[each for each in fresh if each.id in asked_last],
        is_past=not asked_last
        and any(each.status is ResultStatus.DONE and each.action_id for each in last.results),
        is_passed_over=_passes_over(last),
    )


def meant_by(text: str, verb: Verb | None, found: Open, *, is_weak: bool = False) -> Meant | None:
    """Return what a message decides, or what has to be asked first; None where it decides nothing. Pure.

    Args:
        verb: What it says by itself to an open question; None where it says neither yes nor no.
        is_weak: Whether it is a yes that only counts for what is easily put right.
    """
    if found.listed:
        picked = _picked(text, verb, found.listed)
        # A single one was asked about because its yes has to be plain.
        if picked and (verb is not None or len(found.listed) > 1):
            return _meant(verb or found.verb, picked, is_weak=is_weak)
    if verb is None or not found.all:
        return None
    if verb is Verb.REJECT and found.is_passed_over:
        labels = [each.proposal.summary for each in found.all]
        if not only_chooses(text, labels):
            return None  # it tells more, of what was spoken of since
    if verb is Verb.REJECT and not _picked(text, verb, found.all):
        return _dropped(found)
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
    """Confirm or reject what a message means, bound to what was shown; return what came of it."""
    return [_decided(conn, action, meant.verb, asked) for action in meant.actions]


def _decided(conn: Connection, action: PendingAction, verb: Verb, asked: Asked) -> ActionResult:
    settle = approvals.confirm if verb is Verb.CONFIRM else approvals.reject
    receipt = settle(
        conn,
        action.id,
        member=asked.member,
        household=asked.household,
        now=asked.now,
        expected_hash=action.payload_hash,
    )
    return told(receipt)


def told(receipt: Receipt) -> ActionResult:
    """Return what a press came to as a result of the turn."""
    proposal = receipt.action.proposal
    if not proposal.request:  # it comes from a group's talk
        event = proposal.suggested_event or {}
        return ActionResult(
            domain="calendar",
            action="create_event",
            status=ResultStatus.CANCELLED,
            params={"summary": event.get("summary"), "start_time": event.get("start")},
            error=receipt.message,
        )
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


def _dropped(found: Open) -> Meant | None:
    """Return what a no drops that names nothing: what the last turn asked about, or the only thing; None where it means neither."""
    if found.is_past:
        return Meant(verb=Verb.REJECT, question=TAKE_BACK_WHAT)
    if found.is_passed_over:
        return _which(Verb.REJECT, found) if _only(found) else None
    if len(found.latest) > 1:
        return _which(Verb.REJECT, replace(found, fresh=found.latest))
    targets = found.latest or _only(found)
    return Meant(verb=Verb.REJECT, actions=targets) if targets else None


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
    """Whether a turn asks for no yes itself, and is more than a pleasantry: an answer right after it may belong to it."""
    if last.asked_about or any(each.status is ResultStatus.AWAITING for each in last.results):
        return False
    return last.mode not in _PLEASANT or (not last.results and rethinks(last.text))


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


# Open questions come first: a yes runs what it means, a no drops it, an edit plans it anew.

_VERBS = {Confirmation.YES: Verb.CONFIRM, Confirmation.NO: Verb.REJECT}
_ALL_VERBS = {StateKind.APPROVE_ALL: Verb.CONFIRM, StateKind.REJECT_ALL: Verb.REJECT}
_NOTHING_WAITS = "Nothing is waiting for approval."
_LONGEST_LIST, _MARK = 400, 4
"""How many characters an answer shows of what waits, so that it is never cut; and of each number before it."""

_ADULTS_ONLY = "An adult has to approve that."
_SAID = {Verb.CONFIRM: Confirmation.YES, Verb.REJECT: Confirmation.NO}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What a message said to open questions.

    Attributes:
        confirmation: By and large; None where it leaves everything open.
        results: What came of it.
        question: What has to be asked first.
        asked_about: What the question lists, as it is stored.
        edited: What awaits a yes and is wanted otherwise.
    """

    confirmation: Confirmation | None
    results: Sequence[ActionResult] = ()
    question: str | None = None
    asked_about: Mapping[str, Any] | None = None
    edited: Sequence[ActionResult] = ()


class Settler:
    """Settles the open questions of one turn.

    Args:
        store: The household's database.
        work: Waits for servers outside, behind the talk where that takes long.
        course: Takes down how it goes.
    """

    def __init__(self, store: Store, work: ToolWork, *, found: Open, course: Course) -> None:
        self._store = store
        self._work = work
        self._found = found
        self._course = course
        self._said = ""

    async def settle(
        self, asked: Asked, text: str, triage: Triage, consent: Decision | None
    ) -> Decided | None:
        """Do what a message decides; None where it decides nothing.

        Args:
            asked: Who speaks, when.
            consent: What it says to an open question by itself.
        """
        self._said = text
        said = consent.kind if consent is not None else None
        if said is None and len(self._found.fresh) == 1:
            is_dropped = triage.social is Social.CANCEL
            if hesitates(text) or (is_dropped and not refuses(text)):
                return _still_open(self._found.fresh[0])
            said = Confirmation.NO if is_dropped else None
        if said is Confirmation.EDIT and len(self._found.fresh) == 1 and not self._found.is_past:
            edited = [result_of(self._found.fresh[0])]
            return Decided(confirmation=Confirmation.EDIT, edited=edited)
        is_social = triage.branch is Branch.SOCIAL
        if (listed := await self._all_listed(asked, text, is_social=is_social)) is not None:
            return listed
        verb = _VERBS.get(said) if said is not None else None
        is_weak = consent is not None and consent.is_weak
        meant = meant_by(text, verb, self._found, is_weak=is_weak)
        if meant is None:
            return self._lapsed(asked) if said is Confirmation.YES else None
        if (
            meant.question is not None
            and meant.verb is Verb.CONFIRM
            and _is_for_adults(meant, asked)
        ):
            return Decided(confirmation=Confirmation.YES, question=_ADULTS_ONLY)
        if meant.question is not None:
            return Decided(
                confirmation=_SAID[meant.verb],
                question=meant.question,
                asked_about=meant.asked_about,
            )
        return Decided(confirmation=_SAID[meant.verb], results=await self._decide(meant, asked))

    async def replace(self, edited: Sequence[ActionResult], acted: Acted, asked: Asked) -> None:
        """Let what was planned anew take the place of what it was planned from, and of what awaits a yes for the same.

        Args:
            edited: What the message wanted otherwise; none where it was planned by itself.
            acted: What the new plan came to.
            asked: Who speaks, when.
        """
        new = [each for each in acted.results if each.action_id not in {None, *acted.further}]
        waiting = [each for each in new if each.status is ResultStatus.AWAITING]
        pairs = [*_pairs(edited, [each for each in new if each.status is not ResultStatus.FAILED])]
        if waiting:
            pairs += _pairs(map(result_of, self._found.all), waiting, is_same_thing=True)
            pairs += _corrected(map(result_of, self._found.all), waiting, self._said)

        def supersede_all(conn: Connection) -> None:
            for old_id, new_id in pairs:
                supersede(
                    conn, old_id, household=asked.household.id, by_action_id=new_id, now=asked.now
                )

        if pairs:
            async with self._course.timed(Stage.QUESTION):
                await self._store.write(supersede_all)

    async def _decide(self, meant: Meant, asked: Asked) -> list[ActionResult]:
        async with self._course.timed(Stage.QUESTION):
            results = await self._store.write(lambda conn: decide(conn, meant, asked))
            return [await self._work.settled(each) for each in results]

    async def _all_listed(self, asked: Asked, text: str, *, is_social: bool) -> Decided | None:
        """Show all that waits where an adult decides on all of it, so that nothing is decided that was not shown."""
        state = asked_state(text, (asked.household.bot_name,))
        is_listed = bool(self._found.listed)
        if state is None or state.kind not in _ALL_VERBS or is_listed or not asked.member.is_adult:
            return None
        reader = Reader(
            member=asked.member,
            household=asked.household,
            viewer=asked.viewer,
            is_shared=asked.is_shared,
        )
        waiting = await self._store.read(lambda conn: waiting_for(conn, reader, now=asked.now))
        if not waiting:
            is_hollow = is_social and self._found.lapsed is None
            return Decided(confirmation=None, question=_NOTHING_WAITS) if is_hollow else None
        if {each.id for each in waiting} <= {each.id for each in self._found.fresh}:
            return None
        shown = [
            each
            for each, length in zip(
                waiting,
                accumulate(len(each.proposal.summary) + _MARK for each in waiting),
                strict=True,
            )
            if length <= _LONGEST_LIST
        ] or waiting[:1]
        meant = _which(_ALL_VERBS[state.kind], Open(fresh=shown))
        say = "yes to all" if meant.verb is Verb.CONFIRM else "no to all"
        more = f"\nSay “{say}” for everything on this list." if len(shown) > 1 else ""
        if left := len(waiting) - len(shown):
            more += f" {left} more {'waits' if left == 1 else 'wait'} in the inbox."
        return Decided(
            confirmation=None, question=f"{meant.question}{more}", asked_about=meant.asked_about
        )

    def _lapsed(self, asked: Asked) -> Decided | None:
        """Say of what a yes comes too late for how it stands."""
        if self._found.lapsed is None:
            return None
        result = told(receipt_of_settled(self._found.lapsed, asked.household))
        return Decided(confirmation=Confirmation.YES, results=[result])


def _is_for_adults(meant: Meant, asked: Asked) -> bool:
    """Whether the person may say yes to nothing that a question lists."""
    me = asked.member
    return not me.is_adult and not any(
        is_own(each, me, asked.household) for each in meant.ask_about
    )


def _still_open(action: PendingAction) -> Decided:
    """Return that a message which only hesitates decides nothing."""
    question = f"No hurry. This is still waiting for your approval: {action.proposal.summary}."
    asked_about = {"verb": Verb.CONFIRM.value, "actions": [action.id]}
    return Decided(confirmation=None, question=question, asked_about=asked_about)


def _pairs(
    old: Iterable[ActionResult], new: Sequence[ActionResult], *, is_same_thing: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the ids of actions with that which takes their place: the same kind of request, or of the same thing."""
    for each in old:
        found = next((one for one in new if _follows(one, each, is_same_thing=is_same_thing)), None)
        if found is not None and each.action_id and found.action_id not in {None, each.action_id}:
            yield each.action_id, str(found.action_id)


def _corrected(
    old: Iterable[ActionResult], new: Sequence[ActionResult], text: str
) -> Iterator[tuple[str, str]]:
    """Yield the ids of events that wait with that which takes their place: the same one, set right by "it's at 5"."""
    said = {*stems(text)}
    for each, one in product(old, new):
        title = str(each.params.get("summary", ""))
        is_same = title and title == one.params.get("summary") and each.action == one.action
        if is_same and each.action == "create_event" and said.isdisjoint(stems(title)):
            ids = each.action_id, one.action_id
            if ids[0] and ids[1] and ids[0] != ids[1]:
                yield ids[0], ids[1]


def _follows(new: ActionResult, old: ActionResult, *, is_same_thing: bool) -> bool:
    if _adds_to(new, old):
        return False
    is_same = bool(old.result.get("id")) and _thing(new) == _thing(old)
    if is_same_thing:
        return is_same
    return is_same or (new.domain, new.action) == (old.domain, old.action)


def _adds_to(new: ActionResult, old: ActionResult) -> bool:
    """Whether a request leaves something of another one standing: other lines of a note, or other details of a thing."""
    parts, before = _parts(new), _parts(old)
    return bool(parts and before) and not before <= parts


def _parts(result: ActionResult) -> frozenset[str]:
    """Return what of a thing a request is about, without which way it changes; none where it is about all of it."""
    params = result.params
    if isinstance(params.get("changes"), Mapping):
        return frozenset("time" if each in _TIMES else each for each in params["changes"])
    if result.action == "set_audience":
        return frozenset({"audience"})
    lines = params.get("line") or params.get("body") if result.domain == "notes" else ""
    return frozenset(str(lines or "").casefold().splitlines())


def _thing(result: ActionResult) -> tuple[Any, ...]:
    """Return what a request is about, as it stands before it: which event, at which time of it."""
    known = result.result.get("before")
    before = known if isinstance(known, Mapping) else result.result
    return (result.domain, result.result.get("id"), before.get("original_start"))
