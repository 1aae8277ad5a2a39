"""A prepared statement does on either database what SQLAlchemy does with the same statement."""

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Never

import pytest
from sqlalchemy import (
    JSON,
    Column,
    Connection,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    bindparam,
    insert,
    select,
)

from kinkeeper.store.prepared import Prepared, is_one_of
from kinkeeper.store.schema import Instant
from kinkeeper.store.store import Store

metadata = MetaData()
scraps = Table(
    "scraps",
    metadata,
    Column("name", String(20), primary_key=True),
    Column("said_at", Instant),
    Column("words", JSON, nullable=False),
    Column("score", Float),
    Column("tries", Integer, nullable=False, default=3),
)
AT = datetime(2026, 3, 3, 9, 30, 0, 5, tzinfo=timezone(timedelta(hours=-6)))
INSERT = Prepared(insert(scraps), ("name", "said_at", "words", "score"))
ROW = {"name": "a", "said_at": AT, "words": {"50 %": ["é", "it's", None]}, "score": 0.5}


@pytest.fixture
def noting(store: Store) -> Store:
    store.write_now(metadata.create_all)
    return store


def test_a_row_comes_back_as_it_was_given_with_its_defaults(noting: Store) -> None:
    noting.write_now(lambda conn: INSERT.execute(conn, ROW))
    row = noting.read_now(lambda conn: conn.execute(select(scraps)).one())
    assert row._asdict() == {**ROW, "tries": 3}


def test_nothing_is_stored_as_nothing(noting: Store) -> None:
    nothing = {"name": "a", "said_at": None, "words": [], "score": None}
    noting.write_now(lambda conn: INSERT.execute(conn, nothing))
    row = noting.read_now(lambda conn: conn.execute(select(scraps)).one())
    assert row._asdict() == {**nothing, "tries": 3}


def test_a_parameter_may_stand_twice_and_constants_stay(noting: Store) -> None:
    query = Prepared(
        select(scraps.c.name, scraps.c.tries)
        .where(
            scraps.c.said_at >= bindparam("at"),
            scraps.c.said_at <= bindparam("at"),
            scraps.c.tries == 3,
            scraps.c.name.like("%"),
        )
        .limit(bindparam("most"))
    )
    noting.write_now(lambda conn: INSERT.execute(conn, ROW))
    for at, wanted in ((AT, [("a", 3)]), (AT + timedelta(microseconds=1), [])):
        values = {"at": at, "most": 5}
        assert noting.read_now(lambda conn, v=values: query.execute(conn, v)) == wanted  # type: ignore[misc]


def test_it_is_undone_with_its_transaction(noting: Store) -> None:
    def fail(conn: Connection) -> Never:
        INSERT.execute(conn, ROW)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        noting.write_now(fail)
    assert noting.read_now(lambda conn: conn.execute(select(scraps)).all()) == []


def test_what_is_read_has_the_types_of_its_columns(noting: Store) -> None:
    query = Prepared(select(scraps.c.said_at, scraps.c.words, scraps.c.tries, scraps.c.name))
    noting.write_now(lambda conn: INSERT.execute(conn, ROW))
    wanted = [[ROW["said_at"], ROW["words"], 3, ROW["name"]]]
    assert noting.read_now(lambda conn: query.execute(conn, {})) == wanted


def test_rows_can_be_had_by_the_names_of_their_columns(noting: Store) -> None:
    query = Prepared(select(scraps).where(scraps.c.name == bindparam("name")))
    noting.write_now(lambda conn: INSERT.execute(conn, ROW))
    for name, wanted in (("a", [{**ROW, "tries": 3}]), ("b", [])):
        assert noting.read_now(lambda conn, n=name: query.mappings(conn, {"name": n})) == wanted  # type: ignore[misc]


@pytest.mark.parametrize("names", [[], ["b"], ["a", "it's", "c"], [str(n) for n in range(5_000)]])
def test_a_list_is_one_parameter(noting: Store, names: list[str]) -> None:
    query = Prepared(select(scraps.c.name).where(is_one_of(scraps.c.name, "names")))
    stored = ["a", "b", "it's", "7"]
    for name in stored:
        noting.write_now(lambda conn, n=name: INSERT.execute(conn, {**ROW, "name": n}))  # type: ignore[misc]
    found = noting.read_now(lambda conn: query.execute(conn, {"names": names}))
    assert {name for (name,) in found} == set(stored) & set(names)


def test_a_list_is_looked_up_by_the_index(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "plan.db")) as store:
        store.write_now(metadata.create_all)
        query = select(scraps.c.tries).where(is_one_of(scraps.c.name, "names"))
        plan = store.read_now(
            lambda conn: conn.exec_driver_sql(
                f"EXPLAIN QUERY PLAN {query.compile(dialect=conn.dialect)}", ("[]",)
            ).all()
        )
    assert f"SEARCH {scraps.name} USING INDEX" in str(plan)
