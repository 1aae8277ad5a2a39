"""A place outside the database, and what carries effects there, obeying a script of troubles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kinkeeper.actions.outside.adapter import PointOfNoReturn, Trace, Work


@dataclass(slots=True)
class Outside:
    """What has arrived outside, and how often.

    Attributes:
        arrived: Ids, one an effect.
        removed: Ids of what was taken back.
        is_searchable: Whether it can be asked what has arrived.
    """

    arrived: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    is_searchable: bool = True


class ScriptedAdapter:
    """Carries effects out; each call meets the next trouble of the script, then none.

    Args:
        outside: Where effects arrive.
        before: Troubles before the point of no return.
        behind: Troubles behind it, before anything has arrived.
        after: Troubles after it has arrived.
        looking: Troubles of finding out.
    """

    def __init__(
        self,
        outside: Outside,
        *,
        before: Sequence[BaseException] = (),
        behind: Sequence[BaseException] = (),
        after: Sequence[BaseException] = (),
        looking: Sequence[BaseException] = (),
    ) -> None:
        self._outside = outside
        self._before, self._behind = list(before), list(behind)
        self._after, self._looking = list(after), list(looking)

    async def call(self, work: Work, point_of_no_return: PointOfNoReturn) -> Mapping[str, Any]:
        _next(self._before)
        await point_of_no_return()
        _next(self._behind)
        (self._outside.arrived if work.verb == "do" else self._outside.removed).append(work.id)
        _next(self._after)
        return {"server": "accepted"}

    async def was_done(self, work: Work) -> Trace:
        _next(self._looking)
        if not self._outside.is_searchable:
            return Trace.UNKNOWN
        return Trace.DONE if work.id in self._outside.arrived else Trace.NOT_DONE


def _next(troubles: list[BaseException]) -> None:
    if troubles:
        raise troubles.pop(0)
