"""`kinkeeper doctor` on an installation whose database has a password."""

from pathlib import Path

import pytest

from cli_program import Program

SECRET = "hunter2"  # noqa: S105 - a test's


@pytest.mark.parametrize("port", ["1", "no-port"])
def test_the_database_s_password_is_not_shown(tmp_path: Path, port: str) -> None:
    address = f"postgresql://kin:{SECRET}@127.0.0.1:{port}/kin"
    (tmp_path / ".env").write_text(f"DATABASE_URL={address}\n", encoding="utf-8")
    program = Program(tmp_path)
    for words in (("doctor",), ("doctor", "--json")):
        ran = program.bare(*words)
        assert ran.code == 1
        assert SECRET not in ran.out + ran.err
        assert "***" in ran.out
