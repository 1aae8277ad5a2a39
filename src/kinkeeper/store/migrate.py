"""Brings a database's tables up to date: forward only, in one transaction, one process at a time."""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from kinkeeper.core.errors import StoreVersionError

SCHEMA_VERSION = "0016"
MIGRATIONS = Path(__file__).parent / "migrations"

# Any constant: all processes must ask the server for the same lock.
_SERVER_LOCK = 7_118_204_551


def migrate(connection: Connection) -> None:
    """Apply the migrations the database lacks; a database that is up to date costs one read.

    Args:
        connection: In a writing transaction, READ COMMITTED on a server. On SQLite it is itself the
            lock against a second process that starts at the same moment.

    Raises:
        StoreVersionError: The database was written by a newer program.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _SERVER_LOCK})
    found = current_version(connection)
    if found == SCHEMA_VERSION:
        return
    if found is not None and found > SCHEMA_VERSION:
        raise StoreVersionError(
            f"the database has schema {found}, but this program only supports {SCHEMA_VERSION}: "
            "install a newer version, or restore a backup made with this one"
        )
    _upgrade(connection)


def current_version(connection: Connection) -> str | None:
    """Return the revision the database was migrated to, or None of an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
    return None if row is None else str(row[0])


def _upgrade(connection: Connection) -> None:
    # Half a second of imports that a database which is up to date does not need.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(MIGRATIONS))
    command.upgrade(config, "head")
