"""Rows of the observer: decisions, gate results, and the stretches of a chat that wait for a model."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Connection,
    Row,
    bindparam,
    func,
    insert,
    literal_column,
    select,
    true,
    update,
)

from kinkeeper.core.gates import GateResult
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.jobs.leases import Key, WorkState
from kinkeeper.messaging.inbox import TOPIC as MESSAGES
from kinkeeper.observer.answers import questions
from kinkeeper.observer.model import Decision, Stance, extraction_record
from kinkeeper.observer.tables import confidence_log, observer_messages, talk_stretches
from kinkeeper.reading.batch import MOST_NEW, SILENCE
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared

# Built once: putting a statement together costs several times as much as running it.
_TALK = Prepared(
    select(
        observer_messages.c.id,
        observer_messages.c.thread_id,
        observer_messages.c.is_coordination_talk,
        questions.IS_ASKED.label("is_asked"),
    )
    .where(
        observer_messages.c.household == bindparam("household"),
        observer_messages.c.chat_id == bindparam("chat_id"),
        observer_messages.c.sent_at >= bindparam("since"),
        observer_messages.c.sent_at <= bindparam("at"),
    )
    .order_by(observer_messages.c.sent_at.desc())
    # Spelled out: SQLite plans a statement anew at every execution that is given its limit.
    .limit(literal_column("40"))
    .offset(literal_column("0"))
)
_BY_ID = select(observer_messages).where(
    observer_messages.c.household == bindparam("household"),
    observer_messages.c.id == bindparam("id"),
)
_WITHDRAWN = select(observer_messages.c.withdrawn_actions).where(
    observer_messages.c.household == bindparam("household"),
    observer_messages.c.id == bindparam("id"),
)
_NEXT_DEFERRED = (
    select(observer_messages)
    .where(
        observer_messages.c.household == bindparam("household"),
        observer_messages.c.speak_at <= bindparam("until"),
    )
    .order_by(observer_messages.c.speak_at, observer_messages.c.id)
    .limit(1)
)
_SENT_BETWEEN = (
    select(func.count())
    .select_from(observer_messages)
    .where(
        observer_messages.c.household == bindparam("household"),
        observer_messages.c.chat_id == bindparam("chat_id"),
        observer_messages.c.sent_at > bindparam("after"),
        observer_messages.c.sent_at <= bindparam("until"),
    )
)
_INSERT = Prepared(
    insert(observer_messages),
    (
        "household",
        "id",
        "chat_id",
        "message_id",
        "thread_id",
        "sender",
        "sent_at",
        "context_window",
        "tripwire_confidence",
        "tripwire_patterns",
        "tripwire_evidence",
        "tier1_decision",
        "override",
        "is_coordination_talk",
        "reason",
        "withdrawn_actions",
        "created_at",
        "state",
        "due_at",
    ),
)
_INSERT_GATE = Prepared(insert(confidence_log), confidence_log.c.keys())


class Talk(NamedTuple):
    """One recent message as tier 1 looks back on it (a named tuple: dozens are read per message).

    Attributes:
        id: Row id.
        is_coordination: Whether it asked for or made an arrangement.
    """

    id: str
    thread_id: str
    is_coordination: bool


class RecentTalk(NamedTuple):
    """What was said in a chat just before a message.

    Attributes:
        talk: Oldest first.
        may_be_asked: Whether a question may be open in the chat.
    """

    talk: Sequence[Talk]
    may_be_asked: bool


def recent_talk(
    conn: Connection, household: str, chat_id: str, *, since: datetime, before: datetime
) -> RecentTalk:
    """Return the latest messages of a chat sent in [since, before], at most forty."""
    values = {"household": household, "chat_id": chat_id, "since": since, "at": before}
    rows = _TALK.execute(conn, values)
    talk = [Talk(row[0], row[1], bool(row[2])) for row in reversed(rows)]
    return RecentTalk(talk, may_be_asked=not rows or bool(rows[0][3]))


def insert_intake(
    conn: Connection,
    household: str,
    row_id: str,
    decision: Decision,
    *,
    chat_id: str,
    thread_id: str,
    sender: str,
    sent_at: datetime,
    context_window: Sequence[str],
    evidence: Mapping[str, Any],
    is_coordination_talk: bool,
    state: WorkState,
    now: datetime,
) -> None:
    """Insert what tier 1 decided about a message, with its gate results."""
    _INSERT.execute(
        conn,
        {
            "household": household,
            "id": row_id,
            "chat_id": chat_id,
            "message_id": decision.message_id,
            "thread_id": thread_id,
            "sender": sender,
            "sent_at": sent_at,
            "context_window": list(context_window),
            "tripwire_confidence": decision.tripwire_confidence,
            "tripwire_patterns": list(decision.patterns),
            "tripwire_evidence": dict(evidence),
            "tier1_decision": decision.tier1.value,
            "override": decision.override,
            "is_coordination_talk": int(is_coordination_talk),
            "reason": decision.reason,
            "withdrawn_actions": list(decision.withdrawn_actions),
            "created_at": now,
            "state": state.value,
            "due_at": now,
        },
    )
    log_gates(conn, household, row_id, decision.gates, now=now)


def log_gates(
    conn: Connection, household: str, row_id: str, gates: Sequence[GateResult], *, now: datetime
) -> None:
    """Insert one row per gate; a gate is logged once per message."""
    rows = [
        {
            "household": household,
            "message": row_id,
            "stage": gate.stage.value,
            "confidence_type": gate.confidence_type.value,
            "score": gate.score,
            "threshold": gate.threshold,
            "passed": int(gate.passed),
            "decision": gate.decision.value,
            "logged_at": now,
        }
        for gate in gates
    ]
    for row in rows:
        _INSERT_GATE.execute(conn, row)


def update_settled(
    conn: Connection,
    household: str,
    row_id: str,
    decision: Decision,
    *,
    notification_id: int | None,
    brain: Mapping[str, Any] | None,
    consulted: Sequence[Mapping[str, Any]] | None,
    unread_parts: int,
    now: datetime,
) -> None:
    """Write what tier 2 decided about a message, with its gate results."""
    outcome = decision.redline
    conn.execute(
        update(observer_messages)
        .where(observer_messages.c.household == household, observer_messages.c.id == row_id)
        .values(
            processed_at=now,
            extraction=extraction_record(decision.extraction) if decision.extraction else None,
            attribution_source=decision.attribution_source,
            brain_queries=list(decision.extraction.brain_queries) if decision.extraction else [],
            brain_context=dict(brain) if brain else None,
            brain_relevance=decision.brain_relevance,
            consulted=list(consulted) if consulted else None,
            unread_parts=unread_parts,
            redline_decision=outcome.decision.value if outcome else None,
            redline_trigger_rule=outcome.rule.value if outcome and outcome.rule else None,
            redline_facts=dict(outcome.facts) if outcome else None,
            conflict_key=outcome.conflict_key if outcome else None,
            speak_at=outcome.speak_at if outcome else None,
            reason=decision.reason,
            reply=decision.reply,
            buttons=list(decision.buttons),
            action_id=decision.action["id"] if decision.action else None,
            withdrawn_actions=list(decision.withdrawn_actions),
            notification_id=notification_id,
        )
    )
    log_gates(conn, household, row_id, decision.gates, now=now)
    touch(conn, MESSAGES, household)


def update_deferred(
    conn: Connection,
    household: str,
    row_id: str,
    *,
    reply: str | None,
    buttons: Sequence[str],
    reason: str,
    notification_id: int | None,
    now: datetime,
) -> None:
    """Write what came of a question whose grace ended: spoken now, or kept silent for a reason."""
    values: dict[str, Any] = {"speak_at": None, "reason": reason, "processed_at": now}
    if reply is not None:
        values |= {
            "redline_decision": "SPEAK",
            "reply": reply,
            "buttons": list(buttons),
            "notification_id": notification_id,
        }
    conn.execute(
        update(observer_messages)
        .where(observer_messages.c.household == household, observer_messages.c.id == row_id)
        .values(**values)
    )


def cancel_deferred(conn: Connection, household: str, row_id: str, *, reason: str) -> None:
    """Let a question in its grace stay silent for good, because it was settled."""
    conn.execute(
        update(observer_messages)
        .where(
            observer_messages.c.household == household,
            observer_messages.c.id == row_id,
            observer_messages.c.speak_at.is_not(None),
        )
        .values(speak_at=None, reason=reason)
    )


def next_deferred(conn: Connection, household: str, *, until: datetime) -> Row[Any] | None:
    """Return the earliest question whose grace ends at or before `until`, if any."""
    return conn.execute(_NEXT_DEFERRED, {"household": household, "until": until}).first()


def find(conn: Connection, household: str, row_id: str) -> Row[Any] | None:
    """Return a message's decision row, if it is this household's."""
    return conn.execute(_BY_ID, {"household": household, "id": row_id}).first()


def withdrawn_by(conn: Connection, household: str, row_id: str) -> Sequence[str]:
    """Return ids of the actions that a message took back when it arrived."""
    found = conn.execute(_WITHDRAWN, {"household": household, "id": row_id}).scalar()
    return found or ()


def drop_unfinished(conn: Connection, household: str, row_id: str, *, reason: str) -> bool:
    """Take a message off tier 2's hands because it was taken back before it was understood.

    The new epoch makes a worker that is at it lose its claim, so that nothing is written for it.

    Returns:
        Whether it was still unfinished.
    """
    table = observer_messages
    statement = (
        update(table)
        .where(
            table.c.household == household,
            table.c.id == row_id,
            table.c.state.in_([WorkState.QUEUED.value, WorkState.RUNNING.value]),
        )
        .values(
            state=WorkState.DROPPED.value, reason=reason, epoch=table.c.epoch + 1, lease_until=None
        )
    )
    return conn.execute(statement).rowcount == 1


def latest_unfinished(
    conn: Connection, household: str, chat_id: str, *, sender: str, since: datetime
) -> Row[Any, Any, Any] | None:
    """Return a sender's last message since then that tier 2 has not finished, if any."""
    table = observer_messages
    return conn.execute(
        select(table.c.id, table.c.message_id, table.c.sent_at)
        .where(
            table.c.household == household,
            table.c.chat_id == chat_id,
            table.c.sender == sender,
            table.c.sent_at >= since,
            table.c.state.in_([WorkState.QUEUED.value, WorkState.RUNNING.value]),
        )
        .order_by(table.c.sent_at.desc())
        .limit(1)
    ).first()


