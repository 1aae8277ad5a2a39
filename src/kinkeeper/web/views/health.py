"""How the assistant is doing: checks, queues, hosts, and its comfort as figures with charts of the days. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from statistics import median

from kinkeeper.actions.bars import Offsets
from kinkeeper.actions.model import PendingAction
from kinkeeper.background.drift.repository import Figures as ThoughtFigures
from kinkeeper.conversation.turn_records import Effects, Fired, ModeShare
from kinkeeper.observability.findings import Finding, Health
from kinkeeper.observer.accounts.metrics import Metrics
from kinkeeper.observer.feedback import FeedbackCount, Verdict
from kinkeeper.web.views.day_text import Wording

# Charts of days as shapes: bars in a fixed box, drawn by attributes alone. Pure.

WIDTH, HEIGHT = 300, 72
_FOOT = 14  # below the bars, for the days
_GAP = 0.25  # of a bar's place


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One day's bar, in the box's units.

    Attributes:
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
        unit: Head of the column of values.
        spoken: The chart in words.
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
        values: By day, >= 0; a day without one counts as zero.
        figure: The number that sums it up.
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
        x=round(x + place * _GAP / 2, 2),
        y=round(room - height, 2),
        width=round(place * (1 - _GAP), 2),
        height=round(height, 2),
    )


# How the assistant is to live with: five figures, each with its chart of the days. Pure.

_MOST_SPOKEN_A_DAY = 2.0
_WONDER_DAYS = 7
_MINUTE = 60
_HOUR_MINUTES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Comfort:
    """One figure about how it is to live with.

    Attributes:
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
        actions: Created in those days, whatever became of them.
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
        name=name,
        figure=figure,
        note="Goal: fewer than 2 a day.",
        chart=draw.chart(name, values, figure=figure, goal=_MOST_SPOKEN_A_DAY),
    )


def _false_speaks(said: Mapping[date, FeedbackCount], draw: _Draw) -> Comfort:
    name = "Should have stayed quiet"
    wrong = {day: float(each.verdicts.get(Verdict.KEEP_QUIET, 0)) for day, each in said.items()}
    judged = sum(sum(each.verdicts.values()) for each in said.values())
    if not judged:
        return Comfort(
            name=name, figure="", note="No feedback yet; use “why?” on a message to give some."
        )
    figure = f"{sum(wrong.values()) / judged:.0%}"
    return Comfort(
        name=name,
        figure=figure,
        note=f"Of {judged} decisions with feedback.",
        chart=draw.chart(name, wrong, figure=figure),
    )


def _confirmed(metrics: Metrics, actions: Sequence[PendingAction], draw: _Draw) -> Comfort:
    name, share = "Approved cards", metrics.confirmed_share
    if share is None:
        return Comfort(name=name, figure="", note="Nothing decided yet.")
    figure = f"{share:.0%}"
    values = {day: float(len(waits)) for day, waits in draw.minutes_to_yes(actions).items()}
    return Comfort(
        name=name,
        figure=figure,
        note="Of all decided cards. Goal: over 70%.",
        chart=draw.chart("Approved", values, figure=figure),
    )


def _time_to_confirm(actions: Sequence[PendingAction], draw: _Draw) -> Comfort:
    name, waits = "Time to approval", draw.minutes_to_yes(actions)
    if not waits:
        return Comfort(name=name, figure="", note="Nothing approved yet.")
    figure = _length(median(minutes for day in waits.values() for minutes in day))
    values = {day: float(round(median(minutes))) for day, minutes in waits.items()}
    return Comfort(
        name=name,
        figure=figure,
        note="Median.",
        chart=draw.chart(name, values, figure=figure, unit="Minutes"),
    )


def _wonder(said: Mapping[date, FeedbackCount], draw: _Draw) -> Comfort:
    name = "Asked why it spoke"
    values = {day: float(each.confusion) for day, each in said.items()}
    figure = f"{sum(values.get(day, 0.0) for day in draw.days[-_WONDER_DAYS:]):.0f}"
    return Comfort(
        name=name,
        figure=figure,
        note="In the last 7 days. Goal: 0.",
        chart=draw.chart(name, values, figure=f"{figure} in the last 7 days"),
    )


