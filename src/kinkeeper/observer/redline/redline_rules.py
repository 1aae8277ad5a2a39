"""When the assistant speaks: the four rules of the redline and their order, on entities only. Pure.

Each returns the facts its wording needs, or None where it does not match.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from kinkeeper.core.time import Interval
from kinkeeper.observer.answers.attribution import are_same_task
from kinkeeper.observer.model import (
    CoordinationType,
    Extraction,
    RedlineDecision,
    RedlineOutcome,
    RedlineRule,
    Stance,
    Task,
)
from kinkeeper.observer.redline.case import (
    HANDOVERS,
    JOBS,
    Case,
    RedlineRules,
    is_of_family,
    is_same_job,
    names,
)
from kinkeeper.observer.schedule import Slot

HORIZON = timedelta(hours=24)
MISMATCH = timedelta(minutes=60)
_WORDS = re.compile(r"\w+")
_HANDOVER = timedelta(minutes=30)
_LONG_DUTY = timedelta(hours=2)
_CHANGES = frozenset({Task.CANCEL, Task.MOVE})
_SETTLED = frozenset({Stance.ACCEPTS, Stance.CLAIMS})
_TIMES = frozenset({"date", "time", "datetime", "range", "recurring"})

Facts = dict[str, Any]


def temporal_conflict(case: Case, rules: RedlineRules) -> Facts | None:
    """Return the facts where a child is booked twice at overlapping times."""
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
            if _collides(case, interval, slot.interval, rules.travel_buffer):
                return {
                    "day": day.isoformat(),
                    "child": _shared(extraction.child, slot.who),
                    "sides": [slot.key, _clock(interval.start, case.zone)],
                    "booked": _slot_facts(slot),
                    "time": _clock(interval.start, case.zone),
                    "label": _own_label(extraction),
                }
    return None


def _books_child(extraction: Extraction) -> bool:
    if not extraction.child or extraction.task in {Task.CANCEL, Task.COVER}:
        return False
    if extraction.stance in {Stance.DECLINES, Stance.ACCEPTS} and not extraction.times:
        return False
    if extraction.task is Task.MOVE:
        # "I'll ring and move it" says not yet where to.
        return names(extraction, *_TIMES)
    if extraction.attribution is not None and not names(extraction, *_TIMES):
        # Who only takes on what was said before books nothing that was not booked by that.
        return False
    is_what = (
        extraction.activity is not None
        or extraction.task in {*HANDOVERS, Task.APPOINTMENT}
        or names(extraction, "child", "group")
    )
    return bool(extraction.times) and is_what


def _collides(case: Case, own: Interval, booked: Interval, buffer: timedelta) -> bool:
    """Whether the two exclude each other; bringing and fetching happen at the edges of a booking."""
    extraction = case.extraction
    takes_place = extraction.activity is not None and not case.is_known()
    if extraction.task is Task.PICKUP:
        return booked.start < own.start and own.start + _HANDOVER <= booked.end
    if extraction.task is Task.DROPOFF and not takes_place:
        return booked.start + _HANDOVER <= own.start < booked.end
    return own.widened(buffer).overlaps(booked)


def _is_about(case: Case, slot: Slot) -> bool:
    """Whether a message speaks of what stands there: by activity, by source, or by the title of what has no activity."""
    named = {each for each in (case.extraction.activity, *case.mentioned) if each}
    if slot.activity is None and any(_is_titled(slot, each) for each in named):
        return True
    return slot.activity in named or (
        slot.source_id is not None and slot.source_id in case.source_ids
    )


def _is_titled(slot: Slot, activity: str) -> bool:
    """Whether the title has all words of an activity, as an event has that somebody asked for in a conversation."""
    return set(activity.casefold().split("-")) <= set(_WORDS.findall(slot.label.casefold()))


def resource_conflict(case: Case, rules: RedlineRules) -> Facts | None:
    """Return the facts where two people have one job, or one person two at a time."""
    extraction = case.extraction
    owners = extraction.owners
    if not owners or extraction.task in {*_CHANGES, Task.OTHER}:
        # Two who see to the bins are no trouble.
        return None
    for slot in case.schedule.claimed(extraction.dates):
        if slot.source_id in case.source_ids:
            continue
        others = [person for person in slot.responsible if person not in owners]
        if others and not extraction.yields and is_same_job(case, slot, rules):
            return {
                "day": slot.day.isoformat(),
                "child": _shared(extraction.child, slot.who),
                "sides": sorted({*others, *owners}),
                "first": others[0],
                "second": owners[0],
                "label": _own_label(extraction),
                "slot": _slot_facts(slot),
                "is_double": False,
            }
    for slot in case.schedule.slots:
        busy = set(owners) & set(slot.responsible or slot.who)
        if busy and slot.source_id not in case.source_ids and _is_elsewhere(case, slot, rules):
            return {
                "day": slot.day.isoformat(),
                "child": list(extraction.child),
                "sides": [slot.key, _own_label(extraction)],
                "first": min(busy),
                "second": min(busy),
                "label": _own_label(extraction),
                "slot": _slot_facts(slot),
                "is_double": True,
                "time": _time_text(case, slot.day, rules),
            }
    return None


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
    if own is None or _is_drive_to(extraction, slot, own):
        return False
    is_same_round = (
        slot.task == extraction.task
        and own.start == slot.interval.start
        and slot.activity == extraction.activity
    )
    return not is_same_round and _handover(own, extraction.task).overlaps(
        _handover(slot.interval, Task(slot.task) if slot.task else None)
    )


def _is_drive_to(extraction: Extraction, slot: Slot, own: Interval) -> bool:
    """Whether a child is brought or fetched at an hour that was not said but is that of what waits in an open card.

    Such a card names no child, and of people at most those who drive; so its hour is where the drive's comes from. An
    answer to a question has its hour from that question.
    """
    return (
        extraction.task in JOBS
        and extraction.attribution is None
        and not names(extraction, *_TIMES)
        and slot.is_booking
        and slot.action_id is not None
        and set(slot.who) <= set(extraction.owners)
        and slot.interval is not None
        and slot.interval.start == own.start
    )


def _is_long_duty(slot: Slot) -> bool:
    """Whether somebody looks after children for hours, which does not tie them to one place."""
    return (
        slot.is_booking
        and bool(slot.responsible)
        and slot.interval is not None
        and slot.interval.duration >= _LONG_DUTY
    )


def _handover(interval: Interval, task: Task | None) -> Interval:
    """Bringing and fetching hold a person for half an hour at most."""
    if task in HANDOVERS:
        return Interval(interval.start, min(interval.end, interval.start + _HANDOVER))
    return interval


def time_mismatch(case: Case) -> Facts | None:
    """Return the facts where a known activity is tied to a time or day on which it does not take place."""
    extraction = case.extraction
    if (
        not case.schedule.series
        or extraction.is_announced_change
        or extraction.is_special
        or extraction.is_loose
        or extraction.stance is Stance.DECLINES
        or not extraction.is_coordination
        or not _is_tied(extraction)
    ):
        return None
    for day in extraction.dates:
        slots = [
            s
            for s in case.schedule.of_activity(extraction.activity, extraction.child)
            if s.day == day
        ]
        facts = {
            "day": day.isoformat(),
            "child": list(extraction.child),
            "label": extraction.activity,
            "sides": [extraction.activity, *(clock.isoformat() for clock in extraction.times[:1])],
            "task": extraction.task,
        }
        if not slots and (extraction.is_day_implied or _is_on_another_day(case, day)):
            # A day that nobody named is nobody's mistake; of several days one is the activity's own.
            continue
        if not slots:
            return {**facts, "booked": None, "time": None}
        timed = [slot for slot in slots if slot.interval]
        if not timed or not extraction.times:
            continue
        if not any(_fits(case, slot.interval, day) for slot in timed if slot.interval):
            return {
                **facts,
                "booked": _slot_facts(timed[0]),
                "time": extraction.times[0].isoformat(timespec="minutes"),
            }
    return None


def _is_on_another_day(case: Case, day: date) -> bool:
    """Whether the activity takes place on another of the days that are named."""
    extraction = case.extraction
    return any(
        slot.day in extraction.dates and slot.day != day
        for slot in case.schedule.of_activity(extraction.activity, extraction.child)
    )


def _is_tied(extraction: Extraction) -> bool:
    """Whether the words themselves tie a time to the activity; what they only inherit is held against nobody."""
    return names(extraction, *_TIMES) and (
        extraction.attribution is not None
        or any(entity.value == extraction.activity for entity in extraction.entities)
    )


def _fits(case: Case, interval: Interval, day: date) -> bool:
    is_fetched = case.extraction.task is Task.PICKUP and not case.is_bound_for
    latest = interval.end if is_fetched or case.is_end else interval.start
    return any(
        interval.start - MISMATCH <= case.at(day, clock) <= latest + MISMATCH
        for clock in case.extraction.times
    )


def missing_variable(case: Case, rules: RedlineRules) -> Facts | None:
    """Return the facts of a job within the next day that nobody has taken on."""
    extraction = case.extraction
    if not needs_owner(extraction) or not _is_wanted(extraction):
        return None
    starts_at = first_instant(case, rules.default_duration)
    today = case.sent_at.astimezone(case.zone).date()
    if starts_at is not None and not case.sent_at < starts_at <= case.sent_at + HORIZON:
        return None
    if (
        starts_at is None
        and extraction.dates
        and not any(today <= day <= today + timedelta(days=1) for day in extraction.dates)
    ):
        return None
    if _has_owner(case):
        return None
    return {
        "day": extraction.dates[0].isoformat() if extraction.dates else None,
        "child": list(extraction.child),
        "label": _own_label(extraction),
        "sides": [_own_label(extraction)],
        "task": extraction.task,
        "starts_at": starts_at,
        "time": extraction.times[0].isoformat(timespec="minutes") if extraction.times else None,
    }


def _is_wanted(extraction: Extraction) -> bool:
    """Whether the family waits for somebody to take it: wanted, theirs, and more than a child and a day."""
    if extraction.task is Task.OTHER:
        return False
    is_dated = bool(extraction.dates or extraction.times)
    is_of_child = bool(extraction.child) and is_dated
    if extraction.stance is Stance.DECLINES:
        is_left_open = extraction.task in JOBS and is_of_child and not extraction.is_loose
        return is_of_family(extraction) or is_left_open
    if not extraction.seeks_owner:
        return False
    if is_of_family(extraction):
        return is_of_child or extraction.task is not None or extraction.activity is not None
    return extraction.task in {*JOBS, Task.ATTEND} and is_of_child


def needs_owner(extraction: Extraction) -> bool:
    """Whether it is a job that somebody has to take and nobody has."""
    if extraction.owners or extraction.task in _CHANGES or extraction.stance in _SETTLED:
        return False
    if extraction.addressee is not None and extraction.stance is not Stance.ASKS:
        return False
    asked = extraction.stance in {Stance.ASKS, Stance.DECLINES}
    if extraction.coordination_type in {CoordinationType.TRANSPORT, CoordinationType.CARE_COVERAGE}:
        return asked or bool(extraction.child) or bool(extraction.dates)
    if extraction.coordination_type is CoordinationType.ACTIVITY_CONFIRM:
        is_sought = asked and extraction.seeks_owner
        return bool(extraction.child) or extraction.is_in_own_words or is_sought
    return False


def first_instant(case: Case, default: timedelta) -> datetime | None:
    """Return when the job starts, if a time is known."""
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
        and not _is_unspecific(slot, extraction)
        and are_same_task(extraction.task, Task(slot.task) if slot.task else None)
        and (not extraction.child or not slot.who or set(extraction.child) <= set(slot.who))
        and (not extraction.activity or not slot.activity or extraction.activity == slot.activity)
        for slot in case.schedule.claimed(extraction.dates)
    )


def _is_unspecific(slot: Slot, extraction: Extraction) -> bool:
    """Whether a run that says neither what nor when is no answer to who goes to an activity."""
    is_any_run = slot.activity is None and slot.interval is None and slot.place is None
    return is_any_run and extraction.activity is not None and extraction.stance is Stance.ASKS


def _slot_facts(slot: Slot) -> Facts:
    return {
        "key": slot.key,
        "label": slot.label,
        "activity": slot.activity,
        "task": slot.task,
        "event_id": slot.event_id,
        "action_id": slot.action_id,
        "day": slot.day.isoformat(),
        "start": slot.interval.start.isoformat() if slot.interval else None,
        "end": slot.interval.end.isoformat() if slot.interval else None,
        "who": list(slot.who),
        "responsible": list(slot.responsible),
        "original_start": slot.occurrence.original_start.isoformat() if slot.occurrence else None,
    }


def _own_label(extraction: Extraction) -> str:
    if extraction.task in HANDOVERS:
        return str(extraction.task)
    return extraction.activity or (str(extraction.task) if extraction.task else "plan")


def _shared(children: Sequence[str], who: Sequence[str]) -> list[str]:
    return [child for child in children if child in who] or list(children or who)


def _time_text(case: Case, day: date, rules: RedlineRules) -> str | None:
    interval = case.interval(day, rules.default_duration)
    return _clock(interval.start, case.zone) if interval else None


def _clock(instant: datetime, zone: ZoneInfo) -> str:
    return instant.astimezone(zone).strftime("%H:%M")


# When the assistant speaks: rules on entities only, no scores, no model. Pure.
#
# Order: a child in two places, two people on one job (or one person on two), a time or day that
# does not fit a known activity, a job soon that nobody has. Anything else is silent.

_ASK_BEFORE = timedelta(hours=1)


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
        return RedlineOutcome.silent("withdrawn")
    if rules.temporal_conflict and (facts := temporal_conflict(case, rules)):
        return _speak(RedlineRule.TEMPORAL_CONFLICT, facts)
    if rules.resource_conflict and (facts := resource_conflict(case, rules)):
        return _speak(RedlineRule.RESOURCE_CONFLICT, facts)
    if rules.missing_variable and (facts := time_mismatch(case)):
        verdict = _speak(RedlineRule.TIME_MISMATCH, facts)
        return verdict if rules.speak_on_missing else _switched_off(verdict)
    if rules.missing_variable and (facts := missing_variable(case, rules)):
        return _ask_for_owner(case, facts, rules)
    return RedlineOutcome.silent("no_rule")


def _speak(rule: RedlineRule, facts: Facts) -> RedlineOutcome:
    return RedlineOutcome(
        decision=RedlineDecision.SPEAK,
        rule=rule,
        reason=rule.value,
        facts=facts,
        conflict_key=_key(rule, facts),
    )


def _key(rule: RedlineRule, facts: Facts) -> str:
    sides = "+".join(sorted(str(side) for side in facts["sides"]))
    return f"{rule}|{facts['day'] or '-'}|{','.join(sorted(facts['child']))}|{sides}"


def _switched_off(verdict: RedlineOutcome) -> RedlineOutcome:
    """The rule still finds it, and it waits among the pending; only speaking is off."""
    return replace(verdict, decision=RedlineDecision.SILENT, reason="switched_off", speak_at=None)


def _ask_for_owner(case: Case, facts: Facts, rules: RedlineRules) -> RedlineOutcome:
    starts_at = facts["starts_at"]
    verdict = _speak(
        RedlineRule.MISSING_VARIABLE,
        {**facts, "starts_at": starts_at.isoformat() if starts_at else None},
    )
    if not rules.speak_on_missing:
        return _switched_off(verdict)
    speak_at = case.sent_at + rules.grace
    if starts_at is not None:
        speak_at = min(speak_at, starts_at - _ASK_BEFORE)
    if speak_at <= case.sent_at:
        return verdict
    return replace(verdict, decision=RedlineDecision.SILENT, reason="grace", speak_at=speak_at)
