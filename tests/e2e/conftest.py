from pathlib import Path

import pytest

from cli_program import Program


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)
