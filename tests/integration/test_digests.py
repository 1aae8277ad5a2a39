"""The daily digest: one for each adult and day, of what they may see, whatever happens to the process."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, time, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from kinkeeper.actions.model import ActionType
from kinkeeper.bootstrap.digests import DigestPost
from kinkeeper.calendar.event_changes import add_event
from kinkeeper.calendar.model import EventKind
from kinkeeper.calendar.occurrences import extend_horizon
from kinkeeper.conversation.tables import turns
from kinkeeper.conversation.turn_records import effects
from kinkeeper.core.time import VirtualClock
from kinkeeper.digest.content import DigestRounds, DigestWords, gather
from kinkeeper.digest.repository import Digest, set_digest_time
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import person_scope
from kinkeeper.messaging import addresses
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.messaging.tables import outbox
from kinkeeper.store.store import Store
from pending_presses import put, yes
from pending_samples import (
    CHILD,
    FAMILY,
    FRIEND,
    GUARDIAN,
    HELPER,
    NOW,
    PARENT,
    ZONE,
    adding,
    choice,
    event,
    proposal,
)

DAY = timedelta(days=1)
SIX = datetime(2026, 5, 11, 18, 0, tzinfo=ZONE)
"""Of the day on which the samples are proposed."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


class Days:
    """A household's days, with its digests."""

    def __init__(self, store: Store, *, quiet: str = "22:00-07:00") -> None:
        self.store = store
        self.clock = VirtualClock(NOW)
        self.quiet_hours = QuietHours.parse(quiet, ZONE)
        self.asked_quiet = False

    def rounds(self) -> DigestRounds:
        """Return the rounds as a new process begins them."""
        return DigestRounds(
            self.store,
            FAMILY,
            quiet_hours=self.quiet_hours,
            clock=self.clock,
            deliver=DigestPost(FAMILY, self.quiet_hours, address="https://kin.example"),
            is_quiet=lambda _conn, _now: self.asked_quiet,
        )

    def at(self, instant: datetime) -> int:
        """Let it be that time, and return how many digests were sent then."""
        self.clock.advance_to(instant)
        return asyncio.run(self.rounds().run_once())

    def told(self) -> dict[str, list[str]]:
        """Return the texts that each member found in their conversation."""
        query = select(turns.c.member, turns.c.answer).order_by(turns.c.received_at, turns.c.id)
        found: dict[str, list[str]] = {}
        for member, answer in self.store.read_now(lambda conn: conn.execute(query).all()):
            found.setdefault(member, []).append(answer)
        return found


def test_a_digest_says_what_waits_what_nobody_does_tomorrow_and_what_expired(store: Store) -> None:
    days = Days(store)
    put(store, proposal("m1"))
    put(
        store,
        proposal(
            "gone",
            effects=(),
            extraction={},
            choices=(choice("Yes", event("x", start=NOW - 2 * DAY)),),
        ),
        now=NOW - 3 * DAY,
    )
    care = event(
        "pickup",
        kind=EventKind.CARE,
        task="pickup",
        activity="judo",
        start=datetime(2026, 5, 12, 17, 0, tzinfo=ZONE),
        responsible=(),
    )

    def write(conn: Connection) -> None:
        extend_horizon(conn, FAMILY.id, NOW)
        add_event(conn, care, change_id="c1", at=NOW)

    store.write_now(write)
    assert days.at(SIX) == 3
    [text] = days.told()[PARENT.id]
    assert text.splitlines() == [
        "1 plan is waiting for your OK:",
        "• Tara checkup, Thu 14 May 16:00 (m1) (until the end of Thu 14 May)",
        "",
        "Nobody is picking Tara up from judo tomorrow at 17:00.",
        "",
        "1 plan expired because nobody confirmed it. You can still restore it:",
        "• Tara checkup, Thu 14 May 16:00 (gone)",
    ]
    # What expired is told once; what waits, every day.
    assert days.at(SIX + DAY) == 3
    assert "expired" not in days.told()[PARENT.id][1]
    assert "waiting for your OK" in days.told()[PARENT.id][1]


