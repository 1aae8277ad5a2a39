"""Buttons under messages: who may press what where, once; and what the messages say afterwards."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from kinkeeper.actions import approvals, proposals
from kinkeeper.actions.button_removal import SETTLED_FIRST
from kinkeeper.actions.model import ActionStatus, PendingAction, RejectReason
from kinkeeper.actions.press_tokens import PREFIX, PressRefusal, purge_tokens
from kinkeeper.actions.reversal import undo
from kinkeeper.actions.tables import pending_actions
from kinkeeper.core.time import Interval
from kinkeeper.messaging.addresses import record_move, remember_private_chat, set_member_only
from kinkeeper.messaging.outbound import OutboundKind, OutboundState
from kinkeeper.observer.feedback import count_feedback
from kinkeeper.store.store import Store
from pending_samples import (
    CHILD,
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
from scripted_channel import Outcome


@pytest.fixture
def cards(tmp_path: Path) -> Iterator[Cards]:
    with Store.open(str(tmp_path / "family.db")) as store:
        yield Cards(store)


def test_a_press_carries_out_what_its_button_says(cards: Cards) -> None:
    action = cards.ask(sides())
    pressed = cards.shown("Judo")
    assert pressed.data.startswith(PREFIX)
    assert len(pressed.data.encode()) <= 64
    answer = cards.press(pressed)
    assert (answer.message, answer.is_change) == ("Judo it is.", True)
    assert (cards.status(action), cards.action(action).choice) == (ActionStatus.DONE, "Judo")
    assert cards.action(action).decided_by == PARENT.id
    assert cards.graph() == ["Tara m1-Judo"]


def test_only_a_hash_of_the_secret_is_stored(cards: Cards) -> None:
    cards.ask()
    secret = cards.shown("Confirm").data.removeprefix(PREFIX)
    path = cards.store.url.database
    assert path is not None
    assert all(secret not in str(row) for row in cards.tokens())
    cards.store.fold_log()
    assert secret.encode() not in Path(path).read_bytes()


def test_the_same_press_twice_gets_the_same_answer(cards: Cards) -> None:
    cards.ask()
    first, second = (cards.press(cards.shown("Confirm")) for _ in range(2))
    assert first.message == second.message
    assert (first.is_change, second.is_change, second.refusal) == (True, False, None)
    assert len(cards.graph()) == 1
    assert not cards.refused()


def test_the_first_person_decides_and_the_next_is_told(cards: Cards) -> None:
    action = cards.ask(sides())
    judo, both = cards.shown("Judo"), cards.shown("Both")
    cards.press(judo)
    same, other = cards.press(by(judo, GUARDIAN)), cards.press(by(both, HELPER))
    assert [same.message, other.message] == ["Already approved by Ines."] * 2
    assert (same.refusal, other.refusal) == (PressRefusal.REPLAYED, PressRefusal.SETTLED)
    assert cards.action(action).choice == "Judo"
    assert cards.graph() == ["Tara m1-Judo"]


class TestRefused:
    """Each changes nothing, is told politely in one line, and is counted."""

    @pytest.fixture(autouse=True)
    def asked(self, cards: Cards) -> PendingAction:
        self.action = cards.ask()
        self.yes = cards.shown("Confirm")
        return self.action

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"data": PREFIX + "a" * 32}, PressRefusal.FORGED),
            ({"data": ""}, PressRefusal.FORGED),
            ({"data": "confirm"}, PressRefusal.FORGED),
            ({"chat_id": "another"}, PressRefusal.FOREIGN_CHAT),
            ({"message_key": "101"}, PressRefusal.FOREIGN_MESSAGE),
            ({"member": None}, PressRefusal.FOREIGN_MEMBER),
            ({"member": replace(PARENT, id="eve")}, PressRefusal.FOREIGN_MEMBER),
            ({"member": replace(CHILD, role=PARENT.role)}, PressRefusal.FOREIGN_MEMBER),
            ({"member": CHILD}, PressRefusal.NOT_ADULT),
            ({"member": FRIEND}, PressRefusal.NOT_ADULT),
        ],
    )
    def test_a_press_that_does_not_fit(
        self, cards: Cards, change: dict[str, object], reason: PressRefusal
    ) -> None:
        self.refuses(cards, cards.press(replace(self.yes, **change)), reason)  # type: ignore[arg-type]
        assert cards.press(self.yes).is_change

    def test_after_its_time(self, cards: Cards) -> None:
        late = self.action.expires_at
        self.refuses(cards, cards.press(self.yes, now=late), PressRefusal.EXPIRED)

    def test_what_is_stored_is_not_what_was_shown(self, cards: Cards) -> None:
        cards.store.write_now(
            lambda conn: conn.execute(update(pending_actions).values(payload_hash="0" * 64))
        )
        self.refuses(cards, cards.press(self.yes), PressRefusal.CHANGED)

    def test_taken_back_in_between(self, cards: Cards) -> None:
        cards.store.write_now(
            lambda conn: proposals.withdraw(
                conn, self.action.id, household=FAMILY.id, now=NOW, by_source="m2"
            )
        )
        answer = cards.press(self.yes)
        assert answer.message == "This was called off in the chat; nothing was changed."
        assert answer.refusal is PressRefusal.SETTLED
        assert cards.graph() == []

    def test_of_another_household(self, cards: Cards) -> None:
        other = household("graz")
        answer = cards.press(self.yes, household=other)
        assert answer.refusal is PressRefusal.FORGED
        assert cards.refused("graz") == {PressRefusal.FORGED: 1}
        assert cards.status(self.action) is ActionStatus.PENDING

    def test_once_purged(self, cards: Cards) -> None:
        after = self.action.expires_at + timedelta(seconds=1)
        assert cards.store.write_now(lambda conn: purge_tokens(conn, FAMILY.id, before=after)) == 2
        self.refuses(cards, cards.press(self.yes), PressRefusal.FORGED)

    def refuses(self, cards: Cards, answer: object, reason: PressRefusal) -> None:
        assert getattr(answer, "refusal", None) is reason
        assert not getattr(answer, "is_change", True)
        message = str(getattr(answer, "message", ""))
        assert message
        assert len(message) <= 200
        assert "\n" not in message
        assert cards.refused() == {reason: 1}
        assert cards.status(self.action) is ActionStatus.PENDING
        assert cards.graph() == []


def test_a_card_for_one_person_is_not_for_another(cards: Cards) -> None:
    cards.store.write_now(
        lambda conn: set_member_only(conn, FAMILY.id, "test", GROUP, may=True, now=NOW)
    )
    cards.ask(audience=GUARDIAN.id)
    pressed = cards.shown("Confirm")
    assert cards.press(pressed).refusal is PressRefusal.FOREIGN_MEMBER
    assert cards.press(by(pressed, GUARDIAN)).is_change


def test_a_button_works_in_a_private_chat_and_in_a_chat_that_moved(cards: Cards) -> None:
    cards.store.write_now(
        lambda conn: remember_private_chat(
            conn, FAMILY.id, "test", member=PARENT.id, chat_id="private", now=NOW
        )
    )
    cards.ask(audience=PARENT.id)
    assert cards.shown("Confirm").chat_id == "private"
    assert cards.press(cards.shown("Confirm")).is_change
    cards.ask(proposal("m2"))
    cards.store.write_now(
        lambda conn: record_move(conn, FAMILY.id, "test", old=GROUP, new="super", now=NOW)
    )
    moved = replace(cards.shown("Confirm"), chat_id="super")
    assert cards.press(moved).is_change


@pytest.mark.parametrize("death", [Outcome.DIES_AFTER, Outcome.LOST_AFTER])
def test_a_press_on_a_message_nobody_knew_had_arrived_counts_and_tells_its_id(
    cards: Cards, death: Outcome
) -> None:
    action = cards.propose()
    row = cards.say(action)
    cards.deliver(death)
    cards.deliver()
    pressed = cards.shown("Confirm")
    elsewhere = replace(pressed, chat_id="another")
    assert cards.press(elsewhere).refusal is PressRefusal.FOREIGN_CHAT
    assert cards.press(pressed).is_change
    stored = {each.id: each for each in cards.rows()}[row]
    assert (stored.channel_message_id, stored.state) == ("100", OutboundState.SENT)
    cards.deliver()
    assert cards.texts()[-1] == f"Done: {action.proposal.summary}"
    other = replace(pressed, message_key="999")
    assert cards.press(other).refusal is PressRefusal.FOREIGN_MESSAGE


def test_buttons_of_a_try_that_never_went_out_do_nothing_and_the_repeat_has_its_own(
    cards: Cards,
) -> None:
    action = cards.propose()
    cards.say(action, is_unprompted=False)
    cards.deliver(Outcome.LOST_AFTER)
    first, second = cards.channel.shown[0], cards.channel.shown[1]
    assert {b.data for b in first.item.buttons}.isdisjoint(b.data for b in second.item.buttons)
    old = replace(
        cards.shown("Confirm"), data=first.item.buttons[0].data, message_key=first.message_id
    )
    assert cards.press(old).is_change
    assert cards.press(cards.shown("Confirm")).refusal is PressRefusal.SETTLED


class TestAfterwards:
    """Whatever ends an action, every message with its buttons says so and loses them."""

    def test_a_press_changes_all_of_them_and_offers_undo(self, cards: Cards) -> None:
        action = cards.ask(sides())
        cards.say(action, chat_id="chat-2")
        cards.deliver()
        cards.press(cards.shown("Judo"))
        cards.deliver()
        assert cards.texts()[-2:] == ["Judo it is."] * 2
        assert cards.labels() == ["Undo"]
        assert [each.message_id for each in cards.channel.shown] == ["100", "101", "100", "101"]
        taken_back = cards.press(by(cards.shown("Undo"), GUARDIAN))
        assert taken_back.message.startswith("Undone: ")
        assert cards.graph() == []
        cards.deliver()
        assert cards.texts()[-1].startswith("Undone: ")
        assert cards.labels() == []

    def test_undo_has_its_day(self, cards: Cards) -> None:
        cards.ask()
        cards.press(cards.shown("Confirm"))
        cards.deliver()
        undo_button = cards.shown("Undo")
        cards.later(hours=24)
        assert cards.press(undo_button).refusal is PressRefusal.EXPIRED
        assert len(cards.graph()) == 1

    @pytest.mark.parametrize("way", ["expire", "withdraw", "supersede", "confirm", "reject"])
    def test_ways_out_that_no_button_made(self, cards: Cards, way: str) -> None:
        action = cards.ask()
        newer = cards.propose(proposal("m2"))
        cards.later(hours=1)
        now = cards.clock.now()
        person = {"member": PARENT, "household": FAMILY, "now": now}
        ends = {
            "expire": lambda conn: proposals.expire_due(conn, FAMILY.id, action.expires_at),
            "withdraw": lambda conn: proposals.withdraw(
                conn, action.id, household=FAMILY.id, now=now, by_source="m3"
            ),
            "supersede": lambda conn: proposals.supersede(
                conn, action.id, household=FAMILY.id, by_action_id=newer.id, now=now
            ),
            "confirm": lambda conn: approvals.confirm(conn, action.id, **person),
            "reject": lambda conn: approvals.reject(conn, action.id, **person),
        }
        assert cards.store.write_now(ends[way])
        cards.deliver()
        said = {
            "expire": "Expired, nothing was changed",
            "withdraw": "Withdrawn in the chat",
            "supersede": "Replaced by something newer",
            "confirm": "Done",
            "reject": "Declined",
        }
        assert cards.texts()[1:] == [f"{said[way]}: {action.proposal.summary}"]
        after = {"confirm": ["Undo"], "expire": ["Restore"]}
        assert cards.labels() == after.get(way, [])

    def test_undone_elsewhere(self, cards: Cards) -> None:
        action = cards.ask()
        cards.press(cards.shown("Confirm"))
        cards.store.write_now(
            lambda conn: undo(conn, action.id, member=PARENT, household=FAMILY, now=NOW)
        )
        cards.deliver()
        assert cards.texts()[1:] == [f"Undone: {action.proposal.summary}"]
        assert cards.labels() == []

    def test_what_has_not_gone_out_yet_stays_unsaid(self, cards: Cards) -> None:
        action = cards.propose()
        row = cards.say(action)
        cards.store.write_now(
            lambda conn: approvals.reject(conn, action.id, member=PARENT, household=FAMILY, now=NOW)
        )
        cards.deliver()
        assert cards.texts() == []
        (stored,) = cards.rows()
        assert (stored.id, stored.state, stored.error) == (
            row,
            OutboundState.DROPPED,
            SETTLED_FIRST,
        )

    def test_what_somebody_asked_for_is_still_said_without_dead_buttons(self, cards: Cards) -> None:
        action = cards.propose()
        cards.say(action, is_unprompted=False)
        cards.store.write_now(
            lambda conn: approvals.reject(conn, action.id, member=PARENT, household=FAMILY, now=NOW)
        )
        cards.deliver()
        assert cards.channel.shown[0].item.buttons == ()
        assert cards.texts()[-1].startswith("Declined: ")

    def test_a_no_on_ones_own_card_asks_why(self, cards: Cards) -> None:
        for member, chat in ((PARENT, "p1"), (GUARDIAN, "p2")):
            cards.store.write_now(
                lambda conn, member=member, chat=chat: remember_private_chat(
                    conn, FAMILY.id, "test", member=member.id, chat_id=chat, now=NOW
                )
            )
        action = cards.ask(audience=PARENT.id)
        cards.say(action, audience=GUARDIAN.id)
        cards.deliver()
        no = cards.shown("Not right", latest=2)
        assert cards.press(no).message.startswith("Declined: ")
        cards.deliver()
        by_chat = {each.item.chat_id: each.item.buttons for each in cards.channel.shown}
        reasons = RejectReason.of(action.proposal.type)
        assert [button.label for button in by_chat["p1"]] == [each.label for each in reasons]
        assert by_chat["p2"] == ()
        why = cards.shown("Wrong day", latest=2)
        assert cards.press(why).is_change
        span = Interval(NOW, NOW + timedelta(days=1))
        said = cards.store.read_now(lambda conn: count_feedback(conn, FAMILY.id, span))
        assert said.not_right == {RejectReason.WRONG_DAY: 1}

    def test_a_change_is_put_once(self, cards: Cards) -> None:
        cards.ask()
        cards.press(cards.shown("Confirm"))
        cards.press(cards.shown("Confirm"))
        kinds = [row.message.kind for row in cards.rows()]
        assert kinds == [OutboundKind.SEND, OutboundKind.EDIT]
