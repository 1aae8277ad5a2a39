"""What facts follow from, as rows: statements, and verdicts on them.

Only the scope, strand and fact of a statement ever change.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, delete, insert, or_, select, update

from kinkeeper.core.ids import stable_id
from kinkeeper.memory.journal import Change
from kinkeeper.memory.memory_rows import in_parts, statement_from_row, statement_row
from kinkeeper.memory.model import Row, Ruling, Statement, Verdict
from kinkeeper.memory.tables import memory_verdicts, statement_keys, statements
from kinkeeper.memory.timeline import Line, canonical

STATEMENTS = statements.name

_columns = statements.c
_keys = statement_keys.c


def insert_statements(
    conn: Connection, new: Sequence[Statement], keys: Mapping[str, Iterable[str]]
) -> None:
    """Store statements.

    Args:
        new: None of them known.
        keys: By statement id, the digests it may be found by.
    """
    if not new:
        return
    conn.execute(insert(statements), [statement_row(each) for each in new])
    rows = [
        {"household": each.household, "key": key, "statement_id": each.id}
        for each in new
        for key in sorted(keys[each.id])
    ]
    if rows:
        conn.execute(insert(statement_keys), rows)


def delete_statements(conn: Connection, household: str, ids: Iterable[str]) -> None:
    """Remove statements and what they are found by: for undoing and erasing only."""
    for part in in_parts(sorted(set(ids))):
        conn.execute(
            delete(statement_keys).where(_keys.household == household, _keys.statement_id.in_(part))
        )
        conn.execute(
            delete(statements).where(_columns.household == household, _columns.id.in_(part))
        )


def set_statement(conn: Connection, statement: Statement) -> None:
    """Write what may change about a statement: its scope, strand and fact."""
    conn.execute(
        update(statements)
        .where(_columns.household == statement.household, _columns.id == statement.id)
        .values(scope=statement.scope, strand=statement.strand, fact_id=statement.fact_id)
    )


def mutable_image(statement: Statement) -> dict[str, str | None]:
    """Return the columns of a statement that may change."""
    return {"scope": statement.scope, "strand": statement.strand, "fact_id": statement.fact_id}


def statements_by_id(conn: Connection, household: str, ids: Iterable[str]) -> dict[str, Statement]:
    """Return statements by id; unknown ones are left out."""
    return {
        each.id: each
        for part in in_parts(sorted(set(ids)))
        for each in _statements(conn, household, _columns.id.in_(part))
    }


def in_strands(conn: Connection, household: str, strands: Iterable[str]) -> list[Statement]:
    """Return all statements of strands."""
    return [
        each
        for part in in_parts(sorted(set(strands)))
        for each in _statements(conn, household, _columns.strand.in_(part))
    ]


def for_facts(conn: Connection, household: str, fact_ids: Iterable[str]) -> list[Statement]:
    """Return the statements that facts rest on, of all scopes."""
    return [
        each
        for part in in_parts(sorted(set(fact_ids)))
        for each in _statements(conn, household, _columns.fact_id.in_(part))
    ]


def out_of(conn: Connection, household: str, episode_ids: Iterable[str]) -> list[Statement]:
    """Return the statements that were read out of episodes, of all scopes."""
    return [
        each
        for part in in_parts(sorted(set(episode_ids)))
        for each in _statements(conn, household, _columns.episode_id.in_(part))
    ]


def sharing_keys(
    conn: Connection, household: str, keys: Collection[str]
) -> list[tuple[str, Statement]]:
    """Return stored statements that can be found by any of the keys, with the key."""
    pairs: list[tuple[str, str]] = []
    for part in in_parts(sorted(keys)):
        query = select(_keys.key, _keys.statement_id).where(
            _keys.household == household, _keys.key.in_(part)
        )
        pairs += [(row.key, row.statement_id) for row in conn.execute(query)]
    found = statements_by_id(conn, household, (statement for _, statement in pairs))
    return [(key, found[statement]) for key, statement in pairs if statement in found]


def _statements(
    conn: Connection, household: str, condition: ColumnElement[bool]
) -> list[Statement]:
    query = select(statements).where(_columns.household == household, condition)
    return [statement_from_row(row) for row in conn.execute(query).mappings()]


# Verdicts as rows: what was found about statements otherwise than by their words.

VERDICTS = memory_verdicts.name

_verdicts = memory_verdicts.c


def verdict_id(household: str, one: str, other: str) -> str:
    """Return the id of the verdict about two things, in either order.

    Args:
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
        "older": verdict.older,
        "newer": verdict.newer,
        "ruling": verdict.ruling.value,
        "made_by": verdict.made_by,
        "made_at": verdict.made_at,
    }
