"""Who may take a change of memory back: one rule for pages, API, chat and receipts."""

from collections.abc import Sequence

from sqlalchemy import Connection

from kinkeeper.core.errors import DeniedError, NotFoundError
from kinkeeper.household.viewers import Viewer, is_project
from kinkeeper.memory.episodes import episodes_by_id
from kinkeeper.memory.fact_rows import FACTS
from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.journal import Cause, ChangeSet, find_change, images_of
from kinkeeper.memory.tables import episodes


def is_anothers(conn: Connection, viewer: Viewer, change_set: str) -> bool:
    """Tell whether all that a memory change made different, facts and what was said, is what only others may recall.

    Args:
        conn: Any transaction.
        viewer: On whose behalf.
        change_set: Its id.
    """
    scopes = _scopes(conn, viewer.household, change_set)
    return bool(scopes) and not any(map(viewer.sees, scopes))


def may_take_back(conn: Connection, viewer: Viewer, change: ChangeSet) -> bool:
    """Tell whether a member may undo a change: not where it also changed what only others recall.

    Who may recall something is undone by nobody but who decided it.

    Args:
        conn: Any transaction.
        viewer: On whose behalf.
        change: Which.
    """
    if change.cause is Cause.PRIVATE and change.made_by != viewer.member:
        return False
    scopes = _scopes(conn, viewer.household, change.id)
    return all(viewer.sees(each) or is_project(each) for each in scopes)


def check_may_take_back(conn: Connection, viewer: Viewer, change_set: str) -> None:
    """Make sure that a member may undo a change.

    Args:
        conn: Any transaction.
        viewer: On whose behalf.
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
