"""What carries effects out where no transaction reaches: mail servers, foreign tools."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.effects.outside import Verb
from kinkeeper.core.errors import KinkeeperError


class NotDoneError(KinkeeperError):
    """Surely nothing happened, and a later try may succeed; says why in words for people."""


class RefusedError(KinkeeperError):
    """Surely nothing happened, and never will this way; says why in words for people."""


class Trace(StrEnum):
    """What can be found out about a call of which nobody heard the end."""

    DONE = "done"
    NOT_DONE = "not_done"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One thing to do outside.

    Attributes:
        id: Of the change; the same at every try, so ids given away outside are made from it.
        action_id: The action that a person said yes to.
        effect: What was frozen, checked against its hash.
        verb: Whether to do it or to take it back.
        decided_by: Member id of the person whose yes it rests on.
        at: When they said so, aware.
    """

    household: str
    id: str
    action_id: str
    effect: Effect
    verb: Verb
    decided_by: str
    at: datetime


PointOfNoReturn = Callable[[], Awaitable[None]]
"""Notes that the next step may have an effect outside; raises where another worker has taken over."""


class Adapter(Protocol):
    """Carries out the effects of one name."""

    async def call(self, work: Work, point_of_no_return: PointOfNoReturn) -> Mapping[str, Any]:
        """Do it once.

        Args:
            point_of_no_return: To be awaited right before the step that may have an effect.

        Returns:
            What the other side said, as JSON, for the receipt.

        Raises:
            NotDoneError: Surely not done; it will be tried again.
            RefusedError: Surely not done, and not to be tried again.
        """
        ...

    async def was_done(self, work: Work) -> Trace:
        """Find out whether a call whose end nobody heard had its effect.

        Raises:
            NotDoneError: It cannot be found out now, but perhaps later.
            RefusedError: It can never be found out.
        """
        ...
