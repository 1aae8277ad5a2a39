"""The upkeep of memory as a process of its own, at low priority: what it loads and computes troubles nobody.

`python -m kinkeeper.bootstrap.night_process` takes a `Night` on its input, and tells nothing but its
exit code and the run in the database. It may be killed at any moment.
"""

import asyncio
import os
import pickle
import sys
from contextlib import suppress
from dataclasses import dataclass

from kinkeeper.core.errors import ConflictError, KinkeeperError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Household
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store

MODULE = "kinkeeper.bootstrap.night_process"

_NICENESS = 15
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

    def packed(self) -> bytes:
        """Return it as the process reads it."""
        return pickle.dumps(self)


def main() -> int:
    """Do it; returns the exit code."""
    from kinkeeper.bootstrap.consolidating import Consolidating  # noqa: PLC0415 - not for who starts it

    with suppress(OSError):
        os.nice(_NICENESS)
    night: Night = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - from the process that started us
    try:
        with Store.open(night.database) as store:
            doing = Consolidating(
                night.settings, night.household, store, SystemClock(), progress=lambda _: None
            )
            asyncio.run(doing.run())
    except ConflictError:
        return 0  # another process has done it
    except KinkeeperError as error:
        sys.stderr.write(f"{error}\n")
        return _FAILED
    return 0


if __name__ == "__main__":
    # Pickled by its full name, which this module does not have while it runs as the main one.
    from kinkeeper.bootstrap.night_process import main as run

    sys.exit(run())