def gates_of(conn: Connection, household: str, row_id: str) -> Sequence[Row[Any]]:
    """Return the gate results of a message, in the order they were logged."""
    return conn.execute(
        select(confidence_log)
        .where(confidence_log.c.household == household, confidence_log.c.message == row_id)
        .order_by(confidence_log.c.logged_at)
    ).all()


def answers_to(conn: Connection, household: str, chat_id: str, message_id: str) -> Sequence[str]:
    """Return ids of the actions that answers to a message have caused."""
    rows = conn.execute(
        select(observer_messages.c.action_id).where(
            observer_messages.c.household == household,
            observer_messages.c.chat_id == chat_id,
            observer_messages.c.attribution_source == message_id,
            observer_messages.c.action_id.is_not(None),
        )
    )
    return [row.action_id for row in rows]


def latest_with_action(
    conn: Connection,
    household: str,
    chat_id: str,
    *,
    sender: str | None,
    since: datetime,
    message_id: str | None,
) -> Row[Any] | None:
    """Return the last message of a sender since then that proposed something, if any.

    Args:
        sender: Member id, or the name as sent; None for anybody.
        message_id: Where given, only that message.
    """
    table = observer_messages
    where = [
        table.c.household == household,
        table.c.chat_id == chat_id,
        true() if sender is None else table.c.sender == sender,
        table.c.sent_at >= since,
        table.c.action_id.is_not(None),
    ]
    if message_id is not None:
        where.append(table.c.message_id == message_id)
    return conn.execute(
        select(table)
        .where(*where)
        .order_by(table.c.sent_at.desc(), func.length(table.c.id).desc(), table.c.id.desc())
        .limit(1)
    ).first()


