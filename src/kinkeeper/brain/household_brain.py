"""The brain of this household: answers from its calendar, its memory and its notes, and invents nothing."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import TypeVar
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.brain.answer_text import (
    BEARS,
    answer_of,
    dated,
    event_sentence,
    known_events,
    sureness_of,
    times_of,
)
from kinkeeper.brain.deeds import DeedQuestion, deed_question, frees_of
from kinkeeper.brain.limits import Limits, limits_known
from kinkeeper.brain.model import BrainAnswer, BrainQuery, Knowledge, Source, SourceKind
from kinkeeper.brain.question import Question, read_question
from kinkeeper.brain.recollection import Recollection
from kinkeeper.brain.schedule import EventWords, Scheduled, scheduled
from kinkeeper.calendar.model import EventKind, Occurrence
from kinkeeper.calendar.search import activity_occurrences, care_between, occurrences_between
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.time import Clock, Interval, local_days, midnight
from kinkeeper.household.model import Household, Member, members_by_name
from kinkeeper.household.viewers import Viewer
from kinkeeper.language.text import shorten, tokenise
from kinkeeper.memory.finding.search import Finder
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.model import Episode
from kinkeeper.memory.statement_match import is_of_speaker
from kinkeeper.memory.statements.care import people_in
from kinkeeper.memory.statements.discretion import speaks_of_health
from kinkeeper.notes.model import Note, entries
from kinkeeper.notes.repository import list_notes
from kinkeeper.reading.asked import (
    LimitKind,
    Saying,
    asked_limit,
    asked_saying,
    asks_how_they_are,
    asks_to_give,
    asks_what_happened,
    forbids,
    general_words,
    medicine_words,
)
from kinkeeper.reading.coreference import root_of
from kinkeeper.reading.deeds import Deed, DeedAsked, given_at, speaks_of_care
from kinkeeper.reading.modality import Modality, modality_of
from kinkeeper.reading.replies import asks_who_does, is_question
from kinkeeper.reading.times.reader import read
from kinkeeper.store.store import Store

# What notes say about a question: the lines that have its words. Pure.

_SURE = 0.9
"""A line that has every word that is asked about; what was found in calendar and memory goes before it."""

_ASKS_NOTHING = frozenset(
    stems(
        "what which who whose where when how much many long old code we have got put keep know find need does did colour color number"
    )
)
_LEAST = 0.6
_MOST = 2
_LONGEST = 240


def written(question: str, notes: Sequence[Note], members: Sequence[Member] = ()) -> list[Source]:
    """Return the lines of notes that bear on a question, best first.

    Args:
        notes: Those that whoever asks may read.
        members: Who may have made them: "I" in a line is whoever made its note.
    """
    made_by = {each.id: each for each in members}
    wanted = frozenset(stems(question))
    named = wanted - _ASKS_NOTHING
    who = {each.id for each in members if not wanted.isdisjoint(_stems_said("", each))}
    found = [
        _source(note, line, maker, round(_SURE * share, 3))
        for note in notes
        for line in entries(note.body)
        for maker in [made_by.get(note.made_by or "") if is_of_speaker(line) else None]
        if maker is None or not who or maker.id in who
        if (share := _share(wanted, named, note.title, _stems_said(line, maker))) >= _LEAST
    ]
    return sorted(found, key=_by_relevance)[:_MOST]


def _share(
    wanted: frozenset[str], named: frozenset[str], title: str, said: frozenset[str]
) -> float:
    """Return how much of what is asked about a line speaks of, its note's title counted with it, in [0, 1]."""
    beside = said | frozenset(stems(title))
    if not named & said or len(beside - wanted) == 0:
        return 0.0
    return max(len(named & beside) / len(named), len(wanted & beside) / len(wanted))


def _stems_said(line: str, maker: Member | None) -> frozenset[str]:
    """Return the stems of a line, with all that whoever is "I" in it is called."""
    called = () if maker is None else (maker.id, maker.name, *maker.aliases)
    return frozenset(stems(" ".join((line, *called))))


