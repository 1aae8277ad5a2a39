"""Brings facts in step with what was said and found about them: what each is, and what that makes different.

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
from kinkeeper.memory.confidence import GONE, MOST, SUPPORT, confidence_now, is_transient
from kinkeeper.memory.evidence import (
    STATEMENTS,
    for_facts,
    in_strands,
    mutable_image,
    set_statement,
    verdicts_on,
)
from kinkeeper.memory.facts import (
    FACT,
    FACTS,
    facts_by_id,
    forget_vectors,
    insert_facts,
    replace_facts,
)
from kinkeeper.memory.journal import Change
from kinkeeper.memory.memory_rows import fact_row
from kinkeeper.memory.model import Fact, FactStatus, Origin, Statement, Verdict
from kinkeeper.memory.statement_match import relate_statements
from kinkeeper.memory.timeline import End, Line, fold

# What a fact is, given the line of statements it stands for. Pure.

_WEAKEST_FIRST = (Origin.OBSERVED, Origin.IMPORTED, Origin.SAID)
_STATUS = {
    End.OUTDATED: FactStatus.SUPERSEDED,
    End.RETRACTED: FactStatus.RETRACTED,
    End.NEVER: FactStatus.RETRACTED,
    End.EXPIRED: FactStatus.DEPRECATED,
}
_DIGITS = 9


def believed(line: Line) -> float:
    """Return how far what a line says is believed by its evidence alone, in [0, 1].

    Every further episode takes a share of the doubt away; a statement that cannot hold beside it,
    undecided, halves it.

    Args:
        line: Its statements and their own confidences.
    """
    return _supported(line) * 0.5 ** len(line.rivals)


def new_fact(line: Line, fact_id: str, *, now: datetime) -> Fact:
    """Return the fact of a line that had none.

    Args:
        now: When it is stored, aware; its silence counts from here.
    """
    words = line.words
    status = status_of(line, now, held=FactStatus.PENDING_EMBED)
    starts = [each.valid_from for each in line.statements if each.valid_from]
    return Fact(
        household=words.household,
        id=fact_id,
        scope=words.scope,
        category=words.category,
        type=words.type,
        subject=words.subject,
        slot=words.slot,
        title=words.title,
        narrative=words.narrative,
        speaker=words.speaker,
        origin=min((each.origin for each in line.statements), key=_WEAKEST_FIRST.index),
        source=line.statements[0].episode_id,
        confidence=round(believed(line), _DIGITS),
        evidence_count=len(line.episodes),
        derived_from=line.episodes,
        status=status,
        is_contradicted=bool(line.rivals),
        is_edited=words.is_correction,
        is_transient=is_transient(words),
        held_from=line.held_from,
        valid_from=min(starts, default=None),
        valid_to=line.ended_at,
        said_at=words.said_at,
        created_at=now,
        last_evidence_at=max(each.said_at for each in line.statements),
        decayed_until=now,
        archived_at=None if status.is_active else line.ended_at,
    )


def updated_fact(old: Fact, line: Line, before: Line | None, *, now: datetime) -> Fact:
    """Return a fact as it is after its line became another.

    What silence took from the confidence of a transient fact stays taken, unless its line has new statements.

    Args:
        line: What it stands for now.
        before: What it stood for, as far as that is still stored; None where nothing is known.
    """
    fact = new_fact(line, old.id, now=now)
    confidence, since = _carried(old, line, before, now=now)
    fact = replace(fact, confidence=confidence, decayed_until=since)
    status = fact.status
    if status.is_active and old.status is FactStatus.ACTIVE and fact.narrative == old.narrative:
        status = FactStatus.ACTIVE
    is_gone = fact.is_transient and confidence_now(fact, now) < GONE
    is_faded = old.status is FactStatus.DEPRECATED and status.is_active and is_gone
    return replace(
        fact,
        status=FactStatus.DEPRECATED if is_faded else status,
        details=old.details,
        created_at=old.created_at,
        seq=old.seq,
        last_evidence_at=_supported_at(fact, old, before),
        archived_at=old.archived_at if is_faded else fact.archived_at,
    )


def status_of(line: Line, now: datetime, *, held: FactStatus) -> FactStatus:
    """Return the status of a line's fact.

    Args:
        now: Aware; what ends later holds until then.
        held: Status of one that holds.
    """
    if line.end is None or line.ended_at is None:
        return held
    # What is over before it begins does not wait for its day to be over.
    return _STATUS[line.end] if line.ended_at <= max(now, line.held_from) else held


def _carried(
    old: Fact, line: Line, before: Line | None, *, now: datetime
) -> tuple[float, datetime]:
    """Return a confidence with what is new about its line, and up to when its silence is charged."""
    if before is None:
        return round(believed(line), _DIGITS), now
    is_same = line.episodes == before.episodes and len(line.rivals) == len(before.rivals)
    if is_same:
        return old.confidence, old.decayed_until
    is_untouched = old.decayed_until == now and old.confidence == round(believed(before), _DIGITS)
    if is_untouched or old.confidence == 0:
        return round(believed(line), _DIGITS), now
    was = min(1.0, confidence_now(old, now) / 0.5 ** len(before.rivals))
    kept = 1 - (1 - was) * (1 - _supported(line)) / max(1 - _supported(before), 1e-9)
    fresh = _said_since(line, before)
    # Heard again after a long silence is worth no less than heard first.
    support = max(kept, max((each.confidence for each in fresh), default=0.0))
    bounded = min(max(support, 0.0), max(MOST, was))
    return round(bounded * 0.5 ** len(line.rivals), _DIGITS), max(now, old.decayed_until)


def _supported_at(fact: Fact, old: Fact, before: Line | None) -> datetime:
    """Return when a fact was supported last, also by what does not state it; what went to another line supports that."""
    stated = max((each.said_at for each in before.statements), default=None) if before else None
    is_stated_only = old.last_evidence_at == stated
    return (
        fact.last_evidence_at
        if is_stated_only
        else max(fact.last_evidence_at, old.last_evidence_at)
    )


def _said_since(line: Line, before: Line) -> list[Statement]:
    known = {each.id for each in before.statements}
    return [each for each in line.statements if each.id not in known]


def _supported(line: Line) -> float:
    alone = max(each.confidence for each in line.statements)
    doubt = (1 - alone) * (1 - SUPPORT) ** (len(line.episodes) - 1)
    return max(alone, min(MOST, 1 - doubt))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """What is stored about strands.

    Attributes:
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
    conn: Connection, household: str, said: Mapping[str, Sequence[Statement]], new: Container[str]
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
            free, key=lambda each: facts[each].confidence if each in facts else 0.0, default=None
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
