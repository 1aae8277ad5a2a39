"""How sure memory is: silence is charged once whatever the cadence, and only to what is transient."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.memory.confidence import GONE, NEVER, confidence_now, faded, leaves_at
from kinkeeper.memory.model import Category, Fact
from memory_samples import fact

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


@given(confidence=confidences, category=st.sampled_from(Category), heard=st.floats(0, 30))
def test_a_transient_fact_leaves_when_it_has_faded_or_the_feeling_is_over(
    confidence: float, category: Category, heard: float
) -> None:
    leaves = leaves_at(stored(confidence, category, heard, is_transient=True))
    if category is Category.EMOTIONAL:
        assert leaves <= after(-heard) + timedelta(days=14)
    elif confidence > GONE:
        moment = timedelta(minutes=1)
        assert faded(confidence, since=START, now=leaves - moment) > GONE
        assert faded(confidence, since=START, now=leaves + moment) < GONE
    else:
        assert leaves == START


@given(
    confidence=confidences,
    category=st.sampled_from(Category),
    heard=st.floats(0, 30),
    at=days,
    end=st.none() | days,
)
def test_any_other_fact_leaves_only_at_a_known_end_and_is_believed_until_then(
    confidence: float, category: Category, heard: float, at: float, end: float | None
) -> None:
    fact = stored(confidence, category, heard, is_transient=False)
    fact = replace(fact, valid_to=None if end is None else after(end))
    assert leaves_at(fact) == (fact.valid_to or NEVER)
    assert confidence_now(fact, after(at)) == confidence


def stored(confidence: float, category: Category, heard: float, *, is_transient: bool) -> Fact:
    return fact(
        "told",
        confidence=confidence,
        category=category,
        decayed_until=START,
        last_evidence_at=after(-heard),
        is_transient=is_transient,
    )
