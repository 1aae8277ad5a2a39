"""The shape of a model's plan: one of the requests at hand with its own parameters, or a question."""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from kinkeeper.actions.requests.model import RequestKind

_MOST_ACTIONS = 6


class PlannedRequest(BaseModel):
    """One request of a model's plan."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: str
    action: str
    params: Any


class PlanAnswer(BaseModel):
    """What a model answers; the requests' schemas are filled in by `answer_type`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    actions: list[PlannedRequest] = Field(max_length=_MOST_ACTIONS)
    question: str | None = None
    missing: str | None = None


def answer_type(kinds: Iterable[RequestKind]) -> type[PlanAnswer]:
    """Return the answer's type in which only requests of these kinds, with their own parameters, fit.

    Args:
        kinds: At least one.
    """
    rows: list[Any] = [
        create_model(
            f"Request{number}",
            __base__=PlannedRequest,
            **_fields(kind),
        )
        for number, kind in enumerate(kinds)
    ]
    row: Any = reduce(or_, rows)
    actions: Any = (list[row], Field(max_length=_MOST_ACTIONS))
    return create_model("PlanAnswer", __base__=PlanAnswer, actions=actions)


def _fields(kind: RequestKind) -> dict[str, Any]:
    return {
        "domain": (Literal[kind.domain], ...),
        "action": (Literal[kind.name], ...),
        "params": (kind.parameters, ...),
    }
