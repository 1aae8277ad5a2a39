"""Verdicts as rows: what was found about statements otherwise than by their words."""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, delete, insert, or_, select

from kinkeeper.core.ids import stable_id
from kinkeeper.memory.evidence import for_facts
from kinkeeper.memory.journal import Change
from kinkeeper.memory.model import Row, Statement
from kinkeeper.memory.rows import in_parts
from kinkeeper.memory.rulings import Ruling, Verdict
from kinkeeper.memory.tables import memory_verdicts
from kinkeeper.memory.timeline import Line, canonical

VERDICTS = memory_verdicts.name

_verdicts = memory_verdicts.c


def verdict_id(household: str, one: str, other: str) -> str:
    """Return the id of the verdict about two things, in either order.

    Args:
        household: Tenant key.
        one: Statement id.
        other: Statement or episode id, or the ruling where it is about one statement.
    """
    return stable_id(household, "verdict", *sorted((one, other)))


def words_of(conn: Connection, household: str, fact_ids: Collection[str]) -> dict[str, Statement]:
    """Return for each fact the statement that tells it best; facts without any are left out."""
    said: dict[str, list[Statement]] = {}
    for each in sorted(for_facts(conn, household, fact_ids), key=canonical):
        said.setdefault(str(each.fact_id), []).append(each)
    return {fact: Line(each).words for fact, each in said.items()}


def add_verdict(conn: Connection, change: Change, verdict: Verdict) -> None:
    """Store a verdict in the place of one with its id.

    Args:
        conn: In a write transaction.
        change: Collects what becomes different.
        verdict: The verdict.
    """
    known = {each.id: each for each in verdicts_on(conn, verdict.household, [verdict.older])}
    before = known.get(verdict.id)
    change.note(VERDICTS, verdict.id, None if before is None else _image(before), _image(verdict))
    conn.execute(
        delete(memory_verdicts).where(
            _verdicts.household == verdict.household, _verdicts.id == verdict.id
        )
    )
    key = {"household": verdict.household, "id": verdict.id}
    conn.execute(insert(memory_verdicts), {**key, **_image(verdict)})


def verdicts_on(conn: Connection, household: str, statement_ids: Iterable[str]) -> list[Verdict]:
    """Return the verdicts about statements."""
    found: dict[str, Verdict] = {}
    for part in in_parts(sorted(set(statement_ids))):
        query = select(memory_verdicts).where(
            _verdicts.household == household,
            or_(_verdicts.older.in_(part), _verdicts.newer.in_(part)),
        )
        for row in conn.execute(query).mappings():
            found[row["id"]] = Verdict(**{**row, "ruling": Ruling(row["ruling"])})
    return list(found.values())


def _image(verdict: Verdict) -> Row:
    return {
        "older": verdict.older, "newer": verdict.newer, "ruling": verdict.ruling.value,
        "made_by": verdict.made_by, "made_at": verdict.made_at,
    }  # fmt: skip
