"""The upkeep of memory as a process of its own, at low priority: what it loads and computes troubles nobody.

`Night.command` starts it. It takes a `Night` on its input, and tells nothing but its exit code and the run in the
database. It may be killed at any moment.
"""

import asyncio
import gc
import os
import pickle
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from kinkeeper.core.errors import ConflictError, KinkeeperError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Household
from kinkeeper.settings.load import environment_with
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store

_PROGRAM = f"import sys; from {__name__} import main; sys.exit(main())"
_NICENESS = 19
# A library's own threads begin while it is loaded, before anybody can lower them, and would take every core.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_FAILED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What a process is told.

    Attributes:
        settings: In force.
        household: Whose memory.
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
