"""What must always be true of a memory, and mending it where it is not.

Facts follow from statements, so anything about facts is mended by working it out anew.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, delete, false, func, or_, select

from kinkeeper.memory.episodes import EPISODE
from kinkeeper.memory.evidence import for_facts
from kinkeeper.memory.fact_sync import settle
from kinkeeper.memory.facts import FACT
from kinkeeper.memory.journal import Cause, changing
from kinkeeper.memory.memory_rows import in_parts
from kinkeeper.memory.model import ACTIVE_STATUSES, Origin
from kinkeeper.memory.tables import episodes, facts, memory_vectors, statements

_AT_ONCE = 2000
_POINTERS = ("superseded_by", "merged_into_id")
_DAMAGED = "a vector's length differs from its model's"
_MAY_BE_FACTS = [origin.value for origin in Origin if origin.may_become_fact]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """Something that should never be.

    Attributes:
        what: Which rule is broken, as a plain sentence.
        ids: Of the facts, episodes or statements concerned.
        is_mendable: Whether working facts out anew may mend it.
    """

    what: str
    ids: Sequence[str]
    is_mendable: bool = True


def check(conn: Connection, household: str) -> list[Breach]:
    """Return the rules that are broken; none in a sound memory."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for part in _parts(conn, household):
        for what, fact_id in _broken(conn, household, part):
            found[what].append(fact_id)
    breaches = [Breach(what=what, ids=ids) for what, ids in sorted(found.items())]
    lost = _statements_without(conn, household)
    if lost:
        breaches.append(
            Breach(what="a statement refers to no episode", ids=lost, is_mendable=False)
        )
    stray = _stray_vectors(conn, household)
    if stray:
        breaches.append(
            Breach(
                what="a vector belongs to a row that no longer exists", ids=stray, is_mendable=False
            )
        )
    damaged = _damaged_vectors(conn, household)
    if damaged:
        breaches.append(Breach(what=_DAMAGED, ids=damaged))
    return breaches


def mend(
    conn: Connection, household: str, breaches: Sequence[Breach], *, at: datetime
) -> str | None:
    """Work the facts of breaches out anew, and let damaged vectors go, so that they are made anew.

    Args:
        breaches: As `check` found them.

    Returns:
        Id of the change-set.
    """
    damaged = {each for breach in breaches if breach.what == _DAMAGED for each in breach.ids}
    _drop_vectors(conn, household, damaged)
    ids = sorted({each for breach in breaches if breach.is_mendable for each in breach.ids})
    with changing(
        conn, household, cause=Cause.MEND, summary=f"{len(ids)} facts rebuilt", by="upkeep", at=at
    ) as change:
        settle(conn, change, {each.strand for each in for_facts(conn, household, ids)}, at=at)
    return change.made.id if ids else None


def _parts(conn: Connection, household: str) -> Iterator[Sequence[Mapping[str, object]]]:
    last = ""
    columns = facts.c
    while True:
        query = (
            select(
                columns.id,
                columns.scope,
                columns.status,
                columns.origin,
                columns.derived_from,
                columns.evidence_count,
                columns.superseded_by,
                columns.merged_into_id,
                columns.confidence,
            )
            .where(columns.household == household, columns.id > last)
            .order_by(columns.id)
            .limit(_AT_ONCE)
        )
        rows = [dict(row) for row in conn.execute(query).mappings()]
        if not rows:
            return
        yield rows
        last = rows[-1]["id"]


def _broken(
    conn: Connection, household: str, rows: Sequence[Mapping[str, object]]
) -> Iterator[tuple[str, str]]:
    """Yield each broken rule with the fact that breaks it."""
    ids = [str(row["id"]) for row in rows]
    stated: defaultdict[str, set[str]] = defaultdict(set)
    scopes: defaultdict[str, set[str]] = defaultdict(set)
    for each in for_facts(conn, household, ids):
        stated[str(each.fact_id)].add(each.episode_id)
        scopes[str(each.fact_id)].add(each.scope)
    wanted = {each for row in rows for each in _list(row["derived_from"])}
    stored = _known(conn, household, EPISODE, wanted)
    leads = {str(row[name]) for row in rows for name in _POINTERS if row[name]}
    facts_known = _known(conn, household, FACT, leads)
    for row in rows:
        fact_id, derived = str(row["id"]), set(_list(row["derived_from"]))
        holds = row["status"] in ACTIVE_STATUSES
        said = stated[fact_id]
        rules = (
            ("a current fact has no stored episode behind it", not holds or derived & stored),
            ("a current fact has no statement behind it", not holds or said),
            ("a current fact is merged into another", not holds or not row["merged_into_id"]),
            ("a fact does not list all episodes that state it", said <= derived),
            ("a fact has the wrong evidence count", row["evidence_count"] == len(derived)),
            (
                "a fact refers to a successor that does not exist",
                {str(row[n]) for n in _POINTERS if row[n]} <= facts_known,
            ),
            (
                "a fact comes from a source that may not become a fact",
                row["origin"] in _MAY_BE_FACTS,
            ),
            (
                "a fact and its sources are visible to different people",
                scopes[fact_id] <= {row["scope"]},
            ),
        )
        yield from ((what, fact_id) for what, is_kept in rules if not is_kept)


def _list(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _known(conn: Connection, household: str, kind: str, ids: set[str]) -> set[str]:
    table = {EPISODE: episodes, FACT: facts}[kind]
    found: set[str] = set()
    for part in in_parts(sorted(ids)):
        query = select(table.c.id).where(table.c.household == household, table.c.id.in_(part))
        found |= set(conn.execute(query).scalars())
    return found


def _statements_without(conn: Connection, household: str) -> list[str]:
    said = statements.c
    is_there = (
        select(episodes.c.id)
        .where(episodes.c.household == said.household, episodes.c.id == said.episode_id)
        .exists()
    )
    query = select(said.id).where(said.household == household, ~is_there).limit(_AT_ONCE)
    return list(conn.execute(query).scalars())


def _stray_vectors(conn: Connection, household: str) -> list[str]:
    vectors = memory_vectors.c
    of_fact = (
        select(facts.c.id)
        .where(facts.c.household == vectors.household, facts.c.id == vectors.id)
        .exists()
    )
    of_episode = (
        select(episodes.c.id)
        .where(episodes.c.household == vectors.household, episodes.c.id == vectors.id)
        .exists()
    )
    query = select(vectors.id).where(vectors.household == household, ~of_fact, ~of_episode)
    return list(conn.execute(query.limit(_AT_ONCE)).scalars())


def _damaged_vectors(conn: Connection, household: str) -> list[str]:
    """Return the rows whose vector is not as long as most of its model."""
    vectors = memory_vectors.c
    size = func.length(vectors.vector)
    of_household = vectors.household == household
    counted = conn.execute(
        select(vectors.model, size, func.count()).where(of_household).group_by(vectors.model, size)
    ).all()
    usual = {model: found for model, found, _ in sorted(counted, key=lambda row: row[2])}
    is_damaged = [
        and_(vectors.model == model, size != found) for model, found in sorted(usual.items())
    ]
    query = select(vectors.id).where(of_household, or_(false(), *is_damaged)).limit(_AT_ONCE)
    return sorted(set(conn.execute(query).scalars()))


def _drop_vectors(conn: Connection, household: str, ids: Iterable[str]) -> None:
    vectors = memory_vectors.c
    for part in in_parts(sorted(ids)):
        conn.execute(
            delete(memory_vectors).where(vectors.household == household, vectors.id.in_(part))
        )
