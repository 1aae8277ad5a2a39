"""The version of an event: a short text that differs whenever the event or one of its occurrences differs."""

from sqlalchemy import Connection

from kinkeeper.calendar.model import Event
from kinkeeper.calendar.repository import list_overrides
from kinkeeper.core.ids import stable_id


def version_of(conn: Connection, event: Event) -> str:
    """Return the version of an event with what was changed for single occurrences.

    Args:
        event: As it is stored now.
    """
    changed = list_overrides(conn, event.household, event.id)
    return stable_id(event, *sorted(map(str, changed)))
