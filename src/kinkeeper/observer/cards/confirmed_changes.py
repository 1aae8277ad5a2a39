"""Effects on what a person has confirmed: cancelled, moved, handed back, given way. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from kinkeeper.actions.effects.calendar import AssignOccurrence, CancelOccurrence, MoveOccurrence
from kinkeeper.calendar.model import EventKind, Occurrence
from kinkeeper.observer.model import Task
from kinkeeper.observer.redline.case import Case
from kinkeeper.observer.schedule import Slot

Effects = tuple[Mapping[str, Any], ...]


def changed(case: Case) -> Effects:
    """Return what a cancellation or a move writes; who was to bring or fetch for what is cancelled need not.

    Args:
        case: The message before the rules.
    """
    extraction = case.extraction
    from_days = (extraction.moved_from,) if extraction.moved_from else extraction.dates
    written: list[Mapping[str, Any]] = []
    for slot in (*case.schedule.series, *case.schedule.slots):
        effect = _change_of(case, slot, from_days)
        if effect is not None and effect not in written:
            written.append(effect)
    if written and extraction.task is Task.CANCEL:
        written += [
            _cancelled(slot.occurrence)
            for slot in case.schedule.slots
            if slot.occurrence is not None and slot.day in from_days and _is_care_for(case, slot)
        ]
    return tuple(written)


def taken_out(slot: Slot | None, people: Sequence[str]) -> Effects:
    """Return what takes people out of a confirmed care; without anybody left it is cancelled.

    Args:
        slot: The care, if there is one.
        people: Member ids of those who leave it.
    """
    if slot is None or slot.occurrence is None:
        return ()
    left = tuple(person for person in slot.responsible if person not in people)
    if not slot.is_booking and not left:
        return (_cancelled(slot.occurrence),)
    effect = AssignOccurrence(
        event_id=slot.occurrence.event.id, original_start=slot.occurrence.original_start,
        responsible=left,
    )  # fmt: skip
    return (effect.frozen(),)


def give_way(case: Case, booked: Mapping[str, Any]) -> Effects:
    """Return what frees a slot that stands in the event graph: cancelling that one occurrence.

    Args:
        case: The message before the rules.
        booked: The facts of the slot.
    """
    for slot in case.schedule.slots:
        if slot.key == booked["key"] and slot.occurrence is not None:
            return (_cancelled(slot.occurrence),)
    return ()


def _change_of(case: Case, slot: Slot, days: Sequence[date]) -> Mapping[str, Any] | None:
    if slot.occurrence is None or slot.day not in days or not case.concerns(slot):
        return None
    if case.extraction.task is Task.CANCEL:
        return _cancelled(slot.occurrence)
    target = case.moved_to(slot)
    if target is None or target == slot.interval:
        return None
    return MoveOccurrence(
        event_id=slot.occurrence.event.id, original_start=slot.occurrence.original_start,
        new_start=target.start, new_duration=target.duration,
    ).frozen()  # fmt: skip


def _is_care_for(case: Case, slot: Slot) -> bool:
    extraction = case.extraction
    return (
        slot.kind is EventKind.CARE
        and slot.activity is not None
        and slot.activity == extraction.activity
        and (not extraction.child or not slot.who or bool(set(extraction.child) & set(slot.who)))
    )


def _cancelled(occurrence: Occurrence) -> Mapping[str, Any]:
    return CancelOccurrence(
        event_id=occurrence.event.id, original_start=occurrence.original_start
    ).frozen()
