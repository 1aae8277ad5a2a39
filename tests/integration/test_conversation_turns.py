"""Turns on a real database: answered once, in order, from receipts; open questions first; stages that fail are survived."""

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import list_actions
from kinkeeper.actions.requests.model import Asked, Found, Parameters, RequestKind
from kinkeeper.conversation.commit import Ending
from kinkeeper.conversation.model import EventName, Mode, Plan, Planner, PlanningContext
from kinkeeper.conversation.planning import planners
from kinkeeper.conversation.stages import Limits
from kinkeeper.conversation.tables import (
    interaction_log,
    routing_decisions,
    stage_failures,
    tool_iterations,
    turns,
)
from kinkeeper.conversation.turn import Turn, TurnOutcome
from kinkeeper.conversation.turn_records import figures
from kinkeeper.core.errors import NotFoundError
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs import leases
from kinkeeper.memory.tables import episodes
from kinkeeper.tasks.repository import list_tasks
from talking import Script, Talking, on_a_loop, talking, wants

MILK, EGGS = wants("task", "create", title="buy milk"), wants("task", "create", title="buy eggs")
DELETE_MILK = wants("task", "delete", find_by="buy milk")
DELETE_EGGS = wants("task", "delete", find_by="buy eggs")
SCRIPT = {
    "put milk on my list": (MILK,),
    "put eggs on my list": (EGGS,),
    "delete the milk task": (DELETE_MILK,),
    "delete the eggs task": (DELETE_EGGS,),
    "delete both of my tasks": (DELETE_MILK, DELETE_EGGS),
}


class Nothing(Parameters):
    """No parameters."""


