"""The brain that another program has: asked over HTTP, believed only where its answer has the agreed shape.

What it says is data. Nothing in it is carried out, and of its words only so many are kept as a trace needs.
"""

from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Annotated

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from kinkeeper.brain.model import BrainAnswer, BrainQuery
from kinkeeper.core.errors import InvariantError, UnavailableError
from kinkeeper.household.viewers import Viewer
from kinkeeper.models.limits import Breaker

Fetch = Callable[[Mapping[str, str], Mapping[str, str]], Awaitable[bytes]]
"""Sends the parameters and headers of a question and returns the answer's body; raises UnavailableError."""

_LONGEST_SUMMARY = 300
_MOST_ITEMS = 5
_MOST_PEOPLE = 20

_Short = Annotated[str, Field(max_length=200)]


class RemoteBrain:
    """Asks the brain of another program about one household.

    One that keeps failing is left alone for a while, so that no message waits for it in vain.

    Args:
        household: Tenant key, as the other program knows it, too.
        now: Seconds of a clock that never goes back.
    """

    def __init__(
        self, fetch: Fetch, household: str, *, now: Callable[[], float] = monotonic
    ) -> None:
        self._fetch = fetch
        self._household = household
        self._now = now
        self._breaker = Breaker()

    async def ask(self, query: BrainQuery, viewer: Viewer) -> BrainAnswer:
        """Return what it answers to the words of the query; its activity, task and day do not leave.

        Args:
            viewer: On whose behalf: it only knows what everybody of the household may know.

        Raises:
            InvariantError: It is asked on behalf of somebody who may know less, or more.
            UnavailableError: It cannot be reached, its answer is not of the agreed shape, or it is left alone.
        """
        if viewer != Viewer.of(self._household):
            raise InvariantError(
                "another program's brain can only be asked on behalf of the whole household"
            )
        admission = self._breaker.admit(self._now())
        if admission is None:
            raise UnavailableError(
                "the brain failed several times in a row and will not be asked again for a while"
            )
        is_answered = False
        try:
            answer = read_answer(await self._fetch(*self._question(query)))
            is_answered = True
        finally:  # also where whoever asks waits no longer
            if is_answered:
                self._breaker.succeeded()
            else:
                self._breaker.failed(admission, self._now())
        return answer

    def _question(self, query: BrainQuery) -> tuple[Mapping[str, str], Mapping[str, str]]:
        parameters = {"q": query.text, "context": "observer", "format": "json"}
        if query.child is not None:
            parameters["child"] = query.child
        return parameters, {"X-Observer-Request": "true", "X-Family-Context": self._household}


class _Item(BaseModel):
    """What an answer rests on, as far as it is kept."""

    model_config = ConfigDict(strict=True, frozen=True)

    event: _Short = ""
    start: _Short = ""
    responsible: Annotated[list[_Short], Field(max_length=_MOST_PEOPLE)] = []


class _Answer(BaseModel):
    """The agreed shape; what else stands in it is left out."""

    model_config = ConfigDict(strict=True, frozen=True)

    relevance: float = Field(
        ge=0,
        le=1,
        allow_inf_nan=False,
        validation_alias=AliasChoices("relevance", "relevance_score"),
    )
    summary: str = Field(validation_alias=AliasChoices("summary", "answer"))
    items: list[_Item] = []


def read_answer(body: bytes) -> BrainAnswer:
    """Return an answer that came as JSON.

    Args:
        body: As it came; anything.

    Raises:
        UnavailableError: It is not of the agreed shape; the message quotes nothing of it.
    """
    try:
        answer = _Answer.model_validate_json(body)
    except ValidationError as error:
        where = ", ".join(sorted({str(each["loc"][0]) for each in error.errors() if each["loc"]}))
        raise UnavailableError(
            f"the brain's answer does not have the agreed shape ({where or 'no JSON object'})"
        ) from None
    return BrainAnswer(
        relevance=answer.relevance,
        summary=" ".join(answer.summary.split())[:_LONGEST_SUMMARY],
        items=[item.model_dump() for item in answer.items[:_MOST_ITEMS]],
    )
