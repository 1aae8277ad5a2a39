"""A strong model's word on which way one message should have taken."""

from datetime import timedelta
from typing import Final

from pydantic import BaseModel, ConfigDict

from kinkeeper.conversation.review.model import Case, Review, Route
from kinkeeper.models.model import ModelGateway, Outcome
from kinkeeper.models.prompts import load_prompt
from kinkeeper.models.structured import consult

STAGE: Final = "conversation.review"
"""Name under which going on without a model is counted."""

_TIMEOUT = timedelta(seconds=60)
_LONGEST, _LONGEST_BEFORE = 2_000, 600


class RouteAnswer(BaseModel):
    """Which way a message should have taken."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    route: Route


class Reviewer:
    """Asks the strong model.

    Args:
        models: Answer, and count where there was no answer.
    """

    def __init__(self, models: ModelGateway) -> None:
        self._models = models
        self._prompt = load_prompt("kinkeeper.conversation.review", "judge_route")

    async def review(self, case: Case, *, household: str) -> Review | Outcome:
        """Return the model's word, or why there is none.

        Args:
            household: Whose budget it is.
        """
        answer = await consult(
            self._models,
            self._prompt,
            {
                "message": case.text[:_LONGEST],
                "before": {name: said[:_LONGEST_BEFORE] for name, said in case.before.items()},
            },
            RouteAnswer,
            household=household,
            stage=STAGE,
            within=_TIMEOUT,
        )
        if isinstance(answer, Outcome):
            return answer
        return Review(
            route=answer.value.route, model=answer.reply.model, prompt=self._prompt.head.version
        )
