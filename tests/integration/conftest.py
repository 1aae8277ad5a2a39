"""A scripted model server and a database, shared by the tests of a file and emptied for each."""

from collections.abc import Iterator

import pytest
from sqlalchemy import delete

from kinkeeper.models.repository import model_budgets, model_calls
from kinkeeper.store.store import Store
from modelserver import ModelServer, model_server, says
from postgres_server import migrated_postgres, postgres_server, postgres_url

__all__ = ["migrated_postgres", "postgres_server", "postgres_url"]


@pytest.fixture(scope="module")
def running_models() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture
def models(running_models: ModelServer) -> ModelServer:
    """Return a server that was asked nothing yet and says hello."""
    running_models.received.clear()
    running_models.at_once = 0
    running_models.will(says("hel", "lo", counted=(200, 20)))
    return running_models


@pytest.fixture(scope="module")
def kept_calls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(str(tmp_path_factory.mktemp("calls") / "family.db")) as opened:
        yield opened


@pytest.fixture
def calls(kept_calls: Store) -> Store:
    """Return a store without records of calls."""
    for table in (model_calls, model_budgets):
        kept_calls.write_now(lambda conn, each=table: conn.execute(delete(each)))
    return kept_calls


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def database(request: pytest.FixtureRequest) -> str | None:
    """Return the address of an empty database on each server that is supported; None for a file of the test's own."""
    if request.param == "sqlite":
        return None
    url: str = request.getfixturevalue("postgres_url")
    return url
