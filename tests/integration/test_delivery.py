"""What the deliverer does with one message at a time: retries, moved chats, private ways, changes, sounds."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select

from kinkeeper.core.errors import InputError, InvariantError
from kinkeeper.core.time import SystemClock, VirtualClock
from kinkeeper.messaging import addresses, inbox, outbox, tables
from kinkeeper.messaging.delivery import (
    LEFT_BEHIND,
    NEVER_SENT,
    OVERTAKEN,
    REPEATED,
    TOO_LATE,
    Deliverer,
    DeliveryPace,
)
from kinkeeper.messaging.outbound import (
    Button,
    Outbound,
    OutboundKind,
    OutboundState,
    QuietHours,
    Route,
    StoredOutbound,
    Verb,
)
from kinkeeper.store.store import Store
from scripted_channel import RETRY_AFTER, Death, Outcome, ScriptedChannel

NOW = datetime(2026, 5, 11, 9, 0, tzinfo=UTC)
HOUSE = "vienna"


class Post:
    """A household's outbox, a channel, and a deliverer on a clock moved by hand."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.clock = VirtualClock(NOW)
        self.channel = ScriptedChannel()
        self.quiet_hours: QuietHours | None = None

    def put(self, key: str, **fields: Any) -> int:
        wanted = {"channel": "test", "chat_id": "group", "body": key, "dedupe_key": key}
        row_id, _ = self.store.write_now(
            lambda conn: outbox.put(conn, HOUSE, Outbound(**wanted | fields), now=self.clock.now())
        )
        return row_id

    def change(self, key: str, of: int) -> int:
        return self.put(key, kind=OutboundKind.EDIT, edits=of)

    def deliver(self, *outcomes: Outcome) -> int:
        self.channel.will(outcomes)
        return asyncio.run(self.deliverer().run_once())

    def deliverer(self, clock: Any = None, **pace: Any) -> Deliverer:
        return Deliverer(
            self.store,
            HOUSE,
            [self.channel],
            mint=lambda *_: (),
            clock=clock or self.clock,
            quiet_hours=self.quiet_hours,
            pace=DeliveryPace(**pace),
        )

    def die(self, *outcomes: Outcome) -> None:
        with pytest.raises(Death):
            self.deliver(*outcomes)
        asyncio.run(self.deliverer().recover())

    def later(self, **wait: float) -> None:
        self.clock.advance_to(self.clock.now() + timedelta(**wait))

    def row(self, row_id: int) -> StoredOutbound:
        found = self.store.read_now(lambda conn: outbox.load(conn, HOUSE, row_id))
        assert found is not None
        return found

    def states(self, *row_ids: int) -> list[str]:
        return [self.row(row_id).state.value for row_id in row_ids]

    def texts(self) -> list[str]:
        return [each.item.body for each in self.channel.shown]

    def write(self, work: Any, *arguments: Any, **more: Any) -> Any:
        return self.store.write_now(lambda conn: work(conn, HOUSE, *arguments, **more))


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Post]:
    with Store.open(str(tmp_path / "outbox.db")) as store:
        yield Post(store)


def test_what_is_put_goes_out_in_order_and_is_not_put_twice(post: Post) -> None:
    one, two = post.put("one"), post.put("two")
    assert post.put("one") == one
    assert post.deliver() == 2
    assert post.texts() == ["one", "two"]
    assert post.states(one, two) == ["sent", "sent"]
    assert (post.row(one).channel_message_id, post.row(one).sent_at) == ("100", NOW)
    assert post.deliver() == 0


def test_what_surely_did_not_go_out_waits_longer_each_time_and_holds_its_chat(post: Post) -> None:
    first, second, elsewhere = post.put("first"), post.put("second"), post.put("x", chat_id="other")
    post.deliver(Outcome.NOT_SENT)
    assert post.states(first, second, elsewhere) == ["queued", "queued", "sent"]
    assert post.row(first).error == "no connection"
    assert post.deliver() == 0
    post.later(seconds=2)
    post.deliver(Outcome.NOT_SENT)
    assert post.row(first).not_before == post.clock.now() + timedelta(seconds=4)
    post.later(seconds=4)
    post.deliver()
    assert post.texts() == ["x", "first", "second"]
    assert post.row(first).attempts == 3


def test_a_chat_is_left_alone_as_long_as_the_channel_says(post: Post) -> None:
    row = post.put("hello")
    post.put("elsewhere", chat_id="other")
    post.deliver(Outcome.TOO_MANY)
    post.later(seconds=RETRY_AFTER.total_seconds() - 1)
    assert post.deliver() == 0
    assert post.texts() == ["elsewhere"]
    post.later(seconds=1)
    assert post.deliver() == 1
    assert post.states(row) == ["sent"]