def _length(minutes: float) -> str:
    whole = round(minutes)
    if whole < _HOUR_MINUTES:
        return f"{whole} min"
    return f"{whole // _HOUR_MINUTES} h {whole % _HOUR_MINUTES:02d} min"


_DAY = timedelta(days=1)
_READING = {
    "queued": "waiting to be read",
    "running": "being read",
    "done": "read",
    "dropped": "ignored",
    "manual_review": "left to a person",
}
_SENDING = {
    "queued": "waiting",
    "sending": "on the way",
    "sent": "delivered",
    "dropped": "held back on purpose",
    "failed": "refused",
    "unknown": "possibly not delivered",
}
_ANSWERING = {
    "queued": "waiting",
    "running": "being answered",
    "answered": "answered",
    "cancelled": "stopped",
    "posted": "sent unprompted",
    "failed": "failed",
    "manual_review": "left to a person",
}
_OUTSIDE = {
    "queued": "waiting",
    "running": "in progress",
    "done": "done",
    "dropped": "refused",
    "manual_review": "failed or possibly not done",
}
_GOALS = {
    "cycles": "rounds",
    "steps": "steps",
    "told": "told",
    "reads": "pages read",
    "searches": "web searches",
    "refused": "pages or searches that failed",
    "asked": "pages asked for",
    "by_model": "steps by a model",
    "by_rules": "steps by rules instead",
}
_WORDS = {Health.OK: "OK", Health.WARNING: "Warning", Health.BROKEN: "Broken"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check.

    Attributes:
        health: How it came out.
        word: The same in words.
        remedy: How to mend it; empty where nothing is wrong.
    """

    name: str
    health: Health
    word: str
    found: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Work of one kind.

    Attributes:
        states: How much stands where, in one line.
        is_stuck: Whether some of it needs a person.
    """

    name: str
    states: str
    is_stuck: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthPage:
    """The page.

    Attributes:
        sentence: In one line.
        checks: Broken ones first.
        queues: What waits, and where.
        hosts: Hosts that it is set up to talk to; ideally none.
        parts: What may or may not matter to answers: its name, and how often it fired and changed something.
        shares: How messages were answered: the mode, its share beside a healthy one, and whether it lies outside.
        learned: How much surer than by default it must be before it shows something.
    """

    sentence: str
    checks: tuple[Check, ...]
    queues: tuple[Queue, ...]
    comfort: tuple[Comfort, ...]
    hosts: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]
    shares: tuple[tuple[str, str, bool], ...]
    learned: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How much work stands where.

    Attributes:
        reading: Messages by state of their understanding.
        sending: Outgoing messages by state.
        failed_updates: Incoming updates that could not be taken in.
        answering: Messages to the assistant by what they came to, or by state while that is open.
        stage_failures: Stages of turns that failed, by name.
        outside: Mails and calls of foreign tools by state.
        goals: How often goals were worked on, steps that this did, and how often people were told.
        thoughts: Idle thoughts by what was done about them.
        remarks: What people were told unasked, by what became of it.
        questions: Those that idle thought keeps for people, open and settled.
    """

    reading: Mapping[str, int]
    sending: Mapping[str, int]
    failed_updates: int
    answering: Mapping[str, int] = field(default_factory=dict)
    stage_failures: Mapping[str, int] = field(default_factory=dict)
    outside: Mapping[str, int] = field(default_factory=dict)
    goals: Mapping[str, int] = field(default_factory=dict)
    thoughts: Mapping[str, int] = field(default_factory=dict)
    remarks: Mapping[str, int] = field(default_factory=dict)
    questions: Mapping[str, int] = field(default_factory=dict)


def health_page(
    findings: Sequence[Finding],
    work: Work,
    metrics: Metrics,
    said: Mapping[date, FeedbackCount],
    *,
    actions: Sequence[PendingAction],
    hosts: Sequence[str],
    effects: Effects,
    learned: Offsets,
    days: Sequence[date],
    wording: Wording,
) -> HealthPage:
    """Return the page.

    Args:
        work: How much stands where.
        actions: Created in those days, whatever became of them.
        hosts: That it is set up to talk to.
        effects: What watches over answers, and whether that changed any.
        learned: How far people's decisions moved what must be reached before something is shown.
    """
    order = [Health.BROKEN, Health.WARNING, Health.OK]
    checks = sorted(findings, key=lambda each: order.index(each.health))
    queues = tuple(_queues(work))
    return HealthPage(
        sentence=_sentence(findings, queues),
        checks=tuple(
            Check(
                name=each.check,
                health=each.health,
                word=_WORDS[each.health],
                found=each.found,
                remedy=each.remedy,
            )
            for each in checks
        ),
        queues=queues,
        comfort=comfort(metrics, said, actions, days=days, wording=wording),
        hosts=tuple(sorted(set(hosts))),
        parts=tuple((each.name.capitalize(), _fired(each)) for each in effects.parts),
        shares=tuple(
            (each.mode.value.capitalize(), _shown_share(each), each.is_healthy is False)
            for each in effects.shares
            if effects.decisions
        ),
        learned=tuple(
            (bar.label.capitalize(), f"{offset:+.2f}")
            for bar, offset in sorted(learned.by_bar.items())
            if offset
        ),
    )


def _sentence(findings: Sequence[Finding], queues: Sequence[Queue]) -> str:
    broken = sum(each.health is Health.BROKEN for each in findings)
    if broken:
        return f"{broken} {'check' if broken == 1 else 'checks'} failed; see below how to fix it."
    if any(queue.is_stuck for queue in queues):
        return "Everything is running; some work needs attention."
    return "Everything is OK."


def _queues(work: Work) -> Sequence[Queue]:
    failed = {"failed": work.failed_updates} if work.failed_updates else {}
    return (
        Queue(
            name="Messages heard",
            states=_told(work.reading, _READING),
            is_stuck=work.reading.get("manual_review", 0) > 0,
        ),
        Queue(
            name="Messages sent",
            states=_told(work.sending, _SENDING),
            is_stuck=any(work.sending.get(state) for state in ("failed", "unknown")),
        ),
        Queue(
            name="Updates that couldn't be processed",
            states=_told(failed, {}),
            is_stuck=work.failed_updates > 0,
        ),
        Queue(
            name="Messages to the assistant",
            states=_told(work.answering, _ANSWERING),
            is_stuck=any(work.answering.get(state) for state in ("failed", "manual_review")),
        ),
        Queue(name="Failed answer steps", states=_told(work.stage_failures, {}), is_stuck=False),
        Queue(
            name="Mail and external tools",
            states=_told(work.outside, _OUTSIDE),
            is_stuck=work.outside.get("manual_review", 0) > 0,
        ),
        Queue(name="Work on goals", states=_told(work.goals, _GOALS), is_stuck=False),
    )


def with_thought(effects: Effects, found: ThoughtFigures) -> Effects:
    """Return effects with how often idle thought and its remarks did something, and how often that was taken up."""
    cycles, something = sum(found.cycles.values()), sum(found.effects.values())
    thoughts = Fired(name="idle thoughts", fired=cycles, had_effect=something)
    remarks = Fired(name="remarks made unasked", fired=found.told, had_effect=found.taken_up)
    kept = Fired(
        name="questions kept",
        fired=sum(found.questions.values()),
        had_effect=found.questions.get("settled", 0),
    )
    return replace(effects, parts=[*effects.parts, thoughts, remarks, kept])


def _fired(part: Fired) -> str:
    if not part.fired:
        return "not needed so far"
    return f"{part.fired} times; {part.had_effect} had an effect"


def _shown_share(each: ModeShare) -> str:
    return f"{each.share:.0%} (normal: {each.least:.0%} to {each.most:.0%})"


def _told(counts: Mapping[str, int], words: Mapping[str, str]) -> str:
    """Return counts in one line, in the order of the words."""
    order = [*words, *sorted(counts.keys() - words.keys())]
    parts = [f"{counts[state]} {words.get(state, state)}" for state in order if counts.get(state)]
    return ", ".join(parts) or "none"


def shown_until(now: datetime, wording: Wording, *, count: int) -> tuple[date, ...]:
    """Return the last local days, today's included.

    Args:
        count: How many, > 0.
    """
    last = wording.local(now).date()
    return tuple(last - (count - 1 - number) * _DAY for number in range(count))
