"""How sure one may be of a fact, and which statements fade when nobody repeats them. Pure.

Silence takes from transient facts only. The row of such a fact holds its confidence as of the instant
up to which its silence was charged. The present confidence is computed when it is needed, so nothing
has to be written for a fact to fade, and the result does not depend on how often anybody looks.
"""

import math
import re
import tomllib
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files

from kinkeeper.core.ids import stable_id
from kinkeeper.memory.model import Category, Fact, Origin, Statement
from kinkeeper.memory.statements.slots import slots

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
        now: Aware; before `since`, nothing is taken.
    """
    return confidence * math.exp(-FADES_A_DAY * max(0.0, (now - since) / _DAY))


def confidence_now(fact: Fact, now: datetime) -> float:
    """Return how sure one may be of a fact at an instant; only what is transient fades."""
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


# Which statements fade when nobody repeats them. Pure.
#
# Feelings, what somebody is busy with, tastes mentioned in passing, and what was only inferred
# fade. Everything else holds until newer words or a person end it. A category alone proves little,
# since it is a guess: a statement fades only where its own words show that it is of a moment, and
# never where they tell of health, diet, home, sizes, codes, or who somebody is.

IMPORT_SESSION = "import"
"""Source and session of what was imported without a text that it was read out of."""

_LASTING_TOPICS = ("health", "diet", "home", "sizes", "codes")
_MOMENTARY = frozenset({Category.EMOTIONAL, Category.PROJECT_ACTIVE, Category.PREFERENCE})


def is_transient(said: Statement) -> bool:
    """Return whether a statement fades when nobody repeats it.

    Args:
        said: As read out of an episode, or made by the nightly upkeep.
    """
    if not said.origin.may_become_fact or said.id == recurring_id(said.household, said.episode_id):
        return True
    if said.origin is Origin.IMPORTED and said.episode_id.startswith(f"{IMPORT_SESSION}:"):
        # Its words are stored nowhere else, so nothing could answer in its place.
        return said.category is Category.EMOTIONAL
    text = said.text.lower().replace("’", "'")
    match said.category:
        case Category.EMOTIONAL:
            return _found("feeling", text) and not _found("fear", text)
        case Category.PROJECT_ACTIVE:
            return _found("under_way", text) and not _is_about_lasting_matters(said, text)
        case Category.PREFERENCE:
            is_passing = _found("passing_taste", text) and not _found("told_taste", text)
            return is_passing and not _is_about_lasting_matters(said, text)
        case _:
            return False


def recurring_id(household: str, episode_id: str) -> str:
    """Return the id of the statement that the nightly upkeep makes of something told repeatedly.

    Args:
        episode_id: The episode whose words it quotes.
    """
    return stable_id(household, "theme", episode_id)


def _is_about_lasting_matters(said: Statement, text: str) -> bool:
    if any(_found(topic, text) for topic in _LASTING_TOPICS):
        return True
    slot = slots().by_name.get(said.slot or "")
    return slot is not None and Category(slot.category) not in _MOMENTARY


def _found(name: str, text: str) -> bool:
    return _patterns()[name].search(text) is not None


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of the data file by name, read once."""
    path = files("kinkeeper.memory.statements") / "data" / "transience.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: re.compile(pattern.replace("\n", "")) for name, pattern in data.items()}
