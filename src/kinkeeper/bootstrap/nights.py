"""The nightly upkeep of memory: when it is due, its own process at low priority, and what a check finds."""

import asyncio
import gc
import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from functools import partial

import structlog
from sqlalchemy import Connection

from kinkeeper.core.errors import ConflictError, KinkeeperError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import Clock, SystemClock, is_held_until, is_of_wrong_clock, to_text
from kinkeeper.household.model import Household
from kinkeeper.memory.memory_rows import last_seq
from kinkeeper.memory.upkeep.questions import count_waiting
from kinkeeper.memory.upkeep.runs import (
    Report,
    Run,
    RunState,
    insert_run,
    latest_runs,
    looked_up_to,
    open_question,
)
from kinkeeper.observability.failures import repeat
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.settings.load import environment_with
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store

# The upkeep of memory as a process of its own, at low priority: what it loads and computes troubles
# nobody.
#
# `Night.command` starts it. It takes a `Night` on its input, and tells nothing but its exit code
# and the run in the database. It may be killed at any moment.

_PROGRAM = f"import sys; from {__name__} import main; sys.exit(main())"
_NICENESS = 19
# A library's own threads begin while it is loaded, before anybody can lower them, and would take every core.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_FAILED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What a process is told.

    Attributes:
        database: Address, with its password.
    """

    settings: Settings
    household: Household
    database: str

    @staticmethod
    def command() -> tuple[str, ...]:
        """Return what starts the process."""
        return sys.executable, "-c", _PROGRAM

    @staticmethod
    def environment() -> Mapping[str, str]:
        """Return the environment to start it in."""
        return environment_with(**_ONE_THREAD)

    def packed(self) -> bytes:
        """Return it as the process reads it."""
        return pickle.dumps(self)


def main() -> int:
    """Do it; returns the exit code."""
    from kinkeeper.bootstrap.consolidation import Consolidating  # noqa: PLC0415 - not for who starts it

    night: Night = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - from the process that started us
    try:
        with Store.open(night.database) as store:
            give_way()
            doing = Consolidating(
                night.settings,
                night.household,
                store.locking(night.household.id),
                SystemClock(),
                progress=lambda _: None,
            )
            asyncio.run(doing.run())
    except ConflictError:
        return 0  # another process has done it
    except KinkeeperError as error:
        sys.stderr.write(f"{error}\n")
        return _FAILED
    return 0


def give_way() -> None:
    """Lower the priority of this thread and those to come; the store's writer, which has begun, keeps its own.

    Others wait for what is written: at a low priority it would hold them up for as long as anybody computes. (So on
    Linux; elsewhere all threads are lowered.)
    """
    # Nor are they to wait until the collector has gone over all that was loaded.
    gc.freeze()
    with suppress(OSError):
        os.nice(_NICENESS)
    # Whoever wakes takes the core from the idle class at once; but beside work that never rests it would get nothing.
    if hasattr(os, "SCHED_IDLE") and os.getloadavg()[0] < len(os.sched_getaffinity(0)):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


log = structlog.get_logger()

_FIRST_HOUR = 4
_BETWEEN_LOOKS = timedelta(minutes=5)
_AFTER_FAILURE = timedelta(hours=1)
_OVERDUE = timedelta(days=3)
_LOOKED_BACK = 50
_CHECK = "memory upkeep"


class Nights:
    """Starts the upkeep of one household's memory every night, in a process of its own."""

    def __init__(
        self, settings: Settings, household: Household, store: Store, clock: Clock
    ) -> None:
        self._settings = settings
        self._household = household
        self._store = store
        self._clock = clock
        self._not_before = clock.now()

    async def run(self) -> None:
        """Do what is due, again and again, until cancelled."""
        await repeat(self._look, _BETWEEN_LOOKS, name="memory.nights")

    async def _look(self) -> None:
        now = self._clock.now()
        if is_held_until(self._not_before, now, _AFTER_FAILURE):
            return
        try:
            await self.run_once()
        except (KinkeeperError, OSError) as error:
            self._not_before = now + _AFTER_FAILURE
            log.warning("memory.upkeep.failed", reason=type(error).__name__)

    async def run_once(self) -> bool:
        """Run the upkeep if it is due; returns whether it was.

        Raises:
            OSError: No process can be started.
        """
        now = self._clock.now()
        if not await self._store.read(lambda conn: is_due(conn, self._household, now=now)):
            return False
        night = Night(
            settings=self._settings,
            household=self._household,
            database=self._store.url.render_as_string(hide_password=False),
        )
        code = await _ran(night)
        if code != 0:
            self._not_before = now + _AFTER_FAILURE
            await self._note_failure(now, code)
            log.warning("memory.upkeep.failed", code=code)
        return True

    async def _note_failure(self, now: datetime, code: int) -> None:
        household = self._household.id
        remark = f"the nightly process ended with code {code}; nothing was changed"
        await self._store.write(
            lambda conn: insert_run(
                conn,
                Run(
                    household=household,
                    id=stable_id(household, "failed night", to_text(now)),
                    state=RunState.FAILED,
                    from_seq=looked_up_to(conn, household),
                    to_seq=looked_up_to(conn, household),
                    report=Report(remarks=(remark,)),
                    started_at=now,
                    ended_at=self._clock.now(),
                ),
            )
        )


