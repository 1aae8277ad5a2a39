"""The regulator: the only one to move the bars over which cards and offers are shown, one bounded step at a time.

A bar is moved only on what people did with what was shown, or on what a strong model said of it, only where too much of
it went wrong, and only as far as it proves right: what does not help is taken back. Whether a step that a model asked for
is right, people alone decide.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from kinkeeper.actions.bars import (
    POOLED,
    Bar,
    Cause,
    Evidence,
    Label,
    Offsets,
    Outcome,
    Version,
    add_version,
    judge_version,
    offsets_at,
    versions,
)
from kinkeeper.core.time import A_DAY, Clock, is_of_wrong_clock
from kinkeeper.observability.failures import repeat
from kinkeeper.store.store import Store

STEP: Final = 0.02
"""The furthest that a version moves a bar."""
ENOUGH: Final = 50
"""Labelled decisions, all since the last version, that a version rests on or is judged by."""
TOO_WRONG: Final = 0.10
"""Share of decisions that went wrong above which a bar is moved."""
OFTEN: Final = 0.20
"""Share of decisions on which a strong model disagrees above which the bar of offers is moved."""
BETTER: Final = 0.9
"""A step is kept only if the share fell below this part of what it was."""
FEW: Final = 20
MUCH_WORSE: Final = 1.5
"""A step is taken back early if on a few decisions the share is above so many times what it was, or was too much already."""
COOLDOWN: Final = timedelta(hours=48)
REMEMBERED: Final = timedelta(days=56)
"""Decisions older than this say nothing any more."""
LONGEST_TRIAL: Final = timedelta(days=28)
"""A step that could not prove itself by then is taken back."""
LEAST: Final = -0.10
MOST: Final = 0.20
"""How far a bar may lie from the shipped one, below it only for offers."""

_NAME: Final = "background.regulator"
_EVERY: Final = timedelta(hours=1)
_LATEST: Final = 100
_DIGITS: Final = 4


# What a bar does to decisions whose outcome is known. Pure.


def evidence_of(labels: Iterable[Label], offset: float) -> Evidence:
    """Return what decisions come to with the bar at an offset."""
    found = [*labels]
    wrong = sum(_is_wrong(each, offset) for each in found)
    return Evidence(
        decisions=len(found),
        pressure=round(wrong / len(found), _DIGITS) if found else 0.0,
        signals=dict(sorted(Counter(each.signal for each in found).items())),
    )


def _is_wrong(label: Label, offset: float) -> bool:
    return label.is_wanted is (label.score < offset - _HAIR)


_HAIR: Final = 1e-9


def _best(labels: Sequence[Label], offset: float, *, lowest: float) -> float:
    """Return the offset with which least would have gone wrong; of equal ones the nearest to the present one."""
    steps = [round(lowest + n * STEP, _DIGITS) for n in range(round((MOST - lowest) / STEP) + 1)]
    return min(
        {*steps, offset},
        key=lambda each: (evidence_of(labels, each).pressure, abs(each - offset), each),
    )


def _towards(aim: float, offset: float) -> float:
    return round(offset + max(-STEP, min(STEP, aim - offset)), _DIGITS)


def lowest_of(bar: Bar) -> float:
    """Return how far below the shipped bar one may go: an offer asks the one who wrote; a card, all who see it."""
    return LEAST if bar is Bar.OFFERS else 0.0


# What is to be done now. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the regulator does: it judges a version, puts one in force, or both."""

    judged: tuple[Version, Outcome, Evidence] | None = None
    version: Version | None = None


NOTHING: Final = Ruling()


def ruling(
    known: Sequence[Version],
    labels: Sequence[Label],
    reviews: Sequence[Label] = (),
    *,
    now: datetime,
) -> Ruling:
    """Return what is to be done now.

    Args:
        known: All versions, the newest first.
        labels: Decisions with what people told of them, in any order.
        reviews: Decisions with what models said of them, in any order.
    """
    own = _labels_by_bar(known, labels, now=now)
    number = known[0].id + 1 if known else 1
    latest = {each.bar: each for each in reversed(known)}
    for trial in (each for each in latest.values() if each.is_on_trial):
        judged = _judged(trial, own.get(trial.bar, ()), now=now)
        if judged is not None:
            outcome, on = judged
            back = None if outcome is Outcome.KEPT else _reverted(trial, on, number, now)
            return Ruling(judged=(trial, outcome, on), version=back)
    if known and now - known[0].at < A_DAY and not is_of_wrong_clock(known[0].at, now):
        return NOTHING
    moves = [
        move
        for bar, mine in own.items()
        if (move := _moved(bar, mine, known, number=number, now=now)) is not None
    ]
    reviewed = _reviewed(reviews, own.get(Bar.OFFERS, ()), known, number=number, now=now)
    if reviewed is not None:
        moves.append(reviewed)
    worst = max(moves, key=lambda each: each.why.pressure, default=None)
    return Ruling(version=worst)


