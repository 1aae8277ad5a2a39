"""Whether a reading is a time at all: most numbers in a chat are not, and "sat", "may", "sun" say other things."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from kinkeeper.language.when.expressions import BOUNDS, Expression
from kinkeeper.language.when.partial import Partial
from kinkeeper.language.when.tokens import Token

_ENDING = frozenset({".", ",", "?", "!", ";", ":", ")", "&", "/", "…", "\"", "'", "-", "+", "~", "*", "<", "(", "^", "="})
_DAY_CUES: Final = frozenset(
    {"on", "by", "for", "from", "before", "after", "until", "till", "til", "since", "due", "date", "and", "or", "to", "the", "between", "starting", "this", "next", "around"}
)
_MONTH_CUES: Final = frozenset(
    {"in", "by", "until", "till", "til", "since", "of", "for", "from", "during", "before", "after", "this", "next", "last", "late", "early", "mid", "to", "through", "every", "on", "and", "between", "whole", "all"}
)  # fmt: skip
_CERTAIN_MONTHS: Final = frozenset({"january", "february", "february", "september", "sept", "october", "november", "december", "july", "feb", "nov", "oct", "june", "august", "april", "aug"})
_NAME_MONTHS: Final = frozenset({"april", "june", "august"})
_PART_CUES: Final = frozenset({"this", "in", "the", "every", "each", "one", "by", "until", "till", "for", "all", "at", "during", "next", "before", "since"})
_GREETINGS: Final = frozenset({"good", "gd", "gud", "happy", "morning", "night", "evening"})


@dataclass(frozen=True, slots=True)
class Guards:
    """The words of the data file."""

    follow: frozenset[str]
    cue: frozenset[str]
    shy: frozenset[str]
    naming: frozenset[str]
    street: frozenset[str]
    meeting: frozenset[str]
    morning: frozenset[str]
    morning_phrases: tuple[str, ...]
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
        morning=frozenset(raw["morning"]),
        morning_phrases=tuple(raw["morning_phrases"]),
        homographs=homographs,
    )


def is_time(tokens: Sequence[Token], index: int, found: Expression) -> bool:
    """Whether the words around let a reading be a time.

    Args:
        tokens: The whole text.
        index: First token of the reading.
        found: The reading.
    """
    before = tokens[index - 1] if index else None
    after = tokens[found.end] if found.end < len(tokens) else None
    guards = load_guards()
    if _is_part_of_a_name(tokens, index, before, guards):
        return False
    if after is not None and after.text in {"%", "°", "$", "€", "£"} and not after.spaced:
        return False
    if found.finish is not None:
        return _is_range(tokens, index, found, before)
    partial = found.start
    if partial.is_number_only:
        following = {token.text for token in tokens[found.end : found.end + 3]}
        return guards.street.isdisjoint(following) and _is_hour(partial, before, after, guards)
    if tokens[index].text == "24/7":
        return False
    if len(tokens) == found.end - index:
        return not partial.is_weak or partial.part is not None
    if partial.length is not None and tokens[index].text in {"a", "an"} and found.end == index + 2:
        return partial.length.grain not in {"second", "minute"} or (before is not None and before.text in {"for", "within"})
    if found.end - index == 1:
        return _is_single_word(tokens, index, partial, before, after, guards)
    if partial == Partial(day=partial.day):
        return _is_followed(after, guards)
    return not partial.is_weak


def _is_part_of_a_name(tokens: Sequence[Token], index: int, before: Token | None, guards: Guards) -> bool:
    first = tokens[index]
    if before is not None and before.text == ":" and index > 1 and tokens[index - 2].text in guards.naming:
        return True
    if before is None or not first.text[:1].isdigit():
        return False
    if not first.spaced and (before.text[-1:].isalnum() or before.text in {"$", "£", "€", "#", "/", "-", ".", "_", ":", "+", "="}):
        words = before.meanings or before.text in guards.cue or before.text in {"to", "frm", "from", "on", "-"}
        glued_digits = index > 1 and not before.spaced and tokens[index - 2].text[-1:].isdigit()
        return not words or glued_digits
    return before.text in guards.naming and "FRACTION" not in first.meanings


def _is_range(tokens: Sequence[Token], index: int, found: Expression, before: Token | None) -> bool:
    start, finish = found.start, found.finish
    if finish is None or start.is_number_only or finish.is_number_only:
        return False
    first = tokens[index].text
    is_cued = first in {"between", "from", "btw", "btwn", "betw"}
    if not is_cued and not start.has_date and "HHMM" in tokens[index].meanings:
        return False
    both = start.clock, finish.clock
    if both[0] is not None and both[1] is not None:
        bare = not any(clock.half or clock.has_minute or clock.hour > 12 for clock in both if clock)
        if bare and finish.clock is not None and start.clock is not None and finish.clock.hour <= start.clock.hour and start.clock.hour < 7:
            return False
        if bare and not is_cued and not start.has_date and not (before and before.text in {"at", "@", "from", "till", "about", "around"}):
            return False
    return True


def _is_followed(after: Token | None, guards: Guards) -> bool:
    """Whether what follows a number leaves it a time."""
    if after is None or after.text in _ENDING or after.text in guards.follow:
        return True
    if after.text.endswith("ing") or after.text.endswith("ly"):
        return True
    return any(name in after.meanings for name in ("DAYWORD", "WEEKDAY", "TONIGHT", "REL", "PART", "HOLIDAY", "FREQ"))


def _is_hour(partial: Partial, before: Token | None, after: Token | None, guards: Guards) -> bool:
    if before is None or before.text not in guards.cue or (partial.number is not None and not 1 <= partial.number <= 12):
        return False
    if partial.four is not None and partial.four[2] == 3 and before.text not in {"at", "@", "around", "about", "by", "till", "until"}:
        return False
    if after is not None and not after.spaced and after.text not in {".", ",", "?", "!", ")", ";"}:
        return False
    return _is_followed(after, guards)


def _is_single_word(
    tokens: Sequence[Token], index: int, partial: Partial, before: Token | None, after: Token | None, guards: Guards
) -> bool:
    token = tokens[index]
    previous = "" if before is None else before.text
    following = "" if after is None else after.text
    meanings = token.meanings
    if "WEEKDAY" in meanings and token.text in guards.homographs:
        no_before, no_after = guards.homographs[token.text]
        if previous == "you" and index > 1 and tokens[index - 2].text in guards.meeting:
            return following not in no_after
        return previous not in no_before and following not in no_after
    if "MONTH" in meanings:
        if previous in _MONTH_CUES and not (token.text in {"may", "march", "mar", "jan"} and previous not in {"in", "by", "until", "till", "til", "since", "during", "of", "from", "before", "after", "this", "next", "last"}):
            return token.text not in {"may", "march"} or following not in {"i", "be", "on", "not", "for", "we", "you", "have"}
        return token.text in _CERTAIN_MONTHS and token.text not in _NAME_MONTHS
    if "ORDINAL" in meanings and partial.day is not None:
        if partial.day <= 3 and previous not in _DAY_CUES:
            return False
        if "ORDWORD" in meanings:
            return previous == "on" and _is_followed(after, guards)
        return _is_followed(after, guards)
    if "PART" in meanings or "PARTS" in meanings:
        return _is_part(token, previous, following)
    if "MERIDIEM" in meanings:
        return False
    if "FRACTION" in meanings:
        return _is_slashed_date(token, previous, following)
    if "HOLIDAY" in meanings and partial.on is not None:
        return not (token.text in {"valentines"} and False)
    if "DAYWORD" in meanings or "TONIGHT" in meanings:
        return token.text not in {"tom", "tnt", "est"} or previous in _DAY_CUES
    if "SHORTMER" in meanings:
        return False
    return not partial.is_weak


def _is_part(token: Token, previous: str, following: str) -> bool:
    if previous in _GREETINGS or token.meanings.get("PART") == "lunch":
        return False
    if token.meanings.get("PART") == "night" or token.text in {"eve", "aft", "morn", "evn"}:
        return previous in {"at", "every", "each"}
    if previous in _PART_CUES:
        return True
    return bool(previous) and following not in {"all", "everyone", "guys", "folks"} and previous not in {",", ".", "!", "hi", "hey", "hello"}


def _is_slashed_date(token: Token, previous: str, following: str) -> bool:
    over, under = (int(part) for part in token.text.split("/"))
    if (over, under) == (24, 7):
        return False
    if previous in _DAY_CUES:
        return True
    return not (over < under <= 4 or under in {5, 10, 100} or following in {"of", "cup", "cups", "star", "stars", "tsp", "tbsp", "full", "price", "off"})


def bound_before(tokens: Sequence[Token], index: int) -> tuple[str, int] | None:
    """Return the bound ("by", "until") said before a reading and its first token, or None."""
    at = index - 1
    while at >= 0 and tokens[at].text in {"the", "about", "around", "like", "at"} and index - at <= 2:
        at -= 1
    if at < 0:
        return None
    bound = BOUNDS.get(tokens[at].text)
    return None if bound is None else (bound, at)


def is_morning_talk(tokens: Sequence[Token]) -> bool:
    """Whether the words speak of the early hours: breakfast, the school run, waking up."""
    guards = load_guards()
    words = [token.text for token in tokens]
    if not guards.morning.isdisjoint(words):
        return True
    line = " ".join(words)
    return any(phrase in line for phrase in guards.morning_phrases)
