"""Which facts a session begins with."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from kinkeeper.memory.confidence import confidence_now
from kinkeeper.memory.context.session_facts import CATEGORIES, MOST, Placed, Tier, tiered
from kinkeeper.memory.model import Category, Fact, FactStatus, Origin

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def fact(
    number: int, category: Category, *, days: float = 1, confidence: float = 0.9, **more: object
) -> Fact:
    said = NOW - days * DAY
    values = {
        "household": "h",
        "id": f"f{number}",
        "category": category,
        "subject": "ann",
        "title": f"fact {number}",
        "narrative": f"Fact {number}.",
        "origin": Origin.SAID,
        "confidence": confidence,
        "status": FactStatus.ACTIVE,
        "said_at": said,
        "created_at": said,
        "held_from": said,
        "last_evidence_at": said,
        "decayed_until": NOW,
    }
    return Fact(**{**values, **more})  # type: ignore[arg-type]  # values differ in type


def newest(facts: Sequence[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda each: each.said_at, reverse=True)


def placed(facts: Sequence[Fact], found: Sequence[Fact] = ()) -> dict[Tier, list[str]]:
    tiers: dict[Tier, list[str]] = {}
    for each in tiered(newest(facts), found, now=NOW):
        tiers.setdefault(each.tier, []).append(each.fact.id)
    return tiers


def test_who_somebody_is_stays_however_old_it_is() -> None:
    facts = [
        fact(1, Category.IDENTITY, days=900),
        fact(2, Category.PREFERENCE, days=300),
        fact(3, Category.RELATIONSHIP, days=2),
    ]
    assert placed(facts) == {Tier.CORE: ["f3", "f2", "f1"]}


def test_what_somebody_is_busy_with_counts_for_a_fortnight() -> None:
    facts = [
        fact(1, Category.GOAL, days=13),
        fact(2, Category.GOAL, days=15),
        fact(3, Category.CONSTRAINT, days=15, last_evidence_at=NOW - DAY),
    ]
    assert placed(facts) == {Tier.ACTIVE: ["f1", "f3"], Tier.RECENT: ["f2"]}


def test_each_fact_is_there_once_and_in_the_first_tier_that_takes_it() -> None:
    facts = [fact(n, Category.IDENTITY, days=n) for n in range(1, 18)]
    facts += [fact(n, Category.TECHNICAL, days=n) for n in range(20, 40)]
    tiers = placed(facts, found=[facts[0], facts[-1], facts[16]])
    assert tiers[Tier.CORE] == [f"f{n}" for n in range(1, 16)]
    assert tiers[Tier.SEMANTIC] == ["f39", "f17"]
    assert tiers[Tier.RECENT] == ["f16", *(f"f{n}" for n in range(20, 29))]


def test_what_is_not_believed_or_holds_no_more_is_nowhere() -> None:
    gone = [
        fact(1, Category.IDENTITY, confidence=0.5),
        fact(2, Category.PREFERENCE, decayed_until=NOW - 90 * DAY, is_transient=True),
        fact(3, Category.IDENTITY, status=FactStatus.SUPERSEDED),
        fact(4, Category.GOAL, valid_to=NOW),
        fact(5, Category.GOAL, held_from=NOW + DAY),
    ]
    assert placed(gone, found=gone) == {}


FACTS = st.lists(
    st.builds(
        fact,
        st.integers(0, 10_000),
        st.sampled_from(Category),
        days=st.floats(0.1, 40),
        confidence=st.floats(0, 1),
    ),
    max_size=90,
    unique_by=lambda each: each.id,
)


@given(facts=FACTS, found=FACTS)
@settings(max_examples=100, deadline=None)
def test_the_tiers_hold_for_any_facts(facts: Sequence[Fact], found: Sequence[Fact]) -> None:
    placed_ones: list[Placed] = tiered(newest(facts), found, now=NOW)
    ids = [each.fact.id for each in placed_ones]
    assert len(ids) == len(set(ids)) <= 50
    for tier in Tier:
        of_tier = [each.fact for each in placed_ones if each.tier is tier]
        assert len(of_tier) <= MOST[tier]
        assert {each.category for each in of_tier} <= CATEGORIES.get(tier, frozenset(Category))
        if tier is not Tier.SEMANTIC:
            assert of_tier == newest(of_tier)
    assert all(confidence_now(each.fact, NOW) > 0.5 for each in placed_ones)
    core = [each for each in facts if each.category in CATEGORIES[Tier.CORE]]
    believed = [each for each in core if confidence_now(each, NOW) > 0.5]
    assert sum(each.tier is Tier.CORE for each in placed_ones) == min(15, len(believed))
