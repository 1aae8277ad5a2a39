"""How a message is answered: each mode's score as a sum of weighed features, and whether the best two tie. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kinkeeper.conversation.model import Branch, Mode, Triage
from kinkeeper.conversation.routing.intent import Intent, IntentType
from kinkeeper.conversation.routing.signals import Signals
from kinkeeper.conversation.routing.weights import Weights, shipped_weights

_AFTER_ACTING = (Mode.RESPOND, Mode.CLARIFY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The modes with their scores.

    Attributes:
        scores: Of each mode.
        features: What they were summed of, by name.
        margin: How far the best is ahead, as a share of its score.
        effective_margin: How far it must be.
    """

    scores: Mapping[Mode, float]
    features: Mapping[str, float]
    margin: float
    effective_margin: float

    @property
    def ranked(self) -> Sequence[Mode]:
        """The modes, best first."""
        return sorted(self.scores, key=lambda mode: -self.scores[mode])

    @property
    def is_tie(self) -> bool:
        """Whether the best two are too near to each other to tell."""
        return self.margin < self.effective_margin


def score_modes(
    intent: Intent, signals: Signals, triage: Triage, weights: Weights | None = None
) -> Scored:
    """Return the scores of all modes.

    Args:
        intent: Of the message.
        signals: What is known when it comes.
        triage: What was made of it; it informs the scores and decides nothing alone.
        weights: Those of the data file where None.
    """
    known = weights or shipped_weights()
    features = {
        **_of_signals(signals, known),
        **_of_message(intent, signals, known),
        **_of_triage(triage),
    }
    scores = _summed(features, known)
    return Scored(
        scores=scores, features=features, margin=_margin(scores),
        effective_margin=_effective_margin(intent, signals, known),
    )  # fmt: skip


def mode_after_acting(features: Mapping[str, float]) -> Mode:
    """Return how to answer once the acting of a turn is over.

    Args:
        features: Of the message, as they were scored.
    """
    now = {name: value for name, value in features.items() if not name.startswith("triage_")}
    scores = _summed({**now, "after_act": 1.0, "triage_respond": 1.0}, shipped_weights())
    return max(_AFTER_ACTING, key=lambda mode: scores[mode])


def _summed(features: Mapping[str, float], weights: Weights) -> dict[Mode, float]:
    return {
        mode: sum(
            weight * (1.0 if name == "base" else features.get(name, 0.0))
            for name, weight in own.items()
        )
        for mode, own in weights.modes.items()
    }


def _of_signals(signals: Signals, weights: Weights) -> dict[str, float]:
    at, warmth = weights.features, signals.warmth
    is_dense = signals.fact_density > at.dense_facts
    return {
        "warmth": warmth,
        "fact_density": signals.fact_density,
        "gist_density": signals.gist_density,
        "cold": float(signals.is_cold),
        "coldness": 1 - warmth if signals.is_cold else 0.0,
        "warm": float(signals.is_warm),
        "very_cold": float(warmth < at.very_cold),
        "well_known": float(signals.is_warm and is_dense),
        "after_act": float(signals.previous_mode is Mode.ACT),
        "after_clarify": float(signals.previous_mode is Mode.CLARIFY),
    }


def _of_message(intent: Intent, signals: Signals, weights: Weights) -> dict[str, float]:
    at, warmth, memory = weights.features, signals.warmth, signals.memory_confidence
    asks = intent.has_question_mark
    is_very_thin = memory < at.very_thin_memory
    return {
        "question": float(asks),
        "warm_question": float(asks and warmth > at.question_warmth),
        "cold_question": float(asks and signals.is_cold),
        "factless_question": float(asks and signals.facts == 0),
        "new_topic_question": float(asks and signals.is_new_topic),
        "middling_question": float(asks and at.middling_from <= warmth <= at.middling_to),
        "factless_interrogative": float(intent.is_interrogative and signals.facts < at.few_facts),
        "implicit_reference": float(intent.refers),
        "very_thin_question": float(asks and is_very_thin),
        "thin_question": float(asks and not is_very_thin and memory < at.thin_memory),
        "greeting": float(intent.type is IntentType.GREETING),
        "feedback": float(intent.type is IntentType.FEEDBACK),
        "empty": float(intent.type is IntentType.EMPTY),
    }


def _of_triage(triage: Triage) -> dict[str, float]:
    return {
        "triage_act": triage.confidence_tool_need if triage.branch is Branch.ACT else 0.0,
        "triage_respond": float(triage.branch is Branch.RESPOND),
        "triage_clarify": float(triage.branch is Branch.CLARIFY),
    }


def _margin(scores: Mapping[Mode, float]) -> float:
    best, second = sorted(scores.values(), reverse=True)[:2]
    return (best - second) / abs(best) if best else 0.0


def _effective_margin(intent: Intent, signals: Signals, weights: Weights) -> float:
    own = weights.margin
    margin = own.base + own.warmth * signals.warmth
    if intent.refers:
        margin += own.implicit_reference
    if signals.memory_confidence < weights.features.thin_memory:
        margin += own.thin_memory
    if intent.is_interrogative and not intent.has_question_mark:
        margin += own.bare_interrogative
    recent = signals.recent_margins[-own.uncertain_turns :]
    if len(recent) == own.uncertain_turns and max(recent) < own.uncertain_below:
        margin += own.uncertain
    return margin
