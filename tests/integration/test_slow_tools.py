"""Tools that outlast a turn's patience: the talk goes on, the end is told, a stop is heeded, a crash repeats nothing."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.effects.outside import CallTool
from kinkeeper.actions.model import ActionType
from kinkeeper.actions.outside.adapter import NotDoneError, PointOfNoReturn, Trace, Work
from kinkeeper.actions.outside.worker import OutsideWorker
from kinkeeper.actions.requests.model import Asked, Found, Parameters, Prepared, RequestKind
from kinkeeper.channels.telegram.private_chat import ChatOutlet
from kinkeeper.cli.chat import _Speaker
from kinkeeper.conversation.commit import Ending
from kinkeeper.conversation.conversation import Said
from kinkeeper.conversation.model import EventName, TurnEvent
from kinkeeper.conversation.stages import Limits
from kinkeeper.conversation.tables import tool_cycles, tool_runs, turns
from kinkeeper.conversation.turn import Turn, TurnOutcome
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs import leases
from kinkeeper.messaging.tables import outbox
from kinkeeper.tasks.repository import list_tasks
from talking import Script, Talking, on_a_loop, talking, wants

SOON = timedelta(milliseconds=30)
QUICK = Limits(status_after=SOON, in_line=SOON, beat=SOON)
PATIENT = Limits(status_after=SOON, beat=SOON)
MILK, EGGS = wants("task", "create", title="buy milk"), wants("task", "create", title="buy eggs")


class Named(Parameters):
    """What is looked for."""

    name: str = ""


class Tools:
    """Two tools of somebody else's: one answers at once, the other when it is let."""

    def __init__(self, limit: timedelta = timedelta(minutes=5)) -> None:
        self.limit = limit
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.calls: list[str] = []

    async def slow(self, params: Named, _asked: Asked) -> Found:
        self.calls.append(f"slow {params.name}")
        self.begun.set()
        await self.go.wait()
        return Found(result={"text": f"slow found {params.name}"})

    async def quick(self, params: Named, _asked: Asked) -> Found:
        self.calls.append(f"quick {params.name}")
        return Found(result={"text": f"quick found {params.name}"})

    @property
    def kinds(self) -> list[RequestKind]:
        return [
            RequestKind(
                domain="finder",
                name=name,
                description="Finds things.",
                parameters=Named,
                stakes=Stakes.LOW,
                progress="Asking finder…",
                is_foreign=True,
                read=read,
                limit=self.limit,
            )
            for name, read in (("slow", self.slow), ("quick", self.quick))
        ]


SCRIPT = {
    "look for a camp": (wants("finder", "slow", name="camp"),),
    "look for a pool": (wants("finder", "quick", name="pool"),),
    "add milk and look for a camp": (MILK, wants("finder", "slow", name="camp")),
    "look twice and add milk": (
        wants("finder", "quick", name="one"),
        wants("finder", "slow", name="two"),
        MILK,
    ),
    "add eggs": (EGGS,),
    "delete the eggs task": (wants("task", "delete", find_by="buy eggs"),),
}


def tasks(held: Talking) -> list[str]:
    household = held.system.household.id
    found = held.system.store.read_now(lambda conn: list_tasks(conn, Viewer.whole(household)))
    return sorted(task.title for task in found)


def row(held: Talking, turn_id: str) -> Any:
    query = select(turns).where(turns.c.id == turn_id)
    return held.system.store.read_now(lambda conn: conn.execute(query).one())


def cycle(held: Talking, turn_id: str) -> Any:
    query = select(tool_cycles).where(tool_cycles.c.turn == turn_id)
    return held.system.store.read_now(lambda conn: conn.execute(query).one())


def runs(held: Talking, turn_id: str) -> list[tuple[str, str]]:
    query = select(tool_runs).where(tool_runs.c.turn == turn_id).order_by(tool_runs.c.number)
    found = held.system.store.read_now(lambda conn: conn.execute(query).all())
    return [(each.request, each.status) for each in found]


