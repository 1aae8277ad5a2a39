"""Reads messages that only give a time, or one hour for another: "wait, it's 3 not 4". Pure."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_DENIAL = "not"
_EDGES = " ,.!;:"
_HOURS, _MINUTES = 24, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class HourSetRight:
    """An hour that takes the place of another, each as hour and minute without its half of the day."""

    new: tuple[int, int]
    old: tuple[int, int]


def hour_set_right(text: str) -> HourSetRight | None:
    """Return the hours of a message that says nothing but which hour takes the place of which; None of any other.

    "No wait, it's 3 not 4", "not 4, 3", "sorry, 3:30 not 3".

    Args:
        text: Verbatim.
    """
    words = [each.strip(_EDGES).lower() for each in text.replace("’", "'").split()]
    if words.count(_DENIAL) != 1:
        return None
    before, after = words[: words.index(_DENIAL)], words[words.index(_DENIAL) + 1 :]
    if len(after) == 1 and before:
        *beside, new, old = *before, *after
    elif len(after) > 1:
        old, *between, new = after
        beside = [*before, *between]
    else:
        return None
    to, was = _hour(new), _hour(old)
    is_alone = {*_table()["beside"]}.issuperset(beside)
    return None if to is None or was is None or not is_alone else HourSetRight(new=to, old=was)


def only_sets_time(beside: str) -> bool:
    """Whether what a message says beside its times says nothing of its own: "no, make it", "oh sorry, on the".

    Args:
        beside: The message without its times.
    """
    words = (each.strip(_EDGES).lower() for each in beside.replace("’", "'").split())
    return {*_table()["beside"], ""}.issuperset(words)


def _hour(word: str) -> tuple[int, int] | None:
    """Return the hour and minute of a word: "3", "3:30", "three"."""
    said, _, minute = word.replace(".", ":").partition(":")
    numbers = _table()["numbers"]
    hour = 1 + numbers.index(said) if said in numbers else _figure(said)
    past = _figure(minute) if minute else 0
    if hour is None or past is None or hour >= _HOURS or past >= _MINUTES:
        return None
    return hour, past


def _figure(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdecimal() else None


@cache
def _table() -> dict[str, Sequence[str]]:
    path = files("kinkeeper.reading.data") / "hours.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: said.split() for name, said in data.items()}
