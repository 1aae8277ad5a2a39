"""Taking a change of memory back: who may, and every row as it was before."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, delete, update

from kinkeeper.core.errors import DeniedError, NotFoundError
from kinkeeper.household.viewers import Viewer, is_project
from kinkeeper.memory.episodes import CONTEXT, EPISODE, episodes_by_id
from kinkeeper.memory.evidence import STATEMENTS, VERDICTS, delete_statements
from kinkeeper.memory.facts import (
    FACT,
    FACTS,
    delete_facts,
    facts_by_id,
    forget_vectors,
    replace_facts,
)
from kinkeeper.memory.journal import (
    ARITHMETIC,
    Cause,
    ChangeSet,
    Image,
    check_undoable,
    find_change,
    images_of,
    images_of_row,
    mark_undone,
)
from kinkeeper.memory.memory_rows import fact_from_row, fact_row, note_removals, reserve, row_of
from kinkeeper.memory.model import Fact, FactStatus
from kinkeeper.memory.tables import episodes, facts, memory_verdicts, statements

# Who may take a change of memory back: one rule for pages, API, chat and receipts.


def is_anothers(conn: Connection, viewer: Viewer, change_set: str) -> bool:
    """Tell whether all that a memory change made different, facts and what was said, is what only others may recall.

    Args:
        change_set: Its id.
    """
    scopes = _scopes(conn, viewer.household, change_set)
    return bool(scopes) and not any(map(viewer.sees, scopes))


def may_take_back(conn: Connection, viewer: Viewer, change: ChangeSet) -> bool:
    """Tell whether a member may undo a change: not where it also changed what only others recall.

    Who may recall something is undone by nobody but who decided it.
    """
    if change.cause is Cause.PRIVATE and change.made_by != viewer.member:
        return False
    scopes = _scopes(conn, viewer.household, change.id)
    return all(viewer.sees(each) or is_project(each) for each in scopes)


def check_may_take_back(conn: Connection, viewer: Viewer, change_set: str) -> None:
    """Make sure that a member may undo a change.

    Args:
        change_set: Its id.

    Raises:
        NotFoundError: There is none, or all of it is another's own.
        DeniedError: A part of it is, or another decided who may recall it.
    """
    change = find_change(conn, viewer.household, change_set)
    if may_take_back(conn, viewer, change):
        return
    if is_anothers(conn, viewer, change_set):
        raise NotFoundError(f"there is no memory change {change_set!r}", id=change_set)
    raise DeniedError("this changed somebody's private memories, so only they can undo it")


def _scopes(conn: Connection, household: str, change_set: str) -> Sequence[str]:
    ids: dict[str, list[str]] = {FACTS: [], episodes.name: []}
    for image in images_of(conn, household, change_set):
        ids.get(image.table, []).append(image.row_id)
    facts = facts_by_id(conn, household, ids[FACTS])
    said = episodes_by_id(conn, household, ids[episodes.name])
    scopes = {each.scope for each in facts.values()} | {each.scope for each in said.values()}
    return [*scopes]


EPISODES = episodes.name


def undo(
    conn: Connection, household: str, change_set: str, *, by: str | None, at: datetime
) -> ChangeSet:
    """Restore exactly what was before a change; undoing it again does nothing.

    Args:
        change_set: Its id.
        by: Member id of whoever wants it so.

    Raises:
        NotFoundError: There is no such change.
        ConflictError: A later change rests on it, or what was before it is no longer kept.
    """
    change = find_change(conn, household, change_set)
    if change.undone_at is not None:
        return change
    check_undoable(conn, change)
    for image in reversed(images_of(conn, household, change_set)):
        _restore(conn, change, image)
    mark_undone(conn, change, by=by, at=at)
    return replace(change, undone_at=at, undone_by=by)


def _restore(conn: Connection, change: ChangeSet, image: Image) -> None:
    household = change.household
    if image.table == FACTS:
        _restore_fact(conn, change, image)
    elif image.table == STATEMENTS:
        if image.before is None:
            delete_statements(conn, household, [image.row_id])
        else:
            _put_back(conn, statements, (household, image.row_id), image.before)
    elif image.table == EPISODES:
        _restore_episode(conn, household, image)
    elif image.table == VERDICTS:
        _restore_verdict(conn, household, image)


def _restore_fact(conn: Connection, change: ChangeSet, image: Image) -> None:
    household = change.household
    if image.before is None:
        delete_facts(conn, household, [image.row_id])
        return
    now = facts_by_id(conn, household, [image.row_id]).get(image.row_id)
    if now is None:
        return
    counted_since = _counted_since(conn, change, image.row_id)
    before = {name: value for name, value in image.before.items() if name not in counted_since}
    replace_facts(conn, [_as_before(conn, now, row_of(facts, before))])


def _counted_since(conn: Connection, change: ChangeSet, fact_id: str) -> frozenset[str]:
    """Return the columns of upkeep's arithmetic that later changes wrote."""
    later = [
        image.touched or frozenset()
        for made, image in images_of_row(conn, change.household, FACTS, fact_id)
        if made.number > change.number
    ]
    return ARITHMETIC & frozenset().union(*later)


def _as_before(conn: Connection, now: Fact, before: Mapping[str, Any]) -> Fact:
    """Return a fact with its former values; it is learnt anew where its words come back."""
    fact = fact_from_row({**fact_row(now), **before})
    if fact.narrative != now.narrative:
        forget_vectors(conn, fact.household, FACT, [fact.id])
        return replace(fact, status=FactStatus.PENDING_EMBED) if fact.status.is_active else fact
    if fact.status.is_active and now.status.is_active:
        return replace(fact, status=now.status)
    return fact


def _restore_episode(conn: Connection, household: str, image: Image) -> None:
    columns = episodes.c
    if image.before is None:
        conn.execute(
            delete(episodes).where(columns.household == household, columns.id == image.row_id)
        )
        forget_vectors(conn, household, EPISODE, [image.row_id])
        forget_vectors(conn, household, CONTEXT, [image.row_id])
        note_removals(conn, household, EPISODE, [image.row_id])
        return
    number = {"seq": reserve(conn, household)}
    _put_back(conn, episodes, (household, image.row_id), {**image.before, **number})


def _restore_verdict(conn: Connection, household: str, image: Image) -> None:
    if image.before is not None:
        _put_back(conn, memory_verdicts, (household, image.row_id), image.before)
        return
    columns = memory_verdicts.c
    conn.execute(
        delete(memory_verdicts).where(columns.household == household, columns.id == image.row_id)
    )


def _put_back(
    conn: Connection, table: Table, key: tuple[str, str], before: Mapping[str, Any]
) -> None:
    household, row_id = key
    conn.execute(
        update(table)
        .where(table.c.household == household, table.c.id == row_id)
        .values(**row_of(table, before))
    )
