"""How events and overrides lie in their rows, and how rows are read back."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, bindparam, select

from kinkeeper.calendar.model import Event, EventKind, EventState, Override, Provenance, SourceType
from kinkeeper.calendar.recurrence import local_start
from kinkeeper.calendar.tables import events, overrides
from kinkeeper.core.time import from_text, to_text
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.prepared import Prepared, in_scope, is_one_of

_UNORDERED = select(events).where(
    events.c.household == bindparam("household"), in_scope(events.c.scope)
)
_OF_HOUSEHOLD = _UNORDERED.order_by(events.c.id)
_EVENTS = Prepared(_OF_HOUSEHOLD)
_EVENTS_BY_ID = Prepared(_OF_HOUSEHOLD.where(is_one_of(events.c.id, "ids")))
# Ordered by id, SQLite reads all of a household in that order instead of the few of the source.
_EVENTS_OF_SOURCE = Prepared(
    _UNORDERED.where(
        events.c.source_type == bindparam("source_type"),
        events.c.source_id == bindparam("source_id"),
    )
)
_CHANGED = (
    select(overrides)
    .where(overrides.c.household == bindparam("household"))
    .order_by(overrides.c.original_start)
)
_OVERRIDES = Prepared(_CHANGED)
_OF_EVENT = _CHANGED.where(overrides.c.event_id == bindparam("event_id"))
_OVERRIDES_OF_EVENT = Prepared(_OF_EVENT)
_OVERRIDE = Prepared(_OF_EVENT.where(overrides.c.original_start == bindparam("original_start")))


def event_row(event: Event) -> dict[str, Any]:
    """Return the row of an event: JSON-ready, and equal for equal events."""
    return {
        "household": event.household,
        "id": event.id,
        "scope": event.scope,
        "kind": event.kind.value,
        "summary": event.summary,
        "activity": event.activity,
        "task": event.task,
        "who": list(event.who),
        "responsible": list(event.responsible),
        "place": event.place,
        "start_local": local_start(event).isoformat(),
        "duration_s": event.duration // timedelta(seconds=1),
        "tz": event.tz,
        "is_all_day": event.all_day,
        "rrule": event.rrule,
        "exdates": [to_text(start) for start in event.exdates],
        "state": event.state.value,
        "about": event.about,
        "source_type": event.provenance.source_type.value,
        "source_id": event.provenance.source_id,
        "confirmed_by": event.provenance.confirmed_by,
        "action_id": event.provenance.action_id,
    }


def event_from_row(row: Mapping[str, Any]) -> Event:
    """Return the event of a row made by `event_row`."""
    zone = ZoneInfo(row["tz"])
    return Event(
        id=row["id"],
        household=row["household"],
        scope=row["scope"],
        kind=EventKind(row["kind"]),
        summary=row["summary"],
        activity=row["activity"],
        task=row["task"],
        who=tuple(row["who"]),
        responsible=tuple(row["responsible"]),
        place=row["place"],
        start=_wall_in(zone, row["start_local"]),
        duration=timedelta(seconds=row["duration_s"]),
        tz=row["tz"],
        all_day=row["is_all_day"],
        rrule=row["rrule"],
        exdates=tuple(from_text(start).astimezone(zone) for start in row["exdates"]),
        state=EventState(row["state"]),
        about=row["about"],
        provenance=Provenance(
            source_type=SourceType(row["source_type"]),
            source_id=row["source_id"],
            confirmed_by=row["confirmed_by"],
            action_id=row["action_id"],
        ),
    )


def override_row(override: Override) -> dict[str, Any]:
    """Return the row of an override, without its household: JSON-ready."""
    return {
        "event_id": override.event_id,
        "original_start": to_text(override.original_start),
        "start_at": None if override.start is None else to_text(override.start),
        "duration_s": _seconds(override.duration),
        "state": None if override.state is None else override.state.value,
        "responsible": None if override.responsible is None else list(override.responsible),
        "place": override.place,
    }


def override_from_row(row: Mapping[str, Any]) -> Override:
    """Return the override of a row made by `override_row`, or of one that was stored."""
    seconds, state, responsible = row["duration_s"], row["state"], row["responsible"]
    start = row["start_at"]
    return Override(
        event_id=row["event_id"],
        original_start=_instant(row["original_start"]),
        start=None if start is None else _instant(start),
        duration=None if seconds is None else timedelta(seconds=seconds),
        state=None if state is None else EventState(state),
        responsible=None if responsible is None else tuple(responsible),
        place=row["place"],
    )


def read_events(
    conn: Connection, viewer: Viewer, ids: Iterable[str] | None = None
) -> dict[str, Event]:
    """Return the events that may be seen, by id; a guest's at any time.

    Args:
        ids: Only these, where given; unknown ones are left out.
    """
    of = viewer.wider_parameters | {"household": viewer.household}
    if ids is None:
        rows = _EVENTS.mappings(conn, of)
    else:
        rows = _EVENTS_BY_ID.mappings(conn, of | {"ids": sorted(set(ids))})
    return {row["id"]: event_from_row(row) for row in rows if viewer.sees_event(row["scope"])}


def read_events_of_source(
    conn: Connection, viewer: Viewer, provenance: Provenance
) -> dict[str, Event]:
    """Return the events of one source that may be seen, by id; a guest's at any time.

    Args:
        provenance: Its type and id of the source are looked for.
    """
    of = viewer.wider_parameters | {
        "household": viewer.household,
        "source_type": provenance.source_type.value,
        "source_id": provenance.source_id,
    }
    rows = sorted(_EVENTS_OF_SOURCE.mappings(conn, of), key=itemgetter("id"))
    return {row["id"]: event_from_row(row) for row in rows if viewer.sees_event(row["scope"])}


def read_overrides(
    conn: Connection, household: str, event_id: str | None = None
) -> Mapping[str, list[Override]]:
    """Return overrides by event id, each event's ordered by original start.

    Args:
        event_id: Only of this event, where given.
    """
    query = _OVERRIDES if event_id is None else _OVERRIDES_OF_EVENT
    found: defaultdict[str, list[Override]] = defaultdict(list)
    for row in query.mappings(conn, {"household": household, "event_id": event_id}):
        found[row["event_id"]].append(override_from_row(row))
    return found


def read_override(
    conn: Connection, household: str, event_id: str, original_start: datetime
) -> Override | None:
    """Return what was changed for one occurrence, or None.

    Args:
        original_start: Start that the rule gives, in UTC.
    """
    of = {"household": household, "event_id": event_id, "original_start": original_start}
    rows = _OVERRIDE.mappings(conn, of)
    return override_from_row(rows[0]) if rows else None


def _wall_in(zone: ZoneInfo, text: str) -> datetime:
    """Return the wall time of `text` in the zone; its offset tells which of two equal ones."""
    written = datetime.fromisoformat(text)
    first = written.replace(tzinfo=zone)
    second = first.replace(fold=1)
    is_second = first.utcoffset() != written.utcoffset() == second.utcoffset()
    return second if is_second else first


def _instant(value: str | datetime) -> datetime:
    return from_text(value) if isinstance(value, str) else value


def _seconds(duration: timedelta | None) -> int | None:
    return None if duration is None else duration // timedelta(seconds=1)
