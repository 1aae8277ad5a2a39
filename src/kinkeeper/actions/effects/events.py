"""Events as JSON, and back (as a field of an effect): exact to the second, the zone kept by name."""

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, TypeAdapter

from kinkeeper.calendar.model import Event, Provenance

_EVENT_FIELDS = frozenset(field.name for field in fields(Event))
_PROVENANCE_FIELDS = frozenset(field.name for field in fields(Provenance))


def _known_fields(value: Any) -> Any:
    if isinstance(value, Mapping):
        unknown = value.keys() - _EVENT_FIELDS
        provenance = value.get("provenance")
        if isinstance(provenance, Mapping):
            unknown |= provenance.keys() - _PROVENANCE_FIELDS
        if unknown:
            raise ValueError(f"an event has no field {', '.join(sorted(map(str, unknown)))}")
    return value


def _in_zone(event: Event) -> Event:
    try:
        zone = ZoneInfo(event.tz)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{event.tz!r} is not an IANA time zone") from error
    exdates = tuple(_aware(start, zone) for start in event.exdates)
    return replace(event, start=_aware(event.start, zone), exdates=exdates)


def _aware(start: datetime, zone: ZoneInfo) -> datetime:
    if start.tzinfo is None:
        raise ValueError(f"start {start} has no UTC offset")
    return start.astimezone(zone)


EventField = Annotated[Event, BeforeValidator(_known_fields), AfterValidator(_in_zone)]

_EVENTS: TypeAdapter[Event] = TypeAdapter(EventField)


def event_to_json(event: Event) -> dict[str, Any]:
    """Return an event as JSON: instants with offset, durations as ISO 8601."""
    record: dict[str, Any] = _EVENTS.dump_python(event, mode="json")
    return record
