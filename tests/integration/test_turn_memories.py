"""What memory brings to a turn tells whose words they are and of when: they are read by somebody who was not there."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from asking import FAMILY, NOW
from kinkeeper.conversation.lookups import Memories
from kinkeeper.conversation.turn import Turn
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs.leases import WorkState
from kinkeeper.memory.context.session_facts import remembered
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.finding.search import Finder
from kinkeeper.memory.model import Episode, Origin
from kinkeeper.store.store import Store

LATE = datetime(2026, 2, 1, 2, 30, tzinfo=UTC)  # still the day before at home


def test_a_line_says_who_and_when() -> None:
    day = date(2026, 1, 31)
    assert remembered("I fell yesterday.", "ann", {"ann": "Ann"}, said_on=day) == (
        "Ann, 31 January 2026: I fell yesterday."
    )
    assert remembered("It rains.", None, {}, said_on=day) == "31 January 2026: It rains."


def test_a_turn_is_told_who_said_what_it_is_brought_and_on_which_day_at_home(
    tmp_path: Path,
) -> None:
    said = Episode(
        household=FAMILY.id,
        id="e",
        session="old",
        speaker="ruth",
        origin=Origin.SAID,
        text="I twisted my ankle yesterday.",
        said_at=LATE,
    )
    turn = Turn(
        household=FAMILY.id,
        id="t",
        thread_id="s",
        member="ruth",
        channel="pages",
        text="Who twisted an ankle?",
        received_at=NOW,
        state=WorkState.DONE,
        epoch=0,
    )
    with Store.open(str(tmp_path / "memory.sqlite")) as store:
        store.write_now(lambda conn: insert_episodes(conn, [said], at=LATE, is_read=True))
        finder = Finder(store, FAMILY.id, zone=FAMILY.zone)
        clock = VirtualClock(LATE + timedelta(days=30))
        memories = Memories(finder, None, clock, household=FAMILY, searches=True)
        brought = asyncio.run(memories.bring(turn, Viewer.of(FAMILY.id, "ruth")))

    assert brought.lines == ["Ruth, 31 January 2026: I twisted my ankle yesterday."]
