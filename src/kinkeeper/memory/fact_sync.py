"""Brings facts in step with what was said and found about them: the fold, and what it makes different.

A line of statements keeps the fact it had. A fact whose statements all went over to another line
was one with it all along, and is merged into that line's.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, count

from sqlalchemy import Connection

from kinkeeper.core.ids import stable_id
from kinkeeper.memory.evidence import (
    STATEMENTS,
    for_facts,
    in_strands,
    mutable_image,
    set_statement,
)
from kinkeeper.memory.fact_derivation import new_fact, updated_fact
from kinkeeper.memory.fact_rows import FACTS, forget_vectors, insert_facts, replace_facts
from kinkeeper.memory.facts import FACT, facts_by_id
from kinkeeper.memory.journal import Change
from kinkeeper.memory.memory_rows import fact_row
from kinkeeper.memory.model import Fact, FactStatus, Statement
from kinkeeper.memory.rulings import Verdict
from kinkeeper.memory.statement_match import relate_statements
from kinkeeper.memory.timeline import Line, fold
from kinkeeper.memory.verdicts import verdicts_on


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """What is stored about strands.

    Attributes:
        said: Statements by strand.
        verdicts: By the id of each statement that they are about.
        facts: By id: those that the statements support, and those that could be theirs.
        behind: By fact id, the statements that supported it before this change.
        held_elsewhere: Ids of facts that a statement of these strands began, and that another strand has by now.
    """

    said: Mapping[str, Sequence[Statement]]
    verdicts: Mapping[str, Sequence[Verdict]]
    facts: dict[str, Fact]
    behind: Mapping[str, Sequence[Statement]]
    held_elsewhere: frozenset[str]


def settle(
    conn: Connection,
    change: Change,
    strands: Iterable[str],
    *,
    at: datetime,
    new: Container[str] = frozenset(),
) -> list[Fact]:
    """Make the facts of strands what their statements and verdicts amount to.

    Args:
        conn: In a write transaction.
        change: Collects what becomes different.
        strands: Which ones.
        at: Present time, aware.
        new: Ids of the statements that this change stores.

    Returns:
        The facts that are new or different.
    """
    stored = _load(conn, change.made.household, strands, new)
    after: dict[str, Fact] = {}
    for said in stored.said.values():
        verdicts = {found.id: found for each in said for found in stored.verdicts.get(each.id, ())}
        lines = fold(said, relate=relate_statements, verdicts=[*verdicts.values()])
        owners = _owners(lines, stored.facts, stored.held_elsewhere)
        missing = [each for each in owners if each not in stored.facts]
        stored.facts.update(facts_by_id(conn, change.made.household, missing))
        after |= _derived(lines, owners, stored, at)
        supports = {
            each.id: owner
            for line, owner in zip(lines, owners, strict=True)
            for each in line.statements
        }
        after |= _merged(said, supports, stored, at)
        _move_statements(conn, change, said, supports)
    return _write(conn, change, stored, after)


def fact_id_of(statement: Statement) -> str:
    """Return the id of the fact that a statement begins."""
    return stable_id(statement.household, "fact", statement.id)


def _load(conn: Connection, household: str, strands: Iterable[str], new: Container[str]) -> _Stored:
    every = in_strands(conn, household, strands)
    said: defaultdict[str, list[Statement]] = defaultdict(list)
    behind: defaultdict[str, list[Statement]] = defaultdict(list)
    for each in every:
        said[each.strand].append(each)
        if each.fact_id and each.id not in new:
            behind[each.fact_id].append(each)
    ids = {each.fact_id for each in every if each.fact_id}
    verdicts: defaultdict[str, list[Verdict]] = defaultdict(list)
    for found in verdicts_on(conn, household, (each.id for each in every)):
        for key in filter(None, {found.older, found.newer}):
            verdicts[key].append(found)
    return _Stored(
        said=said,
        verdicts=verdicts,
        facts=facts_by_id(conn, household, ids),
        behind=behind,
        held_elsewhere=_held_elsewhere(conn, household, said, new),
    )


def _held_elsewhere(
    conn: Connection,
    household: str,
    said: Mapping[str, Sequence[Statement]],
    new: Container[str],
) -> frozenset[str]:
    """Return the facts that statements began and gave up, and that statements of another strand rest on."""
    given_up = {
        fact_id_of(each): each.strand
        for some in said.values()
        for each in some
        if each.id not in new and each.fact_id != fact_id_of(each)
    }
    return frozenset(
        str(each.fact_id)
        for each in for_facts(conn, household, given_up)
        if each.strand != given_up[str(each.fact_id)]
    )


def _owners(
    lines: Sequence[Line], facts: Mapping[str, Fact], held_elsewhere: frozenset[str]
) -> list[str]:
    """Return the id of each line's fact: the surest that its statements had, else a new one.

    A fact stays with the line of the statement that began it and is still behind it.
    """
    begun = {
        fact_id_of(each): place
        for place, line in enumerate(lines)
        for each in line.statements
        if each.fact_id == fact_id_of(each)
    }
    taken: set[str] = set()
    owners = []
    for place, line in enumerate(lines):
        had = [each.fact_id for each in line.statements if each.fact_id]
        free = [each for each in had if each not in taken and begun.get(each, place) == place]
        owner = max(
            free,
            key=lambda each: facts[each].confidence if each in facts else 0.0,
            default=None,
        )
        owners.append(owner or _unused(line, taken | begun.keys() | held_elsewhere))
        taken.add(owners[-1])
    return owners


def _unused(line: Line, taken: Container[str]) -> str:
    first = line.statements[0]
    again = (stable_id(first.household, "fact", first.id, number) for number in count(2))
    return next(each for each in chain([fact_id_of(first)], again) if each not in taken)


def _derived(
    lines: Sequence[Line], owners: Sequence[str], stored: _Stored, at: datetime
) -> dict[str, Fact]:
    successors = dict(zip(map(id, lines), owners, strict=True))
    found = {}
    for line, owner in zip(lines, owners, strict=True):
        old = stored.facts.get(owner)
        if old is None:
            fact = new_fact(line, owner, now=at)
        else:
            fact = updated_fact(old, line, _line_before(old, stored), now=at)
        successor = None if line.successor is None else successors[id(line.successor)]
        is_doubted = line.end is None and bool(line.doubts)
        doubted_by = successors[id(line.doubts[-1])] if is_doubted else None
        found[owner] = replace(fact, superseded_by=successor, doubted_by=doubted_by)
    return found


def _line_before(old: Fact, stored: _Stored) -> Line | None:
    said = stored.behind.get(old.id)
    if not said:
        return None
    line = Line(list(said))
    stated = set(line.episodes)
    line.supporters = [each for each in old.derived_from if each not in stated]
    line.rivals = [line] if old.is_contradicted else []
    return line


def _move_statements(
    conn: Connection, change: Change, said: Sequence[Statement], supports: Mapping[str, str]
) -> None:
    for each in said:
        if each.fact_id != supports.get(each.id):
            moved = replace(each, fact_id=supports.get(each.id))
            change.note(STATEMENTS, each.id, mutable_image(each), mutable_image(moved))
            set_statement(conn, moved)


def _merged(
    said: Sequence[Statement], supports: Mapping[str, str], stored: _Stored, at: datetime
) -> dict[str, Fact]:
    """Return the facts that are left without statements, merged into those that have them now."""
    kept = set(supports.values())
    found = {}
    for each in said:
        if each.fact_id is not None and each.fact_id not in kept and each.id in supports:
            # An imported one may be merged before it ever was a fact: its id leads on all the same.
            old = stored.facts.get(each.fact_id) or new_fact(Line([each]), each.fact_id, now=at)
            found[old.id] = replace(
                old,
                status=FactStatus.MERGED_INTO,
                merged_into_id=supports[each.id],
                superseded_by=None,
                archived_at=at,
            )
    return found


def _write(
    conn: Connection, change: Change, stored: _Stored, after: Mapping[str, Fact]
) -> list[Fact]:
    new = [fact for fact in after.values() if fact.id not in stored.facts]
    changed = [
        fact for fact in after.values() if fact.id in stored.facts and fact != stored.facts[fact.id]
    ]
    reworded = [each.id for each in changed if each.narrative != stored.facts[each.id].narrative]
    if reworded:
        forget_vectors(conn, change.made.household, FACT, reworded)
    for fact in new:
        change.note(FACTS, fact.id, None, {})
    for fact in changed:
        change.note(FACTS, fact.id, fact_row(stored.facts[fact.id]), fact_row(fact))
    return [*insert_facts(conn, new), *replace_facts(conn, changed)]
