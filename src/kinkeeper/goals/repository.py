"""Goals in the database: reading them on somebody's behalf, and writing what people and the work change of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    Index,
    Integer,
    String,
    Table,
    Text,
    bindparam,
    delete,
    select,
)

from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import as_utc, from_text, to_text
from kinkeeper.goals.model import (
    UNFINISHED,
    Goal,
    GoalKind,
    GoalPriority,
    GoalStatus,
    Progress,
    Source,
    Step,
    StepState,
    moved,
    reopened,
    require_room,
    with_page,
)
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared, PreparedPut, in_scope
from kinkeeper.store.row_changes import Journal, Row
from kinkeeper.store.schema import Instant, metadata

goals = Table(
    "goals",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("scope", String, nullable=False),
    Column("member", String(64), nullable=False),
    Column("kind", String(8), nullable=False),
    Column("text", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("status", String(16), nullable=False),
    Column("thread_id", String(128)),
    Column("next_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("changed_at", Instant, nullable=False),
    # The plan, the states of its steps and what was told: one document.
    Column("progress", JSON, nullable=False),
    Index("ix_goals_status", "household", "status"),
)

TOPIC = "goals"
"""Touched with every writing of a goal."""

_goals = goals.c
_OF_HOUSEHOLD = select(goals).where(
    _goals.household == bindparam("of_household"), in_scope(_goals.scope)
)
_ALL = Prepared(_OF_HOUSEHOLD)
_BY_ID = Prepared(_OF_HOUSEHOLD.where(_goals.id == bindparam("of_goal")))
_PUT = PreparedPut(goals)
_LISTS = ("seen", "asked_pages", "allowed_pages")
_INSTANTS = ("next_at", "created_at", "expires_at")


def list_goals(conn: Connection, viewer: Viewer) -> Sequence[Goal]:
    """Return the goals that may be seen: those that are not over first, then the newest first."""
    found = [_goal_of(row) for row in _ALL.mappings(conn, _of(viewer))]
    return sorted(
        found,
        key=lambda each: (each.status not in UNFINISHED, -each.created_at.timestamp(), each.id),
    )


def find_goal(conn: Connection, viewer: Viewer, goal_id: str) -> Goal | None:
    """Return the goal with that id, if there is one that may be seen."""
    found = _BY_ID.mappings(conn, _of(viewer) | {"of_goal": goal_id})
    return _goal_of(found[0]) if found else None


def load_goal(conn: Connection, viewer: Viewer, goal_id: str) -> Goal:
    """Return the goal with that id."""
    goal = find_goal(conn, viewer, goal_id)
    if goal is None:
        raise NotFoundError(f"there is no goal {goal_id!r}", goal_id=goal_id)
    return goal


def put_goal(conn: Connection, goal: Goal, *, at: datetime) -> None:
    """Write a goal as the work on it leaves it, as a whole, in the caller's transaction."""
    row = goal_row(goal)
    instants = {name: from_text(row[name]) if row[name] else None for name in _INSTANTS}
    progress = asdict(goal.progress)
    _PUT.put(conn, row | instants | {"changed_at": as_utc(at), "progress": progress})
    touch(conn, TOPIC, goal.household)


def purge_goals(conn: Connection, household: str, *, before: datetime) -> int:
    """Remove the goals that were over before then; returns how many."""
    is_over = _goals.status.not_in([each.value for each in UNFINISHED])
    old = (_goals.household == household, is_over, _goals.changed_at < before)
    return conn.execute(delete(goals).where(*old)).rowcount


# What people change of goals; each change is journaled and can be taken back.


def goal_row(goal: Goal) -> dict[str, Any]:
    """Return a goal without what the work on it has come to: JSON-ready, and equal for equal goals."""
    return {
        "household": goal.household,
        "id": goal.id,
        "scope": goal.scope,
        "member": goal.member,
        "kind": goal.kind.value,
        "text": goal.text,
        "priority": goal.priority.value,
        "status": goal.status.value,
        "thread_id": goal.thread_id,
        **{name: _text(getattr(goal, name)) for name in _INSTANTS},
    }