async def until_aside(held: Talking, turn_id: str) -> None:
    async with asyncio.timeout(10):
        while not row(held, turn_id).aside:
            await asyncio.sleep(0.01)


async def until_told(held: Talking, said: Said, words: str) -> None:
    events = held.conversation.events(held.john, said.thread_id, after=said.after)
    async with asyncio.timeout(30):
        async for event in events:
            if words in str(event.data.get("text")):
                return


def texts(events: list[Any]) -> list[str]:
    return [event.data["text"] for event in events if event.name is EventName.STATUS]


@on_a_loop
async def test_the_talk_goes_on_while_a_tool_works_and_the_end_is_told(tmp_path: Path) -> None:
    tools = Tools()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=QUICK) as held:
        said = await held.say("look for a camp")
        between = await held.say("add eggs", thread_id=said.thread_id)
        assert (await held.heard(between))[-1].name is EventName.DONE
        assert tasks(held) == ["buy eggs"]
        assert row(held, said.turn_id).outcome is None
        assert cycle(held, said.turn_id).state == "running"
        await until_told(held, said, "so far")
        tools.go.set()
        heard = await held.heard(said)
        assert heard[-1].name is EventName.DONE
        assert "camp" in heard[-1].data["text"]
        assert any("Carry on" in text for text in texts(heard))
        ended = cycle(held, said.turn_id)
        assert (ended.state, ended.type, ended.source) == ("answered", "tool_work", "web")
        assert ended.finished_at is not None
        assert runs(held, said.turn_id) == [("finder.slow", "done")]


@on_a_loop
async def test_a_tool_that_answers_soon_keeps_its_place_in_the_talk(tmp_path: Path) -> None:
    tools = Tools()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=PATIENT) as held:
        said = await held.say("look for a camp")
        await tools.begun.wait()
        after = await held.say("add eggs", thread_id=said.thread_id)
        assert row(held, after.turn_id).state == "queued"
        tools.go.set()
        await held.heard(said)
        await held.heard(after)
        assert not row(held, said.turn_id).aside
        assert runs(held, said.turn_id) == [("finder.slow", "done")]


@on_a_loop
async def test_each_tool_has_its_own_limit_and_what_comes_after_it_is_done(tmp_path: Path) -> None:
    tools = Tools(limit=timedelta(milliseconds=150))
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=QUICK) as held:
        said = await held.say("look twice and add milk")
        await held.heard(said)
        assert runs(held, said.turn_id) == [
            ("finder.quick", "done"),
            ("finder.slow", "failed"),
            ("task.create", "done"),
        ]
        assert tasks(held) == ["buy milk"]


@on_a_loop
async def test_all_that_a_turn_waits_for_has_an_end(tmp_path: Path) -> None:
    tools, limits = Tools(), Limits(in_line=SOON, beat=SOON, tools=timedelta(milliseconds=300))
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=limits) as held:
        said = await held.say("look for a camp")
        heard = await held.heard(said)
        assert "couldn't" in heard[-1].data["text"]
        assert runs(held, said.turn_id) == [("finder.slow", "failed")]


@on_a_loop
async def test_stop_breaks_a_tool_off_and_what_was_done_is_told(tmp_path: Path) -> None:
    tools = Tools()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=PATIENT) as held:
        said = await held.say("add milk and look for a camp")
        await tools.begun.wait()
        assert await held.conversation.stop(held.john, said.thread_id) == 1
        heard = await held.heard(said)
        assert "milk" in heard[-1].data["text"]
        assert "You said stop" in heard[-1].data["text"]
        assert tasks(held) == ["buy milk"]
        assert cycle(held, said.turn_id).state == TurnOutcome.CANCELLED.value


