"""Who may recall what somebody has the assistant remember: themselves where it is their own affair, else the family."""

from pathlib import Path

import pytest
from sqlalchemy import func, select

from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewing import Viewer
from kinkeeper.memory.facts import list_facts
from kinkeeper.store.schema import metadata
from talking import Talking, on_a_loop, talking


async def known_to(talk: Talking, member: str) -> set[str]:
    viewer = Viewer.of(talk.system.household.id, member)
    facts = await talk.system.store.read(
        lambda conn: list_facts(conn, viewer, now=talk.clock.now(), limit=50)
    )
    return {each.narrative for each in facts}


async def seen_by_all(talk: Talking) -> int:
    """Return how many events, tasks and notes the family can look at, and what waits to become one."""
    tables = [metadata.tables[name] for name in ("events", "tasks", "notes", "pending_actions")]
    return sum(
        [
            await talk.system.store.read(
                lambda conn, table=table: conn.execute(
                    select(func.count()).select_from(table)
                ).scalar_one()  # type: ignore[misc]
            )
            for table in tables
        ]
    )


@pytest.mark.parametrize(
    "text", ["remember that my counsellor is Ruth Aldous", "remember my debit card pin is 7731"]
)
@on_a_loop
async def test_ones_own_affairs_are_kept_for_oneself(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer(text, by="john")

        assert "for you only" in answer
        assert "share it" in answer
        assert await known_to(talk, "john")
        assert not await known_to(talk, "sarah")


@on_a_loop
async def test_what_concerns_all_is_for_all_and_the_answer_says_so(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer("remember that the compost goes out on Fridays", by="john")

        assert "family" in answer
        assert await known_to(talk, "sarah") == await known_to(talk, "john") != set()


@on_a_loop
async def test_who_may_see_it_is_changed_afterwards(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("remember that I'm on 5mg of ramipril", by="john")

        await talk.answer("share it", by="john")
        assert await known_to(talk, "sarah")

        answer = await talk.answer("no, just for me", by="john")
        assert "Only you" in answer
        assert not await known_to(talk, "sarah")


@pytest.mark.parametrize(
    "text",
    [
        "remember just for me that I hid the tickets in the piano stool",
        "remember the safe opens to the left, but keep it to yourself",
        "remember that the safe opens to the left, for my eyes only",
        "remember that the safe opens to the left, just for me",
        "remember that the safe opens to the left, only for me please",
        "for my eyes only, remember that the safe opens to the left",
        "just for me: remember that the safe opens to the left",
    ],
)
@on_a_loop
async def test_for_whom_is_said_with_it(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(text, by="sarah")

        (kept,) = await known_to(talk, "sarah")
        assert "only" not in kept
        assert "just" not in kept
        assert "yourself" not in kept
        assert not await known_to(talk, "john")


@pytest.mark.parametrize(
    "text", ["take a private note: the ring is in the tea caddy", "note to self: just for me, the ring is in the tea caddy"]
)  # fmt: skip
@on_a_loop
async def test_a_private_note_is_remembered_for_its_writer(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer(text, by="sarah")

        assert "for you only" in answer
        (kept,) = await known_to(talk, "sarah")
        assert kept.casefold().startswith("the ring")
        assert not await known_to(talk, "john")


@pytest.mark.parametrize("text", ["add candles to the shopping list", "remind me to sew the cape"])
@on_a_loop
async def test_what_the_family_sees_anyway_is_not_said_to_be_kept(
    tmp_path: Path, text: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(text, by="sarah")

        answer = await talk.answer("just for me", by="sarah")

        assert "whole family" in answer


@pytest.mark.parametrize(
    "text",
    [
        "put a fertility clinic appointment on Tuesday at 9 in the calendar, keep it private",
        "add farewell drinks for Sarah on Friday at 6, only mia and I should know",
        "remind me on Friday at 10 to fetch the necklace, don't tell sarah",
        "remind me tomorrow at 4 to order the bike without Leo knowing",
        "remind me tomorrow at 5 to wrap the telescope, leo mustn\u2019t see it",
        "make a note that the will is in the safe, nobody else should read it",
        "for my eyes only: put the lawyer in the calendar on Monday at 3",
    ],
)
@on_a_loop
async def test_what_is_secret_is_not_written_where_all_look(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        before = await seen_by_all(talk)

        answer = await talk.answer(text, by="john")

        assert "whole family" in answer or "for you only" in answer
        assert await seen_by_all(talk) == before


@pytest.mark.parametrize(
    "text",
    [
        "put the quiet room booking on Tuesday at 9 in the calendar",
        "add secret santa party on Friday at 6",
        "remind me to tell Sarah about the private tour",
        "remind leo to never let the dog out",
        "add only the small candles to the shopping list",
    ],
)
@on_a_loop
async def test_what_only_sounds_secret_is_written(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        before = await seen_by_all(talk)

        await talk.answer(text, by="john")

        assert await seen_by_all(talk) != before


@on_a_loop
async def test_what_lasts_of_another_is_offered_to_all_and_kept_with_a_yes(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer("Leo is allergic to cashews", by="john")
        assert "whole family" in answer
        assert not await known_to(talk, "john")

        await talk.answer("yes", by="john")
        assert await known_to(talk, "sarah") == {"Leo is allergic to cashews"}


@on_a_loop
async def test_what_is_offered_and_declined_is_nobodys_fact(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("Leo is allergic to cashews", by="john")
        await talk.answer("no", by="john")

        assert not await known_to(talk, "john")
        assert not await known_to(talk, "sarah")