class Slow:
    """A request that reads for as long as it is held."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.done = 0

    async def read(self, _params: Any, _asked: Asked) -> Found:
        self.begun.set()
        await self.go.wait()
        self.done += 1
        return Found(result={"ok": True})

    @property
    def kind(self) -> RequestKind:
        return RequestKind(
            domain="weather",
            name="look",
            description="Looks at the weather.",
            parameters=Nothing,
            stakes=Stakes.LOW,
            progress="Looking out of the window…",
            read=self.read,
        )


def tasks(held: Talking) -> list[str]:
    return sorted(
        task.title
        for task in held.system.store.read_now(
            lambda conn: list_tasks(conn, Viewer.whole(held.system.household.id))
        )
    )


def rows(held: Talking, table: Any) -> int:
    count = select(func.count()).select_from(table)
    return int(held.system.store.read_now(lambda conn: conn.execute(count).scalar_one()))


def statuses(held: Talking) -> list[ActionStatus]:
    household = held.system.household.id

    def read(conn: Connection) -> list[ActionStatus]:
        return [
            action.status
            for action in list_actions(
                conn, Viewer.whole(household), statuses=tuple(ActionStatus), now=held.clock.now()
            )
        ]

    return held.system.store.read_now(read)


async def with_two_tasks(held: Talking) -> None:
    await held.answer("put milk on my list")
    await held.answer("put eggs on my list")


@on_a_loop
async def test_what_was_asked_for_is_done_told_and_written_down(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        said = await held.say("put milk on my list")
        heard = await held.heard(said)
        assert [event.name for event in heard] == [EventName.TOKEN, EventName.DONE]
        assert "buy milk" in heard[-1].data["text"]
        assert tasks(held) == ["buy milk"]
        trace = await held.conversation.why(held.john, said.turn_id)
        assert trace.turn.outcome is TurnOutcome.ANSWERED
        assert [each["actions"] for each in trace.steps] == [["task.create"]]
        assert trace.routing is not None
        assert trace.triage is not None
        assert trace.triage["acted"] == 1


@on_a_loop
async def test_a_greeting_is_committed_without_a_plan(tmp_path: Path) -> None:
    script = Script(SCRIPT)
    async with talking(tmp_path, script) as held:
        await held.answer("hi")
        assert not script.asked
        turn = (await held.conversation.history(held.john, (await held.say("hi")).thread_id))[0]
        assert turn.mode is Mode.ACKNOWLEDGE
        assert rows(held, interaction_log) >= 1
        assert rows(held, routing_decisions) >= 1


@on_a_loop
async def test_the_same_message_is_answered_once(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        first = await held.say("put milk on my list", client_message_id="m1")
        again = await held.say("put milk on my list", client_message_id="m1")
        assert again.turn_id == first.turn_id
        assert await held.heard(first) == await held.heard(again)
        assert tasks(held) == ["buy milk"]


@on_a_loop
async def test_who_was_cut_off_hears_the_rest_and_nothing_twice(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        said = await held.say("put milk on my list")
        heard = await held.heard(said)
        rest = [
            event
            async for event in held.conversation.events(
                held.john, said.thread_id, after=heard[0].number, turn_id=said.turn_id
            )
        ]
        assert rest == heard[1:]


@on_a_loop
async def test_nobody_hears_or_stops_the_talk_of_another(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        said = await held.say("hi")
        await held.heard(said)
        other = next(each for each in held.system.household.members if each.id != "john")
        with pytest.raises(NotFoundError):
            await held.conversation.history(other, said.thread_id)
        with pytest.raises(NotFoundError):
            await held.conversation.stop(other, said.thread_id)
        with pytest.raises(NotFoundError):
            await held.conversation.why(other, said.turn_id)
        with pytest.raises(NotFoundError):
            async for _ in held.conversation.events(other, said.thread_id):
                pass


@on_a_loop
async def test_a_yes_does_what_was_shown_and_only_once(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await held.answer("put milk on my list")
        asked = await held.heard(await held.say("delete the milk task"))
        assert EventName.CONFIRM in [event.name for event in asked]
        assert tasks(held) == ["buy milk"]
        both = await asyncio.gather(held.say("yes"), held.say("yes"))
        for said in both:
            await held.heard(said)
        assert tasks(held) == []
        assert statuses(held).count(ActionStatus.DONE) == 2


@on_a_loop
async def test_a_no_drops_it(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await held.answer("put milk on my list")
        await held.answer("delete the milk task")
        await held.answer("no")
        await held.answer("yes")
        assert tasks(held) == ["buy milk"]
        assert ActionStatus.REJECTED in statuses(held)


@on_a_loop
async def test_of_several_open_questions_a_yes_asks_which(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await with_two_tasks(held)
        await held.answer("delete the milk task")
        await held.answer("delete the eggs task")
        which = await held.answer("yes")
        assert "1." in which
        assert "2." in which
        assert tasks(held) == ["buy eggs", "buy milk"]
        await held.answer("the second one")
        assert tasks(held) == ["buy milk"]


@on_a_loop
async def test_of_several_open_questions_one_may_be_named(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await with_two_tasks(held)
        await held.answer("delete both of my tasks")
        await held.answer("yes")
        await held.answer("the eggs")
        assert tasks(held) == ["buy milk"]


@on_a_loop
async def test_a_plain_yes_means_nothing_asked_long_ago(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await held.answer("put milk on my list")
        await held.answer("delete the milk task")
        held.later(minutes=11)
        assert "Do you mean" in await held.answer("yes")
        assert tasks(held) == ["buy milk"]
        await held.answer("yes")
        assert tasks(held) == []


@on_a_loop
async def test_a_yes_that_comes_too_late_runs_nothing_and_says_so(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await held.answer("put milk on my list")
        await held.answer("delete the milk task")
        held.later(hours=49)
        assert "expired" in await held.answer("yes")
        assert tasks(held) == ["buy milk"]


@on_a_loop
async def test_an_open_question_survives_a_restart(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await held.answer("put milk on my list")
        await held.answer("delete the milk task")
        restarted = held.again()
        await restarted.answer("yes")
        assert tasks(held) == []


@on_a_loop
async def test_an_edit_takes_the_place_of_what_was_asked(tmp_path: Path) -> None:
    def replan(context: PlanningContext) -> Plan:
        assert [each.action for each in context.open_edit] == ["delete"] or context.results
        return Plan() if context.results else Plan(actions=(DELETE_EGGS,))

    script = Script({**SCRIPT, "yes, but the eggs instead": replan})
    async with talking(tmp_path, script) as held:
        await with_two_tasks(held)
        await held.answer("delete the milk task")
        await held.answer("yes, but the eggs instead")
        assert ActionStatus.SUPERSEDED in statuses(held)
        await held.answer("yes")
        assert tasks(held) == ["buy milk"]


@on_a_loop
async def test_stop_leaves_what_has_not_been_done(tmp_path: Path) -> None:
    slow = Slow()
    script = Script({"look and add milk to my list": (wants("weather", "look"), MILK)})
    async with talking(tmp_path, script, further=[slow.kind]) as held:
        said = await held.say("look and add milk to my list")
        await slow.begun.wait()
        assert await held.conversation.stop(held.john, said.thread_id) == 1
        slow.go.set()
        await held.heard(said)
        assert tasks(held) == []
        trace = await held.conversation.why(held.john, said.turn_id)
        assert trace.turn.outcome is TurnOutcome.CANCELLED
        assert trace.steps[-1]["ended"] == "stopped"


@on_a_loop
async def test_a_spoken_stop_reaches_the_turn_that_is_under_way(tmp_path: Path) -> None:
    slow = Slow()
    script = Script({"look and add milk to my list": (wants("weather", "look"), MILK)})
    async with talking(tmp_path, script, further=[slow.kind]) as held:
        said = await held.say("look and add milk to my list")
        await slow.begun.wait()
        stop = await held.say("never mind")
        slow.go.set()
        await held.heard(said)
        await held.heard(stop)
        assert tasks(held) == []


@on_a_loop
async def test_what_takes_long_is_told_and_what_takes_too_long_is_left(tmp_path: Path) -> None:
    slow = Slow()
    limits = Limits(status_after=timedelta(milliseconds=20), action=timedelta(milliseconds=400))
    script = Script({"how is the weather outside": (wants("weather", "look"),)})
    async with talking(tmp_path, script, further=[slow.kind], limits=limits) as held:
        heard = await held.heard(await held.say("how is the weather outside"))
        assert "Looking out of the window…" in [event.data.get("text") for event in heard]
        assert slow.done == 0
        assert held.system.store.read_now(
            lambda conn: figures(conn, held.system.household.id, since=held.clock.now())
        ).failures == {"act": 1}


@pytest.mark.parametrize("repeated", [1, 8])
@on_a_loop
async def test_the_same_request_over_and_over_ends_the_acting(
    tmp_path: Path, repeated: int
) -> None:
    listing = wants("task", "list")
    script = Script({"what is on my list": lambda _: Plan(actions=(listing,) * repeated)})
    async with talking(tmp_path, script) as held:
        said = await held.say("what is on my list")
        await held.heard(said)
        trace = await held.conversation.why(held.john, said.turn_id)
        assert len(trace.turn.results) == 2
        assert trace.steps[-1]["ended"] == "repetition"


@on_a_loop
async def test_acting_ends_when_its_steps_or_its_effort_are_spent(tmp_path: Path) -> None:
    def ever_new(context: PlanningContext) -> Plan:
        count = 3
        at = len(context.results)
        return Plan(
            actions=tuple(
                wants("task", "list", query=f"thing {at + each}") for each in range(count)
            )
        )

    async with talking(tmp_path, Script({"what is on my list": ever_new})) as held:
        said = await held.say("what is on my list")
        await held.heard(said)
        trace = await held.conversation.why(held.john, said.turn_id)
        assert trace.steps[-1]["ended"] == "fatigue"
        fatigue = [each["fatigue"] for each in trace.steps]
        assert fatigue == sorted(fatigue)
        assert rows(held, tool_iterations) == len(fatigue)


@on_a_loop
async def test_a_planner_that_breaks_leaves_a_question_and_is_counted(tmp_path: Path) -> None:
    def breaks(_: PlanningContext) -> Plan:
        raise RuntimeError("no")

    async with talking(tmp_path, Script({"put it on my list": breaks})) as held:
        assert "rephrase" in await held.answer("put it on my list")
        assert rows(held, stage_failures) == 1
        await held.answer("hi")


@on_a_loop
async def test_a_turn_that_broke_down_is_told_and_taken_up_again(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        nobodys = held.again(household=_without_john(held))
        said = await nobodys.say("put milk on my list", client_message_id="m1")
        heard = await held.heard(said)
        assert [event.name for event in heard] == [EventName.ERROR]
        assert heard[-1].data["retry"] is True
        again = await held.say("put milk on my list", client_message_id="m1")
        assert again.turn_id == said.turn_id
        assert (await held.heard(again))[-1].name is EventName.DONE
        assert tasks(held) == ["buy milk"]


@on_a_loop
async def test_a_turn_cut_off_in_the_middle_is_taken_up_by_another_and_acts_once(
    tmp_path: Path,
) -> None:
    slow = Slow()
    script = Script({"add milk to my list and look": (MILK, wants("weather", "look"))})
    async with talking(tmp_path, script, further=[slow.kind]) as held:
        said = await held.say("add milk to my list and look")
        await slow.begun.wait()
        await held.conversation.close()
        assert tasks(held) == ["buy milk"]
        slow.go.set()
        other = held.again()
        job = other.conversation.as_job()
        epoch = _claim(held, said.turn_id)
        await job.handler((held.system.household.id, said.turn_id), epoch)
        heard = await held.heard(said)
        assert heard[-1].name is EventName.DONE
        assert tasks(held) == ["buy milk"]
        numbers = [event.number for event in heard]
        assert numbers == sorted(set(numbers))


@on_a_loop
async def test_a_message_that_broke_two_processes_is_dropped_and_told(tmp_path: Path) -> None:
    reading = asyncio.Event()

    class Hanging(Planner):
        async def plan(self, context: PlanningContext) -> Plan:
            reading.set()
            return await asyncio.Future[Plan]()

    async with talking(tmp_path, Hanging()) as held:
        said = await held.say("add milk to my list")
        await reading.wait()
        key = (held.system.household.id, said.turn_id)
        job = held.again().conversation.as_job()
        for _ in range(2):  # what a process that is killed leaves behind: a claim that ran out
            held.system.store.write_now(
                lambda conn: leases.end_leases(conn, turns, now=held.clock.now())
            )
            epoch = _claim(held, said.turn_id)
        await job.handler(key, epoch)
        last = (await held.heard(said))[-1]
        assert last.name is EventName.ERROR
        assert "couldn't read that message" in last.data["message"]
        assert tasks(held) == []


@on_a_loop
async def test_reading_without_end_is_ended_counted_and_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, ended = threading.Event(), threading.Event()

    def endless(_context: PlanningContext) -> Plan:
        try:
            began.set()
            while True:
                pass
        finally:
            ended.set()

    monkeypatch.setattr(planners, "_from_rules", endless)
    limits = Limits(plan=timedelta(milliseconds=300))
    async with talking(tmp_path, planners.Planners(None), limits=limits) as held:
        said = await held.say("add milk to my list, please. " * 40)
        heard = await held.heard(said)
        assert heard[-1].name is EventName.DONE
        # On a busy machine it may be given up before it begins.
        assert not began.is_set() or await asyncio.to_thread(ended.wait, 60), "it goes on for ever"
        why = await held.conversation.why(held.john, said.turn_id)
        assert ("plan", "TimeoutError") in [
            (each["stage"], each["reason"]) for each in why.failures
        ]
        assert tasks(held) == []


@on_a_loop
async def test_turns_of_a_thread_are_answered_in_their_order(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        said = [await held.say(text) for text in ("put milk on my list", "delete the milk task")]
        said += [await held.say("yes")]
        for each in said:
            await held.heard(each)
        assert tasks(held) == []


@on_a_loop
async def test_what_a_child_asks_for_awaits_an_adult(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        child = next(each for each in held.system.household.members if not each.is_adult)
        await held.answer("put milk on my list")
        await held.answer("delete the milk task", by=child.id)
        answer = await held.answer("yes", by=child.id)
        assert "adult" in answer or tasks(held) == ["buy milk"]
        assert tasks(held) == ["buy milk"]


def _without_john(held: Talking) -> Any:
    household = held.system.household
    return replace(household, members=tuple(m for m in household.members if m.id != "john"))


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
async def test_an_outlet_gets_what_a_turn_came_to_once_and_cannot_cost_the_answer(
    tmp_path: Path,
) -> None:
    handed: list[str] = []

    class Handed:
        def ended(self, _conn: Connection, _turn: Turn, ending: Ending) -> None:
            handed.append(ending.answer.text)

        def goes_on(self, _conn: Connection, _turn: Turn, text: str) -> None:
            handed.append(text)

    class Breaks(Handed):
        def ended(self, _conn: Connection, _turn: Turn, ending: Ending) -> None:
            raise RuntimeError("no")

    async with talking(tmp_path, Script(SCRIPT)) as held:
        answer = await held.again(outlets={"web": Handed()}).answer("put milk on my list")
        assert handed == [answer]
        assert "eggs" in await held.again(outlets={"web": Breaks()}).answer("put eggs on my list")
        assert rows(held, stage_failures) == 2


@on_a_loop
async def test_only_what_says_how_things_are_is_handed_to_memory(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        for text in (
            "hi",
            "put milk on my list",
            "who picks up Emma tomorrow?",
            "delete the milk task",
            "no",
        ):
            await held.answer(text)
        assert rows(held, episodes) == 0
        await held.answer("Emma is allergic to nuts and to shellfish")
        assert rows(held, episodes) == 1


@on_a_loop
async def test_what_was_just_done_is_taken_back_when_asked(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        assert "can be undone" in await held.answer("undo that")
        await with_two_tasks(held)
        await held.answer("oops, undo that please")
        assert tasks(held) == ["buy milk"]
        await held.answer("undo")
        assert tasks(held) == []


@on_a_loop
async def test_a_planner_is_told_what_is_open_and_what_is_coming(tmp_path: Path) -> None:
    script = Script(SCRIPT)
    async with talking(tmp_path, script) as held:
        await held.answer("put milk on my list")
        await held.answer("put eggs on my list")
        fetched = script.asked[-1].fetched
        assert [each["title"] for each in fetched["tasks"]] == ["buy milk"]
        assert "Leo soccer practice" in [each["title"] for each in fetched["events"]]


@on_a_loop
async def test_nobody_is_asked_again_after_a_plan_that_is_whole(tmp_path: Path) -> None:
    once = wants("task", "list")

    def whole(_context: PlanningContext) -> Plan:
        return Plan(actions=(once,), is_whole=True)

    script = Script({"what is on my list": whole})
    async with talking(tmp_path, script) as held:
        said = await held.say("what is on my list")
        await held.heard(said)
        assert len(script.asked) == 1
        trace = await held.conversation.why(held.john, said.turn_id)
        assert [each["ended"] for each in trace.steps] == ["whole plan"]
