"""Both databases deliver in order, take back what nobody can tell of, wake on commit, and let one press through."""

import asyncio
from dataclasses import replace

import pytest

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.press_tokens import PressedButton
from kinkeeper.messaging.addresses import remember_private_chat, set_member_only
from kinkeeper.messaging.delivery import REPEATED
from kinkeeper.messaging.outbound import OutboundState
from kinkeeper.observer.button_presses import press
from kinkeeper.store.store import Store
from pending_samples import FAMILY, GUARDIAN, HELPER, NOW, PARENT, proposal
from pressed_cards import GROUP, Cards, by, sides
from scripted_channel import Outcome

RACERS = (PARENT, GUARDIAN, HELPER) * 3


@pytest.fixture
def cards(store: Store) -> Cards:
    return Cards(store)


def states(cards: Cards) -> list[OutboundState]:
    return [row.state for row in cards.rows()]


def test_messages_of_several_chats_go_out_each_in_order(cards: Cards) -> None:
    action = cards.propose()
    for chat in ("one", "two", "one", "two"):
        cards.say(action, chat_id=chat, is_unprompted=False)
    cards.deliver(Outcome.LOST_AFTER, Outcome.OK, Outcome.NOT_SENT)
    cards.later(seconds=10)
    cards.deliver()
    bodies = [(each.item.chat_id, each.item.body) for each in cards.channel.shown]
    assert sorted(bodies) == sorted(
        [
            ("one", "Which?"),
            ("one", "Which?" + REPEATED),
            ("one", "Which?"),
            *[("two", "Which?")] * 2,
        ]
    )
    assert set(states(cards)) == {OutboundState.SENT}


def test_a_moved_chat_and_a_private_way_are_followed(cards: Cards) -> None:
    def know(conn: object) -> None:
        set_member_only(conn, FAMILY.id, "test", GROUP, may=True, now=NOW)  # type: ignore[arg-type]
        remember_private_chat(conn, FAMILY.id, "test", member=PARENT.id, chat_id="p", now=NOW)  # type: ignore[arg-type]

    cards.store.write_now(know)
    cards.channel.refuses_members = True
    cards.channel.moved[GROUP] = "super"
    action = cards.propose()
    cards.say(action, audience=PARENT.id)
    cards.say(action)
    cards.deliver()
    assert sorted(each.item.chat_id for each in cards.channel.shown) == ["p", "super"]
    assert cards.press(cards.shown("Confirm")).is_change
    cards.deliver()
    assert cards.status(action) is ActionStatus.DONE
    assert cards.texts()[-1].startswith("Done: ")


def test_of_many_who_press_at_once_one_decides(cards: Cards) -> None:
    actions = [cards.ask(sides(f"m{number}")) for number in range(5)]
    shown = [each for each in cards.channel.shown if each.item.buttons]
    offers = [genuine_buttons(cards, each.message_id) for each in shown]

    async def race() -> list[bool]:
        answers = await asyncio.gather(
            *(
                cards.store.write(
                    lambda conn, pressed=pressed: press(  # type: ignore[misc]
                        conn, pressed, household=FAMILY, now=NOW
                    )
                )
                for number, member in enumerate(RACERS)
                for buttons in offers
                for pressed in [by(buttons[number % len(buttons)], member)]
            )
        )
        return [answer.is_change for answer in answers]

    assert sum(asyncio.run(race())) == len(actions)
    assert len([each for each in actions if cards.status(each) is ActionStatus.DONE]) == 5
    assert len(cards.graph()) == len(actions)


def genuine_buttons(cards: Cards, message_key: str) -> list[PressedButton]:
    item = next(each.item for each in cards.channel.shown if each.message_id == message_key)
    genuine = cards.shown(item.buttons[0].label)
    return [replace(genuine, data=b.data, message_key=message_key) for b in item.buttons]


def test_a_commit_is_heard(cards: Cards) -> None:
    async def scenario() -> bool:
        with cards.store.watch(("outbox", FAMILY.id)) as watch:
            await asyncio.to_thread(lambda: cards.say(cards.propose(proposal("m9"))))
            return await watch.wait(5)

    assert asyncio.run(scenario())
