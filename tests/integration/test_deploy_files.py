"""The files under deploy/ are what their tools accept, and harden what they promise."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
BIN = Path(sys.executable).parent

pytestmark = pytest.mark.slow


def _run(*command: str) -> str:
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_compose_file_follows_the_compose_specification():
    _run(
        str(BIN / "check-jsonschema"),
        "--builtin-schema",
        "vendor.compose-spec",
        str(DEPLOY / "compose.yaml"),
    )


def test_the_compose_file_has_no_insecure_setting():
    _run(str(BIN / "compose-lint"), "--fail-on", "low", str(DEPLOY / "compose.yaml"))


def test_the_image_is_built_as_the_linter_advises():
    _run(str(BIN / "hadolint"), str(DEPLOY / "Dockerfile"))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed here")
def test_the_unit_is_one_that_systemd_accepts(tmp_path: Path):
    unit = (DEPLOY / "systemd" / "kinkeeper.service").read_text(encoding="utf-8")
    start = "ExecStart=/opt/kinkeeper/.venv/bin/kinkeeper serve"
    assert start in unit
    here = tmp_path / "kinkeeper.service"
    here.write_text(unit.replace(start, f"ExecStart={BIN}/kinkeeper serve"), encoding="utf-8")
    _run("systemd-analyze", "verify", str(here))
