"""Lets PostgreSQL refuse every row of a household that is written without the household's lock."""

from sqlalchemy import Connection, text

from kinkeeper.store.schema import metadata

# A bot's progress belongs to no household; the bot has a lock of its own.
_OTHER_LOCKS = {"telegram_progress"}

_CHECK = """
CREATE FUNCTION require_lock() RETURNS trigger AS $$
DECLARE
    owner text := CASE WHEN TG_OP = 'DELETE' THEN OLD.household ELSE NEW.household END;
    key bigint := hashtextextended(owner, 0);
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted AND objsubid = 1
            AND classid::bigint = (key >> 32) & 4294967295 AND objid::bigint = key & 4294967295
    ) THEN
        RAISE EXCEPTION 'a row of % in % is written without its lock', owner, TG_TABLE_NAME;
    END IF;
    RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END
$$ LANGUAGE plpgsql
"""
_TRIGGER = """
CREATE TRIGGER require_lock BEFORE INSERT OR UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION require_lock()
"""


def require_locks(conn: Connection) -> int:
    """Add the check to all tables that a household has rows in; returns how many those are."""
    conn.execute(text(_CHECK))
    tables = [
        table.name
        for table in metadata.tables.values()
        if "household" in table.c and table.name not in _OTHER_LOCKS
    ]
    for table in tables:
        conn.execute(text(_TRIGGER.format(table=table)))
    return len(tables)
