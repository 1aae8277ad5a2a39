"""Bars follow what people did with what was shown: by small steps that must prove right, and back where they do not."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest

from kinkeeper.actions.bars import Bar, Cause, Evidence, Label, Offsets, Outcome, Version
from kinkeeper.background.regulator import (
    BETTER,
    COOLDOWN,
    ENOUGH,
    LONGEST_TRIAL,
    MOST,
    NOTHING,
    STEP,
    TOO_WRONG,
    Ruling,
    lowest_of,
    ruling,
)

NOW = datetime(2026, 5, 11, 9, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
Score = Callable[[Random], tuple[float, bool]]
SHOWN = tuple(Bar)


def label(score: float, is_wanted: bool, at: datetime, bar: Bar = Bar.OFFERS) -> Label:
    signal = "confirmed" if is_wanted else "dismissed"
    return Label(bar=bar, score=score, is_wanted=is_wanted, at=at, signal=signal)


def made(
    wrong: int, right: int, *, since: datetime, at: float = 0.01, bar: Bar = Bar.OFFERS
) -> list[Label]:
    """Return decisions: the wrong ones a little above a score, the right ones far above it, a minute apart."""
    found = [(at + 0.005, False)] * wrong + [(0.25, True)] * right
    return [
        label(score, is_wanted, since + n * timedelta(minutes=1), bar)
        for n, (score, is_wanted) in enumerate(found)
    ]


def version(offset: float, at: datetime, cause: Cause = Cause.STEP, **fields: object) -> Version:
    plain = Version(
        id=1,
        bar=Bar.OFFERS,
        cause=cause,
        offset=offset,
        back_to=0.0,
        why=Evidence(decisions=60, pressure=0.3),
        at=at,
    )
    return replace(plain, **fields)


class Life:
    """A household whose decisions are labelled as they are made, and the regulator that looks four times a day."""

    def __init__(self, seed: int, score: Score, *, bar: Bar = Bar.OFFERS, a_day: int = 30) -> None:
        self.random = Random(seed)  # noqa: S311 - invented decisions
        self.score, self.bar, self.a_day = score, bar, a_day
        self.now = NOW
        self.known: list[Version] = []
        self.labels: list[Label] = []
        self.rulings: list[Ruling] = []

    @property
    def offset(self) -> float:
        return Offsets({each.bar: each.offset for each in reversed(self.known)}).of(self.bar)

    def live(self, days: int) -> "Life":
        for hour in range(0, days * 24, 6):
            self.now += 6 * HOUR
            for _ in range(self.a_day // 4 if self.a_day >= 4 else hour % 24 == 0):
                score, is_wanted = self.score(self.random)
                if score >= self.offset or self.bar is Bar.OFFERS:
                    self.labels.append(label(score, is_wanted, self.now, self.bar))
            self.rule()
        return self

    def rule(self) -> None:
        found = ruling(self.known, self.labels, now=self.now)
        self.rulings.append(found)
        if found.judged is not None:
            trial, outcome, on = found.judged
            judged = replace(trial, outcome=outcome, judged_on=on, judged_at=self.now)
            self.known = [judged if each.id == trial.id else each for each in self.known]
        if found.version is not None:
            self.known.insert(0, found.version)


def faint(cut: float, *, wrong: float = 0.4) -> Score:
    """Below a score all is wrong, above it nearly all is right."""

    def draw(random: Random) -> tuple[float, bool]:
        if random.random() < wrong:
            return random.uniform(0.0, cut), False
        return random.uniform(cut, 0.4), random.random() < 0.97

    return draw


def shy(depth: float) -> Score:
    """What is wanted is often read a little too unsurely."""

    def draw(random: Random) -> tuple[float, bool]:
        if random.random() < 0.4:
            return random.uniform(-depth, 0.0), True
        return random.uniform(0.0, 0.4), random.random() < 0.97

    return draw


def noise(random: Random) -> tuple[float, bool]:
    """As often wrong as right, whatever the score."""
    return random.uniform(0.0, 0.4), random.random() < 0.5


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bar", SHOWN)
def test_every_version_keeps_the_rules_whatever_people_do(seed: int, bar: Bar) -> None:
    for score in (faint(0.04), faint(0.1), faint(0.15), shy(0.06), noise):
        life = Life(seed, score, bar=bar).live(40)
        versions = [*reversed(life.known)]
        assert [each.id for each in versions] == [*range(1, len(versions) + 1)]
        for before, after in pairwise([replace(version(0.0, NOW), bar=bar), *versions]):
            if after.cause in {Cause.STEP, Cause.BRIDGE, Cause.RELEASE}:
                assert abs(after.offset - before.offset) <= STEP + 1e-9
                assert after.why.decisions >= ENOUGH
                assert after.at - before.at >= (
                    COOLDOWN if before.id > 1 or after.id > 1 else DAY * 0
                )
            if after.cause is Cause.STEP:
                assert after.why.pressure > TOO_WRONG
            if after.cause is Cause.REVERT:
                assert after.offset == before.back_to
            assert lowest_of(bar) <= after.offset <= MOST
        for each in versions:
            if each.outcome is Outcome.KEPT and each.cause is Cause.STEP:
                assert each.judged_on is not None
                assert each.judged_on.pressure < BETTER * each.why.pressure
                assert each.judged_on.decisions >= ENOUGH


def test_bars_go_where_less_goes_wrong_and_stay_where_nothing_helps() -> None:
    raised = [Life(seed, faint(0.08)).live(30).offset for seed in range(8)]
    lowered = [Life(seed, shy(0.08)).live(30).offset for seed in range(8)]
    assert sum(raised) / 8 >= 0.04
    assert sum(lowered) / 8 <= -0.04
    for seed in range(4):
        assert Life(seed, lambda random: (random.uniform(0, 0.4), True)).live(30).known == []
        assert Life(seed, faint(0.1), a_day=1).live(30).known == []
        # Nothing that was wanted is hidden for what was not: a card that nobody sees cannot speak up.
        assert Life(seed, shy(0.08), bar=Bar.EVENTS).live(30).offset >= 0.0


@pytest.mark.parametrize("wrong", range(8, 25, 2))
def test_a_step_is_judged_after_two_days_on_enough_decisions(wrong: int) -> None:
    before = made(20, 40, since=NOW - 10 * DAY)
    trial = version(0.02, NOW - 3 * DAY)
    after = made(wrong, 60 - wrong, since=NOW - 2 * DAY, at=0.05)
    found = ruling([trial], [*before, *after], now=NOW)
    assert found.judged is not None
    is_better = wrong / 60 < BETTER * 0.3
    assert (found.judged[1] is Outcome.KEPT) is is_better
    assert (found.version is None) is is_better
    if found.version is not None:
        assert (found.version.cause, found.version.offset) == (Cause.REVERT, 0.0)
    too_early = replace(trial, at=NOW - 2 * DAY + HOUR)
    assert ruling([too_early], [*before, *after], now=NOW) == NOTHING
    few = [*before, *after[::2]]
    assert ruling([trial], few, now=NOW) == NOTHING
    late = ruling([trial], few, now=trial.at + LONGEST_TRIAL)
    assert late.judged is not None
    assert late.judged[1] is Outcome.REVERTED


@pytest.mark.parametrize("hidden", range(5, 45, 5))
def test_a_bad_step_is_taken_back_at_once(hidden: int) -> None:
    """It hides more of what people confirmed than of what they dismissed: the labelled set tells so within the hour."""
    wanted = [label(0.01, True, NOW - 5 * DAY) for _ in range(hidden)]
    others = made(3, 60, since=NOW - 4 * DAY)
    bad = version(0.02, NOW - HOUR)
    found = ruling([bad], [*wanted, *others], now=NOW)
    assert found.judged is not None
    assert found.judged[1] is Outcome.REVERTED
    assert found.version is not None
    assert found.version.offset == 0.0
    good = ruling([bad], [*made(hidden, 60, since=NOW - 4 * DAY)], now=NOW)
    assert good == NOTHING


@pytest.mark.parametrize("wrong", range(4, 21, 4))
def test_a_step_after_which_much_more_goes_wrong_is_taken_back_early(wrong: int) -> None:
    before = made(12, 48, since=NOW - 10 * DAY)
    trial = version(0.02, NOW - 6 * HOUR, why=Evidence(decisions=60, pressure=0.2))
    after = made(wrong, 20 - wrong, since=NOW - 5 * HOUR, at=0.05)
    found = ruling([trial], [*before, *after], now=NOW)
    assert (found.version is not None) is (wrong / 20 > 0.3)
    assert ruling([trial], [*before, *after[:19]], now=NOW) == NOTHING


def test_what_a_person_sets_is_not_overruled_by_an_older_trial() -> None:
    trial = version(0.02, NOW - 5 * DAY)
    reset = version(0.0, NOW - 3 * DAY, Cause.PERSON, id=2)
    labels = made(30, 30, since=NOW - 2 * DAY)
    found = ruling([reset, trial], labels, now=NOW)
    assert found.judged is None
    assert ruling([reset, trial], labels[:40], now=NOW) == NOTHING


@pytest.mark.parametrize("jobs", range(30, 71, 10))
def test_kinds_with_few_decisions_are_judged_together(jobs: int) -> None:
    labels = made(15, jobs - 15, since=NOW - DAY, bar=Bar.JOBS)
    labels += made(15, 15, since=NOW - DAY, bar=Bar.EVENTS)
    found = ruling([], labels, now=NOW)
    assert found.version is not None
    assert found.version.bar is (Bar.JOBS if jobs >= ENOUGH else Bar.CARDS)
    offsets = Offsets({found.version.bar: found.version.offset})
    assert offsets.of(Bar.JOBS) == STEP
    assert offsets.of(Bar.EVENTS) == (0.0 if jobs >= ENOUGH else STEP)
    assert offsets.of(Bar.OFFERS) == 0.0


def test_it_goes_back_to_the_shipped_bar_once_nothing_speaks_against_that() -> None:
    kept = version(0.02, NOW - 40 * DAY, outcome=Outcome.KEPT)
    old, fresh = made(20, 40, since=NOW - 40 * DAY), made(1, 70, since=NOW - 3 * DAY, at=0.1)
    assert ruling([kept], [*old, *fresh], now=NOW) == NOTHING
    later = ruling([kept], fresh, now=NOW)
    assert later.version is not None
    assert (later.version.cause, later.version.offset) == (Cause.RELEASE, 0.0)


def test_scores_far_apart_are_bridged() -> None:
    """The rules are sure by .05: between two scores nothing was decided, and nothing can be learned there."""

    def coarse(random: Random) -> tuple[float, bool]:
        if random.random() < 0.4:
            return random.choice((0.0, 0.05)), False
        return random.choice((0.15, 0.2, 0.3)), True

    reached = [Life(seed, coarse, bar=Bar.JOBS).live(40) for seed in range(4)]
    assert all(each.offset > 0.05 for each in reached), [each.offset for each in reached]
    assert all(any(e.cause is Cause.BRIDGE for e in each.known) for each in reached)


def said(
    wanted: int, unwanted: int, *, since: datetime, at: float = 0.005, by: str = "big-1"
) -> list[Label]:
    """Return what a model said of decisions a little above the bar, a minute apart."""
    return [
        replace(label(at, n < wanted, since + n * timedelta(minutes=1)), by=by, signal="reviewed")
        for n in range(wanted + unwanted)
    ]


REVIEWED = NOW - 5 * DAY


@pytest.mark.parametrize("unwanted", [0, 5, 10, 11, 13, 20, 60])
def test_a_model_that_often_disagrees_moves_the_bar_of_offers_by_one_step(unwanted: int) -> None:
    found = ruling([], [], said(60 - unwanted, unwanted, since=REVIEWED), now=NOW).version
    if unwanted <= 30:  # most of them are wanted, so that a higher bar would be worse
        assert found is None
        return
    assert found is not None
    assert (found.bar, found.cause, found.offset, found.back_to) == (
        Bar.OFFERS,
        Cause.REVIEW,
        STEP,
        0.0,
    )
    assert found.why.by == "big-1"
    assert found.is_on_trial


@pytest.mark.parametrize("number", [1, ENOUGH - 1])
def test_a_few_reviews_move_nothing(number: int) -> None:
    assert ruling([], [], said(0, number, since=REVIEWED), now=NOW) == NOTHING


def test_a_lying_model_moves_nothing_that_people_wanted_to_be_shown() -> None:
    people = [label(0.005, True, REVIEWED + n * timedelta(minutes=1)) for n in range(30)]
    assert ruling([], people, said(0, 60, since=REVIEWED), now=NOW) == NOTHING


@pytest.mark.parametrize("wanted", [1, 5, 20, 60])
def test_a_step_of_a_lying_model_is_taken_back_by_people_and_it_is_believed_no_more(
    wanted: int,
) -> None:
    step = version(STEP, NOW, Cause.REVIEW, why=Evidence(decisions=60, pressure=1.0, by="big-1"))
    people = [label(0.005, True, NOW + n * timedelta(minutes=1)) for n in range(wanted)]
    later = NOW + DAY
    found = ruling([step], people, said(0, 60, since=NOW), now=later)
    assert found.judged is not None
    assert found.judged[1] is Outcome.REVERTED
    assert found.version is not None
    assert found.version.offset == 0.0
    known = [found.version, replace(step, outcome=Outcome.REVERTED)]
    for days in (3, 10, 30):
        then = later + days * DAY
        assert ruling(known, [], said(0, 60, since=then - DAY), now=then) == NOTHING
    then = later + 3 * DAY
    other = ruling(known, [], said(0, 60, since=then - DAY, by="big-2"), now=then).version
    assert other is not None
    assert other.why.by == "big-2"


@pytest.mark.parametrize(("shown", "outcome"), [(0.005, Outcome.KEPT), (0.2, Outcome.REVERTED)])
def test_a_step_of_a_model_is_kept_only_if_it_helps_by_what_people_did(
    shown: float, outcome: Outcome
) -> None:
    step = version(STEP, NOW, Cause.REVIEW, why=Evidence(decisions=60, pressure=1.0, by="big-1"))
    people = made(8, 60, since=NOW, at=shown - 0.005)
    found = ruling([step], people, now=NOW + 4 * DAY)
    assert found.judged is not None
    assert found.judged[1] is outcome


def test_a_model_that_nobody_confirms_is_taken_back_in_time() -> None:
    step = version(STEP, NOW, Cause.REVIEW, why=Evidence(decisions=60, pressure=1.0, by="big-1"))
    assert ruling([step], [], now=NOW + LONGEST_TRIAL - HOUR) == NOTHING
    found = ruling([step], [], now=NOW + LONGEST_TRIAL)
    assert found.judged is not None
    assert found.judged[1] is Outcome.REVERTED
