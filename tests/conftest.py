"""Keeps all tests on this machine; tells which of them the core suite leaves out besides those marked one by one."""

import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

from compiled_once import open_compiled
from kinkeeper.bootstrap import houses
from kinkeeper.store import engines
from migrated_files import create_migrated, really_create
from network_guard import forget_settings, stay_on_this_machine

forget_settings()
stay_on_this_machine()

# What is imported stays: to look through it for garbage again and again is a third of the suite's work.
gc.disable()

# A busy machine is no defect of what is tested. `make test` tries the same examples each time, so that a commit
# passes or fails by what it changes; `make nightly` looks for new ones.
settings.register_profile("kinkeeper", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("kinkeeper")

TESTS = Path(__file__).parent

# Whole programs, servers and chats; of these the core keeps the scenarios and the laws of the observer.
SLOW_FOLDERS = ("e2e",)
KEPT = frozenset({"test_observer_scenarios.py", "test_observer_laws.py"})

# Every test of these serves pages, replays chats or runs long random stories.
SLOW_FILES = (
    "integration/test_web_*.py",
    "integration/test_decisions_proved.py",
    "integration/test_delivery.py",
    "integration/test_pressing.py",
    "integration/test_restore.py",
    "integration/test_retention.py",
    "property/test_calendar_graph.py",
    "property/test_chat_files.py",
    "property/test_observer_pipeline.py",
    "property/test_web_lanes.py",
)


@pytest.fixture(scope="session", autouse=True)
def made_once() -> Iterator[None]:
    """Migrate one SQLite file a process instead of every one; compile each household and statement once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "create_file", create_migrated)
        patch.setattr(engines, "_sqlite_engine", open_compiled)
        patch.setattr(houses, "compile_participants", cache(houses.compile_participants))
        yield


@pytest.fixture(autouse=True)
def logging_restored() -> Iterator[None]:
    """Undo what a command did to the log: it would go on writing to a captured stream that is closed by then."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.fixture
def really_migrating(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let new SQLite files be migrated, for tests of that."""
    monkeypatch.setattr(engines, "create_file", really_create)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Collect garbage again, among what the tests make alone."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them as slow."""
    for item in items:
        path = item.path.relative_to(TESTS)
        in_slow_folder = path.parts[0] in SLOW_FOLDERS and path.name not in KEPT
        if in_slow_folder or any(path.match(pattern) for pattern in SLOW_FILES):
            item.add_marker(pytest.mark.slow)
