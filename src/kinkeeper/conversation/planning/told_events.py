"""Which events news are about, and which times of them; what is not in view has to be looked up. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any, Final

from kinkeeper.conversation.lookups import IN_VIEW
from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import Case, Step, Thing, action, standing_events
from kinkeeper.conversation.planning.creating_events import NO_EVENT
from kinkeeper.conversation.planning.event_updates import News, Told, is_beside_now, is_short
from kinkeeper.conversation.planning.people import members_in
from kinkeeper.conversation.planning.plan_times import Window, window_of
from kinkeeper.conversation.planning.referents import latest, meant, target
from kinkeeper.core.time import midnight
from kinkeeper.language.name_match import meant_by
from kinkeeper.reading.job_claims import job_name

LOOKED_FOR: Final = "to find what the news are about"
"""Why the calendar is looked at: what the news come to is planned once it is found."""

_AHEAD: Final = 60
_OF_JOBS: Final = frozenset({News.CHARGE, News.JOINS, News.WITHOUT})
"""News of who does a job, which is called after what it belongs to: "the soccer run"."""

_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)


@dataclass(frozen=True)
class Meant:
    """What one piece of news is about.

    Attributes:
        case: The message, and what stands in the calendar.
    """

    told: Told
    case: Case

    @cached_property
    def events(self) -> Sequence[Thing]:
        """The events that are meant, at any time."""
        told = self.told
        return [each for each in self._named() if told.recurs in {None, bool(each.rrule)}]

    def _named(self) -> Sequence[Thing]:
        told, case = self.told, self.case
        standing = standing_events(case.context)
        if NO_EVENT.search(told.about):
            return []
        if not told.about and told.news is News.TIME and told.who:
            return self._own(standing)
        if not told.about:
            return self._pointed_at(standing)
        also = [" ".join(map(self._called, (*each.who, *each.responsible))) for each in standing]
        titles = [each.title for each in standing]
        places = meant_by(told.about, titles, also) or meant_by(self._activity(), titles, also)
        if not places and told.news in _OF_JOBS:
            places = meant_by(job_name(told.about).about, titles, also)
        return self._theirs([standing[at] for at in places])

    def times(self, found: Sequence[Thing]) -> list[Thing]:
        """Return the times of the events that are meant.

        Args:
            found: The events, by their start.
        """
        window, now = self.window, self.case.now.isoformat()
        ahead = [each for each in found if each.start and (each.end or each.start) > now]
        if window is not None:
            return [each for each in ahead if _is_in(each, window)]
        day = self._day_told()
        if day is None:
            listed = self._listed()
            return [each for each in ahead if listed and _is_in(each, listed)] or first_of_each(
                ahead
            )
        that = [each for each in ahead if day_of(each) == day]
        if that or not self.told.is_sure:
            return that
        return sorted(ahead, key=lambda each: abs(day_of(each) - day))[:1]

    @cached_property
    def window(self) -> Window | None:
        """The time that is named for which it is so."""
        marks = [*self.told.when, *(each for each in self.told.to if self._is_long(each))]
        part = " ".join(marks)
        if not self.case.message.times(part):
            return None
        ends = next(
            (s for s in self.case.message.times(part) if s.bound == "until" and s.has_date), None
        )
        if ends is not None:
            return Window(begin=self.case.now, until=ends.begin, is_days=True)
        return window_of(part, self.case)

    def is_out_of_view(self) -> bool:
        """Whether more has to be looked up than the next days."""
        window = None if self.told.since is not None else self.window
        found = self.events
        if window is None and (week := self._weeks_of_new_day()) is not None:
            return week.until > self.case.now + IN_VIEW and not self.has_looked
        if window is not None and any(_is_in(each, window) for each in found):
            return False
        return window is not None and window.until > self.case.now + IN_VIEW and not self.has_looked

    @property
    def has_looked(self) -> bool:
        """Whether this turn has looked for it."""
        return any(
            each.action == "list_events" and each.params.get("query") == self.told.about
            for each in self.case.context.results
        )

    def look(self) -> list[Step]:
        """Return a look into the calendar for what is meant, where it is not in view."""
        window, since = self.window or self._weeks_of_new_day(), self.told.since
        days: dict[str, Any] = {"wanted": "next"}
        if since is not None:
            days |= {"from": since.isoformat(), "days_ahead": _AHEAD}
        elif window is not None:
            days = window.parameters
        params = {"query": self.told.about, **days}
        return [action("calendar", "list_events", params, reasoning=LOOKED_FOR)]

    def _weeks_of_new_day(self) -> Window | None:
        """Return the days about the new one of which a time of a series may be put there; None where none is told."""
        day = self._day_told() if self.told.is_sure and self.told.since is None else None
        if day is None or not any(each.rrule for each in self.events):
            return None
        begin = midnight(day, self.case.household.zone)
        return Window(begin=begin - _WEEK + _DAY, until=begin + _WEEK, is_days=True)

    def _activity(self) -> str:
        """Return what the household calls the activity that is named in another word for it."""
        meanings = self.case.vocabulary.meanings(self.told.about.lower())
        known = {each.id: each.name for each in self.case.household.activities}
        return next((known[each.id] for each in meanings if each.id in known), "")

    def _theirs(self, found: Sequence[Thing]) -> list[Thing]:
        """Return of what is found that which has to do with those of whom it is told, if any has; a child joins nothing that is another's by name."""
        if self.told.news is News.JOINS:
            return [each for each in found if not self._is_of_others(each)]
        people = (
            {*self.told.who, *self.told.of}
            if self.told.news is not News.CHARGE
            else {*self.told.of}
        )
        with_them = [each for each in found if people & {*each.who, *each.responsible}]
        return with_them or [*found]

    def _is_of_others(self, thing: Thing) -> bool:
        """Whether the children who shall join are others than a title names: "Mia swimming" is not Leo's."""
        people = {*self.told.who}
        named = {*members_in(thing.title, self.case)}
        grown = {each.id for each in self.case.household.adults}
        return bool(named) and not people & named and not people & grown

    def _own(self, standing: Sequence[Thing]) -> list[Thing]:
        """Return what recurs and all of those have to do with of whom it is told, the first one above all."""
        people = {*self.told.who}
        found = [
            each for each in standing if each.rrule and people <= {*each.who, *each.responsible}
        ]
        led = [each for each in found if self.told.who[0] in each.responsible]
        return led or found

    def _pointed_at(self, standing: Sequence[Thing]) -> list[Thing]:
        """Return what was spoken of last; else what those of whom it is told do on the day that is named."""
        people = {*self.told.of} if self.told.news is News.CHARGE else {*self.told.who}
        if people and (window := self.window) is not None:
            theirs = [each for each in standing if people & {*each.who, *each.responsible}]
            if self.told.news is News.CHARGE:
                theirs = [each for each in theirs if people & {*each.responsible}]
            return [each for each in theirs if _is_in(each, window)]
        things = [each for each in meant("it", self.case) if each.kind == "event" and each.id]
        known = {each.id for each in things}
        same = [each for each in standing if each.id in known]
        exact = [
            each for each in same if each.original_start in {it.original_start for it in things}
        ]
        return exact or same or things

    def _is_long(self, mark: str) -> bool:
        span = self.case.message.spans.get(mark)
        return span is not None and span.has_date and not is_short(span)

    def _listed(self) -> Window | None:
        """Return the day that was asked about last, where it was one."""
        last = next(latest(self.case), None)
        first = (
            last.params.get("from") if last is not None and last.action == "list_events" else None
        )
        if last is None or not isinstance(first, str) or last.params.get("days_ahead", 1) > 1:
            return None
        begin = datetime.fromisoformat(first[:10]).replace(tzinfo=self.case.household.zone)
        return Window(begin=begin, until=begin + _DAY, is_days=True)

    def _day_told(self) -> date | None:
        """Return the day that is named with the new time."""
        spans = [
            each
            for each in self.case.message.times(self.told.to)
            if each.has_date and is_short(each) and not each.recurrence and not is_beside_now(each)
        ]
        return spans[0].begin.date() if spans else None

    def _called(self, person: str) -> str:
        member = self.case.household.member(person)
        return person if member is None else " ".join((member.name, *member.aliases))


