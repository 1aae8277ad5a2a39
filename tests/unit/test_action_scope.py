"""Which days a proposal can touch: all that its payload names, and one on both sides."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from kinkeeper.actions.effects.calendar import CancelEvent, CancelOccurrence, MoveOccurrence
from kinkeeper.actions.payload import days_of
from pending_samples import adding, choice, event, proposal


def test_the_day_of_an_appointment() -> None:
    assert days_of(proposal()) == ("2026-05-13", "2026-05-15")


def test_a_move_touches_where_it_was_and_where_it_goes() -> None:
    moved = MoveOccurrence(
        event_id="e",
        original_start=datetime(2026, 5, 14, 15, tzinfo=UTC),
        new_start=datetime(2026, 5, 20, 15, tzinfo=UTC),
    )
    assert days_of(proposal(effects=(moved.frozen(),))) == ("2026-05-13", "2026-05-21")


def test_a_cancelled_day_counts_beside_the_days_said() -> None:
    cancelled = CancelOccurrence(event_id="e", original_start=datetime(2026, 4, 30, tzinfo=UTC))
    assert days_of(proposal(effects=(cancelled.frozen(),))) == ("2026-04-29", "2026-05-15")


def test_every_choice_counts() -> None:
    later = event("later", start=datetime(2026, 6, 1, 9, tzinfo=UTC))
    found = days_of(proposal(effects=(), choices=(choice("Move", later), choice("Keep"))))
    assert found == ("2026-05-13", "2026-06-02")


def test_an_effect_without_a_day_can_touch_any() -> None:
    whole_series = CancelEvent(event_id="e").frozen()
    assert days_of(proposal(effects=(*adding(event()), whole_series))) is None


@pytest.mark.parametrize(
    ("extraction", "days"),
    [
        ({"dates": ["2026-05-14", "2026-05-17"]}, ("2026-05-13", "2026-05-18")),
        ({"dates": [], "moved_from": "2026-05-02"}, ("2026-05-01", "2026-05-03")),
        ({"dates": []}, None),
        ({}, None),
    ],
)
def test_what_writes_nothing_has_the_days_that_were_said(
    extraction: dict[str, Any], days: tuple[str, str] | None
) -> None:
    assert days_of(replace(proposal(effects=()), extraction=extraction)) == days
