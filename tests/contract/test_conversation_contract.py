"""Conversations on every database: taken in once, answered, confirmed, resumed, purged."""

import asyncio
from datetime import timedelta

from sqlalchemy import select

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.requests.model import Asked, Found, Parameters, RequestKind
from kinkeeper.conversation.conversation import Said
from kinkeeper.conversation.passing_on import Shown
from kinkeeper.conversation.stages import Limits
from kinkeeper.conversation.tables import tool_cycles, tool_runs
from kinkeeper.conversation.turn_records import figures, purge
from talking import Script, talking, wants


class Nothing(Parameters):
    """No parameters."""


SCRIPT = {
    "put milk on my list": (wants("task", "create", title="buy milk"),),
    "delete the milk task": (wants("task", "delete", find_by="buy milk"),),
    "look up the cellar": (wants("memory", "search", query="cellar"),),
}


def test_a_talk_comes_to_the_same_on_every_database(address: str) -> None:
    async def talk() -> None:
        async with talking(address, Script(SCRIPT)) as held:
            first = await held.say("put milk on my list", client_message_id="m1")
            again = await held.say("put milk on my list", client_message_id="m1")
            assert await held.heard(first) == await held.heard(again)
            assert "Shall I" in await held.answer("delete the milk task")
            assert "off the list" in await held.answer("yes")
            assert await held.answer("look up the cellar")
            household, now = held.system.household.id, held.clock.now()
            store = held.system.store
            found = await store.read(lambda conn: figures(conn, household, since=now))
            assert found.outcomes == {"answered": 4}
            assert found.acted["task.create"] == 1
            assert found.memory_searches == 25
            later = now + timedelta(days=31)
            assert await store.write(lambda conn: purge(conn, household, before=later)) == 4

    asyncio.run(talk())


def test_what_a_program_passes_on_is_one_message_on_every_database(address: str) -> None:
    async def talk() -> None:
        async with talking(address, Script(SCRIPT)) as held:

            async def pass_on(*said: str, answered: str = "") -> Said:
                shown = Shown(place="program", said=said, answered=answered)
                return await held.conversation.pass_on(held.john, shown)

            many = await asyncio.gather(*(pass_on("put milk on my list") for _ in range(8)))
            assert len({each.turn_id for each in many}) == 1
            assert sum(each.is_new for each in many) == 1
            asked = (await held.heard(many[0]))[-1].data["text"]
            assert "Shall I" in asked
            yes = await pass_on("put milk on my list", "yes", answered=asked)
            assert yes.thread_id == many[0].thread_id
            assert "milk" in (await held.heard(yes))[-1].data["text"]
            other = await pass_on("put milk on my list", "yes", answered="Shall I?")
            assert other.thread_id != yes.thread_id
            await held.heard(other)

    asyncio.run(talk())


def test_a_slow_tool_works_behind_the_talk_on_every_database(address: str) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def look(_params: Nothing, _asked: Asked) -> Found:
        begun.set()
        await go.wait()
        return Found(result={"text": "a camp by the lake"})

    kind = RequestKind(
        domain="finder",
        name="look",
        description="Finds things.",
        parameters=Nothing,
        stakes=Stakes.LOW,
        progress="Asking finder…",
        is_foreign=True,
        read=look,
        limit=timedelta(minutes=5),
    )
    script = Script({**SCRIPT, "find a camp": (wants("finder", "look"),)})
    soon = timedelta(milliseconds=30)

    async def talk() -> None:
        limits = Limits(in_line=soon, beat=soon)
        async with talking(address, script, further=[kind], limits=limits) as held:
            said = await held.say("find a camp")
            await begun.wait()
            assert "milk" in await held.answer("put milk on my list")
            go.set()
            assert "lake" in (await held.heard(said))[-1].data["text"]
            cycles = select(tool_cycles.c.state, tool_runs.c.request).join(
                tool_runs, tool_runs.c.turn == tool_cycles.c.turn
            )
            found = await held.system.store.read(lambda conn: conn.execute(cycles).all())
            assert [tuple(row) for row in found] == [("answered", "finder.look")]

    asyncio.run(talk())
