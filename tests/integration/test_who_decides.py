"""Who may decide changes with the household: who left it, or is an adult no more, decides nothing that still waits."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kinkeeper.actions.authority import is_anothers
from kinkeeper.actions.model import ActionStatus, Proposal, Refusal
from kinkeeper.actions.press_tokens import PressRefusal
from kinkeeper.actions.receipts import Outcome
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.store.store import Store
from outside_samples import sending
from pending_presses import put, refusals, stored_status, yes
from pending_samples import CHILD, FAMILY, GUARDIAN, PARENT, adding, event, proposal
from pressed_cards import Cards, by


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


def mail(asked_by: Member = PARENT) -> Proposal:
    """Return a mail that somebody asked for in a conversation."""
    request = {"domain": "email", "action": "send_email", "params": {}, "result": {}}
    return sending(source_type="CHAT", request={**request, "asked_by": asked_by.id})


def without(member: Member) -> Household:
    return replace(FAMILY, members=tuple(each for each in FAMILY.members if each != member))


def lowered(member: Member) -> tuple[Household, Member]:
    """Return the household in which somebody is a child from now on, and them."""
    child = replace(member, role=Role.CHILD)
    return replace(without(member), members=(*without(member).members, child)), child


def test_who_left_between_asking_and_saying_yes_decides_nothing(store: Store) -> None:
    action = put(store)
    assert yes(store, action, member=GUARDIAN, family=without(GUARDIAN)).outcome is Outcome.DENIED
    assert stored_status(store, action) is ActionStatus.PENDING
    assert refusals(store) == {Refusal.DENIED: 1}


def test_whose_role_was_lowered_decides_nothing_with_the_new_role_or_the_old(store: Store) -> None:
    action = put(store)
    family, child = lowered(GUARDIAN)
    for pressing in (GUARDIAN, child):
        assert yes(store, action, member=pressing, family=family).outcome is Outcome.DENIED
    assert stored_status(store, action) is ActionStatus.PENDING


def test_nobody_sends_the_mail_of_who_left(store: Store) -> None:
    action, family = put(store, mail(GUARDIAN)), without(GUARDIAN)
    assert yes(store, action, family=family).outcome is Outcome.DENIED
    assert refusals(store) == {Refusal.NOT_YOURS: 1}
    assert stored_status(store, action) is ActionStatus.PENDING


def test_a_parent_decides_about_the_mail_of_who_is_a_child(store: Store) -> None:
    action = put(store, mail(CHILD))
    assert not is_anothers(action, PARENT, FAMILY)
    assert yes(store, action).outcome is Outcome.UNDER_WAY


def test_another_adults_press_on_a_mail_uses_nothing_up(store: Store) -> None:
    cards = Cards(store)
    action = cards.ask(mail())
    shown = cards.shown("Confirm")
    assert not cards.press(by(shown, GUARDIAN)).is_change
    assert not cards.press(by(shown, CHILD)).is_change
    assert cards.refused() == {PressRefusal.FOREIGN_MEMBER: 1, PressRefusal.NOT_ADULT: 1}
    assert cards.press(shown).is_change
    assert cards.status(action) is ActionStatus.EXECUTING


@pytest.mark.parametrize(
    "family", [without(GUARDIAN), lowered(GUARDIAN)[0]], ids=["left", "lowered"]
)
def test_a_card_of_before_is_of_no_use_to_who_decides_no_more(
    store: Store, family: Household
) -> None:
    cards = Cards(store)
    action = cards.ask(proposal())
    shown = by(cards.shown("Confirm"), family.member(GUARDIAN.id) or GUARDIAN)
    assert not cards.press(shown, household=family).is_change
    assert cards.status(action) is ActionStatus.PENDING


def test_a_child_decides_about_what_is_private_to_it_and_about_nothing_else(store: Store) -> None:
    cards = Cards(store)
    own = replace(event("m1", household_id=FAMILY.id), scope=f"person:{CHILD.id}")
    action = cards.ask(proposal(effects=adding(own)))
    shown = cards.shown("Confirm")
    assert not cards.press(by(shown, GUARDIAN)).is_change
    assert cards.press(by(shown, CHILD)).is_change
    assert cards.status(action) is not ActionStatus.PENDING
