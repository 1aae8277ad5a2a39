"""One message before the rules, and whether it and a claim that stands are about the same job. Pure."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from kinkeeper.core.time import Interval
from kinkeeper.observer.answers.attribution import are_same_task
from kinkeeper.observer.model import Extraction, Task
from kinkeeper.observer.schedule import Schedule, Slot

HANDOVERS = frozenset({Task.PICKUP, Task.DROPOFF})


@dataclass(frozen=True, slots=True, kw_only=True)
class RedlineRules:
    """Which rules are on, and their numbers.

    Attributes:
        temporal_conflict: Rule 1.
        resource_conflict: Rule 2.
        missing_variable: Rule 3 and its variant time_mismatch.
        speak_on_missing: Whether a missing owner is asked about or only kept in the queue.
        default_duration: Of a booking whose length nobody said.
        travel_buffer: Added on both sides of a booking.
        grace: How long a question waits for an answer before it is asked aloud.
    """

    temporal_conflict: bool = True
    resource_conflict: bool = True
    missing_variable: bool = True
    speak_on_missing: bool = True
    default_duration: timedelta = timedelta(minutes=60)
    travel_buffer: timedelta = timedelta(0)
    grace: timedelta = timedelta(seconds=900)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One message before the rules.

    Attributes:
        extraction: What it says, completed from the household's days.
        schedule: Those days.
        source_ids: Ids of the message and of those it answers or edits, as slots name their sources.
        mentioned: Activities the message names, whether or not it turns on them.
        is_end: Whether the time is that of the end of something.
        is_bound_for: Whether somebody is brought to the activity, not fetched from it.
    """

    extraction: Extraction
    schedule: Schedule
    source_ids: frozenset[str]
    sent_at: datetime
    zone: ZoneInfo
    mentioned: frozenset[str]
    is_bound_for: bool = False
    is_end: bool = False

    def interval(self, day: date, default: timedelta) -> Interval | None:
        """When it takes place on a day: its own time, else its activity's; None where nobody knows.

        Args:
            day: Local.
            default: Length where nobody said one.
        """
        extraction = self.extraction
        if extraction.task is Task.MOVE:
            moved = self.moved_slot()
            return self.moved_to(moved) if moved else None
        if extraction.times:
            start = self.at(day, extraction.times[0])
            ends = [end for begin, end in extraction.time_ranges if begin == extraction.times[0]]
            end = self.at(day, ends[0]) if ends else start + self._length(default)
            return Interval(start, max(start, end))
        slots = self.schedule.of_activity(extraction.activity, extraction.child)
        return next((s.interval for s in slots if s.day == day and s.interval), None)

    def moved_slot(self) -> Slot | None:
        """The slot that a move takes away."""
        extraction = self.extraction
        days = {extraction.moved_from} if extraction.moved_from else set(extraction.dates)
        standing = (*self.schedule.series, *self.schedule.slots)
        return next((slot for slot in standing if slot.day in days and self.concerns(slot)), None)

    def moved_to(self, slot: Slot) -> Interval | None:
        """Where a move puts a slot: the new day, the new time, each unchanged where none is named."""
        if slot.interval is None:
            return None
        extraction = self.extraction
        start = slot.interval.start.astimezone(self.zone)
        days = [day for day in extraction.dates if day != slot.day] or [slot.day]
        clock = extraction.times[-1] if extraction.times else start.time()
        begin = self.at(days[0], clock)
        return Interval(begin, begin + slot.interval.duration)

    def concerns(self, slot: Slot) -> bool:
        """Whether a slot is the message's own activity, for the children it names (or for anyone)."""
        extraction = self.extraction
        if not slot.is_booking or slot.activity is None or slot.activity != extraction.activity:
            return False
        return not extraction.child or not slot.who or bool(set(extraction.child) & set(slot.who))

    def is_known(self) -> bool:
        """Whether the activity stands in the event graph on one of the days."""
        return any(
            slot.event_id is not None and slot.day in self.extraction.dates and self.concerns(slot)
            for slot in self.schedule.slots
        )

    def at(self, day: date, clock: time) -> datetime:
        """Return a local time of a day."""
        return datetime.combine(day, clock, tzinfo=self.zone)

    def _length(self, default: timedelta) -> timedelta:
        if self.extraction.task in HANDOVERS:
            return default
        slots = self.schedule.of_activity(self.extraction.activity, self.extraction.child)
        return next((slot.interval.duration for slot in slots if slot.interval), default)


