"""A PostgreSQL for processes that are killed."""

from postgres_server import migrated_postgres, postgres_server, postgres_url

__all__ = ["migrated_postgres", "postgres_server", "postgres_url"]