def _source(note: Note, line: str, maker: Member | None, relevance: float) -> Source:
    words = shorten(" ".join(line.split()), _LONGEST)
    told = f"On “{note.title}”: {words}." if maker is None else f"{maker.name} noted: “{words}”."
    return Source(
        id=note.id,
        kind=SourceKind.NOTE,
        text=line,
        sentence=told.replace("..", "."),
        speaker=None if maker is None else maker.name,
        relevance=relevance,
        at=note.created_at,
    )


def _by_relevance(source: Source) -> float:
    return -source.relevance


# The brain that answers from the event graph alone.

_AHEAD = timedelta(days=21)
_BACK = timedelta(days=60)
_EXACT, _NEAR, _GENERAL, _NOTHING = 0.9, 0.6, 0.7, 0.0
_T = TypeVar("_T")


class GraphBrain:
    """Answers from the event graph of one household.

    Args:
        clock: Tells what "usually" looks back from where a query names no day.
    """

    def __init__(self, store: Store, household: str, zone: ZoneInfo, clock: Clock) -> None:
        self._store = store
        self._household = household
        self._zone = zone
        self._clock = clock

    async def ask(self, query: BrainQuery, viewer: Viewer) -> BrainAnswer:
        """Return what the event graph knows about a day, an activity, or who usually does a task.

        Raises:
            InvariantError: The viewer is of another household.
        """
        if viewer.household != self._household:
            raise InvariantError(
                f"a viewer from household {viewer.household!r} cannot query {self._household!r}"
            )
        day = query.day or self._clock.now().astimezone(self._zone).date()
        if query.activity is not None:
            activity = query.activity
            return await self._read(lambda conn: self._schedule(conn, viewer, activity, day))
        if query.task is not None:
            task = query.task
            return await self._read(lambda conn: self._usual_owner(conn, viewer, task, day))
        return await self._read(lambda conn: self._day(conn, viewer, day))

    async def _read(self, work: Callable[[Connection], _T]) -> _T:
        return await self._store.read(work)

    def _schedule(self, conn: Connection, viewer: Viewer, activity: str, day: date) -> BrainAnswer:
        start = midnight(day, self._zone)
        found = activity_occurrences(
            conn, viewer, activity, Interval(start - timedelta(days=1), start + _AHEAD)
        )
        same_weekday = [o for o in found if self._local(o).weekday() == day.weekday()]
        if same_weekday:
            return self._answer(_EXACT, "is on that weekday", same_weekday)
        if found:
            return self._answer(_NEAR, "is on other days", found)
        return BrainAnswer(relevance=_NOTHING, summary="not in the event graph")

    def _usual_owner(self, conn: Connection, viewer: Viewer, task: str, day: date) -> BrainAnswer:
        start = midnight(day, self._zone)
        care = [
            occurrence
            for occurrence in care_between(conn, viewer, Interval(start - _BACK, start))
            if occurrence.event.task == task and self._local(occurrence).weekday() == day.weekday()
        ]
        owners = Counter(person for occurrence in care for person in occurrence.responsible)
        if not owners:
            return BrainAnswer(relevance=_NOTHING, summary="nobody usually does")
        person, times = owners.most_common(1)[0]
        share = times / len(care)
        return self._answer(round(share * _EXACT, 2), f"{person}, {times} times lately", care)

    def _day(self, conn: Connection, viewer: Viewer, day: date) -> BrainAnswer:
        found = occurrences_between(conn, viewer, local_days(day, day, self._zone))
        bookings = [o for o in found if o.event.kind in {EventKind.BOOKING, EventKind.CARE}]
        if not bookings:
            return BrainAnswer(relevance=_NOTHING, summary="nothing booked that day")
        return self._answer(_GENERAL, f"{len(bookings)} booked that day", bookings)

    def _answer(self, relevance: float, summary: str, found: list[Occurrence]) -> BrainAnswer:
        return BrainAnswer(
            relevance=relevance,
            summary=summary,
            items=[
                {
                    "event": occurrence.event.id,
                    "start": occurrence.interval.start.astimezone(self._zone).isoformat(),
                    "responsible": list(occurrence.responsible),
                }
                for occurrence in found[:5]
            ],
        )

    def _local(self, occurrence: Occurrence) -> date:
        return occurrence.interval.start.astimezone(self._zone).date()


