"""Which statements fade when nobody repeats them. Pure.

Feelings, what somebody is busy with, tastes mentioned in passing, and what was only inferred fade.
Everything else holds until newer words or a person end it. A category alone proves little, since it
is a guess: a statement fades only where its own words show that it is of a moment, and never where
they tell of health, diet, home, sizes, codes, or who somebody is.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files

from kinkeeper.core.ids import stable_id
from kinkeeper.memory.model import Category, Origin, Statement
from kinkeeper.memory.statements.slots import slots

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
        household: Tenant key.
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
