"""What somebody keeps secret gives them no more rights, and nobody else brings it back."""

from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import list_actions
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.calendar.model import Event, Override
from kinkeeper.calendar.repository import list_events, list_overrides
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.core.errors import NotFoundError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.journal import list_changes
from talking import Talking, on_a_loop, talking


async def _calendar(talk: Talking) -> list[tuple[Event, list[Override]]]:
    household = talk.system.household.id
    whole = Viewer.whole(household)

    def read(conn: Connection) -> list[tuple[Event, list[Override]]]:
        return [
            (each, [*list_overrides(conn, household, each.id)]) for each in list_events(conn, whole)
        ]

    return await talk.system.store.read(read)


async def _read(talk: Talking) -> None:
    reading = reading_of(talk.system.household, talk.system.store, talk.clock)
    while await reading.run_once():
        pass


async def _facts(talk: Talking, member: str) -> str:
    viewer = Viewer.of(talk.system.household.id, member)
    found = await talk.system.store.read(
        lambda conn: list_facts(conn, viewer, now=talk.clock.now(), limit=50)
    )
    return " ".join(each.narrative for each in found)


async def _episodes(talk: Talking, member: str) -> str:
    viewer = Viewer.of(talk.system.household.id, member)
    found = await talk.system.store.read(lambda conn: list_episodes(conn, viewer, limit=50))
    return " ".join(each.text for each in found)


async def _cards(talk: Talking, member: str) -> str:
    viewer = Viewer.of(talk.system.household.id, member)
    found = await talk.system.store.read(
        lambda conn: list_actions(
            conn, viewer, statuses=frozenset(ActionStatus), now=talk.clock.now()
        )
    )
    return " ".join(each.proposal.summary for each in found)


@pytest.mark.parametrize(
    "wish", ["and keep that quiet", "don't tell anyone", "please keep this a secret", "just for me"]
)
@pytest.mark.parametrize(
    "text",
    ["cancel the eye test", "move the eye test to 6pm", "remember that Mia is allergic to wasps"],
)
@pytest.mark.parametrize("by", ["leo", "mia"])
@on_a_loop
async def test_a_wish_for_secrecy_lets_no_child_decide(
    tmp_path: Path, by: str, text: str, wish: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("add an eye test on friday at 5pm", by="john")
        before = await _calendar(talk)
        for said in (text, wish, "yes", f"yes, {text}"):
            await talk.answer(said, by=by)
            talk.later(seconds=20)

        assert await _calendar(talk) == before
        assert "wasps" not in await _facts(talk, "john")
        assert "wasps" not in await _facts(talk, by)


@pytest.mark.parametrize(
    "text", ["remember just for me that Mia is allergic to wasps", "I hate choir. Keep that secret"]
)
@on_a_loop
async def test_a_child_shares_no_memory_with_all_by_itself(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(text, by="leo")
        talk.later(seconds=20)
        await talk.answer("share it", by="leo")
        talk.later(seconds=20)
        await talk.answer("yes", by="leo")
        await _read(talk)

        assert await _facts(talk, "leo") != ""
        assert "wasps" not in await _facts(talk, "mia")
        assert "choir" not in await _episodes(talk, "mia")


@pytest.mark.parametrize("is_read", [True, False])
@on_a_loop
async def test_nobody_else_undoes_what_keeps_words_secret(tmp_path: Path, *, is_read: bool) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("The piano tuner is Ms Lindqvist", by="john")
        if is_read:
            await _read(talk)
        talk.later(seconds=20)
        await talk.answer("just for me", by="john")
        assert "Lindqvist" not in await _episodes(talk, "sarah")

        def undo_all(conn: Connection) -> None:
            home = talk.system.household
            right = SettingRight(household=home, member=talk.member("sarah"), now=talk.clock.now())
            for each in list_changes(conn, home.id):
                try:
                    right.take_back(conn, each.id)
                except NotFoundError:
                    continue

        await talk.system.store.write(undo_all)
        assert "Lindqvist" not in await _episodes(talk, "sarah")


@on_a_loop
async def test_the_unread_end_of_a_long_message_keeps_its_card_secret(tmp_path: Path) -> None:
    long = "This is how it came about, as you may know. " * 60
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(
            f"put a divorce lawyer on friday at 5pm in the calendar. {long} Don't tell Sarah.",
            by="john",
        )
        assert "lawyer" in await _cards(talk, "john")
        assert "lawyer" not in await _cards(talk, "sarah")
