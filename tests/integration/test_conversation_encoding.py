"""What is left of exchanges on a real database: gists, facts, episodes; names and codes used in the next turn."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, Row, Table, select, update

from kinkeeper.bootstrap.memory import encoding_of
from kinkeeper.conversation.context.model import TurnContext
from kinkeeper.conversation.context.repository import (
    conversation_encodings,
    conversation_gists,
    conversation_topics,
    volatile_facts,
)
from kinkeeper.conversation.encoding.job import first_in_line
from kinkeeper.conversation.turn_records import figures
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs import leases
from kinkeeper.jobs.leases import Key, WorkState
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.model import Episode, EpisodeKind
from talking import Script, Talking, on_a_loop, talking

_LEASE = timedelta(minutes=5)


async def encode(held: Talking) -> list[str]:
    """Do all that is due, in line, as the job engine does; returns the stages."""
    encoding, done = encoding_of(held.system.household, held.system.store, held.clock), []
    while claimed := held.system.store.write_now(lambda conn: claim_first(conn, held.clock.now())):
        await encoding.handle(*claimed)
        done.append(claimed[0][1])
    return done


def claim_first(conn: Connection, now: datetime) -> tuple[Key, int] | None:
    rows = leases.stranded(conn, conversation_encodings, now=now)
    key = first_in_line(conn, rows[0].key, now) if rows else None
    if key is None:
        return None
    epoch = leases.claim(conn, conversation_encodings, key, now=now, lease=_LEASE)
    return None if epoch is None else (key, epoch)


def viewer(held: Talking, member: str = "john") -> Viewer:
    return Viewer.of(held.system.household.id, member)


@on_a_loop
async def test_an_exchange_becomes_a_gist_facts_and_after_silence_an_episode(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, Script({})) as held:
        await held.answer("Leo is allergic to peanuts.")
        await held.answer("Leo needs new shoes for soccer.")
        assert sorted(await encode(held)) == ["facts", "facts", "gist", "gist"]
        store, now = held.system.store, held.clock.now()
        facts = store.read_now(lambda conn: list_facts(conn, viewer(held), now=now))
        assert any("peanuts" in fact.narrative for fact in facts)
        others = store.read_now(lambda conn: list_facts(conn, viewer(held, "sarah"), now=now))
        assert any("peanuts" in fact.narrative for fact in others)
        assert summaries(held) == []
        held.later(seconds=2701)
        await encode(held)
        (summary,) = summaries(held)
        assert summary.title is not None
        assert "leo" in summary.title
        assert summary.is_assistant
        assert 0 < summary.salience <= 1
        assert "peanuts" not in summary.text
        held.later(seconds=2701)
        assert await encode(held) == []
        assert len(summaries(held)) == 1


def summaries(held: Talking, member: str = "john") -> list[Episode]:
    return held.system.store.read_now(
        lambda conn: list_episodes(conn, viewer(held, member), kind=EpisodeKind.SUMMARY)
    )


@on_a_loop
async def test_a_talk_that_goes_on_is_no_episode_yet(tmp_path: Path) -> None:
    async with talking(tmp_path, Script({})) as held:
        await held.answer("Leo likes his soccer coach.")
        held.later(seconds=2000)
        await held.answer("The soccer coach is called Ann.")
        held.later(seconds=1000)
        await encode(held)
        assert summaries(held) == []
        held.later(seconds=2000)
        await encode(held)
        assert len(summaries(held)) == 1


@on_a_loop
async def test_gists_and_what_was_said_reach_the_next_turn_and_expire(tmp_path: Path) -> None:
    async with talking(tmp_path, Script({})) as held:
        said = await held.say("The wifi code is 4711.")
        await held.heard(said)
        await encode(held)
        context = await gathered(held, said.thread_id, "what is the wifi code?")
        assert context.known == {"The wifi code": "4711"}
        assert context.gists == ["“The wifi code is 4711”"]
        assert (context.signals.gists, context.signals.facts) == (1, 1)
        assert not context.topic.is_new
        assert "4711" in await held.answer("what is the wifi code?")
        held.later(minutes=31)
        later = await gathered(held, said.thread_id, "what is the wifi code?")
        assert later.gists == [] or "4711" not in later.gists[0]
        held.later(hours=25)
        await held.answer("good morning")
        await encode(held)
        assert rows(held, volatile_facts) == []
        assert "4711" not in str(rows(held, conversation_gists))
        assert rows(held, conversation_topics) == []


@pytest.mark.parametrize("news", ["I live in Leeds now.", "I moved to Leeds."])
@on_a_loop
async def test_what_was_replaced_reaches_the_next_turn_by_no_way(tmp_path: Path, news: str) -> None:
    async with talking(tmp_path, Script({})) as held:
        said = await held.say("My home is in York. The gate code is 4711.")
        await held.heard(said)
        await encode(held)
        assert "York" in await held.answer("Where is my home?")
        before = await gathered(held, said.thread_id, "where is my home?")
        assert before.known["My home"] == "in York"
        held.later(minutes=1)
        await held.answer(news)
        await encode(held)
        after = await gathered(held, said.thread_id, "where is my home?")
        told = [part for each in after.history for part in (each.text, each.answer)]
        assert "York" not in str([after.gists, after.known, told])
        assert after.known["The gate code"] == "4711"
        assert any("4711" in part for part in told)
        assert "York" not in await held.answer("Where is my home?")


async def gathered(held: Talking, thread: str, text: str) -> TurnContext:
    now = held.clock.now().astimezone(held.system.household.zone)
    earlier = await held.conversation.history(held.john, thread)
    return await held.parts.gatherer.gather(
        thread_id=thread, member=held.john, viewer=viewer(held), text=text, earlier=earlier, now=now
    )


def rows(held: Talking, table: Table) -> list[Row[tuple[object, ...]]]:
    return held.system.store.read_now(lambda conn: list(conn.execute(select(table))))


@on_a_loop
async def test_the_name_that_somebody_goes_by_is_kept_for_them_alone(tmp_path: Path) -> None:
    async with talking(tmp_path, Script({})) as held:
        await held.answer("call me Johnny please")
        assert await held.answer("what's my name?") == "You're Johnny."
        held.later(hours=30)
        assert await held.answer("who am I?") == "You're Johnny."
        assert "Johnny" not in await held.answer("what's my name?", by="sarah")


@on_a_loop
async def test_a_stage_that_fails_loses_nothing_and_holds_up_no_other(tmp_path: Path) -> None:
    async with talking(tmp_path, Script({})) as held:
        await held.answer("Leo is allergic to peanuts.")
        store = held.system.store
        # A worker died with the row in hand: its lease runs out, another one takes the row up.
        store.write_now(
            lambda conn: conn.execute(
                update(conversation_encodings).values(
                    state=WorkState.RUNNING.value,
                    epoch=1,
                    begun=1,
                    lease_until=held.clock.now() + _LEASE,
                )
            )
        )
        assert await encode(held) == []
        held.later(minutes=6)
        assert sorted(await encode(held)) == ["facts", "gist"]
        household, since = held.system.household.id, held.clock.now() - timedelta(days=1)
        counted = store.read_now(lambda conn: figures(conn, household, since=since)).encoded
        assert (counted["gist done"], counted["gist had an effect"]) == (1, 1)
        assert (counted["facts had an effect"], counted["episode queued"]) == (1, 1)


@on_a_loop
async def test_rows_of_one_thread_and_stage_stand_in_one_line(tmp_path: Path) -> None:
    async with talking(tmp_path, Script({})) as held:
        first = await held.say("Leo is allergic to peanuts.")
        await held.heard(first)
        held.later(seconds=5)
        second = await held.say("Emma is allergic to cats.")
        await held.heard(second)
        household, now = held.system.household.id, held.clock.now()
        key = (household, "gist", second.turn_id)
        line = held.system.store.read_now(lambda conn: first_in_line(conn, key, now))
        assert line == (household, "gist", first.turn_id)
        other = await held.say("I like tea a lot.", by="sarah")
        await held.heard(other, by="sarah")
        alone = (household, "gist", other.turn_id)
        assert held.system.store.read_now(lambda conn: first_in_line(conn, alone, now)) == alone


@on_a_loop
async def test_many_turns_at_once_are_each_encoded_once(tmp_path: Path) -> None:
    async with talking(tmp_path, Script({})) as held:
        sayings = [await held.say(f"Leo likes thing{number} very much.") for number in range(6)]
        for said in sayings:
            await held.heard(said)
        await asyncio.gather(encode(held), encode(held))
        gists = rows(held, conversation_gists)
        assert len(gists) == 6