@on_a_loop
async def test_a_spoken_stop_breaks_off_what_works_behind_the_talk(tmp_path: Path) -> None:
    tools = Tools()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=QUICK) as held:
        said = await held.say("look for a camp")
        await until_aside(held, said.turn_id)
        assert "stopped" in await held.answer("stop", thread_id=said.thread_id)
        heard = await held.heard(said)
        assert "You said stop" in heard[-1].data["text"]
        assert row(held, said.turn_id).outcome == TurnOutcome.CANCELLED.value


@on_a_loop
async def test_a_stop_that_another_process_takes_in_is_heard(tmp_path: Path) -> None:
    tools = Tools()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=PATIENT) as held:
        said = await held.say("look for a camp")
        await tools.begun.wait()
        other = held.again()
        assert await other.conversation.stop(held.john, said.thread_id) == 1
        await held.heard(said)
        assert row(held, said.turn_id).outcome == TurnOutcome.CANCELLED.value


@on_a_loop
async def test_a_stop_that_stops_something_answers_no_open_question(tmp_path: Path) -> None:
    tools = Tools()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=PATIENT) as held:
        await held.answer("add eggs")
        assert "Shall I" in await held.answer("delete the eggs task")
        said = await held.say("look for a camp")
        await tools.begun.wait()
        stop = await held.say("never mind", thread_id=said.thread_id)
        await held.heard(said)
        await held.heard(stop)
        await held.answer("yes, delete the eggs task")
        assert tasks(held) == []


@on_a_loop
async def test_what_another_process_takes_up_behind_the_talk_asks_nothing_twice(
    tmp_path: Path,
) -> None:
    tools = Tools()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=QUICK) as held:
        said = await held.say("look twice and add milk")
        await until_aside(held, said.turn_id)
        await held.conversation.close()
        other = held.again()
        await other.answer("add eggs", thread_id=said.thread_id)
        tools.go.set()
        key = (held.system.household.id, said.turn_id)
        job = other.conversation.as_job()
        assert job.line is not None
        assert held.system.store.read_now(lambda conn: job.line(conn, key, held.clock.now())) == key
        await job.handler(key, _claim(held, said.turn_id))
        heard = await held.heard(said)
        assert [event.name for event in heard].count(EventName.DONE) == 1
        assert tools.calls == ["quick one", "slow two", "slow two"]
        assert tasks(held) == ["buy eggs", "buy milk"]
        assert cycle(held, said.turn_id).resumed == 1


def _claim(held: Talking, turn_id: str) -> int:
    key = (held.system.household.id, turn_id)
    epoch = held.system.store.write_now(
        lambda conn: leases.claim(
            conn, turns, key, now=held.clock.now(), lease=timedelta(minutes=1)
        )
    )
    assert epoch is not None
    return epoch


@on_a_loop
async def test_a_claim_is_kept_alive_as_long_as_a_tool_works(tmp_path: Path) -> None:
    tools = Tools()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=QUICK) as held:
        said = await held.say("look for a camp")
        await tools.begun.wait()
        first: datetime = row(held, said.turn_id).lease_until
        held.later(seconds=30)
        async with asyncio.timeout(10):
            while row(held, said.turn_id).lease_until <= first:
                await asyncio.sleep(0.01)
        tools.go.set()
        await held.heard(said)


@on_a_loop
async def test_a_channel_without_a_stream_hears_that_it_takes_a_while_and_then_the_end(
    tmp_path: Path,
) -> None:
    handed: list[tuple[str, bool]] = []

    class Handed:
        def ended(self, _conn: Connection, _turn: Turn, ending: Ending) -> None:
            handed.append((ending.answer.text, ending.is_late))

        def goes_on(self, _conn: Connection, _turn: Turn, text: str) -> None:
            handed.append((text, False))

    tools = Tools()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=QUICK) as before:
        held = before.again(outlets={"web": Handed()})
        said = await held.say("look for a camp")
        await until_aside(held, said.turn_id)
        tools.go.set()
        await held.heard(said)
        # A write may be run again, with all it says.
        (first, _), (last, is_late) = dict.fromkeys(handed)
        assert "Carry on" in first
        assert "camp" in last
        assert is_late


