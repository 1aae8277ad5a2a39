"""How sure one may be of a fact: what support adds, what silence takes, and when that is too little. Pure.

Silence takes from transient facts only. The row of such a fact holds its confidence as of the instant
up to which its silence was charged. The present confidence is computed when it is needed, so nothing
has to be written for a fact to fade, and the result does not depend on how often anybody looks.
"""

import math
from datetime import UTC, datetime, timedelta

from kinkeeper.memory.model import Category, Fact

FADES_A_DAY = 0.01
"""Share of the confidence of a transient fact that silence takes a day."""

SUPPORT = 0.05
"""Share of the doubt that one more episode takes away."""

MOST = 0.95
"""However often it is said: people err, and repeat themselves."""

GONE = 0.3
"""Below this a fact is in no retrieval."""

OFFERED = 0.5
"""Above this it is offered unasked; down to `GONE` only to those who search."""

FEELINGS_LAST = timedelta(days=14)

NEVER = datetime(9000, 1, 1, tzinfo=UTC)
"""When a fact leaves retrieval that has no known end."""

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
    """Return how sure one may be of a fact at an instant; only what is transient fades.

    Args:
        fact: As stored.
        now: Aware.
    """
    if not fact.is_transient:
        return fact.confidence
    return faded(fact.confidence, since=fact.decayed_until, now=now)


def leaves_at(fact: Fact) -> datetime:
    """Return when a fact leaves retrieval if nothing more is heard of it.

    Args:
        fact: As stored. A transient one leaves when it has faded, a feeling after a fortnight at most; any
            other one only when it ends, `NEVER` where no end is known.
    """
    ends = [fact.valid_to or NEVER]
    if fact.is_transient:
        is_above = fact.confidence > GONE
        days = math.log(fact.confidence / GONE) / FADES_A_DAY if is_above else 0.0
        ends.append(fact.decayed_until + days * _DAY)
        if fact.category is Category.EMOTIONAL:
            ends.append(fact.last_evidence_at + FEELINGS_LAST)
    return min(ends)