@pytest.mark.parametrize(
    ("task", "who", "activity", "at", "said"),
    [
        ("dropoff", ("tara",), "judo", 17, "Nobody is taking Tara to judo tomorrow at 17:00"),
        (
            "cover",
            ("tara", "lou"),
            None,
            19,
            "Nobody is looking after Tara and Lou tomorrow at 19:00",
        ),
        ("other", (), "cake", 9, "Nobody has taken on “cake” tomorrow at 09:00"),
    ],
)
def test_an_open_question_for_tomorrow_is_told_like_a_job_of_the_calendar(
    store: Store, task: str, who: tuple[str, ...], activity: str | None, at: int, said: str
) -> None:
    job = event(
        "job", kind=EventKind.CARE, task=task, start=datetime(2026, 5, 12, at, tzinfo=ZONE), who=who
    )
    record = {
        "dates": ["2026-05-12"],
        "times": [f"{at:02d}:00"],
        "child": list(who),
        "activity": activity,
        "assigned_to": [],
    }
    put(
        store,
        proposal(
            "q",
            type=ActionType.CARE_ASSIGNMENT,
            effects=(),
            extraction=record,
            choices=(choice("Ines", replace(job, responsible=("ines",))),),
        ),
    )
    days = Days(store)
    add_alike = replace(job, id="in the calendar", responsible=())

    def write(conn: Connection) -> None:
        extend_horizon(conn, FAMILY.id, NOW)
        add_event(conn, add_alike, change_id="c1", at=NOW)

    store.write_now(write)
    days.at(SIX)
    # Once, although the question waits, too, and the job is in the calendar already.
    assert days.told()[PARENT.id][0].splitlines() == [f"{said}."]


@pytest.mark.parametrize(
    ("locale", "said"),
    [
        ("en-GB", "until the end of Thu 14 May"),
        ("en-US", "until the end of Thu May 14"),
        ("de-DE", "Thu 14 May"),
    ],
)
def test_days_are_written_as_the_region_does(store: Store, locale: str, said: str) -> None:
    put(store, proposal("m1"))
    family = replace(FAMILY, locale=locale)
    digest = store.read_now(
        lambda conn: gather(conn, family, PARENT, day=SIX.date(), now=SIX, since=None)
    )
    assert said in DigestWords(family).text(digest)


def test_adults_alone_get_one_each_day_and_nobody_where_there_is_nothing(store: Store) -> None:
    days = Days(store)
    assert days.at(SIX) == 0
    put(store, now=SIX)
    # The day is over, digest or not; what comes later is told tomorrow.
    assert days.at(SIX + timedelta(hours=1)) == 0
    assert days.at(SIX + DAY) == 3
    assert days.told().keys() == {PARENT.id, GUARDIAN.id, HELPER.id}
    assert not {CHILD.id, FRIEND.id} & days.told().keys()


def test_what_is_private_is_in_the_digest_of_its_owner_alone(store: Store) -> None:
    days = Days(store)
    put(
        store,
        proposal(
            "gift",
            summary="A surprise",
            effects=adding(event("gift", scope=person_scope(PARENT.id))),
        ),
    )
    private = proposal(
        "old gift",
        summary="An old surprise",
        extraction={},
        effects=adding(event("g2", start=NOW - 2 * DAY, scope=person_scope(PARENT.id))),
    )
    put(store, private, now=NOW - 3 * DAY)
    assert days.at(SIX) == 1
    assert days.told().keys() == {PARENT.id}
    assert "A surprise" in days.told()[PARENT.id][0]
    assert "An old surprise" in days.told()[PARENT.id][0]


def test_restarts_second_processes_and_clocks_that_jump_bring_no_second_one(store: Store) -> None:
    days = Days(store)
    put(store, proposal("m1", effects=adding(event("far", start=SIX + 60 * DAY))))

    days.clock = VirtualClock(SIX - DAY)
    assert days.at(SIX - DAY) == 3

    async def together() -> list[int]:
        days.clock.advance_to(SIX)
        return list(await asyncio.gather(*(days.rounds().run_once() for _ in range(4))))

    assert sum(asyncio.run(together())) == 3
    for minutes in range(0, 24 * 60, 45):
        sent = days.at(SIX + timedelta(minutes=minutes))
        assert sent == 0, minutes
    days.clock = VirtualClock(SIX - timedelta(hours=5))  # set back
    assert [days.at(SIX + timedelta(hours=each)) for each in (-5, 0, 1)] == [0, 0, 0]
    days.clock = VirtualClock(SIX)
    assert days.at(SIX + 9 * DAY) == 3  # of the days that were missed, the last one
    assert [len(texts) for texts in days.told().values()] == [3, 3, 3]