@on_a_loop
async def test_a_stop_while_an_answer_is_written_ends_it_there(tmp_path: Path) -> None:
    class Endless:
        async def answer(self, _context: Any) -> Any:
            yield "Once upon a time"
            await asyncio.Event().wait()

    async with talking(tmp_path, Script({})) as before:
        held = before.again(answerer=Endless())
        said = await held.say("tell me something about the moon")
        async with asyncio.timeout(10):
            events = held.conversation.events(held.john, said.thread_id, after=said.after)
            while (await anext(events)).name is not EventName.TOKEN:
                pass
        stop = await held.say("stop", thread_id=said.thread_id)
        heard = await held.heard(said)
        assert heard[-1].data["text"] == "Once upon a time"
        assert row(held, said.turn_id).outcome == TurnOutcome.CANCELLED.value
        assert (await held.heard(stop))[-1].data["text"] == "Okay, stopped."


class Outside:
    """A server outside that answers when it is let."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.calls = 0

    async def call(self, _work: Work, point_of_no_return: PointOfNoReturn) -> dict[str, Any]:
        await point_of_no_return()
        self.calls += 1
        await self.go.wait()
        return {"text": "booked"}

    async def was_done(self, _work: Work) -> Trace:
        return Trace.UNKNOWN


class Unreachable(Outside):
    """A server outside that nobody can reach."""

    async def call(self, _work: Work, _point_of_no_return: PointOfNoReturn) -> dict[str, Any]:
        self.calls += 1
        raise NotDoneError("it does not answer")


async def book(_params: Named, _asked: Asked) -> Prepared:
    effect = CallTool(server="table", tool="book", definition="d", arguments={})
    return Prepared(
        type=ActionType.FOREIGN_TOOL,
        summary="table: book",
        effects=(effect.frozen(),),
        result={"title": "book of table"},
    )


BOOKING = RequestKind(
    domain="table",
    name="book",
    description="Books a table.",
    parameters=Named,
    stakes=Stakes.HIGH,
    progress="Asking table…",
    is_foreign=True,
    prepare=book,
)


@on_a_loop
async def test_what_a_yes_set_going_is_told_when_its_server_answers(tmp_path: Path) -> None:
    script = Script({**SCRIPT, "book a table": (wants("table", "book"),)})
    limits = Limits(in_line=SOON, beat=SOON, outside=SOON)
    outside = Outside()
    async with talking(tmp_path, script, further=[BOOKING], limits=limits) as held:
        worker = OutsideWorker(
            held.system.store, held.system.household.id, {"tools.call": outside}, clock=held.clock
        )
        async with asyncio.TaskGroup() as group:
            working = group.create_task(worker.run())
            assert "Shall I" in await held.answer("book a table")
            yes = await held.say("yes")
            await until_aside(held, yes.turn_id)
            await held.answer("add eggs")
            outside.go.set()
            told = (await held.heard(yes))[-1].data["text"]
            working.cancel()
        assert outside.calls == 1
        assert "still trying" not in told
        assert row(held, yes.turn_id).results[0]["status"] == "done"


@on_a_loop
async def test_in_a_terminal_the_next_line_is_taken_and_the_late_answer_shown_whole(
    tmp_path: Path,
) -> None:
    tools, told = Tools(), list[tuple[str, str]]()

    def show(event: TurnEvent) -> None:
        told.append((event.name.value, str(event.data.get("text", ""))))

    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=QUICK) as held:
        speaker = _Speaker(held.conversation, held.john, None, show)
        async with speaker.hearing_late_ones(held.system.household.id):
            await speaker.say("look for a camp")
            assert "Carry on" in told[-1][1]
            await speaker.say("add eggs")
            assert told[-1][0] == "done"
            assert "eggs" in told[-1][1]
            tools.go.set()
        assert told[-1][0] == "done"
        assert "camp" in told[-1][1]


@on_a_loop
async def test_a_terminal_shows_the_end_of_what_an_earlier_one_left(tmp_path: Path) -> None:
    tools, told = Tools(), list[str]()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=QUICK) as held:
        said = await held.conversation.say(held.john, "look for a camp", channel="cli")
        await until_aside(held, said.turn_id)
        later = _Speaker(
            held.conversation, held.john, None, lambda event: told.append(event.name.value)
        )
        async with later.hearing_late_ones(held.system.household.id):
            tools.go.set()
        assert told[-1] == "done"


@on_a_loop
async def test_nobody_waits_for_a_server_that_is_tried_again_only_later(tmp_path: Path) -> None:
    outside, script = Unreachable(), Script({**SCRIPT, "book a table": (wants("table", "book"),)})
    limits = Limits(outside=SOON, beat=SOON)
    async with talking(tmp_path, script, further=[BOOKING], limits=limits) as held:
        worker = OutsideWorker(
            held.system.store, held.system.household.id, {"tools.call": outside}, clock=held.clock
        )
        await held.answer("book a table")
        yes = await held.say("yes")
        async with asyncio.timeout(30):
            for pause in (10, 30, 0):
                while not await worker.run_once():
                    await asyncio.sleep(0.01)
                held.later(seconds=pause)
        assert "still trying" in (await held.heard(yes))[-1].data["text"]
        assert outside.calls == 3


@on_a_loop
async def test_in_a_chat_what_comes_late_answers_what_was_said(tmp_path: Path) -> None:
    tools = Tools()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=QUICK) as before:
        household = before.system.household
        held = before.again(outlets={"telegram": ChatOutlet(household, before.clock)})
        said = await held.conversation.say(
            held.john, "look for a camp", channel="telegram", chat_id="7", client_message_id="12"
        )
        await until_aside(held, said.turn_id)
        tools.go.set()
        await held.heard(said)
        query = select(outbox.c.body, outbox.c.reply_to).order_by(outbox.c.created_at)
        first, last = held.system.store.read_now(lambda conn: conn.execute(query).all())
        assert "Carry on" in first.body
        assert "camp" in last.body
        assert {first.reply_to, last.reply_to} == {"12"}


@on_a_loop
async def test_what_waits_in_line_is_stopped_before_it_begins(tmp_path: Path) -> None:
    tools = Tools()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=PATIENT) as held:
        await held.answer("add eggs")
        assert "Shall I" in await held.answer("delete the eggs task")
        said = [await held.say("look for a camp")]
        await tools.begun.wait()
        said += [await held.say(text) for text in ("yes", "add milk and look for a camp", "stop")]
        told = [(await held.heard(each))[-1].data["text"] for each in said]
        assert all("You said stop" in each for each in told[:3])
        assert told[3] == "Okay, stopped."
        assert tasks(held) == ["buy eggs"]
        outcomes = [row(held, each.turn_id).outcome for each in said]
        assert outcomes == ["cancelled", "cancelled", "cancelled", "answered"]


@on_a_loop
async def test_a_stop_after_a_crash_tells_what_was_done_before_it(tmp_path: Path) -> None:
    tools = Tools()
    async with talking(tmp_path, Script(SCRIPT), further=tools.kinds, limits=PATIENT) as held:
        said = await held.say("add milk and look for a camp")
        await tools.begun.wait()
        await held.conversation.close()
        other = held.again()
        assert await other.conversation.stop(held.john, said.thread_id) == 1
        key = (held.system.household.id, said.turn_id)
        await other.conversation.as_job().handler(key, _claim(held, said.turn_id))
        told = (await held.heard(said))[-1].data["text"]
        assert "milk" in told
        assert "You said stop" in told
        assert tasks(held) == ["buy milk"]
