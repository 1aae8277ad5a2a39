"""Whether a reading is a time at all, and the words that tell times from look-alikes."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from kinkeeper.reading.times.expressions import OPENING_RANGE, Expression
from kinkeeper.reading.times.partial import Clock, Partial
from kinkeeper.reading.times.resolve import BOUNDS
from kinkeeper.reading.times.tokens import Token

# The words that tell times from look-alikes, and what the words around a time speak of.

_FIRST_HOUR: Final = 5
_FIRST_HOUR_OF_ROUNDS: Final = 6


@dataclass(frozen=True, slots=True)
class Guards:
    """The words of the data file."""

    follow: frozenset[str]
    cue: frozenset[str]
    shy: frozenset[str]
    naming: frozenset[str]
    street: frozenset[str]
    meeting: frozenset[str]
    daytime: frozenset[str]
    morning: frozenset[str]
    morning_phrases: tuple[str, ...]
    rounds: frozenset[str]
    round_phrases: tuple[str, ...]
    homographs: Mapping[str, tuple[frozenset[str], frozenset[str]]]


@cache
def load_guards() -> Guards:
    """Return the words that tell times from look-alikes; read once."""
    raw = tomllib.loads(files(__package__).joinpath("guards.toml").read_text(encoding="utf-8"))
    homographs = {
        word: (frozenset(sides["before"]), frozenset(sides["after"]))
        for word, sides in raw["homographs"].items()
    }
    return Guards(
        follow=frozenset(raw["follow"]),
        cue=frozenset(raw["cue"]),
        shy=frozenset(raw["shy"]),
        naming=frozenset(raw["naming"]),
        street=frozenset(raw["street"]),
        meeting=frozenset(raw["meeting"]),
        daytime=frozenset(raw["daytime"]),
        morning=frozenset(raw["morning"]),
        morning_phrases=tuple(raw["morning_phrases"]),
        rounds=frozenset(raw["rounds"]),
        round_phrases=tuple(raw["round_phrases"]),
        homographs=homographs,
    )


def is_daytime_talk(tokens: Sequence[Token]) -> bool:
    """Whether the words speak of somebody whom one sees while offices are open."""
    words = {token.text for token in tokens}
    return not load_guards().daytime.isdisjoint(words | {word.removesuffix("s") for word in words})


def morning_begins(tokens: Sequence[Token]) -> int | None:
    """Return the first hour that is of the morning by the words around: breakfast, waking up, the school run; or None."""
    guards = load_guards()
    texts = ["", *(token.text for token in tokens), ""]
    words = [
        word
        for before, word, after in zip(texts, texts[1:], texts[2:], strict=False)
        if not is_another_word(word, before, after)
    ]
    line = " ".join(words)
    if not guards.morning.isdisjoint(words) or _holds(line, guards.morning_phrases):
        return _FIRST_HOUR
    is_round = not guards.rounds.isdisjoint(words) or _holds(line, guards.round_phrases)
    return _FIRST_HOUR_OF_ROUNDS if is_round else None


def _holds(line: str, phrases: Sequence[str]) -> bool:
    return any(phrase in line for phrase in phrases)


def is_another_word(word: str, before: str, after: str) -> bool:
    """Whether a word of time is none beside its neighbours: "sat down", "I am".

    Args:
        word: The word, in lower case.
        before: The word before it, or "".
        after: The word after it, or "".
    """
    sides = load_guards().homographs.get(word)
    return sides is not None and (before in sides[0] or after in sides[1])


NOON: Final = 12
_EARLIEST_BARE_START: Final = 7
_MILITARY_DIGITS: Final = 4
_LAST_COUNTING_ORDINAL: Final = 3
_ENDING: Final = frozenset(".,?!;:)&/…\"'-+~*<(^=")
_GLUE: Final = frozenset("$£€#/-._+=")
_GLUED_WORDS: Final = frozenset({"to", "frm", "from", "on", "-"})
_TIME_FOLLOWS: Final = frozenset(
    {"DAYWORD", "WEEKDAY", "TONIGHT", "REL", "PART", "HOLIDAY", "FREQ"}
)
_RANGE_CUES: Final = frozenset({"at", "@", "from", "till", "about", "around"})
TIME_JOINTS: Final = frozenset({"until", "till", "til", "untill"})
"""What stands between two times and hardly ever between two other numbers."""

_FIRM_CUES: Final = frozenset({"at", "@", "around", "ard", "about", "by", "till", "until"})
_DAY_CUES: Final = frozenset(
    {
        "on",
        "by",
        "for",
        "from",
        "before",
        "after",
        "until",
        "till",
        "til",
        "since",
        "due",
        "date",
        "and",
        "or",
    }
    | {"to", "the", "between", "starting", "this", "next", "around"}
)
_FIRM_MONTH_CUES: Final = frozenset(
    {
        "in",
        "by",
        "until",
        "till",
        "til",
        "since",
        "during",
        "of",
        "from",
        "before",
        "after",
        "this",
        "next",
        "last",
    }
)
_MONTH_CUES: Final = _FIRM_MONTH_CUES | frozenset(
    {
        "for",
        "late",
        "early",
        "mid",
        "to",
        "through",
        "every",
        "on",
        "and",
        "between",
        "whole",
        "all",
    }
)
_VERB_MONTHS: Final = frozenset({"may", "march", "mar", "jan"})
_VERB_FOLLOWS: Final = frozenset({"i", "be", "on", "not", "for", "we", "you", "have"})
_CERTAIN_MONTHS: Final = frozenset(
    {
        "january",
        "february",
        "feb",
        "july",
        "aug",
        "september",
        "sept",
        "october",
        "oct",
        "november",
        "nov",
    }
    | {"december"}
)
_PART_CUES: Final = frozenset(
    {
        "this",
        "in",
        "the",
        "every",
        "each",
        "one",
        "by",
        "until",
        "till",
        "for",
        "all",
        "at",
        "during",
        "next",
    }
    | {"before", "since"}
)
_GREETINGS: Final = frozenset({"good", "gd", "gud", "happy", "morning", "night", "evening"})
_ADDRESSES: Final = frozenset({",", ".", "!", "hi", "hey", "hello"})
_EVERYBODY: Final = frozenset({"all", "everyone", "guys", "folks"})
_MEASURES: Final = frozenset(
    {"of", "cup", "cups", "star", "stars", "tsp", "tbsp", "full", "price", "off"}
)


@dataclass(frozen=True, slots=True)
class _Place:
    """A reading among its neighbours.

    Attributes:
        index: First token of the reading.
        previous: Word before it, or "".
        following: Word after it, or "".
        after: Token after it, or None.
    """

    tokens: Sequence[Token]
    index: int
    found: Expression
    previous: str
    following: str
    after: Token | None

    @property
    def token(self) -> Token:
        """The first token of the reading."""
        return self.tokens[self.index]


def is_time(tokens: Sequence[Token], index: int, found: Expression) -> bool:
    """Whether the words around let a reading be a time.

    Args:
        index: First token of the reading.
    """
    after = tokens[found.end] if found.end < len(tokens) else None
    previous = tokens[index - 1].text if index else ""
    place = _Place(tokens, index, found, previous, "" if after is None else after.text, after)
    if _is_part_of_a_name(place) or tokens[index].text == "24/7" or _has_unit_sign(after):
        return False
    if found.finish is not None:
        return _is_range(place)
    return _is_single(place, found.start)


def _has_unit_sign(after: Token | None) -> bool:
    return after is not None and not after.spaced and after.text in {"%", "°", "$", "€", "£"}


def _is_single(place: _Place, partial: Partial) -> bool:
    """Judge a reading without a second end."""
    if partial.is_number_only:
        return _is_hour(place, partial)
    if len(place.tokens) == place.found.end - place.index:
        return not partial.is_weak or partial.part is not None
    if (
        partial.length is not None
        and place.token.text in {"a", "an"}
        and place.found.end == place.index + 2
    ):
        return partial.length.grain not in {"second", "minute"} or place.previous in {
            "for",
            "within",
        }
    if place.found.end - place.index == 1:
        return _is_single_word(place, partial)
    if partial == Partial(day=partial.day):
        return _is_followed(place.after)
    return not partial.is_weak


def _is_part_of_a_name(place: _Place) -> bool:
    """Whether a number belongs to the word or sign before it: "room 4", "$5", "v2", "555-1234"."""
    tokens, index = place.tokens, place.index
    first = tokens[index]
    guards = load_guards()
    if place.previous == ":" and index > 1 and tokens[index - 2].text in guards.naming:
        return True
    if not place.previous or not first.text[:1].isdigit():
        return False
    before = tokens[index - 1]
    if not first.spaced and (before.text[-1:].isalnum() or before.text in _GLUE):
        is_word = bool(before.meanings) or before.text in guards.cue or before.text in _GLUED_WORDS
        has_digits = index > 1 and not before.spaced and tokens[index - 2].text[-1:].isdigit()
        return not is_word or has_digits
    return before.text in guards.naming and "FRACTION" not in first.meanings


def _is_range(place: _Place) -> bool:
    start, finish = place.found.start, place.found.finish
    if finish is None or start.is_number_only or finish.is_number_only:
        return False
    if place.token.text in OPENING_RANGE or start.has_date or start.every is not None:
        return not (start.clock and finish.clock and _is_score(start.clock, finish.clock))
    if "HHMM" in place.token.meanings and not finish.has_date:
        return False
    if start.clock is None or finish.clock is None:
        return True
    is_bare = not any(
        clock.half or clock.has_minute or clock.hour > NOON for clock in (start.clock, finish.clock)
    )
    joint = place.tokens[place.index + 1].text
    return not is_bare or place.previous in _RANGE_CUES | {","} or joint in TIME_JOINTS


def _is_score(first: Clock, last: Clock) -> bool:
    """Whether two bare numbers count down, as "3-2" does and hours of the afternoon do not."""
    is_bare = not any(
        clock.half or clock.has_minute or clock.hour > NOON for clock in (first, last)
    )
    return is_bare and last.hour <= first.hour < _EARLIEST_BARE_START


def _is_followed(after: Token | None) -> bool:
    """Whether what follows a number leaves it a time."""
    guards = load_guards()
    if after is None or after.text in _ENDING or after.text in guards.follow:
        return True
    return after.text.endswith(("ing", "ly")) or not _TIME_FOLLOWS.isdisjoint(after.meanings)


def _is_hour(place: _Place, partial: Partial) -> bool:
    """Judge a bare number: it needs a word such as "at" before and nothing that it counts behind."""
    guards = load_guards()
    street = {token.text for token in place.tokens[place.found.end : place.found.end + 3]}
    if place.previous not in guards.cue or not guards.street.isdisjoint(street):
        return False
    if partial.number is not None and not 1 <= partial.number <= NOON:
        return False
    if (
        partial.four is not None
        and partial.four[2] < _MILITARY_DIGITS
        and place.previous not in _FIRM_CUES
    ):
        return False
    if place.after is not None and not place.after.spaced and place.following not in _ENDING:
        return False
    return _is_followed(place.after)


def _is_single_word(place: _Place, partial: Partial) -> bool:
    for category, judge in _JUDGES.items():
        if category in place.token.meanings:
            return judge(place)
    return not partial.is_weak


def _is_weekday(place: _Place) -> bool:
    is_met = (
        place.previous == "you"
        and place.index > 1
        and place.tokens[place.index - 2].text in load_guards().meeting
    )
    before = "" if is_met else place.previous
    return not is_another_word(place.token.text, before, place.following)


def _is_month(place: _Place) -> bool:
    word = place.token.text
    if word in _VERB_MONTHS:
        return place.previous in _FIRM_MONTH_CUES and place.following not in _VERB_FOLLOWS
    return place.previous in _MONTH_CUES or word in _CERTAIN_MONTHS


def _is_day_number(place: _Place) -> bool:
    day = place.found.start.day
    if day is None or (day <= _LAST_COUNTING_ORDINAL and place.previous not in _DAY_CUES):
        return False
    if "ORDWORD" in place.token.meanings and place.previous != "on":
        return False
    return _is_followed(place.after)


def _is_part(place: _Place) -> bool:
    part = place.token.meanings.get("PART")
    if place.previous in _GREETINGS or part == "lunch":
        return False
    if part == "night" or place.token.text in {"eve", "aft", "morn", "evn"}:
        return place.previous in {"at", "every", "each"}
    if place.previous in _PART_CUES:
        return True
    return (
        bool(place.previous)
        and place.previous not in _ADDRESSES
        and place.following not in _EVERYBODY
    )


def _is_slashed_date(place: _Place) -> bool:
    over, under = (int(part) for part in place.token.text.split("/"))
    if place.previous in _DAY_CUES:
        return True
    return not (over < under <= 4 or under in {5, 10, 100} or place.following in _MEASURES)


def _never(_: _Place) -> bool:
    return False


# What a single word may be, most telling first, and who judges it.
_JUDGES: Final[Mapping[str, Callable[[_Place], bool]]] = {
    "WEEKDAY": _is_weekday,
    "MONTH": _is_month,
    "ORDINAL": _is_day_number,
    "PART": _is_part,
    "MERIDIEM": _never,
    "FRACTION": _is_slashed_date,
}


def bound_before(tokens: Sequence[Token], index: int) -> tuple[str, int] | None:
    """Return the bound ("by", "until") said before a reading and its first token, or None."""
    at = index - 1
    while (
        at >= 0 and tokens[at].text in {"the", "about", "around", "like", "at"} and index - at <= 2
    ):
        at -= 1
    if at < 0:
        return None
    bound = BOUNDS.get(tokens[at].text)
    return None if bound is None else (bound, at)
