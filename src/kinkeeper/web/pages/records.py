"""What the pages read from the database. Functions over the caller's transaction."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select

from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.tables import action_sources
from kinkeeper.calendar.model import Event, Occurrence, Override, SourceType
from kinkeeper.calendar.recurrence import expand
from kinkeeper.calendar.rows import read_events, read_overrides
from kinkeeper.core.time import Interval
from kinkeeper.messaging import inbox
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer import repository
from kinkeeper.web.views.changes import Standing, touched

_OBSERVER = SourceType.OBSERVER.value
_INSTANT = timedelta(seconds=1)


def load_standing(conn: Connection, household: str, actions: Iterable[PendingAction]) -> Standing:
    """Return what stands in the calendar of all that actions would touch.

    Args:
        conn: Any transaction.
        household: Tenant key.
        actions: Open ones.
    """
    wanted = {one for action in actions for one in touched(_all_effects(action))}
    ids = sorted({event_id for event_id, _ in wanted})
    if not ids:
        return Standing(events={}, occurrences={})
    events = read_events(conn, household, ids)
    overrides = read_overrides(conn, household)
    found = {
        (event_id, start): occurrence
        for event_id, start in wanted
        if start is not None and event_id in events
        for occurrence in _occurrence(events[event_id], overrides.get(event_id, ()), start)
    }
    return Standing(events=events, occurrences=found)


def load_sources(
    conn: Connection, household: str, action: PendingAction
) -> tuple[StoredMessage, ...]:
    """Return the messages an action rests on, oldest first: those that proposed it and what they answer.

    Args:
        conn: Any transaction.
        household: Tenant key.
        action: Whose.
    """
    columns = action_sources.c
    ids = conn.execute(
        select(columns.source_id).where(
            columns.household == household,
            columns.action_id == action.id,
            columns.source_type == _OBSERVER,
        )
    ).scalars()
    found: dict[int, StoredMessage] = {}
    for row_id in ids:
        own = inbox.load(conn, household, int(row_id)) if row_id.isdecimal() else None
        if own is None:
            continue
        found[own.id] = own
        for each in _answered(conn, household, own):
            found[each.id] = each
    return tuple(found[row_id] for row_id in sorted(found))


def load_message(
    conn: Connection, household: str, message_id: str, chat_id: str
) -> StoredMessage | None:
    """Return a message by its channel's id, the newest row where it was edited."""
    found = inbox.find_by_message_id(conn, household, message_id, chat_id=chat_id)
    return found[-1] if found else None


def _all_effects(action: PendingAction) -> Sequence[Mapping[str, Any]]:
    proposal = action.proposal
    return [*proposal.effects, *(each for way in proposal.choices for each in way.effects)]


def _occurrence(
    event: Event, overrides: Sequence[Override], start: datetime
) -> Iterable[Occurrence]:
    moved = [each.start for each in overrides if each.original_start == start and each.start]
    near = [start, *moved]
    window = Interval(min(near), max(near) + _INSTANT)
    return [each for each in expand(event, overrides, window) if each.original_start == start]


def _answered(conn: Connection, household: str, own: StoredMessage) -> Sequence[StoredMessage]:
    """Return the message that one answers, edits or reacts to, as far as it is known."""
    message = own.message
    row = repository.find(conn, household, str(own.id))
    asked = {message.target, row.attribution_source if row is not None else None} - {None}
    return [
        found
        for message_id in sorted(str(each) for each in asked)
        for found in inbox.find_by_message_id(conn, household, message_id, chat_id=message.chat_id)[
            -1:
        ]
    ]
