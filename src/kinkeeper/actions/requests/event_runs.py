"""Times of a series told as one where many days are looked at: "every Tuesday and Thursday 17:00, 8 times". Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from kinkeeper.actions.requests.event_views import item, occurrence_json
from kinkeeper.actions.requests.model import Asked
from kinkeeper.actions.requests.request_times import Moment, said
from kinkeeper.calendar.model import Occurrence
from kinkeeper.core.time import Interval

_LONG: Final = timedelta(days=16)
"""Of so many days every time is told by itself."""

_FEWEST: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Times of one event that differ in nothing but their day.

    Attributes:
        times: At least one, in order.
    """

    times: Sequence[Occurrence]

    def as_json(self, asked: Asked) -> dict[str, Any]:
        """Return the first of them as requests tell it, with how many there are and the day of the last."""
        told = occurrence_json(self.times[0], asked)
        if len(self.times) == 1:
            return told
        last = self.times[-1].interval.start.astimezone(asked.household.zone)
        return {**told, "times": len(self.times), "last": last.date().isoformat()}

    def as_item(self, asked: Asked) -> dict[str, Any]:
        """Return them as one item of a card."""
        shown = item(self.times[0], asked)
        if len(self.times) == 1:
            return shown
        last = said(Moment(at=self.times[-1].interval.start, is_day=True), asked)
        more = f"and {len(self.times) - 1} more times by {last}"
        return {**shown, "when": f"{shown['when']} {more}"}


def runs_of(found: Sequence[Occurrence], span: Interval, asked: Asked) -> list[Run]:
    """Return occurrences, of a long span those of a series together, in the order of the first of each.

    Args:
        found: In order.
        span: What was looked at.
        asked: Whose clock tells at what hour they are.
    """
    if span.duration <= _LONG:
        return [Run(times=(each,)) for each in found]
    alike: dict[tuple[Any, ...], list[Occurrence]] = {}
    for each in found:
        alike.setdefault(_without_day(each, asked), []).append(each)
    runs = [
        run
        for times in alike.values()
        for run in ([times] if len(times) >= _FEWEST else [[each] for each in times])
    ]
    return [Run(times=run) for run in sorted(runs, key=lambda run: run[0].interval.start)]


def _without_day(occurrence: Occurrence, asked: Asked) -> tuple[Any, ...]:
    start = occurrence.interval.start.astimezone(asked.household.zone)
    return (
        occurrence.event.id, start.time(), occurrence.interval.duration, occurrence.place,
        tuple(occurrence.responsible),
    )  # fmt: skip
