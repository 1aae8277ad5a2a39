"""One SQLite library in the process, and a safe one.

Two copies of SQLite working on one file break each other's POSIX locks, so the bundled, recent
library takes the place of the interpreter's `sqlite3` before SQLAlchemy or the job engine load it.
Where no wheel of it exists, the interpreter's own library stays, and is checked on opening.
"""

import sys

from kinkeeper.core.errors import StoreVersionError

try:
    import pysqlite3 as sqlite
    from pysqlite3 import dbapi2
except ImportError:  # pragma: no cover - only on platforms without the wheel
    import sqlite3 as sqlite
    from sqlite3 import dbapi2

__all__ = ["OLDEST_SAFE", "check_library", "check_version", "dbapi2", "sqlite"]

OLDEST_SAFE = (3, 51, 3)

sys.modules["sqlite3"] = sqlite
sys.modules["sqlite3.dbapi2"] = dbapi2


def check_version(version: tuple[int, ...]) -> None:
    """Refuse a SQLite that may corrupt a file.

    Args:
        version: The library's version, e.g. (3, 53, 4).

    Raises:
        StoreVersionError: Older than `OLDEST_SAFE`: two connections that write and checkpoint at
            the same moment can corrupt a write-ahead log.
    """
    if version < OLDEST_SAFE:
        found, needed = (".".join(map(str, parts)) for parts in (version, OLDEST_SAFE))
        raise StoreVersionError(
            f"SQLite {found} can corrupt a database that two connections use at once; "
            f"install the Python package 'pysqlite3' or SQLite {needed} or newer"
        )


def check_library() -> None:
    """Refuse to work with the loaded library where it is unsafe or lacks full-text search.

    Raises:
        StoreVersionError: Too old, or built without FTS5.
    """
    check_version(sqlite.sqlite_version_info)
    connection = sqlite.connect(":memory:")
    try:
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    finally:
        connection.close()
    if "ENABLE_FTS5" not in options:
        raise StoreVersionError(
            "this SQLite was built without full-text search (FTS5); "
            "install the Python package 'pysqlite3'"
        )
