"""The numbers of routing, typed and checked, and what is known when a message comes. Pure."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from kinkeeper.conversation.model import Mode

# The numbers of routing, typed and checked; they stand in one data file.


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SignalWeights(_Table):
    """How counts become shares."""

    full_turns: int
    full_gists: int
    full_facts: int
    full_memories: int
    full_fok: float
    cold: float
    warm: float
    memory_fok: float
    memory_warmth: float
    memory_density: float
    memory_new_topic: float


class IntentWeights(_Table):
    """Lengths and confidences of intents."""

    continuation_below: int
    confidence: float
    plain: float
    question: float
    warm: float
    odd_length: float
    short_below: int
    long_above: int


class TriageWeights(_Table):
    """What the rules of triage take for sure."""

    sure_chance: float
    followup_chance: float
    tool_overlap: int
    freshness: float
    stale: float


class FeatureThresholds(_Table):
    """From where on a signal counts as present."""

    question_warmth: float
    middling_from: float
    middling_to: float
    few_facts: int
    very_thin_memory: float
    thin_memory: float
    very_cold: float
    dense_facts: float


class MarginWeights(_Table):
    """How near two modes may come before they tie."""

    base: float
    warmth: float
    implicit_reference: float
    thin_memory: float
    bare_interrogative: float
    uncertain: float
    uncertain_below: float
    uncertain_turns: int


class Weights(_Table):
    """All numbers of routing.

    Attributes:
        version: Counts up with every change.
        signals: How counts become shares.
        intent: Of intents.
        triage: Of the rules of triage.
        features: Thresholds of the features.
        modes: For each mode its base and what each feature adds.
        margin: Of ties.
        shares: Of all messages that are answered in a mode, the least and the most that is healthy; watched, not weighed.
    """

    version: int
    signals: SignalWeights
    intent: IntentWeights
    triage: TriageWeights
    features: FeatureThresholds
    modes: Mapping[Mode, Mapping[str, float]]
    margin: MarginWeights
    shares: Mapping[Mode, tuple[float, float]]


@cache
def shipped_weights() -> Weights:
    """Return the numbers of the data file; read once."""
    raw = files(__package__).joinpath("data/weights.toml").read_text(encoding="utf-8")
    return Weights.model_validate(tomllib.loads(raw))


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What is known about a thread and its topic.

    Attributes:
        has_world: Whether the world state holds anything.
        fok: Feeling of knowing, from strong hits of memory alone, in [0, 5].
        is_new_topic: Whether the topic begins with this message.
        previous_mode: How the last turn was answered.
        recent_margins: Of the last decisions between modes, newest last.
    """

    turns: int = 0
    gists: int = 0
    facts: int = 0
    has_world: bool = False
    fok: float = 0.0
    is_new_topic: bool = False
    previous_mode: Mode | None = None
    recent_margins: Sequence[float] = ()

    @property
    def wm(self) -> float:
        """How full working memory is, in [0, 1]."""
        return min(self.turns / _weights().full_turns, 1.0)

    @property
    def gist(self) -> float:
        """How much was lately said on the topic, in [0, 1]."""
        return min(self.gists / _weights().full_gists, 1.0)

    @property
    def world(self) -> float:
        """1 where the world state holds anything, else 0."""
        return float(self.has_world)

    @property
    def warmth(self) -> float:
        """How much is known of what is going on, in [0, 1]."""
        return (self.wm + self.gist + self.world) / 3

    @property
    def fact_density(self) -> float:
        """Facts of the topic, in [0, 1]."""
        return min(self.facts / _weights().full_facts, 1.0)

    @property
    def gist_density(self) -> float:
        """Gists of the topic, in [0, 1]."""
        return self.gist

    @property
    def density(self) -> float:
        """Gists and facts together, in [0, 1]."""
        return min((self.gists + self.facts) / _weights().full_memories, 1.0)

    @property
    def memory_confidence(self) -> float:
        """How far memory can be relied on for this topic, in [0, 1]."""
        weights = _weights()
        confidence = (
            weights.memory_fok * min(self.fok / weights.full_fok, 1.0)
            + weights.memory_warmth * self.warmth
            + weights.memory_density * self.density
        )
        return confidence * weights.memory_new_topic if self.is_new_topic else confidence

    @property
    def is_cold(self) -> bool:
        """Whether little is known."""
        return self.warmth < _weights().cold

    @property
    def is_warm(self) -> bool:
        """Whether much is known."""
        return self.warmth > _weights().warm


def _weights() -> SignalWeights:
    return shipped_weights().signals