def _labels_by_bar(
    known: Sequence[Version], labels: Sequence[Label], *, now: datetime
) -> Mapping[Bar, Sequence[Label]]:
    """Return the decisions that bear on each bar, the oldest first; a kind of card with few is one of the pool."""
    fresh = [each for each in labels if now - REMEMBERED <= each.at <= now]
    fresh.sort(key=lambda each: each.at)
    by_bar: dict[Bar, list[Label]] = {}
    for each in fresh:
        by_bar.setdefault(each.bar, []).append(each)
    alone = {each.bar for each in known}
    is_tried = any(each.bar is Bar.CARDS and each.is_on_trial for each in known)
    pooled = {bar for bar in POOLED & {*by_bar} - alone if is_tried or len(by_bar[bar]) < ENOUGH}
    pool = sorted((each for bar in pooled for each in by_bar.pop(bar)), key=lambda each: each.at)
    return by_bar | ({Bar.CARDS: pool} if pool else {})


def _judged(
    trial: Version, labels: Sequence[Label], *, now: datetime
) -> tuple[Outcome, Evidence] | None:
    """Return what becomes of a version on trial; None where that is not known yet."""
    lately = labels[-_LATEST:]
    worse, before = (evidence_of(lately, each).pressure for each in (trial.offset, trial.back_to))
    since = [each for each in labels if each.at >= trial.at]
    on = evidence_of(since, trial.offset)
    if worse > before:
        return Outcome.REVERTED, on  # at once: of what was decided lately, more would go wrong
    borne = TOO_WRONG if trial.cause is Cause.REVIEW else max(trial.why.pressure, TOO_WRONG)
    if on.decisions >= FEW and on.pressure > MUCH_WORSE * borne:
        return Outcome.REVERTED, on  # early: so much goes wrong that it cannot be chance
    if now - trial.at < COOLDOWN:
        return None
    if on.decisions < ENOUGH:
        return (Outcome.REVERTED, on) if now - trial.at >= LONGEST_TRIAL else None
    is_good = on.pressure < BETTER * trial.why.pressure
    if trial.cause is Cause.REVIEW:
        is_good = (
            worse < BETTER * before
        )  # a model asked for it, so it must help by what people did
    if trial.cause is Cause.RELEASE:
        is_good = on.pressure <= TOO_WRONG
    return Outcome.KEPT if is_good else Outcome.REVERTED, on


def _reverted(trial: Version, on: Evidence, number: int, now: datetime) -> Version:
    return replace(
        trial, id=number, cause=Cause.REVERT, offset=trial.back_to, why=on, at=now, outcome=None
    )


def _moved(
    bar: Bar, labels: Sequence[Label], known: Sequence[Version], *, number: int, now: datetime
) -> Version | None:
    """Return the next version of a bar; None where it stays."""
    last = next((each for each in known if each.bar is bar), None)
    if last is not None and (last.is_on_trial or now - last.at < COOLDOWN):
        return None
    # A bridge changed nothing that was decided, so there is nothing to learn from it.
    ground = next((e for e in known if e.bar is bar and e.cause is not Cause.BRIDGE), None)
    offset = _in_force(known).of(bar)
    since = [each for each in labels if ground is None or each.at >= ground.at]
    mine = since[-_LATEST:]
    if len(mine) < ENOUGH:
        return None
    why = evidence_of(mine, offset)
    is_wrong = why.pressure > TOO_WRONG
    # On trouble the best place is sought, otherwise the shipped one as soon as nothing speaks against it.
    # Trouble is new as a rule, so it is sought in what was decided lately; what spoke for a bar counts for longer.
    labelled = labels[-_LATEST:] if is_wrong else labels
    aim = _best(labelled, offset, lowest=lowest_of(bar)) if is_wrong else 0.0
    new = _towards(aim, offset)
    if new == offset:
        return None
    before, after, then = (evidence_of(labelled, e).pressure for e in (offset, new, aim))
    if after > before or (is_wrong and then >= BETTER * before):
        return None  # the canary: it would do harm, or could not prove itself
    if not is_wrong and why.pressure > TOO_WRONG / 2:
        return None
    is_bridge = is_wrong and after == before
    is_on_bridge = last is not None and last.cause is Cause.BRIDGE
    return Version(
        id=number,
        bar=bar,
        cause=Cause.BRIDGE if is_bridge else Cause.STEP if is_wrong else Cause.RELEASE,
        offset=new,
        back_to=last.back_to if last is not None and is_on_bridge else offset,
        why=why,
        at=now,
    )


