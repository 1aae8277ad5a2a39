"""Whether a message asks for something that this assistant cannot do at all, such as translating or ordering a taxi. Pure."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from kinkeeper.conversation.planning.case import Case
from kinkeeper.conversation.planning.clauses import bare
from kinkeeper.conversation.planning.message import TIME_MARK

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_COUNTDOWN = re.compile(
    rf"how (?:many|long)\b[^{TIME_MARK[1:-1]}]*?(?:{TIME_MARK}|\b(?:until|till|til|before|to) (?:the )?{TIME_MARK}(?:'s)?(?: day)?)\W*",
    re.IGNORECASE,
)
_UNITS = re.compile(
    r"\b(?:days?|weeks?|months?|sleeps?|nights?|hours?|long)\b.*\b(?:until|till?|before|to)\b",
    re.IGNORECASE,
)
_MOST_WORDS: Final = 4
"""Words that open a request, of which a table may speak."""


def is_out_of_scope(case: Case) -> bool:
    """Return whether a message asks for a service that there is no request for.

    Args:
        case: The message.
    """
    request, words, opens = _opening(case)
    tables = _tables()
    if not opens.isdisjoint(tables["verbs"]):
        return True
    said = {*words[1:]}
    has_object = any(
        not opens.isdisjoint(tables[verbs]) and not said.isdisjoint(tables[things])
        for verbs, things in (("getting", "services"), ("switching", "devices"))
    )
    is_product = not opens.isdisjoint(tables["making"]) and _ends_in(words, tables["products"])
    return has_object or is_product or _is_countdown(request, case)


def is_search(case: Case) -> bool:
    """Return whether a message wants something found that is not kept here.

    Args:
        case: The message, of which no rule made anything.
    """
    _, words, opens = _opening(case)
    tables = _tables()
    return not opens.isdisjoint(tables["finding"]) and tables["kept"].isdisjoint(words)


def _opening(case: Case) -> tuple[str, list[str], set[str]]:
    """Return a request without politeness, its words, and what it begins with."""
    request = bare(case.message.text, case.grammar, case.household.bot_name)
    words = [each.lower() for each in _WORD.findall(request)]
    opens = {"_".join(words[:length]) for length in range(1, _MOST_WORDS + 1)}
    return request, words, opens


def _ends_in(words: list[str], products: frozenset[str]) -> bool:
    """Whether the thing that is to be made is a product: the first noun phrase ends in it, not something it is for."""
    ends = (
        at for at, each in enumerate(words) if each in {"for", "about", "with", "to", "in", "on"}
    )
    first = words[1 : next(ends, len(words))]
    return bool(first) and first[-1] in products


def _is_countdown(request: str, case: Case) -> bool:
    """Whether it is to be reckoned how long it is until a day that is no event."""
    return (
        _COUNTDOWN.fullmatch(request) is not None
        and _UNITS.search(case.message.words(request)) is not None
    )


@cache
def _tables() -> Mapping[str, frozenset[str]]:
    text = (files(__package__) / "data" / "out_of_scope.toml").read_text(encoding="utf-8")
    return {name: frozenset(words.split()) for name, words in tomllib.loads(text)["words"].items()}
