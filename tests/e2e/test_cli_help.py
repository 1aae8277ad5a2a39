"""What costs a newcomer patience: the time until the help is there."""

import os
import subprocess
import sys

import pytest

from cli_program import PROGRAM, Program

LARGEST_CPU_SECONDS = 0.3
TRIES = 5


def cpu_seconds(*command: str) -> float:
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    return (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )


def test_help_is_cheap() -> None:
    """Measured against the import of the standard library it needs, so that a busy machine passes."""
    peer = [sys.executable, "-c", "import inspect, json, shutil, typing, dataclasses, datetime"]
    rounds = [(cpu_seconds(str(PROGRAM), "--help"), cpu_seconds(*peer)) for _ in range(TRIES)]
    help_seconds = min(ours for ours, _ in rounds)
    peer_seconds = min(theirs for _, theirs in rounds)
    assert help_seconds < max(LARGEST_CPU_SECONDS, 6 * peer_seconds)


@pytest.mark.slow
def test_every_command_tells_what_it_takes(program: Program) -> None:
    listed = program.bare("--help").out.split("Everyday:")[1].split("Start here")[0]
    commands = [line.split()[0] for line in listed.splitlines() if line[:3].strip()]
    names = [name for name in commands if name.isalpha()]
    assert {"init", "demo", "observe", "pending", "why", "doctor"} <= set(names)
    for name in names:
        assert "Usage:" in program.bare(name, "--help").out


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("observe",),
        ("observe", "x", "--nope"),
        ("metrics", "--days", "0"),
        ("eval", "nonsense"),
        ("eval", "months", "--root", "/"),
    ],
)
def test_bad_usage_is_code_two(program: Program, words: tuple[str, ...]) -> None:
    ran = program.bare(*words)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err
