from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_program import Program
from telegram_family import Family, family


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def millers(tmp_path: Path) -> Iterator[Family]:
    with family(tmp_path) as found:
        yield found
