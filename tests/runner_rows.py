"""Runners of a database server that are only rows."""

from sqlalchemy import Connection, text

_ENTER = """
INSERT INTO runners (id, role, version, started_at, beat_at) VALUES (:id, 'serve', '0', {at}, {at})
ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at
"""
_SERVER = """to_char(
    (clock_timestamp() - make_interval(secs => {seconds})) AT TIME ZONE 'UTC',
    'YYYY-MM-DD"T"HH24\\:MI\\:SS.US"Z"'
)"""
_FILE = "strftime('%Y-%m-%dT%H\\:%M\\:%f000Z', 'now', '-{seconds} seconds')"


def enter(conn: Connection, runner: str, *, beat_seconds_ago: float) -> None:
    """Let a runner's last heartbeat be so long ago, by the clock of the database."""
    clock = _SERVER if conn.dialect.name == "postgresql" else _FILE
    at = clock.format(seconds=beat_seconds_ago)
    conn.execute(text(_ENTER.format(at=at)), {"id": runner})
