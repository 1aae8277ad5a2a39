"""kill -9 of the worker at any moment: no message lost, nothing done twice, the same end as a replay."""

from pathlib import Path

import pytest
from sqlalchemy import select

from kinkeeper.bootstrap import live_intake
from kinkeeper.observer.tables import observer_messages
from live_household import left_by, live_system
from live_workers import SETTINGS, after, conversation, replayed, states, take_in, worker
from same_tables import assert_same_tables

pytestmark = [pytest.mark.slow, pytest.mark.crash]

QUEUED = 300
CHATTER = 30
KILLS = (1, 29, 0, 61, 12, 44)


@pytest.mark.nightly
def test_three_hundred_messages_through_repeated_kills_end_as_a_replay_does(tmp_path: Path) -> None:
    path, chat = tmp_path / "family.db", conversation(QUEUED + CHATTER)
    end, share = chat[-1].sent_at, len(chat) // len(KILLS)
    with live_system(path, **SETTINGS) as system:
        with live_intake(system, refuses_chats=False) as intake:
            queued = take_in(system, intake, chat[:share])
            for kill, count in enumerate(KILLS, 1):
                with worker(str(path), end) as running:
                    until = None if kill == len(KILLS) else share * (kill + 1)
                    queued += take_in(system, intake, chat[share * kill : until])
                    after(running.lines, count)
        assert queued >= QUEUED
        with worker(str(path), end) as running:
            assert "idle\n" in running.lines
        begun = system.store.read_now(
            lambda conn: conn.execute(select(observer_messages.c.epoch)).scalars().all()
        )
        left = left_by(system)
        assert states(system).keys() == {"done", "dropped"}
    assert max(begun) > 1, "no kill hit a message that was being understood: the test shows nothing"
    assert len(left["messages"]) == QUEUED + CHATTER
    assert left["pending_actions"]
    assert left["outbox"]

    assert_same_tables(left, replayed(tmp_path / "replayed.db", chat))
