"""Erasing a person for good: everything that is theirs, in every table, told from the tables themselves.

A table that has a scope, a member, a turn, a thread or something else of theirs in a column of that name loses these
rows, so that a table that is added later is covered, too. What belongs to the household stays: its calendar, lists and
notes, and what others said of them in their own words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    String,
    Table,
    and_,
    cast,
    delete,
    func,
    literal,
    or_,
    select,
    update,
)

from kinkeeper.actions.action_retention import drop_payload
from kinkeeper.actions.model import FROM_CHAT, TOLD, ActionStatus, ActionType
from kinkeeper.background.drift.repository import forget_words
from kinkeeper.channels.telegram import progress as _telegram  # noqa: F401 - makes its tables known
from kinkeeper.core.errors import ConflictError
from kinkeeper.household.viewers import person_scope
from kinkeeper.memory import erasure
from kinkeeper.memory.memory_rows import in_parts
from kinkeeper.messaging import outbox
from kinkeeper.observer.cards.retraction import SOURCE as OBSERVER
from kinkeeper.observer.cards.retraction import withdraw_all
from kinkeeper.store.schema import metadata
from kinkeeper.web.access import logins as _access  # noqa: F401 - makes its tables known

_ERASED = "Something from a person who was erased"
_BLANKED: Mapping[str, Mapping[str, Any]] = {
    "observer_messages": {"brain_context": None, "brain_queries": []},
    "model_calls": {"sent": None, "answered": None},
}
_CACHES = ("embeddings", "failed_updates", "arrangements", "drift_cycles")
_MEMORYS = frozenset({"episodes", "statements", "facts", "memory_tombstones"})
_TELLING = (
    "conversation_topics",
    "turns",
    "events",
    "tasks",
    "notes",
    "pending_actions",
    "threads",
    "private_chats",
)
"""Tables that say of others' rows whose they are: erased after these, and each after what it is asked about."""
_UNDER_WAY = frozenset({ActionStatus.CONFIRMED, ActionStatus.EXECUTING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What is erased of a person.

    Attributes:
        episodes: Number of turns that memory keeps.
        rows: Number of rows of other tables, by table; those without any are left out.
    """

    episodes: int
    facts: int
    rows: Mapping[str, int]


def found_of(conn: Connection, household: str, member: str) -> Erased:
    """Return what erasing a person would take away."""
    memory = erasure.memory_of(conn, household, member)
    rows = {
        table.name: int(
            conn.execute(select(func.count()).select_from(table).where(of_theirs)).scalar_one()
        )
        for table, of_theirs in _wanted(household, member).items()
    }
    return Erased(
        episodes=len(memory.episodes),
        facts=len(memory.facts),
        rows={name: count for name, count in rows.items() if count},
    )


def erase(conn: Connection, household: str, member: str, *, at: datetime) -> Erased:
    """Erase everything of a person; the caller folds the database's log afterwards.

    Raises:
        ConflictError: Something that they asked for is just being carried out.
    """
    found = found_of(conn, household, member)
    _let_go_of_words(conn, household, member, at=at)
    erasure.erase_person(conn, household, member, at=at)
    for table, of_theirs in _wanted(household, member).items():
        conn.execute(delete(table).where(of_theirs))
    return found


def _keys(household: str, member: str) -> Mapping[str, Select[Any]]:
    """Return by name of a column the query of what in it is the person's."""

    def of(name: str, column: str, wanted: Any, *, key: str = "id") -> Select[Any]:
        table = metadata.tables[name]
        return select(table.c[key]).where(
            table.c.household == household, table.c[column].in_(wanted)
        )

    own, themselves = select(literal(person_scope(member))), select(literal(member))
    talks = of("threads", "member", [member])
    return {
        "scope": own,
        "member": themselves,
        "written_by": themselves,
        "sender": themselves,
        "asker": themselves,
        "event_id": of("events", "scope", own),
        "task_id": of("tasks", "scope", own),
        "note_id": of("notes", "scope", own),
        "action_id": of("pending_actions", "scope", own),
        "turn": of("turns", "member", [member]),
        "thread": talks,
        "topic": of("conversation_topics", "thread", talks),
        "chat_id": of("private_chats", "member", [member], key="chat_id"),
    }


def _wanted(household: str, member: str) -> Mapping[Table, ColumnElement[bool]]:
    """Return by table which of its rows are the person's; memory's own are erased by memory.

    What tells of others' rows that they are the person's comes last.
    """
    keys = _keys(household, member)
    telling = [metadata.tables[name] for name in _TELLING]
    found: dict[Table, ColumnElement[bool]] = {}
    others = [table for table in metadata.sorted_tables if table.name not in _TELLING]
    for table in [*others, *telling]:
        if "household" not in table.c or table.name in _MEMORYS:
            continue
        # An action that is only mentioned (the card of a message) makes a row nobody's.
        named = [
            table.c[name].in_(ids)
            for name, ids in keys.items()
            if name in table.c and not (name == "action_id" and table.c[name].nullable)
        ]
        if table.name == "row_changes":
            named = [table.c.row_id.in_(keys[each]) for each in ("event_id", "task_id", "note_id")]
        if named:
            found[table] = and_(table.c.household == household, or_(*named))
    return found


def _let_go_of_words(conn: Connection, household: str, member: str, *, at: datetime) -> None:
    """Drop their words where rows of others carry them: what was asked for in them, what was near them, caches.

    What awaits a yes because of them is withdrawn: nobody is to decide about words that are gone.
    """
    cards = metadata.tables["pending_actions"]
    asked = _asked_for(conn, household, member)
    if any(status in _UNDER_WAY for status in asked.values()):
        raise ConflictError("something they asked for is being carried out; try again in a minute")
    for ids in in_parts([*asked]):
        mine = cards.c.household == household, cards.c.id.in_(ids)
        # Before they are withdrawn, which tells the chat with this line.
        conn.execute(update(cards).where(*mine).values(summary=_ERASED, merge_key=None))
        withdraw_all(conn, household, ids, by_source=_ERASED, now=at)
        drop_payload(conn, household, ids, summary=_ERASED)
        outbox.drop_bodies(conn, household, ids)
    for name, blank in _BLANKED.items():
        table = metadata.tables[name]
        conn.execute(update(table).where(table.c.household == household).values(**blank))
    for name in _CACHES:
        table = metadata.tables[name]
        conn.execute(delete(table).where(table.c.household == household))
    forget_words(conn, household, at=at)


def _asked_for(conn: Connection, household: str, member: str) -> Mapping[str, ActionStatus]:
    """Return the status by id of actions made of what they said, in the chat or to the assistant."""
    said, turns = metadata.tables["messages"].c, metadata.tables["turns"].c
    heard = select(cast(said.id, String)).where(said.household == household, said.sender == member)
    told = select(turns.id).where(turns.household == household, turns.member == member)
    cards = metadata.tables["pending_actions"].c
    is_theirs = or_(
        and_(cards.source_type == OBSERVER, cards.source_id.in_(heard)),
        and_(cards.source_type == FROM_CHAT, cards.source_id.in_(told)),
        and_(cards.source_type == TOLD, cards.source_id.startswith(f"{member}/", autoescape=True)),
        and_(cards.type == ActionType.MEMORY_FACT, cards.decided_by == member),
    )
    query = select(cards.id, cards.status).where(cards.household == household, is_theirs)
    return {row.id: ActionStatus(row.status) for row in conn.execute(query)}
