"""Cards run out by the clock of a replay, whether or not anybody says anything."""

from collections.abc import Iterator

import pytest

from family_chat import Chat, chat
from kinkeeper.actions.model import ActionStatus


@pytest.fixture
def family() -> Iterator[Chat]:
    with chat() as opened:
        yield opened


def test_cards_run_out_at_their_own_time_while_nobody_speaks(family: Chat) -> None:
    first = family.say(
        "Mon 2026-03-02 09:00", "john", "I'll take Mia to the doctor Thursday at 3pm"
    )
    second = family.say(
        "Mon 2026-03-02 15:00", "sarah", "I'll take Leo to the optician Friday at 8am"
    )
    family.until("Fri 2026-03-06 09:00")
    gone, left = (family.action(line["action"]["id"]) for line in (first, second))
    assert gone.status is ActionStatus.EXPIRED
    assert gone.decided_at == family.at("Fri 2026-03-06 00:00")
    assert left.status is ActionStatus.PENDING
    family.until("Sat 2026-03-07 12:00")
    left = family.action(left.id)
    assert left.status is ActionStatus.EXPIRED
    assert left.decided_at == family.at("Sat 2026-03-07 00:00")


def test_a_card_that_has_run_out_counts_for_nothing_at_that_very_moment(family: Chat) -> None:
    said = "I'll take Mia to the doctor Friday at 3pm"
    first = family.say("Mon 2026-03-02 09:00", "john", said)
    again = family.say("Sat 2026-03-07 00:00", "john", said)
    assert again["action"]["id"] != first["action"]["id"]
    family.until("Sat 2026-03-07 00:01")
    assert family.action(first["action"]["id"]).status is ActionStatus.EXPIRED
    assert family.action(again["action"]["id"]).status is ActionStatus.PENDING
