"""Puts the questions that wait to a model, and reads its answers as rulings; without usable ones they go on waiting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.model import Fact
from kinkeeper.memory.upkeep.batch import Case, ModelBatch
from kinkeeper.memory.upkeep.pairs import Judged
from kinkeeper.memory.upkeep.questions import Answer, Question, QuestionKind, waiting
from kinkeeper.memory.upkeep.verdicts import verdicts_of
from kinkeeper.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a model said.

    Attributes:
        answers: By the questions' ids.
        verdicts: What they mean for the facts.
        cases: Number of questions that were put.
        moot: Ids of questions about facts of which one holds no more.
    """

    answers: Mapping[str, Answer] = field(default_factory=dict)
    verdicts: Sequence[Judged] = ()
    cases: int = 0
    moot: Sequence[str] = ()


class Asking:
    """Asks for one household: one call for all questions of a kind.

    Args:
        store: The database.
        household: Tenant key.
        batch: Asks the model.
        now: Aware.
    """

    def __init__(self, store: Store, household: str, batch: ModelBatch, *, now: datetime) -> None:
        self._store = store
        self._household = household
        self._batch = batch
        self._now = now

    async def about(self, new: Sequence[Question]) -> Asked:
        """Return what the model says about the questions that wait, and about new ones.

        Args:
            new: Not stored yet.
        """
        answers: dict[str, Answer] = {}
        verdicts: list[Judged] = []
        moot: list[str] = []
        asked = 0
        for kind in (QuestionKind.CONTRADICTION, QuestionKind.UPDATE, QuestionKind.MERGE):
            cases, dead = await self._cases(kind, [each for each in new if each.kind is kind])
            moot += dead
            given = await self._batch.settle(kind, cases) if cases else {}
            asked += len(cases)
            answers |= given
            for case in cases:
                if answer := given.get(case.question.id):
                    verdicts += verdicts_of(case, answer, now=self._now)
        return Asked(answers=answers, verdicts=verdicts, cases=asked, moot=moot)

    async def _cases(
        self, kind: QuestionKind, new: Sequence[Question]
    ) -> tuple[list[Case], list[str]]:
        """Return the questions of a kind that can be asked now, and which of those that wait never will."""
        most = self._batch.MOST_A_CALL
        before = await self._store.read(
            lambda conn: waiting(conn, self._household, kind, limit=most)
        )
        questions = [*before, *new]
        ids = {each for question in questions for each in question.facts}
        facts = await self._store.read(lambda conn: facts_by_id(conn, self._household, ids))
        current = {key for key, fact in facts.items() if fact.is_current(self._now)}
        moot = [each.id for each in before if not current.issuperset(each.facts)]
        cases = [
            Case(question=each, facts=tuple(facts[key] for key in each.facts))
            for each in questions
            if current.issuperset(each.facts) and not _is_for_people(each, facts)
        ]
        return cases[:most], moot


def _is_for_people(question: Question, facts: Mapping[str, Fact]) -> bool:
    """Whether a model may not decide: what a person wrote is taken out of use by people alone."""
    is_update = question.kind is QuestionKind.UPDATE
    return is_update and any(facts[each].is_edited for each in question.facts)
