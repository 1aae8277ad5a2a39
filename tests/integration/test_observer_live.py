"""Live mode on a real file: tier 1 answers at once, workers understand durably and in order."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Row, func, select, text

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import list_actions
from kinkeeper.bootstrap import Houses, System, live_intake
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Pace
from kinkeeper.jobs.leases import Key, LeaseLostError, RetryLadder
from kinkeeper.jobs.queue import JobQueue
from kinkeeper.messaging.tables import messages, outbox
from kinkeeper.observer.accounts.metrics import failures
from kinkeeper.observer.intake import JOB_NAME, Intake, Received
from kinkeeper.observer.model import Extraction
from kinkeeper.observer.settling.job import UnderstandingJob, first_in_chat
from kinkeeper.observer.settling.message_reader import RulesExtractor
from kinkeeper.observer.tables import observer_messages
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants
from live_household import HOUSEHOLD, MONDAY, left_by, live_system, said

pytestmark = pytest.mark.slow

NOON = MONDAY + timedelta(hours=4)
QUICK = Pace(
    ladder=RetryLadder(delays=(timedelta(milliseconds=1),) * 3),
    poll_every=timedelta(milliseconds=50),
    reconcile_every=timedelta(milliseconds=200),
    upkeep_every=timedelta(milliseconds=20),
)
ASKS = "Who's picking up Leo Thursday after soccer?"
PRIVATE = "the doctor said something private"


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    with live_system(tmp_path / "family.db") as opened:
        yield opened


class Backwards:
    """Enqueues what it was given in the opposite order, so that later messages come first."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, Key]] = []

    def enqueue(self, _conn: Connection, job: str, key: Key, **_: Any) -> None:
        self.kept.append((job, key))

    def enqueue_all(self, conn: Connection, queue: JobQueue) -> None:
        for job, key in reversed(self.kept):
            queue.enqueue(conn, job, key)


