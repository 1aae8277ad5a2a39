"""The map of what memory is about: who and what facts name, joined by the facts that name them.

Nothing but a view of the facts that hold: it is brought up to date by change number, and what is
taken back or forgotten leaves it with its facts.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import Connection, and_, delete, insert, select, update

from kinkeeper.household.viewers import Viewer
from kinkeeper.language.text import mask_stops
from kinkeeper.memory.facts import facts_changed
from kinkeeper.memory.memory_rows import in_parts
from kinkeeper.memory.model import Fact
from kinkeeper.memory.statements.canonical_words import canon_of
from kinkeeper.memory.statements.statement_reader import read_statement
from kinkeeper.memory.tables import concept_relations, facts, memory_counters
from kinkeeper.store.prepared import in_own_scope
from kinkeeper.store.store import Store

_relations = concept_relations.c
_counters = memory_counters.c
_WORD = re.compile(r"\w[\w'’-]*")
_CLAUSE_END = re.compile(r"[,.;:!?]")
_DISLIKE = "dislike"
_MOST_WORDS = 4
_MOST_BETWEEN = 2
_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """Somebody or something that facts name.

    Attributes:
        weight: Confidence of the facts that name it, added up.
    """

    name: str
    weight: float

    @property
    def id(self) -> str:
        """What relations call it."""
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What joins two concepts.

    Attributes:
        source: Name of whom it is about.
        target: Name of what is said of them.
        type: Which attribute of them.
        weight: Confidence of the facts that say so, added up.
        facts: Their ids.
    """

    source: str
    target: str
    type: str
    weight: float
    facts: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptMap:
    """Concepts and relations, the heaviest first."""

    concepts: Sequence[Concept]
    relations: Sequence[Relation]


def is_behind(conn: Connection, household: str) -> bool:
    """Return whether facts have changed that the map does not show yet."""
    query = select(_counters.seq > _counters.mapped_seq).where(_counters.household == household)
    return bool(conn.execute(query).scalar_one_or_none())


def follow_facts(conn: Connection, household: str) -> bool:
    """Bring the map up to date with the next facts that have changed: some at a time, because all who write wait.

    Returns:
        Whether more may follow.
    """
    query = select(_counters.mapped_seq).where(_counters.household == household)
    seq = conn.execute(query).scalar_one_or_none() or 0
    changed = facts_changed(conn, household, after_seq=seq, limit=_AT_ONCE)
    if not changed:
        return False
    drop_facts(conn, household, {each.id for each in changed})
    rows = [_row(each.value) for each in changed if _is_shown(each.value)]
    named = [row for row in rows if row is not None]
    if named:
        conn.execute(insert(concept_relations), named)
    conn.execute(
        update(memory_counters)
        .where(_counters.household == household)
        .values(mapped_seq=changed[-1].seq)
    )
    return len(changed) == _AT_ONCE


async def follow_all_facts(store: Store, household: str) -> None:
    """Bring the map up to date with all facts that have changed.

    Raises:
        UnavailableError: It cannot be written.
    """
    while await store.write(partial(follow_facts, household=household)):
        pass


def drop_facts(conn: Connection, household: str, fact_ids: Iterable[str]) -> None:
    """Take facts off the map."""
    for part in in_parts(sorted(set(fact_ids))):
        conn.execute(
            delete(concept_relations).where(
                _relations.household == household, _relations.fact_id.in_(part)
            )
        )


def concept_map(conn: Connection, viewer: Viewer, *, now: datetime, limit: int = 200) -> ConceptMap:
    """Return the map as a viewer may see it.

    Args:
        now: Aware; what has not begun by then, or has ended, is not on it.
        limit: Most relations, > 0; the heaviest stay.
    """
    is_of = and_(facts.c.household == _relations.household, facts.c.id == _relations.fact_id)
    query = (
        select(concept_relations)
        .join(facts, is_of)
        .where(
            _relations.household == viewer.household,
            in_own_scope(_relations.scope),
            facts.c.held_from <= now,
            facts.c.due_at > now,
        )
        .params(viewer.parameters)
    )
    edges: defaultdict[tuple[str, str, str], list[tuple[str, float]]] = defaultdict(list)
    for row in conn.execute(query.order_by(_relations.fact_id)):
        edges[row.source, row.target, row.type].append((row.fact_id, row.weight))
    relations = sorted(
        (
            Relation(
                source=source,
                target=target,
                type=kind,
                weight=sum(weight for _, weight in said),
                facts=[fact for fact, _ in said],
            )
            for (source, target, kind), said in edges.items()
        ),
        key=lambda each: (-each.weight, each.source, each.target, each.type),
    )[:limit]
    return ConceptMap(concepts=_concepts(relations), relations=relations)


def _concepts(relations: Sequence[Relation]) -> list[Concept]:
    weights: defaultdict[str, float] = defaultdict(float)
    for each in relations:
        for name in {each.source, each.target}:
            weights[name] += each.weight
    found = [Concept(name=name, weight=weight) for name, weight in weights.items()]
    return sorted(found, key=lambda each: (-each.weight, each.name))


def _is_shown(fact: Fact | None) -> bool:
    return fact is not None and fact.status.is_active


def _row(fact: Fact | None) -> dict[str, object] | None:
    """Return the row of a fact, or None where it names nothing besides whom it is about."""
    if fact is None:
        return None
    target = _named(fact)
    if not target:
        return None
    return {
        "household": fact.household,
        "fact_id": fact.id,
        "scope": fact.scope,
        "source": fact.subject,
        "target": target,
        "type": fact.slot or fact.category.value,
        "weight": fact.confidence,
        "said_at": fact.said_at,
    }


def _named(fact: Fact) -> str:
    """Return what a fact says of its subject, in its own words; empty of what it says is not so, or no more."""
    readings = read_statement(fact.narrative)
    if not readings or readings[0].is_negative or readings[0].is_retraction:
        return ""
    value = told_as(readings[0].value, fact.narrative)
    if value and readings[0].side == _DISLIKE:
        return f"not {value}"
    is_bare = bool(value) and not any(letter.isalpha() for letter in value)
    return f"{readings[0].slot} {value}" if is_bare and readings[0].is_known else value


def told_as(canonical: Iterable[str], narrative: str) -> str:
    """Return canonical words as a sentence tells them, as one phrase of it; empty where it has none of them.

    A phrase ends with its clause, and where more than a few light words come between.

    Args:
        canonical: Words as `canon_of` gives them.
    """
    wanted, words = set(canonical), list(_WORD.finditer(narrative))
    masked = mask_stops(narrative)
    places = [place for place, word in enumerate(words) if canon_of(_bare(word[0])) in wanted]
    if not places:
        return ""
    last = first = places[0]
    for place in places[1:_MOST_WORDS]:
        between = masked[words[last].end() : words[place].start()]
        if place - last - 1 > _MOST_BETWEEN or _CLAUSE_END.search(between):
            break
        last = place
    phrase = narrative[words[first].start() : words[last].end()]
    return phrase.removesuffix("'s").removesuffix("’s")


def _bare(word: str) -> str:
    return word.casefold().removesuffix("'s").removesuffix("’s")
