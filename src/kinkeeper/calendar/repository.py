"""Events and overrides in the database; every write keeps the occurrence table in step.

These writes are final. What a person must be able to take back goes through `changes`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, insert, update

from kinkeeper.calendar.event_limits import check_duration, check_event, check_start
from kinkeeper.calendar.event_rows import (
    event_row,
    override_row,
    read_events,
    read_events_of_source,
    read_override,
    read_overrides,
)
from kinkeeper.calendar.model import Event, EventState, Override, Provenance
from kinkeeper.calendar.occurrences import clear, rebuild, rebuild_one
from kinkeeper.calendar.recurrence import expand
from kinkeeper.calendar.tables import events, overrides
from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.core.time import as_utc
from kinkeeper.household.viewers import Viewer


def insert_event(conn: Connection, event: Event) -> None:
    """Write a new event; writing the identical one again changes nothing.

    Raises:
        ConflictError: Another event has that id.
    """
    check_event(event)
    stored = find_event(conn, Viewer.whole(event.household), event.id)
    if stored is None:
        conn.execute(insert(events).values(event_row(event)))
        rebuild(conn, event, ())
    elif event_row(stored) != event_row(event):
        raise ConflictError(
            f"event {event.id!r} already exists with different content", event_id=event.id
        )


def find_event(conn: Connection, viewer: Viewer, event_id: str) -> Event | None:
    """Return an event, or None where there is none that may be seen."""
    event = read_events(conn, viewer, [event_id]).get(event_id)
    return event if event is not None and _is_seen(conn, viewer, event) else None


def events_of_source(conn: Connection, viewer: Viewer, provenance: Provenance) -> list[Event]:
    """Return all events that came from a source and may be seen: one for each audience that it was imported for.

    Args:
        provenance: Its type and id of the source are looked for.
    """
    found = read_events_of_source(conn, viewer, provenance).values()
    return [event for event in found if _is_seen(conn, viewer, event)]


def load_event(conn: Connection, viewer: Viewer, event_id: str) -> Event:
    """Return an event."""
    event = find_event(conn, viewer, event_id)
    if event is None:
        raise NotFoundError("that event is not in the calendar (any more)", event_id=event_id)
    return event


def list_events(
    conn: Connection, viewer: Viewer, *, include_cancelled: bool = False
) -> list[Event]:
    """Return the events that may be seen, ordered by start.

    Args:
        include_cancelled: Whether cancelled events are wanted, too.
    """
    wanted = [
        event
        for event in read_events(conn, viewer).values()
        if (include_cancelled or event.state is EventState.CONFIRMED)
        and _is_seen(conn, viewer, event)
    ]
    return sorted(wanted, key=lambda event: (as_utc(event.start), event.id))


def replace_event(conn: Connection, event: Event) -> None:
    """Write an event in the place of the one with its id; its overrides stay."""
    check_event(event)
    mine = (events.c.household == event.household, events.c.id == event.id)
    if conn.execute(update(events).where(*mine).values(event_row(event))).rowcount == 0:
        raise NotFoundError("that event is not in the calendar (any more)", event_id=event.id)
    rebuild(conn, event, list_overrides(conn, event.household, event.id))


def delete_event(conn: Connection, household: str, event_id: str) -> None:
    """Remove an event that should never have been there; taking place no more is a state."""
    conn.execute(delete(events).where(events.c.household == household, events.c.id == event_id))
    conn.execute(
        delete(overrides).where(
            overrides.c.household == household, overrides.c.event_id == event_id
        )
    )
    clear(conn, household, event_id)


def list_overrides(conn: Connection, household: str, event_id: str) -> Sequence[Override]:
    """Return an event's overrides, ordered by original start."""
    return read_overrides(conn, household, event_id).get(event_id, [])


def list_all_overrides(conn: Connection, household: str) -> Mapping[str, Sequence[Override]]:
    """Return a household's overrides by event id, each event's ordered by original start."""
    return read_overrides(conn, household)


def find_override(
    conn: Connection, household: str, event_id: str, original_start: datetime
) -> Override | None:
    """Return what was changed for one occurrence alone, or None.

    Args:
        original_start: Aware start that the rule gives.
    """
    return read_override(conn, household, event_id, as_utc(original_start))


def put_override(conn: Connection, household: str, override: Override) -> None:
    """Write what is changed for one occurrence, in the place of what was.

    Args:
        override: The change; it waits unseen while the event's rule does not give that start.
    """
    for start in filter(None, (override.original_start, override.start)):
        check_start(override.event_id, start)
    if override.duration is not None:
        check_duration(override.event_id, override.duration)
    event = load_event(conn, Viewer.whole(household), override.event_id)
    _delete_override(conn, household, override)
    row = override_row(override)
    values = {
        "start_at": override.start,
        "original_start": override.original_start,
        "household": household,
    }
    conn.execute(insert(overrides).values(row | values))
    rebuild_one(conn, event, override, override.original_start)


def delete_override(conn: Connection, household: str, override: Override) -> None:
    """Let one occurrence be again as its event has it."""
    event = load_event(conn, Viewer.whole(household), override.event_id)
    _delete_override(conn, household, override)
    rebuild_one(conn, event, None, override.original_start)


def _is_seen(conn: Connection, viewer: Viewer, event: Event) -> bool:
    """Whether an event is the viewer's to see, or takes place at a time that is."""
    if viewer.days is None or viewer.sees(event.scope):
        return True
    changed = list_overrides(conn, event.household, event.id)
    return any(expand(event, changed, viewer.days))


def _delete_override(conn: Connection, household: str, override: Override) -> None:
    conn.execute(
        delete(overrides).where(
            overrides.c.household == household,
            overrides.c.event_id == override.event_id,
            overrides.c.original_start == override.original_start,
        )
    )
