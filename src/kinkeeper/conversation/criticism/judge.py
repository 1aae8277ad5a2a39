"""A light model's word on whether one step fits what the person said."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from kinkeeper.actions.requests.model import ActionResult, RequestKind
from kinkeeper.conversation.planning.plan_grounding import Offered
from kinkeeper.models.model import ModelGateway, Outcome
from kinkeeper.models.prompts import load_prompt
from kinkeeper.models.structured import consult

STAGE: Final = "conversation.critic"
"""Name under which going on without a model is counted."""

TIMEOUT = timedelta(seconds=3)
"""Longest wait for its word; a step is not held up for longer."""

_LONGEST, _LONGEST_MESSAGE = 600, 2_000


class StepAnswer(BaseModel):
    """Whether a step fits, and what would."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fits: bool
    params: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a model is shown.

    Attributes:
        household: Whose budget it is.
        result: What it came to.
        offer: Times that the message names.
    """

    household: str
    text: str
    kind: RequestKind
    result: ActionResult
    offer: Offered


class Judge:
    """Asks the light model.

    Args:
        models: Answer, and count where there was no answer.
    """

    def __init__(self, models: ModelGateway) -> None:
        self._models = models
        self._prompt = load_prompt("kinkeeper.conversation.criticism", "judge_step")

    async def judge(self, step: Judged) -> StepAnswer | Outcome:
        """Return the model's word, or why there is none.

        Args:
            step: What it is shown.
        """
        result, offer = step.result, step.offer
        answer = await consult(
            self._models,
            self._prompt,
            {
                "message": step.text[:_LONGEST_MESSAGE],
                "request": step.kind.key,
                "means": step.kind.description[:_LONGEST],
                "params": _in_words(result.params),
                "times": {key: f"{iso} ({offer.words[key]})" for key, iso in offer.times.items()},
                "outcome": {
                    "status": result.status.value,
                    "summary": result.summary[:_LONGEST],
                    "found": str(result.result.get("text", ""))[:_LONGEST],
                },
            },
            StepAnswer,
            household=step.household,
            stage=STAGE,
            within=TIMEOUT,
        )
        return answer if isinstance(answer, Outcome) else answer.value


def _in_words(params: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value)[:_LONGEST] for name, value in params.items()}
