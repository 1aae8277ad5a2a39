"""No press gets past its button: two thousand hostile ones, and any sequence against a simple model."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.press_tokens import PREFIX, PressedButton
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.observer.button_presses import press
from kinkeeper.store.store import Store
from pending_samples import (
    CHILD,
    EXPIRES,
    FAMILY,
    FRIEND,
    GUARDIAN,
    HELPER,
    NOW,
    PARENT,
    household,
    proposal,
)
from pressed_cards import GROUP, Cards, by, sides

GRAZ = household("graz")
pytestmark = pytest.mark.slow

ADULTS = (PARENT, GUARDIAN, HELPER)
HOSTILE = 2_000

_numbers = count()


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cards]:
    with Store.open(str(tmp_path_factory.mktemp("presses") / "family.db")) as store:
        yield Cards(store)


@dataclass(frozen=True, slots=True)
class Open:
    """An open action of one of two households, and its genuine buttons."""

    action: PendingAction
    family: Household
    buttons: tuple[PressedButton, ...]


def opened(cards: Cards, family: Household, number: int) -> Open:
    name = f"{family.id}{number}"
    stored = proposal(name, household=family.id) if number % 2 else sides(name, household=family.id)
    action = cards.propose(replace(stored, chat_id=GROUP))
    cards.say(action)
    cards.deliver(household=family.id)
    shown = cards.channel.shown[-1]
    return Open(
        action=action,
        family=family,
        buttons=tuple(
            PressedButton(
                data=button.data, chat_id=GROUP, message_key=shown.message_id, member=PARENT
            )
            for button in shown.item.buttons
        ),
    )


def garbled(data: str, random: Random) -> str:
    """Return something near a genuine secret that is not it."""
    place = random.randrange(len(data))
    other = random.choice([each for each in "Aa0_-" if each != data[place]])
    return random.choice(
        [
            data[:place] + other + data[place + 1 :],
            data[:place],
            data + other,
            data.swapcase(),
            data.removeprefix(PREFIX),
            PREFIX + data,
            data + "\x00",
            " " + data,
            PREFIX + "".join(random.choices("abcdefXYZ0189_-", k=32)),
            "k1:" + "' OR 1=1 --",
        ]
    )


def hostile(one: Open, others: list[Open], random: Random) -> tuple[PressedButton, Household]:
    """Return a press that must change nothing, and the household in whose chat it happens."""
    genuine, family = random.choice(one.buttons), one.family
    foreign = random.choice([each for each in others if each.family != family])
    neighbour = random.choice(
        [each for each in others if each.family == family and each is not one]
    )
    ways: list[Callable[[], tuple[PressedButton, Household]]] = [
        lambda: (replace(genuine, data=garbled(genuine.data, random)), family),
        lambda: (
            replace(genuine, chat_id=random.choice(["", "chat-2", GROUP + " ", "-1"])),
            family,
        ),
        lambda: (replace(genuine, message_key=neighbour.buttons[0].message_key), family),
        lambda: (replace(genuine, message_key=random.choice(["", "0", "None", "9999"])), family),
        lambda: (by(genuine, random.choice([None, CHILD, FRIEND])), family),
        lambda: (by(genuine, replace(CHILD, role=Role.PARENT)), family),
        lambda: (by(genuine, Member(id="eve", name="Eve", role=Role.PARENT)), family),
        lambda: (genuine, foreign.family),
        lambda: (replace(genuine, data=foreign.buttons[0].data), family),
        lambda: (replace(genuine, data=neighbour.buttons[0].data), family),
    ]
    return random.choice(ways)()


def test_two_thousand_hostile_presses_change_nothing_and_are_counted(cards: Cards) -> None:
    random = Random(20260511)  # noqa: S311 - the same attacks every time
    families = {each.id: each for each in (FAMILY, GRAZ)}
    opens = [opened(cards, family, number) for number in range(6) for family in families.values()]
    before = {name: sum(cards.refused(name).values()) for name in families}
    written = {name: cards.graph(name) for name in families}

    def attack(conn: Connection) -> list[object]:
        let_through: list[object] = []
        for _ in range(HOSTILE):
            pressed, family = hostile(random.choice(opens), opens, random)
            answer = press(conn, pressed, household=family, now=NOW + timedelta(hours=1))
            if answer.refusal is None or answer.is_change or not answer.message:
                let_through.append((pressed, answer))
        return let_through

    assert cards.store.write_now(attack) == []
    refused = {name: sum(cards.refused(name).values()) - before[name] for name in families}
    assert sum(refused.values()) == HOSTILE
    assert {cards.status(each.action) for each in opens} == {ActionStatus.PENDING}
    assert {name: cards.graph(name) for name in families} == written
    for each in opens:
        assert cards.press(each.buttons[0], household=each.family).is_change


PRESSES = st.lists(
    st.tuples(
        st.integers(0, 2),  # which button
        st.sampled_from((*ADULTS, CHILD)),
        st.booleans(),  # in its chat
        st.booleans(),  # on its message
        st.integers(0, 30),  # hours later
    ),
    max_size=8,
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(presses=PRESSES)
def test_the_first_fitting_press_decides_and_only_its_repeat_gets_its_answer(
    cards: Cards, presses: list[tuple[int, Member, bool, bool, int]]
) -> None:
    name = f"property{next(_numbers)}"
    cards.say(cards.propose(sides(name)))
    cards.deliver()
    shown = cards.channel.shown[-1]
    buttons, now = shown.item.buttons, cards.clock.now()
    winner: tuple[int, Member] | None = None
    told = ""
    before = set(cards.graph())
    for which, member, in_chat, on_message, hours in presses:
        now += timedelta(hours=hours)
        pressed = PressedButton(
            data=buttons[which].data,
            chat_id=GROUP if in_chat else "other",
            message_key=shown.message_id if on_message else "other",
            member=member,
        )
        answer = cards.press(pressed, now=now)
        fits = in_chat and on_message and member.is_adult
        is_open = winner is None and now < EXPIRES
        assert answer.is_change == (fits and is_open)
        if answer.is_change:
            winner, told = (which, member), answer.message
        is_repeat = fits and winner == (which, member)
        assert (answer.refusal is None) == is_repeat
        if is_repeat:
            assert answer.message == told
    written = set(cards.graph()) - before
    label = None if winner is None else buttons[winner[0]].label
    assert written == (set() if label is None else {f"Tara {name}-{label}"})
