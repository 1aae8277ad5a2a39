"""What people say about the observer: wrong cards, right decisions, and a "why" to its own words."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, Row, delete, insert, select

from kinkeeper.actions.model import RejectReason
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.core.time import Interval
from kinkeeper.language.text import Token
from kinkeeper.messaging import inbox, outbox
from kinkeeper.observer.tables import feedback
from kinkeeper.reading.wonder import wonders

_columns = feedback.c


class Verdict(StrEnum):
    """What somebody thinks of a decision."""

    GOOD_CALL = "good_call"
    KEEP_QUIET = "keep_quiet"  # should have stayed quiet
    SPEAK = "speak"  # should have spoken


class _Kind(StrEnum):
    NOT_RIGHT = "not_right"
    VERDICT = "verdict"
    CONFUSION = "confusion"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackCount:
    """What people said in a span of time.

    Attributes:
        not_right: Cards that were wrong, by reason.
        verdicts: Decisions that were judged, by verdict.
        confusion: How often somebody wondered why the assistant spoke.
    """

    not_right: Mapping[RejectReason, int]
    verdicts: Mapping[Verdict, int]
    confusion: int

    @property
    def false_speak_share(self) -> float | None:
        """Of the judged decisions, the share that should have stayed quiet; None of none."""
        judged = sum(self.verdicts.values())
        return self.verdicts.get(Verdict.KEEP_QUIET, 0) / judged if judged else None


def say_not_right(
    conn: Connection,
    household: str,
    action_id: str,
    reason: RejectReason,
    *,
    by: str,
    now: datetime,
) -> None:
    """Record why a card was wrong; a person's latest word about it counts."""
    _record(conn, household, _Kind.NOT_RIGHT, action_id, answer=reason.value, by=by, now=now)


def judge(
    conn: Connection, household: str, row_id: str, verdict: Verdict, *, by: str, now: datetime
) -> None:
    """Record what somebody thinks of the decision about a message; their latest word counts."""
    _record(conn, household, _Kind.VERDICT, row_id, answer=verdict.value, by=by, now=now)


def wonder(conn: Connection, household: str, row_id: str, *, by: str, now: datetime) -> None:
    """Record that somebody asked why the assistant spoke about a message; once a person and message."""
    _record(conn, household, _Kind.CONFUSION, row_id, answer="why", by=by, now=now)


def verdict_of(conn: Connection, household: str, row_id: str, *, by: str) -> Verdict | None:
    """Return what a member thinks of the decision about a message, if they said."""
    found = conn.execute(
        select(_columns.answer).where(
            _columns.household == household,
            _columns.kind == _Kind.VERDICT.value,
            _columns.subject == row_id,
            _columns.by_member == by,
        )
    ).scalar()
    return None if found is None else Verdict(found)


def count_feedback(conn: Connection, household: str, span: Interval) -> FeedbackCount:
    """Return what people of a household said in a span of time."""
    return _counted(_rows(conn, household, span))


def daily_feedback(
    conn: Connection, household: str, span: Interval, zone: ZoneInfo
) -> Mapping[date, FeedbackCount]:
    """Return what people of a household said on each local day of a span; silent days are left out."""
    by_day: dict[date, list[Row[Any]]] = {}
    for row in _rows(conn, household, span):
        by_day.setdefault(row.at.astimezone(zone).date(), []).append(row)
    return {day: _counted(rows) for day, rows in by_day.items()}


def _rows(conn: Connection, household: str, span: Interval) -> Iterable[Row[Any]]:
    return conn.execute(
        select(_columns.kind, _columns.answer, _columns.at).where(
            _columns.household == household, _columns.at >= span.start, _columns.at < span.end
        )
    )


def _counted(rows: Iterable[Row[Any]]) -> FeedbackCount:
    counted = Counter((row.kind, row.answer) for row in rows)
    return FeedbackCount(
        not_right={
            reason: number
            for reason in RejectReason
            if (number := counted[_Kind.NOT_RIGHT.value, reason.value])
        },
        verdicts={
            verdict: number
            for verdict in Verdict
            if (number := counted[_Kind.VERDICT.value, verdict.value])
        },
        confusion=counted[_Kind.CONFUSION.value, "why"],
    )


def _record(
    conn: Connection,
    household: str,
    kind: _Kind,
    subject: str,
    *,
    answer: str,
    by: str,
    now: datetime,
) -> None:
    key = {"household": household, "kind": kind.value, "subject": subject, "by_member": by}
    conn.execute(delete(feedback).where(*(_columns[name] == key[name] for name in key)))
    conn.execute(insert(feedback).values(**key, answer=answer, at=now))


# Notes when somebody answers the assistant's own words with a "why": the measure of how it comes
# across.


def note_wonder(
    conn: Connection,
    household: str,
    message: InboundMessage,
    tokens: Sequence[Token],
    *,
    sender: str,
    now: datetime,
) -> bool:
    """Record that a message wonders at what the assistant said, if it does; returns whether.

    Args:
        conn: In the write transaction that takes the message in.
        sender: Member id, or the name as sent.
    """
    if message.kind is not MessageKind.TEXT or message.reply_to is None or not wonders(tokens):
        return False
    said = outbox.find_by_channel_id(
        conn, household, message.channel, message.chat_id, message_id=message.reply_to
    )
    if said is None or said.message.reply_to is None:
        return False
    about = inbox.find_by_message_id(
        conn, household, said.message.reply_to, chat_id=message.chat_id
    )
    if not about:
        return False
    wonder(conn, household, str(about[-1].id), by=sender, now=now)
    return True


def reasons(conn: Connection, household: str, *, since: datetime) -> Mapping[str, RejectReason]:
    """Return why cards were wrong, by action id, as people said last."""
    query = select(_columns.subject, _columns.answer).where(
        _columns.household == household,
        _columns.kind == _Kind.NOT_RIGHT.value,
        _columns.at >= since,
    )
    found = conn.execute(query.order_by(_columns.at))
    return {row.subject: RejectReason(row.answer) for row in found}
