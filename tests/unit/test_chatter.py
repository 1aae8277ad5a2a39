"""Real talk becomes a family chat: whose voice, which names, when."""

from datetime import time, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from evals.chatter import HOUSEHOLD_TALK, TEXT_MESSAGES, Conversation, as_family_chat, sample
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Role

MILLERS = load_household(Path(__file__).parents[2] / "examples" / "miller" / "household.toml")


def talk(*turns: tuple[str, str], id_: str = "one", **roles: str | None) -> Conversation:
    return Conversation(id=id_, source=HOUSEHOLD_TALK, turns=turns, roles=roles)


def test_parents_speak_as_adults_and_children_as_children() -> None:
    spoken = talk(
        ("Ann", "Is Tom in?"),
        ("Tom", "Yes, Ann."),
        ("Bob", "Tommy no, Tom yes"),
        Ann="self",
        Tom="son",
        Bob="husband",
    )
    ann, tom, bob = as_family_chat([spoken], MILLERS)
    roles = {member.id: member.role for member in MILLERS.members}
    names = {member.id: member.name for member in MILLERS.members}
    assert roles[tom.sender] is Role.CHILD
    assert Role.CHILD not in {roles[ann.sender], roles[bob.sender]}
    assert ann.sender != bob.sender
    assert ann.text == f"Is {names[tom.sender]} in?"
    assert tom.text == f"Yes, {names[ann.sender]}."
    assert bob.text == f"Tommy no, {names[tom.sender]} yes"


def test_who_finds_no_place_in_the_household_stays_a_guest() -> None:
    turns = [(name, f"I am {name}") for name in ("Ann", "Bob", "Cleo", "Dan", "Eve", "Unknown")]
    messages = list(as_family_chat([talk(*turns)], MILLERS))
    members = {member.id for member in MILLERS.members}
    guests = [message for message in messages if message.sender not in members]
    assert messages[-1] in guests
    assert len(messages) - len(guests) == sum(m.role is not Role.CHILD for m in MILLERS.members)
    for message in guests:
        assert message.text == f"I am {message.sender}"


def test_time_moves_on_by_day_only() -> None:
    conversations = [
        Conversation(id=str(number), source=TEXT_MESSAGES, turns=[("Ann", "hello")] * 40, roles={})
        for number in range(5)
    ]
    messages = list(as_family_chat(conversations, MILLERS))
    instants = [message.sent_at for message in messages]
    assert all(later > earlier for earlier, later in pairwise(instants))
    local = [instant.astimezone(MILLERS.zone).time() for instant in instants]
    assert min(local) >= time(7)
    assert max(local) < time(22, 30)
    assert instants[-1] - instants[0] > timedelta(days=5)
    assert len({message.message_id for message in messages}) == len(messages)


@pytest.mark.parametrize("wanted", [0, 1, 7, 30, 100])
def test_a_sample_has_as_many_messages_as_there_are_at_most(wanted: int) -> None:
    all_of_it = [talk(*[("Ann", "hm")] * 10, id_=str(number)) for number in range(3)]
    chosen = sample(all_of_it, wanted)
    assert sum(len(each.turns) for each in chosen) == min(wanted, 30)
    assert chosen == sample(reversed(all_of_it), wanted)
