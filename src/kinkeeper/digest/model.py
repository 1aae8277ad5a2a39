"""A digest and when somebody wants it: values, no I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

from kinkeeper.actions.model import PendingAction


@dataclass(frozen=True, slots=True, kw_only=True)
class Unassigned:
    """Something on one day that nobody has taken on.

    Attributes:
        task: What is to be done: "pickup", "dropoff", ...; None where only the event is known.
        children: Member ids of whom it is for.
        what: The activity or title, in words; empty where it is not known.
        start: Local time of day; None where it has no time.
        action_id: The open action that asks who does it; None where it is in the calendar already.
    """

    task: str | None
    children: tuple[str, ...]
    what: str
    start: time | None
    action_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What one person is told at one moment.

    Attributes:
        member: Member id of the person.
        at: When it was put together, aware.
        day: The local day it is for; tomorrow is the day after.
        waiting: Open actions that they can decide, those that expire first at the front.
        unassigned: What nobody has taken on for tomorrow, in order of time.
        expired: What expired unconfirmed since the last digest and can be brought back, the latest first.
    """

    member: str
    at: datetime
    day: date
    waiting: Sequence[PendingAction]
    unassigned: Sequence[Unassigned]
    expired: Sequence[PendingAction]

    @property
    def others_waiting(self) -> Sequence[PendingAction]:
        """What waits besides the questions that are told as unassigned already."""
        told = {each.action_id for each in self.unassigned}
        return [action for action in self.waiting if action.id not in told]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.waiting or self.unassigned or self.expired)

    @property
    def action_ids(self) -> list[str]:
        """Ids of the actions it tells of."""
        return [action.id for action in (*self.waiting, *self.expired)]