def goal_of(row: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> Goal:
    """Return a new goal of a row made by `goal_row`, with the steps of its plan as `asdict` makes them."""
    return _goal_of({**row, "progress": {"steps": steps}})


def add_goal(conn: Connection, goal: Goal, *, change_id: str, at: datetime) -> None:
    """Write a new goal.

    Raises:
        ConflictError: Its person has it already, or has no room for it.
    """

    def after(before: Row | None) -> Row:
        if before is not None:
            raise ConflictError(f"there is already a goal {goal.id!r}", goal_id=goal.id)
        require_room(goal, _own(conn, goal))
        put_goal(conn, goal, at=at)
        return _stands(goal)

    _JOURNAL.change(conn, goal.household, goal.id, after, change_id=change_id, at=at)


def move_goal(
    conn: Connection, goal: Goal, status: GoalStatus, *, change_id: str, at: datetime
) -> None:
    """Pause a goal, take it up again, or stop it.

    Raises:
        ConflictError: It is over, is like that already, or there is no room for it.
    """

    def after(_before: Row | None) -> Row:
        stored = load_goal(conn, Viewer.whole(goal.household), goal.id)
        if status is GoalStatus.PENDING:
            require_room(stored, _own(conn, stored))
        return _stands(moved(stored, status))

    _JOURNAL.change(conn, goal.household, goal.id, after, change_id=change_id, at=at)


def _own(conn: Connection, goal: Goal) -> Sequence[Goal]:
    """Return the goals of a goal's person."""
    every = list_goals(conn, Viewer.whole(goal.household))
    return [each for each in every if each.member == goal.member]


def _stands(goal: Goal) -> Row:
    """Return what of a goal's state is a person's doing: whether the work on it has begun is not."""
    status = GoalStatus.PENDING if goal.is_active else goal.status
    return {"id": goal.id, "status": status.value}


def _read(conn: Connection, household: str, goal_id: str) -> Row | None:
    goal = find_goal(conn, Viewer.whole(household), goal_id)
    return None if goal is None else _stands(goal)


def _write(
    conn: Connection, household: str, goal_id: str, row: Row | None, *, at: datetime
) -> None:
    """Bring a goal to where a row says; one whose adding is taken back is stopped, and stays on record."""
    goal = load_goal(conn, Viewer.whole(household), goal_id)
    wanted = GoalStatus.CANCELLED if row is None else GoalStatus(row["status"])
    if _stands(goal)["status"] != wanted:
        if wanted is GoalStatus.PENDING:
            require_room(goal, _own(conn, goal))
        put_goal(conn, reopened(goal, wanted), at=at)


_JOURNAL = Journal(kind="goal", read=_read, write=_write)
undo_change = _JOURNAL.take_back


# Which pages may be read for a goal. Each permission has a row of its own in the journal, so that each can be taken
# back; its id says whose goal it is, and which of its pages.

_ID_LETTERS = 24


def allow_page(
    conn: Connection, household: str, goal_id: str, address: str, *, change_id: str, at: datetime
) -> None:
    """Let a page be read for a goal until that ends.

    Raises:
        ConflictError: The goal is over.
    """
    with_page(load_goal(conn, Viewer.whole(household), goal_id), address, is_allowed=True)
    row_id = f"{goal_id}:{_page_id(address)}"
    row = {"address": address}
    _PAGES.change(conn, household, row_id, lambda _: row, change_id=change_id, at=at)


def _page_id(address: str) -> str:
    return stable_id(address).replace("-", "")[:_ID_LETTERS]


def _allowed_page(goal: Goal | None, row_id: str) -> str | None:
    """Return the address that the id of a permission stands for, where it holds."""
    allowed = () if goal is None else goal.progress.allowed_pages
    wanted = row_id.rpartition(":")[2]
    return next((each for each in allowed if _page_id(each) == wanted), None)


def _read_page(conn: Connection, household: str, row_id: str) -> Row | None:
    goal = find_goal(conn, Viewer.whole(household), row_id.rpartition(":")[0])
    address = _allowed_page(goal, row_id)
    return None if address is None else {"address": address}


def _write_page(
    conn: Connection, household: str, row_id: str, row: Row | None, *, at: datetime
) -> None:
    goal = load_goal(conn, Viewer.whole(household), row_id.rpartition(":")[0])
    address = _allowed_page(goal, row_id) if row is None else str(row["address"])
    if address is not None:
        put_goal(conn, with_page(goal, address, is_allowed=row is not None), at=at)


_PAGES = Journal(kind="permission", read=_read_page, write=_write_page)
take_back_page = _PAGES.take_back


def _goal_of(row: Mapping[str, Any]) -> Goal:
    progress = dict(row["progress"])
    steps = tuple(
        Step(
            **{
                **each,
                "state": StepState(each["state"]),
                "depends_on": tuple(each["depends_on"]),
                "sources": tuple(Source(**one) for one in each["sources"]),
            }
        )
        for each in progress.pop("steps")
    )
    progress |= {name: tuple(progress.get(name, ())) for name in _LISTS}
    return Goal(
        id=row["id"],
        household=row["household"],
        member=row["member"],
        scope=row["scope"],
        kind=GoalKind(row["kind"]),
        text=row["text"],
        priority=GoalPriority(row["priority"]),
        status=GoalStatus(row["status"]),
        thread_id=row["thread_id"],
        progress=Progress(steps=steps, **progress),
        next_at=None if row["next_at"] is None else _instant(row["next_at"]),
        created_at=_instant(row["created_at"]),
        expires_at=_instant(row["expires_at"]),
    )


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else to_text(instant)


def _instant(value: str | datetime) -> datetime:
    return from_text(value) if isinstance(value, str) else value


def _of(viewer: Viewer) -> dict[str, Any]:
    return viewer.parameters | {"of_household": viewer.household}
