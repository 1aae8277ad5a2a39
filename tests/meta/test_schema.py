"""The declared tables and a freshly migrated database are the same, and revisions are in order."""

from collections.abc import Iterator
from pathlib import Path
from pprint import pformat

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from bench.draft_migration import import_tables
from kinkeeper.store.migrate import MIGRATIONS, SCHEMA_VERSION
from kinkeeper.store.schema import metadata
from kinkeeper.store.store import Store

pytestmark = pytest.mark.usefixtures("really_migrating")


def revisions() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return ScriptDirectory.from_config(config)


def difference(conn: Connection) -> list[object]:
    context = MigrationContext.configure(conn, opts={"compare_type": True})
    return list(compare_metadata(context, metadata))


@pytest.fixture
def migrated(tmp_path: Path) -> Iterator[Store]:
    import_tables()
    with Store.open(str(tmp_path / "fresh.db")) as store:
        yield store


def test_a_freshly_migrated_database_is_what_the_packages_declare(migrated: Store) -> None:
    found = migrated.read_now(difference)
    assert not found, f"draft a revision with bench/draft_migration.py for:\n{pformat(found)}"


def test_every_table_but_those_of_the_database_itself_belongs_to_a_household() -> None:
    import_tables()
    without = [table.name for table in metadata.tables.values() if "household" not in table.c]
    assert sorted(without) == ["backup_trials", "runners"], (
        "which processes work, and which backups are good"
    )


def test_revisions_are_one_line_of_numbers_that_ends_at_the_schema_version() -> None:
    line = [script.revision for script in revisions().walk_revisions()][::-1]
    assert line == [f"{number:04d}" for number in range(1, len(line) + 1)]
    assert line[-1] == SCHEMA_VERSION
    files = sorted(path.name for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
    assert [name[:4] for name in files] == line
