"""What goes wrong behind the requests ends nothing: it is counted, shown, and over as soon as its cause is."""

import asyncio
import gc
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import aclosing, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import structlog
from sqlalchemy import Connection, text
from test_slow_tools import QUICK, SCRIPT, Tools, row

from kinkeeper.bootstrap import Houses, open_houses
from kinkeeper.conversation.commit import Ending
from kinkeeper.conversation.events import Streams
from kinkeeper.conversation.model import EventName, TurnEvent
from kinkeeper.conversation.threads import Thread, open_thread
from kinkeeper.conversation.turn import Turn, TurnOutcome
from kinkeeper.conversation.turns import post_to_thread
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.jobs.job import Pace
from kinkeeper.observability.failures import (
    FAILURES,
    POSTPONED,
    count_unforeseen,
    failure_finding,
    surviving,
)
from kinkeeper.observability.findings import Health
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store
from live_household import HOUSEHOLD, MONDAY, said
from scripted_channel import ScriptedChannel
from talking import Script, Talking, on_a_loop, talking
from web_server import Served, served

PACE = Pace(
    poll_every=timedelta(milliseconds=50),
    reconcile_every=timedelta(milliseconds=100),
    upkeep_every=timedelta(milliseconds=50),
)
WORK = {
    "outbox": {"messaging.delivery"},
    "outside_work": {"actions.outside"},
    "task_reminders": {"tasks.reminders"},
    "messages": {"observer.hearing"},
    "observer_messages": {"observer.upkeep", "jobs.upkeep"},
}
"""Tables, and the work that cannot go on without them."""


@contextmanager
def missing(store: Store, tables: Sequence[str]) -> Iterator[None]:
    """Take tables away for the length of the block: a fault that nobody foresaw."""

    def rename(conn: Connection, *, forth: bool) -> None:
        for table in tables:
            old, new = (table, f"{table}_gone") if forth else (f"{table}_gone", table)
            conn.execute(text(f"ALTER TABLE {old} RENAME TO {new}"))

    store.write_now(lambda conn: rename(conn, forth=True))
    try:
        yield
    finally:
        store.write_now(lambda conn: rename(conn, forth=False))


async def until_failed(names: Collection[str], before: dict[str, int]) -> None:
    """Return once each of these has failed again."""
    async with asyncio.timeout(30):
        while behind := [each for each in names if FAILURES.get(each, 0) <= before.get(each, 0)]:
            await asyncio.sleep(0.02)
    assert not behind


@pytest.fixture
def houses(tmp_path: Path) -> Iterator[Houses]:
    file = tmp_path / "household.toml"
    content = HOUSEHOLD.read_text(encoding="utf-8")
    file.write_text(content.replace("[household]\n", '[household]\nchats = ["family"]\n', 1))
    with open_houses(
        Settings(family_context=file, db_path=tmp_path / "home.db"), now=MONDAY
    ) as opened:
        yield opened


@pytest.mark.slow
def test_all_that_goes_on_outlives_any_fault_and_then_does_its_work(houses: Houses) -> None:
    async def story() -> None:
        clock, channel, before = VirtualClock(MONDAY), ScriptedChannel(), dict(FAILURES)
        (household,) = houses.by_id
        async with houses.working(channels={household: [channel]}, clock=clock, pace=PACE):
            for table, work in WORK.items():
                with missing(houses.store, [table]):
                    await until_failed(work, before)
            claims = (
                said(1, "sarah", "I'll pick up the kids Tuesday"),
                said(2, "john", "I can get the kids Tuesday"),
            )
            with houses.live_intakes() as intakes:
                for message in claims:
                    clock.advance_to(message.sent_at)
                    await houses.store.write(
                        lambda conn, message=message: intakes[household].receive(  # type: ignore[misc]
                            conn, message, now=message.sent_at
                        )
                    )
            async with asyncio.timeout(30):
                while not channel.shown:
                    await asyncio.sleep(0.02)

    asyncio.run(story())
    finding = failure_finding()
    assert finding.health is Health.WARNING
    assert not [name for name in set().union(*WORK.values()) if name not in finding.found]


@pytest.mark.slow
def test_a_database_that_goes_away_puts_off_all_work_and_the_process_ends_in_order(
    houses: Houses,
) -> None:
    away = {
        "actions.outside",
        "tasks.reminders",
        "observer.upkeep",
        "observer.hearing",
        "jobs.upkeep",
    }

    async def story() -> None:
        before, failed = dict(POSTPONED), dict(FAILURES)
        async with houses.working(clock=VirtualClock(MONDAY), pace=PACE):
            houses.store.close()
            async with asyncio.timeout(30):
                while any(POSTPONED.get(each, 0) <= before.get(each, 0) for each in away):
                    await asyncio.sleep(0.02)
        assert dict(FAILURES) == failed, "a database that is away is no mistake"

    asyncio.run(story())
    assert failure_finding().found


async def _talk_on(held: Talking) -> None:
    # Waits for no answer: where the disk fills up while one is worked out, its turn is postponed.
    for number in range(50):
        await held.say(f"hello {number} " * 200, thread_id=f"thread {number}")


@pytest.mark.slow
@on_a_loop
async def test_a_full_disk_is_told_and_the_talk_goes_on_once_there_is_room(tmp_path: Path) -> None:
    async with talking(tmp_path, Script({})) as held:
        pages = held.system.store.write_now(
            lambda conn: conn.exec_driver_sql("PRAGMA page_count").scalar_one()
        )
        await held.system.store.write(
            lambda conn: conn.exec_driver_sql(f"PRAGMA max_page_count={pages}").close()
        )
        with pytest.raises(UnavailableError, match="disk is full"):
            await _talk_on(held)
        await held.system.store.write(
            lambda conn: conn.exec_driver_sql("PRAGMA max_page_count=1073741823").close()
        )
        assert await held.answer("hello", thread_id="afterwards")


