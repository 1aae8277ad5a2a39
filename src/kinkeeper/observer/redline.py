"""When the assistant speaks: rules on entities only, no scores, no model. Pure.

Order: a child in two places, two people on one job (or one person on two), a time or day that does not fit a
known activity, a job soon that nobody has. Anything else is silent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from kinkeeper.calendar.model import EventKind
from kinkeeper.core.time import Interval
from kinkeeper.observer.attribution import are_same_task
from kinkeeper.observer.model import (
    CoordinationType,
    Extraction,
    RedlineDecision,
    RedlineOutcome,
    RedlineRule,
    Stance,
    Task,
)
from kinkeeper.observer.schedule import Schedule, Slot

HORIZON = timedelta(hours=24)
MISMATCH = timedelta(minutes=60)
_ASK_BEFORE = timedelta(hours=1)
_HANDOVER = timedelta(minutes=30)
_LONG_DUTY = timedelta(hours=2)
_CARE = frozenset({Task.PICKUP, Task.DROPOFF})
_CHANGES = frozenset({Task.CANCEL, Task.MOVE})
_VAGUE = frozenset({None, Task.OTHER, Task.COVER, Task.ATTEND, Task.APPOINTMENT})


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
        source_id: Id of the message (and of the one it answers), as slots name their sources.
        sent_at: Aware.
        zone: The household's.
        mentioned: Activities the message names, whether or not it turns on them.
        is_bound_for: Whether somebody is brought to the activity, not fetched from it.
    """

    extraction: Extraction
    schedule: Schedule
    source_ids: frozenset[str]
    sent_at: datetime
    zone: ZoneInfo
    mentioned: frozenset[str]
    is_bound_for: bool = False

    def interval(self, day: date, default: timedelta) -> Interval | None:
        """When it takes place on a day: its own time, else its activity's; None where nobody knows."""
        extraction = self.extraction
        if extraction.times:
            start = _at(day, extraction.times[0], self.zone)
            ends = [end for begin, end in extraction.time_ranges if begin == extraction.times[0]]
            end = _at(day, ends[0], self.zone) if ends else start + self._length(day, default)
            return Interval(start, max(start, end))
        for slot in self.schedule.of_activity(extraction.activity, extraction.child):
            if slot.day == day and slot.interval:
                return slot.interval
        return None

    def _length(self, day: date, default: timedelta) -> timedelta:
        if self.extraction.task in _CARE:
            return default
        slots = self.schedule.of_activity(self.extraction.activity, self.extraction.child)
        return next((s.interval.duration for s in slots if s.interval), default)


def decide(case: Case, rules: RedlineRules) -> RedlineOutcome:
    """Apply the rules to one message.

    Args:
        case: The message and the household's days.
        rules: Which rules are on, and their numbers.

    Returns:
        SPEAK with the first rule that matches; SILENT with the reason otherwise. A missing owner in its
        grace is SILENT with `speak_at` set.
    """
    if case.extraction.stance is Stance.WITHDRAWS:
        return _silent("withdrawn")
    if rules.temporal_conflict and (facts := _temporal_conflict(case, rules)):
        return _speak(RedlineRule.TEMPORAL_CONFLICT, facts)
    if rules.resource_conflict and (facts := _resource_conflict(case, rules)):
        return _speak(RedlineRule.RESOURCE_CONFLICT, facts)
    if rules.missing_variable and (facts := _time_mismatch(case, rules)):
        return _speak(RedlineRule.TIME_MISMATCH, facts)
    if rules.missing_variable and (facts := _missing_variable(case, rules)):
        return _ask_for_owner(case, facts, rules)
    return _silent("no_rule")


def _speak(rule: RedlineRule, facts: dict[str, Any]) -> RedlineOutcome:
    return RedlineOutcome(
        decision=RedlineDecision.SPEAK, rule=rule, reason=rule.value, facts=facts,
        conflict_key=_key(rule, facts),
    )  # fmt: skip


def _silent(reason: str) -> RedlineOutcome:
    return RedlineOutcome(decision=RedlineDecision.SILENT, rule=None, reason=reason)


