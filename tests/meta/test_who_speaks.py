"""Who may put something into the outbox: rules for what nobody asked for, and answers to whoever asked."""

import ast
from pathlib import Path

import pytest

import kinkeeper

SOURCE = Path(kinkeeper.__file__).parent
PUT = "outbox.put("
# Lines of a rule's template; cards for one person; results on messages that went out before.
UNPROMPTED = {
    "observer/speaker.py",
    "observer/cards/private_cards.py",
    "actions/button_removal.py",
    # The daily digest, for one person alone at the time they chose.
    "bootstrap/digests.py",
    # What idle thought noticed, for one person alone.
    "bootstrap/drift.py",
}
# Channels answer the one who asked or pressed; reminders come at the time somebody asked for.
ANSWERS = ("channels/", "bootstrap/reminders.py")


def test_only_rules_speak_unasked_and_channels_only_answer() -> None:
    putting = {
        path.relative_to(SOURCE).as_posix(): path
        for path in SOURCE.rglob("*.py")
        if PUT in path.read_text(encoding="utf-8")
    }
    others = {name: path for name, path in putting.items() if name not in UNPROMPTED}
    assert putting.keys() >= UNPROMPTED
    assert all(name.startswith(ANSWERS) for name in others)
    for name, path in others.items():
        for message in outbound_calls(path):
            said = {each.arg: each.value for each in message.keywords}
            asked = said.get("is_unprompted")
            is_answer = isinstance(asked, ast.Constant) and asked.value is False
            assert is_answer or "answer_to" in said, f"{name}:{message.lineno} speaks unasked"


@pytest.mark.parametrize("name", ["bootstrap/digests.py", "bootstrap/drift.py"])
def test_digests_and_remarks_reach_one_person_alone(name: str) -> None:
    found = outbound_calls(SOURCE / name)
    assert found
    for message in found:
        said = {each.arg: each.value for each in message.keywords}
        assert ast.unparse(said["audience"]) == "member.id"


def outbound_calls(path: Path) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "Outbound"
    ]
