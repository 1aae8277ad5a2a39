"""What the pages read from the database. Functions over the caller's transaction."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select

from kinkeeper.actions.action_retention import OVERHEARD
from kinkeeper.actions.model import Cause, PendingAction
from kinkeeper.actions.tables import action_sources, action_transitions
from kinkeeper.calendar.event_rows import read_events, read_overrides
from kinkeeper.calendar.model import Event, Occurrence, Override, SourceType
from kinkeeper.calendar.search import times_of
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import Viewer
from kinkeeper.messaging import inbox
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer import repository
from kinkeeper.web.views.calendar_diff import Standing, touched
from kinkeeper.web.views.cards import Ground

_OF_MESSAGES = (SourceType.OBSERVER.value, OVERHEARD)
_INSTANT = timedelta(seconds=1)


def load_standing(conn: Connection, viewer: Viewer, actions: Iterable[PendingAction]) -> Standing:
    """Return what stands in the calendar of all that actions would touch."""
    wanted = {one for action in actions for one in touched(_all_effects(action))}
    ids = sorted({event_id for event_id, _ in wanted})
    if not ids:
        return Standing(events={}, occurrences={})
    events = read_events(conn, viewer, ids)
    overrides = read_overrides(conn, viewer.household)
    found = {
        (event_id, start): occurrence
        for event_id, start in wanted
        if start is not None and event_id in events
        for occurrence in _occurrence(events[event_id], overrides.get(event_id, ()), start, viewer)
    }
    return Standing(events=events, occurrences=found)


def load_ground(conn: Connection, household: str, action: PendingAction) -> Ground:
    """Return what an action rests on: what proposed it, what that answers, and what it took in."""
    found: dict[int, StoredMessage] = {}
    said = ""
    for row_id in _source_rows(conn, household, [action.id, *_taken_in(conn, household, action)]):
        own = inbox.load(conn, household, int(row_id)) if row_id.isdecimal() else None
        row = repository.find(conn, household, row_id)
        if own is None or row is None:
            continue
        found[own.id] = own
        if row.action_id == action.id and row.reply:
            said = row.reply
        for message_id in sorted({own.message.target, row.attribution_source} - {None}):
            chat_id = own.message.chat_id
            for each in inbox.find_by_message_id(conn, household, message_id, chat_id=chat_id)[-1:]:
                found[each.id] = each
    return Ground(messages=tuple(found[row_id] for row_id in sorted(found)), said=said)


def _source_rows(conn: Connection, household: str, action_ids: Sequence[str]) -> Sequence[str]:
    columns = action_sources.c
    return (
        conn.execute(
            select(columns.source_id)
            .where(
                columns.household == household,
                columns.action_id.in_(action_ids),
                columns.source_type.in_(_OF_MESSAGES),
            )
            .distinct()
        )
        .scalars()
        .all()
    )


def _taken_in(conn: Connection, household: str, action: PendingAction) -> Sequence[str]:
    """Return the actions whose place this one took."""
    columns = action_transitions.c
    return (
        conn.execute(
            select(columns.action_id).where(
                columns.household == household,
                columns.cause == Cause.SUPERSEDE.value,
                columns.detail == action.id,
            )
        )
        .scalars()
        .all()
    )


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
    event: Event, overrides: Sequence[Override], start: datetime, viewer: Viewer
) -> Iterable[Occurrence]:
    moved = [each.start for each in overrides if each.original_start == start and each.start]
    near = [start, *moved]
    window = Interval(min(near), max(near) + _INSTANT)
    times = times_of(event, overrides, window, viewer)
    return [each for each in times if each.original_start == start]