def _key(rule: RedlineRule, facts: dict[str, Any]) -> str:
    sides = "+".join(sorted(str(side) for side in facts["sides"]))
    return f"{rule}|{facts['day'] or '-'}|{','.join(sorted(facts['child']))}|{sides}"


def _ask_for_owner(case: Case, facts: dict[str, Any], rules: RedlineRules) -> RedlineOutcome:
    rule = RedlineRule.MISSING_VARIABLE
    key = _key(rule, facts)
    if not rules.speak_on_missing:
        return RedlineOutcome(
            decision=RedlineDecision.SILENT, rule=rule, reason="switched_off", facts=facts,
            conflict_key=key,
        )  # fmt: skip
    speak_at = case.sent_at + rules.grace
    if facts["starts_at"] is not None:
        speak_at = min(speak_at, facts["starts_at"] - _ASK_BEFORE)
    facts = {**facts, "starts_at": facts["starts_at"].isoformat() if facts["starts_at"] else None}
    if speak_at <= case.sent_at:
        return RedlineOutcome(
            decision=RedlineDecision.SPEAK, rule=rule, reason=rule.value, facts=facts,
            conflict_key=key,
        )  # fmt: skip
    return RedlineOutcome(
        decision=RedlineDecision.SILENT, rule=rule, reason="grace", facts=facts, conflict_key=key,
        speak_at=speak_at,
    )  # fmt: skip


def _temporal_conflict(case: Case, rules: RedlineRules) -> dict[str, Any] | None:
    """A child booked twice at overlapping times."""
    extraction = case.extraction
    if not _books_child(extraction):
        return None
    for day in extraction.dates:
        interval = case.interval(day, rules.default_duration)
        if interval is None:
            continue
        for slot in case.schedule.bookings(extraction.child, [day]):
            if slot.interval is None or _is_about(case, slot):
                continue
            if _collides(extraction.task, interval, slot.interval, rules.travel_buffer):
                return {
                    "day": day.isoformat(), "child": _shared(extraction.child, slot.who),
                    "sides": [slot.key, _clock(interval.start, case.zone)],
                    "booked": _slot_facts(slot),
                    "time": _clock(interval.start, case.zone), "label": _own_label(extraction),
                }  # fmt: skip
    return None


def _books_child(extraction: Extraction) -> bool:
    if not extraction.child or extraction.task in {Task.CANCEL, Task.COVER}:
        return False
    if extraction.stance in {Stance.DECLINES, Stance.ACCEPTS} and not extraction.times:
        return False
    return bool(extraction.times) or extraction.task is Task.MOVE


def _collides(task: Task | None, own: Interval, booked: Interval, buffer: timedelta) -> bool:
    """Whether the two exclude each other; bringing and fetching happen at the edges of a booking."""
    if task is Task.PICKUP:
        return booked.start < own.start and own.start + _HANDOVER < booked.end + timedelta(minutes=1)
    if task is Task.DROPOFF:
        return booked.start + _HANDOVER <= own.start < booked.end
    return own.widened(buffer).overlaps(booked)


def _is_about(case: Case, slot: Slot) -> bool:
    activity = case.extraction.activity
    return (
        (slot.activity is not None and slot.activity in {activity, *case.mentioned})
        or (slot.source_id is not None and slot.source_id in case.source_ids)
    )  # fmt: skip