class FailingExtractor(RulesExtractor):
    """Fails on messages that contain a word, and notes the order in which it reads."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.read: list[str] = []

    async def extract(
        self, reading: Reading, *, sender: Member | None, participants: Participants
    ) -> Extraction:
        self.read.append(reading.text)
        if self.word in reading.text:
            raise ValueError(PRIVATE)
        return await super().extract(reading, sender=sender, participants=participants)


def take_in(system: System, intake: Intake, *chat: InboundMessage) -> list[Received]:
    return [
        system.store.write_now(
            lambda conn, message=message: intake.receive(conn, message, now=message.sent_at)  # type: ignore[misc]
        )
        for message in chat
    ]


def rows(system: System) -> dict[str, Row[Any]]:
    found = system.store.read_now(lambda conn: conn.execute(select(observer_messages)).all())
    return {row.message_id: row for row in found}


def spoken(system: System) -> Sequence[Row[Any]]:
    return system.store.read_now(
        lambda conn: conn.execute(select(outbox).order_by(outbox.c.id)).all()
    )


def is_settled(system: System) -> bool:
    return all(row.state not in {"queued", "running"} for row in rows(system).values())


@asynccontextmanager
async def working(
    system: System, *, now: datetime = NOON, **more: Any
) -> AsyncIterator[VirtualClock]:
    clock = VirtualClock(now)
    async with Houses.of(system).working(clock=clock, pace=QUICK, **more), asyncio.timeout(30):
        yield clock


def work_until(system: System, is_done: Callable[[System], bool] = is_settled, **more: Any) -> None:
    async def scenario() -> None:
        async with working(system, **more):
            while not is_done(system):
                await asyncio.sleep(0.02)

    asyncio.run(scenario())


def test_tier_1_answers_before_tier_2_has_run(system: System) -> None:
    with live_intake(system, refuses_chats=False) as intake:
        (received,) = take_in(system, intake, said(1, "sarah", ASKS))
    assert received.is_queued
    row = rows(system)["m1"]
    assert (row.state, row.extraction, row.processed_at) == ("queued", None, None)
    work_until(system)
    row = rows(system)["m1"]
    assert (row.state, row.extraction["child"]) == ("done", ["leo"])


def test_a_message_and_its_job_are_committed_together_or_not_at_all(system: System) -> None:
    with live_intake(system, refuses_chats=False) as intake:

        def receive_and_fail(conn: Connection) -> None:
            intake.receive(conn, said(1, "sarah", ASKS), now=MONDAY)
            raise ValueError

        with pytest.raises(ValueError, match=r"^$"):
            system.store.write_now(receive_and_fail)

        def counted(conn: Connection) -> tuple[int, int]:
            jobs = conn.execute(text("SELECT count(*) FROM workflow_status")).scalar_one()
            return conn.execute(select(func.count()).select_from(messages)).scalar_one(), jobs

        assert system.store.read_now(counted) == (0, 0)
        take_in(system, intake, said(1, "sarah", ASKS))
        assert system.store.read_now(counted) == (1, 1)


def test_an_answer_that_overtakes_its_question_is_attributed_to_it(system: System) -> None:
    backwards = Backwards()
    intake = system.intake(backwards, refuses_chats=False)
    chat = [
        said(1, "sarah", ASKS),
        said(2, "john", "I'll do it"),
        said(3, "sarah", "Mia has the dentist Friday at 10am"),
        said(4, "john", "I can take her"),
    ]
    received = take_in(system, intake, *chat)
    assert all(each.is_queued for each in received)
    with closing(JobQueue(system.store, system.household.id)) as queue:
        system.store.write_now(lambda conn: backwards.enqueue_all(conn, queue))
    reader = FailingExtractor("no message says this")
    work_until(system, extractor=reader)
    assert list(dict.fromkeys(reader.read)) == [message.text for message in chat]
    row = rows(system)["m2"]
    assert (row.attribution_source, row.extraction["assigned_to"]) == ("m1", ["john"])


def test_what_workers_did_equals_a_replay_of_the_same_messages(
    system: System, tmp_path: Path
) -> None:
    chat = [
        said(1, "sarah", ASKS),
        said(2, "john", "I'll do it"),
        said(3, "john", "lol the dog ate the remote"),
        said(4, "sarah", "Leo has the dentist Thursday at 4pm"),
        said(5, "john", "I can cover Tuesday pickup"),
        said(6, "sarah", "I'll get the kids Tuesday after work"),
        said(7, "john", "soccer is cancelled Thursday"),
    ]
    with live_intake(system, refuses_chats=False) as intake:
        take_in(system, intake, *chat)
    work_until(system, now=chat[-1].sent_at)
    with live_system(tmp_path / "replayed.db") as other:

        async def replay() -> None:
            observer = other.replay(chat[0].sent_at)
            for message in chat:
                async for _ in observer.feed(message):
                    pass

        asyncio.run(replay())
        assert left_by(system) == left_by(other)
    assert spoken(system)


def test_a_message_that_cannot_be_understood_goes_to_a_person_and_holds_up_nobody(
    system: System,
) -> None:
    chat = [
        said(1, "sarah", "Leo has the dentist Thursday at 4pm, bring the poison card"),
        said(2, "sarah", ASKS),
        said(3, "john", "I'll do it"),
    ]
    with live_intake(system, refuses_chats=False) as intake:
        assert all(each.is_queued for each in take_in(system, intake, *chat))
    work_until(system, extractor=FailingExtractor("poison"))
    found = rows(system)
    assert [found[f"m{n}"].state for n in (1, 2, 3)] == ["manual_review", "done", "done"]
    assert (found["m1"].failures, found["m2"].failures, found["m3"].failures) == (4, 0, 0)
    assert found["m3"].attribution_source == "m2"
    (shown,) = system.store.read_now(lambda conn: failures(conn, system.household.id))
    assert shown.message_id == "m1"
    assert "ValueError" in (shown.error or "")
    assert PRIVATE not in (shown.error or "")
    assert "poison" not in (shown.error or "")


def test_a_failed_message_waits_as_long_as_the_ladder_says(system: System) -> None:
    with live_intake(system, refuses_chats=False) as intake:
        take_in(system, intake, said(1, "sarah", ASKS))
    ladder = RetryLadder()
    assert [wait.total_seconds() for wait in ladder.delays] == [30, 120, 300]
    slow = Pace(ladder=ladder, poll_every=QUICK.poll_every)
    clock = VirtualClock(NOON)

    async def scenario() -> None:
        async with Houses.of(system).working(
            clock=clock, pace=slow, extractor=FailingExtractor("Leo")
        ):
            async with asyncio.timeout(30):
                while rows(system)["m1"].failures == 0:
                    await asyncio.sleep(0.02)

    asyncio.run(scenario())
    row = rows(system)["m1"]
    assert (row.state, row.attempt, row.due_at) == ("queued", 2, NOON + timedelta(seconds=30))


def test_two_households_in_one_database_do_not_cross(tmp_path: Path) -> None:
    other_file = tmp_path / "other.toml"
    other_file.write_text(
        HOUSEHOLD.read_text(encoding="utf-8").replace('id = "miller"', 'id = "other"', 1),
        encoding="utf-8",
    )
    database = tmp_path / "shared.db"
    with live_system(database) as one, live_system(database, household=other_file) as two:
        with (
            live_intake(one, refuses_chats=False) as first,
            live_intake(two, refuses_chats=False) as second,
        ):
            take_in(one, first, said(1, "sarah", ASKS))
            take_in(two, second, said(1, "sarah", "Leo has the dentist Thursday at 4pm"))

        def states(system: System) -> dict[str, str]:
            found = system.store.read_now(
                lambda conn: conn.execute(
                    select(observer_messages.c.household, observer_messages.c.state)
                ).all()
            )
            return {row.household: row.state for row in found}

        async def long_enough() -> None:
            async with working(one):
                while states(one)["miller"] != "done":
                    await asyncio.sleep(0.02)
                await asyncio.sleep(0.5)

        asyncio.run(long_enough())
        assert states(one) == {"miller": "done", "other": "queued"}
        work_until(two, lambda system: states(system)["other"] == "done")
        for system in (one, two):
            household = system.household.id
            actions = system.store.read_now(
                lambda conn, household=household: list_actions(
                    conn, Viewer.whole(household), now=NOON
                )  # type: ignore[misc]
            )
            assert [action.proposal.household for action in actions] == [household]
        assert [row.household for row in spoken(one)] == ["other"]


def test_a_worker_on_an_old_epoch_writes_nothing(system: System) -> None:
    with live_intake(system, refuses_chats=False) as intake:
        take_in(system, intake, said(1, "sarah", "Leo has the dentist Thursday at 4pm"))
    key = (system.household.id, rows(system)["m1"].id)
    clock = VirtualClock(NOON)
    job = UnderstandingJob(
        system.store,
        system.household.id,
        understanding=system.understanding(clock),
        settlement=system.settlement(),
    )

    def claim(conn: Connection) -> int:
        leases.end_leases(conn, observer_messages, now=NOON)
        lease = timedelta(minutes=5)
        epoch = leases.claim(conn, observer_messages, key, now=NOON, lease=lease)
        assert epoch is not None
        return epoch

    old = system.store.write_now(claim)
    new = system.store.write_now(claim)
    before = left_by(system)
    with pytest.raises(LeaseLostError):
        asyncio.run(job.handle(key, old))
    assert left_by(system) == before
    asyncio.run(job.handle(key, new))
    assert rows(system)["m1"].state == "done"
    with pytest.raises(LeaseLostError):
        asyncio.run(job.handle(key, new))
    assert len(spoken(system)) == 1


UNOWNED = "Who's getting Mia from ballet today?"


def test_a_question_is_asked_when_its_grace_ends_also_after_a_restart(system: System) -> None:
    question = said(1, "sarah", UNOWNED)
    with live_intake(system, refuses_chats=False) as intake:
        take_in(system, intake, question)
    work_until(system, now=question.sent_at)
    assert rows(system)["m1"].speak_at == question.sent_at + timedelta(minutes=15)
    assert not spoken(system)

    async def scenario() -> None:
        almost = question.sent_at + timedelta(minutes=15, microseconds=-1)
        async with working(system, now=almost) as clock:
            await asyncio.sleep(0.3)
            assert not spoken(system)
            clock.advance_to(question.sent_at + timedelta(minutes=15))
            while not spoken(system):
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.2)

    asyncio.run(scenario())
    (line,) = spoken(system)
    assert line.reply_to == "m1"
    assert rows(system)["m1"].speak_at is None


def test_a_question_is_not_asked_while_its_answer_waits_to_be_understood(system: System) -> None:
    chat = [said(1, "sarah", UNOWNED), said(2, "john", "I'll get her", minute=10)]
    with live_intake(system, refuses_chats=False) as intake:
        take_in(system, intake, chat[0])
        work_until(system, now=chat[0].sent_at)
        take_in(system, intake, chat[1])
    work_until(system, now=NOON)
    assert rows(system)["m2"].attribution_source == "m1"
    assert not spoken(system)


def waiting_cards(system: System) -> list[list[str]]:
    """Return who has what still awaits a person."""
    return [
        list(action.proposal.extraction["assigned_to"])
        for action in system.store.read_now(
            lambda conn: list_actions(conn, Viewer.whole(system.household.id), now=NOON)
        )
    ]


CLAIM = "I'll pick up Mia from ballet on Wednesday"


@pytest.mark.parametrize("words", ["n/m", "never mind", "scratch that, I'm on call"])
def test_what_is_taken_back_before_it_was_understood_never_becomes_a_card(
    system: System, words: str
) -> None:
    with live_intake(system, refuses_chats=False) as intake:
        take_in(system, intake, said(1, "john", CLAIM), said(2, "john", words))
    assert rows(system)["m1"].state == "dropped"
    work_until(system)
    assert waiting_cards(system) == []
    assert (rows(system)["m1"].state, rows(system)["m1"].extraction) == ("dropped", None)


def test_a_question_taken_back_before_it_was_understood_cannot_be_answered(system: System) -> None:
    with live_intake(system, refuses_chats=False) as intake:
        take_in(
            system,
            intake,
            said(1, "sarah", UNOWNED),
            said(2, "sarah", "nvm"),
            said(3, "john", "I'll do it"),
        )
    work_until(system)
    assert rows(system)["m3"].attribution_source is None
    assert waiting_cards(system) == []


def test_an_edit_that_overtakes_tier_2_leaves_its_own_card_alone(system: System) -> None:
    edit = said(
        2, "john", "I'll pick up Mia from ballet next Monday", kind=MessageKind.EDIT, target="m1"
    )
    with live_intake(system, refuses_chats=False) as intake:
        take_in(system, intake, said(1, "john", CLAIM), edit)
    work_until(system)
    assert rows(system)["m1"].state == "dropped"
    (action,) = system.store.read_now(
        lambda conn: list_actions(conn, Viewer.whole(system.household.id), now=NOON)
    )
    assert action.proposal.extraction["dates"] == ["2026-03-09"]


def test_a_worker_that_is_at_a_message_when_it_is_taken_back_writes_nothing(system: System) -> None:
    with live_intake(system, refuses_chats=False) as intake:
        take_in(system, intake, said(1, "john", CLAIM))
        key = (system.household.id, rows(system)["m1"].id)
        lease = timedelta(minutes=5)
        epoch = system.store.write_now(
            lambda conn: leases.claim(conn, observer_messages, key, now=NOON, lease=lease)
        )
        assert epoch is not None
        take_in(system, intake, said(2, "john", "n/m"))
    job = UnderstandingJob(
        system.store,
        system.household.id,
        understanding=system.understanding(VirtualClock(NOON)),
        settlement=system.settlement(),
    )
    with pytest.raises(LeaseLostError):
        asyncio.run(job.handle(key, epoch))
    assert waiting_cards(system) == []
    assert rows(system)["m1"].state == "dropped"


@pytest.mark.parametrize(
    ("hours", "reason", "is_asked"), [(2, "missing_variable", True), (9, "too_late", False)]
)
def test_after_an_outage_only_what_still_lies_ahead_is_asked(
    system: System, hours: int, reason: str, *, is_asked: bool
) -> None:
    question = said(1, "sarah", UNOWNED)
    with live_intake(system, refuses_chats=False) as intake:
        take_in(system, intake, question)
    work_until(system, now=question.sent_at)
    back = question.sent_at + timedelta(hours=hours)
    work_until(system, lambda opened: rows(opened)["m1"].speak_at is None, now=back)
    assert rows(system)["m1"].reason == reason
    assert [line.created_at for line in spoken(system)] == ([back] if is_asked else [])


def test_actions_nobody_decided_on_expire_by_the_clock(system: System) -> None:
    with live_intake(system, refuses_chats=False) as intake:
        take_in(system, intake, said(1, "john", "I'll pick up Mia from ballet on Wednesday"))
    work_until(system)

    def statuses(conn: Connection) -> set[ActionStatus]:
        # As of an instant before they expire: what is stored, not what the clock would make of it.
        found = list_actions(
            conn, Viewer.whole(system.household.id), statuses=frozenset(ActionStatus), now=NOON
        )
        return {action.status for action in found}

    assert system.store.read_now(statuses) == {ActionStatus.PENDING}

    def has_expired(opened: System) -> bool:
        return opened.store.read_now(statuses) == {ActionStatus.EXPIRED}

    work_until(system, has_expired, now=MONDAY + timedelta(days=4))


def test_the_line_of_a_chat_is_its_own_and_skips_what_waits_for_its_next_try(
    system: System,
) -> None:
    with live_intake(system, refuses_chats=False) as intake:
        received = take_in(
            system,
            intake,
            said(1, "sarah", ASKS),
            said(2, "sarah", ASKS, chat="other"),
            said(3, "sarah", "Leo has the dentist Thursday at 4pm"),
        )
    household = system.household.id
    first, other, last = [(household, each.row_id) for each in received]

    def in_line(key: Key) -> Key | None:
        return system.store.read_now(lambda conn: first_in_chat(conn, key, NOON))

    assert in_line(last) == in_line(first) == first
    assert in_line(other) == other

    def fail(conn: Connection) -> None:
        lease = timedelta(minutes=5)
        epoch = leases.claim(conn, observer_messages, first, now=NOON, lease=lease)
        assert epoch is not None
        leases.fail(
            conn, observer_messages, first, epoch, error="E", now=NOON, ladder=RetryLadder()
        )

    system.store.write_now(fail)
    assert in_line(last) == last
    assert JOB_NAME == "observer.understand"
