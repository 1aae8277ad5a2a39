"""How sure one may be of a fact: what support adds, what silence takes, and when that is too little. Pure.

A fact's row holds its confidence as of the instant up to which its silence was charged. What counts
now is worked out whenever it is asked for, so nothing has to be written for a fact to fade, and the
outcome cannot depend on how often anybody looks.
"""

import math
from datetime import datetime, timedelta

from kinkeeper.memory.model import Category, Fact

FADES_A_DAY = 0.01
"""Share of a confidence that a short time of silence takes, by the day."""

SUPPORT = 0.05
"""Share of the doubt that one more episode takes away."""

MOST = 0.95
"""However often it is said: people err, and repeat themselves."""

GONE = 0.3
"""Below this a fact is in no retrieval."""

OFFERED = 0.5
"""Above this it is offered unasked; down to `GONE` only to those who search."""

FEELINGS_LAST = timedelta(days=14)

_DAY = timedelta(days=1)


def faded(confidence: float, *, since: datetime, now: datetime) -> float:
    """Return what silence leaves of a confidence.

    Args:
        confidence: In [0, 1], as of `since`.
        since: Aware.
        now: Aware; before `since`, nothing is taken.
    """
    return confidence * math.exp(-FADES_A_DAY * max(0.0, (now - since) / _DAY))


def confidence_now(fact: Fact, now: datetime) -> float:
    """Return how sure one may be of a fact at an instant.

    Args:
        fact: As stored.
        now: Aware.
    """
    return faded(fact.confidence, since=fact.decayed_until, now=now)


def supported(
    confidence: float, *, since: datetime, at: datetime, alone: float = 0.0
) -> tuple[float, datetime]:
    """Return a confidence after one more episode has supported it, and up to when its silence is charged.

    Args:
        confidence: In [0, 1], as of `since`.
        since: Aware.
        at: When it was supported; an instant before `since` charges no silence.
        alone: What the support is worth by itself: who says a thing again is believed no less than
            who says it first. 0 where the episode only resembles the fact.
    """
    # Of two that are out of order, the earlier one has been silent since.
    late = faded(alone, since=at, now=since)
    before = max(late, faded(confidence, since=since, now=at))
    # What was above the most to begin with is not lowered by support.
    after = max(before, min(MOST, before + SUPPORT * (1 - before)))
    return after, max(since, at)


def leaves_at(
    category: Category,
    confidence: float,
    *,
    since: datetime,
    last_evidence_at: datetime,
    ends_at: datetime | None = None,
) -> datetime:
    """Return when a fact leaves retrieval if nothing more is heard of it.

    Args:
        category: A feeling ends after a fortnight at most.
        confidence: In [0, 1], as of `since`.
        since: Aware.
        last_evidence_at: Aware.
        ends_at: Until when it holds, where that is known.
    """
    days = math.log(confidence / GONE) / FADES_A_DAY if confidence > GONE else 0.0
    fades = since + days * _DAY
    ends = [ends_at] if ends_at else []
    if category is Category.EMOTIONAL:
        ends.append(last_evidence_at + FEELINGS_LAST)
    return min([fades, *ends])
