"""What the calendar shows: jobs without anybody, birthdays without a plan, habits that changed. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import takewhile

from kinkeeper.background.drift.model import (
    LOOK_AHEAD,
    LOOK_BACK,
    RUNNING,
    TWO_WEEKS,
    Evidence,
    Matter,
    Observation,
    Snapshot,
    about,
    of_event,
    of_fact,
    quoted,
    takes_place,
)
from kinkeeper.calendar.model import EventKind, Occurrence
from kinkeeper.core.time import Interval, midnight
from kinkeeper.digest.content import DigestWords, unassigned
from kinkeeper.language.name_match import telling_stems
from kinkeeper.language.text import enumerated
from kinkeeper.memory.context.session_facts import name_of
from kinkeeper.memory.model import Fact
from kinkeeper.memory.statements.statement_reader import read_statement
from kinkeeper.notes.model import entries
from kinkeeper.reading.occasions import is_birthday, plans_birthday, whose_birthday
from kinkeeper.reading.times import time_text
from kinkeeper.reading.times.model import Grain
from kinkeeper.reading.times.reader import read

_TOMORROW_IS_THE_DIGESTS = timedelta(days=2)
_BIRTHDAY_FROM, _LATEST_PLAN = timedelta(days=2), timedelta(days=10)
_TOGETHER = 0.01
"""What several birthdays in one sentence are worth more than each alone."""
_BIRTHDAY = "birthday"

# A job that comes again and has nobody.


def owners_missing(snapshot: Snapshot) -> Iterator[Observation]:
    """See jobs of the next two weeks that nobody has: where somebody usually has them, and where nobody ever did."""
    if len(snapshot.household.adults) < 2:  # noqa: PLR2004 - with one adult it is clear whose it is
        return
    free = defaultdict[str, list[Occurrence]](list)
    for each in snapshot.ahead:
        event, left = each.event, each.interval.start - snapshot.now
        is_asked = any(waiting.claimed_by or waiting.asked for waiting in each.waiting)
        is_soon = _TOMORROW_IS_THE_DIGESTS < left <= TWO_WEEKS
        if event.rrule and is_soon and each.is_confirmed and not each.responsible and not is_asked:
            free[event.id].append(each)
    for jobs in free.values():
        event = jobs[0].event
        if event.responsible:
            yield from _one_without(snapshot, jobs)
        elif event.kind is EventKind.CARE and len(jobs) > 1:
            yield from _never_had(snapshot, jobs)


def _one_without(snapshot: Snapshot, jobs: Sequence[Occurrence]) -> Iterator[Observation]:
    job, event = jobs[0], jobs[0].event
    person = snapshot.person_for([event.scope], but=event.responsible) or snapshot.person_for(
        [event.scope]
    )
    if person is None:
        return
    usual = enumerated([snapshot.name(each) for each in event.responsible])
    when = snapshot.on(job.interval.start)
    yield Observation(
        matter=Matter.OWNER_MISSING,
        key=f"owner:{event.id}:{job.original_start:%Y-%m-%d}",
        person=person,
        text=f"{_nobody(snapshot, job, when)}. It is usually {usual}.",
        score=0.9,
        until=job.interval.start - _TOMORROW_IS_THE_DIGESTS,
        evidence=(of_event(job),),
        about=about(snapshot, event.summary, people=event.who),
    )


def _never_had(snapshot: Snapshot, jobs: Sequence[Occurrence]) -> Iterator[Observation]:
    event, zone = jobs[0].event, snapshot.household.zone
    person = snapshot.person_for([event.scope])
    if person is None:
        return
    days = sorted({each.interval.start.astimezone(zone).weekday() for each in jobs})
    when = (
        "on " + enumerated([f"{time_text.WEEKDAYS[day]}s" for day in days])
        if len(days) < len(time_text.WEEKDAYS)
        else "on any day"
    )
    yield Observation(
        matter=Matter.OWNER_MISSING,
        key=f"owner:{event.id}",
        person=person,
        text=f"{_nobody(snapshot, jobs[0], when)}, according to the calendar.",
        score=0.65,
        until=jobs[-1].interval.start,
        evidence=(of_event(jobs[0]),),
        about=about(snapshot, event.summary, people=event.who),
    )


def _nobody(snapshot: Snapshot, job: Occurrence, when: str) -> str:
    if job.event.kind is EventKind.CARE:
        return DigestWords(snapshot.household).nobody(unassigned(snapshot.household, job), when)
    return f"Nobody is down for {quoted(job.event.summary)} {when}"


# Birthdays.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Birthday:
    day: date
    whose: str
    member: str | None
    scopes: tuple[str, ...]
    evidence: Evidence


def birthdays(snapshot: Snapshot) -> Iterator[Observation]:
    """See birthdays of the next three weeks for which nothing is planned: each, and all in one go."""
    by_person = defaultdict[str, list[_Birthday]](list)
    for each in _known_birthdays(snapshot):
        left = midnight(each.day, snapshot.household.zone) - snapshot.now
        person = snapshot.person_for(each.scopes, but=[each.member] if each.member else ())
        if (
            person is not None
            and _BIRTHDAY_FROM < left <= LOOK_AHEAD
            and not _is_planned(snapshot, each)
        ):
            by_person[person].append(each)
    for person, found in by_person.items():
        ordered = sorted(found, key=lambda each: (each.day, each.whose))
        for several in (*([each] for each in ordered), *([ordered] if ordered[1:] else [])):
            yield _without_plan(snapshot, person, several)


def _without_plan(snapshot: Snapshot, person: str, found: Sequence[_Birthday]) -> Observation:
    first = found[0]
    start = midnight(first.day, snapshot.household.zone)
    days = [
        f"{each.whose}’s on {snapshot.day(midnight(each.day, snapshot.household.zone))}"
        for each in found
    ]
    days[0] = days[0].replace("’s on", "’s birthday is on", 1)
    told = enumerated(days)
    return Observation(
        matter=Matter.BIRTHDAY,
        key="birthday:" + ",".join(f"{each.day}:{each.whose}" for each in found),
        person=person,
        text=f"{told[0].upper()}{told[1:]}, and I see no plan for {'it' if len(found) == 1 else 'them'} yet.",
        score=(0.85 if start - snapshot.now <= TWO_WEEKS else 0.65) + _TOGETHER * (len(found) > 1),
        until=start - _BIRTHDAY_FROM,
        evidence=tuple(each.evidence for each in found),
        once=frozenset(each.evidence.id for each in found),
        about=about(snapshot, "birthday", *(each.whose for each in found)),
        goal=f"ideas for {first.whose}’s birthday" if len(found) == 1 else "",
    )


def _known_birthdays(snapshot: Snapshot) -> Iterator[_Birthday]:
    """Yield birthdays of the calendar and of memory, each once."""
    known = dict[tuple[date, str], _Birthday]()
    for each in (*_in_calendar(snapshot), *_remembered(snapshot)):
        known.setdefault((each.day, each.whose.casefold()), each)
    yield from known.values()


def _in_calendar(snapshot: Snapshot) -> Iterator[_Birthday]:
    for each in snapshot.ahead:
        event = each.event
        if not is_birthday(event.summary):
            continue
        member = event.who[0] if len(event.who) == 1 else None
        whose = snapshot.household.names.get(member or "") or whose_birthday(event.summary)
        if whose is not None:
            yield _Birthday(
                day=each.interval.start.astimezone(snapshot.household.zone).date(),
                whose=whose,
                member=member or _member_called(snapshot, whose),
                scopes=(event.scope,),
                evidence=of_event(each),
            )


def _remembered(snapshot: Snapshot) -> Iterator[_Birthday]:
    household = snapshot.household
    for fact in snapshot.facts:
        if not any(
            each.slot == _BIRTHDAY and not each.is_negative
            for each in read_statement(fact.narrative)
        ):
            continue
        day = _next_birthday(snapshot, fact)
        whose = household.names.get(fact.subject) or _called(snapshot, fact)
        if day is not None and whose is not None:
            member = (
                fact.subject if fact.subject in household.names else _member_called(snapshot, whose)
            )
            yield _Birthday(
                day=day, whose=whose, member=member, scopes=(fact.scope,), evidence=of_fact(fact)
            )


def _called(snapshot: Snapshot, fact: Fact) -> str | None:
    """Return how somebody outside the household is called to the one who is told: "Grandpa", "your sister"."""
    whose = whose_birthday(fact.narrative)
    owner, _, rest = (whose or "").partition(" ")
    if owner.casefold() != "my" or not rest:
        return whose
    speaker = name_of(fact.speaker, snapshot.household.names)
    return (
        f"your {rest}"
        if fact.speaker == snapshot.member.id
        else f"{speaker}’s {rest}"
        if speaker
        else None
    )


def _member_called(snapshot: Snapshot, whose: str) -> str | None:
    found = snapshot.household.members_by_word.get(whose.casefold(), frozenset())
    return next(iter(found)) if len(found) == 1 else None


def _next_birthday(snapshot: Snapshot, fact: Fact) -> date | None:
    """Return the next day of the year that a fact tells of, where it tells a day."""
    said = fact.said_at.astimezone(snapshot.household.zone)
    for span in read(fact.narrative, said, locale=snapshot.household.locale):
        if span.has_date and span.grain is Grain.DAY:
            return next(
                (
                    day
                    for year in (snapshot.today.year, snapshot.today.year + 1)
                    if (day := _in_year(span.begin.date(), year)) is not None
                    and day >= snapshot.today
                ),
                None,
            )
    return None


def _in_year(day: date, year: int) -> date | None:
    try:
        return day.replace(year=year)
    except ValueError:  # 29 February
        return None


def _is_planned(snapshot: Snapshot, birthday: _Birthday) -> bool:
    """Whether something stands in the calendar, among the tasks or on a list that is meant for a birthday."""
    start = midnight(birthday.day, snapshot.household.zone)
    near = Interval(start - _LATEST_PLAN, start + _LATEST_PLAN)
    names = telling_stems(birthday.whose)

    def is_for_it(text: str) -> bool:
        return plans_birthday(text) and (
            bool(names & telling_stems(text)) or not _names_anybody(snapshot, text)
        )

    events = (
        each.event.summary
        for each in snapshot.ahead
        if near.start <= each.interval.start < near.end and not is_birthday(each.event.summary)
    )
    lines = (f"{note.title} {line}" for note in snapshot.notes for line in entries(note.body))
    titles = (task.title for task in snapshot.tasks if task.created_at > snapshot.now - LOOK_BACK)
    return any(map(is_for_it, (*events, *titles, *lines)))


def _names_anybody(snapshot: Snapshot, text: str) -> bool:
    """Whether a text is about somebody of the household, or whose birthday it is."""
    words = {each.casefold().removesuffix("’s").removesuffix("'s") for each in text.split()}
    return whose_birthday(text) is not None or not words.isdisjoint(
        snapshot.household.members_by_word
    )


# Habits.


def habits(snapshot: Snapshot) -> Iterator[Observation]:
    """See series whose person or time was another one three times running."""
    past = defaultdict[str, list[Occurrence]](list)
    for each in sorted(snapshot.occurrences, key=lambda each: each.original_start, reverse=True):
        if (
            each.event.rrule
            and each.interval.end <= snapshot.now
            and takes_place(each)
            and each.is_confirmed
        ):
            past[each.event.id].append(each)
    for found in past.values():
        yield from _other_person(snapshot, found)
        yield from _other_time(snapshot, found)


def _other_person(snapshot: Snapshot, past: Sequence[Occurrence]) -> Iterator[Observation]:
    event, doing = past[0].event, past[0].responsible
    running = [*takewhile(lambda each: each.responsible == doing, past)]
    if not doing or {*doing} == {*event.responsible} or len(running) < RUNNING:
        return
    person = snapshot.person_for([event.scope], *event.responsible, *doing)
    if person is None:
        return
    who = enumerated([snapshot.name(each) for each in doing])
    usual = enumerated([snapshot.name(each) for each in event.responsible]) or "nobody"
    yield Observation(
        matter=Matter.HABIT,
        key=f"habit:{event.id}:{','.join(doing)}",
        person=person,
        text=f"{who[0].upper()}{who[1:]} had {quoted(event.summary)} the last {len(running)} times, "
        f"and the calendar still says {usual}. Tell me if I should change it.",
        score=0.7,
        until=snapshot.now + TWO_WEEKS,
        evidence=(of_event(past[0]),),
        once=frozenset({event.id}),
        about=about(snapshot, event.summary, people=(*event.who, *doing)),
    )


def _other_time(snapshot: Snapshot, past: Sequence[Occurrence]) -> Iterator[Observation]:
    event, household = past[0].event, snapshot.household

    def shift(each: Occurrence) -> timedelta:
        return each.interval.start - each.original_start

    running = [*takewhile(lambda each: shift(each) == shift(past[0]), past)]
    person = snapshot.person_for([event.scope], *event.responsible)
    if event.all_day or not shift(past[0]) or len(running) < RUNNING or person is None:
        return
    new, old = (
        past[0].interval.start.astimezone(household.zone),
        past[0].original_start.astimezone(household.zone),
    )
    is_other_day = new.date() != old.date()
    begins, still = (
        (f"on {time_text.WEEKDAYS[new.weekday()]}", time_text.WEEKDAYS[old.weekday()])
        if is_other_day
        else (
            f"at {time_text.clock(new.time(), household.locale)}",
            time_text.clock(old.time(), household.locale),
        )
    )
    yield Observation(
        matter=Matter.HABIT,
        key=f"habit:{event.id}:{shift(past[0])}",
        person=person,
        text=f"{quoted(event.summary)} was {begins} the last {len(running)} times, and the calendar still says {still}. "
        "Tell me if I should change it.",
        score=0.7,
        until=snapshot.now + TWO_WEEKS,
        evidence=(of_event(past[0]),),
        once=frozenset({event.id}),
        about=about(snapshot, event.summary, people=event.who),
    )
