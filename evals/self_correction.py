"""A month of households whose way of talking drifts, through the real conversation: what goes wrong with and without the regulator.

From the second week on people tell more and more of what others do, at an hour of their own; the trained reader offers much of that for
the calendar. Whoever wrote says yes to what they planned, no to what they did not, and puts it plainly where nothing was offered.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final

from evals.report import Floor, Report, Table
from kinkeeper.actions.bars import Bar, Cause, Evidence, Version, add_version, versions
from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.bootstrap import System, open_system
from kinkeeper.bootstrap.self_correction import regulator
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.model import Member
from kinkeeper.settings.model import Settings
from kinkeeper.settings.models import EmbedderChoice

SEEDS: Final = (1,)
DAYS: Final = 30
A_DAY: Final = 20
"""Messages."""
FLOORS: Final = {"misroutes fall by": 0.2, "planted bad step taken back": 1.0}

_START: Final = datetime(2026, 3, 1, 8, tzinfo=UTC)
_HOUSEHOLD: Final = "examples/miller/household.toml"
_DRIFT_FROM, _DRIFTED = 8, 14
_LAST: Final = 10
"""Days at the end that are compared."""
_SELDOM, _OFTEN = 0.05, 0.5
_MADE: Final = frozenset({ResultStatus.DONE, ResultStatus.AWAITING})
_WHAT: Final = (
    *("quilting circle", "canoe test", "allotment meeting", "harp lesson", "puppet theatre"),
    *("archery trial", "pottery evening", "bee club", "judo grading", "lantern walk"),
)
_OWN: Final = (
    *(
        "{what} for the lot of us, {when}",
        "{what}, {when}, both of us",
        "got a slot {when}: {what}",
    ),
    *("{what} {when} x", "they gave us {when} for {what}"),
)
_OTHERS: Final = (
    *("someone at work has {what} {when}", "the neighbours' {what} is {when}, poor things"),
    *(
        "his ex goes to {what} {when}",
        "saw a poster, {what} {when}",
        "{what} {when} sounds dreadful",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """What became of a month.

    Attributes:
        wrong: By day, how many messages went wrong: something was offered unwanted, or not offered.
        bars: By day, how far the bar of offers lies above the shipped one in the end.
        steps: How many versions there were.
    """

    wrong: Sequence[int]
    bars: Sequence[float]
    steps: int

    @property
    def share(self) -> float:
        """Share of messages that went wrong in the days that are compared."""
        return sum(self.wrong[-_LAST:]) / (_LAST * A_DAY)


def measure(*, root: Path) -> Report:
    """Live the months, and one week with a planted bad step.

    Args:
        root: The repository.
    """
    days = range(DAYS)
    pairs = [
        (live(root, each, days[-_LAST:], is_regulated=False), live(root, each, days))
        for each in SEEDS
    ]
    without, regulated = (
        sum(each.share for each in arm) / len(SEEDS) for arm in zip(*pairs, strict=True)
    )
    taken_back = [asyncio.run(_planted(root, seed)) for seed in SEEDS]
    values = {
        "misroutes fall by": 1 - regulated / without,
        "planted bad step taken back": sum(taken_back) / len(taken_back),
    }
    return Report(
        suite="self-correction",
        tables=(
            Table(
                title="Share of messages that went wrong in the last ten days of a month with drift",
                columns=("household", "without", "regulated", "bar at the end", "versions"),
                rows=tuple(
                    (str(seed), left.share, right.share, right.bars[-1], right.steps)
                    for seed, (left, right) in zip(SEEDS, pairs, strict=True)
                ),
            ),
        ),
        floors=tuple(
            Floor(name=name, value=values[name], minimum=minimum)
            for name, minimum in FLOORS.items()
        ),
        worst=(),
    )


def live(root: Path, seed: int, days: Sequence[int], *, is_regulated: bool = True) -> Lived:
    """Live some days through; on each, the same is said for the same seed."""
    return asyncio.run(_lived(root, seed, days, is_regulated=is_regulated))


async def _lived(root: Path, seed: int, days: Sequence[int], *, is_regulated: bool) -> Lived:
    wrong, bars = [], []
    async with _home(root, seed) as home:
        for day in days:
            wrong.append(await home.day(day))
            if is_regulated:
                await home.regulate()
            bars.append(home.bar)
        return Lived(wrong=wrong, bars=bars, steps=len(home.versions))


async def _planted(root: Path, seed: int) -> bool:
    """Return whether a step that hides what people want is taken back at the next look."""
    async with _home(root, seed) as home:
        for day in range(4):
            await home.day(day)
        bad = Version(
            id=1,
            bar=Bar.OFFERS,
            cause=Cause.STEP,
            offset=0.2,
            back_to=0.0,
            why=Evidence(decisions=50, pressure=0.3),
            at=home.clock.now(),
        )
        household = home.system.household.id
        await home.system.store.write(lambda conn: add_version(conn, household, bad))
        is_planted = home.bar == bad.offset
        home.clock.advance_to(home.clock.now() + timedelta(hours=1))
        await home.regulate()
        return is_planted and home.bar == 0.0 and home.versions[0].cause is Cause.REVERT


@asynccontextmanager
async def _home(root: Path, seed: int) -> AsyncIterator["_Home"]:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_system(
            Settings(embedder=EmbedderChoice.HASHING),
            household_file=root / _HOUSEHOLD,
            database=str(Path(folder) / "family.sqlite"),
            now=_START,
        ) as system,
    ):
        clock = VirtualClock(_START)
        home = _Home(system, clock, seed)
        try:
            yield home
        finally:
            await home.conversation.close()


class _Home:
    """A household whose members talk to the assistant, and its regulator."""

    def __init__(self, system: System, clock: VirtualClock, seed: int) -> None:
        self.system = system
        self.clock = clock
        self.conversation: Conversation = system.talk(clock).conversation
        self._seed = seed
        self._regulator = regulator(system.settings, system.household, system.store, clock)

    @property
    def versions(self) -> Sequence[Version]:
        """Of the bars, the newest first."""
        return self.system.store.read_now(lambda conn: versions(conn, self.system.household.id))

    @property
    def bar(self) -> float:
        """How far the bar of offers lies above the shipped one."""
        return self.versions[0].offset if self.versions else 0.0

    async def day(self, number: int) -> int:
        """Live a day; returns how many messages went wrong."""
        self.clock.advance_to(_START + timedelta(days=number))
        drift = min(max((number - _DRIFT_FROM) / (_DRIFTED - _DRIFT_FROM), 0.0), 1.0)
        others = _SELDOM + drift * (_OFTEN - _SELDOM)
        random = Random(1000 * self._seed + number)  # noqa: S311 - an invented household
        return sum([await self._message(random, others) for _ in range(A_DAY)])

    async def regulate(self) -> None:
        """Let the regulator look as often as there is something to do."""
        while (await self._regulator.run_once()).judged is not None:
            pass

    async def _message(self, random: Random, others: float) -> bool:
        """Say something, and what follows from the answer; returns whether it went wrong."""
        is_own = random.random() >= others
        at = self.clock.now() + timedelta(days=random.randrange(2, 20))
        when = f"{at:%A} {at.day} {at:%B} at {random.randrange(2, 9)}pm"
        words = {"what": random.choice(_WHAT), "when": when}
        form = random.choice(_OWN if is_own else _OTHERS)
        made = await self._say(form.format(**words))
        is_right = made is not None and made.action == "create_event" and is_own
        if made is not None and made.status is ResultStatus.AWAITING:
            await self._say("yes" if is_right else "no")
        if is_own and not is_right:
            await self._say("please add {what} {when}".format(**words))
        self.clock.advance_to(self.clock.now() + timedelta(minutes=20))
        return not is_right if is_own else made is not None

    async def _say(self, text: str) -> ActionResult | None:
        """Say something; returns what was written or offered for the calendar, if anything was."""
        member: Member = self.system.household.adults[0]
        said = await self.conversation.say(member, text, channel="web")
        await self.conversation.idle()
        self.clock.advance_to(self.clock.now() + timedelta(seconds=40))
        (turn,) = await self.conversation.history(member, said.thread_id, last=1)
        return next(
            (each for each in turn.results if each.domain == "calendar" and each.status in _MADE),
            None,
        )
