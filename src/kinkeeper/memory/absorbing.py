"""Takes statements in: beside those they may bear on, in one strand with them, whatever came first."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.memory.bearing import bears_on
from kinkeeper.memory.evidence import (
    STATEMENTS,
    in_strands,
    insert_statements,
    mutable_image,
    set_statement,
    sharing_keys,
    statements_by_id,
)
from kinkeeper.memory.journal import Change
from kinkeeper.memory.meeting_keys import Keys, keys_of
from kinkeeper.memory.model import Fact, Statement
from kinkeeper.memory.settling import settle
from kinkeeper.memory.timeline import canonical


def absorb(
    conn: Connection, change: Change, statements: Sequence[Statement], *, at: datetime
) -> list[Fact]:
    """Store statements that are not known, and bring the facts they bear on in step.

    Args:
        conn: In a write transaction.
        change: Collects what becomes different.
        statements: Of one household, each a strand of its own.
        at: Present time, aware.

    Returns:
        The facts that are new or different.
    """
    household = change.made.household
    known = statements_by_id(conn, household, (each.id for each in statements))
    new = list({each.id: each for each in statements if each.id not in known}.values())
    if not new:
        return []
    keys = {each.id: keys_of(each) for each in new}
    strands = _joined(conn, household, new, keys)
    join_strands(conn, change, strands)
    placed = [replace(each, strand=strands[each.strand]) for each in new]
    insert_statements(conn, placed, {each: found.stored for each, found in keys.items()})
    for each in placed:
        change.note(STATEMENTS, each.id, None, {})
    ids = {each.id for each in placed}
    return settle(conn, change, {each.strand for each in placed}, at=at, new=ids)


def move_to_scope(
    conn: Connection, change: Change, strand: str, scope: str, *, at: datetime
) -> list[Fact]:
    """Let a strand be seen by others than before, beside what they remember of the same.

    Args:
        conn: In a write transaction.
        change: Collects what becomes different.
        strand: Which one.
        scope: Who may recall it from now on.
        at: Present time, aware.

    Returns:
        The facts that are different.
    """
    household = change.made.household
    moved = []
    for each in in_strands(conn, household, [strand]):
        there = replace(each, scope=scope)
        change.note(STATEMENTS, each.id, mutable_image(each), mutable_image(there))
        set_statement(conn, there)
        moved.append(there)
    strands = _joined(conn, household, moved, {each.id: keys_of(each) for each in moved})
    join_strands(conn, change, strands)
    return settle(conn, change, {strands[strand]}, at=at)


def join_strands(conn: Connection, change: Change, strands: Mapping[str, str]) -> None:
    """Move the statements of strands into others.

    Args:
        conn: In a write transaction.
        change: Collects what becomes different.
        strands: By strand, which one it becomes part of.
    """
    gone = sorted(old for old, new in strands.items() if old != new)
    for each in in_strands(conn, change.made.household, gone):
        moved = replace(each, strand=strands[each.strand])
        change.note(STATEMENTS, each.id, mutable_image(each), mutable_image(moved))
        set_statement(conn, moved)


def _joined(
    conn: Connection,
    household: str,
    new: Sequence[Statement],
    keys: Mapping[str, Keys],
) -> dict[str, str]:
    by_key: defaultdict[str, list[Statement]] = defaultdict(list)
    wanted = {key for found in keys.values() for key in found.asked}
    for key, stored in sharing_keys(conn, household, wanted):
        by_key[key].append(stored)
    parents = {each.strand: each.strand for each in new}
    for statement in new:
        near = {other.id: other for key in keys[statement.id].asked for other in by_key[key]}
        for other in near.values():
            _join(parents, statement, other)
        for key in keys[statement.id].stored:
            by_key[key].append(statement)
    return {each: strand_root(parents, each) for each in parents}


def _join(parents: dict[str, str], one: Statement, other: Statement) -> None:
    if one.scope != other.scope:
        return
    low, high = sorted((strand_root(parents, one.strand), strand_root(parents, other.strand)))
    if low == high:
        return
    older, newer = sorted((one, other), key=canonical)
    if bears_on(older, newer):
        parents[low] = low
        parents[high] = low


def strand_root(parents: Mapping[str, str], strand: str) -> str:
    """Return the strand that a strand has become part of, itself where of none.

    Args:
        parents: A further strand that each is part of; one that is its own stands alone.
        strand: Its id.
    """
    while parents.get(strand, strand) != strand:
        strand = parents[strand]
    return strand
