"""What a message tells of deeds that are over: who cared for whom, and what was not done; and how one asks for it. Pure."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from kinkeeper.language.dictionary import may_be_name
from kinkeeper.language.text import tokenise
from kinkeeper.reading.asked import general_words
from kinkeeper.reading.coreference import roots_of
from kinkeeper.reading.modality import Modality, is_over, modality_of, reported_in
from kinkeeper.reading.replies import goes_on_asking, is_question
from kinkeeper.reading.second_thoughts import (
    is_denial,
    is_negated,
    is_of_another,
    sets_right,
    without_lead,
)
from kinkeeper.reading.times.model import TimeSpan, without_spans
from kinkeeper.reading.times.reader import read

_PIECES = re.compile(r"([.!?;\n]+(?=\s|$)|,\s|\s(?:and|but|so)\s)", re.IGNORECASE)
_LONGEST = 8_192
_ENDS = ".!?;\n"
_WORD = re.compile(r"[\w']+")
_HOUR = re.compile(r"(?<!\bat)[ ,]+(?=\d{1,2}[.:]\d\d(?![\d ]*(?:m?l|m?g|kg)\b))")
"""Before an hour that is told without "at": "Calpol 7.15"."""
_ABOUT = timedelta(hours=1)
"""As long as an hour that is told without its minutes may be."""
_MOST_NAMING = 4
"""Words that name what is given."""
_NOT = frozenset({"not", "never"})
_ANY_TIME = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""From when times are read where it only counts that they are some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """Something that was done, or expressly not, as somebody tells it.

    Attributes:
        text: The clause that tells it.
        is_denied: Whether it was not done: "she refused her tablet".
        is_taken: Whether it is done by whom it is for: "took the drops".
        is_care: Whether something was given, done for somebody, or taken.
        is_chore: Whether it was done about the house, for everybody.
        is_mine: Whether it is about what is the teller's own.
        points_back: Whether a pronoun in it means somebody who was named before.
    """

    text: str
    is_denied: bool
    is_taken: bool
    is_care: bool
    is_chore: bool
    is_mine: bool
    points_back: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NextDose:
    """A dose that somebody tells together with a wish to be reminded of the next one.

    Attributes:
        told: What was given, without the wish.
        title: What there is to do next.
        at: When to be reminded; None where it is not certain.
        whom: Who is to be reminded, as the message calls them; empty where it does not.
    """

    told: str
    title: str
    at: datetime | None
    whom: str


class DeedAsked(StrEnum):
    """What is asked about deeds."""

    ONE = "one"
    LAST = "last"
    ALL = "all"


@lru_cache(maxsize=512)
def deeds_told(text: str, people: frozenset[str]) -> tuple[Deed, ...]:
    """Return the deeds that a message tells, each with what sets it right afterwards.

    Args:
        text: Plain; a question tells none. Beyond 8,192 characters it is not read.
        people: Words for people who are known, in small letters.
    """
    told, dose = list[tuple[str, Deed | None]](), next_dose(text[:_LONGEST], _ANY_TIME, people)
    for clause in _told_in(clauses_of(dose.told if dose else text[:_LONGEST]), people):
        before, deed = told[-1] if told else ("", None)
        together = f"{before} {clause}"
        if deed is not None and (says_done(clause, (deed,), people) or _only_denies(clause, deed)):
            is_denied = _only_denies(clause, deed)
            told[-1] = (together, replace(deed, text=together, is_denied=is_denied))
        elif before and sets_right(clause, before, people):
            told[-1] = (together, _set_right(deed, clause, together))
        else:
            told.append((clause, _deed(clause)))
    return tuple(deed for _, deed in told if deed is not None)


@lru_cache(maxsize=512)
def next_dose(text: str, said_at: datetime, people: frozenset[str]) -> NextDose | None:
    """Return the dose that a message tells and the reminder of the next one that it asks for; None where it does not do both.

    A bare hour is the next one after the dose. Whose the dose was, and of what, is told with it or with the wish.

    Args:
        said_at: In the household's zone.
        people: Words for people who are known, in small letters.
    """
    forms = _next_forms()
    if forms["asks"].search(text.lower()) is None:
        return None
    told, wishes = list[str](), list[str]()
    into = told
    for piece in filter(None, (each.strip() for each in forms["joint"].split(text))):
        said = piece.replace("’", "'").lower()
        is_wish = forms["wish"].search(said) is not None and forms["last"].search(said) is None
        deed = None if is_wish else _deed(piece)
        if is_wish:
            into = wishes
        elif (deed and deed.is_care and not deed.is_denied) or forms["last"].search(said):
            into = told
        into.append(piece)
    given, wish = ", ".join(told), _at_hours(", ".join(wishes))
    is_given = any(forms["last"].search(each.lower()) or _is_given_in(each) for each in told)
    is_again = any(forms[name].search(given + wish) for name in ("again", "last"))
    is_care = (
        is_again if _names_in(f"{given} {wish}", people) else bool(general_words(given + wish))
    )
    is_care |= any(map(may_be_name, _words_of_dose(given, people))) or bool(general_words(given))
    title = _title(given, wish, people)
    if not (is_given and is_care and wishes and title):
        return None
    # What only says that there was one tells of what with the wish.
    is_whole = bool(_words_of_dose(given, people))
    return NextDose(
        told=given if is_whole else f"{_without_times(wish)}, {given}",
        title=title,
        at=_time_of_next(given, wish, said_at),
        whom=found["whom"] if (found := forms["whom"].search(wish.lower())) else "",
    )


def _is_given_in(piece: str) -> bool:
    deed = _deed(piece)
    return deed is not None and deed.is_care and not deed.is_denied


def _at_hours(wish: str) -> str:
    return _next_forms()["hour"].sub(r"\1 at ", wish)


def _without_times(text: str) -> str:
    text = without_spans(text, read(text, _ANY_TIME))
    return " ".join(re.sub(r"\b(?:at|not before)(?=\W*$|\s*,|\s+to\b)", "", text).split())


def _title(given: str, wish: str, people: frozenset[str]) -> str:
    """Return what there is to do: as the wish says it, else to give whom what was given; empty where neither says it."""
    found = _next_forms()["what"].search(_without_times(wish))
    if found is not None and _words_of_dose(found["what"], people):
        return found["what"].strip(" ,.")
    names = " and ".join(_names_in(given, people))
    is_counted = names and _next_forms()["amount"].search(_without_times(given)) is not None
    thing = " ".join(_words_of_dose(given, people)) or ("the next dose" if is_counted else "")
    return " ".join(filter(None, ("give", names, thing))) if thing else ""


def _names_in(text: str, people: frozenset[str]) -> Sequence[str]:
    found = [each for each in _WORD.findall(text.replace("’", "'")) if _owner_in(each, people)]
    return [*dict.fromkeys(each.removesuffix("'s") for each in found)]


def _owner_in(word: str, people: frozenset[str]) -> str:
    bare = word.lower().removesuffix("'s")
    is_name = bare in people and bare not in _tables()["of_doses"]
    return bare if is_name else ""


def _words_of_dose(text: str, people: frozenset[str]) -> list[str]:
    """Return the words of a text that say what is given: neither whom, when nor how much."""
    tables, forms = _tables(), _next_forms()
    plain = forms["amount"].sub(" ", _without_times(_HOUR.sub(" at ", text).replace("’", "'")))
    last = next(
        (each for each in reversed(forms["joint"].split(plain)) if _is_given_in(each)), plain
    )
    dull = tables["light"] | tables["giving"] | tables["taking"] | tables["pronouns"]
    dull |= tables["after_all"] | tables["of_doses"]
    words = [each for each in _WORD.findall(last) if each.lower() not in dull and len(each) > 1]
    return [each for each in words if not _owner_in(each, people)][-_MOST_NAMING:]


def _time_of_next(given: str, wish: str, said_at: datetime) -> datetime | None:
    """Return when the next dose is due; None where nothing, or more than one thing, says so, or it is over."""
    spans = [each for each in read(wish, said_at) if each.has_time and each.recurrence is None]
    if len({each.begin for each in spans}) != 1:
        return None
    span, dose = spans[0], given_at(given, said_at, "")
    is_from_dose = span.is_away and dose != said_at and "remind" not in wish[: span.start_char]
    if is_from_dose or span.begin.tzinfo is None:
        return None
    at, half = span.begin, timedelta(hours=12)
    if not (span.has_date or span.is_meridiem_known):
        while at - half > dose:
            at -= half
        while at <= dose:
            at += half
    return at if at > said_at else None


def says_done(said: str, told: Sequence[Deed], people: frozenset[str]) -> bool:
    """Return whether a reply says no more than that the last of some deeds, told as not done, was: "she did in the end, toast".

    Args:
        people: Words for people who are known, in small letters.
    """
    if not (told and told[-1].is_denied) or is_question(tokenise(said), said, people):
        return False
    rest, tables = without_lead(said), _tables()
    rest = without_spans(rest, read(rest, _ANY_TIME))
    words = _WORD.findall(rest.partition(",")[0])
    bare = tables["light"] | tables["giving"] | tables["taking"] | tables["after_all"]
    is_bare = all(each in bare or each in tables["pronouns"] or each.isdigit() for each in words)
    named = people.intersection(_WORD.findall(rest)) - {*_WORD.findall(told[-1].text.lower())}
    is_done = not tables["done_after_all"].isdisjoint(words)
    return is_done and is_bare and not named and not is_negated(rest)


def _only_denies(clause: str, told: Deed) -> bool:
    """Whether a clause says again, and nothing else, that a deed was not done: "she hasn't had it, forgot"."""
    tables = _tables()
    words = {*_WORD.findall(clause.lower())}
    denials = tables["forgotten"] | tables["refused"]
    is_bare = words <= denials | tables["light"] | tables["pronouns"] | tables["after_all"]
    return told.is_denied and is_bare and not denials.isdisjoint(words)


def _set_right(told: Deed | None, clause: str, together: str) -> Deed | None:
    """Return what is left of a deed, or is told instead, after a clause that says otherwise; told by both."""
    new = _deed(without_lead(clause))
    deed, is_denied = told or new, is_denial(clause)
    if deed is None:
        return None
    if is_denied is None:
        is_denied = (deed if is_of_another(clause) else new or deed).is_denied
    return replace(deed, text=together, is_denied=is_denied)


def _told_in(clauses: Iterable[str], people: frozenset[str]) -> Iterator[str]:
    """Yield the clauses that ask nothing, by themselves or with the one that they go on with: "have Mia and Leo eaten"."""
    asked = ""
    for clause in clauses:
        is_asked = goes_on_asking(clause, asked) or is_question(tokenise(clause), clause, people)
        asked = clause if is_asked else ""
        if not is_asked:
            yield clause


def clauses_of(text: str) -> list[str]:
    """Return the clauses of a message; what tells nothing by itself ("and the fish", "Ben and") belongs to the one beside it."""
    found: list[list[str]] = []
    tells = False
    for piece, mark in _with_marks(text):
        has_ended = bool(found) and found[-1][-1][-1] in _ENDS
        is_telling = modality_of(piece) is not Modality.NAMED
        if not found or has_ended or (is_telling and tells):
            found.append([])
            tells = False
        tells |= is_telling
        found[-1].append(f"{piece}{mark}")
    return [each for each in ("".join(parts).strip() for parts in found) if each]


def _with_marks(text: str) -> Iterator[tuple[str, str]]:
    parts = [*_PIECES.split(text.replace("’", "'")), ""]
    return (
        (piece, mark) for piece, mark in zip(parts[::2], parts[1::2], strict=True) if piece.strip()
    )


def _deed(clause: str) -> Deed | None:
    """Return the deed that a clause tells, also of hearsay if it is care: whoever minds the child next asks for it."""
    reported = reported_in(clause)
    if reported:
        return _deed(reported) if general_words(reported) else None
    said = [each.lower() for each in _WORD.findall(clause)]
    words, meant = {*said}, modality_of(clause)
    tables = _tables()
    is_short = said[:1] == ["no"] and said[-1:] == ["yet"]
    is_of_other = (tables["speakers"] | tables["unwilling"]).isdisjoint(said[:1])
    is_denied = (
        is_short
        or not tables["refused"].isdisjoint(words)
        or (not tables["forgotten"].isdisjoint(words) and tables["telling"].isdisjoint(words))
        or (meant is Modality.NEGATED and _is_not_done(said))
        or (is_of_other and not tables["unwilling"].isdisjoint(words))
    )
    is_asked = not is_denied and not tables["open"].isdisjoint(words)
    is_last = not is_denied and _next_forms()["last"].search(clause) is not None
    if is_asked or not (is_denied or is_last or meant is Modality.PAST):
        return None
    is_taken = is_denied or is_last or not tables["taking"].isdisjoint(words)
    return Deed(
        text=clause,
        is_denied=is_denied,
        is_taken=is_taken,
        is_care=is_taken or not tables["giving"].isdisjoint(words),
        is_chore="the" in words and not tables["chores"].isdisjoint(words),
        is_mine=not tables["mine"].isdisjoint(words),
        points_back=not tables["pronouns"].isdisjoint(words),
    )


def _is_not_done(words: Sequence[str]) -> bool:
    """Whether a denial is one of what was done: "didn't take", and of what has been "never took", "nobody gave"."""
    tables = _tables()
    return any(
        first in tables["not_done"]
        or (first in tables["not_done_not"] and second in _NOT)
        or (first in tables["not_at_all"] and is_over(" ".join(words[place:])))
        for place, (first, second) in enumerate(pairwise(words), start=1)
    )


def given_at(text: str, said_at: datetime, locale: str) -> datetime:
    """Return when a deed that somebody tells was done: at the latest hour it names that is over, else when it was told.

    Args:
        said_at: In the household's zone.
    """
    spans = read(_HOUR.sub(" at ", text), said_at, locale=locale)
    named = [each for each in spans if each.begin != said_at] or spans
    return max((_latest(each, said_at) for each in named), default=said_at)


def _latest(span: TimeSpan, said_at: datetime) -> datetime:
    """Return the last moment of a span that is over; whether an hour is of the morning may be a guess."""
    if not span.has_time or span.until - span.begin > _ABOUT:
        return min(span.until - timedelta(minutes=1), said_at)
    half = timedelta(hours=24 if span.is_meridiem_known else 12)
    days = range(3 if not span.has_date or not span.is_meridiem_known else 1)
    return next((at for each in days if (at := span.begin - each * half) <= said_at), said_at)


def asks_for_deed(text: str) -> DeedAsked | None:
    """Return what a question asks about deeds; None where it asks for something else."""
    said = " ".join(text.replace("’", "'").lower().split()).strip(" .?!")
    return next((DeedAsked(name) for name, form in _forms().items() if form.match(said)), None)


def speaks_of_care(question: str) -> bool:
    """Whether a question has a verb for giving somebody something, or for taking it; "did" is part of many."""
    tables = _tables()
    caring = (tables["giving"] | tables["taking"]) - {"did"}
    return not caring.isdisjoint(_WORD.findall(question.lower()))


def says_what(word: str) -> bool:
    """Whether a word of a question about deeds tells one from another; "had", "gave" and "yet" tell none."""
    return word not in _tables()["light"]


def may_tell_of(told: str, planned: str, particles: frozenset[str]) -> bool:
    """Whether one verb may tell that what another one plans is done: as a form of it, or another word for it ("rang", "call").

    Args:
        told: In small letters.
        planned: In small letters.
        particles: Those that stand with both: "put the bins out", "took out the bins".
    """
    tables, both = _tables(), {told, planned}
    is_form = len(roots_of(both)) == 1
    is_any = not tables["any_deed"].isdisjoint(both)
    is_light = bool(particles) and both <= tables["light"]
    is_errand = any(both <= {*each.split()} for each in _data()["same"]["errands"])
    return is_form or is_any or is_light or is_errand


def particles_in(text: str) -> frozenset[str]:
    """Return the words of a text that only stand behind a verb: "up", "off"."""
    return _tables()["particles"].intersection(_WORD.findall(text.lower()))


def is_all_children(word: str) -> bool:
    """Whether a word means all the children."""
    return word in _tables()["children"]


@cache
def _data() -> Mapping[str, Mapping[str, Any]]:
    text = (files(__package__) / "data" / "deeds.toml").read_text(encoding="utf-8")
    data: Mapping[str, Mapping[str, Any]] = tomllib.loads(text)
    return data


@cache
def _tables() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in _data()["words"].items()}


@cache
def _next_forms() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(form, re.IGNORECASE) for name, form in _data()["next"].items()}


@cache
def _forms() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(form.replace("\n", "")) for name, form in _data()["asked"].items()}
