"""A database in which every fact faded is migrated: lasting facts hold again at once, or after the next night."""

from datetime import timedelta
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Table, create_engine, insert

from kinkeeper.memory.confidence import recurring_id
from kinkeeper.memory.memory_rows import fact_row, statement_row
from kinkeeper.memory.model import Category, FactStatus, Statement
from kinkeeper.memory.tables import facts, memory_counters, statements
from kinkeeper.memory.upkeep.runs import ChangeKind
from kinkeeper.store.migrate import MIGRATIONS
from kinkeeper.store.store import Store
from memory_nights import HOUSE, Memory, day
from memory_samples import fact, statement

pytestmark = pytest.mark.usefixtures("really_migrating")

TOLD = {
    "We live at 14 Alder Lane": (Category.IDENTITY, FactStatus.ACTIVE, True),
    "Mia is allergic to kiwi": (Category.CONSTRAINT, FactStatus.DEPRECATED, True),
    "I had a miscarriage two years ago": (Category.PROJECT_ACTIVE, FactStatus.DEPRECATED, True),
    "I am working on the shed": (Category.PROJECT_ACTIVE, FactStatus.ACTIVE, False),
    "I am drafting the speech": (Category.PROJECT_ACTIVE, FactStatus.DEPRECATED, False),
    "Long walks on Sundays help": (Category.PREFERENCE, FactStatus.ACTIVE, False),
}
"""By words: the category and status of the fact, and whether it holds after years."""


def test_facts_that_do_not_fade_hold_after_the_migration(tmp_path: Path) -> None:
    path = tmp_path / "family.db"
    write_old(path)
    with Store.open(str(path)) as store:
        memory = Memory(store)
        run = memory.night(day(200), is_agreed=True)
        kinds = {each.kind for each in run.report.differences}
        assert kinds >= {ChangeKind.RESTORED, ChangeKind.FADED}
        assert {text: found.is_current(day(800)) for text, found in memory.facts().items()} == {
            text: holds for text, (_, _, holds) in TOLD.items()
        }


def write_old(path: Path) -> None:
    """Write a database as it was before some facts stopped fading, 100 days of silence after the start."""
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as conn:
        config = Config(attributes={"connection": conn})
        config.set_main_option("script_location", str(MIGRATIONS))
        command.upgrade(config, "0001")
        conn.execute(
            insert(memory_counters).values(household=HOUSE, seq=9, secret="00" * 32, mapped_seq=0)
        )
        for text, (category, status, _) in TOLD.items():
            said = said_as(text, category)
            conn.execute(insert(statements).values(statement_row(said)))
            conn.execute(insert(without_new_column()).values(old_row(said, status)))
    engine.dispose()


def said_as(text: str, category: Category) -> Statement:
    said = statement(
        text,
        household=HOUSE,
        category=category,
        said_at=day(0),
        speaker="john",
        subject="john",
        fact_id=text,
    )
    if category is not Category.PREFERENCE:
        return said
    again = recurring_id(HOUSE, said.episode_id)
    return statement(
        text,
        household=HOUSE,
        category=category,
        said_at=day(0),
        speaker="john",
        subject="john",
        fact_id=text,
        id=again,
        strand=again,
        episode_id=said.episode_id,
        confidence=0.5,
    )


def old_row(said: Statement, status: FactStatus) -> dict[str, object]:
    row = fact_row(
        fact(
            said.text,
            household=HOUSE,
            category=said.category,
            status=status,
            narrative=said.text,
            derived_from=(said.episode_id,),
            held_from=day(0),
            said_at=day(0),
            created_at=day(0),
            last_evidence_at=day(0),
            decayed_until=day(0),
            confidence=said.confidence,
        )
    )
    del row["is_transient"]
    return row | {"due_at": day(0) + timedelta(days=98)}


def without_new_column() -> Table:
    """Return the table of facts as the first migration made it."""
    old = facts.to_metadata(type(facts.metadata)())
    old._columns.remove(old.c.is_transient)
    return old
