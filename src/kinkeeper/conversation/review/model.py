"""The values of a review: a past message, and the way that a model says it should have taken."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Route(StrEnum):
    """All that a model may answer."""

    ACT = "act"
    RESPOND = "respond"
    CLARIFY = "clarify"
    ACKNOWLEDGE = "acknowledge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A past message, as its person saw it, without what was decided about it.

    Attributes:
        turn: Its id.
        mode: How it was routed; no model is shown it.
        text: What of the message still holds.
        before: The exchange before it: "said" and "answered"; empty where there was none.
    """

    turn: str
    mode: str
    text: str
    before: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a model said.

    Attributes:
        model: As its server names it.
        prompt: Version of the prompt that it was asked with.
    """

    route: Route
    model: str
    prompt: int
