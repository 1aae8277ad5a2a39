"""What rules could not decide, put to a model: one call for each kind, and its answers read as rulings."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import combinations

from pydantic import BaseModel, ConfigDict

from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.model import Fact, Origin, Ruling
from kinkeeper.memory.upkeep.pair_search import Judged, in_time, into_one
from kinkeeper.memory.upkeep.questions import Answer, Question, QuestionKind, waiting
from kinkeeper.models.model import ChatRequest, ModelError, ModelGateway, Outcome
from kinkeeper.models.prompts import PromptTooLongError, load_prompt
from kinkeeper.models.structured import ask
from kinkeeper.store.store import Store

STAGE = "memory.upkeep"
"""Name under which going on without a model is counted, and what its prompts begin with."""

_LONGEST_STATEMENT = 300
_PACKAGE = "kinkeeper.memory.upkeep"


class One(BaseModel):
    """The answer to one question.

    Attributes:
        key: Of the question.
        answer: What to do.
    """

    model_config = ConfigDict(extra="forbid")

    key: str
    answer: Answer


class Answers(BaseModel):
    """What a model answers.

    Attributes:
        answers: One for each question.
    """

    model_config = ConfigDict(extra="forbid")

    answers: list[One]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with what it is about.

    Attributes:
        facts: All of those it names; all are active.
    """

    question: Question
    facts: tuple[Fact, ...]


class ModelBatch:
    """Asks the model of the settings.

    Args:
        models: Answer, and count where there was no answer.
    """

    MOST_A_CALL = 30
    """Questions; more wait for another night."""

    def __init__(self, models: ModelGateway, household: str) -> None:
        self._models = models
        self._household = household
        self._prompts = {
            QuestionKind.CONTRADICTION: (load_prompt(_PACKAGE, "settle_contradictions"), "pairs"),
            QuestionKind.UPDATE: (load_prompt(_PACKAGE, "settle_updates"), "pairs"),
            QuestionKind.MERGE: (load_prompt(_PACKAGE, "settle_merges"), "clusters"),
        }

    async def settle(self, kind: QuestionKind, cases: Sequence[Case]) -> Mapping[str, Answer]:
        """Ask about questions of one kind, in one call.

        Args:
            cases: At most `MOST_A_CALL`; all of them are asked, or fewer where they are long.

        Returns:
            Answers by the questions' ids; of those without a usable one, none.
        """
        asked = list(cases[: self.MOST_A_CALL])
        while asked:
            try:
                return await self._asked(kind, asked)
            except PromptTooLongError:
                asked = asked[: len(asked) // 2]
                outcome = Outcome.OVER_BUDGET
            except ModelError as error:
                asked = []
                outcome = error.outcome
            if not asked:
                await self._models.note_fallback(self._household, stage=STAGE, outcome=outcome)
        return {}

    async def _asked(self, kind: QuestionKind, cases: Sequence[Case]) -> Mapping[str, Answer]:
        prompt, name = self._prompts[kind]
        keys = {f"q{number}": case for number, case in enumerate(cases, start=1)}
        shown = {key: [_shown(each) for each in case.facts] for key, case in keys.items()}
        request = ChatRequest(
            role=prompt.head.role,
            prompt=prompt.ref,
            messages=prompt.render(**{name: shown}),
            household=self._household,
            is_ambient=any(fact.origin is Origin.OBSERVED for case in cases for fact in case.facts),
            max_output_tokens=prompt.head.max_output_tokens,
            temperature=prompt.head.temperature,
        )
        found = await ask(self._models, request, Answers)
        return usable(found.value, {key: case.question for key, case in keys.items()})


def usable(answers: Answers, asked: Mapping[str, Question]) -> Mapping[str, Answer]:
    """Return the answers that can be used, by id: to questions that were asked, of their kind, and one each.

    Args:
        answers: Of the right shape.
    """
    given: defaultdict[str, set[Answer]] = defaultdict(set)
    for each in answers.answers:
        given[each.key].add(each.answer)
    return {
        asked[key].id: next(iter(found))
        for key, found in given.items()
        if key in asked and len(found) == 1 and found <= asked[key].kind.answers
    }


def _shown(fact: Fact) -> Mapping[str, str]:
    return {
        "about": fact.subject[:_LONGEST_STATEMENT],
        "said": _day(fact.said_at),
        "text": fact.narrative[:_LONGEST_STATEMENT],
    }


def _day(instant: datetime) -> str:
    return instant.date().isoformat()


# What a model's answer to a question means for the facts it is about. Pure.


def verdicts_of(case: Case, answer: Answer, *, now: datetime) -> Sequence[Judged]:
    """Return how the facts of a question relate, by an answer to it.

    Facts of different kinds or people are never joined, and two that a person wrote neither, whatever
    the answer.
    """
    if answer is Answer.KEEP_BOTH:
        return [_pair(one, other, Ruling.OTHER) for one, other in combinations(case.facts, 2)]
    if answer is Answer.NEWER:
        return [_pair(case.facts[0], case.facts[1], Ruling.UPDATE)]
    if answer is Answer.MERGE:
        return into_one(case.facts, now=now) if _may_be_one(case.facts) else []
    if case.question.kind is QuestionKind.CONTRADICTION:
        return []  # as it stands already
    joined = into_one(case.facts, now=now)
    return [replace(each, ruling=Ruling.CONTRADICTION) for each in joined]


def _may_be_one(facts: Sequence[Fact]) -> bool:
    is_alike = len({(each.scope, each.category, each.subject) for each in facts}) == 1
    return is_alike and sum(each.is_edited for each in facts) <= 1


def _pair(one: Fact, other: Fact, ruling: Ruling) -> Judged:
    older, newer = sorted((one, other), key=in_time)
    return Judged(older=older, newer=newer, ruling=ruling)


# Puts the questions that wait to a model, and reads its answers as rulings; without usable ones
# they go on waiting.


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
    """Asks for one household: one call for all questions of a kind."""

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
