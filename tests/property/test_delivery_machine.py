"""Whatever a channel does and wherever the process dies: nothing is lost, nothing sent twice unmarked, order kept."""

import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from sqlalchemy import select

from kinkeeper.core.time import VirtualClock
from kinkeeper.messaging import outbox
from kinkeeper.messaging.addresses import remember_private_chat, set_member_only
from kinkeeper.messaging.delivery import REPEATED, Deliverer
from kinkeeper.messaging.outbound import (
    Outbound,
    OutboundKind,
    OutboundState,
    Route,
    StoredOutbound,
    stored,
)
from kinkeeper.messaging.tables import outbox as table
from kinkeeper.store.store import Store
from scripted_channel import Death, Outcome, ScriptedChannel, Shown

pytestmark = pytest.mark.slow

START = datetime(2026, 5, 11, 9, 0, tzinfo=UTC)
HOUSE = "vienna"
CHATS = ("one", "two")
MEMBERS = ("ines", "omar")
OPEN = {OutboundState.QUEUED, OutboundState.SENDING}
OUTCOMES = st.lists(st.sampled_from(list(Outcome)), max_size=4)


class Deliveries(RuleBasedStateMachine):
    """The outbox, a channel that fails at every point, and a process that dies now and then."""

    sends: Bundle[int] = Bundle("sends")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = Store.open(str(Path(self.folder.name) / "outbox.db"))
        self.clock = VirtualClock(START)
        self.channel = ScriptedChannel()
        self.number = 0
        self.failures: set[int] = set()
        self.start()
        self.store.write_now(self.introduce)

    def introduce(self, conn: object) -> None:
        now = self.clock.now()
        set_member_only(conn, HOUSE, "test", "one", may=True, now=now)  # type: ignore[arg-type]
        remember_private_chat(conn, HOUSE, "test", member="ines", chat_id="p-ines", now=now)  # type: ignore[arg-type]

    def start(self) -> None:
        self.deliverer = Deliverer(
            self.store, HOUSE, [self.channel], mint=lambda *_: (), clock=self.clock
        )
        asyncio.run(self.deliverer.recover())

    def teardown(self) -> None:
        try:
            self.drain()
            self.check_the_end()
        finally:
            self.store.close()
            self.folder.cleanup()

    def put(self, **fields: object) -> int:
        self.number += 1
        message = Outbound(
            channel="test", body=f"text {self.number}", dedupe_key=str(self.number), **fields
        )  # type: ignore[arg-type]
        now = self.clock.now()
        row_id, is_new = self.store.write_now(
            lambda conn: outbox.put(conn, HOUSE, message, now=now)
        )
        assert is_new
        return row_id

    @rule(
        target=sends,
        chat=st.sampled_from(CHATS),
        is_unprompted=st.booleans(),
        minutes=st.none() | st.integers(1, 3),
        member=st.none() | st.sampled_from(MEMBERS),
    )
    def say(self, chat: str, is_unprompted: bool, minutes: int | None, member: str | None) -> int:
        until = None if minutes is None else self.clock.now() + timedelta(minutes=minutes)
        return self.put(
            chat_id=chat, is_unprompted=is_unprompted, deliver_by=until, audience=member
        )

    @rule(row=sends)
    def change(self, row: int) -> None:
        self.put(chat_id="?", kind=OutboundKind.EDIT, edits=row)

    @rule(chat=st.sampled_from(CHATS))
    def answer(self, chat: str) -> None:
        self.put(chat_id=chat, kind=OutboundKind.NOTICE, answer_to=f"press {self.number}")

    @rule(outcomes=OUTCOMES)
    def deliver(self, outcomes: list[Outcome]) -> None:
        self.channel.will(outcomes)
        try:
            asyncio.run(self.deliverer.run_once())
        except (Death, BaseExceptionGroup):
            self.start()

    @rule(seconds=st.sampled_from((1, 30, 100)))
    def wait(self, seconds: int) -> None:
        self.clock.advance_to(self.clock.now() + timedelta(seconds=seconds))

    @rule(chat=st.sampled_from(CHATS))
    def move(self, chat: str) -> None:
        self.channel.moved.setdefault(chat, f"{chat}-new")

    @rule(refuses=st.booleans())
    def allow(self, refuses: bool) -> None:
        self.channel.refuses_members = refuses

    @invariant()
    def nothing_is_sent_twice_unmarked(self) -> None:
        rows = self.rows()
        for row_id, times in self.sent().items():
            row = rows[row_id]
            bodies = [each.item.body for each in times]
            if row.message.is_unprompted:
                assert bodies == [row.message.body]
            else:
                allowed = [row.message.body, row.message.body + REPEATED]
                assert bodies in (allowed[:1], allowed[1:], allowed)

    @invariant()
    def each_chat_is_in_order(self) -> None:
        rows = self.rows()
        seen: dict[str, list[int]] = {}
        for each in self.channel.shown:
            row = rows[each.item.id]
            # What the group could not show to one member came to its private chat late.
            if each.item.kind is not OutboundKind.NOTICE and row.route is not Route.PRIVATE:
                seen.setdefault(each.item.chat_id.removesuffix("-new"), []).append(row.id)
        for ids in seen.values():
            assert ids == sorted(ids)

    @invariant()
    def changes_follow_their_message(self) -> None:
        rows = self.rows()
        shown_as: dict[int, set[str]] = {}
        for each in self.channel.shown:
            if each.item.kind is OutboundKind.SEND:
                shown_as.setdefault(each.item.id, set()).add(each.message_id)
            elif each.item.kind is OutboundKind.EDIT:
                assert each.message_id in shown_as[rows[each.item.id].message.edits or 0]

    def rows(self) -> dict[int, StoredOutbound]:
        found = self.store.read_now(
            lambda conn: [stored(row) for row in conn.execute(select(table)).mappings()]
        )
        return {row.id: row for row in found}

    def sent(self) -> dict[int, list[Shown]]:
        times: dict[int, list[Shown]] = {}
        for each in self.channel.shown:
            if each.item.kind is OutboundKind.SEND:
                times.setdefault(each.item.id, []).append(each)
        return times

    def drain(self) -> None:
        self.channel.will(())
        for _ in range(6):
            self.wait(100)
            asyncio.run(self.deliverer.run_once())

    def check_the_end(self) -> None:
        rows, sent = self.rows(), self.sent()
        for row in rows.values():
            assert row.state not in OPEN, "something waits for ever"
            if row.message.kind is OutboundKind.SEND:
                self.check_message(row, was_shown=row.id in sent)
        for message in rows.values():
            self.check_last_text(message, rows)

    def check_message(self, row: StoredOutbound, *, was_shown: bool) -> None:
        match row.state:
            case OutboundState.SENT:
                assert was_shown
            case OutboundState.DROPPED:
                assert row.message.deliver_by is not None
            case OutboundState.UNKNOWN:
                assert row.unknowns == (1 if row.message.is_unprompted else 2)
            case _:
                assert row.error in {"not allowed", "no way to reach this member privately"}
                assert not was_shown or row.unknowns

    def check_last_text(self, message: StoredOutbound, rows: dict[int, StoredOutbound]) -> None:
        changes = [row for row in rows.values() if row.message.edits == message.id]
        if message.state is not OutboundState.SENT or not changes:
            return
        last = changes[-1]
        if last.state is OutboundState.SENT:
            texts = [
                each.item.body
                for each in self.channel.shown
                if each.message_id == message.message_key
            ]
            assert texts[-1] == last.message.body
        else:
            assert last.error in {
                "not allowed",
                "ConnectionResetError",
                "the message it changes was sent before the chat changed its id",
            }


TestDeliveries = Deliveries.TestCase
TestDeliveries.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
