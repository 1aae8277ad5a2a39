"""Numbers of the observer: gates, windows, limits."""

from dataclasses import dataclass, field
from datetime import timedelta

from kinkeeper.observer.redline.case import RedlineRules
from kinkeeper.observer.redline.phrase_templates import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverConfig:
    """Thresholds, windows and limits.

    Attributes:
        tripwire_threshold: Gate of tier 1, in [0, 1].
        extraction_threshold: Gate of extraction, in [0, 1].
        attribution_threshold: Gate of attribution, in [0, 1].
        brain_min_relevance: Gate of brain context, in [0, 1].
        brain_timeout: Longest wait for the brain.
        max_brain_queries: Questions to the brain for one message.
        window_size: Messages of the thread that give context.
        context_ttl: Age up to which they do.
        attribution_window: How far back a reply looks.
        open_question_window: How long a question can be answered.
        max_speak_per_day: Unprompted messages a local day.
        max_messages_per_minute: Messages a chat and minute that are queued; more are stored only.
        rules: Redline rules and their numbers.
        limits: Longest texts.
    """

    tripwire_threshold: float = 0.7
    extraction_threshold: float = 0.6
    attribution_threshold: float = 0.6
    brain_min_relevance: float = 0.5
    brain_timeout: timedelta = timedelta(seconds=5)
    max_brain_queries: int = 3
    window_size: int = 3
    context_ttl: timedelta = timedelta(seconds=300)
    attribution_window: timedelta = timedelta(seconds=600)
    open_question_window: timedelta = timedelta(seconds=3600)
    max_speak_per_day: int = 4
    max_messages_per_minute: int = 60
    rules: RedlineRules = field(default_factory=RedlineRules)
    limits: Limits = field(default_factory=Limits)
