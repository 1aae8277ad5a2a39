from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browsing import chromium
from cli_program import Program
from telegram_family import Family, family


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Yield a browser for the tests of a file: it keeps an event loop on their thread, and others need theirs."""
    with chromium() as started:
        yield started


@pytest.fixture
def millers(tmp_path: Path) -> Iterator[Family]:
    with family(tmp_path) as found:
        yield found
