"""Taking back a journaled change: exactly what was before it, unless what it touched was changed again since."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from kinkeeper.calendar.event_rows import event_from_row, event_row, override_from_row, override_row
from kinkeeper.calendar.journal import Entry, check_is_latest, load_entry, mark_undone
from kinkeeper.calendar.repository import (
    delete_event,
    delete_override,
    find_event,
    find_override,
    put_override,
    replace_event,
)
from kinkeeper.core.errors import ConflictError
from kinkeeper.household.viewers import Viewer


def undo_change(conn: Connection, household: str, change_id: str, *, at: datetime) -> None:
    """Restore exactly what was before a change; undoing it again does nothing.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        change_id: The change.
        at: When it is undone, aware.

    Raises:
        NotFoundError: There is no such change.
        ConflictError: The event was changed again since; the message names by what.
    """
    entry = load_entry(conn, household, change_id)
    if entry.undone_at is not None:
        return
    check_is_latest(conn, entry)
    if entry.change.original_start is None:
        _restore_event(conn, entry)
    else:
        _restore_override(conn, entry, entry.change.original_start)
    mark_undone(conn, entry, at)


def _restore_event(conn: Connection, entry: Entry) -> None:
    change = entry.change
    now = find_event(conn, Viewer.whole(change.household), change.event_id)
    _check_unchanged(entry, None if now is None else event_row(now))
    if entry.before is None:
        delete_event(conn, change.household, change.event_id)
    else:
        replace_event(conn, event_from_row(entry.before))


def _restore_override(conn: Connection, entry: Entry, original_start: datetime) -> None:
    change = entry.change
    now = find_override(conn, change.household, change.event_id, original_start)
    _check_unchanged(entry, None if now is None else override_row(now))
    if entry.before is None:
        delete_override(conn, change.household, override_from_row(entry.after))
    else:
        put_override(conn, change.household, override_from_row(entry.before))


def _check_unchanged(entry: Entry, now: Mapping[str, Any] | None) -> None:
    if now == entry.after:
        return
    after = entry.after
    fields = ["removed"] if now is None else [key for key in after if now.get(key) != after[key]]
    raise ConflictError(
        f"event {entry.change.event_id!r} has been changed since: {', '.join(fields)}",
        event_id=entry.change.event_id,
    )
