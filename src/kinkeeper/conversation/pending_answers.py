"""Open questions come first: a yes runs what it means, a no drops it, an edit plans it anew."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.proposals import supersede
from kinkeeper.actions.receipts import settled as receipt_of_settled
from kinkeeper.actions.requests.model import ActionResult, Asked, ResultStatus
from kinkeeper.actions.requests.request_runner import result_of
from kinkeeper.conversation.model import Confirmation, Social, Triage
from kinkeeper.conversation.questions import Meant, Open, Verb, decide, meant_by, told
from kinkeeper.conversation.routing.confirmation import Decision, hesitates, refuses
from kinkeeper.conversation.stages import Course, Stage
from kinkeeper.conversation.tool_loop import Acted
from kinkeeper.conversation.tool_work import ToolWork
from kinkeeper.memory.finding.terms import stems
from kinkeeper.store.store import Store

_VERBS = {Confirmation.YES: Verb.CONFIRM, Confirmation.NO: Verb.REJECT}
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
        found: What is open.
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
            text: The message.
            triage: Where it goes.
            consent: What it says to an open question by itself.
        """
        self._said = text
        said = consent.kind if consent is not None else None
        if said is None and len(self._found.fresh) == 1:
            is_dropped = triage.social is Social.CANCEL
            if hesitates(text) or (is_dropped and not refuses(text)):
                return _still_open(self._found.fresh[0])
            said = Confirmation.NO if is_dropped else None
        if said is Confirmation.EDIT and len(self._found.fresh) == 1:
            edited = [result_of(self._found.fresh[0])]
            return Decided(confirmation=Confirmation.EDIT, edited=edited)
        verb = _VERBS.get(said) if said is not None else None
        is_weak = consent is not None and consent.is_weak
        meant = meant_by(text, verb, self._found, is_weak=is_weak)
        if meant is None:
            return self._lapsed(asked) if said is Confirmation.YES else None
        if meant.question is not None and meant.verb is Verb.CONFIRM and not asked.member.is_adult:
            return Decided(confirmation=Confirmation.YES, question=_ADULTS_ONLY)
        if meant.question is not None:
            return Decided(
                confirmation=_SAID[meant.verb], question=meant.question,
                asked_about=meant.asked_about,
            )  # fmt: skip
        return Decided(confirmation=_SAID[meant.verb], results=await self._decide(meant, asked))

    async def replace(self, edited: Sequence[ActionResult], acted: Acted, asked: Asked) -> None:
        """Let what was planned anew take the place of what it was planned from, and of what awaits a yes for the same.

        Args:
            edited: What the message wanted otherwise; none where it was planned by itself.
            acted: What the new plan came to.
            asked: Who speaks, when.
        """
        new = [each for each in acted.results if each.action_id is not None]
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

    def _lapsed(self, asked: Asked) -> Decided | None:
        """Say of what a yes comes too late for how it stands."""
        if self._found.lapsed is None:
            return None
        result = told(receipt_of_settled(self._found.lapsed, asked.household))
        return Decided(confirmation=Confirmation.YES, results=[result])


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
    is_same = bool(old.result.get("id")) and _thing(new) == _thing(old)
    if is_same_thing:
        return is_same
    return is_same or (new.domain, new.action) == (old.domain, old.action)


def _thing(result: ActionResult) -> tuple[Any, ...]:
    """Return what a request is about, as it stands before it: which event, at which time of it."""
    known = result.result.get("before")
    before = known if isinstance(known, Mapping) else result.result
    return (result.domain, result.result.get("id"), before.get("original_start"))
