"""How sure memory is: silence is charged once whatever the cadence, support never passes its bound."""

import math
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.memory.confidence import GONE, MOST, faded, leaves_at, supported
from kinkeeper.memory.model import Category

START = datetime(2026, 3, 1, 3, tzinfo=UTC)
confidences = st.floats(0, 1)
days = st.floats(0, 400)


def after(count: float) -> datetime:
    return START + timedelta(days=count)


@given(confidence=confidences, looks=st.lists(days, max_size=12), end=days)
def test_silence_costs_the_same_however_often_somebody_looks(
    confidence: float, looks: list[float], end: float
) -> None:
    once = faded(confidence, since=START, now=after(end))
    value, since = confidence, START
    for look in sorted(each for each in looks if each <= end):
        value, since = faded(value, since=since, now=after(look)), after(look)
    assert math.isclose(faded(value, since=since, now=after(end)), once, abs_tol=1e-9)
    assert math.isclose(once, confidence * math.exp(-0.01 * end), abs_tol=1e-6)


@given(confidence=confidences, at=days, alone=confidences)
def test_support_takes_doubt_away_and_ends_below_certainty(
    confidence: float, at: float, alone: float
) -> None:
    before = faded(confidence, since=START, now=after(at))
    value, since = supported(confidence, since=START, at=after(at), alone=alone)
    assert since == after(at)
    assert value >= before
    assert value <= max(before, alone, MOST)
    if before < MOST and alone == 0:
        assert math.isclose(value, min(MOST, before + 0.05 * (1 - before)), abs_tol=1e-9)


@given(times=st.lists(days, min_size=1, max_size=60))
def test_one_source_that_repeats_itself_is_never_certain(times: list[float]) -> None:
    value, since = 0.8, START
    for each in sorted(times):
        value, since = supported(value, since=since, at=after(each), alone=0.8)
    assert value <= MOST


@given(confidence=confidences, category=st.sampled_from(Category), heard=st.floats(0, 30))
def test_a_fact_leaves_exactly_when_it_has_faded_or_the_feeling_is_over(
    confidence: float, category: Category, heard: float
) -> None:
    leaves = leaves_at(category, confidence, since=START, last_evidence_at=after(-heard))
    if category is Category.EMOTIONAL:
        assert leaves <= after(-heard) + timedelta(days=14)
    elif confidence > GONE:
        moment = timedelta(minutes=1)
        assert faded(confidence, since=START, now=leaves - moment) > GONE
        assert faded(confidence, since=START, now=leaves + moment) < GONE
    else:
        assert leaves == START
