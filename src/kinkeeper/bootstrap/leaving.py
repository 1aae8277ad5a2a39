"""Erasing a person for good: everything that is theirs, in every table, told from the tables themselves.

A table that has a scope, a member, a turn, a thread or something else of theirs in a column of that name loses these
rows, so that a table that is added later is covered, too. What belongs to the household stays: its calendar, lists and
notes, and what others said of them in their own words.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, delete, func, or_, select, update

from kinkeeper.actions.purging import drop_payload
from kinkeeper.channels.telegram import tables as _telegram  # noqa: F401 - makes its tables known
from kinkeeper.household.viewing import person_scope
from kinkeeper.memory import leaving
from kinkeeper.messaging import outbox
from kinkeeper.store.schema import metadata
from kinkeeper.web.access import tables as _access  # noqa: F401 - makes its tables known

_ERASED = "Something of somebody who was erased"
_BLANKED: Mapping[str, Mapping[str, Any]] = {
    "observer_messages": {"context_window": [], "brain_context": None, "brain_queries": []},
    "model_calls": {"sent": None, "answered": None},
}
_CACHES = ("embeddings", "failed_updates")
_MEMORYS = frozenset({"episodes", "statements", "facts", "memory_tombstones"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What is erased of a person.

    Attributes:
        episodes: Number of turns that memory keeps.
        facts: Number of facts.
        rows: Number of rows of other tables, by table; those without any are left out.
    """

    episodes: int
    facts: int
    rows: Mapping[str, int]


def found_of(conn: Connection, household: str, member: str) -> Erased:
    """Return what erasing a person would take away.

    Args:
        conn: Any transaction.
        household: Tenant key.
        member: Member id.
    """
    memory = leaving.memory_of(conn, household, member)
    rows = {
        table.name: int(
            conn.execute(
                select(func.count()).select_from(table).where(table.c.household == household, wanted)
            ).scalar_one()
        )
        for table, wanted in _wanted(_keys(conn, household, member)).items()
    }  # fmt: skip
    return Erased(
        episodes=len(memory.episodes), facts=len(memory.facts),
        rows={name: count for name, count in rows.items() if count},
    )  # fmt: skip


def erase(conn: Connection, household: str, member: str, *, at: datetime) -> Erased:
    """Erase everything of a person; the caller folds the database's log afterwards.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        member: Member id.
        at: Present time, aware.
    """
    found = found_of(conn, household, member)
    wanted = _wanted(_keys(conn, household, member))
    _let_go_of_words(conn, household, member)
    leaving.erase_person(conn, household, member, at=at)
    for table, of_theirs in wanted.items():
        conn.execute(delete(table).where(table.c.household == household, of_theirs))
    return found


def _keys(conn: Connection, household: str, member: str) -> Mapping[str, Collection[str]]:
    """Return by name of a column what in it is the person's."""

    def ids(name: str, column: str, *wanted: str, of: str = "id") -> Collection[str]:
        table = metadata.tables[name]
        is_theirs = table.c.household == household, table.c[column].in_(wanted)
        return list(conn.execute(select(table.c[of]).where(*is_theirs)).scalars())

    own = person_scope(member)
    talks = ids("threads", "member", member)
    return {
        "scope": [own], "member": [member], "written_by": [member], "sender": [member],
        "asker": [member], "event_id": ids("events", "scope", own),
        "task_id": ids("tasks", "scope", own), "note_id": ids("notes", "scope", own), "action_id": ids("pending_actions", "scope", own),
        "turn": ids("turns", "member", member), "thread": talks,
        "topic": ids("conversation_topics", "thread", *talks),
        "chat_id": ids("private_chats", "member", member, of="chat_id"),
    }  # fmt: skip


def _wanted(keys: Mapping[str, Collection[str]]) -> Mapping[Table, ColumnElement[bool]]:
    """Return by table which of its rows are the person's; memory's own are erased by memory."""
    found: dict[Table, ColumnElement[bool]] = {}
    for table in reversed(metadata.sorted_tables):
        if "household" not in table.c or table.name in _MEMORYS:
            continue
        # An action that is only mentioned (the card of a message) makes a row nobody's.
        named = [
            table.c[name].in_(ids)
            for name, ids in keys.items()
            if name in table.c and ids and not (name == "action_id" and table.c[name].nullable)
        ]
        if named:
            found[table] = or_(*named)
    changed = metadata.tables["row_changes"]
    found[changed] = changed.c.row_id.in_([*keys["event_id"], *keys["task_id"], *keys["note_id"]])
    return found


def _let_go_of_words(conn: Connection, household: str, member: str) -> None:
    """Drop their words where rows of others carry them: cards made of their messages, what was near them, caches."""
    said, cards = metadata.tables["messages"], metadata.tables["pending_actions"]
    sent = select(said.c.id).where(said.c.household == household, said.c.sender == member)
    numbers = [str(each) for each in conn.execute(sent).scalars()]
    made = select(cards.c.id).where(cards.c.household == household, cards.c.source_id.in_(numbers))
    actions = list(conn.execute(made).scalars())
    drop_payload(conn, household, actions, summary=_ERASED)
    outbox.drop_bodies(conn, household, actions)
    for name, blank in _BLANKED.items():
        table = metadata.tables[name]
        conn.execute(update(table).where(table.c.household == household).values(**blank))
    for name in _CACHES:
        table = metadata.tables[name]
        conn.execute(delete(table).where(table.c.household == household))
