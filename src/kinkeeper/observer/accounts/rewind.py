"""Takes a household's records back to just before one message was heard, inside a transaction that is undone.

What people decided and what other messages led to is known with its time, so it can be taken away again. It
refuses a transaction that could be kept.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Column, Connection, Table, and_, delete, func, or_, select, update

from kinkeeper.actions.model import ActionStatus, Cause
from kinkeeper.actions.tables import action_sources, action_transitions, pending_actions
from kinkeeper.calendar.event_changes import undo_change
from kinkeeper.calendar.model import SourceType
from kinkeeper.calendar.tables import event_changes
from kinkeeper.core.errors import ConflictError
from kinkeeper.messaging.tables import messages, outbox
from kinkeeper.observer.answers import questions
from kinkeeper.observer.arrangement_rows import forget_from
from kinkeeper.observer.tables import (
    confidence_log,
    observer_messages,
    open_questions,
    quiet_periods,
)
from kinkeeper.store.store import require_rehearsal

_BY_MESSAGES = frozenset(
    {Cause.PROPOSE.value, Cause.SUPERSEDE.value, Cause.WITHDRAW.value, Cause.EXPIRE.value}
)
_UNDECIDED = {
    "decided_at": None,
    "decided_by": None,
    "choice": None,
    "receipt": None,
    "undone_at": None,
    "undone_by": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Then:
    """The moment to go back to.

    Attributes:
        row_id: Of the first message that came in at that moment; it and all later ones are taken away.
        heard_at: When it came in, aware; what messages lead to is dated so.
        decided_at: When it was understood, aware; what people did before that was known then.
    """

    row_id: int
    heard_at: datetime
    decided_at: datetime


def rewind(conn: Connection, household: str, then: Then) -> None:
    """Take the records back, in a transaction that will be undone.

    Args:
        conn: In a rehearsal of the store.

    Raises:
        InvariantError: The transaction could be kept.
        ConflictError: Something was taken back since, so what stood then is not known any more.
    """
    require_rehearsal(conn)
    _rewind_calendar(conn, household, then)
    _drop_later_actions(conn, household, then)
    _rewind_actions(conn, household, then)
    _rewind_questions(conn, household, then)
    forget_from(conn, household, then.row_id)
    _drop_later_messages(conn, household, then)
    conn.execute(
        delete(outbox).where(outbox.c.household == household, outbox.c.created_at >= then.heard_at)
    )
    conn.execute(
        delete(quiet_periods).where(
            quiet_periods.c.household == household, quiet_periods.c.set_at > then.heard_at
        )
    )


def _rewind_calendar(conn: Connection, household: str, then: Then) -> None:
    column = event_changes.c
    mine = column.household == household
    revived = conn.execute(
        select(column.change_id).where(
            mine, column.changed_at <= then.decided_at, column.undone_at > then.decided_at
        )
    ).first()
    if revived is not None:
        raise ConflictError("something that was in the calendar then has since been undone")
    later = conn.execute(
        select(column.change_id)
        .where(mine, column.changed_at > then.decided_at, column.undone_at.is_(None))
        .order_by(column.changed_at.desc(), column.revision.desc())
    ).scalars()
    for change_id in later.all():
        undo_change(conn, household, change_id, at=then.decided_at)


def _drop_later_actions(conn: Connection, household: str, then: Then) -> None:
    """Remove the actions that this message and later ones, or people since, proposed."""
    source, step = action_sources.c, action_transitions.c
    rows = conn.execute(
        select(source.source_id, source.slot, source.source_type, source.action_id).where(
            source.household == household, source.added_at >= then.heard_at
        )
    ).all()
    for row in rows:
        is_message = row.source_type == SourceType.OBSERVER.value and row.source_id.isdecimal()
        if is_message and int(row.source_id) < then.row_id:
            continue
        conn.execute(
            delete(action_sources).where(
                source.household == household,
                source.source_type == row.source_type,
                source.source_id == row.source_id,
                source.slot == row.slot,
            )
        )
    proposed_later = conn.execute(
        select(step.action_id).where(
            step.household == household,
            step.cause.in_([Cause.PROPOSE.value, Cause.RESTORE.value]),
            step.at > then.decided_at,
        )
    ).scalars()
    touched = {row.action_id for row in rows}
    kept = set(
        conn.execute(
            select(source.action_id).where(
                source.household == household, source.action_id.in_(touched)
            )
        ).scalars()
    )
    gone = (touched - kept) | set(proposed_later)
    for table, column in (
        (pending_actions, pending_actions.c.id),
        (action_sources, source.action_id),
        (action_transitions, step.action_id),
    ):
        conn.execute(delete(table).where(table.c.household == household, column.in_(gone)))


def _rewind_actions(conn: Connection, household: str, then: Then) -> None:
    """Take later steps of the actions that remain, and let them stand where they stood."""
    step = action_transitions.c
    rows = conn.execute(
        select(step.action_id, step.number, step.cause, step.at).where(
            step.household == household, step.at >= then.heard_at
        )
    ).all()
    moved = set()
    for row in rows:
        if row.cause in _BY_MESSAGES or row.at > then.decided_at:
            moved.add(row.action_id)
            conn.execute(
                delete(action_transitions).where(
                    step.household == household,
                    step.action_id == row.action_id,
                    step.number == row.number,
                )
            )
    for action_id in moved:
        status = conn.execute(
            select(step.to_status)
            .where(step.household == household, step.action_id == action_id)
            .order_by(step.number.desc())
            .limit(1)
        ).scalar_one()
        values = _UNDECIDED if status == ActionStatus.PENDING.value else {}
        conn.execute(
            update(pending_actions)
            .where(pending_actions.c.household == household, pending_actions.c.id == action_id)
            .values(status=status, **values)
        )


def _rewind_questions(conn: Connection, household: str, then: Then) -> None:
    column = open_questions.c
    mine = column.household == household
    keys = conn.execute(select(column.id).where(mine)).scalars().all()
    later = [key for key in keys if questions.asking_message(key) >= then.row_id]
    conn.execute(delete(open_questions).where(mine, column.id.in_(later)))
    conn.execute(
        update(open_questions)
        .where(mine, column.closed_at >= then.heard_at)
        .values(status=questions.OPEN, answered_by=None, closed_at=None)
    )


def _drop_later_messages(conn: Connection, household: str, then: Then) -> None:
    _delete_from(conn, confidence_log, confidence_log.c.message, household=household, then=then)
    _delete_from(conn, observer_messages, observer_messages.c.id, household=household, then=then)
    conn.execute(
        delete(messages).where(messages.c.household == household, messages.c.id >= then.row_id)
    )


def _delete_from(
    conn: Connection, table: Table, column: Column[str], *, household: str, then: Then
) -> None:
    """Delete a table's rows of this message and later ones; their ids are numbers kept as text."""
    own = str(then.row_id)
    is_later = or_(
        func.length(column) > len(own), and_(func.length(column) == len(own), column >= own)
    )
    conn.execute(delete(table).where(table.c.household == household, is_later))
