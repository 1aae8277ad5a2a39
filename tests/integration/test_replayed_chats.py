"""Chats are measured in households as new, on the real observer."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evals.coordination import household_of
from evals.replayed import EpisodePlayer, Stage, play, spoken_lines
from kinkeeper.calendar.repository import list_events
from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.viewers import Viewer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MILLERS = Path("examples/miller/household.toml")


def message(id_: str, sender: str, text: str, at: str) -> dict[str, str]:
    return {"chat_id": "c", "message_id": id_, "sender": sender, "text": text, "sent_at": at}


def test_a_household_opened_again_knows_nothing_of_the_chat_before() -> None:
    claim = message("m1", "john", "I can cover Tuesday pickup", "2026-03-02T09:00:00-06:00")
    rival = message("m2", "sarah", "I'll do pickup Tuesday", "2026-03-02T09:15:00-06:00")
    with Stage() as stage:
        player = EpisodePlayer(stage, ROOT)
        together = player.run(MILLERS, [claim, rival], None)
        assert [line["message_id"] for line in spoken_lines(together)] == ["m2"]
        alone = player.run(MILLERS, [rival], None)
        assert not list(spoken_lines(alone))
        assert len(player.pending()) == 1
        assert player.failures == 0
        system = stage.opened(ROOT / MILLERS, datetime(2026, 3, 2, tzinfo=UTC))
        events = system.store.read_now(
            lambda conn: list_events(conn, Viewer.whole(system.household.id))
        )
        assert len(events) == len(system.household.events) + len(system.household.maintenance)


def test_what_time_brings_comes_after_the_last_message() -> None:
    asked = message("m1", "sarah", "Who's picking up Leo at 5?", "2026-03-06T10:00:00-06:00")
    with Stage() as stage:
        player = EpisodePlayer(stage, ROOT)
        assert not list(spoken_lines(player.run(MILLERS, [asked], None)))
        later = player.run(MILLERS, [asked], "2026-03-06T11:00:00-06:00")
        assert [line["event"] for line in spoken_lines(later)] == ["deferred"]


def test_households_without_a_file_are_apart_from_each_other() -> None:
    words = {
        "adult": [{"id": "ann", "words": ["Ann"]}, {"id": "bob", "words": ["Bob"]}],
        "child": [{"id": "tom", "words": ["Tom"]}],
    }
    chat = [
        InboundMessage(
            channel="replay",
            chat_id="c",
            message_id=sender,
            sender=sender,
            text="I'll pick up Tom tomorrow at 4",
            sent_at=datetime(2026, 3, 3, 10, tzinfo=UTC),
        )
        for sender in ("ann", "bob")
    ]
    with Stage() as stage:
        (first,), (other,) = (
            list(play(stage.opened_with(replace(household_of(words), id=id_)), [message]))
            for id_, message in zip(("one", "other"), chat, strict=True)
        )
        assert first.own["extraction"]["assigned_to"] == ["ann"]
        assert other.own["extraction"]["assigned_to"] == ["bob"]
        assert first.own["action"]
        assert other.own["action"]
        assert not list(spoken_lines([first.own, other.own]))
        assert not first.has_failed
