"""The database: schema base, engine, writer thread and reader pool, migrations. Knows no table's meaning."""
