"""The household's days as the rules see them: slots from the event graph with the open proposals laid over. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from kinkeeper.calendar.model import EventKind, Occurrence
from kinkeeper.core.time import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Something that stands on a day, confirmed or proposed.

    Attributes:
        key: Stable key: event id and original start, or action id.
        label: What people call it.
        activity: Activity id or generic word, if any.
        place: Place id or words, if any.
        task: For care: what is done.
        who: Members taking part (children).
        day: Local day.
        interval: When; None where only the day is known.
        event_id: Event behind it, if it is in the event graph.
        action_id: Open pending action behind it, if it is only proposed.
        source_id: Message (or other source) it came from.
        is_from_chat: Whether somebody said it in the chat, confirmed since or not.
        occurrence: The occurrence behind it, if any.
    """

    key: str
    kind: EventKind
    label: str
    day: date
    interval: Interval | None
    activity: str | None = None
    place: str | None = None
    task: str | None = None
    who: tuple[str, ...] = ()
    responsible: tuple[str, ...] = ()
    event_id: str | None = None
    action_id: str | None = None
    source_id: str | None = None
    is_from_chat: bool = False
    occurrence: Occurrence | None = None

    @property
    def is_booking(self) -> bool:
        """Whether somebody is busy with it."""
        return self.kind is EventKind.BOOKING


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What is known around the days of one message.

    Attributes:
        slots: Confirmed and proposed slots on the days concerned, in time order.
        series: Slots of the activity concerned within the coming weeks, in time order.
    """

    slots: tuple[Slot, ...] = ()
    series: tuple[Slot, ...] = ()

    def without(self, action_ids: Collection[str]) -> "Schedule":
        """Return the schedule without what these pending actions proposed."""
        kept = tuple(slot for slot in self.slots if slot.action_id not in action_ids)
        return replace(self, slots=kept)

    def without_slot(self, key: str) -> "Schedule":
        """Return the schedule without one of its slots."""
        return replace(self, slots=tuple(slot for slot in self.slots if slot.key != key))

    def bookings(self, members: Iterable[str], days: Sequence[date]) -> list[Slot]:
        """Return bookings of any of these members on these days."""
        wanted = set(members)
        return [
            slot
            for slot in self.slots
            if slot.is_booking and slot.day in days and wanted & set(slot.who)
        ]

    def claimed(self, days: Sequence[date]) -> list[Slot]:
        """Return what somebody took on on these days: care, and bookings claimed in the chat."""
        return [
            slot
            for slot in self.slots
            if slot.day in days
            and (slot.kind is EventKind.CARE or (slot.is_from_chat and bool(slot.responsible)))
        ]

    def of_activity(self, activity: str | None, children: Sequence[str]) -> list[Slot]:
        """Return bookings of an activity on the days concerned, of these children (or of anyone)."""
        return [
            slot
            for slot in self.slots
            if activity is not None
            and slot.is_booking
            and slot.activity == activity
            and (not children or not slot.who or set(children) & set(slot.who))
        ]
