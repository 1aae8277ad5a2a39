"""How the assistant is to live with: five figures, each with its chart of the days. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import median

from kinkeeper.actions.model import PendingAction
from kinkeeper.observer.accounts.metrics import Metrics
from kinkeeper.observer.feedback import FeedbackCount, Verdict
from kinkeeper.web.views.charts import Chart, chart
from kinkeeper.web.views.day_text import Wording

_MOST_SPOKEN_A_DAY = 2.0
_WONDER_DAYS = 7
_MINUTE = 60
_HOUR_MINUTES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Comfort:
    """One figure about how it is to live with.

    Attributes:
        name: What it is.
        figure: The number; empty where nothing is known yet.
        note: What is wanted, or what it counts; where nothing is known yet, why.
        chart: Of the days; None where there is nothing to draw.
    """

    name: str
    figure: str
    note: str
    chart: Chart | None = None


def comfort(
    metrics: Metrics,
    said: Mapping[date, FeedbackCount],
    actions: Sequence[PendingAction],
    *,
    days: Sequence[date],
    wording: Wording,
) -> tuple[Comfort, ...]:
    """Return the figures.

    Args:
        metrics: Of the days shown.
        said: What people said on each of those days.
        actions: Created in those days, whatever became of them.
        days: Shown, in order, at least one.
        wording: For the household, now.
    """
    draw = _Draw(days, wording)
    return (
        _interruptions(metrics, draw),
        _false_speaks(said, draw),
        _confirmed(metrics, actions, draw),
        _time_to_confirm(actions, draw),
        _wonder(said, draw),
    )


@dataclass(frozen=True, slots=True)
class _Draw:
    """Draws charts of the same days."""

    days: Sequence[date]
    wording: Wording

    def chart(
        self,
        title: str,
        values: Mapping[date, float],
        *,
        figure: str,
        unit: str = "Count",
        goal: float | None = None,
    ) -> Chart | None:
        labels = {day: self.wording.short_day(day) for day in self.days}
        return chart(
            title, values, figure=figure, days=self.days, labels=labels, unit=unit, goal=goal
        )

    def minutes_to_yes(self, actions: Sequence[PendingAction]) -> Mapping[date, Sequence[float]]:
        """Return by local day of the yes how many minutes each had waited for it."""
        waits: dict[date, list[float]] = {}
        for action in actions:
            if action.is_confirmed and action.decided_at is not None:
                day = self.wording.local(action.decided_at).date()
                waited = (action.decided_at - action.created_at).total_seconds() / _MINUTE
                waits.setdefault(day, []).append(waited)
        return waits


def _interruptions(metrics: Metrics, draw: _Draw) -> Comfort:
    name, figure = "Unprompted messages", f"{metrics.spoken_per_day:.1f} a day"
    values = {day.day: float(day.spoken) for day in metrics.days}
    return Comfort(
        name=name, figure=figure, note="Goal: fewer than 2 a day.",
        chart=draw.chart(name, values, figure=figure, goal=_MOST_SPOKEN_A_DAY),
    )  # fmt: skip


def _false_speaks(said: Mapping[date, FeedbackCount], draw: _Draw) -> Comfort:
    name = "Should have stayed quiet"
    wrong = {day: float(each.verdicts.get(Verdict.KEEP_QUIET, 0)) for day, each in said.items()}
    judged = sum(sum(each.verdicts.values()) for each in said.values())
    if not judged:
        return Comfort(
            name=name, figure="", note="No feedback yet; use “why?” on a message to give some.",
        )  # fmt: skip
    figure = f"{sum(wrong.values()) / judged:.0%}"
    return Comfort(
        name=name, figure=figure, note=f"Of {judged} decisions with feedback.",
        chart=draw.chart(name, wrong, figure=figure),
    )  # fmt: skip


def _confirmed(metrics: Metrics, actions: Sequence[PendingAction], draw: _Draw) -> Comfort:
    name, share = "Approved cards", metrics.confirmed_share
    if share is None:
        return Comfort(name=name, figure="", note="Nothing decided yet.")
    figure = f"{share:.0%}"
    values = {day: float(len(waits)) for day, waits in draw.minutes_to_yes(actions).items()}
    return Comfort(
        name=name, figure=figure, note="Of all decided cards. Goal: over 70%.",
        chart=draw.chart("Approved", values, figure=figure),
    )  # fmt: skip


def _time_to_confirm(actions: Sequence[PendingAction], draw: _Draw) -> Comfort:
    name, waits = "Time to approval", draw.minutes_to_yes(actions)
    if not waits:
        return Comfort(name=name, figure="", note="Nothing approved yet.")
    figure = _length(median(minutes for day in waits.values() for minutes in day))
    values = {day: float(round(median(minutes))) for day, minutes in waits.items()}
    return Comfort(
        name=name, figure=figure, note="Median.",
        chart=draw.chart(name, values, figure=figure, unit="Minutes"),
    )  # fmt: skip


def _wonder(said: Mapping[date, FeedbackCount], draw: _Draw) -> Comfort:
    name = "Asked why it spoke"
    values = {day: float(each.confusion) for day, each in said.items()}
    figure = f"{sum(values.get(day, 0.0) for day in draw.days[-_WONDER_DAYS:]):.0f}"
    return Comfort(
        name=name, figure=figure, note="In the last 7 days. Goal: 0.",
        chart=draw.chart(name, values, figure=f"{figure} in the last 7 days"),
    )  # fmt: skip


def _length(minutes: float) -> str:
    whole = round(minutes)
    if whole < _HOUR_MINUTES:
        return f"{whole} min"
    return f"{whole // _HOUR_MINUTES} h {whole % _HOUR_MINUTES:02d} min"
