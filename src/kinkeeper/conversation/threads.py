"""Threads: one person's conversations, which nobody else reads. Functions over the caller's transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, bindparam, insert, select, update

from kinkeeper.conversation.tables import threads, turns
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Household, Member, Role
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
        id: Within the household; it is made of its member, so that nobody else can come to have it.
        login: The role to which the login of its person limits them: they see no thread of a login that may see more.
        channel: Where it takes place: "web", "cli", "telegram".
        chat_id: The chat on that channel, where it has several.
        last_at: When somebody last said something in it, aware.
        title: How it began, for lists.
        turns: How many turns it had.
        events: How many events it told.
        name: What its member calls it, where they named it; other members may call theirs the same.
    """

    household: str
    id: str
    member: str
    channel: str
    chat_id: str | None
    created_at: datetime
    last_at: datetime
    title: str = ""
    login: Role | None = None
    turns: int = 0
    events: int = 0
    name: str | None = None

    @property
    def called(self) -> str:
        """Return what its member calls it."""
        return self.name or self.id

    def is_of(self, member: str, login: Role | None) -> bool:
        """Whether it is the thread of a member who comes in with such a login."""
        return (self.member, self.login) == (member, login)


def topic_of(thread_id: str) -> str:
    """Return the topic of commits that add to a thread."""
    return f"thread:{thread_id}"


def open_thread(conn: Connection, wanted: Thread) -> Thread:
    """Return a thread of a member, made where there is none yet.

    Args:
        conn: In a write transaction; others who add to the thread wait until its end.
        wanted: The thread as it would be made; with a name where the member named it.

    Raises:
        InputError: Its name cannot be one.
    """
    if not 0 < len(wanted.called) <= LONGEST_ID or not wanted.called.isprintable():
        raise InputError(f"a thread's id must have 1 to {LONGEST_ID} visible characters")
    stored = _find(conn, wanted.household, wanted.called, locked=True)
    if stored is None and wanted.name is None:
        return _insert(conn, wanted)
    if stored is not None and stored.is_of(wanted.member, wanted.login):
        return stored
    named_id = _named_id(wanted.household, wanted.member, wanted.login, wanted.called)
    named = replace(wanted, name=wanted.called, id=named_id)
    return _find(conn, named.household, named.id, locked=True) or _insert(conn, named)


def load_thread(
    conn: Connection, household: str, thread_id: str, *, locked: bool = False
) -> Thread | None:
    """Return a thread, whoever's it is.

    Args:
        conn: Any transaction; a writing one if its row is to be held.
        locked: Whether others who add to the thread wait until the end of the transaction.
    """
    return _find(conn, household, thread_id, locked=locked)


def thread_of(conn: Connection, household: Household, member: Member, thread: str) -> Thread:
    """Return a member's thread.

    Args:
        member: Whose, with the rights of their login.
        thread: Its id, or what the member calls it.

    Raises:
        NotFoundError: The member has no such thread with this login.
    """
    found = find_thread(conn, household, member, thread)
    if found is None:
        raise NotFoundError(f"you have no conversation {thread!r}")
    return found


def find_thread(
    conn: Connection, household: Household, member: Member, thread: str
) -> Thread | None:
    """Return a member's thread, if they have it with this login.

    Args:
        member: Whose, with the rights of their login.
        thread: Its id, or what the member calls it.
    """
    login = household.login_of(member)
    stored = _find(conn, household.id, thread, locked=False)
    if stored is not None and stored.is_of(member.id, login):
        return stored
    named_id = _named_id(household.id, member.id, login, thread)
    return _find(conn, household.id, named_id, locked=False)


def usual_thread_id(
    household: str, member: str, channel: str, chat_id: str | None, *, login: Role | None = None
) -> str:
    """Return the id of the thread that a member has on a channel when they name none."""
    limit = () if login is None else (login.value,)
    return stable_id(household, "thread", member, channel, chat_id or "", *limit)


def list_threads(
    conn: Connection, household: Household, member: Member, *, limit: int = 100
) -> Sequence[Thread]:
    """Return a member's threads, the one last spoken in first, each with how it began.

    Args:
        member: Whose, with the rights of their login.
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
        .where(
            _columns.household == household.id,
            _columns.member == member.id,
            _columns.login.is_not_distinct_from(household.login_of(member)),
        )
        .order_by(_columns.last_at.desc(), _columns.id)
        .limit(limit)
    )
    return [_thread(row, row["opening"]) for row in conn.execute(query).mappings()]


def count_turn(conn: Connection, thread: Thread, *, at: datetime) -> None:
    """Note that something is said in a thread."""
    values = {"of_household": thread.household, "of_thread": thread.id, "at": at}
    _COUNT_TURN.execute(conn, values)


_STORED = (
    "household",
    "id",
    "member",
    "login",
    "channel",
    "chat_id",
    "created_at",
    "last_at",
    "turns",
    "events",
    "name",
)
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


def _named_id(household: str, member: str, login: Role | None, name: str) -> str:
    return stable_id(household, "named thread", member, login.value if login else "", name)


def _insert(conn: Connection, thread: Thread) -> Thread:
    conn.execute(insert(threads).values({name: getattr(thread, name) for name in _STORED}))
    return thread


def _find(conn: Connection, household: str, thread_id: str, *, locked: bool) -> Thread | None:
    of_thread = {"of_household": household, "of_thread": thread_id}
    rows = (_FIND_LOCKED if locked else _FIND).mappings(conn, of_thread)
    return _thread(rows[0]) if rows else None


def _thread(row: RowMapping | Mapping[str, Any], opening: str | None = None) -> Thread:
    values = {name: row[name] for name in _STORED} | {
        "login": Role(row["login"]) if row["login"] else None
    }
    return Thread(title=shorten(opening or "", _LONGEST_TITLE), **values)
