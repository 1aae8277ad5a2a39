"""A question about what nobody wrote down is kept, looked at again, asked once, and ended by whoever it is for."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from drift_life import DAY, HOUR, Life, living
from kinkeeper.background.drift.cycle import State
from kinkeeper.background.drift.repository import drift_questions, end_question, figures
from kinkeeper.background.drift.rounds import kept_for
from kinkeeper.calendar.event_changes import add_event, update_event
from kinkeeper.calendar.model import Event, EventKind, Provenance, SourceType
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_scope
from kinkeeper.messaging.tables import outbox
from live_household import MONDAY, ZONE
from talking import on_a_loop


def lesson(name: str = "Pottery", scope: str = HOUSEHOLD_SCOPE) -> Event:
    return Event(
        id=stable_id("miller", name),
        household="miller",
        kind=EventKind.BOOKING,
        summary=name,
        activity="class",
        scope=scope,
        who=("john",),
        start=(MONDAY + 2 * DAY).astimezone(ZONE),
        duration=timedelta(hours=1),
        tz=ZONE.key,
        rrule="FREQ=WEEKLY",
        provenance=Provenance(source_type=SourceType.WEB, source_id=name),
    )


async def put(life: Life, *events: Event) -> None:
    for each in events:
        await life.talk.system.store.write(
            lambda conn, each=each: add_event(conn, each, change_id=f"add {each.id}", at=life.now)
        )


async def live(life: Life, days: int) -> None:
    """Live on, with a word to the assistant every five days, so that the household is not thought deserted."""
    for day in range(days):
        await life.live(DAY, tick=timedelta(hours=2))
        if day % 5 == 4:
            await life.talk.answer("thanks")
            life.talk.later(minutes=40)


def kept(life: Life, member: str) -> list[str]:
    household = life.talk.system.household
    who = household.member(member)
    assert who is not None
    found = life.talk.system.store.read_now(
        lambda conn: kept_for(conn, household, who, now=life.now)
    )
    return [each.news for each in found if "Pottery" in each.text]


def asked(life: Life) -> list[tuple[str, str]]:
    return [(who, text) for who, text in life.posted() if "Pottery" in text]


@on_a_loop
async def test_a_gap_is_asked_once_after_three_days(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        await put(life, lesson())
        await live(life, 2)
        assert kept(life, "john")
        assert not asked(life)
        await live(life, 30)
        [(member, text)] = asked(life)
        assert member == "john"
        assert text.endswith("Where is it? Say “Pottery is always at …”.")
        assert not life.rows(outbox)
        row = next(each for each in life.rows() if "Pottery" in each.text)
        planted = next(each for each in life.rows(drift_questions) if each.news == row.news)
        assert row.told_at - planted.planted_at >= 72 * HOUR
        assert planted.explorations >= 2
        offered = await life.talk.answer("Pottery is always at the old mill")
        assert "place of “Pottery”" in offered
        assert "all later ones" in offered


@on_a_loop
async def test_a_question_ends_for_good_where_its_person_wants_it(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        await put(life, lesson())
        await live(life, 2)
        [news] = kept(life, "john")
        store = life.talk.system.store
        with pytest.raises(NotFoundError):
            await store.write(
                lambda conn: end_question(conn, "miller", "sarah", news, now=life.now)
            )
        await store.write(lambda conn: end_question(conn, "miller", "john", news, now=life.now))
        with pytest.raises(NotFoundError):
            await store.write(lambda conn: end_question(conn, "miller", "john", news, now=life.now))
        assert not kept(life, "john")
        await live(life, 20)
        assert not asked(life)
        assert not kept(life, "john")
        found = store.read_now(lambda conn: figures(conn, "miller", since=MONDAY))
        assert found.remarks[State.UNWANTED.value] == 1
        assert found.questions["settled"] >= 1


@on_a_loop
async def test_what_is_answered_meanwhile_is_not_asked(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        await put(life, lesson())
        await live(life, 2)
        assert kept(life, "john")
        placed = replace(lesson(), place="studio")
        await life.talk.system.store.write(
            lambda conn: update_event(conn, placed, change_id="placed", at=life.now)
        )
        assert not kept(life, "john")
        await live(life, 10)
        assert not asked(life)


@on_a_loop
async def test_a_private_gap_is_kept_for_its_person_alone(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        await put(life, lesson(scope=person_scope("john")))
        await live(life, 12)
        assert {member for member, _ in asked(life)} == {"john"}
        mine = {each.news for each in life.rows() if "Pottery" in each.text}
        assert {each.member for each in life.rows(drift_questions) if each.news in mine} == {"john"}


@on_a_loop
async def test_after_stop_nothing_is_asked(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        await put(life, lesson())
        await live(life, 2)
        for member in ("john", "sarah"):
            await life.talk.answer("stop the remarks", by=member)
        await live(life, 12)
        assert not asked(life)
