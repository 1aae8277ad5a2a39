"""How the household's assistant is doing: checks, queues, comfort, and which hosts it talks to. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from kinkeeper.actions.model import PendingAction
from kinkeeper.conversation.turn_records import Effects, Fired, ModeShare
from kinkeeper.observability.findings import Finding, Health
from kinkeeper.observer.accounts.metrics import Metrics
from kinkeeper.observer.feedback import FeedbackCount
from kinkeeper.web.views.comfort import Comfort, comfort
from kinkeeper.web.views.day_text import Wording

_DAY = timedelta(days=1)
_READING = {
    "queued": "waiting to be read",
    "running": "being read",
    "done": "read",
    "dropped": "ignored",
    "manual_review": "left to a person",
}
_SENDING = {
    "queued": "waiting", "sending": "on the way", "sent": "delivered", "dropped": "held back on purpose",
    "failed": "refused", "unknown": "possibly not delivered",
}  # fmt: skip
_ANSWERING = {
    "queued": "waiting", "running": "being answered", "answered": "answered", "cancelled": "stopped",
    "posted": "sent unprompted", "failed": "failed", "manual_review": "left to a person",
}  # fmt: skip
_OUTSIDE = {
    "queued": "waiting", "running": "in progress", "done": "done", "dropped": "refused",
    "manual_review": "failed or possibly not done",
}  # fmt: skip
_WORDS = {Health.OK: "OK", Health.WARNING: "Warning", Health.BROKEN: "Broken"}


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
        comfort: Numbers with charts.
        hosts: Hosts that it is set up to talk to; ideally none.
        parts: What may or may not matter to answers: its name, and how often it fired and changed something.
        shares: How messages were answered: the mode, its share beside a healthy one, and whether it lies outside.
    """

    sentence: str
    checks: tuple[Check, ...]
    queues: tuple[Queue, ...]
    comfort: tuple[Comfort, ...]
    hosts: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]
    shares: tuple[tuple[str, str, bool], ...]


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
    """

    reading: Mapping[str, int]
    sending: Mapping[str, int]
    failed_updates: int
    answering: Mapping[str, int] = field(default_factory=dict)
    stage_failures: Mapping[str, int] = field(default_factory=dict)
    outside: Mapping[str, int] = field(default_factory=dict)


def health_page(
    findings: Sequence[Finding],
    work: Work,
    metrics: Metrics,
    said: Mapping[date, FeedbackCount],
    *,
    actions: Sequence[PendingAction],
    hosts: Sequence[str],
    effects: Effects,
    days: Sequence[date],
    wording: Wording,
) -> HealthPage:
    """Return the page.

    Args:
        findings: Of the checks.
        work: How much stands where.
        metrics: Of the days shown.
        said: What people said on each of those days.
        actions: Created in those days, whatever became of them.
        hosts: That it is set up to talk to.
        effects: What watches over answers, and whether that changed any.
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
        comfort=comfort(metrics, said, actions, days=days, wording=wording),
        hosts=tuple(sorted(set(hosts))),
        parts=tuple((each.name.capitalize(), _fired(each)) for each in effects.parts),
        shares=tuple(
            (each.mode.value.capitalize(), _shown_share(each), each.is_healthy is False)
            for each in effects.shares
            if effects.decisions
        ),
    )  # fmt: skip


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
            name="Messages heard", states=_told(work.reading, _READING),
            is_stuck=work.reading.get("manual_review", 0) > 0,
        ),
        Queue(
            name="Messages sent", states=_told(work.sending, _SENDING),
            is_stuck=any(work.sending.get(state) for state in ("failed", "unknown")),
        ),
        Queue(
            name="Updates that couldn't be processed", states=_told(failed, {}),
            is_stuck=work.failed_updates > 0,
        ),
        Queue(
            name="Messages to the assistant", states=_told(work.answering, _ANSWERING),
            is_stuck=any(work.answering.get(state) for state in ("failed", "manual_review")),
        ),
        Queue(
            name="Failed answer steps", states=_told(work.stage_failures, {}),
            is_stuck=False,
        ),
        Queue(
            name="Mail and external tools", states=_told(work.outside, _OUTSIDE),
            is_stuck=work.outside.get("manual_review", 0) > 0,
        ),
    )  # fmt: skip


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
        now: Aware.
        wording: For the household.
        count: How many, > 0.
    """
    last = wording.local(now).date()
    return tuple(last - (count - 1 - number) * _DAY for number in range(count))
