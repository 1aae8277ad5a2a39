"""The numbers of routing, typed and checked; they stand in one data file."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from kinkeeper.conversation.model import Mode


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
    moderate_above: int
    complex_above: int
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
    unsure_chance: float
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
