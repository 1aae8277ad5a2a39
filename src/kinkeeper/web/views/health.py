"""How the household's assistant is doing: checks, queues, comfort, and which hosts it talks to. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import median

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.observability.findings import Finding, Health
from kinkeeper.observer.feedback import FeedbackCount
from kinkeeper.observer.metrics import Metrics
from kinkeeper.web.views.charts import Chart, chart
from kinkeeper.web.views.wording import Wording

_MOST_SPOKEN_A_DAY = 2.0
_DAY = timedelta(days=1)
_WORDS = {Health.OK: "In order", Health.WARNING: "Please look", Health.BROKEN: "Broken"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check.

    Attributes:
        name: What was checked.
        health: How it came out.
        word: The same in words.
        found: What was found.
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
        name: Which.
        states: How much stands where.
        is_stuck: Whether some of it needs a person.
    """

    name: str
    states: tuple[tuple[str, int], ...]
    is_stuck: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Comfort:
    """One number about how it is to live with.

    Attributes:
        name: What it is.
        figure: In words.
        goal: What is wanted, in words.
        chart: Of the days, where there is one.
    """

    name: str
    figure: str
    goal: str
    chart: Chart | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthPage:
    """The page.

    Attributes:
        sentence: In one line.
        checks: Broken ones first.
        queues: What waits, and where.
        comfort: Numbers with charts.
        hosts: Hosts that it is set up to talk to; ideally none.
    """

    sentence: str
    checks: tuple[Check, ...]
    queues: tuple[Queue, ...]
    comfort: tuple[Comfort, ...]
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How much work stands where.

    Attributes:
        reading: Messages by state of their understanding.
        sending: Outgoing messages by state.
        failed_updates: Incoming updates that could not be taken in.
    """

    reading: Mapping[str, int]
    sending: Mapping[str, int]
    failed_updates: int


def health_page(
    findings: Sequence[Finding],
    work: Work,
    metrics: Metrics,
    said: FeedbackCount,
    *,
    actions: Sequence[PendingAction],
    hosts: Sequence[str],
    days: Sequence[date],
    wording: Wording,
) -> HealthPage:
    """Return the page.

    Args:
        findings: Of the checks.
        work: How much stands where.
        metrics: Of the days shown.
        said: What people said in those days.
        actions: Created in those days, whatever became of them.
        hosts: That it is set up to talk to.
        days: Shown, in order.
        wording: For the household, now.
    """
    order = [Health.BROKEN, Health.WARNING, Health.OK]
    checks = sorted(findings, key=lambda each: order.index(each.health))
    queues = tuple(_queues(work))
    return HealthPage(
        sentence=_sentence(findings, queues),
        checks=tuple(
            Check(
                name=each.check, health=each.health, word=_WORDS[each.health], found=each.found,
                remedy=each.remedy,
            )
            for each in checks
        ),
        queues=queues,
        comfort=(
            _interruptions(metrics, days, wording),
            _false_speaks(said),
            _confirmed(metrics, actions, days, wording),
            _time_to_confirm(actions),
            _confusion(said),
        ),
        hosts=tuple(sorted(set(hosts))),
    )  # fmt: skip


def _sentence(findings: Sequence[Finding], queues: Sequence[Queue]) -> str:
    broken = sum(each.health is Health.BROKEN for each in findings)
    if broken:
        return f"{broken} {'check is' if broken == 1 else 'checks are'} broken; see how to mend it."
    if any(queue.is_stuck for queue in queues):
        return "Everything runs; some work needs a look."
    return "Everything is in order."


def _queues(work: Work) -> Sequence[Queue]:
    return (
        Queue(
            name="Reading messages", states=tuple(sorted(work.reading.items())),
            is_stuck=work.reading.get("manual_review", 0) > 0,
        ),
        Queue(
            name="Sending messages", states=tuple(sorted(work.sending.items())),
            is_stuck=any(work.sending.get(state) for state in ("failed", "unknown")),
        ),
        Queue(
            name="Updates that could not be taken in", states=(("failed", work.failed_updates),),
            is_stuck=work.failed_updates > 0,
        ),
    )  # fmt: skip


def _interruptions(metrics: Metrics, days: Sequence[date], wording: Wording) -> Comfort:
    figure = f"{metrics.spoken_per_day:.1f} a day"
    values = {day.day: float(day.spoken) for day in metrics.days}
    return Comfort(
        name="Spoke without being asked", figure=figure, goal="under 2 a day",
        chart=_chart("Spoke without being asked", figure, values, days, wording, _MOST_SPOKEN_A_DAY),
    )  # fmt: skip


def _false_speaks(said: FeedbackCount) -> Comfort:
    share = said.false_speak_share
    figure = "nobody judged yet" if share is None else f"{share:.0%}"
    return Comfort(
        name="Should have stayed quiet", figure=figure, goal="of the decisions people judged",
        chart=None,
    )  # fmt: skip


def _confirmed(
    metrics: Metrics, actions: Sequence[PendingAction], days: Sequence[date], wording: Wording
) -> Comfort:
    share = metrics.confirmed_share
    figure = "nobody decided yet" if share is None else f"{share:.0%}"
    values: dict[date, float] = {}
    for action in actions:
        if action.status is ActionStatus.DONE and action.decided_at is not None:
            day = wording.local(action.decided_at).date()
            values[day] = values.get(day, 0.0) + 1
    return Comfort(
        name="Confirmed of those decided", figure=figure, goal="over 70 %",
        chart=_chart("Confirmed", f"{sum(values.values()):g}", values, days, wording, None),
    )  # fmt: skip


def _time_to_confirm(actions: Sequence[PendingAction]) -> Comfort:
    waits = [
        (action.decided_at - action.created_at).total_seconds()
        for action in actions
        if action.status is ActionStatus.DONE and action.decided_at is not None
    ]
    figure = "nothing confirmed yet" if not waits else _length(median(waits))
    return Comfort(name="Until somebody says yes", figure=figure, goal="the middle one", chart=None)


def _confusion(said: FeedbackCount) -> Comfort:
    return Comfort(
        name="Wondered why it spoke", figure=str(said.confusion), goal="0 in 7 days", chart=None
    )


def _chart(  # noqa: PLR0917 - one chart
    title: str,
    figure: str,
    values: Mapping[date, float],
    days: Sequence[date],
    wording: Wording,
    goal: float | None,
) -> Chart:
    labels = {day: wording.short_day(day) for day in days}
    return chart(title, figure, values, days=days, labels=labels, goal=goal)


def _length(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 60:  # noqa: PLR2004 - an hour
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def shown_until(now: datetime, wording: Wording, *, count: int) -> tuple[date, ...]:
    """Return the last local days, today's included.

    Args:
        now: Aware.
        wording: For the household.
        count: How many, > 0.
    """
    last = wording.local(now).date()
    return tuple(last - (count - 1 - number) * _DAY for number in range(count))