def refused_by(
    conn: Connection, household: str, chat_id: str, *, sender: str, since: datetime
) -> frozenset[str]:
    """Return the channel's ids of the messages that somebody has refused since then.

    Args:
        sender: Member id, or the name as sent.
    """
    table = observer_messages.c
    found = select(table.attribution_source).where(
        table.household == household,
        table.chat_id == chat_id,
        table.sender == sender,
        table.sent_at >= since,
        table.attribution_source.is_not(None),
        table.extraction["stance"].as_string() == Stance.DECLINES.value,
    )
    return frozenset(conn.execute(found).scalars())


def last_extraction(
    conn: Connection,
    household: str,
    chat_id: str,
    *,
    since: datetime,
    before: datetime,
    except_for: str,
) -> Mapping[str, Any] | None:
    """Return the extraction of a chat's latest message in [since, before] that arranged something."""
    table = observer_messages
    rows = conn.execute(
        select(table.c.extraction)
        .where(
            table.c.household == household,
            table.c.chat_id == chat_id,
            table.c.sent_at >= since,
            table.c.sent_at <= before,
            table.c.id != except_for,
            table.c.redline_decision.is_not(None),
        )
        .order_by(table.c.sent_at.desc())
        .limit(1)
    )
    return rows.scalars().first()


def count_in_last_minute(conn: Connection, household: str, chat_id: str, now: datetime) -> int:
    """Return how many messages of a chat were sent in the minute before `now`."""
    values = {
        "household": household,
        "chat_id": chat_id,
        "after": now - timedelta(minutes=1),
        "until": now,
    }
    return int(conn.execute(_SENT_BETWEEN, values).scalar_one())