def _resource_conflict(case: Case, rules: RedlineRules) -> dict[str, Any] | None:
    """Two people on one job, or one person on two jobs at a time."""
    extraction = case.extraction
    owners = extraction.owners
    if not owners or extraction.task in _CHANGES:
        return None
    for slot in case.schedule.care(extraction.dates):
        if slot.source_id in case.source_ids:
            continue
        others = [person for person in slot.responsible if person not in owners]
        if others and not extraction.yields and _is_same_job(case, slot, rules):
            return {
                "day": slot.day.isoformat(), "child": _shared(extraction.child, slot.who),
                "sides": sorted({*others, *owners}), "first": others[0], "second": owners[0],
                "label": _own_label(extraction), "slot": _slot_facts(slot), "is_double": False,
            }  # fmt: skip
    for slot in case.schedule.slots:
        busy = set(owners) & set(slot.responsible or slot.who)
        if busy and slot.source_id not in case.source_ids and _is_elsewhere(case, slot, rules):
            return {
                "day": slot.day.isoformat(), "child": list(extraction.child),
                "sides": [slot.key, _own_label(extraction)], "first": sorted(busy)[0],
                "second": sorted(busy)[0], "label": _own_label(extraction),
                "slot": _slot_facts(slot), "is_double": True,
                "time": _time_text(case, slot.day, rules),
            }  # fmt: skip
    return None


def _is_same_job(case: Case, slot: Slot, rules: RedlineRules) -> bool:
    extraction = case.extraction
    task = Task(slot.task) if slot.task else None
    if not are_same_task(extraction.task, task):
        return False
    if extraction.task != task and extraction.task not in _VAGUE and task not in _VAGUE:
        return False
    if extraction.child and slot.who and not set(extraction.child) & set(slot.who):
        return False
    if extraction.activity and slot.activity and extraction.activity != slot.activity:
        return False
    own = case.interval(slot.day, rules.default_duration)
    return own is None or slot.interval is None or own.overlaps(slot.interval)


def _is_elsewhere(case: Case, slot: Slot, rules: RedlineRules) -> bool:
    """Whether one person would have to be at two things at once."""
    extraction = case.extraction
    if slot.day not in extraction.dates or slot.interval is None:
        return False
    if slot.activity and slot.activity in {extraction.activity, *case.mentioned}:
        return False
    if set(slot.who) & set(extraction.child) or _is_long_duty(slot):
        return False
    own = case.interval(slot.day, rules.default_duration)
    if own is None:
        return False
    is_same_round = slot.task == extraction.task and own.start == slot.interval.start
    return not is_same_round and _handover(own, extraction.task).overlaps(
        _handover(slot.interval, Task(slot.task) if slot.task else None)
    )


def _is_long_duty(slot: Slot) -> bool:
    """Whether somebody looks after children for hours, which does not tie them to one place."""
    return (
        slot.kind is EventKind.BOOKING
        and bool(slot.responsible)
        and slot.interval is not None
        and slot.interval.duration >= _LONG_DUTY
    )


def _handover(interval: Interval, task: Task | None) -> Interval:
    """Bringing and fetching hold a person for half an hour at most."""
    if task in _CARE:
        return Interval(interval.start, min(interval.end, interval.start + _HANDOVER))
    return interval


def _time_mismatch(case: Case, rules: RedlineRules) -> dict[str, Any] | None:
    """A known activity tied to a time or day on which it does not take place."""
    extraction = case.extraction
    if (
        not case.schedule.series
        or extraction.is_announced_change
        or extraction.is_special
        or extraction.stance is Stance.DECLINES
        or not extraction.is_coordination
    ):
        return None
    for day in extraction.dates:
        slots = [s for s in case.schedule.of_activity(extraction.activity, extraction.child) if s.day == day]
        facts = {
            "day": day.isoformat(), "child": list(extraction.child), "label": extraction.activity,
            "sides": [extraction.activity, *(clock.isoformat() for clock in extraction.times[:1])],
            "task": extraction.task,
        }  # fmt: skip
        if not slots:
            return {**facts, "booked": None, "time": None}
        timed = [slot for slot in slots if slot.interval]
        if not timed or not extraction.times:
            continue
        if not any(_fits(case, slot, day) for slot in timed):
            return {
                **facts, "booked": _slot_facts(timed[0]),
                "time": extraction.times[0].isoformat(timespec="minutes"),
            }  # fmt: skip
    return None


def _fits(case: Case, slot: Slot, day: date) -> bool:
    assert slot.interval is not None
    is_fetched = case.extraction.task is Task.PICKUP and not case.is_bound_for
    latest = slot.interval.end if is_fetched else slot.interval.start
    return any(
        slot.interval.start - MISMATCH <= _at(day, clock, case.zone) <= latest + MISMATCH
        for clock in case.extraction.times
    )


