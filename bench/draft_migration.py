"""Drafts the next revision of the schema from what the packages declare. Read it before committing it.

    .venv/bin/python bench/draft_migration.py "pending actions get a version"

Afterwards set `SCHEMA_VERSION` in kinkeeper/store/migrate.py to the new number; the schema tests say
whether the revision and the declarations agree. To draft the first one again, before any release,
delete it and run this.
"""

import importlib.util
import pkgutil
import sys
import tempfile
from pathlib import Path

from alembic import command
from alembic.config import Config

import kinkeeper
from kinkeeper.store.engines import parse_address, writer_engine
from kinkeeper.store.migrate import MIGRATIONS


def import_tables() -> None:
    """Import every module that declares tables, so that the shared metadata knows all of them."""
    for module in pkgutil.walk_packages(kinkeeper.__path__, "kinkeeper."):
        found = importlib.util.find_spec(module.name)
        if found and found.origin and " = Table(" in Path(found.origin).read_text(encoding="utf-8"):
            importlib.import_module(module.name)


def main() -> None:
    """Write versions/<number>_<message>.py."""
    import_tables()
    number = len(list((MIGRATIONS / "versions").glob("[0-9]*.py"))) + 1
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("file_template", "%%(rev)s_%%(slug)s")
    with tempfile.TemporaryDirectory() as folder:
        engine = writer_engine(parse_address(f"{folder}/draft.db"))
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            command.revision(config, message=sys.argv[1], autogenerate=True, rev_id=f"{number:04d}")
        engine.dispose()
    print("drafted; now: ruff format", Path(MIGRATIONS, "versions"))


if __name__ == "__main__":
    main()
