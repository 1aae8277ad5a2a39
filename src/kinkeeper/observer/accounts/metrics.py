"""What the records say about the observer: how silent it was, what its gates did, what people decided."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, Row, select

from kinkeeper.actions.journal import count_refusals
from kinkeeper.actions.model import ActionStatus, Refusal
from kinkeeper.actions.press_tokens import PressRefusal, count_refused
from kinkeeper.actions.repository import list_actions
from kinkeeper.core.time import Interval, local_days
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs.leases import WorkState
from kinkeeper.messaging import outbox
from kinkeeper.observer import repository
from kinkeeper.observer.feedback import FeedbackCount, count_feedback
from kinkeeper.observer.model import Tier1Decision
from kinkeeper.observer.tables import confidence_log, observer_messages

_MISSES = 3
_UNDERSTOOD = frozenset({"SPEAK", "SILENT"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """A message that stayed closest below the first gate.

    Attributes:
        score: Confidence of the tripwire, in [0, 1].
    """

    message_id: str
    chat_id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerDay:
    """One local day of the silence ledger.

    Attributes:
        day: Local date.
        understood: Passed every gate up to the rules.
        saved: Led to a pending action.
        spoken: Unprompted messages in the group.
        near_misses: Dropped messages with the highest scores, highest first.
    """

    day: date
    messages: int
    understood: int
    saved: int
    spoken: int
    near_misses: tuple[NearMiss, ...]

    @property
    def sentence(self) -> str:
        """The day in one line: "213 messages, 9 understood, 7 saved, 1 spoken"."""
        noun = "message" if self.messages == 1 else "messages"
        return (
            f"{self.messages} {noun}, {self.understood} understood, {self.saved} saved, "
            f"{self.spoken} spoken"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCount:
    """What one gate did.

    Attributes:
        passed: Scores at or above the threshold.
    """

    stage: str
    passed: int
    failed: int
    without_score: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A message that was handed to a person because it could not be understood.

    Attributes:
        error: What went wrong last; no message text.
    """

    row_id: str
    message_id: str
    chat_id: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Figures of a household over a span of local days.

    Attributes:
        days: The silence ledger; days without a message are left out.
        gates: What each gate did.
        spoken_by_rule: Unprompted messages by redline rule.
        spoken_per_day: Mean over the days of the span that had messages.
        actions: Pending actions created in the span, by where they stand now.
        confirmed_share: Of those that a person decided on, the share that was confirmed; None of none.
        refusals: Decisions since the span's begin that changed nothing, by reason.
        refused_presses: Presses on buttons since the span's begin that were not let through, by reason.
        feedback: What people said about the observer in the span.
        failed: Messages handed to a person, whenever they were sent.
        consulted: Questions to a language model in the span, by how they ended.
        talk: Stretches of talk that a model was asked to read since the span's begin, by how the call ended, and what followed.
    """

    days: tuple[LedgerDay, ...]
    gates: tuple[GateCount, ...]
    spoken_by_rule: Mapping[str, int]
    spoken_per_day: float
    actions: Mapping[ActionStatus, int]
    confirmed_share: float | None
    refusals: Mapping[Refusal, int]
    refused_presses: Mapping[PressRefusal, int]
    feedback: FeedbackCount
    failed: int
    consulted: Mapping[str, int]
    talk: Mapping[str, int]


def load_metrics(
    conn: Connection, household: str, zone: ZoneInfo, *, first: date, last: date, now: datetime
) -> Metrics:
    """Compute the figures of a span of local days from the records.

    Args:
        zone: Whose days are meant.
        first: First local day.
        last: Last local day, included.
        now: Aware; pending actions whose time is over count as expired.
    """
    span = local_days(first, last, zone)
    rows = _rows(conn, household, span)
    days = tuple(
        _ledger_day(conn, household, day, zone=zone, rows=of_day)
        for day, of_day in sorted(_by_day(rows, zone).items())
    )
    statuses = Counter(
        action.status
        for action in list_actions(
            conn,
            Viewer.whole(household),
            statuses=frozenset(ActionStatus),
            now=now,
            since=span.start,
        )
        if action.created_at < span.end
    )
    return Metrics(
        days=days,
        gates=_gates(conn, household, span),
        spoken_by_rule=Counter(
            str(row.redline_trigger_rule) for row in rows if row.redline_decision == "SPEAK"
        ),
        spoken_per_day=sum(day.spoken for day in days) / max(len(days), 1),
        actions=statuses,
        confirmed_share=_confirmed_share(statuses),
        refusals=count_refusals(conn, household, since=span.start),
        refused_presses=count_refused(conn, household, since=span.start),
        feedback=count_feedback(conn, household, span),
        failed=len(failures(conn, household)),
        consulted=Counter(asked["outcome"] for row in rows for asked in row.consulted or ()),
        talk=_talk(conn, household, span),
    )


def _talk(conn: Connection, household: str, span: Interval) -> Mapping[str, int]:
    counted: Counter[str] = Counter()
    for outcome, effects in repository.stretch_outcomes(conn, household, since=span.start):
        counted[outcome] += 1
        counted.update(each["effect"] for each in effects or ())
    return counted


def failures(conn: Connection, household: str) -> Sequence[Failure]:
    """Return the messages that were handed to a person, oldest first."""
    table = observer_messages
    rows = conn.execute(
        select(table.c.id, table.c.message_id, table.c.chat_id, table.c.error)
        .where(table.c.household == household, table.c.state == WorkState.MANUAL_REVIEW.value)
        .order_by(table.c.sent_at, table.c.id)
    )
    return [
        Failure(
            row_id=row.id,
            message_id=row.message_id,
            chat_id=row.chat_id,
            error=row.error or "unknown",
        )
        for row in rows
    ]


def _rows(conn: Connection, household: str, span: Interval) -> Sequence[Row[Any]]:
    table = observer_messages
    names = (
        "chat_id",
        "message_id",
        "sent_at",
        "tripwire_confidence",
        "tier1_decision",
        "redline_decision",
        "redline_trigger_rule",
        "action_id",
        "consulted",
    )
    return conn.execute(
        select(*(table.c[name] for name in names))
        .where(
            table.c.household == household,
            table.c.sent_at >= span.start,
            table.c.sent_at < span.end,
        )
        .order_by(table.c.sent_at)
    ).all()


def _by_day(rows: Sequence[Row[Any]], zone: ZoneInfo) -> Mapping[date, list[Row[Any]]]:
    by_day: dict[date, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        by_day[row.sent_at.astimezone(zone).date()].append(row)
    return by_day


def _ledger_day(
    conn: Connection, household: str, day: date, *, zone: ZoneInfo, rows: Sequence[Row[Any]]
) -> LedgerDay:
    dropped = [row for row in rows if row.tier1_decision == Tier1Decision.DROP.value]
    span = local_days(day, day, zone)
    nearest = sorted(dropped, key=lambda row: -row.tripwire_confidence)[:_MISSES]
    return LedgerDay(
        day=day,
        messages=len(rows),
        understood=sum(row.redline_decision in _UNDERSTOOD for row in rows),
        saved=len({row.action_id for row in rows if row.action_id}),
        spoken=outbox.count_unprompted(conn, household, since=span.start, until=span.end),
        near_misses=tuple(
            NearMiss(message_id=row.message_id, chat_id=row.chat_id, score=row.tripwire_confidence)
            for row in nearest
        ),
    )


def _gates(conn: Connection, household: str, span: Interval) -> tuple[GateCount, ...]:
    rows = conn.execute(
        select(confidence_log.c.stage, confidence_log.c.score, confidence_log.c.passed)
        .join(
            observer_messages,
            (observer_messages.c.household == confidence_log.c.household)
            & (observer_messages.c.id == confidence_log.c.message),
        )
        .where(
            confidence_log.c.household == household,
            observer_messages.c.sent_at >= span.start,
            observer_messages.c.sent_at < span.end,
        )
    )
    counted = Counter((row.stage, bool(row.passed), row.score is None) for row in rows)
    stages = sorted({stage for stage, _, _ in counted}, key=_STAGE_ORDER.index)
    return tuple(
        GateCount(
            stage=stage,
            passed=counted[stage, True, False],
            failed=counted[stage, False, False],
            without_score=counted[stage, False, True],
        )
        for stage in stages
    )


def _confirmed_share(statuses: Mapping[ActionStatus, int]) -> float | None:
    confirmed = sum(
        statuses.get(status, 0)
        for status in (ActionStatus.DONE, ActionStatus.CONFIRMED, ActionStatus.EXECUTING)
    )
    decided = confirmed + statuses.get(ActionStatus.REJECTED, 0)
    return confirmed / decided if decided else None


_STAGE_ORDER = ("tripwire", "attribution", "extraction", "brain")