@on_a_loop
async def test_listeners_hear_again_what_other_processes_tell(tmp_path: Path) -> None:
    file, before = tmp_path / "family.db", dict(FAILURES)
    thread = Thread(
        household="home",
        id="mine",
        member="ann",
        channel="web",
        chat_id=None,
        created_at=MONDAY,
        last_at=MONDAY,
    )

    def tell(words: str, conn: Connection) -> None:
        open_thread(conn, thread)
        assert post_to_thread(conn, "home", "mine", words, key=words, now=MONDAY)

    async def hear(mine: AsyncIterator[TurnEvent]) -> str:
        async with asyncio.timeout(30):
            while (event := await anext(mine)).name is not EventName.DONE:
                pass
        return str(event.data["text"])

    with Store.open(str(file)) as here, Store.open(str(file)) as elsewhere:
        here.write_now(partial(tell, "first"))
        ann = Member(id="ann", name="Ann", role=Role.PARENT)
        home = Household(
            id="home",
            zone=ZoneInfo("UTC"),
            locale="en",
            bot_name="Icarus",
            owner="ann",
            members=(ann,),
        )
        streams = Streams(here, home)
        async with aclosing(streams.events(ann, "mine", after=0, turn_id=None)) as mine:
            assert await hear(mine) == "first"
            with missing(elsewhere, ["threads"]):
                await until_failed(["conversation.streams"], before)
            elsewhere.write_now(partial(tell, "second"))
            assert await hear(mine) == "second"
        await streams.close()


class Stumbling:
    """A channel that fails to say that a turn goes on behind the talk."""

    def ended(self, _conn: Connection, _turn: Turn, _ending: Ending) -> None:
        """Say nothing; the stream tells it."""

    def goes_on(self, _conn: Connection, turn: Turn, _text: str) -> None:
        raise KeyError(turn.text)


@on_a_loop
async def test_a_turn_that_cannot_step_aside_keeps_its_claim_and_is_answered(
    tmp_path: Path,
) -> None:
    tools, before = Tools(), dict(FAILURES)
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=QUICK) as other:
        held = other.again(outlets={"web": Stumbling()})
        said = await held.say("look for a camp")
        await tools.begun.wait()
        await until_failed(["conversation.tool_work"], before)
        first = row(held, said.turn_id).lease_until
        held.later(seconds=30)
        async with asyncio.timeout(10):
            while row(held, said.turn_id).lease_until <= first:
                await asyncio.sleep(0.01)
        tools.go.set()
        assert "camp" in (await held.heard(said))[-1].data["text"]


@on_a_loop
async def test_a_stop_is_heard_after_looking_for_it_failed(tmp_path: Path) -> None:
    tools, before = Tools(), dict(FAILURES)
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds) as held:
        said = await held.say("look for a camp")
        await tools.begun.wait()
        with missing(held.system.store, ["turns"]):
            await until_failed(["conversation.stops"], before)
        await held.again().conversation.stop(held.john, said.thread_id)
        await held.heard(said)
        assert row(held, said.turn_id).outcome == TurnOutcome.CANCELLED.value


@pytest.mark.slow
def test_a_turn_that_broke_off_is_taken_up_within_a_minute_and_answered(houses: Houses) -> None:
    async def story() -> str:
        clock, before = VirtualClock(MONDAY), dict(FAILURES)
        (system,) = houses.systems
        async with (
            houses.talking(clock) as talking,
            houses.working(clock=clock, pace=PACE, talking=talking),
        ):
            talk = talking.talks[system.household.id].conversation
            john = system.household.adults[0]
            with missing(houses.store, ["routing_decisions", "stage_failures"]):
                said = await talk.say(john, "add milk to my list", channel="web")
                await until_failed(["conversation.turn"], before)
                await talk.idle()
            clock.advance_to(clock.now() + timedelta(minutes=1))
            events = talk.events(john, said.thread_id, after=said.after, turn_id=said.turn_id)
            async with asyncio.timeout(30):
                return str([event async for event in events][-1].data["text"])

    assert "ilk is on" in asyncio.run(story())


@on_a_loop
async def test_what_nobody_awaits_is_counted_and_told_without_its_words() -> None:
    async def breaks() -> None:
        raise KeyError("what somebody wrote")

    count_unforeseen(asyncio.get_running_loop())
    before = FAILURES.get("unforeseen", 0)
    with structlog.testing.capture_logs() as logged:
        task = asyncio.ensure_future(breaks())
        await asyncio.wait([task])
        del task
        gc.collect()
    assert FAILURES["unforeseen"] == before + 1
    assert "KeyError" in str(logged)
    assert "somebody" not in str(logged)


def test_what_is_away_is_put_off_and_what_ends_a_task_ends_it() -> None:
    before = (FAILURES.get("test", 0), POSTPONED.get("test", 0))
    with surviving("test") as done:
        raise UnavailableError("away")
    assert isinstance(done.error, UnavailableError)
    with pytest.raises(asyncio.CancelledError), surviving("test"):
        raise asyncio.CancelledError
    assert (FAILURES.get("test", 0), POSTPONED["test"]) == (before[0], before[1] + 1)


@pytest.mark.slow
def test_what_failed_stands_on_the_health_page_and_among_the_figures(tmp_path: Path) -> None:
    with surviving("test.shown"):
        raise KeyError

    async def story(house: Served) -> str:
        async with house.bearing(house.token("sarah")) as client:
            return (await client.get("/metrics")).text

    with served(tmp_path) as house:
        assert 'kinkeeper_failed_rounds{state="test.shown"} 1.0' in asyncio.run(story(house))
