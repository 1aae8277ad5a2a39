"""Every database the store supports."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kinkeeper.store.store import Store
from postgres_server import migrated_postgres, postgres_server, postgres_url

__all__ = ["migrated_postgres", "postgres_server", "postgres_url"]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database: a file, and a server's."""
    if request.param == "sqlite":
        return str(tmp_path / "family.db")
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """Yield an open, empty store."""
    with Store.open(address) as opened:
        yield opened
