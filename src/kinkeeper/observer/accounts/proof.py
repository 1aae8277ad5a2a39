"""Proves a decision: runs the message through the same steps again, with what was known then, and compares.

It happens in a transaction that is undone, so nothing is kept. Memory and language models answer what they
answered then; everything else is decided anew, by the words and numbers in force now.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, select

from kinkeeper.brain.model import BrainAnswer, BrainQuery
from kinkeeper.core.errors import ConflictError, NotFoundError, UnavailableError
from kinkeeper.core.ids import payload_hash
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs import leases
from kinkeeper.jobs.leases import WorkState
from kinkeeper.messaging import inbox
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer import repository
from kinkeeper.observer.accounts.public_json import decision_line
from kinkeeper.observer.accounts.rewind import Then, rewind
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.consultation import consultations_from
from kinkeeper.observer.extraction.prepared import ContextSource
from kinkeeper.observer.intake import Intake
from kinkeeper.observer.settling.message_reader import RecordedExtractor, Understanding
from kinkeeper.observer.settling.settlement import Settlement
from kinkeeper.observer.tables import observer_messages
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.store.store import Store

_LEASE = timedelta(minutes=5)
_PATIENCE = timedelta(seconds=5)
# What a question that waited for its answer gets later, whatever was decided at first.
_TOLD_LATER = ("reason", "redline_decision", "reply", "buttons")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What deciding again came to.

    Attributes:
        is_same: Whether the same was decided.
        then: SHA-256 of the recorded decision.
        now: SHA-256 of the decision made again.
        differences: Names of what differs.
        is_first_part: Whether only the first decision was compared, since time brought another.
    """

    is_same: bool
    then: str
    now: str
    differences: tuple[str, ...]
    is_first_part: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A decision made again; `waits` where it is a question that waits for an answer."""

    line: Mapping[str, Any]
    waits: bool


class Prover:
    """Decides messages of one household again.

    Args:
        config: The observer's numbers.
        intake: Tier 1, without a queue, that takes any chat.
    """

    def __init__(
        self,
        store: Store,
        participants: Participants,
        config: ObserverConfig,
        *,
        intake: Intake,
        settlement: Settlement,
    ) -> None:
        self._store = store
        self._participants = participants
        self._config = config
        self._intake = intake
        self._settlement = settlement

    async def prove(self, row_id: str) -> Proof:
        """Decide a message again and compare.

        Raises:
            NotFoundError: There is no such message.
            ConflictError: It cannot be decided again; the message says why.
        """
        made = await self._store.rehearse(lambda conn: self._again(conn, row_id))
        recorded = await self._store.read(lambda conn: self._recorded(conn, row_id))
        return _compared(recorded, made)

    def _recorded(self, conn: Connection, row_id: str) -> Row[Any]:
        row = repository.find(conn, self._participants.household.id, row_id)
        if row is None:
            raise NotFoundError(f"there is no message row {row_id!r}")
        return row

    def _again(self, conn: Connection, row_id: str) -> _Made:
        household = self._participants.household.id
        row = self._recorded(conn, row_id)
        # What came in at the very same moment before it is decided again, too: times tell no order there.
        heard = [
            (each, _provable(each, inbox.load(conn, household, int(each.id))))
            for each in _heard_at(conn, household, row.created_at)
            if int(each.id) <= int(row_id)
        ]
        then = Then(
            row_id=int(heard[0][0].id),
            heard_at=row.created_at,
            decided_at=row.processed_at or row.created_at,
        )
        rewind(conn, household, then)
        found = row
        for each, message in heard:
            received = self._intake.receive(conn, message, now=row.created_at)
            if received.is_queued:
                self._settle(conn, received.row_id, each)
            found = self._recorded(conn, received.row_id)
        return _Made(line=decision_line(found, None), waits=found.speak_at is not None)

    def _settle(self, conn: Connection, row_id: str, recorded: Row[Any]) -> None:
        now = recorded.created_at
        key = (self._participants.household.id, row_id)
        epoch = leases.claim(conn, observer_messages, key, now=now, lease=_LEASE)
        if epoch is None:
            raise ConflictError("the message could not be processed again")
        memory = ContextSource(
            _Remembered(recorded.brain_context),
            Viewer.of(self._participants.household.id),
            timeout=_PATIENCE,
            cache_ttl=timedelta(0),
            clock=VirtualClock(now),
        )
        extractor = RecordedExtractor(consultations_from(recorded.consulted))
        understanding = Understanding(self._participants, self._config, extractor, memory)
        loaded = understanding.load(conn, row_id)
        # The store's own thread has no event loop; nothing here waits for anything.
        prepared = asyncio.run(understanding.prepare(loaded))
        self._settlement.settle(conn, prepared, epoch=epoch, now=now)


class _Remembered:
    """Memory as it answered then.

    Args:
        record: The brain context as it was recorded; None where nothing was asked.
    """

    def __init__(self, record: Mapping[str, Any] | None) -> None:
        asked: Sequence[str] = record["queries"] if record else ()
        answers: Sequence[Mapping[str, Any]] = record["answers"] if record else ()
        self._trouble: str = (
            record and record["trouble"]
        ) or "memory did not answer this at the time"
        self._answers = dict(zip(asked, answers, strict=False))

    async def ask(self, query: BrainQuery, viewer: Viewer) -> BrainAnswer:
        """Return what was answered then.

        Raises:
            UnavailableError: There was no answer then.
        """
        found = self._answers.get(query.text)
        if found is None:
            raise UnavailableError(self._trouble)
        return BrainAnswer(
            relevance=found["relevance"], summary=found["summary"], items=found["items"]
        )


def _heard_at(conn: Connection, household: str, instant: datetime) -> Sequence[Row[Any]]:
    """Return what came in at one moment, in the order it came."""
    columns = observer_messages.c
    found = conn.execute(
        select(observer_messages).where(
            columns.household == household, columns.created_at == instant
        )
    ).all()
    return sorted(found, key=lambda row: int(row.id))


def _provable(row: Row[Any], stored: StoredMessage | None) -> InboundMessage:
    """Return the message if it can be decided again."""
    if stored is None or not stored.message.text:
        raise ConflictError("the text of this message has been deleted; only the record is left")
    if row.state in {WorkState.QUEUED.value, WorkState.RUNNING.value}:
        raise ConflictError("this message is still being processed; try again in a moment")
    if row.state == WorkState.MANUAL_REVIEW.value:
        raise ConflictError("nothing was decided about this message: reading it failed")
    return stored.message


def _compared(recorded: Row[Any], made: _Made) -> Proof:
    """Compare two decisions; of a question that waited for answers, only what was decided at first."""
    is_first_part = made.waits and recorded.speak_at is None
    left_out = _TOLD_LATER if is_first_part else ()
    then = {k: v for k, v in decision_line(recorded, None).items() if k not in left_out}
    now = {k: v for k, v in made.line.items() if k not in left_out}
    differences = tuple(sorted(name for name in then if then[name] != now[name]))
    return Proof(
        is_same=not differences,
        then=payload_hash(then),
        now=payload_hash(now),
        differences=differences,
        is_first_part=is_first_part,
    )
