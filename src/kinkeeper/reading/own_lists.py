"""A list of one's own among what is said: "my list", "my own list", "my private packing list". Pure."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

OWN_LIST: Final = "My list"
"""What a list of one's own is called that has no other name."""

SHOPPING: Final = "Shopping list"
"""What the household's list is called, which is meant where none is named."""

_SHOPPING = re.compile(
    r"^(?:shopping|groceries|grocery|list|lists|shop|(?:grocery|groceries|food|supermarket) list)$",
    re.IGNORECASE,
)


def own_list(text: str, called: str) -> str | None:
    """Return the title of the list that words mean, where it is one that only the speaker sees; None where it is not.

    "My shopping list" is the one that the household keeps under that name.

    Args:
        text: Plain.
        called: How the list is called there, without an article or "my".
    """
    wanted = called.strip().lower()
    for name, form in _forms().items():
        for found in form.finditer(text):
            said = next(each for each in found.groups() if each is not None)
            if wanted == said.lower() or wanted.endswith(found[0].lower()):
                return OWN_LIST if name == "bare" else said[0].upper() + said[1:]
    return None


def list_title(said: str) -> str:
    """Return what a list is called: all that mean the one of things to buy share its name."""
    said = re.sub(r"^(?:the|my|our|a)\s+", "", said.strip(), flags=re.IGNORECASE)
    return SHOPPING if not said or _SHOPPING.match(said) else said[0].upper() + said[1:]


def names_own_list(text: str) -> bool:
    """Whether a text speaks of a list of the speaker's own that has no other name.

    Args:
        text: Plain.
    """
    return _forms()["bare"].search(text) is not None


@cache
def _forms() -> dict[str, re.Pattern[str]]:
    path = files("kinkeeper.reading.data") / "own_lists.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: re.compile("".join(form.strip("\n").split("\n")), re.IGNORECASE)
        for name, form in data.items()
    }
