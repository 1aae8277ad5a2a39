"""What rules could not decide, put to a model: one call for all contradictions, one for all that may have changed, one for all merges."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from kinkeeper.memory.model import Fact, Origin
from kinkeeper.memory.upkeep.questions import Answer, Question, QuestionKind
from kinkeeper.models.errors import ModelError
from kinkeeper.models.model import ChatRequest, ModelGateway, Outcome
from kinkeeper.models.prompts import PromptTooLongError, load_prompt
from kinkeeper.models.structured import ask

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
        question: It waits.
        facts: All of those it names; all are active.
    """

    question: Question
    facts: tuple[Fact, ...]


class ModelBatch:
    """Asks the model of the settings.

    Args:
        models: Answer, and count where there was no answer.
        household: Tenant key.
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
            kind: CONTRADICTION, UPDATE or MERGE.
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
            role=prompt.head.role, prompt=prompt.ref, messages=prompt.render(**{name: shown}),
            household=self._household,
            is_ambient=any(
                fact.origin is Origin.OBSERVED for case in cases for fact in case.facts
            ),
            max_output_tokens=prompt.head.max_output_tokens, temperature=prompt.head.temperature,
        )  # fmt: skip
        found = await ask(self._models, request, Answers)
        return usable(found.value, {key: case.question for key, case in keys.items()})


def usable(answers: Answers, asked: Mapping[str, Question]) -> Mapping[str, Answer]:
    """Return the answers that can be used, by id: to questions that were asked, of their kind, and one each.

    Args:
        answers: Of the right shape.
        asked: The questions by their keys.
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
