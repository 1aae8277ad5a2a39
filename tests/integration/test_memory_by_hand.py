"""What people do to memories through actions: journaled, undone, and without a word left where it must not be."""

from pathlib import Path

import pytest

from kinkeeper.actions import reversal
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.channels.telegram.commands import Wish, forget
from kinkeeper.core.errors import NotFoundError
from kinkeeper.memory.journal import list_changes
from kinkeeper.memory.model import Category
from page_visits import FREE, actions_of
from remembered import fact_about, known_to, remember
from web_server import Served, served

NUTS = "Leo is allergic to peanuts"


def hand_of(serving: Served, who: str) -> SettingRight:
    household = serving.system.household
    member = household.member(who)
    assert member is not None
    return SettingRight(household=household, member=member, now=serving.clock.now())


def wish(serving: Served, who: str, text: str) -> Wish:
    hand = hand_of(serving, who)
    return Wish(
        household=hand.household,
        member=hand.member,
        text=text,
        chat_id="family",
        is_private=False,
        source_id="7",
        now=hand.now,
    )


def test_a_child_asks_and_an_adult_decides(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        receipt = remember(serving, "leo", "I want a dog")
        assert receipt.outcome is Outcome.ASKED
        assert known_to(serving) == []


def test_what_is_no_statement_is_technical_only_where_its_words_show_it(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        remember(serving, "sarah", "broccoli is ok actually")
        remember(serving, "sarah", "reset the router by its red button")
        assert fact_about(serving, "broccoli").category is not Category.TECHNICAL
        assert fact_about(serving, "router").category is Category.TECHNICAL


def test_remembering_is_undone_once_and_says_so(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        receipt = remember(serving, "sarah", NUTS)
        assert receipt.outcome is Outcome.DONE
        hand = hand_of(serving, "john")
        for outcome in (Outcome.UNDONE, Outcome.ALREADY_UNDONE):
            told = serving.context.store.write_now(
                lambda conn: reversal.undo(
                    conn,
                    receipt.action.id,
                    member=hand.member,
                    household=hand.household,
                    now=hand.now,
                )
            )
            assert told.outcome is outcome
        assert known_to(serving) == []


def test_somebodys_own_words_stand_in_no_action(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        remember(serving, "sarah", "my therapist is called Robin", is_private=True)
        fact = fact_about(serving, "Robin")
        serving.context.store.write_now(
            lambda conn: hand_of(serving, "sarah").edit(conn, fact.id, "My therapist is Robin Ames")
        )
        assert fact_about(serving, "Ames").scope == "person:sarah"
        kept = repr([action.proposal for action in actions_of(serving)])
        assert "Robin" not in kept


def test_an_offer_to_forget_goes_with_what_is_forgotten_otherwise(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        remember(serving, "sarah", NUTS)
        (offer,) = serving.context.store.write_now(
            lambda conn: forget(conn, wish(serving, "john", "peanuts"))
        )
        assert [button.label for button in offer.buttons] == [f"1. {NUTS}", "Keep all"]
        fact = fact_about(serving, "peanuts")
        receipt = serving.context.store.write_now(
            lambda conn: hand_of(serving, "sarah").forget(conn, fact.id)
        )
        assert receipt.outcome is Outcome.DONE
        assert "peanuts" not in repr([action.proposal for action in actions_of(serving)])
        statuses = {action.id: action.status for action in actions_of(serving)}
        assert statuses[offer.action_id or ""] is ActionStatus.WITHDRAWN


def test_nobodys_own_memories_are_offered_in_the_group(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        remember(serving, "sarah", "my locker code is 4711", is_private=True)
        (answer,) = serving.context.store.write_now(
            lambda conn: forget(conn, wish(serving, "sarah", "locker code"))
        )
        assert answer.buttons == ()
        assert "4711" not in answer.text


def test_children_neither_edit_nor_forget(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        remember(serving, "sarah", NUTS)
        fact = fact_about(serving, "peanuts")
        for act in ("wrong", "forget"):
            receipt = serving.context.store.write_now(
                lambda conn, act=act: getattr(hand_of(serving, "leo"), act)(conn, fact.id)
            )
            assert receipt.outcome is not Outcome.DONE
        assert [each.narrative for each in known_to(serving)] == [NUTS]


def test_nobody_takes_back_what_is_anothers_own(tmp_path: Path):
    with served(tmp_path, rates=FREE) as serving:
        remember(serving, "sarah", NUTS, is_private=True)
        house, store = serving.system.household.id, serving.context.store
        (change,) = store.read_now(lambda conn: list_changes(conn, house))
        with pytest.raises(NotFoundError):
            store.write_now(lambda conn: hand_of(serving, "john").take_back(conn, change.id))
        assert [each.narrative for each in known_to(serving)] == [NUTS]
        store.write_now(lambda conn: hand_of(serving, "sarah").take_back(conn, change.id))
        assert known_to(serving) == []
