"""Which arrangement a clause speaks of: by its link, else by what the state tells. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from kinkeeper.arrangements.model import EVERYBODY, Arrangement, State, Status, Told
from kinkeeper.reading.model import Act, Predicate

CHAIN: Final = 4
"""How many links are followed from a message that decided nothing itself."""

NEWS: Final = frozenset({Predicate.CANCEL, Predicate.MOVE, Predicate.CHANGE})
"""Predicates that say what becomes of something, not what it is."""

_ANSWERS: Final = frozenset({Act.ACCEPT, Act.DECLINE, Act.OFFER, Act.PROMISE})
_ABOUT_JOBS: Final = frozenset({Act.OFFER, Act.PROMISE, Act.WITHDRAW, Act.REPORT_DONE})


def linked(told: Told, state: State) -> Sequence[Arrangement]:
    """Return the arrangements that the message decided which a clause answers; else those further back along its links.

    Args:
        told: The clause.
        state: Before it.
    """
    if told.item is not None:
        return [each for each in state.arrangements if each.id == told.item]
    at, passed = told.answers, 0
    while at is not None and passed < CHAIN:
        if found := [each for each in state.arrangements if at in each.evidence]:
            return _with_jobs(told, found, state)
        at = next((each.answers for each in state.recent.get(at, ()) if each.answers), None)
        passed += 1
    return []


def _with_jobs(told: Told, found: list[Arrangement], state: State) -> Sequence[Arrangement]:
    """Return arrangements with the jobs for them, where a clause speaks of who does something."""
    if told.act not in _ABOUT_JOBS:
        return found
    jobs = [each for event in found for each in state.jobs_for(event) if each not in found]
    return [*found, *jobs]


def best_of(told: Told, candidates: Iterable[Arrangement], state: State) -> Arrangement | None:
    """Return the arrangement that fits a clause best; of equals the latest.

    Args:
        told: The clause.
        candidates: Of the state.
        state: Before it.
    """
    ranked = [(_fit(told, state.whole(each)), place, each) for place, each in enumerate(candidates)]
    return max(ranked, key=lambda each: each[:2])[2] if ranked else None


def _fit(told: Told, whole: Arrangement) -> float:
    fit = 1.0 * (whole.id.rpartition(":")[0] == told.answers)
    if told.predicate is not None and told.predicate not in NEWS:
        fit += 3.0 * (told.predicate is whole.predicate)
    if told.stems and whole.stems:
        fit += 2.0 if told.stems & whole.stems else -1.0
    if told.who_for and whole.who_for:
        fit += 2.0 if shares(told.who_for, whole.who_for) else -2.0
    if told.when.days and whole.when.days:
        fit += 1.0 if told.when.meets(whole.when) else -2.0
    if told.was.start and told.was.start in {whole.when.start, whole.when.end}:
        fit += 3.0
    return fit + _standing(told, whole)


def _standing(told: Told, whole: Arrangement) -> float:
    """Return how well the one who speaks stands to an arrangement for what they do."""
    owns, asked = told.speaker in whole.who_does, told.speaker in whole.asked
    fit = 0.0 if whole.status.is_open else -1.5
    if told.act in {Act.WITHDRAW, Act.PROMISE, Act.REPORT_DONE}:
        fit += 2.0 * owns + 0.5 * asked + 1.0 * whole.is_job
    if told.act in _ANSWERS and whole.is_job:
        fit += 1.0 + 1.5 * asked + 1.0 * (not whole.settled)
    return fit


def shares(some: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether somebody is among both."""
    return bool({*some} & {*others}) or EVERYBODY in {*some, *others}


def same_plan(told: Told, state: State, now: datetime) -> Arrangement | None:
    """Return the open arrangement that an unlinked clause tells again or speaks of.

    Args:
        told: The clause.
        state: Before it.
        now: In the household's zone; what lies before is not told again.
    """
    found = [each for each in state.arrangements if _is_same(told, state.whole(each), now)]
    return best_of(told, found, state)


def _is_same(told: Told, whole: Arrangement, now: datetime) -> bool:
    if whole.status is Status.DONE or whole.when.is_over(now) or not told.when.meets(whole.when):
        return False
    if told.who_for and whole.who_for and not shares(told.who_for, whole.who_for):
        return False
    named = bool(told.stems and whole.stems and told.stems & whole.stems)
    if told.predicate in NEWS:
        return named
    if told.predicate is not whole.predicate:
        return False
    return named or _is_nameless_twin(told, whole)


def _is_nameless_twin(told: Told, whole: Arrangement) -> bool:
    """Tell whether both are the same errand for the same person on the same day, though no words name it."""
    is_ride = told.predicate in {Predicate.PICKUP, Predicate.DROPOFF, Predicate.COVER}
    same_day = bool(told.when.days) and bool(whole.when.days)
    return is_ride and same_day and bool(told.who_for) and shares(told.who_for, whole.who_for)
