"""Models read for conversations, the group chat and memory; what is done, sent or told by the clock asks none."""

import ast
from pathlib import Path

import kinkeeper

SOURCE = Path(kinkeeper.__file__).parent
ASKING = frozenset({"complete", "stream", "ask", "ModelGateway", "ChatRequest"})
NEVER = (
    "actions",
    "background",
    "calendar",
    "channels",
    "digest",
    "goals",
    "jobs",
    "mail",
    "messaging",
    "notes",
    "tasks",
)


CHOOSES = frozenset({"background/model_steps.py"})
"""Chooses by number among what was read, and changes nothing."""


def imported_for_models(path: Path) -> set[str]:
    """Return what a module takes from the package of models."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kinkeeper.models")
        for name in node.names
    }


def test_what_acts_or_goes_out_asks_no_model() -> None:
    asking = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if imported_for_models(path) & ASKING
    }
    assert any(each.startswith("conversation/") for each in asking)
    assert not [each for each in asking if each.startswith(NEVER) and each not in CHOOSES]
    assert asking >= CHOOSES