# Whether a message and a claim that stands are about the same job of the family. Pure.

JOBS = frozenset({*HANDOVERS, Task.COVER})
"""What somebody does for a child at a given time."""
_VAGUE = frozenset({None, Task.OTHER, Task.COVER, Task.ATTEND, Task.APPOINTMENT})


def is_same_job(case: Case, slot: Slot, rules: RedlineRules) -> bool:
    """Return whether a message is about a job that somebody has taken on already.

    Args:
        case: The message and the household's days.
        rules: The length of what nobody said a length of.
    """
    extraction = case.extraction
    task = Task(slot.task) if slot.task else None
    if not are_same_task(extraction.task, task) or not _says_what(extraction):
        return False
    if extraction.task != task and extraction.task not in _VAGUE and task not in _VAGUE:
        return False
    if not extraction.dates and not _has_in_common(extraction, slot):
        return False
    if _is_errand_of_the_day(extraction, slot) or _is_day_around(extraction, slot):
        return False
    if extraction.child and slot.who and not set(extraction.child) & set(slot.who):
        return False
    if extraction.activity and slot.activity and extraction.activity != slot.activity:
        return False
    if _is_to_another_place(extraction, slot) or _is_another_thing(extraction, slot, task):
        return False
    own = case.interval(slot.day, rules.default_duration)
    return own is None or slot.interval is None or own.overlaps(slot.interval)


def _has_in_common(extraction: Extraction, slot: Slot) -> bool:
    """Whether both name a child, an activity or a kind of job: without a day, nothing else makes them one."""
    return (
        bool(set(extraction.child) & set(slot.who))
        or (extraction.activity is not None and extraction.activity == slot.activity)
        or (extraction.task is not None and extraction.task == slot.task)
    )


def _is_another_thing(extraction: Extraction, slot: Slot, task: Task | None) -> bool:
    """Whether one names an activity and no child, the other a child and no activity, and each is done differently."""
    is_of_anybody = slot.activity is not None and not slot.who
    is_any_run = extraction.activity is None and bool(extraction.child)
    return is_of_anybody and is_any_run and extraction.task != task


def _is_to_another_place(extraction: Extraction, slot: Slot) -> bool:
    """Whether one is to an activity and the other to a place of its own: the school run, and to judo."""
    if extraction.location == slot.place or Task.DROPOFF not in {extraction.task, slot.task}:
        return False
    return (bool(extraction.activity) and slot.activity is None and slot.place is not None) or (
        bool(slot.activity) and extraction.activity is None and extraction.location is not None
    )


def _is_errand_of_the_day(extraction: Extraction, slot: Slot) -> bool:
    """Whether it is one drive or appointment on a day on which the other has the children as a whole."""
    is_whole_day = slot.task == Task.COVER and slot.interval is None and slot.activity is None
    is_errand = extraction.task in {*HANDOVERS, Task.APPOINTMENT}
    return is_errand and is_whole_day and bool(slot.who)


def _is_day_around(extraction: Extraction, slot: Slot) -> bool:
    """Whether it is having the children as a whole on a day on which the other has one drive."""
    is_whole_day = extraction.task is Task.COVER and not extraction.times
    is_day_alone = is_whole_day and extraction.activity is None and bool(extraction.child)
    return is_day_alone and slot.task in HANDOVERS


def _says_what(extraction: Extraction) -> bool:
    """Whether it is clear which of the family's jobs it is; "we'll do that" alone contradicts nobody."""
    if is_of_family(extraction):
        return True
    if extraction.task in JOBS:
        return bool(extraction.child)
    return extraction.task is not Task.APPOINTMENT and (
        extraction.activity is not None and extraction.attribution is not None
    )


def is_of_family(extraction: Extraction) -> bool:
    """Whether the words themselves name one of the family's children, activities or handovers."""
    return names(extraction, "child", "group", "task") or any(
        entity.type == "activity" and entity.value == extraction.activity
        for entity in extraction.entities
    )


def names(extraction: Extraction, *types: str) -> bool:
    """Return whether the words themselves name something of these types (child, group, date, ...)."""
    return any(entity.type in types for entity in extraction.entities)
