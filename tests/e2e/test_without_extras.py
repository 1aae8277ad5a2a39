"""Without its extras the program runs, and says what to install where a setting needs one."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from kinkeeper.core.extras import EXTRAS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MOST_DEPENDENCIES = 24
SCRIPT = Path(__file__).parents[1] / "bare_program.py"
IMPORT_ALL = """
import importlib, pkgutil, sys
sys.path.insert(0, {tests!r})
import bare_program
import kinkeeper

for module in pkgutil.walk_packages(kinkeeper.__path__, "kinkeeper."):
    needs = any(part in module.name for part in {of_extras!r})
    if not needs and not module.name.endswith("__main__") and ".versions." not in module.name:
        if not module.name.endswith("migrations.env"):
            importlib.import_module(module.name)
"""
OF_EXTRAS = (
    "channels.telegram.",
    "connectors.mail.",
    "connectors.tools.",
    "bootstrap.mail_servers",
    "web.mcp_server",
)


def run(
    arguments: Sequence[str], folder: Path, **settings: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **settings},
        timeout=300,
    )


def test_the_sample_family_plays(tmp_path: Path) -> None:
    done = run([str(SCRIPT), "demo"], tmp_path)
    assert done.returncode == 0, done.stderr


def test_every_other_module_can_be_imported(tmp_path: Path) -> None:
    script = IMPORT_ALL.format(tests=str(SCRIPT.parent), of_extras=OF_EXTRAS)
    done = run(["-c", script], tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "value", "extra"),
    [
        ("TELEGRAM_BOT_TOKEN", "12345:secret", "telegram"),
        ("CALDAV_URL", "https://anna:secret@dav.example.org/anna/", "caldav"),
        ("SMTP_URL", "smtps://anna:secret@mail.example.org", "mail"),
        ("IMAP_URL", "imaps://anna:secret@mail.example.org", "mail"),
        ("MCP_SERVERS", '{"shop": {"url": "https://tools.example.org/mcp"}}', "mcp"),
        ("DATABASE_URL", "postgresql://anna:secret@db.example.org/kinkeeper", "postgres"),
    ],
)
def test_a_setting_that_needs_an_extra_says_so(
    tmp_path: Path, name: str, value: str, extra: str
) -> None:
    assert run([str(SCRIPT), "init", "."], tmp_path).returncode == 0
    settings = {name: value, "ALLOW_PUBLIC_HOSTS": "true", "MAIL_FROM": "anna@example.org"}
    done = run([str(SCRIPT), "pending", "list"], tmp_path, **settings)
    assert done.returncode != 0
    assert f"pip install 'kinkeeper[{extra}]'" in done.stderr + done.stdout
    assert "secret" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_extras_name_the_modules_that_they_install() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = set(project["optional-dependencies"])
    assert optional >= {*EXTRAS, "all"}
    (everything,) = project["optional-dependencies"]["all"]
    assert set(everything.removeprefix("kinkeeper[").removesuffix("]").split(",")) == set(EXTRAS)
    assert len(project["dependencies"]) <= MOST_DEPENDENCIES
    told = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for lists in (project["dependencies"], *project["optional-dependencies"].values()):
        for each in lists:
            name = re.match(r"[\w-]+", each)
            assert name is not None
            assert name[0] == "kinkeeper" or f"| {name[0]} |" in told, each