def _is_in(thing: Thing, window: Window) -> bool:
    if thing.start is None:
        return False
    if "T" not in thing.start:
        return window.begin.date().isoformat() <= thing.start < window.until.isoformat()
    start = datetime.fromisoformat(thing.start)
    if window.is_point:
        return start == window.begin
    return window.begin <= start < window.until


def first_of_each(found: Sequence[Thing]) -> list[Thing]:
    """Return the first time of each event.

    Args:
        found: Times of events, by their start.
    """
    return [*{each.id: each for each in reversed(found)}.values()][::-1]


def day_of(thing: Thing) -> date:
    """Return the day on which something begins."""
    return date.fromisoformat((thing.start or "")[:10])


def in_one(steps: list[Step], times: Sequence[Thing], window: Window | None) -> list[Step]:
    """Return the cancelling of all times of one series in a span as one request.

    Args:
        steps: As they would be one by one.
        times: Of the series, in order.
    """
    is_off = all(
        isinstance(each, PlannedAction) and each.action == "delete_event" for each in steps
    )
    if not steps or not is_off or not times[0].rrule or window is None:
        return steps
    last = (window.until - timedelta(microseconds=1)).date()
    if last <= day_of(times[0]):
        return steps[:1]
    until = {"until": last.isoformat()}
    return [action("calendar", "delete_event", {**target(times[0]), **until})]