def is_due(conn: Connection, household: Household, *, now: datetime) -> bool:
    """Whether the upkeep of a household is to be run.

    Args:
        household: Whose; its own clock tells night.
    """
    if last_seq(conn, household.id) == 0:
        return False
    asking = open_question(conn, household.id)
    if asking is not None and asking.state is RunState.APPROVED:
        return True
    runs = latest_runs(conn, household.id, limit=_LOOKED_BACK)
    counting = (
        run.started_at
        for run in runs
        if run.state is not RunState.FAILED and not is_of_wrong_clock(run.started_at, now)
    )
    ended = next(counting, None)
    return ended is None or ended < _night_before(now, household)


def _night_before(now: datetime, household: Household) -> datetime:
    """Return when the last night of a household began to be late enough."""
    local = now.astimezone(household.zone)
    day = local.date() if local.hour >= _FIRST_HOUR else local.date() - timedelta(days=1)
    return datetime.combine(day, time(_FIRST_HOUR), tzinfo=household.zone)


async def _ran(night: Night) -> int:
    process = await asyncio.create_subprocess_exec(
        *night.command(), stdin=asyncio.subprocess.PIPE, env=night.environment()
    )
    try:
        await process.communicate(night.packed())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0


def upkeep_findings(
    households: Sequence[Household], store: Store, *, now: datetime
) -> Sequence[Finding]:
    """Tell how the last nights of memory went. Blocks."""
    return [
        replace(store.read_now(partial(_finding, household=house.id, now=now)), household=house.id)
        for house in households
    ]


def _finding(conn: Connection, *, household: str, now: datetime) -> Finding:
    runs = latest_runs(conn, household)
    if not runs:
        return ok(
            _CHECK, "it has not run yet" if last_seq(conn, household) else "nothing to do yet"
        )
    run = runs[0]
    report = run.report
    waiting = count_waiting(conn, household)
    found = f"last on {run.started_at:%Y-%m-%d %H:%M} UTC, {len(report.differences)} changes"
    found += f", {waiting} open questions" if waiting else ""
    if run.state is RunState.ASKS:
        asks = f"{report.leaving} of {report.active} facts would be archived; it has stopped and needs approval"
        return warning(
            _CHECK,
            asks,
            "see what it would do with `kinkeeper consolidate --dry-run`; approve it with --yes",
        )
    if run.state is RunState.FAILED:
        return warning(_CHECK, "; ".join(report.remarks), "run `kinkeeper consolidate` to see why")
    if now - run.started_at > _OVERDUE:
        return warning(_CHECK, found, "keep `kinkeeper serve` or `worker` running at night")
    if report.remarks:
        return warning(_CHECK, "; ".join(report.remarks), "the other steps are done")
    return ok(_CHECK, found)