def test_what_dies_while_it_is_sent_is_sent_once_at_the_next_start(store: Store) -> None:
    days = Days(store)
    put(store)
    post = DigestPost(FAMILY, days.quiet_hours, address=None)

    def dies(conn: Connection, member: Member, digest: Digest) -> None:
        post(conn, member, digest)
        raise KeyboardInterrupt

    days.clock.advance_to(SIX)
    dying = DigestRounds(
        store,
        FAMILY,
        quiet_hours=days.quiet_hours,
        clock=days.clock,
        deliver=dies,
        is_quiet=lambda _conn, _now: False,
    )
    with pytest.raises(BaseException):  # noqa: B017, PT011 - as a process dies
        asyncio.run(dying.run_once())
    assert days.told() == {}
    assert days.at(SIX + timedelta(minutes=1)) == 3
    assert [len(texts) for texts in days.told().values()] == [1, 1, 1]


def test_quiet_hours_hold_it_back_until_their_end_and_so_does_asked_for_quiet(store: Store) -> None:
    days = Days(store, quiet="17:30-20:00")
    put(store)
    assert [days.at(SIX + timedelta(minutes=each)) for each in (0, 60, 119)] == [0, 0, 0]
    days.asked_quiet = True
    assert days.at(SIX + timedelta(hours=2)) == 0
    days.asked_quiet = False
    assert days.at(SIX + timedelta(hours=2, minutes=5)) == 3


def test_each_person_chooses_the_time_or_none(store: Store) -> None:
    days = Days(store)
    put(store, proposal("m1", effects=adding(event("far", start=SIX + 60 * DAY))))

    def choose(conn: Connection) -> None:
        set_digest_time(conn, FAMILY.id, PARENT.id, time(7, 30), now=NOW)
        set_digest_time(conn, FAMILY.id, GUARDIAN.id, None, now=NOW)

    store.write_now(choose)
    assert days.at(SIX) == 1  # for the helper; seven thirty was over when it was chosen
    assert days.told().keys() == {HELPER.id}
    morning = datetime(2026, 5, 12, 7, 30, tzinfo=ZONE)
    assert days.at(morning - timedelta(minutes=1)) == 0
    assert days.at(morning) == 1
    assert days.told().keys() == {HELPER.id, PARENT.id}
    days.at(SIX + 3 * DAY)
    assert GUARDIAN.id not in days.told()


def test_a_private_chat_gets_it_with_buttons_for_the_first_plans_and_nobody_else_does(
    store: Store,
) -> None:
    days = Days(store)
    for number in range(5):
        put(
            store,
            proposal(
                f"m{number}", effects=adding(event(f"e{number}", start=SIX + (number + 3) * DAY))
            ),
        )
    store.write_now(
        lambda conn: addresses.remember_private_chat(
            conn, FAMILY.id, "telegram", member=PARENT.id, chat_id="77", now=NOW
        )
    )
    days.at(SIX)
    rows = store.read_now(lambda conn: conn.execute(select(outbox).order_by(outbox.c.id)).all())
    assert {(row.chat_id, row.audience, row.route) for row in rows} == {
        ("77", PARENT.id, "private")
    }
    assert [bool(row.buttons) for row in rows] == [False, True, True, True]
    assert "5 plans are waiting for your OK" in rows[0].body
    assert rows[0].body.endswith("https://kin.example/digest")
    assert [each["label"] for each in rows[1].buttons] == ["Confirm", "Not right"]


def test_it_counts_as_sent_and_as_useful_where_somebody_then_decides(store: Store) -> None:
    days = Days(store)
    action = put(store)
    days.at(SIX)

    def counted() -> tuple[int, int]:
        found = store.read_now(lambda conn: effects(conn, FAMILY.id, since=NOW))
        [part] = [each for each in found.parts if each.name == "daily digests"]
        return part.fired, part.had_effect

    assert counted() == (3, 0)
    yes(store, action, member=GUARDIAN, now=SIX + timedelta(minutes=20))
    assert counted() == (3, 1)


def test_days_that_a_clock_far_ahead_has_dealt_with_get_their_digest_all_the_same(
    store: Store,
) -> None:
    days = Days(store)
    put(store, proposal("m1", effects=adding(event("far", start=SIX + 60 * DAY))))
    for ahead in range(20, 24):
        days.at(SIX + ahead * DAY)
    early = {member: len(texts) for member, texts in days.told().items()}
    days.clock = VirtualClock(SIX - timedelta(hours=1))  # set right
    for day in range(26):
        assert days.at(SIX + day * DAY + timedelta(seconds=5)) == 3, day
        assert days.at(SIX + day * DAY + timedelta(hours=1)) == 0, day
    late = {member: len(texts) for member, texts in days.told().items()}
    assert {member: late[member] - early[member] for member in late} == dict.fromkeys(late, 26)
