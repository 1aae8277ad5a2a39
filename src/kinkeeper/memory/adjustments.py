"""What a model, the nightly pass or a person finds about facts: how they relate, how sure they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, select

from kinkeeper.memory.evidence import add_verdicts, for_facts, verdict_id, verdicts_on, words_of
from kinkeeper.memory.fact_sync import settle
from kinkeeper.memory.facts import FACTS, facts_by_id, replace_facts
from kinkeeper.memory.ingest import join_strands, strand_root
from kinkeeper.memory.journal import Change
from kinkeeper.memory.memory_rows import fact_row
from kinkeeper.memory.model import ACTIVE_STATUSES, Fact, FactStatus, Ruling, Statement, Verdict
from kinkeeper.memory.tables import facts

# What a model, the nightly pass or a person finds about pairs of facts: kept as verdicts.
#
# Facts are never written here. A finding is one more piece of evidence, so it survives whatever is
# heard later, and is taken back like any other change.

BY_UPKEEP, BY_MODEL = "upkeep", "model"
"""Who finds something where no person does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found about two facts.

    Attributes:
        older: Fact id; of an update, the one that holds no more.
        newer: Fact id of the other.
        ruling: SAME merges them; UPDATE lets the older one hold no more; CONTRADICTION flags both
            and halves their confidence, once; OTHER keeps both whatever their words suggest.
    """

    older: str
    newer: str
    ruling: Ruling


def decide(
    conn: Connection, change: Change, findings: Sequence[Finding], *, by: str, at: datetime
) -> list[Fact]:
    """Settle what was found about pairs of facts.

    Args:
        findings: Pairs; those of which a fact rests on nothing stored are passed over, and those that a person
            ruled on where no person finds them.
        by: Member id, `BY_MODEL` or `BY_UPKEEP`.

    Returns:
        The facts that are new or different.
    """
    household = change.made.household
    words = words_of(conn, household, {each for one in findings for each in (one.older, one.newer)})
    ruled = _ruled_by_people(conn, household, words) if by in {BY_MODEL, BY_UPKEEP} else frozenset()
    parents: dict[str, str] = {}
    verdicts: list[Verdict] = []
    for each in findings:
        older, newer = words.get(each.older), words.get(each.newer)
        if older is None or newer is None or older.scope != newer.scope:
            continue
        verdict = Verdict(
            household=household,
            id=verdict_id(household, older.id, newer.id),
            older=older.id,
            newer=newer.id,
            ruling=each.ruling,
            made_by=by,
            made_at=at,
        )
        if verdict.id in ruled:
            continue
        verdicts.append(verdict)
        low, high = sorted((strand_root(parents, older.strand), strand_root(parents, newer.strand)))
        parents |= {low: low, high: low}
    add_verdicts(conn, change, verdicts)
    strands = {each: strand_root(parents, each) for each in parents}
    join_strands(conn, change, strands)
    return settle(conn, change, set(strands.values()), at=at)


def _ruled_by_people(
    conn: Connection, household: str, words: Mapping[str, Statement]
) -> frozenset[str]:
    """Return the ids of what people ruled, also since a plan was made that knows nothing of it."""
    known = verdicts_on(conn, household, (each.id for each in words.values()))
    return frozenset(each.id for each in known if each.made_by not in {BY_MODEL, BY_UPKEEP})


def support(
    conn: Connection,
    change: Change,
    supporters: Sequence[tuple[str, str]],
    *,
    by: str,
    at: datetime,
) -> list[Fact]:
    """Let episodes support facts that they do not state.

    Args:
        supporters: Fact id and episode id each.
        by: "upkeep" or "model".

    Returns:
        The facts that are different.
    """
    household = change.made.household
    words = words_of(conn, household, {fact for fact, _ in supporters})
    strands, verdicts = set(), []
    for fact_id, episode_id in supporters:
        if (said := words.get(fact_id)) is not None:
            verdict = Verdict(
                household=household,
                id=verdict_id(household, said.id, episode_id),
                older=said.id,
                newer=episode_id,
                ruling=Ruling.SUPPORT,
                made_by=by,
                made_at=at,
            )
            verdicts.append(verdict)
            strands.add(said.strand)
    add_verdicts(conn, change, verdicts)
    return settle(conn, change, strands, at=at)


# What upkeep sets about facts besides what follows from their evidence: how sure, and whether still
# shown.

_columns = facts.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """What upkeep sets about one fact; None leaves it.

    Attributes:
        confidence: In [0, 1].
        decayed_until: Until when its silence is charged in that, aware.
        last_evidence_at: When it was supported last, aware.
        is_deprecated: True takes it out of retrieval, False brings it back.
    """

    fact_id: str
    confidence: float | None = None
    decayed_until: datetime | None = None
    last_evidence_at: datetime | None = None
    is_deprecated: bool | None = None


def adjust(
    conn: Connection, change: Change, adjustments: Sequence[Adjustment], *, at: datetime
) -> list[Fact]:
    """Set what upkeep found about facts.

    Args:
        adjustments: One a fact; those of unknown facts are passed over.

    Returns:
        The facts that are different.
    """
    known = facts_by_id(conn, change.made.household, (each.fact_id for each in adjustments))
    changed = []
    for each in adjustments:
        old = known.get(each.fact_id)
        if old is None:
            continue
        fact = _adjusted(old, each, at)
        if fact != old:
            change.note(FACTS, fact.id, fact_row(old), fact_row(fact))
            changed.append(fact)
    return replace_facts(conn, changed)


def settle_due(conn: Connection, change: Change, *, at: datetime, limit: int = 1000) -> list[Fact]:
    """Let what has come to its end by itself hold no more: what was announced, feelings, dated facts.

    Args:
        limit: Most facts at once, > 0.

    Returns:
        The facts that are different; none where nothing is due.
    """
    household = change.made.household
    query = (
        select(_columns.id)
        .where(
            _columns.household == household,
            _columns.status.in_(ACTIVE_STATUSES),
            _columns.valid_to <= at,
        )
        .order_by(_columns.valid_to, _columns.id)
        .limit(limit)
    )
    due = list(conn.execute(query).scalars())
    return settle(conn, change, {each.strand for each in for_facts(conn, household, due)}, at=at)


def _adjusted(old: Fact, adjustment: Adjustment, at: datetime) -> Fact:
    fact = replace(
        old,
        confidence=old.confidence if adjustment.confidence is None else adjustment.confidence,
        decayed_until=adjustment.decayed_until or old.decayed_until,
        last_evidence_at=adjustment.last_evidence_at or old.last_evidence_at,
    )
    if adjustment.is_deprecated and old.status.is_active:
        return replace(fact, status=FactStatus.DEPRECATED, archived_at=at)
    if adjustment.is_deprecated is False and old.status is FactStatus.DEPRECATED:
        return replace(fact, status=FactStatus.PENDING_EMBED, archived_at=None)
    return fact
