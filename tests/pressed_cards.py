"""Messages with buttons about pending actions, delivered, and presses on them."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from kinkeeper.actions.model import ActionStatus, PendingAction, Proposal
from kinkeeper.actions.press_tokens import PressedButton, PressRefusal, count_refused, mint
from kinkeeper.actions.proposals import propose
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.tables import press_tokens
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.model import Household, Member
from kinkeeper.messaging import outbox
from kinkeeper.messaging.delivery import Deliverer
from kinkeeper.messaging.outbound import Button, Outbound, StoredOutbound, Verb
from kinkeeper.messaging.tables import outbox as table
from kinkeeper.observer.button_presses import PressAnswer, press
from kinkeeper.store.store import Store
from pending_samples import FAMILY, NOW, PARENT, choice, event, household, proposal, summaries
from scripted_channel import Death, Outcome, ScriptedChannel

GROUP = "chat-1"
YES_OR_NO = (
    Button(label="Confirm", verb=Verb.CONFIRM),
    Button(label="Not right", verb=Verb.REJECT),
)


def sides(name: str = "m1", **fields: Any) -> Proposal:
    """Return a proposal with three ways and no plain yes."""
    labels = ("Judo", "Checkup", "Both")
    family = fields.get("household", FAMILY.id)
    ways = tuple(choice(label, event(f"{name}-{label}", household_id=family)) for label in labels)
    return proposal(name, effects=(), choices=ways, **fields)


class Cards:
    """A household's queue and the messages that carry its buttons."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.clock = VirtualClock(NOW)
        self.channel = ScriptedChannel()

    def ask(self, stored: Proposal | None = None, **fields: Any) -> PendingAction:
        """Propose something and send a message with its buttons."""
        action = self.propose(stored)
        self.say(action, **fields)
        self.deliver()
        return action

    def propose(self, stored: Proposal | None = None) -> PendingAction:
        now = self.clock.now()
        wanted = stored or proposal()
        family = household(wanted.household)
        return self.store.write_now(
            lambda conn: propose(conn, wanted, household=family, now=now)
        ).action

    def say(self, action: PendingAction, **fields: Any) -> int:
        """Put a message with an action's buttons."""
        ways = action.proposal.choices
        buttons = tuple(Button(label=w.label, verb=Verb.CHOOSE, choice=w.label) for w in ways)
        wanted = {
            "channel": "test",
            "chat_id": GROUP,
            "body": "Which?",
            "action_id": action.id,
            "dedupe_key": f"{action.id}{len(self.rows())}",
            "buttons": buttons or YES_OR_NO,
        }
        household = action.proposal.household
        return self.store.write_now(
            lambda conn: outbox.put(
                conn, household, Outbound(**wanted | fields), now=self.clock.now()
            )
        )[0]

    def deliver(self, *outcomes: Outcome, household: str = FAMILY.id) -> None:
        self.channel.will(outcomes)
        deliverer = Deliverer(self.store, household, [self.channel], mint=mint, clock=self.clock)
        try:
            asyncio.run(deliverer.run_once())
        except Death:
            asyncio.run(
                Deliverer(
                    self.store, household, [self.channel], mint=mint, clock=self.clock
                ).recover()
            )

    def shown(self, label: str, *, latest: int = 1) -> PressedButton:
        """Return a press by a parent on a button that the latest messages show."""
        for each in self.channel.shown[-latest:]:
            for button in each.item.buttons:
                if button.label == label:
                    return PressedButton(
                        data=button.data,
                        chat_id=each.item.chat_id,
                        message_key=each.message_id,
                        member=PARENT,
                    )
        raise AssertionError(f"no button {label!r}")

    def press(
        self, pressed: PressedButton, *, household: Household = FAMILY, now: datetime | None = None
    ) -> PressAnswer:
        moment = now or self.clock.now()
        return self.store.write_now(
            lambda conn: press(conn, pressed, household=household, now=moment)
        )

    def status(self, action: PendingAction) -> ActionStatus:
        return self.action(action).status

    def action(self, action: PendingAction) -> PendingAction:
        household = action.proposal.household
        return self.store.read_now(lambda conn: load_action(conn, household, action.id))

    def graph(self, household: str = FAMILY.id) -> list[str]:
        return self.store.read_now(lambda conn: summaries(conn, household))

    def refused(self, household: str = FAMILY.id) -> dict[PressRefusal, int]:
        return self.store.read_now(lambda conn: count_refused(conn, household))

    def rows(self, household: str = FAMILY.id) -> list[StoredOutbound]:
        return self.store.read_now(
            lambda conn: [
                found
                for row_id in conn.execute(select(table.c.id).order_by(table.c.id)).scalars()
                if (found := outbox.load(conn, household, row_id))
            ]
        )

    def tokens(self) -> list[Any]:
        return list(self.store.read_now(lambda conn: conn.execute(select(press_tokens)).all()))

    def texts(self) -> list[str]:
        return [each.item.body for each in self.channel.shown]

    def labels(self) -> list[str]:
        """Return the labels under the message shown last."""
        return [button.label for button in self.channel.shown[-1].item.buttons]

    def later(self, **wait: float) -> None:
        self.clock.advance_to(self.clock.now() + timedelta(**wait))


def by(pressed: PressedButton, member: Member | None) -> PressedButton:
    """Return the same press by somebody else."""
    return PressedButton(
        data=pressed.data, chat_id=pressed.chat_id, message_key=pressed.message_key, member=member
    )
