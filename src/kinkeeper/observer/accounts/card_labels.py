"""Cards with what people did about them: what the regulator moves their bars by."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select

from kinkeeper.actions.bars import Label
from kinkeeper.actions.model import ActionStatus, RejectReason
from kinkeeper.actions.tables import pending_actions
from kinkeeper.observer.cards.retraction import SOURCE
from kinkeeper.observer.extraction.prepared import bar_of
from kinkeeper.observer.feedback import reasons
from kinkeeper.observer.model import BY_FOLD, Task
from kinkeeper.observer.settling.chat_arrangements import LIKELY

_CONFIRMED: Final = "confirmed"


def card_labels(
    conn: Connection, household: str, since: datetime, *, shipped: float
) -> Iterator[Label]:
    """Yield the cards made since then that people decided about; one that nobody answered says nothing.

    Args:
        shipped: Confidence from which an arrangement counts by the settings.
    """
    cards, why = pending_actions.c, reasons(conn, household, since=since)
    own = (cards.household == household, cards.source_type == SOURCE, cards.created_at >= since)
    names = ("id", "status", "extraction", "extraction_confidence", "created_at", "undone_at")
    for row in conn.execute(select(*(cards[each] for each in names)).where(*own)):
        record = row.extraction
        bar = bar_of(Task(record["task"]) if record and record["task"] else None)
        signal = _signal(ActionStatus(row.status), row.undone_at, why.get(row.id))
        if not record or bar is None or signal is None:
            continue
        least = LIKELY if record["extractor"] == BY_FOLD else shipped
        yield Label(
            bar=bar,
            score=round(row.extraction_confidence - least, 4),
            is_wanted=signal == _CONFIRMED,
            at=row.created_at,
            signal=signal,
        )


def _signal(
    status: ActionStatus, undone_at: datetime | None, reason: RejectReason | None
) -> str | None:
    """Return what people told of a card; None where they told nothing: it was right, but no news, or time settled it."""
    if reason is RejectReason.ALREADY_KNOWN:
        return None
    if reason is not None:
        return "not right"
    if undone_at is not None:
        return "undone"
    if status is ActionStatus.REJECTED:
        return "dismissed"
    return _CONFIRMED if status is ActionStatus.DONE else None
