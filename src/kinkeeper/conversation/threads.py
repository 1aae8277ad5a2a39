"""Threads: one person's conversations, which nobody else reads. Functions over the caller's transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, bindparam, insert, select, update

from kinkeeper.conversation.tables import threads, turns
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.core.ids import stable_id
from kinkeeper.language.text import shorten
from kinkeeper.store.prepared import Prepared
from kinkeeper.store.schema import Instant

LONGEST_ID = 64
_LONGEST_TITLE = 60
_columns = threads.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A conversation of one person with the assistant.

    Attributes:
        household: Tenant key.
        id: Within the household.
        member: Whose it is.
        channel: Where it takes place: "web", "cli", "telegram".
        chat_id: The chat on that channel, where it has several.
        created_at: Aware.
        last_at: When somebody last said something in it, aware.
        title: How it began, for lists.
        turns: How many turns it had.
        events: How many events it told.
    """

    household: str
    id: str
    member: str
    channel: str
    chat_id: str | None
    created_at: datetime
    last_at: datetime
    title: str = ""
    turns: int = 0
    events: int = 0


def topic_of(thread_id: str) -> str:
    """Return the topic of commits that add to a thread."""
    return f"thread:{thread_id}"


def open_thread(conn: Connection, wanted: Thread) -> Thread:
    """Return a thread of a member, made where there is none yet.

    Args:
        conn: In a write transaction; others who add to the thread wait until its end.
        wanted: The thread as it would be made.

    Raises:
        NotFoundError: It is somebody else's.
        InputError: Its id cannot be one.
    """
    if not 0 < len(wanted.id) <= LONGEST_ID or not wanted.id.isprintable():
        raise InputError(f"a thread's id has 1 to {LONGEST_ID} visible characters")
    stored = _find(conn, wanted.household, wanted.id, locked=True)
    if stored is None:
        values = {name: getattr(wanted, name) for name in _STORED}
        conn.execute(insert(threads).values(values))
        return wanted
    if stored.member != wanted.member:
        raise _nobodys(wanted.id)
    return stored


def load_thread(
    conn: Connection, household: str, thread_id: str, *, locked: bool = False
) -> Thread | None:
    """Return a thread, whoever's it is.

    Args:
        conn: Any transaction; a writing one if its row is to be held.
        household: Tenant key.
        thread_id: Of the thread.
        locked: Whether others who add to the thread wait until the end of the transaction.
    """
    return _find(conn, household, thread_id, locked=locked)


def thread_of(conn: Connection, household: str, member: str, thread_id: str) -> Thread:
    """Return a member's thread.

    Raises:
        NotFoundError: The member has no such thread.
    """
    found = _find(conn, household, thread_id, locked=False)
    if found is None or found.member != member:
        raise _nobodys(thread_id)
    return found


def usual_thread_id(household: str, member: str, channel: str, chat_id: str | None) -> str:
    """Return the id of the thread that a member has on a channel when they name none."""
    return stable_id(household, "thread", member, channel, chat_id or "")


def list_threads(
    conn: Connection, household: str, member: str, *, limit: int = 100
) -> Sequence[Thread]:
    """Return a member's threads, the one last spoken in first, each with how it began.

    Args:
        conn: Any transaction.
        household: Tenant key.
        member: Whose.
        limit: Most threads, > 0.
    """
    first = (
        select(turns.c.text)
        .where(
            turns.c.household == _columns.household,
            turns.c.thread == _columns.id,
            turns.c.text != "",
        )
        .order_by(turns.c.position)
        .limit(1)
        .scalar_subquery()
    )
    query = (
        _query(first.label("opening"))
        .where(_columns.household == household, _columns.member == member)
        .order_by(_columns.last_at.desc(), _columns.id)
        .limit(limit)
    )
    return [_thread(row, row["opening"]) for row in conn.execute(query).mappings()]


def count_turn(conn: Connection, thread: Thread, *, at: datetime) -> None:
    """Note that something is said in a thread.

    Args:
        conn: In the write transaction that read the thread.
        thread: As stored.
        at: Present time, aware.
    """
    values = {"of_household": thread.household, "of_thread": thread.id, "at": at}
    _COUNT_TURN.execute(conn, values)


_STORED = (
    "household", "id", "member", "channel", "chat_id", "created_at", "last_at", "turns", "events",
)  # fmt: skip
_COUNT_TURN = Prepared(
    update(threads)
    .where(_columns.household == bindparam("of_household"), _columns.id == bindparam("of_thread"))
    .values(turns=_columns.turns + 1, last_at=bindparam("at", type_=Instant))
)


def _query(*more: Any) -> Select[Any]:
    return select(*(_columns[name] for name in _STORED), *more)


_BY_ID = _query().where(
    _columns.household == bindparam("of_household"), _columns.id == bindparam("of_thread")
)
_FIND, _FIND_LOCKED = Prepared(_BY_ID), Prepared(_BY_ID.with_for_update())


def _find(conn: Connection, household: str, thread_id: str, *, locked: bool) -> Thread | None:
    of_thread = {"of_household": household, "of_thread": thread_id}
    rows = (_FIND_LOCKED if locked else _FIND).mappings(conn, of_thread)
    return _thread(rows[0]) if rows else None


def _thread(row: RowMapping | Mapping[str, Any], opening: str | None = None) -> Thread:
    values = {name: row[name] for name in _STORED}
    return Thread(title=shorten(opening or "", _LONGEST_TITLE), **values)


def _nobodys(thread_id: str) -> NotFoundError:
    return NotFoundError(f"you have no conversation {thread_id!r}")