def _missing_variable(case: Case, rules: RedlineRules) -> dict[str, Any] | None:
    """A job within the next day that nobody has taken on."""
    extraction = case.extraction
    if not needs_owner(extraction):
        return None
    starts_at = first_instant(case, rules.default_duration)
    today = case.sent_at.astimezone(case.zone).date()
    if starts_at is not None and not case.sent_at < starts_at <= case.sent_at + HORIZON:
        return None
    if starts_at is None and extraction.dates and not any(
        today <= day <= today + timedelta(days=1) for day in extraction.dates
    ):
        return None
    if _has_owner(case):
        return None
    return {
        "day": extraction.dates[0].isoformat() if extraction.dates else None,
        "child": list(extraction.child), "label": _own_label(extraction),
        "sides": [_own_label(extraction)], "task": extraction.task, "starts_at": starts_at,
        "time": extraction.times[0].isoformat(timespec="minutes") if extraction.times else None,
    }  # fmt: skip


def needs_owner(extraction: Extraction) -> bool:
    """Whether it is a job that somebody has to take and nobody has."""
    if extraction.owners or extraction.task in _CHANGES or extraction.stance is Stance.ACCEPTS:
        return False
    if extraction.addressee is not None and extraction.stance is not Stance.ASKS:
        return False
    asked = extraction.stance in {Stance.ASKS, Stance.DECLINES}
    if extraction.coordination_type in {CoordinationType.TRANSPORT, CoordinationType.CARE_COVERAGE}:
        return asked or bool(extraction.child) or bool(extraction.dates)
    if extraction.coordination_type is CoordinationType.ACTIVITY_CONFIRM:
        return bool(extraction.child) or extraction.stance is Stance.ASKS
    return False


def first_instant(case: Case, default: timedelta) -> datetime | None:
    """When the job starts, if a time is known."""
    for day in case.extraction.dates:
        interval = case.interval(day, default)
        if interval is not None:
            return interval.start
    return None


def _has_owner(case: Case) -> bool:
    extraction = case.extraction
    on_days = case.schedule.of_activity(extraction.activity, extraction.child)
    if any(slot.responsible for slot in on_days if slot.day in extraction.dates):
        return extraction.stance is not Stance.ASKS
    return any(
        slot.responsible
        and are_same_task(extraction.task, Task(slot.task) if slot.task else None)
        and (not extraction.child or not slot.who or set(extraction.child) <= set(slot.who))
        and (not extraction.activity or not slot.activity or extraction.activity == slot.activity)
        for slot in case.schedule.care(extraction.dates)
    )


def _slot_facts(slot: Slot) -> dict[str, Any]:
    return {
        "key": slot.key, "label": slot.label, "activity": slot.activity, "task": slot.task,
        "event_id": slot.event_id, "action_id": slot.action_id, "day": slot.day.isoformat(),
        "start": slot.interval.start.isoformat() if slot.interval else None,
        "end": slot.interval.end.isoformat() if slot.interval else None,
        "who": list(slot.who), "responsible": list(slot.responsible),
        "original_start": slot.occurrence.original_start.isoformat() if slot.occurrence else None,
    }  # fmt: skip


def _own_label(extraction: Extraction) -> str:
    if extraction.task in _CARE:
        return str(extraction.task)
    return extraction.activity or (str(extraction.task) if extraction.task else "plan")


def _shared(children: Sequence[str], who: Sequence[str]) -> list[str]:
    return [child for child in children if child in who] or list(children or who)


def _time_text(case: Case, day: date, rules: RedlineRules) -> str | None:
    interval = case.interval(day, rules.default_duration)
    return _clock(interval.start, case.zone) if interval else None


def _clock(instant: datetime, zone: ZoneInfo) -> str:
    return instant.astimezone(zone).strftime("%H:%M")


def _at(day: date, clock: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, clock, tzinfo=zone)
