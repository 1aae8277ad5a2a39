"""Open questions come first: a yes runs what it means, a no drops it, an edit plans it anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.proposals import supersede
from kinkeeper.actions.receipts import settled as receipt_of_settled
from kinkeeper.actions.requests.model import ActionResult, Asked, ResultStatus
from kinkeeper.actions.requests.performing import result_of
from kinkeeper.conversation.model import Confirmation, Social, Triage
from kinkeeper.conversation.questions import Meant, Open, Verb, decide, meant_by, told
from kinkeeper.conversation.routing.confirmation import Decision
from kinkeeper.conversation.stages import Course, Stage
from kinkeeper.conversation.tool_loop import Acted
from kinkeeper.conversation.tool_work import ToolWork
from kinkeeper.store.store import Store

_VERBS = {Confirmation.YES: Verb.CONFIRM, Confirmation.NO: Verb.REJECT}
_ADULTS_ONLY = "An adult has to say yes to that."
_SAID = {Verb.CONFIRM: Confirmation.YES, Verb.REJECT: Confirmation.NO}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What a message said to open questions.

    Attributes:
        confirmation: By and large.
        results: What came of it.
        question: What has to be asked first.
        asked_about: What the question lists, as it is stored.
        edited: What awaits a yes and is wanted otherwise.
    """

    confirmation: Confirmation
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
        said = consent.kind if consent is not None else None
        if triage.social is Social.CANCEL and len(self._found.fresh) == 1:
            said = Confirmation.NO
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

    async def replace(self, decided: Decided, acted: Acted, asked: Asked) -> None:
        """Let what was planned anew take the place of what it was planned from.

        Args:
            decided: With what is wanted otherwise.
            acted: What the new plan came to.
            asked: Who speaks, when.
        """
        new = [
            each.action_id
            for each in acted.results
            if each.action_id is not None
            and each.status is not ResultStatus.FAILED
            and each.domain in {edited.domain for edited in decided.edited}
        ]
        old = [each.action_id for each in decided.edited if each.action_id is not None]

        def supersede_all(conn: Connection) -> None:
            for action_id in old:
                supersede(
                    conn, action_id, household=asked.household.id, by_action_id=new[0],
                    now=asked.now,
                )  # fmt: skip

        if new:
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
