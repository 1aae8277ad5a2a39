"""Charts of days as shapes: bars in a fixed box, drawn by attributes alone. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

WIDTH, HEIGHT = 300, 72
_FOOT = 14  # below the bars, for the days
_GAP = 0.25  # of a bar's place


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One day's bar, in the box's units.

    Attributes:
        x: Left edge.
        y: Upper edge.
        width: > 0.
        height: >= 0; of something that is not zero at least one, so that it is seen.
    """

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart.

    Attributes:
        title: What it counts.
        unit: Head of the column of values.
        spoken: The chart in words.
        bars: One a day.
        goal_y: Height of the line that should not be crossed, if there is one.
        first: Label of the first day.
        last: Label of the last day.
        rows: Day and value, for the table beside it.
    """

    title: str
    unit: str
    spoken: str
    bars: tuple[Bar, ...]
    goal_y: float | None
    first: str
    last: str
    rows: tuple[tuple[str, str], ...]


def chart(
    title: str,
    values: Mapping[date, float],
    *,
    figure: str,
    days: Sequence[date],
    labels: Mapping[date, str],
    goal: float | None = None,
    unit: str = "Count",
) -> Chart | None:
    """Return a chart; None where every day's value is zero.

    Args:
        title: What it counts.
        values: By day, >= 0; a day without one counts as zero.
        figure: The number that sums it up.
        days: The days shown, in order, at least one.
        labels: Names of the days.
        goal: Value that should not be crossed.
        unit: Head of the column of values.
    """
    if not any(values.get(day) for day in days):
        return None
    top = max([*(values.get(day, 0.0) for day in days), goal or 0.0, 1.0])
    room = HEIGHT - _FOOT
    place = WIDTH / len(days)
    bars = tuple(
        _bar(values.get(day, 0.0), number * place, place, top, room)
        for number, day in enumerate(days)
    )
    peak = max(days, key=lambda day: values.get(day, 0.0))
    return Chart(
        title=title,
        unit=unit,
        spoken=f"{title}: {figure}. Highest on {labels[peak]}: {values.get(peak, 0.0):g}.",
        bars=bars,
        goal_y=None if goal is None else round(room - goal / top * room, 2),
        first=labels[days[0]],
        last=labels[days[-1]],
        rows=tuple((labels[day], f"{values.get(day, 0.0):g}") for day in days if values.get(day)),
    )


def _bar(value: float, x: float, place: float, top: float, room: float) -> Bar:  # noqa: PLR0917
    height = 0.0 if value <= 0 else max(1.0, value / top * room)
    return Bar(
        x=round(x + place * _GAP / 2, 2), y=round(room - height, 2),
        width=round(place * (1 - _GAP), 2), height=round(height, 2),
    )  # fmt: skip
