"""What a yes would write, as it is shown before it: every kind of change, and what is gone meanwhile."""

from datetime import UTC, datetime, timedelta

import pytest

from kinkeeper.actions.effects.calendar import (
    AddEvent,
    AssignOccurrence,
    CancelEvent,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.calendar.model import EventKind
from kinkeeper.web.views.calendar_diff import Verb, changes_of, touched
from page_samples import EMPTY, care, diffs_at, standing
from pending_samples import FAMILY, NOW, ZONE, event, weekly

START = datetime(2026, 5, 14, 16, tzinfo=ZONE)
ONE, SERIES = event(), weekly()
MOVED = MoveOccurrence(
    event_id=ONE.id, original_start=START, new_start=START + timedelta(days=1, hours=1)
)
GIVEN = AssignOccurrence(event_id=SERIES.id, original_start=START, responsible=("omar",))


@pytest.mark.parametrize(
    ("effect", "verb", "before", "after"),
    [
        (AddEvent(event=ONE), Verb.ADD, None, "Thu 14 May, 16:00 – 16:45"),
        (MOVED, Verb.MOVE, "Thu 14 May, 16:00 – 16:45", "Fri 15 May, 17:00 – 17:45"),
        (CancelEvent(event_id=ONE.id), Verb.CANCEL, "Thu 14 May, 16:00 – 16:45", None),
        (
            CancelEvent(event_id=SERIES.id),
            Verb.CANCEL_SERIES,
            "Thu 14 May, 16:00 – 16:45 (repeats)",
            None,
        ),
        (
            CancelOccurrence(event_id=SERIES.id, original_start=START),
            Verb.CANCEL,
            "Thu 14 May, 16:00 – 16:45",
            None,
        ),
        (GIVEN, Verb.ASSIGN, "Thu 14 May, 16:00 – 16:45", "Thu 14 May, 16:00 – 16:45"),
        (
            UpdateEvent(event=weekly(), based_on=SERIES),
            Verb.UPDATE,
            "Thu 14 May, 16:00 – 16:45 (repeats)",
            "Thu 14 May, 16:00 – 16:45 (repeats)",
        ),
    ],
)
def test_every_kind_of_change_has_its_two_sides(
    effect: Effect, verb: Verb, before: str | None, after: str | None
) -> None:
    [change] = changes_of(FAMILY.id, [effect.frozen()], standing(ONE, SERIES))
    [line] = diffs_at(NOW).lines([change])
    assert change.verb is verb
    assert (line.before.when if line.before else None) == before
    assert (line.after.when if line.after else None) == after
    assert not line.is_gone


def test_a_change_of_hands_shows_the_new_owner() -> None:
    [line] = diffs_at(NOW).lines(changes_of(FAMILY.id, [GIVEN.frozen()], standing(SERIES)))
    assert line.before is not None
    assert line.after is not None
    assert [each.name for each in line.before.owners] == []
    assert [each.name for each in line.after.owners] == ["Omar"]


@pytest.mark.parametrize("effect", [MOVED, GIVEN, CancelEvent(event_id="gone")])
def test_what_is_gone_meanwhile_is_said(effect: Effect) -> None:
    [line] = diffs_at(NOW).lines(changes_of(FAMILY.id, [effect.frozen()], EMPTY))
    assert line.is_gone
    assert (line.before, line.after) == (None, None)


def test_a_new_length_moves_the_end_alone() -> None:
    longer = MoveOccurrence(
        event_id=ONE.id, original_start=START, new_start=START, new_duration=timedelta(hours=9)
    )
    [change] = changes_of(FAMILY.id, [longer.frozen()], standing(ONE))
    assert change.after is not None
    assert change.after.interval.end == START + timedelta(hours=9)


def test_whole_days_deadlines_and_places_are_told_as_such() -> None:
    day = datetime(2026, 5, 12, tzinfo=ZONE)
    trip = event("trip", start=day, duration=timedelta(days=1), all_day=True, place="dojo")
    due = event("form", start=day, duration=timedelta(0), kind=EventKind.DEADLINE, place="Room 4")
    words = diffs_at(NOW)
    whole, deadline = (
        words.lines(changes_of(FAMILY.id, [AddEvent(event=each).frozen()], EMPTY))[0].after
        for each in (trip, due)
    )
    assert whole is not None
    assert deadline is not None
    assert (whole.when, whole.place) == ("tomorrow, all day", "The dojo")
    assert (deadline.when, deadline.place) == ("due tomorrow, 00:00", "Room 4")


def test_what_an_action_touches_is_named_with_its_occurrence() -> None:
    effects = [
        MOVED.frozen(),
        CancelEvent(event_id="e").frozen(),
        UpdateEvent(event=SERIES, based_on=SERIES).frozen(),
        AddEvent(event=care("x", NOW)).frozen(),
    ]
    assert touched(effects) == {(ONE.id, START.astimezone(UTC)), ("e", None), (SERIES.id, None)}
