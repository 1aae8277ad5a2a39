"""Verdicts as rows: what was found about statements otherwise than by their words."""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, delete, insert, or_, select

from kinkeeper.core.ids import stable_id
from kinkeeper.memory.evidence import for_facts
from kinkeeper.memory.journal import Change
from kinkeeper.memory.memory_rows import in_parts
from kinkeeper.memory.model import Row, Statement
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


def add_verdicts(conn: Connection, change: Change, verdicts: Iterable[Verdict]) -> None:
    """Store verdicts in the place of those with their ids.

    Args:
        conn: In a write transaction.
        change: Collects what becomes different.
        verdicts: Any number, all of the change's household; of several with one id, the last counts.
    """
    household = change.made.household
    new = {each.id: each for each in verdicts}
    known = {
        each.id: each
        for each in verdicts_on(conn, household, (each.older for each in new.values()))
    }
    for each in new.values():
        before = known.get(each.id)
        change.note(VERDICTS, each.id, None if before is None else _image(before), _image(each))
    for part in in_parts([*new]):
        conn.execute(
            delete(memory_verdicts).where(_verdicts.household == household, _verdicts.id.in_(part))
        )
    if new:
        rows = [{"household": household, "id": each.id, **_image(each)} for each in new.values()]
        conn.execute(insert(memory_verdicts), rows)


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