def test_a_refused_message_fails_in_sight_and_holds_up_nobody(post: Post) -> None:
    bad, good = post.put("bad"), post.put("good")
    post.deliver(Outcome.REFUSED)
    assert post.states(bad, good) == ["failed", "sent"]
    query = select(tables.outbox.c.error).where(tables.outbox.c.id == bad)
    assert post.store.read_now(lambda conn: conn.execute(query).scalar()) == "not allowed"


@pytest.mark.parametrize("death", [Outcome.DIES_BEFORE, Outcome.DIES_AFTER])
def test_an_unprompted_message_is_never_repeated(post: Post, death: Outcome) -> None:
    row = post.put("nobody asked")
    post.die(death)
    post.deliver()
    assert post.states(row) == ["unknown"]
    assert len(post.texts()) == (death is Outcome.DIES_AFTER)


def test_an_awaited_answer_is_repeated_once_and_says_so(post: Post) -> None:
    row = post.put("here you are", is_unprompted=False)
    post.die(Outcome.DIES_AFTER)
    post.deliver(Outcome.LOST_AFTER)
    post.deliver()
    assert post.texts() == ["here you are", "here you are" + REPEATED]
    assert post.states(row) == ["unknown"]


def test_what_is_in_other_hands_is_waited_for_until_its_lease_ends(post: Post) -> None:
    row, behind = post.put("one", is_unprompted=False), post.put("two")
    with pytest.raises(Death):
        post.deliver(Outcome.DIES_BEFORE)
    assert post.deliver() == 0
    post.later(seconds=91)
    post.deliver()
    assert post.texts() == ["one" + REPEATED, "two"]
    assert post.states(row, behind) == ["sent", "sent"]


def test_a_change_waits_for_its_message_and_only_the_newest_is_shown(post: Post) -> None:
    row = post.put("question")
    old, new = post.change("old", row), post.change("new", row)
    post.deliver(Outcome.NOT_SENT)
    assert not post.texts()
    post.later(seconds=5)
    post.deliver()
    assert post.texts() == ["question", "new"]
    assert post.channel.shown[1].message_id == post.row(row).channel_message_id
    assert post.states(old, new) == ["dropped", "sent"]
    assert post.row(old).error == OVERTAKEN


@pytest.mark.parametrize("end", [Outcome.REFUSED, Outcome.LOST_AFTER])
def test_a_change_of_what_never_arrived_is_dropped_with_a_reason(post: Post, end: Outcome) -> None:
    row = post.put("question")
    change = post.change("answer", row)
    post.deliver(end)
    assert post.states(change) == ["dropped"]
    assert post.row(change).error == NEVER_SENT


def test_a_change_that_nobody_can_tell_of_is_made_again_but_not_for_ever(post: Post) -> None:
    row = post.put("question")
    change, after = post.change("answer", row), post.put("next")
    post.deliver(Outcome.OK, Outcome.LOST_AFTER)
    assert post.texts() == ["question", "answer", "answer", "next"]
    again = post.change("again", row)
    post.deliver(*[Outcome.LOST_BEFORE] * 5)
    assert post.states(change, after, again) == ["sent", "sent", "failed"]


def test_what_is_too_late_is_dropped_also_where_no_channel_runs(post: Post) -> None:
    soon = NOW + timedelta(minutes=10)
    waiting = post.put("late", deliver_by=soon)
    elsewhere = post.put("bridge", channel="matrix", deliver_by=soon)
    post.deliver(Outcome.NOT_SENT)
    post.later(minutes=10)
    post.deliver()
    assert post.states(waiting, elsewhere) == ["dropped", "dropped"]
    assert post.row(elsewhere).error == TOO_LATE
    assert not post.texts()


def test_a_chat_that_moved_takes_along_what_waits_and_is_remembered(post: Post) -> None:
    before = post.put("before")
    post.deliver()
    post.channel.moved["group"] = "supergroup"
    one, two = post.put("one", reply_to="17"), post.put("two")
    change = post.change("changed", one)
    late = post.change("left behind", before)
    post.deliver()
    assert [(each.item.chat_id, each.item.body) for each in post.channel.shown[1:]] == [
        ("supergroup", "one"),
        ("supergroup", "two"),
        ("supergroup", "changed"),
    ]
    assert post.channel.shown[1].item.reply_to is None
    assert post.states(one, two, change, late) == ["sent", "sent", "sent", "dropped"]
    assert post.row(late).error == LEFT_BEHIND
    assert post.row(post.put("three")).message.chat_id == "supergroup"
    former = post.store.read_now(
        lambda conn: addresses.former_chats(conn, HOUSE, "test", "supergroup")
    )
    assert former == ("group",)


