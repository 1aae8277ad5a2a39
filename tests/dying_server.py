"""The program, which is killed by `kill -9` of itself as soon as it reads a certain word. Not a test itself."""

import os
import signal
import sys

from kinkeeper.cli.main import main
from kinkeeper.conversation.model import Plan, PlanningContext
from kinkeeper.conversation.planning import planners

DEADLY = "quagga"
"""A word that nobody says."""

_read = planners._from_rules


def _read_or_die(context: PlanningContext) -> Plan:
    if DEADLY in context.text:
        os.kill(os.getpid(), signal.SIGKILL)
    return _read(context)


if __name__ == "__main__":
    planners._from_rules = _read_or_die
    sys.exit(main())