def _reviewed(
    reviews: Sequence[Label],
    labels: Sequence[Label],
    known: Sequence[Version],
    *,
    number: int,
    now: datetime,
) -> Version | None:
    """Return the next version of the bar of offers, where a model often says otherwise; None where it stays.

    Args:
        labels: Decisions on offers that people told right or wrong, the oldest first.
    """
    last = next((each for each in known if each.bar is Bar.OFFERS), None)
    if last is not None and (last.is_on_trial or now - last.at < COOLDOWN):
        return None
    mine = _believed(reviews, known, since=None if last is None else last.at, now=now)
    if len(mine) < ENOUGH:
        return None
    offset = _in_force(known).of(Bar.OFFERS)
    why = replace(evidence_of(mine, offset), by=mine[-1].by)
    if why.pressure <= OFTEN:
        return None
    aim = _best(mine, offset, lowest=lowest_of(Bar.OFFERS))
    new = _towards(aim, offset)
    lately = labels[-_LATEST:]
    is_harmful = evidence_of(lately, new).pressure > evidence_of(lately, offset).pressure
    if is_harmful or evidence_of(mine, new).pressure >= why.pressure:
        return None
    return Version(
        id=number, bar=Bar.OFFERS, cause=Cause.REVIEW, offset=new, back_to=offset, why=why, at=now
    )


def _believed(
    reviews: Sequence[Label], known: Sequence[Version], *, since: datetime | None, now: datetime
) -> Sequence[Label]:
    """Return what the latest model said since a moment; nothing of one whose step was taken back."""
    fresh = [
        each
        for each in reviews
        if now - REMEMBERED <= each.at <= now and (since is None or each.at >= since)
    ]
    fresh.sort(key=lambda each: each.at)
    wrong = {
        each.why.by
        for each in known
        if each.cause is Cause.REVIEW and each.outcome is Outcome.REVERTED
    }
    if not fresh or fresh[-1].by in wrong:
        return ()
    return [each for each in fresh if each.by == fresh[-1].by][-_LATEST:]


def _in_force(known: Sequence[Version]) -> Offsets:
    return Offsets({each.bar: each.offset for each in reversed(known)})


# The job.

Labels = Callable[[Connection, str, datetime], Iterator[Label]]
"""Return the labelled decisions of a household made since a moment."""


class Regulator:
    """Moves the bars of one household.

    Args:
        labels: Where its people's decisions are found.
        reviews: Where is found what a model said of decisions.
    """

    def __init__(
        self,
        store: Store,
        household: str,
        *,
        labels: Sequence[Labels],
        reviews: Sequence[Labels] = (),
        clock: Clock,
    ) -> None:
        self._store = store
        self._household = household
        self._labels = labels
        self._reviews = reviews
        self._clock = clock

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        await repeat(self.run_once, _EVERY, name=_NAME)

    async def run_once(self) -> Ruling:
        """Do what is due now; all of it in one transaction, or nothing."""
        now = self._clock.now()
        due = await self._store.read(lambda conn: self._ruling(conn, now))
        if due == NOTHING:
            return due
        return await self._store.write(lambda conn: self._rule(conn, now))

    def _ruling(self, conn: Connection, now: datetime) -> Ruling:
        known = versions(conn, self._household)
        since = now - REMEMBERED
        labels, reviews = (
            [label for source in sources for label in source(conn, self._household, since)]
            for sources in (self._labels, self._reviews)
        )
        return ruling(known, labels, reviews, now=now)

    def _rule(self, conn: Connection, now: datetime) -> Ruling:
        found = self._ruling(conn, now)
        if found.judged is not None:
            version, outcome, on = found.judged
            judge_version(conn, self._household, version.id, outcome, on=on, now=now)
        if found.version is not None:
            add_version(conn, self._household, found.version)
        return found


def reset(conn: Connection, household: str, bar: Bar, *, now: datetime) -> bool:
    """Put a bar back to the shipped one because a person wants so; returns whether it was moved."""
    known = versions(conn, household)
    if not offsets_at(conn, household, now).by_bar.get(bar):
        return False
    none = Evidence(decisions=0, pressure=0.0)
    version = Version(
        id=known[0].id + 1, bar=bar, cause=Cause.PERSON, offset=0.0, back_to=0.0, why=none, at=now
    )
    add_version(conn, household, version)
    return True