def test_a_move_that_is_known_already_loses_nothing(post: Post) -> None:
    """Another lane, or the channel itself, may hear of a move while a row is under way to the old id."""
    row = post.put("one")
    post.write(addresses.record_move, "test", old="group", new="supergroup", now=NOW)
    post.channel.moved["group"] = "supergroup"
    post.deliver()
    assert post.states(row) == ["sent"]
    post.channel.moved["supergroup"] = "third"
    answer = post.put("ok", kind=OutboundKind.NOTICE, answer_to="press")
    row = post.put("two")
    post.deliver(Outcome.NOT_SENT, Outcome.OK)
    post.later(minutes=2)
    post.deliver()
    assert post.states(answer, row) == ["sent", "sent"]
    assert post.channel.shown[-1].item.chat_id == "third"


def test_chats_that_move_in_a_circle_end_as_failed(post: Post) -> None:
    post.channel.moved = {"group": "other", "other": "group"}
    row = post.put("hello")
    post.deliver()
    assert post.states(row) == ["failed"]


class TestForOneMemberAlone:
    def test_within_the_group_where_the_channel_can(self, post: Post) -> None:
        post.write(addresses.set_member_only, "test", "group", may=True, now=NOW)
        row = post.put("card", audience="ines")
        change = post.change("done", row)
        post.deliver()
        assert [each.item.route for each in post.channel.shown] == [Route.MEMBER, Route.MEMBER]
        assert post.row(row).message_key == post.row(row).ephemeral_id == "100"
        assert post.channel.shown[1].item.target is not None
        assert post.states(change) == ["sent"]

    def test_else_in_private_else_on_the_pages_only(self, post: Post) -> None:
        post.write(addresses.set_member_only, "test", "group", may=True, now=NOW)
        post.write(addresses.remember_private_chat, "test", member="ines", chat_id="p", now=NOW)
        post.channel.refuses_members = True
        card = post.put("card", audience="ines", reply_to="9")
        change = post.change("done", card)
        nobody = post.put("card for omar", audience="omar")
        post.deliver()
        assert [(each.item.chat_id, each.item.route) for each in post.channel.shown] == [
            ("p", Route.PRIVATE),
            ("p", Route.PRIVATE),
        ]
        assert post.channel.shown[0].item.reply_to is None
        assert post.states(card, change, nobody) == ["sent", "sent", "failed"]

    def test_a_closed_private_chat_leaves_it_to_the_pages(self, post: Post) -> None:
        post.write(addresses.remember_private_chat, "test", member="ines", chat_id="p", now=NOW)
        post.channel.closed_chats.add("p")
        assert post.put("card", audience="ines") == post.put("card")
        post.deliver()
        assert post.states(1) == ["failed"]
        post.write(addresses.forget_private_chat, "test", "ines")
        assert post.states(post.put("again", audience="ines")) == ["failed"]

    def test_capabilities_can_be_taken_back(self, post: Post) -> None:
        post.write(addresses.set_member_only, "test", "group", may=True, now=NOW)
        post.write(addresses.set_member_only, "test", "group", may=False, now=NOW)
        assert post.states(post.put("card", audience="ines")) == ["failed"]


def test_answers_to_presses_do_not_wait_behind_messages(post: Post) -> None:
    post.put("slow")
    notice = post.put("done", kind=OutboundKind.NOTICE, answer_to="press-1")
    post.deliver(Outcome.TOO_MANY)
    assert post.states(notice) == ["sent"]
    late = post.put("too old", kind=OutboundKind.NOTICE, answer_to="press-2")
    post.deliver(Outcome.REFUSED)
    assert post.states(late) == ["dropped"]


def test_rows_of_other_channels_and_households_are_left_alone(post: Post) -> None:
    other = post.put("elsewhere", channel="matrix")
    foreign = post.store.write_now(
        lambda conn: outbox.put(
            conn,
            "graz",
            Outbound(channel="test", chat_id="group", body="b", dedupe_key="k"),
            now=NOW,
        )
    )[0]
    assert post.deliver() == 0
    assert post.states(other) == ["queued"]
    assert post.store.read_now(lambda conn: outbox.load(conn, HOUSE, foreign)) is None


def test_at_night_messages_come_without_a_sound(post: Post) -> None:
    post.quiet_hours = QuietHours.parse("22:00-07:00", ZoneInfo("Europe/Vienna"))
    post.put("by day")
    post.deliver()
    post.later(hours=14)
    post.put("by night")
    post.deliver()
    assert [each.item.is_soundless for each in post.channel.shown] == [False, True]