# Stretches of a chat that wait to be read by a model: ids and numbers only, no words.

TOPIC: Final = "observer.read_talk"
"""Touched by commits that leave a stretch to be read; also the name of the work."""

_columns = talk_stretches.c
_UNFINISHED = (WorkState.QUEUED.value, WorkState.RUNNING.value)


def add_to_stretch(
    conn: Connection, household: str, row_id: str, message: InboundMessage, *, now: datetime
) -> None:
    """Add a message to the stretch of its chat that grows, or begin one with it; only words are read.

    Args:
        conn: In the transaction that records the message.
        now: Aware; when it arrived.
    """
    if message.kind is not MessageKind.TEXT or not message.text.strip():
        return
    growing = conn.execute(
        select(_columns.first, _columns.messages)
        .where(
            _columns.household == household,
            _columns.chat_id == message.chat_id,
            _columns.state == WorkState.QUEUED.value,
            _columns.begun == 0,
            _columns.messages < MOST_NEW,
            _columns.due_at > now,
        )
        .with_for_update()
    ).first()
    if growing is None:
        conn.execute(
            insert(talk_stretches).values(
                household=household,
                first=row_id,
                chat_id=message.chat_id,
                last=row_id,
                messages=1,
                created_at=now,
                due_at=now + SILENCE,
            )
        )
    else:
        count = growing.messages + 1
        conn.execute(
            update(talk_stretches)
            .where(_columns.household == household, _columns.first == growing.first)
            .values(last=row_id, messages=count, due_at=now if count == MOST_NEW else now + SILENCE)
        )
        if count == MOST_NEW:
            touch(conn, TOPIC, household)


def find_stretch(conn: Connection, key: Key) -> Row[Any] | None:
    """Return a stretch by its key, if there is one."""
    household, first = key
    query = select(talk_stretches).where(_columns.household == household, _columns.first == first)
    return conn.execute(query).first()


def next_waiting_stretch(conn: Connection, household: str) -> Row[Any] | None:
    """Return the stretch that is due next, if one waits."""
    query = (
        select(talk_stretches)
        .where(_columns.household == household, _columns.state.in_(_UNFINISHED))
        .order_by(_columns.due_at, _columns.first)
        .limit(1)
    )
    return conn.execute(query).first()


def first_stretch_in_chat(conn: Connection, key: Key, now: datetime) -> Key | None:
    """Return the first stretch of a chat that may be read now; None while a message of it is still being understood."""
    asked = find_stretch(conn, key)
    if asked is None:
        return None
    message = observer_messages.c
    waits = conn.execute(
        select(message.id).where(
            message.household == asked.household,
            message.chat_id == asked.chat_id,
            message.state.in_(_UNFINISHED),
            message.due_at <= now,
        )
    ).first()
    if waits is not None:
        return None
    rows = conn.execute(
        select(_columns.first).where(
            _columns.household == asked.household,
            _columns.chat_id == asked.chat_id,
            _columns.state.in_(_UNFINISHED),
            _columns.due_at <= now,
        )
    ).scalars()
    return (asked.household, min([*rows, asked.first], key=int))


def record_stretch(
    conn: Connection, key: Key, *, outcome: str, engine: str, effects: Sequence[Mapping[str, Any]]
) -> None:
    """Keep what came of reading a stretch.

    Args:
        conn: In the transaction that writes the effects.
        outcome: How the call ended.
        effects: What followed for which message; ids and words of ours alone.
    """
    household, first = key
    conn.execute(
        update(talk_stretches)
        .where(_columns.household == household, _columns.first == first)
        .values(outcome=outcome, engine=engine, effects=[dict(each) for each in effects])
    )


def read_with(conn: Connection, household: str, chat_id: str, row_id: str) -> Row[Any] | None:
    """Return the stretch that a message belongs to, if a model was to read it.

    Args:
        chat_id: The message's chat.
    """
    rows = conn.execute(
        select(talk_stretches).where(_columns.household == household, _columns.chat_id == chat_id)
    ).all()
    return next((each for each in rows if int(each.first) <= int(row_id) <= int(each.last)), None)


def stretch_outcomes(
    conn: Connection, household: str, *, since: datetime
) -> Sequence[Row[Any, Any]]:
    """Return how the stretches of a span were read: outcome and effects of each that is done.

    Args:
        since: Aware; only those that began then or later.
    """
    return conn.execute(
        select(_columns.outcome, _columns.effects).where(
            _columns.household == household,
            _columns.created_at >= since,
            _columns.outcome.is_not(None),
        )
    ).all()
