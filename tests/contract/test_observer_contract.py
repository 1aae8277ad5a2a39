"""Live mode ends alike on either database, whoever does the work."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from kinkeeper.actions.approvals import confirm, resolve
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.repository import list_actions
from kinkeeper.actions.reversal import undo
from kinkeeper.bootstrap import Houses, System, live_intake
from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import VirtualClock, local_days
from kinkeeper.household.viewers import Viewer
from kinkeeper.observer.tables import observer_messages
from live_household import MONDAY, left_by, live_system, said
from live_workers import SETTINGS, conversation, held_worker, let_go, replayed, states, take_in
from observer_process import PACE
from same_tables import assert_same_tables

pytestmark = pytest.mark.slow

MESSAGES = 60


def talk(length: int) -> list[InboundMessage]:
    """Return a talk of two chats that ends with two conflicts, so that something is said aloud."""
    return [
        *conversation(length),
        said(901, "sarah", "I'm picking up Leo Thursday", minute=400, chat="one"),
        said(902, "john", "I'll pick up Leo Thursday", minute=401, chat="one"),
        said(903, "sarah", "Mia has the doctor Saturday at 9am", minute=402, chat="two"),
        said(904, "john", "Mia has swimming Saturday at 9am", minute=403, chat="two"),
    ]


def understand(system: System) -> None:
    """Run the workers of this process until nothing is left to understand."""

    async def work() -> None:
        now = system.store.read_now(
            lambda conn: conn.execute(select(func.max(observer_messages.c.sent_at))).scalar_one()
        )
        async with (
            Houses.of(system).working(clock=VirtualClock(now), pace=PACE),
            asyncio.timeout(120),
        ):
            while states(system).keys() & {"queued", "running"}:
                await asyncio.sleep(0.05)

    asyncio.run(work())


def wait_for_workers(system: System) -> None:
    async def wait() -> None:
        async with asyncio.timeout(180):
            while states(system).keys() & {"queued", "running"}:
                await asyncio.sleep(0.05)

    asyncio.run(wait())


def test_live_mode_ends_as_a_replay_on_a_file_does(address: str, tmp_path: Path) -> None:
    chat = talk(MESSAGES)
    with live_system(address, **SETTINGS) as system:
        with live_intake(system, refuses_chats=False) as intake:
            take_in(system, intake, chat)
        understand(system)
        left = left_by(system)
    assert_same_tables(left, replayed(tmp_path / "replayed.db", chat))
    assert left["pending_actions"]
    assert len(left["outbox"]) == 2


def test_cards_of_live_mode_are_confirmed_and_taken_back(address: str) -> None:
    chat = talk(MESSAGES // 3)
    with live_system(address, **SETTINGS) as system:
        with live_intake(system, refuses_chats=False) as intake:
            take_in(system, intake, chat)
        understand(system)
        member, now = system.household.members[0], chat[-1].sent_at
        press = {"member": member, "household": system.household, "now": now}
        before = graph(system)
        cards = system.store.read_now(
            lambda conn: list_actions(
                conn, Viewer.whole(system.household.id), statuses=[ActionStatus.PENDING], now=now
            )
        )
        done = []
        for card in cards:
            receipt = system.store.write_now(
                lambda conn, card=card: confirm(conn, card.id, **press)
            )
            if receipt.outcome is Outcome.CHOOSE:
                label = card.proposal.choices[0].label
                receipt = system.store.write_now(
                    lambda conn, card=card, label=label: resolve(conn, card.id, label, **press)
                )
            done += [card.id] if receipt.outcome is Outcome.DONE else []
        assert done
        assert graph(system) != before
        for action in reversed(done):
            receipt = system.store.write_now(
                lambda conn, action=action: undo(conn, action, **press)
            )
            assert receipt.outcome is Outcome.UNDONE
        assert graph(system) == before


def graph(system: System) -> list[Occurrence]:
    span = local_days(MONDAY.date(), MONDAY.date() + timedelta(days=14), system.household.zone)
    return system.store.read_now(
        lambda conn: occurrences_between(
            conn, Viewer.whole(system.household.id), span, include_cancelled=True
        )
    )


@pytest.mark.nightly
@pytest.mark.crash
def test_two_worker_processes_on_a_server_share_the_work(postgres_url: str, tmp_path: Path) -> None:
    chat = talk(2 * MESSAGES)
    end = chat[-1].sent_at
    with live_system(postgres_url, **SETTINGS) as system:
        with live_intake(system, refuses_chats=False) as intake:
            take_in(system, intake, chat)
        # Each has hands for one chat at a time: the first to begin leaves the other chat to the other.
        with (
            held_worker(postgres_url, end, tier2_workers=1) as one,
            held_worker(postgres_url, end, tier2_workers=1) as other,
        ):
            let_go(one, other)
            wait_for_workers(system)
            begun = [each.kill().count(".\n") for each in (one, other)]
        assert states(system).keys() == {"done", "dropped"}
        left = left_by(system)
    assert all(begun), "one of the two did all the work: the test shows nothing"
    assert sum(begun) == sum(row["state"] == "done" for row in left["observer_messages"])
    assert_same_tables(left, replayed(tmp_path / "replayed.db", chat))
