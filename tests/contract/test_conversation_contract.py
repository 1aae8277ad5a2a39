"""Conversations on every database: taken in once, answered, confirmed, resumed, purged."""

import asyncio
from datetime import timedelta

from kinkeeper.conversation.records import figures, purge
from talking import Script, talking, wants

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
