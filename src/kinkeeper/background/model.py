"""What works on goals: one step at a time, on behalf of whose goal it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kinkeeper.goals.model import Goal, Source, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class WebUse:
    """How often the web was used.

    Attributes:
        reads: Pages that were read.
        searches: Searches that were answered.
        refused: Pages and searches that came to nothing: not allowed, not to be reached, or no text.
        asked: How often a person was asked whether a page may be read.
    """

    reads: int = 0
    searches: int = 0
    refused: int = 0
    asked: int = 0

    def with_more(self, more: "WebUse") -> "WebUse":
        """Return this use with another one."""
        return WebUse(
            reads=self.reads + more.reads,
            searches=self.searches + more.searches,
            refused=self.refused + more.refused,
            asked=self.asked + more.asked,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """Who did steps where a model is set up.

    Attributes:
        by_model: Steps whose lines a model chose.
        by_rules: Steps that the rules did, as it gave no usable answer or chose nothing.
    """

    by_model: int = 0
    by_rules: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a step came to.

    Attributes:
        lines: What was found, in sentences; none where nothing was.
        sources: What each line rests on.
        digests: What each line says, as a fingerprint: a watched thing is new where it has another one.
        places: Where was looked: "the calendar".
        whole: What was read as a whole, by the beginning of its digests, with what to tell where something of it is
            gone and nothing came in its place.
        web: How often the web was used for it.
        model: Whether a model chose its lines.
        pages: Addresses of pages that may bear on it and that its person would have to allow first, the likeliest first.
    """

    lines: Sequence[str]
    sources: Sequence[Source]
    digests: Sequence[str]
    places: Sequence[str]
    whole: Mapping[str, str] = field(default_factory=dict)
    web: WebUse = WebUse()
    model: ModelUse = ModelUse()
    pages: Sequence[str] = ()


class StepRunner(Protocol):
    """Works on one step of a goal: reads, and changes nothing but through an action that a person confirms."""

    @property
    def limits(self) -> str:
        """What it cannot do here, in a sentence for people; empty where there is nothing."""
        ...

    async def run(self, goal: Goal, step: Step) -> Outcome:
        """Return what the step came to; it sees what the goal's person may see.

        Raises:
            KinkeeperError: It could not be done this time.
        """
        ...
