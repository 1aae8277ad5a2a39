"""The way of a yes: from a chat over the pending list into the calendar, and back out again."""

import pytest

from cli_program import Program, message

pytestmark = pytest.mark.slow

CHAT = [
    message(1, "sarah", "Leo has the dentist Thursday at 4pm", "2026-03-02T08:05:00"),
    message(2, "sarah", "Mia's recital is Saturday the 14th at 2pm", "2026-03-02T09:00:00"),
]


@pytest.fixture
def heard(program: Program) -> Program:
    assert program.observe(CHAT).code == 0
    return program


def pending(program: Program) -> dict[str, str]:
    """Return the ids of what waits by activity."""
    return {each["activity"]: each["id"] for each in program.run("pending", "--json").value}


def planned(program: Program) -> list[str]:
    span = ("--from", "2026-03-02", "--to", "2026-03-15")
    found = program.run("events", "--json", *span).value
    return [each["summary"] for each in found if each["source_type"] != "SEED"]


def test_nothing_is_written_before_a_yes_and_undo_takes_it_back(heard: Program) -> None:
    action = pending(heard)["recital"]
    assert planned(heard) == []
    confirmed = heard.run("pending", "confirm", action[:13], "--as", "mom", "--json")
    assert confirmed.code == 0
    assert confirmed.value["outcome"] == "done"
    assert confirmed.value["action"]["confirmed_by"] == "sarah"
    assert len(planned(heard)) == 1
    again = heard.run("pending", "confirm", action)
    assert again.code == 0
    assert "Already" in again.out
    assert len(planned(heard)) == 1
    assert heard.run("undo", action[:13]).code == 0
    assert planned(heard) == []


def test_a_choice_is_one_of_the_buttons(heard: Program) -> None:
    action = pending(heard)["dentist"]
    asked = heard.run("pending", "confirm", action)
    assert asked.code == 1
    assert "Which one" in asked.out
    wrong = heard.run("pending", "resolve", action, "Neither")
    assert wrong.code == 2
    assert "Dentist" in wrong.err
    assert heard.run("pending", "resolve", action, "dentist").code == 0
    other = heard.run("pending", "resolve", action, "soccer")
    assert other.code == 1
    assert "Already approved" in other.out


def test_a_child_and_a_stranger_decide_nothing(heard: Program) -> None:
    action = pending(heard)["recital"]
    child = heard.run("pending", "confirm", action, "--as", "leo")
    assert child.code == 1
    assert "adult" in child.out
    stranger = heard.run("pending", "confirm", action, "--as", "zoe")
    assert stranger.code == 2
    assert "sarah" in stranger.err
    assert planned(heard) == []


def test_a_no_is_final(heard: Program) -> None:
    action = pending(heard)["recital"]
    rejected = heard.run("pending", "reject", action)
    assert rejected.code == 0
    assert "acting as John" in rejected.err
    assert "recital" not in pending(heard)
    assert heard.run("pending", "confirm", action).code == 1
    settled = heard.run("pending", "list", "--all", "--json").value
    assert {each["status"] for each in settled if each["id"] == action} == {"rejected"}


def test_an_id_that_fits_none_or_several_is_named(heard: Program) -> None:
    assert heard.run("pending", "confirm", "ffffffff-none").code == 1
    empty = heard.run("pending", "confirm", "")
    assert empty.code == 2
    assert "first characters" in empty.err


def test_time_passes_only_in_the_replayed_chat(heard: Program) -> None:
    """The replayed days lie in the past; what they brought must not have expired by that."""
    assert len(pending(heard)) == 2
    assert heard.run("observe", "/dev/null", "--until", "2026-04-01T00:00").code == 0
    assert pending(heard) == {}
    expired = heard.run("pending", "list", "--all", "--json").value
    assert {each["status"] for each in expired} == {"expired"}


def test_the_place_may_be_told_before_the_command(heard: Program) -> None:
    before = heard.bare(*heard.where(), "pending", "list", "--json")
    assert before.code == 0
    assert len(before.value) == 2


def test_the_list_for_people_names_buttons(heard: Program) -> None:
    shown = heard.run("pending").out
    assert "dentist" in shown
    assert "Dentist" in shown
    assert pending(heard)["dentist"][:8] in shown


def test_what_is_private_to_one_is_listed_for_them_alone(program: Program) -> None:
    for text in ("add a haircut on friday at 2pm, just for me", "cancel the haircut"):
        assert program.run("chat", "--as", "john", text).code == 0
    [mine] = program.run("pending", "--as", "john", "--json").value
    assert "haircut" in mine["summary"].lower()
    assert program.run("pending", "--json").value == []
    assert program.run("pending", "list", "--as", "sarah", "--json").value == []
    assert program.run("pending", "confirm", mine["id"], "--as", "sarah").code != 0
    assert program.run("pending", "confirm", mine["id"], "--as", "john").code == 0
