"""The database: schema base, engine, writer thread and reader pool, migrations. Knows no table's meaning."""

from kinkeeper.store import sqlite_library as sqlite_library  # before anything opens a database
