"""What others see of what is private to a member: that the member is busy, and when. Pure."""

from dataclasses import replace
from typing import Final

from kinkeeper.calendar.model import (
    Event,
    EventKind,
    EventState,
    Occurrence,
    Provenance,
    SourceType,
)
from kinkeeper.calendar.occurrences import booked_people
from kinkeeper.core.ids import stable_id
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_of, person_scope

SUMMARY: Final = "something private"
"""What it is called where the household must do without its name."""


def as_busy(occurrence: Occurrence) -> Occurrence | None:
    """Return what others see of an occurrence that is private to one member; None where it keeps that one not busy.

    Nothing of the event is left but when it is: whoever else takes part is not named, and its id opens nothing.

    Args:
        occurrence: Of an event that is private to a member.
    """
    event = occurrence.event
    member = person_of(event.scope)
    if member is None or not _keeps_busy(occurrence, member):
        return None
    mask = Event(
        id=stable_id(event.household, SUMMARY, event.id, occurrence.original_start.isoformat()),
        household=event.household, kind=EventKind.BOOKING, scope=HOUSEHOLD_SCOPE, summary=SUMMARY,
        start=occurrence.interval.start, duration=occurrence.interval.duration, tz=event.tz,
        who=(member,), provenance=Provenance(source_type=SourceType.CHAT, source_id=""),
    )  # fmt: skip
    return replace(occurrence, event=mask, responsible=(), place=None, waiting=())


def private_to(event: Event, member: str) -> Event:
    """Return an event as one that only a member may see, and that keeps them busy.

    Args:
        event: Any.
        member: Member id.
    """
    who = event.who if member in {*event.who, *event.responsible} else (member, *event.who)
    return replace(event, who=who, scope=person_scope(member))


def is_busy(event: Event) -> bool:
    """Whether an event is only what others see of a private one: it cannot be asked about, moved or cancelled."""
    return event.summary == SUMMARY and not event.provenance.source_id


def _keeps_busy(occurrence: Occurrence, member: str) -> bool:
    is_in_charge = not occurrence.event.all_day and member in occurrence.responsible
    is_on = occurrence.state is EventState.CONFIRMED
    return is_on and (is_in_charge or member in booked_people(occurrence))
