"""What a chat has arranged lately, message by message, as it was decided: what a correction can be about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select, true

from kinkeeper.actions.repository import find_by_source
from kinkeeper.calendar.model import SourceType
from kinkeeper.observer.extraction_json import extraction_from_record
from kinkeeper.observer.model import Extraction, Tier1Decision
from kinkeeper.observer.tables import observer_messages

_MOST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Arranged:
    """A message that arranged something.

    Attributes:
        row_id: Id of its rows.
        message_id: The channel's id.
        sender: Member id, or the name as sent.
        sent_at: Aware.
        jobs: What it arranged, completed; of a list of jobs each.
        answers: The channel's id of the message it answers, if any.
    """

    row_id: int
    message_id: str
    sender: str
    sent_at: datetime
    jobs: tuple[Extraction, ...]
    answers: str | None


def arranged_in(
    conn: Connection, household: str, chat_id: str, *, since: datetime, before: datetime
) -> Sequence[Arranged]:
    """Return the latest messages of a chat in [since, before] that arranged something, newest first.

    Args:
        conn: Any transaction.
        household: Tenant key.
        chat_id: The chat.
        since: Aware.
        before: Aware.
    """
    table = observer_messages.c
    rows = conn.execute(
        select(
            table.id, table.message_id, table.sender, table.sent_at, table.extraction,
            table.attribution_source,
        )
        .where(
            table.household == household, table.chat_id == chat_id, table.sent_at >= since,
            table.sent_at <= before, table.redline_decision.is_not(None),
        )
        .order_by(table.sent_at.desc(), func.length(table.id).desc(), table.id.desc())
        .limit(_MOST)
    )  # fmt: skip
    return [
        Arranged(
            row_id=int(row.id), message_id=row.message_id, sender=row.sender, sent_at=row.sent_at,
            jobs=_jobs(conn, household, row.id, row.extraction), answers=row.attribution_source,
        )
        for row in rows
        if row.extraction
    ]  # fmt: skip


def has_planning(
    conn: Connection,
    household: str,
    chat_id: str,
    *,
    sender: str | None,
    since: datetime,
    before: datetime,
) -> bool:
    """Tell whether somebody sent something to a chat in [since, before] that looked like planning.

    It rests on tier 1 alone, so that it says the same whether or not the words were understood by then.

    Args:
        conn: Any transaction.
        household: Tenant key.
        chat_id: The chat.
        sender: Member id, or the name as sent; None for anybody.
        since: Aware.
        before: Aware.
    """
    table = observer_messages.c
    found = conn.execute(
        select(table.id)
        .where(
            table.household == household, table.chat_id == chat_id,
            true() if sender is None else table.sender == sender, table.sent_at >= since, table.sent_at <= before,
            table.tier1_decision == Tier1Decision.QUEUE.value,
        )
        .limit(1)
    )  # fmt: skip
    return found.first() is not None


def _jobs(
    conn: Connection, household: str, row_id: str, record: Mapping[str, Any]
) -> tuple[Extraction, ...]:
    """What each of a message's own proposals says; what was decided of it as a whole where it has one at most."""
    found = find_by_source(conn, household, SourceType.OBSERVER.value, row_id)
    # A card of a conversation that the message joined has no extraction.
    own = [action for action in found if action.proposal.extraction]
    if len(own) < 2:  # noqa: PLR2004 - a list of jobs has two at least
        return (extraction_from_record(record),)
    return tuple(extraction_from_record(action.proposal.extraction) for action in own)
