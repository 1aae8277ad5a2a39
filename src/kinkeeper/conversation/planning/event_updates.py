"""What is told of events that stand in the calendar, read apart: which, of whom, when, and what is different. Pure.

Nothing here knows what stands there; `told_changes` looks for it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Final

from kinkeeper.conversation.planning.case import Case
from kinkeeper.conversation.planning.clauses import news_of
from kinkeeper.conversation.planning.creating_events import DETERMINER, is_appointment
from kinkeeper.conversation.planning.people import is_person, people_in, who_of
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.language.text import tokenise
from kinkeeper.memory.statements.care import frees_others
from kinkeeper.reading.replies import is_question
from kinkeeper.reading.times.model import TimeSpan

_DAY = timedelta(days=1)
_MOST_ASIDE = 4
_FROM_NOW = re.compile(r"^from now$", re.IGNORECASE)
_FROM_DAY = re.compile(r"\bfrom\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"^(?:it|that|this|them|him|her|one|the (?:event|appointment|thing))$", re.IGNORECASE
)
UNREAD_TIME = re.compile(
    r"\s+(?:after|from|at|until|till|when|once|before|by|this|next)\b.*", re.IGNORECASE
)
_WHOSE = re.compile(
    r"\s+(?:man|men|woman|lady|guy|guys|people|folks|company|engineer|person)$", re.IGNORECASE
)
"""Whoever comes for what is named: "the boiler man"."""

_OWN = re.compile(r"^(?:the|our|my)\s+", re.IGNORECASE)


class News(StrEnum):
    """What is different about an event."""

    OFF = "off"
    WITHOUT = "without"
    STOPS = "stops"
    TIME = "time"
    SHIFT = "shift"
    ENDS = "ends"
    PLACE = "place"
    CHARGE = "charge"
    JOINS = "joins"
    SWAP = "swap"


_NEWS: Final[Mapping[str, News]] = {
    "appointed": News.TIME, "reported": News.TIME, "unable": News.WITHOUT, "unable_of": News.WITHOUT, "taken_off": News.WITHOUT,
    "absent": News.WITHOUT, "absent_from": News.WITHOUT, "passed_up": News.WITHOUT, "not_there": News.WITHOUT,
    "stopped": News.STOPS, "no_more": News.STOPS, "last_one": News.STOPS, "over_from": News.STOPS,
    "not_till": News.TIME, "off": News.OFF, "not_on": News.OFF, "none": News.OFF, "skipped": News.OFF, "swapped": News.SWAP,
    "ends_by": News.ENDS, "begun_of": News.TIME, "late_of": News.SHIFT, "late": News.SHIFT, "late_by": News.SHIFT, "put_by": News.SHIFT, "ends": News.ENDS,
    "put_to": News.TIME, "wanted": News.TIME, "at": News.TIME, "placed": News.PLACE, "charged": News.CHARGE, "charges": News.CHARGE,
    "charged_of": News.CHARGE, "comes": News.TIME, "gone_to": News.TIME,
}  # fmt: skip
"""What each pattern tells, in the order in which they are tried."""

_SURE: Final = frozenset(_NEWS) - {
    "at",
    "placed",
    "ends",
    "ends_by",
    "charged",
    "charges",
    "charged_of",
    "comes",
    "taken_off",
    "wanted",
    "begun_of",
    "gone_to",
}
"""Patterns that only changes are told with; the others tell news of what nobody knows yet as well."""

_JOBS: Final = frozenset({"unable", "unable_of"})

_ROUTINE: Final = frozenset({"charges", "comes", "gone_to"})
"""What somebody does is news where it is so from some day on, or instead of something."""

_TAKEN_OFF: Final = "taken_off"
_LASTING: Final = "wanted"
"""What asks for a change, which is a request for one time unless it says from when on, or on which weekday, it is so."""

_OF_ONESELF: Final = frozenset({"can't", "cannot", "couldn't", "won't"})
"""Begins what somebody says of themselves without an "I"."""

_UNABLE = re.compile(r"\b(?:can't|cannot|can not|couldn't|unable|make)\b", re.IGNORECASE)
"""Of one time that is spoken of, not of all that come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is told of an event.

    Attributes:
        about: Words that name the event, without times; empty where it is only pointed at.
        when: The part of the clause that says which time of it is meant, with marks.
        who: Ids of the members whom it is told of.
        of: Ids of the members instead of whom.
        to: The part that says the new time or end, with marks.
        way: Words that say in which direction it is put.
        since: The first day on which it is so for good; None where it is told of some times.
        is_sure: Whether it can only be told of what is known already.
        cover: Ids of the members who step in for them.
        is_charge: Whether it is told of whoever sees to it, and not of those who take part.
        is_job: Whether it is told of somebody who cannot see to something or somebody.
        is_open: Whether words about the time were not read.
        recurs: Whether it can only be told of a series, or only of what takes place once; None where of both.
        other: Of what changes places, the words for the other event, with marks.
    """

    news: News
    about: str
    when: str
    who: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    cover: tuple[str, ...] = ()
    to: str = ""
    way: str = ""
    where: str = ""
    since: date | None = None
    is_sure: bool = False
    is_charge: bool = False
    is_job: bool = False
    is_open: bool = False
    recurs: bool | None = None
    other: str = ""


@dataclass(frozen=True, slots=True)
class _Aside:
    """A clause without what stands around the news, and what that said."""

    clause: str
    since: date | None = None
    is_rather: bool = False
    is_any_more: bool = False
    is_now: bool = False
    of: str = ""
    cover: str = ""


def told_of(clause: str, case: Case) -> Iterator[Told]:
    """Yield what a clause may tell of an event, the likeliest first.

    Args:
        clause: With marks, without politeness.
    """
    is_asked = case.message.text.rstrip().endswith("?")
    said, people = case.message.words(clause), case.household.members_by_word
    begins = said.partition(",")[0]
    is_asked_here = is_asked and "?" in case.message.sentence(clause)
    if is_asked_here or is_question(tokenise(begins), begins, people):
        return
    if frees_others(said, case.household):
        return  # a job that is left to somebody else takes place
    if clause.split(" ", 1)[0].lower() in _OF_ONESELF:
        clause = f"I {clause}"
    for form in dict.fromkeys(news_of(clause, case.grammar, is_asked=is_asked)):
        days = _days_beside(form, clause, case)
        if days:
            yield from (each for each in _told_of(f"{form} {days}", case) if each.news is News.OFF)
        is_caused = bool(days) and case.grammar.telling["cause"].fullmatch(clause) is not None
        names_own = _names_own(clause, form, case)
        for each in _told_of(form, case):
            if not (is_caused and each.news is News.OFF) and (each.about or not names_own):
                yield each


def _names_own(clause: str, news: str, case: Case) -> bool:
    """Whether what stands before some news is of a thing of its own, so that they point at nothing said earlier: "karate at 4, Ann drives"."""
    before, found, _ = clause.rpartition(news)
    head = before.strip(" ,") if found else ""
    if not head:
        return False
    is_timed = bool(case.message.times(head)) and is_appointment(case.message.title(head), case)
    return is_timed or case.grammar.starts.match(head) is not None


def _told_of(form: str, case: Case) -> Iterator[Told]:
    """Yield what the news of a clause, without what caused them, may tell of an event."""
    rest = _set_aside(form, case)
    is_over = any(each.has_date and each.until <= case.now for each in case.message.times(form))
    if is_over or case.grammar.aside["unsure"].search(rest.clause):
        return
    for name in _NEWS:
        found = case.grammar.telling[name].fullmatch(rest.clause)
        told = _read(name, found.groupdict(""), rest, case) if found else None
        if told is not None and name == "not_till":
            yield from _not_till(told, case)
        elif told is not None:
            yield told


def _days_beside(news: str, clause: str, case: Case) -> str:
    """Return the days to come that only the cause of news names: "it's shut on the 4th so no judo"."""
    if case.message.times(news):
        return ""
    marks = {each: case.message.spans.get(each) for each in clause}
    return " ".join(
        mark
        for mark, span in marks.items()
        if span is not None and span.has_date and span.until > case.now and span.bound != "since"
    )


def _not_till(told: Told, case: Case) -> Iterator[Told]:
    """Yield what "not till Monday" is: a series is off until then, what takes place once is then."""
    spans = case.message.times(told.to)
    if spans and spans[0].bound in {"until", "before"} and spans[0].has_date:
        yield replace(told, news=News.OFF, when=f"{told.when} {told.to}", to="", recurs=True)
        yield replace(told, recurs=False)


def _set_aside(clause: str, case: Case) -> _Aside:
    """Take away what says how often it is so, that it was otherwise, and how it is felt about."""
    aside, patterns = _Aside(clause), case.grammar.aside
    for _ in range(_MOST_ASIDE):
        before = aside
        text = (
            patterns["begins"].sub("", aside.clause, count=1)
            if patterns["begins"].match(aside.clause)
            else aside.clause
        )
        plain = patterns["any_more"].sub("", text.strip(" ,"))
        is_any_more = aside.is_any_more or plain != text.strip(" ,")
        plain = patterns["softly"].sub("", plain)
        is_now = aside.is_now or text.lower().endswith(" now")
        aside = replace(aside, clause=plain, is_any_more=is_any_more, is_now=is_now)
        aside = _since_day(_for_good(aside, case), case)
        covered = patterns["covered"].search(aside.clause)
        if covered is not None:
            cover = covered["who"] or covered["who2"]
            aside = replace(aside, clause=aside.clause[: covered.start()], cover=cover)
        rather = patterns["rather"].search(aside.clause)
        if rather is not None:
            of = next((each for each in rather.groups("") if each), "")
            clause = aside.clause[: rather.start()]
            aside = replace(aside, clause=clause, is_rather=True, of=of)
        if aside == before:
            break
    return aside


def _for_good(aside: _Aside, case: Case) -> _Aside:
    found = case.grammar.aside["for_good"].search(aside.clause)
    if found is None:
        return aside
    marks = [each for each in found[0] if each in case.message.spans]
    if any(not _FROM_NOW.match(case.message.words(each)) for each in marks):
        return aside
    clause = f"{aside.clause[: found.start()]} {aside.clause[found.end() :]}".strip()
    return replace(aside, clause=" ".join(clause.split()), since=case.now.date())


def _since_day(aside: _Aside, case: Case) -> _Aside:
    """Take "from February" and "as of Monday" for the day from which on it is so."""
    named = case.grammar.aside["from_day"].search(aside.clause)
    part, mark = (named[0], named["day"]) if named is not None else ("", "")
    if not mark:
        mark = part = next((each for each in aside.clause if _opens(each, case)), "")
    if not mark or not case.message.spans[mark].has_date:
        return aside
    before, _, after = aside.clause.partition(part)
    after = after.removeprefix(" onwards").removeprefix(" on")  # "from January on"
    clause = " ".join(f"{before} {after}".split()).strip(" ,")
    return replace(aside, clause=clause, since=case.message.spans[mark].begin.date())


def _opens(mark: str, case: Case) -> bool:
    span = case.message.spans.get(mark)
    return span is not None and span.bound == "from" and span.has_date and not span.has_time


def _read(name: str, groups: Mapping[str, str], rest: _Aside, case: Case) -> Told | None:
    """Return what a pattern found as news; None where it is none of people we know, or names nothing."""
    what = next(
        (groups[name] for name in ("what", "what2", "what3", "what4") if groups.get(name)), ""
    )
    who = people_in(groups["who"], case) if "who" in groups else ()
    if "who" in groups and not who:
        return None
    instead = rest.of if any(each.has_date for each in case.message.times(rest.of)) else ""
    when = " ".join((what, groups.get("when", ""), groups.get("when2", ""), instead))
    if groups.get("bare") and not any(each.has_date for each in case.message.times(when)):
        return None  # "it isn't at 5" says no more than that the hour is another
    if name in _ROUTINE and not (rest.since or rest.is_rather or _is_when(name, when, case)):
        return None
    news, of, about = _NEWS[name], groups.get("of", ""), named(what, case)
    is_of_day = name == _TAKEN_OFF and not case.message.title(what) and bool(what)
    told = Told(
        news=news,
        about=about,
        when=when,
        who=who,
        of=tuple(who_of(f"{rest.of} {of}", case)),
        cover=people_in(rest.cover, case) if rest.cover else (),
        to=groups.get("to") or groups.get("by") or groups.get("end", ""),
        way=groups.get("dir", ""),
        where=_OWN.sub("", case.message.words(groups.get("where", ""))),
        since=_since(rest, when, case),
        is_sure=name in _SURE
        or is_of_day
        or rest.is_rather
        or rest.is_now
        or bool(groups.get("now")),
        is_charge=bool(groups.get("whom", "").strip() or of),
        is_job=name in _JOBS,
        other=groups.get("other", ""),
    )
    if name == "comes":
        return _with_their_own(told, case)
    if is_person(told.about, case):
        return None
    if what and not (told.about or is_of_day) and not _PLACEHOLDER.match(case.message.title(what)):
        return None
    if news is News.STOPS:
        return _stopping(told, groups, case)
    told = _repeating(told, case)
    return None if name == _LASTING and told.since is None else told


def _is_when(name: str, when: str, case: Case) -> bool:
    """Whether a time says of which days it is told who sees to something."""
    return name == "charges" and bool(case.message.times(when))


def _since(rest: _Aside, when: str, case: Case) -> date | None:
    """Return the first day on which it is so for good; "not any more" is from today on, unless a time is named."""
    if rest.since is not None or not rest.is_any_more:
        return rest.since
    is_of_one = _UNABLE.search(rest.clause) is not None or bool(case.message.times(when))
    return None if is_of_one else case.now.date()


def _with_their_own(told: Told, case: Case) -> Told | None:
    """Return news of what somebody does or sees to by themselves: "gran comes on Fridays instead"."""
    if told.about and is_person(told.about, case):
        told = replace(told, about="", who=(*told.who, *who_of(told.about, case)))
    return _repeating(replace(told, is_charge=True), case)


def named(what: str, case: Case) -> str:
    """Return the words that name an event; empty where they only point at one.

    Args:
        what: With marks.
    """
    plain = re.sub(r"([\ue100-\ue1ff])'s\b", r"\1", what)
    plain = re.sub(r"\b(the|my|our|this)\s+(?=[\ue100-\ue1ff])", "", plain)
    title = DETERMINER.sub("", case.message.title(plain)).strip(" ,")
    title = re.sub(r"\s+(?:on|at|in|from|for|of|to)$|'s?$", "", title).strip()
    title = _WHOSE.sub("", title)
    return "" if _PLACEHOLDER.match(title) else title


def _stopping(told: Told, groups: Mapping[str, str], case: Case) -> Told | None:
    """Return the end of a series with the first day on which it does not take place."""
    spans = case.message.times(groups.get("last") or told.when)
    last = next((each for each in spans if each.has_date and not each.has_time), None)
    if groups.get("last") and (last is None or any(each.has_time for each in spans)):
        return None
    since, unread = told.since or case.now.date(), UNREAD_TIME.search(told.about)
    if unread is not None:
        return replace(told, about=told.about[: unread.start()].strip(), since=since, is_open=True)
    if last is not None:
        begins = last.bound == "until" and groups.get("last") is None
        since = last.begin.date() if begins else last.until.date()
    return replace(told, since=since)


def _repeating(told: Told, case: Case) -> Told:
    """Return news of days of the week ("on Wednesdays from June") as such that hold for good.

    What was on another day of the week in which that begins takes place on the new day, too.
    """
    again = next((each for each in case.message.times(told.to) if each.recurrence), None)
    if again is None or told.since is not None:
        return told
    opens = _FROM_DAY.search(again.surface) is not None
    today, first = case.now.date(), again.begin.date()
    of_its_week = max(today, first - first.weekday() * _DAY)
    return replace(told, since=of_its_week if opens else today + _DAY)


def other_of(told: Told, case: Case) -> Told:
    """Return what is told of the other one of two events that change places.

    Args:
        told: What is told of the first.
    """
    return replace(told, about=named(told.other, case), when=f"{told.other} {told.when}")


def new_weekday(told: Told, case: Case) -> TimeSpan | None:
    """Return the day of the week on which a series shall be; None where none is told."""
    return next((each for each in case.message.times(told.to) if each.recurrence), None)


def new_moment(told: Told, case: Case) -> str | None:
    """Return the new time as far as it is told: "HH:MM", a date, or both."""
    spans = [
        replace(each, bound=None)
        for each in case.message.times(told.to)
        if is_short(each) and not each.recurrence
    ]
    moment = moment_of(spans, case.now)
    return moment.partial if moment is not None else None


def is_short(span: TimeSpan) -> bool:
    """Whether a time is of a day or less, and not of a week or month in which something is."""
    return span.until - span.begin <= _DAY


def is_beside_now(span: TimeSpan) -> bool:
    """Whether a time is counted from another one: "an hour later"."""
    return span.surface.lower().endswith((" later", " earlier"))
