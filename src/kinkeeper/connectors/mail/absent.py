"""What stands for mail servers where none is set up."""

from collections.abc import Mapping
from typing import Any

from kinkeeper.actions.outside.adapter import PointOfNoReturn, RefusedError, Trace, Work


class NotSetUp:
    """Carries nothing out, and says why."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def call(self, work: Work, point_of_no_return: PointOfNoReturn) -> Mapping[str, Any]:
        """Refuse.

        Raises:
            RefusedError: Always.
        """
        raise RefusedError(self._reason)

    async def was_done(self, work: Work) -> Trace:
        """Say that nobody can tell: what was set up before is not there to be asked."""
        return Trace.UNKNOWN