@pytest.mark.parametrize(
    ("hours", "clock", "is_quiet"),
    [
        ("22:00-07:00", time(21, 59), False),
        ("22:00-07:00", time(22, 0), True),
        ("22:00-07:00", time(6, 59), True),
        ("22:00-07:00", time(7, 0), False),
        ("13:00-15:00", time(14, 0), True),
        ("13:00-15:00", time(15, 0), False),
        ("00:00-00:00", time(0, 0), False),
    ],
)
def test_quiet_hours_may_pass_midnight(hours: str, clock: time, is_quiet: bool) -> None:
    zone = ZoneInfo("Europe/Vienna")
    moment = datetime.combine(NOW.date(), clock, tzinfo=zone)
    assert QuietHours.parse(hours, zone).hold(moment.astimezone(UTC)) is is_quiet


@pytest.mark.parametrize("hours", ["22", "22:00-", "a-b", "22:00-07:00-08:00", "22:00Z-07:00"])
def test_other_words_are_no_quiet_hours(hours: str) -> None:
    with pytest.raises(InputError):
        QuietHours.parse(hours, ZoneInfo("UTC"))


def test_a_change_names_its_message_a_notice_its_press_and_buttons_an_action(post: Post) -> None:
    for wrong in (
        {"kind": OutboundKind.EDIT},
        {"edits": 1},
        {"kind": OutboundKind.NOTICE},
        {"kind": OutboundKind.EDIT, "edits": 99},
        {"buttons": (Button(label="Yes", verb=Verb.CONFIRM),)},
    ):
        with pytest.raises(InvariantError):
            post.put("wrong", **wrong)


class TestRunning:
    def test_a_commit_wakes_it_and_chats_do_not_wait_for_each_other(self, post: Post) -> None:
        post.channel.pause = 0.05

        async def scenario() -> None:
            never = timedelta(hours=1)
            async with post.deliverer(SystemClock(), poll_every=never).running():
                for number in range(12):
                    await asyncio.to_thread(post.put, f"m{number}", chat_id=f"chat {number % 4}")
                async with asyncio.timeout(20):
                    while len(post.channel.shown) < 12:
                        await asyncio.sleep(0.01)

        asyncio.run(scenario())
        assert set(post.channel.busiest.values()) == {1}
        assert len(post.channel.busiest) == 4

    def test_the_end_waits_for_what_is_under_way(self, post: Post) -> None:
        row = post.put("slow")
        post.channel.pause = 0.2

        async def scenario() -> None:
            async with post.deliverer().running():
                while not post.channel.calls:
                    await asyncio.sleep(0.01)

        asyncio.run(scenario())
        assert post.states(row) == ["sent"]

    def test_what_outlasts_the_grace_is_cut_off_and_counts_as_lost(self, post: Post) -> None:
        row = post.put("stuck", is_unprompted=False)
        post.channel.pause = 60

        async def scenario() -> None:
            async with post.deliverer(grace=timedelta(0)).running():
                while not post.channel.calls:
                    await asyncio.sleep(0.01)

        asyncio.run(scenario())
        assert post.states(row) == ["sending"]
        post.channel.pause = 0
        asyncio.run(post.deliverer().recover())
        post.deliver()
        assert post.texts() == ["stuck" + REPEATED]

    def test_a_call_that_takes_too_long_counts_as_lost(self, post: Post) -> None:
        row = post.put("slow")
        post.channel.pause = 60
        deliverer = post.deliverer(call=timedelta(milliseconds=10))
        asyncio.run(deliverer.run_once())
        assert post.states(row) == ["unknown"]
        assert post.row(row).error == "TimeoutError"


def test_updates_that_failed_are_kept_counted_and_purged(post: Post) -> None:
    update = {
        "channel": "test",
        "update_id": "7",
        "content": "{...}",
        "error": "KeyError",
        "now": NOW,
    }

    def kept() -> list[Any]:
        query = select(tables.failed_updates.c["household", "update_id", "content"])
        return [*post.store.read_now(lambda conn: conn.execute(query).all())]

    assert post.write(inbox.keep_failed, **update)
    assert not post.write(inbox.keep_failed, **update)
    assert kept() == [(HOUSE, "7", "{...}")]
    assert post.write(inbox.purge_failed, before=NOW) == 0
    assert post.write(inbox.purge_failed, before=NOW + timedelta(days=1)) == 1
    assert kept() == [(HOUSE, "7", None)]


def test_old_words_leave_the_outbox_and_nothing_that_waits(post: Post) -> None:
    gone, waiting = post.put("old"), post.put("still waits", chat_id="other")
    post.deliver(Outcome.OK, Outcome.NOT_SENT)
    assert post.write(outbox.purge_bodies, before=NOW + timedelta(days=1)) == 1
    assert (post.row(gone).message.body, post.row(waiting).message.body) == ("", "still waits")
    assert post.states(gone) == [OutboundState.SENT.value]
