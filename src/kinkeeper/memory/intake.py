"""Takes statements in: beside those they may bear on, in one strand with them, whatever came first."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.core.ids import stable_id
from kinkeeper.household.viewers import narrowest
from kinkeeper.memory.evidence import (
    STATEMENTS,
    in_strands,
    insert_statements,
    mutable_image,
    set_statement,
    sharing_keys,
    statements_by_id,
)
from kinkeeper.memory.fact_rows import FACTS, replace_facts
from kinkeeper.memory.fact_sync import settle
from kinkeeper.memory.facts import facts_by_id, merged_into
from kinkeeper.memory.journal import Change
from kinkeeper.memory.meeting_keys import Keys, keys_of
from kinkeeper.memory.memory_rows import fact_row
from kinkeeper.memory.model import Fact, Statement
from kinkeeper.memory.rulings import Ruling, Verdict
from kinkeeper.memory.statement_match import bears_on
from kinkeeper.memory.timeline import canonical
from kinkeeper.memory.verdicts import add_verdicts, verdict_id, words_of


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
    conn: Connection, change: Change, statements: Sequence[Statement], scope: str, *, at: datetime
) -> list[Fact]:
    """Let statements be seen by others than before, beside what these remember of the same.

    What else their strands hold stays where it is. Where a fact rests on both, it goes with those whom fewer see,
    because its history holds the words of both; the others make a fact of their own.

    Args:
        conn: In a write transaction.
        change: Collects what becomes different.
        statements: Which ones, as stored.
        scope: Who may recall them from now on.
        at: Present time, aware.

    Returns:
        The facts that are different.
    """
    household, going = change.made.household, {each.id for each in statements}
    strands = {each.strand for each in statements}
    left = [each for each in in_strands(conn, household, strands) if each.id not in going]
    shared = {each.fact_id for each in left} & {each.fact_id for each in statements}
    parted = {each.strand for each in left}
    _keep_outdated(
        conn, change, statements, [each for each in left if _is_narrower(each.scope, scope)]
    )
    moved, stayed = [], []
    for each in statements:
        strand = stable_id(household, each.strand, scope) if each.strand in parted else each.strand
        is_without = each.fact_id in shared and not _is_narrower(scope, each.scope)
        fact_id = None if is_without else each.fact_id
        moved.append(_set(conn, change, each, scope=scope, strand=strand, fact_id=fact_id))
    for each in left:
        is_without = each.fact_id in shared and _is_narrower(scope, each.scope)
        stayed.append(_set(conn, change, each, fact_id=None if is_without else each.fact_id))
    joined = _joined(conn, household, moved, {each.id: keys_of(each) for each in moved})
    join_strands(conn, change, joined)
    facts = settle(conn, change, {*joined.values(), *(each.strand for each in stayed)}, at=at)
    return [*facts, *_hide_merged(conn, change, facts, scope)]


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


def _set(conn: Connection, change: Change, statement: Statement, **fields: str | None) -> Statement:
    """Write what is different about a statement, if anything is: its scope, strand or fact."""
    there: Statement = replace(statement, **fields)  # type: ignore[arg-type]  # by name
    if there != statement:
        change.note(STATEMENTS, statement.id, mutable_image(statement), mutable_image(there))
        set_statement(conn, there)
    return there


def _keep_outdated(
    conn: Connection, change: Change, going: Sequence[Statement], left: Sequence[Statement]
) -> None:
    """Let what outdated each other stay so once more people see a part of it than the rest."""
    household = change.made.household
    here, there = ({each.fact_id for each in some if each.fact_id} for some in (going, left))
    ended = {
        fact.id: fact
        for fact in facts_by_id(conn, household, here ^ there).values()
        if fact.superseded_by in (there if fact.id in here else here)
    }
    add_verdicts(
        conn,
        change,
        (
            Verdict(
                household=household, id=verdict_id(household, words.id, Ruling.ENDED.value),
                older=words.id, ruling=Ruling.ENDED, made_by=change.made.made_by or "upkeep",
                made_at=ended[fact].valid_to or change.made.made_at,
            )
            for fact, words in words_of(conn, household, ended).items()
        ),
    )  # fmt: skip


def _is_narrower(scope: str, than: str) -> bool:
    return scope != than and narrowest({scope, than}) == scope


def _hide_merged(conn: Connection, change: Change, moved: Sequence[Fact], scope: str) -> list[Fact]:
    """Let what was merged into facts be seen by no more people than these."""
    hidden: list[Fact] = []
    into = [fact.id for fact in moved if fact.scope == scope]
    while into:
        merged = merged_into(conn, change.made.household, into)
        wide = [fact for fact in merged if _is_narrower(scope, fact.scope)]
        hidden += [replace(fact, scope=scope) for fact in wide]
        into = [fact.id for fact in wide]
        for fact in wide:
            change.note(FACTS, fact.id, fact_row(fact), fact_row(replace(fact, scope=scope)))
    return replace_facts(conn, hidden)
