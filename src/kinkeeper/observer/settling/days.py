"""Reads the days a message is about: the event graph with the open proposals laid over it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.actions.effects.calendar import (
    AddEvent,
    CancelEvent,
    CancelOccurrence,
    MoveOccurrence,
)
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.registry import read_effects
from kinkeeper.calendar.model import Event, EventKind, Occurrence, SourceType
from kinkeeper.calendar.repository import find_event
from kinkeeper.calendar.search import activity_occurrences, is_busy, occurrences_between
from kinkeeper.core.time import Interval, local_days, midnight
from kinkeeper.household.viewers import Viewer
from kinkeeper.observer.model import Extraction
from kinkeeper.observer.schedule import Schedule, Slot

_DAY = timedelta(days=1)
SERIES_AHEAD = timedelta(days=22)
UNDATED_DAYS = 8


def load_schedule(
    conn: Connection,
    household: str,
    extraction: Extraction,
    *,
    pending: Sequence[PendingAction],
    sent_at: datetime,
    zone: ZoneInfo,
) -> Schedule:
    """Return what stands, confirmed or proposed, on the days of a message.

    Args:
        conn: Any transaction.
        household: Tenant key.
        extraction: Names days and activity; without days, the coming week counts.
        pending: The household's open actions.
        sent_at: Aware.
        zone: The household's.
    """
    viewer = Viewer.of(household)
    today = sent_at.astimezone(zone).date()
    days = [*extraction.dates, *([extraction.moved_from] if extraction.moved_from else [])]
    if not days:
        days = [today + offset * _DAY for offset in range(UNDATED_DAYS)]
    slots = [
        slot
        for interval in _spans(days, zone)
        for slot in _from_graph(occurrences_between(conn, viewer, interval, with_busy=True), zone)
    ]
    series: list[Slot] = []
    if extraction.activity:
        span = Interval(midnight(today - _DAY, zone), midnight(today, zone) + SERIES_AHEAD)
        found = activity_occurrences(conn, viewer, extraction.activity, span)
        series = [slot for slot in _from_graph(found, zone) if slot.kind is EventKind.BOOKING]
    laid_over = _overlay(conn, household, slots, pending, set(days), zone)
    return Schedule(
        slots=tuple(sorted(laid_over, key=_order)),
        series=tuple(sorted(series, key=_order)),
    )


def _spans(days: Iterable[date], zone: ZoneInfo) -> Iterator[Interval]:
    """One span for each run of consecutive days: a query costs more than the days it covers."""
    ordered = sorted(set(days))
    runs = [day for day in ordered if day - _DAY not in ordered]
    for first in runs:
        last = first
        while last + _DAY in ordered:
            last += _DAY
        yield local_days(first, last, zone)


def _from_graph(occurrences: Iterable[Occurrence], zone: ZoneInfo) -> Iterator[Slot]:
    for occurrence in occurrences:
        event = occurrence.event
        yield Slot(
            key=f"{event.id}@{occurrence.original_start.isoformat()}",
            kind=event.kind,
            label=event.summary,
            day=occurrence.interval.start.astimezone(zone).date(),
            interval=None if event.all_day else occurrence.interval,
            activity=event.activity,
            place=event.place,
            task=event.task,
            who=event.who,
            responsible=occurrence.responsible,
            event_id=None if is_busy(event) else event.id,
            source_id=event.provenance.source_id,
            is_from_chat=event.provenance.source_type is SourceType.OBSERVER,
            occurrence=None if is_busy(event) else occurrence,
        )


def _overlay(  # noqa: PLR0917 - one pass over what stands and what is proposed
    conn: Connection,
    household: str,
    slots: Sequence[Slot],
    pending: Sequence[PendingAction],
    days: set[date],
    zone: ZoneInfo,
) -> list[Slot]:
    """Open proposals count: what they cancel is gone, what they move stands at its new time."""
    standing = list(slots)
    for action in pending:
        for effect in read_effects(household, proposed_effects(action)):
            match effect:
                case AddEvent():
                    standing.append(_proposed(effect.event, action, zone))
                case CancelOccurrence():
                    standing = [slot for slot in standing if not _is_occurrence(slot, effect)]
                case MoveOccurrence():
                    standing = [slot for slot in standing if not _is_occurrence(slot, effect)]
                    moved = _moved(conn, household, effect, action, zone)
                    standing += [moved] if moved and moved.day in days else []
                case CancelEvent():
                    standing = [slot for slot in standing if slot.event_id != effect.event_id]
                case _:
                    pass
    return standing


def proposed_effects(action: PendingAction) -> Sequence[Mapping[str, Any]]:
    """What an open action would write if everything in it were wanted: Confirm, or the last choice of a conflict."""
    proposal = action.proposal
    if proposal.effects or proposal.conflict_key is None or not proposal.choices:
        return proposal.effects
    return proposal.choices[-1].effects


def _is_occurrence(slot: Slot, effect: CancelOccurrence | MoveOccurrence) -> bool:
    return (
        slot.occurrence is not None
        and slot.event_id == effect.event_id
        and slot.occurrence.original_start == effect.original_start
    )


def _moved(  # noqa: PLR0917 - one effect and where it stands
    conn: Connection, household: str, effect: MoveOccurrence, action: PendingAction, zone: ZoneInfo
) -> Slot | None:
    event = find_event(conn, Viewer.of(household), effect.event_id)
    if event is None:
        return None
    length = event.duration if effect.new_duration is None else effect.new_duration
    moved = replace(event, start=effect.new_start, duration=length)
    # Who has it every week has not taken it on in the chat because its hour moves.
    is_from_chat = event.provenance.source_type is SourceType.OBSERVER
    return replace(_proposed(moved, action, zone), event_id=event.id, is_from_chat=is_from_chat)


def _proposed(event: Event, action: PendingAction, zone: ZoneInfo) -> Slot:
    return Slot(
        key=action.id,
        kind=event.kind,
        label=event.summary,
        day=event.start.astimezone(zone).date(),
        interval=None if event.all_day else Interval(event.start, event.start + event.duration),
        activity=event.activity,
        place=event.place,
        task=event.task,
        who=event.who,
        responsible=event.responsible,
        action_id=action.id,
        source_id=action.proposal.source_id,
        is_from_chat=True,
    )


def _order(slot: Slot) -> tuple[date, str, str]:
    return slot.day, slot.interval.start.isoformat() if slot.interval else "", slot.key
