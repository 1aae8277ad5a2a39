"""The next 24 hours: jobs nobody has, what two have taken, what is about to go; over midnights and clock changes."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from kinkeeper.actions.effects.calendar import CancelOccurrence
from kinkeeper.actions.model import Choice, PendingAction
from kinkeeper.calendar.model import Event
from kinkeeper.web.views.calendar_diff import Standing
from kinkeeper.web.views.lanes import Look
from kinkeeper.web.views.today import Today, today
from page_samples import EMPTY, action, care, home, lines_at, occurrence, standing
from pending_samples import adding, event, proposal

# Three in the afternoon, the day before the clocks change, and an ordinary one.
SPRING = datetime(2026, 3, 28, 15, tzinfo=ZoneInfo("Europe/Vienna"))
AUTUMN = datetime(2026, 10, 24, 15, tzinfo=ZoneInfo("Europe/Vienna"))
PLAIN = datetime(2026, 5, 14, 15, tzinfo=ZoneInfo("Europe/Vienna"))


def _page(
    now: datetime,
    events: Sequence[Event] = (),
    asked: Sequence[PendingAction] = (),
    stands: Standing = EMPTY,
) -> Today:
    return today([occurrence(each) for each in events], asked, stands, lines=lines_at(now))


def _who_does_it(start: datetime) -> PendingAction:
    ways = tuple(
        Choice(label=name, effects=adding(care(f"{name} fetches", start, member)), result=name)
        for name, member in (("Ines", "ines"), ("Omar", "omar"))
    )
    said = {"child": ["tara"], "activity": "judo", "task": "pickup", "dates": [], "times": []}
    return action(proposal("ask", effects=(), choices=ways, extraction=said))


def _claimed_twice(first: Event, second: Event) -> PendingAction:
    ways = (
        Choice(label="Ines", effects=adding(first), result="Ines goes."),
        Choice(label="Omar", effects=adding(second), result="Omar goes."),
        Choice(label="Both", effects=adding(first, second), result="Both go."),
    )
    return action(proposal("twice", effects=(), choices=ways, conflict_key="resource|x"))


@pytest.mark.parametrize("now", [PLAIN, SPRING, AUTUMN])
@pytest.mark.parametrize(
    ("hours", "day", "clock"),
    [
        (1, "today", "16:00 – 17:00"),
        (8, "today", "23:00 – 00:00"),
        (9, "tomorrow", "00:00 – 01:00"),
    ],
)
def test_a_job_that_nobody_has_is_told_with_its_own_day_and_hour(
    now: datetime, hours: int, day: str, clock: str
) -> None:
    start = now.astimezone(UTC) + timedelta(hours=hours)
    page = _page(now, asked=[_who_does_it(start)])
    [gap] = page.gaps
    assert (gap.title, gap.day, gap.clock) == ("Tara judo pickup", day, clock)
    assert [each.name for each in gap.owners] == ["Nobody yet"]
    assert "1 job nobody has" in page.sentence
    assert [block.look for lane in page.rows for block in lane.blocks] == [Look.GAP]


@pytest.mark.parametrize(
    ("now", "hour", "clock"), [(SPRING, 14, "14:00 – 15:00"), (AUTUMN, 13, "13:00 – 14:00")]
)
def test_after_the_clocks_change_the_hour_is_the_new_clock_s(
    now: datetime, hour: int, clock: str
) -> None:
    start = (now + timedelta(days=1)).replace(hour=hour)
    page = _page(now, asked=[_who_does_it(start)])
    assert [(gap.day, gap.clock) for gap in page.gaps] == [("tomorrow", clock)]


def test_24_hours_are_real_hours_on_the_day_the_clocks_change() -> None:
    # The night has 23 hours: tomorrow at half past three is still within them, at half past four no more.
    near, far = (SPRING + timedelta(days=1, minutes=minutes) for minutes in (30, 90))
    page = _page(SPRING, [care("near", near), care("far", far)])
    assert [gap.title for gap in page.gaps] == ["near for Tara"]


def test_a_care_job_in_the_calendar_without_an_owner_is_a_gap_and_with_one_is_not() -> None:
    start = PLAIN + timedelta(hours=2)
    page = _page(PLAIN, [care("open", start), care("taken", start, "omar")])
    assert [gap.title for gap in page.gaps] == ["open for Tara"]


def test_two_who_claim_one_job_are_bracketed_in_every_lane_it_stands_in() -> None:
    start = PLAIN + timedelta(hours=2)
    asked = _claimed_twice(care("a", start, "ines"), care("b", start, "omar"))
    page = _page(PLAIN, asked=[asked])
    [found] = page.collisions
    assert found.heading == "Ines and Omar both took this:"
    assert [side.title for side in found.sides] == ["a for Tara", "b for Tara"]
    assert found.shared is not None
    assert found.shared.clock == "17:00 – 18:00"
    assert found.href == f"/pending#card-{asked.id}"
    bracketed = {lane.person.id: len(lane.brackets) for lane in page.rows}
    assert bracketed == {"ines": 1, "omar": 1, "tara": 1, "bea": 0, "lou": 0}
    assert all("(clash)" in lane.spoken for lane in page.rows if lane.brackets)


def test_a_claim_on_what_somebody_has_already_is_a_conflict_with_the_one_who_has_it() -> None:
    start = PLAIN + timedelta(hours=2)
    has, wants = care("has", start, "ines"), care("wants", start, "omar")
    freed = CancelOccurrence(event_id=has.id, original_start=has.start).frozen()
    ways = (
        Choice(label="Ines", effects=(), result="Ines."),
        Choice(label="Omar", effects=(*adding(wants), freed), result="Omar."),
        Choice(label="Both", effects=adding(wants), result="Both."),
    )
    asked = action(proposal("late", effects=(), choices=ways, conflict_key="resource|y"))
    page = _page(PLAIN, [has], [asked], standing(has))
    [found] = page.collisions
    assert found.heading == "Ines and Omar both took this:"
    assert {side.title for side in found.sides} == {"has for Tara", "wants for Tara"}


def test_a_conflict_of_whole_days_is_told_although_lanes_have_no_place_for_it() -> None:
    day = PLAIN.replace(hour=0) + timedelta(days=1)
    whole = {"all_day": True, "minutes": 24 * 60}
    asked = _claimed_twice(care("a", day, "ines", **whole), care("b", day, "omar", **whole))
    page = _page(PLAIN, asked=[asked])
    assert [each.heading for each in page.collisions] == ["Ines and Omar both took this:"]
    assert [item.title for item in page.all_day] == ["a for Tara", "b for Tara"]
    assert not any(lane.blocks for lane in page.rows)


def test_one_child_in_two_places_is_told_once_however_it_came() -> None:
    start = PLAIN + timedelta(hours=2)
    judo = event("judo", start=start)
    checkup = event("checkup", start=start + timedelta(minutes=15))
    freed = CancelOccurrence(event_id=judo.id, original_start=judo.start).frozen()
    ways = (
        Choice(label="Checkup", effects=(*adding(checkup), freed), result="Checkup."),
        Choice(label="Judo", effects=(), result="Judo."),
        Choice(label="Both", effects=adding(checkup), result="Both."),
    )
    asked = action(proposal("clash", effects=(), choices=ways, conflict_key="temporal|z"))
    page = _page(PLAIN, [judo], [asked], standing(judo))
    [found] = page.collisions
    assert found.heading == "Tara in two places at once:"
    assert found.shared is None
    [lane] = [lane for lane in page.rows if lane.brackets]
    assert (lane.person.id, len(lane.brackets)) == ("tara", 1)


def test_conflicts_stand_in_the_order_they_come() -> None:
    late, soon = PLAIN + timedelta(hours=9), PLAIN + timedelta(hours=1)
    twice = _claimed_twice(care("a", soon, "ines"), care("b", soon, "omar"))
    page = _page(PLAIN, [event("x", start=late), event("y", start=late)], [twice])
    assert [each.sides[0].title for each in page.collisions] == ["a for Tara", "Tara x"]


def test_what_a_proposal_would_take_away_stays_and_is_marked() -> None:
    lesson = event("lesson", start=PLAIN + timedelta(hours=1))
    off = CancelOccurrence(event_id=lesson.id, original_start=lesson.start).frozen()
    page = _page(PLAIN, [lesson], [action(proposal("off", effects=(off,)))], standing(lesson))
    [group] = page.groups
    assert [item.look for item in group.items] == [Look.LEAVING]
    assert group.items[0].note.startswith("Needs approval: ")


def test_what_runs_since_yesterday_stands_under_today() -> None:
    page = _page(
        PLAIN, [event("camp", start=PLAIN - timedelta(hours=30), duration=timedelta(days=2))]
    )
    assert [group.label for group in page.groups] == ["Today"]


def test_an_empty_day_says_so() -> None:
    page = today([], [], EMPTY, lines=lines_at(PLAIN, home(locale="en-US")))
    assert page.sentence == "Nothing planned in the next 24 hours."
    assert next(lane.spoken for lane in page.rows) == "Ines: nothing planned"
