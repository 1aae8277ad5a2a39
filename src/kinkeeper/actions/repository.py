"""Pending actions in the database, read: for people, on their behalf; for those who carry them out, as stored."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Select,
    and_,
    bindparam,
    func,
    or_,
    select,
    update,
)

from kinkeeper.actions.consent import Origin
from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction, as_of
from kinkeeper.actions.payload import Scope, action_from_row, successor_slot
from kinkeeper.actions.tables import action_sources, pending_actions
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.household.viewers import Viewer, narrowest
from kinkeeper.store.prepared import Prepared, in_scope

_actions = pending_actions.c
_sources = action_sources.c
_OPEN = frozenset({ActionStatus.PENDING})
SHOWN_EXPIRED = timedelta(days=30)
"""For how long what expired is listed, as far as its words are kept."""

# Built once: putting a statement together costs several times as much as running it.
_PENDING_OF = (
    _actions.household == bindparam("household"),
    _actions.status == ActionStatus.PENDING.value,
)
_PENDING = (
    select(pending_actions)
    .where(*_PENDING_OF, _actions.expires_at > bindparam("now"), in_scope(_actions.scope))
    .order_by(_actions.created_at, _actions.id)
)
_PENDING_IN_SCOPE = _PENDING.where(
    or_(
        _actions.first_day.is_(None),
        and_(_actions.first_day <= bindparam("last"), _actions.last_day >= bindparam("first")),
        _actions.subject.in_(bindparam("subjects", expanding=True)),
        _actions.id.in_(bindparam("ids", expanding=True)),
    )
)
_DUE = (
    select(pending_actions)
    .where(*_PENDING_OF, _actions.expires_at <= bindparam("now"))
    .order_by(_actions.created_at, _actions.id)
)
_NEXT_EXPIRY = (
    select(_actions.expires_at).where(*_PENDING_OF).order_by(_actions.expires_at).limit(1)
)
_BY_ID = select(pending_actions).where(
    _actions.household == bindparam("household"), _actions.id == bindparam("id")
)
_LOAD, _LOAD_FOR_UPDATE = Prepared(_BY_ID), Prepared(_BY_ID.with_for_update())
_OF_SLOT = Prepared(
    select(_sources.action_id).where(
        *(
            _sources[name] == bindparam(name)
            for name in ("household", "source_type", "source_id", "slot")
        )
    )
)


def load_action(
    conn: Connection, household: str, action_id: str, *, for_update: bool = False
) -> PendingAction:
    """Return an action as it is stored, for those who carry it out; `read_action` is for people to look at.

    Args:
        for_update: Whether others must wait with changing it until this transaction ends.

    Raises:
        NotFoundError: The household has no action with that id.
    """
    load = _LOAD_FOR_UPDATE if for_update else _LOAD
    found = load.mappings(conn, {"household": household, "id": action_id})
    if not found:
        raise NotFoundError(f"there is no action {action_id!r}", action_id=action_id)
    return action_from_row(found[0])


def read_action(conn: Connection, viewer: Viewer, action_id: str) -> PendingAction:
    """Return an action that somebody may read.

    Raises:
        NotFoundError: There is no action with that id that they may read.
    """
    found = _read(conn, _of_viewer(viewer).where(_actions.id == action_id))
    if not found:
        raise NotFoundError(f"there is no action {action_id!r}", action_id=action_id)
    return found[0]


def find_action(conn: Connection, viewer: Viewer, id_or_prefix: str) -> PendingAction:
    """Return the one action with that id, or whose id begins so.

    Args:
        id_or_prefix: Full id or its beginning; letter case does not matter.

    Raises:
        NotFoundError: There is none that they may read.
        InputError: Nothing was given, or several ids begin so; the message lists some.
    """
    prefix = id_or_prefix.strip().lower()
    if not prefix:
        raise InputError("give an action id, or its first characters")
    query = _of_viewer(viewer).where(_actions.id.startswith(prefix, autoescape=True))
    found = _read(conn, query.order_by(_actions.id).limit(5))
    exact = [action for action in found if action.id == prefix]
    if not found:
        raise NotFoundError(f"there is no action {id_or_prefix!r}; the pending list shows the ids")
    if len(found) > 1 and not exact:
        listed = ", ".join(action.id for action in found)
        raise InputError(f"{id_or_prefix!r} matches several ids; give more of it: {listed}")
    return (exact or found)[0]


def read_actions(
    conn: Connection, viewer: Viewer, action_ids: Collection[str]
) -> list[PendingAction]:
    """Return those of some actions that somebody may read."""
    return _read(conn, _of_viewer(viewer).where(pending_actions.c.id.in_(action_ids)))


def narrow_scope(conn: Connection, household: str, action_ids: Collection[str], scope: str) -> None:
    """Let fewer people read actions; one that nobody could read any more stays as it is.

    Args:
        scope: Of those who may read them from now on, as far as they may by now.
    """
    mine = (_actions.household == household, _actions.id.in_(action_ids))
    known = conn.execute(select(_actions.scope).where(*mine).distinct()).scalars().all()
    for each in known:
        if (narrower := narrowest({each, scope})) not in {None, each}:
            of_scope = (*mine, _actions.scope == each)
            conn.execute(update(pending_actions).where(*of_scope).values(scope=narrower))


def open_scope(conn: Connection, action: PendingAction, scope: str) -> None:
    """Let those read an action who may see what it writes."""
    mine = (_actions.household == action.proposal.household, _actions.id == action.id)
    conn.execute(update(pending_actions).where(*mine).values(scope=scope))


def list_actions(
    conn: Connection,
    viewer: Viewer,
    *,
    statuses: Collection[ActionStatus] = _OPEN,
    now: datetime,
    since: datetime | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[PendingAction]:
    """Return the actions that somebody may read, oldest first, as they stand at `now`; writes nothing.

    Args:
        statuses: The ones wanted; open ones unless said otherwise.
        now: Aware; a pending action whose time is over counts as expired.
        since: Only those made from then on; all where None.
        after: Only those behind this one; from the first where None or not the household's.
        limit: Most to return, > 0; all where None.
    """
    query = _oldest_first(_of_viewer(viewer).where(_stands(statuses, now)))
    if since is not None:
        query = query.where(_actions.created_at >= since)
    if after is not None:
        earlier = select(_actions.created_at).where(
            _actions.household == viewer.household, _actions.id == after
        )
        if (at := conn.execute(earlier).scalar()) is not None:
            same_time = and_(_actions.created_at == at, _actions.id > after)
            query = query.where(or_(_actions.created_at > at, same_time))
    return [as_of(each, now) for each in _read(conn, query.limit(limit))]


def open_actions(
    conn: Connection, viewer: Viewer, *, now: datetime, scope: Scope | None = None
) -> list[PendingAction]:
    """Return what still awaits a person at `now` and may be read, oldest first.

    Args:
        now: Aware; what has run out by then is left out.
        scope: What it must be about; None means anything.
    """
    values: dict[str, Any] = viewer.parameters | {"household": viewer.household, "now": now}
    if scope is None:
        return _decoded(conn.execute(_PENDING, values))
    values |= {
        "first": scope.first_day.isoformat(),
        "last": scope.last_day.isoformat(),
        "subjects": sorted(scope.subjects),
        "ids": sorted(scope.action_ids),
    }
    return _decoded(conn.execute(_PENDING_IN_SCOPE, values))


def open_titles(
    conn: Connection, viewer: Viewer, chat_id: str, *, now: datetime, limit: int
) -> Mapping[str, str]:
    """Return by id what a chat's actions are called that still await a person at `now`, the latest first.

    Args:
        chat_id: The chat that they came from.
        limit: At most so many, > 0.
    """
    query = (
        select(_actions.id, _actions.summary)
        .where(
            *_PENDING_OF,
            _actions.expires_at > now,
            in_scope(_actions.scope),
            _actions.chat_id == chat_id,
        )
        .order_by(_actions.created_at.desc(), _actions.id)
        .limit(limit)
    )
    found = conn.execute(query, viewer.parameters | {"household": viewer.household})
    return {row.id: row.summary for row in found}


def restorable_actions(
    conn: Connection, viewer: Viewer, *, now: datetime, since: datetime
) -> list[PendingAction]:
    """Return what expired unconfirmed and can be brought back, the latest first.

    Left out is what was brought back already, what somebody said again later, and what has lost its words.

    Args:
        now: Aware; a pending action whose time is over counts as expired.
        since: Aware; only what expired after it.
    """
    waiting = _actions.status == ActionStatus.PENDING.value
    is_settled = _actions.status == ActionStatus.EXPIRED.value
    expired = or_(
        and_(is_settled, _actions.decided_at > since),
        and_(waiting, _actions.expires_at <= now, _actions.expires_at > since),
    )
    found = [as_of(each, now) for each in _read(conn, _of_viewer(viewer).where(expired))]
    found = [each for each in found if each.proposal.effects or each.proposal.choices]
    followed = _slots_taken(conn, viewer.household, {each.proposal.source_id for each in found})
    said_again = _latest_by_key(conn, viewer.household, {each.proposal.merge_key for each in found})
    return sorted(
        (
            each
            for each in found
            if _successor(each) not in followed
            and said_again.get(each.proposal.merge_key, each.created_at) <= each.created_at
        ),
        key=lambda each: (each.decided_at or each.expires_at, each.id),
        reverse=True,
    )


def _successor(action: PendingAction) -> tuple[str, str, str]:
    proposal = action.proposal
    return proposal.source_type, proposal.source_id, successor_slot(proposal.slot)


def _slots_taken(
    conn: Connection, household: str, source_ids: Collection[str]
) -> set[tuple[str, str, str]]:
    query = select(_sources.source_type, _sources.source_id, _sources.slot).where(
        _sources.household == household, _sources.source_id.in_(source_ids)
    )
    return {(row.source_type, row.source_id, row.slot) for row in conn.execute(query)}


def _latest_by_key(
    conn: Connection, household: str, merge_keys: set[str | None]
) -> dict[str | None, datetime]:
    query = select(_actions.merge_key, func.max(_actions.created_at).label("at")).where(
        _actions.household == household, _actions.merge_key.in_(merge_keys - {None})
    )
    return {row.merge_key: row.at for row in conn.execute(query.group_by(_actions.merge_key))}


def next_expiry(conn: Connection, household: str) -> datetime | None:
    """Return when the first of the actions stored as pending runs out, if there is one."""
    instant: datetime | None = conn.execute(_NEXT_EXPIRY, {"household": household}).scalar()
    return instant


def find_by_source(
    conn: Connection, household: str, source_type: str, source_id: str
) -> list[PendingAction]:
    """Return the actions a source asked for, also those it was merged into, oldest first.

    Args:
        source_id: Id within that type.
    """
    mine = select(_sources.action_id).where(
        _sources.household == household,
        _sources.source_type == source_type,
        _sources.source_id == source_id,
    )
    return _read(conn, _oldest_first(_of(household).where(_actions.id.in_(mine))))


def sources_beginning(
    conn: Connection, household: str, source_type: str, beginning: str
) -> list[str]:
    """Return the ids of some sources of a type that begin like this, up to two.

    Args:
        beginning: Not empty.
    """
    query = (
        select(_actions.source_id)
        .where(
            _actions.household == household,
            _actions.source_type == source_type,
            _actions.source_id.startswith(beginning, autoescape=True),
        )
        .distinct()
        .order_by(_actions.source_id)
        .limit(2)
    )
    return [*conn.execute(query).scalars()]


def done_of_source(
    conn: Connection, viewer: Viewer, source_type: str, source_id: str
) -> list[tuple[str, str]]:
    """Return what a source asked for, was done and still stands, as far as somebody may read it.

    Args:
        source_id: Id within that type.

    Returns:
        Id and slot of each action.
    """
    query = select(_actions.id, _actions.slot).where(
        _actions.household == viewer.household,
        _actions.source_type == source_type,
        _actions.source_id == source_id,
        _actions.status == ActionStatus.DONE.value,
        _actions.undone_at.is_(None),
        in_scope(_actions.scope),
    )
    return [(row.id, row.slot) for row in conn.execute(query.params(viewer.parameters))]


def count_done(
    conn: Connection, household: str, source_type: str, source_ids: Collection[str]
) -> int:
    """Return from how many of some sources something was done that still stands.

    Args:
        source_ids: Ids within that type.
    """
    query = select(func.count(_actions.source_id.distinct())).where(
        _actions.household == household,
        _actions.source_type == source_type,
        _actions.source_id.in_(source_ids),
        _actions.status == ActionStatus.DONE.value,
        _actions.undone_at.is_(None),
    )
    return conn.execute(query).scalar_one()


def find_of_slot(
    conn: Connection, household: str, *, source_type: str, source_id: str, slot: str
) -> PendingAction | None:
    """Return the action that one slot of a source asked for, if it did before."""
    of_slot = {
        "household": household,
        "source_type": source_type,
        "source_id": source_id,
        "slot": slot,
    }
    found = _OF_SLOT.execute(conn, of_slot)
    return load_action(conn, household, found[0][0]) if found else None


def find_mergeable(
    conn: Connection, household: str, merge_key: str, *, created_since: datetime, now: datetime
) -> PendingAction | None:
    """Return the oldest open action with that merge key, created at or after `created_since`."""
    query = _of(household).where(
        _actions.merge_key == merge_key,
        _actions.status == ActionStatus.PENDING.value,
        _actions.created_at >= created_since,
        _actions.expires_at > now,
    )
    return next(iter(_read(conn, _oldest_first(query).limit(1))), None)


def was_proposed(conn: Connection, household: str, merge_key: str) -> bool:
    """Return whether there ever was an action with that merge key, whatever became of it."""
    query = select(_actions.id).where(
        _actions.household == household, _actions.merge_key == merge_key
    )
    return conn.execute(query.limit(1)).first() is not None


def count_proposed(
    conn: Connection, household: str, kind: ActionType, origin: Origin, *, since: datetime
) -> int:
    """Return how many actions of one type and origin were proposed since an instant."""
    query = select(func.count()).where(
        _actions.household == household,
        _actions.type == kind.value,
        _actions.origin == origin.value,
        _actions.created_at >= since,
    )
    return conn.execute(query).scalar_one()


def count_of_source(
    conn: Connection, household: str, source_type: str, beginning: str, *, since: datetime
) -> int:
    """Return how many actions were proposed since an instant whose source id begins like this."""
    query = select(func.count()).where(
        _actions.household == household,
        _actions.source_type == source_type,
        _actions.source_id.startswith(beginning, autoescape=True),
        _actions.created_at >= since,
    )
    return conn.execute(query).scalar_one()


def is_conflict_decided(conn: Connection, household: str, conflict_key: str) -> bool:
    """Return whether a person has settled an action about that conflict, one way or the other."""
    query = select(_actions.id).where(
        _actions.household == household,
        _actions.conflict_key == conflict_key,
        _actions.status.in_([ActionStatus.DONE.value, ActionStatus.REJECTED.value]),
    )
    return conn.execute(query.limit(1)).first() is not None


def find_due(conn: Connection, household: str, now: datetime) -> list[PendingAction]:
    """Return the stored-as-pending actions whose time is over, oldest first."""
    return _decoded(conn.execute(_DUE, {"household": household, "now": now}))


def actions_of_type(conn: Connection, household: str, kind: ActionType) -> list[PendingAction]:
    """Return all actions of one type, oldest first."""
    return _read(conn, _oldest_first(_of(household).where(_actions.type == kind.value)))


def actions_touching(
    conn: Connection, household: str, kind: ActionType, row_ids: Collection[str]
) -> list[PendingAction]:
    """Return the actions of a kind that would change or changed one of some rows, oldest first.

    Args:
        kind: About tasks, notes or the calendar.
        row_ids: Ids of tasks, notes or events.
    """
    kinds = (
        [each for each in ActionType if each.is_about_calendar]
        if kind.is_about_calendar
        else [kind]
    )
    query = _of(household).where(_actions.type.in_([each.value for each in kinds]))
    return [each for each in _read(conn, _oldest_first(query)) if _names(each, row_ids)]


def actions_before(conn: Connection, household: str, instant: datetime) -> list[PendingAction]:
    """Return all actions that were created before an instant."""
    return _read(conn, _of(household).where(_actions.created_at < instant))


def _of(household: str) -> Select[Any]:
    return select(pending_actions).where(_actions.household == household)


def _of_viewer(viewer: Viewer) -> Select[Any]:
    return _of(viewer.household).where(in_scope(_actions.scope)).params(viewer.parameters)


def _names(action: PendingAction, row_ids: Collection[str]) -> bool:
    ways = (action.proposal.effects, *(choice.effects for choice in action.proposal.choices))
    return any(_has(effect, row_ids) for way in ways for effect in way)


def _has(value: Any, row_ids: Collection[str]) -> bool:
    """Whether one of some ids stands anywhere in a JSON value."""
    if isinstance(value, Mapping):
        return any(_has(each, row_ids) for each in value.values())
    if isinstance(value, list | tuple):
        return any(_has(each, row_ids) for each in value)
    return isinstance(value, str) and value in row_ids


def _stands(statuses: Collection[ActionStatus], now: datetime) -> ColumnElement[bool]:
    """Whether an action is in one of these states at a time, whatever was written down by then."""
    settled = {status.value for status in statuses} - {ActionStatus.PENDING.value}
    ways: list[ColumnElement[bool]] = [_actions.status.in_(settled)]
    waiting = _actions.status == ActionStatus.PENDING.value
    if ActionStatus.PENDING in statuses:
        ways.append(and_(waiting, _actions.expires_at > now))
    if ActionStatus.EXPIRED in statuses:
        ways.append(and_(waiting, _actions.expires_at <= now))
    return or_(*ways)


def _oldest_first(query: Select[Any]) -> Select[Any]:
    return query.order_by(_actions.created_at, _actions.id)


def _read(conn: Connection, query: Select[Any]) -> list[PendingAction]:
    return _decoded(conn.execute(query))


def _decoded(rows: CursorResult[Any]) -> list[PendingAction]:
    return [action_from_row(dict(row)) for row in rows.mappings()]