_MOST_SOURCES = 5
_INSTANT = timedelta(microseconds=1)
_UNCONFIRMED, _UNSURE = "Not confirmed yet", "Not certain"
_NONE_KNOWN = (
    "Not that I know: nobody has told me anything of that kind, at least nothing you can see."
)
_LAST_HEARD = (
    "I don't know: nobody has told me that of then, at least nothing you can see. The last I heard:"
)
_BESIDE = "I don't know: nobody has told me just that. What I heard today:"
_NO_ADVICE = "That I can't say. What I was told:"
_DAY = timedelta(days=1)
_ILLNESS = frozenset(stems("ill sick unwell poorly"))
_DENIED = "No, as far as I was told."
_NOT_KNOWN, _BUT = "Not that I know.", " What I do know:"


class HouseholdBrain:
    """Answers questions about one household.

    Args:
        store: Where calendar and memory are.
        household: As its file describes it.
        clock: Tells what holds and what comes next.

    Attributes:
        household: The one it knows about.
    """

    def __init__(self, store: Store, household: Household, finder: Finder, clock: Clock) -> None:
        self._store = store
        self.household = household
        self._recollection = Recollection(store, household, finder)
        self._clock = clock
        self._words = EventWords(household)
        self._graph = GraphBrain(store, household.id, household.zone, clock)

    async def ask(self, query: BrainQuery, viewer: Viewer) -> BrainAnswer:
        """Return what is known about a day, an activity or a job.

        The calendar comes first; where it has nothing that counts, what memory holds about times does.
        """
        planned = await self._graph.ask(query, viewer)
        if planned.relevance >= BEARS:
            return planned
        now = self._clock.now()
        question = read_question(query.text, self.household, now=now)
        remembered = await self._recollection.of(question, viewer, now=now)
        timely = [source for source in remembered if self._speaks_of_time(source)]
        if not timely or timely[0].relevance <= planned.relevance:
            return planned
        # Its words stay where they are: a trace that quoted them would outlast their being forgotten.
        return BrainAnswer(
            relevance=round(timely[0].relevance, 2),
            summary="there is something in memory about it",
            items=[{"source": each.id, "kind": each.kind.value} for each in timely],
        )

    async def know(self, query: BrainQuery, viewer: Viewer) -> Knowledge:
        """Return what is known about a question.

        Args:
            query: The question, in any words, and what it names.
        """
        now = self._clock.now()
        if (saying := asked_saying(query.text, self.household.members_by_word)) is not None:
            return await self._said(saying, viewer, now=now)
        if asks_who_does(query.text) and (freed := await self._freed(query, viewer, now=now)):
            return freed
        for read_as in (self._befell, self._happened, self._doses):
            if (found := await read_as(query, viewer, now=now)) is not None:
                return found
        if (asked := asked_limit(query.text)) is None:
            return await self._found(query, viewer, now=now)
        limits = await self._store.read(
            lambda conn: limits_known(conn, viewer, asked, self.household, now=now)
        )
        waiting = "".join(f" {_UNCONFIRMED}: {each}" for each in limits.waiting)
        said = self._recollection.quotes(limits.heard)
        unsure = [
            replace(each, sentence=f"{_UNSURE}: {each.sentence}")
            for each in self._recollection.quotes(limits.unsure)
        ]
        told = [*self._recollection.sources(limits.told), *said, *unsure]
        if limits.is_answered and (told or waiting):
            is_no = asked.is_whether and bool(told) and all(map(self._is_forbidden, told))
            return self._listed(told, lead=f"{_DENIED if is_no else ''}{waiting}".strip())
        is_known = bool(limits.besides or told or waiting)
        if limits.topic or not asked.is_plain:
            known = await self._found(query, viewer, now=now)
            is_of_it = any(limits.topic & {*stems(each.text)} for each in known.sources)
            is_food = asked.kind is LimitKind.DIET and is_known
            if is_of_it or not (asked.is_plain or is_food):
                return known
        besides = [*self._recollection.sources(limits.besides), *told]
        lead = f"{_NOT_KNOWN}{waiting}{_BUT if besides else ''}" if is_known else _NONE_KNOWN
        return self._listed(besides, lead=lead, relevance=_NOTHING)

    def _is_forbidden(self, source: Source) -> bool:
        """Whether something is forbidden for good; whether that is over where a time is named, nobody can tell."""
        return forbids(source.text, LimitKind.ANY) and not self._speaks_of_time(source)

    async def _said(self, saying: Saying, viewer: Viewer, *, now: datetime) -> Knowledge:
        """Return what somebody said of something, in their own words, as far as the viewer may know it."""
        called = viewer.member or "" if saying.who == "i" else saying.who
        member = self.household.member(members_by_name(self.household).get(called, called))
        name = member.name if member else called.title()
        question = read_question(saying.about, self.household, now=now)
        sources = await self._recollection.said(question, viewer, name=name, member=member, now=now)
        who = "you" if member and member.id == viewer.member else name or "anybody"
        about = " about that" if saying.about else ""
        lead = "" if sources else f"I know of nothing that {who} said{about}."
        return self._listed(
            sources[:_MOST_SOURCES], lead=lead, relevance=1.0 if sources else _NOTHING
        )

    async def _freed(self, query: BrainQuery, viewer: Viewer, *, now: datetime) -> Knowledge | None:
        """Return what was said last of a job's being left to somebody else on a day; None where nothing was."""
        question = read_question(query.text, self.household, now=now)
        for each in await self._recollection.lately(viewer, now=now):
            if frees_of(each.text, question, self.household):
                source = self._recollection.told(each)
                if question.period is None or self._is_of(source, question.period):
                    return replace(self._listed([source]), is_of_deeds=True)
        return None

    async def _happened(
        self, query: BrainQuery, viewer: Viewer, *, now: datetime
    ) -> Knowledge | None:
        """Return what was told of a deed, or of what may have happened; None where nothing was, or something else is asked."""
        question = read_question(query.text, self.household, now=now)
        deeds = deed_question(question, self.household, viewer.member)
        lately = await self._recollection.lately(viewer, now=now) if deeds is not None else ()
        if deeds is not None and (done := self._done(deeds, lately, question.period)) is not None:
            return done
        if asks_what_happened(query.text) and (told := await self._told(question, viewer, now=now)):
            return told
        if deeds is not None and deeds.people and speaks_of_care(query.text):
            return self._done_beside(deeds, lately, now.astimezone(self.household.zone).date())
        return None

    async def _befell(
        self, query: BrainQuery, viewer: Viewer, *, now: datetime
    ) -> Knowledge | None:
        """Return what was told lately of somebody's health, or of what befell them; None where nothing was, or something else is asked."""
        if not asks_how_they_are(query.text):
            return None
        question, today = read_question(query.text, self.household, now=now), now - _DAY
        people = people_in(query.text, self.household)
        is_of_health = not people or bool({*stems(query.text)} & _ILLNESS)
        sources = [
            source
            for each in await self._recollection.lately(viewer, now=now)
            if (named := people_in(each.text, self.household)) and people <= named
            if speaks_of_health(each.text)
            or general_words(each.text) == general_words("ill")
            or (not is_of_health and modality_of(each.text) is Modality.PAST)
            if not is_question(tokenise(each.text), each.text, self.household.members_by_word)
            for source in [self._recollection.told(each)]
            if (
                source.at >= today
                if question.period is None
                else self._is_of(source, question.period)
            )
        ]
        found = self._listed(sources[:_MOST_SOURCES]) if sources else None
        return found and replace(found, is_of_deeds=True)

    async def _doses(self, query: BrainQuery, viewer: Viewer, *, now: datetime) -> Knowledge | None:
        """Return what was told of a medicine that may be given or not: what forbids it, and the doses of the last day; never advice."""
        asked = asks_to_give(query.text)
        if asked is None or not (people := people_in(query.text, self.household)):
            return None
        limits = await self._store.read(
            lambda conn: limits_known(conn, viewer, asked, self.household, now=now)
        )
        every = DeedQuestion(
            household=self.household,
            content=frozenset(map(root_of, stems(medicine_words()[0]))),
            people=people,
            kind=DeedAsked.ALL,
        )
        lately = await self._recollection.lately(viewer, now=now)
        doses = [
            each for each in self._deeds(every, lately, None) if now - self._done_at(*each) < _DAY
        ]
        by_time = sorted(((self._done_at(*each), *each) for each in doses), key=_by_hour)
        known = limits if limits.is_answered else Limits(topic=limits.topic)
        barred = [
            *self._recollection.sources(known.told),
            *self._recollection.quotes([*known.heard, *known.unsure]),
        ]
        told = [*barred, *(source for _, source, _ in by_time[:_MOST_SOURCES])]
        waiting = "".join(f" {_UNCONFIRMED}: {each}" for each in known.waiting)
        if not (told or waiting):
            return None
        once = [*{each.text: each for each in told}.values()]
        lead = _DENIED if any(map(self._is_forbidden, barred)) else _NO_ADVICE
        return replace(self._listed(once, lead=f"{lead}{waiting}"), is_of_deeds=True)

    def _done(
        self, asked: DeedQuestion, lately: Sequence[Episode], period: Interval | None
    ) -> Knowledge | None:
        """Return what was told of a deed, by when it was done, the last first; None where nothing was.

        Of medicine that is all of the last day: who asks must miss no dose. What was denied last denies the deed, but neither
        when it was done before nor another medicine of that day.
        """
        found = self._deeds(asked, lately, period)
        if not found:
            return None
        by_time = sorted(((self._done_at(*each), *each) for each in found), key=_by_hour)
        if asked.kind is DeedAsked.ALL:
            told = [source for _, source, _ in by_time[:_MOST_SOURCES]]
            return replace(self._listed(told), is_of_deeds=True)
        newest, last = found[0]
        denied_on = self._done_at(newest, last).date() if last.is_denied else None
        done = [(at, source) for at, source, deed in by_time if not deed.is_denied]
        if asked.kind is DeedAsked.ONE and denied_on is not None:
            done = [each for each in done if asked.is_of_medicine and each[0].date() == denied_on]
        if not done:
            return replace(self._listed([newest], lead=_DENIED), is_of_deeds=True)
        most = _MOST_SOURCES if asked.is_of_medicine else 1
        told = [source for at, source in done[:most] if at.date() == done[0][0].date()]
        is_doubted = asked.kind is DeedAsked.ONE and denied_on is not None
        return replace(self._listed([*([newest] if is_doubted else []), *told]), is_of_deeds=True)

    def _done_at(self, source: Source, deed: Deed) -> datetime:
        at = source.at.astimezone(self.household.zone)
        return given_at(deed.text, at, self.household.locale)

    def _done_beside(
        self, asked: DeedQuestion, lately: Sequence[Episode], today: date
    ) -> Knowledge | None:
        """Return what other care those who are asked about had today: the same in other words, maybe; None where none was told."""
        others = replace(asked, content=frozenset(), kind=DeedAsked.ALL)
        found = self._deeds(others, lately, local_days(today, today, self.household.zone))
        sources = [each for each, _ in found[:_MOST_SOURCES]]
        return self._listed(sources, lead=_BESIDE) if sources else None

    def _deeds(
        self, asked: DeedQuestion, lately: Sequence[Episode], period: Interval | None
    ) -> list[tuple[Source, Deed]]:
        """Return who told of deeds that are asked about, and the deeds, of some days where they are named; the newest first."""
        return [
            (source, deed)
            for each in lately
            if (deed := asked.answer_in(each.text, each.member)) is not None
            for source in [self._recollection.told(each)]
            if period is None or self._is_of(source, period)
        ]

    async def _told(self, question: Question, viewer: Viewer, *, now: datetime) -> Knowledge | None:
        """Return what was told of what may have happened, with who said it and when; None where nothing was."""
        if not question.weight:
            return None
        told = await self._recollection.said(question, viewer, name="", member=None, now=now)
        then = [
            each for each in told if question.period is None or self._is_of(each, question.period)
        ]
        if then or not told:
            return self._listed(then[:_MOST_SOURCES]) if then else None
        return self._listed(told[:1], lead=_LAST_HEARD)

    def _may_be_that_job(self, source: Source, question: Question) -> bool:
        """Whether what is remembered may tell of the job that is asked for: neither of other days nor of others alone."""
        asked, told = (people_in(each, self.household) for each in (question.text, source.text))
        is_of_others = bool(asked and told) and asked.isdisjoint(told)
        period = question.period
        return not is_of_others and (
            period is None or self._names_one(source, self._whole(period)) is not False
        )

    def _is_of(self, source: Source, period: Interval) -> bool:
        """Whether somebody tells of some days: said on one of them and naming no other, or naming one."""
        days = self._whole(period)
        named = self._names_one(source, days)
        return days.start <= source.at < days.end if named is None else named

    def _names_one(self, source: Source, days: Interval) -> bool | None:
        """Whether a source names one of some days; None where it names no day at all."""
        at, locale = source.at.astimezone(self.household.zone), self.household.locale
        named = [each for each in read(source.text, at, locale=locale) if each.has_date]
        among = any(each.begin < days.end and each.until > days.start for each in named)
        return among if named else None

    def _whole(self, period: Interval) -> Interval:
        zone = self.household.zone
        ends = (period.start, period.end - _INSTANT)
        first, last = (each.astimezone(zone).date() for each in ends)
        return local_days(first, last, zone)

    def _listed(
        self, sources: Sequence[Source], *, lead: str = "", relevance: float = 1.0
    ) -> Knowledge:
        """Return sources that are the answer all together."""
        told = " ".join((lead, *(each.sentence for each in sources))).strip()
        return Knowledge(
            answer=told,
            sources=sources,
            sureness=sureness_of(relevance),
            relevance=relevance,
            events=(),
            times=times_of((), (), sources, self.household),
            lead=lead,
            is_list=True,
        )

    async def _found(self, query: BrainQuery, viewer: Viewer, *, now: datetime) -> Knowledge:
        question = read_question(query.text, self.household, now=now)
        planned, noted = await self._store.read(
            lambda conn: (
                scheduled(conn, viewer, self._words, question, now=now),
                list_notes(conn, viewer),
            )
        )
        every = [
            *(self._event_source(found) for found in planned),
            *await self._usual_owner(query, viewer, now=now),
            *await self._recollection.of(question, viewer, now=now),
            *written(query.text, noted, self.household.members),
        ]
        if asks_who_does(query.text):
            every = [each for each in every if self._may_be_that_job(each, question)]
        every.sort(key=_rank)
        sources = [source for source in every if source.relevance >= BEARS][:_MOST_SOURCES]
        best = max((source.relevance for source in every), default=0.0)
        ids = {source.id for source in sources if source.kind is SourceKind.EVENT}
        events = known_events(
            [found for found in planned if found.event.id in ids], self.household, viewer
        )
        return Knowledge(
            answer=answer_of(dated(sources, self.household.zone)),
            sources=sources,
            sureness=sureness_of(best),
            relevance=round(best, 3),
            events=events,
            times=times_of(question.spans, events, sources, self.household),
        )

    async def _usual_owner(
        self, query: BrainQuery, viewer: Viewer, *, now: datetime
    ) -> list[Source]:
        """Return who usually does the job that a question names, where the calendar tells."""
        if query.task is None:
            return []
        found = await self._graph.ask(query, viewer)
        if not found.items:
            return []
        person, _, times = found.summary.partition(",")
        member = self.household.member(person)
        sentence = f"Usually {member.name if member else person} does it,{times}."
        return [
            Source(
                id=str(found.items[0]["event"]),
                kind=SourceKind.EVENT,
                text=sentence,
                sentence=sentence,
                relevance=found.relevance,
                at=now,
            )
        ]

    def _speaks_of_time(self, source: Source) -> bool:
        reference = source.at.astimezone(self.household.zone)
        return bool(read(source.text, reference, locale=self.household.locale))

    def _event_source(self, found: Scheduled) -> Source:
        sentence = event_sentence(found, self.household)
        return Source(
            id=found.event.id,
            kind=SourceKind.EVENT,
            text=sentence,
            sentence=sentence,
            relevance=round(found.relevance, 3),
            at=found.times[0].interval.start,
        )


def _by_hour(done: tuple[datetime, Source, Deed]) -> float:
    return -done[0].timestamp()


def _rank(source: Source) -> tuple[float, bool, float]:
    """Of what bears equally well, the calendar comes first: it knows when, where and who. Then newer comes first."""
    is_event = source.kind is SourceKind.EVENT
    order = -source.relevance if is_event else -source.at.timestamp()
    return -round(source.relevance, 1), not is_event, order
