"""What is known when a message comes: counts, and what is derived of them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from kinkeeper.conversation.model import Mode
from kinkeeper.conversation.routing.weights import SignalWeights, shipped_weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What is known about a thread and its topic.

    Attributes:
        turns: In working memory.
        gists: Of the topic.
        facts: Of the topic.
        has_world: Whether the world state holds anything.
        fok: Feeling of knowing, from strong hits of memory alone, in [0, 5].
        topic_confidence: In [0, 1].
        is_new_topic: Whether the topic begins with this message.
        previous_mode: How the last turn was answered.
        previous_tools: What it did, as "domain.name".
        recent_margins: Of the last decisions between modes, newest last.
    """

    turns: int = 0
    gists: int = 0
    facts: int = 0
    has_world: bool = False
    fok: float = 0.0
    topic_confidence: float = 0.0
    is_new_topic: bool = False
    previous_mode: Mode | None = None
    previous_tools: Sequence[str] = ()
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
