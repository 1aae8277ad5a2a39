"""Whether an everyday word is meant as a household's name: "Will", "Grace", "art"."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from kinkeeper.language.dictionary import first_names, word_ranks
from kinkeeper.language.text import Token, TokenKind

PEOPLE = frozenset({"child", "adult"})
"""Kinds of terms that are first names and what people are called."""

_PLAIN = frozenset({"children", "group"})
_NO_SUBJECT = frozenset(
    {"the", "a", "an", "in", "i", "we", "you", "they", "he", "she", "it", "that"}
)
_ANDS = frozenset({"and", "&", "+"})
_CLOCK = re.compile(r"\d{1,2}[.:][0-5]\d(?:am|pm)?")
_EVERYDAY_FOR_PEOPLE = 15_000
_EVERYDAY_FOR_THINGS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cues:
    kin: frozenset[str]
    calendar: frozenset[str]
    calendar_before: frozenset[str]
    weekdays: frozenset[str]
    spoken_to: frozenset[str]
    asking: frozenset[str]
    errands: frozenset[str]
    opening: frozenset[str]
    person_only_before: frozenset[str]
    auxiliary: frozenset[str]
    person_strong_before: frozenset[str]
    person_before: frozenset[str]
    person_after: frozenset[str]
    thing_before: frozenset[str]
    thing_after: frozenset[str]


@cache
def _cues() -> _Cues:
    raw = tomllib.loads(
        files(__package__).joinpath("data/evidence.toml").read_text(encoding="utf-8")
    )
    return _Cues(
        kin=frozenset(raw["kin"].split()),
        calendar=frozenset(raw["calendar"].split()),
        calendar_before=frozenset(raw["calendar_before"].split()),
        weekdays=frozenset(raw["weekdays"].split()),
        spoken_to=frozenset(raw["weekday"]["spoken_to"].split()),
        asking=frozenset(raw["weekday"]["asking"].split()),
        errands=frozenset(raw["weekday"]["errands"].split()),
        opening=frozenset(raw["weekday"]["opening"].split()),
        person_only_before=frozenset(raw["weekday"]["before"].split()),
        auxiliary=frozenset(raw["auxiliary"].split()),
        person_strong_before=frozenset(raw["person"]["strong_before"].split()),
        person_before=frozenset(raw["person"]["before"].split()),
        person_after=frozenset(raw["person"]["after"].split()),
        thing_before=frozenset(raw["thing"]["before"].split()),
        thing_after=frozenset(raw["thing"]["after"].split()),
    )


def needs_evidence(kind: str, word: str) -> bool:
    """Tell whether a single-word term is an everyday word as well.

    People's names are, where they are among the 15,000 most frequent words and in no list of first
    names or kin; other terms only among the 1,000 most frequent. Groups of people and generic
    terms ("generic_…") mean themselves everywhere.

    Args:
        kind: Kind of the term.
        word: The term, folded, without diacritics.
    """
    if kind in _PLAIN or kind.startswith("generic"):
        return False
    rank = word_ranks().get(word)
    if rank is None or word in _cues().kin:
        return False
    if kind in PEOPLE:
        return rank < _EVERYDAY_FOR_PEOPLE and word not in first_names()
    return rank < _EVERYDAY_FOR_THINGS


def has_evidence(
    kind: str, tokens: Sequence[Token], place: int, *, is_beside_mention: bool
) -> bool:
    """Tell whether the token is meant as a name where it stands.

    It is when it is possessive, capitalised within a sentence of ordinary case, joined by "and" to
    another mention, or beside a cue: for people a verb of transport or a preposition before, or a
    third-person verb after; for other things what one says around lessons and appointments. Words
    of the calendar ("May") need a verb, a possessive or a place in a list of names.

    Args:
        kind: Kind of the term.
        tokens: The message.
        place: Index of the token.
        is_beside_mention: Whether an unmistakable mention stands directly before, or is joined
            to it by "and".
    """
    cues, token = _cues(), tokens[place]
    before = tokens[place - 1].text if place else ""
    after = tokens[place + 1].text if place + 1 < len(tokens) else ""
    word = token.text.partition("'")[0]
    if "'s" in token.text or len(tokens) == 1:
        return True
    if kind not in PEOPLE:
        return (
            is_beside_mention
            or before in cues.thing_before
            or before.endswith("'s")
            or after in cues.thing_after
            or (place + 1 < len(tokens) and tokens[place + 1].kind is TokenKind.TIME)
            or _is_capitalised(tokens, place)
        )
    if word in cues.weekdays:
        return _is_called(tokens, place) or before in cues.person_only_before
    if _is_called(tokens, place) and word not in cues.auxiliary:
        return True
    if before in cues.person_strong_before or (
        after in cues.person_after and before not in _NO_SUBJECT
    ):
        return True
    if word in cues.calendar:
        return _is_listed_name(tokens, place) and is_beside_mention
    return (
        before in cues.person_before
        or is_beside_mention
        or _is_capitalised(tokens, place)
        or _is_listed_with_hour(tokens, place)
    )


def _is_listed_with_hour(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a clause opens with the word and goes on with a clock: "Will 4.40", "and Will at 4:40"."""
    is_first = not place or tokens[place - 1].kind is not TokenKind.WORD
    if not is_first and tokens[place - 1].text not in _ANDS:
        return False
    after = [token.text for token in tokens[place + 1 : place + 3]]
    hour = next((text for text in after if text not in {"at", ":"}), "")
    return _CLOCK.fullmatch(hour) is not None


def _is_called(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a clause opens with the word as whom it is said to, or who goes: "Sunday please …", "Sunday will take …"."""
    cues = _cues()
    if (
        place
        and tokens[place - 1].kind is TokenKind.WORD
        and tokens[place - 1].text not in cues.opening
    ):
        return False
    after, then = ([token.text for token in tokens[place + 1 : place + 3]] + ["", ""])[:2]
    return (
        after in cues.spoken_to
        or (after in cues.asking and then in {"you", "u", "ya"})
        or (after in cues.asking and then in cues.errands)
    )


def _is_listed_name(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a word of the calendar stands in a list of names: "Ben and June", not "Ben and June 5th"."""
    before, after = tokens[max(place - 1, 0) : place], tokens[place + 1 : place + 2]
    is_joined = any(token.text in _ANDS for token in (*before, *after))
    is_dated = any(token.text in _cues().calendar_before for token in before) or any(
        token.text[0].isdigit() for token in (*before, *after)
    )
    return is_joined and not is_dated


def _is_capitalised(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a capital stands out: within a sentence whose words mostly have none."""
    if not place or not tokens[place].surface[:1].isupper():
        return False
    previous = tokens[place - 1]
    if previous.text[0] in ".!?…" or "\n" in previous.source[previous.end : tokens[place].start]:
        return False
    words = [token for token in tokens if token.kind is TokenKind.WORD]
    return 2 * sum(token.surface[:1].islower() for token in words) >= len(words) - 1
