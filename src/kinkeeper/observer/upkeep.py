"""What only the clock makes due: questions whose grace has ended, lapsed actions, and purges of old words."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import structlog
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    Row,
    cast,
    exists,
    or_,
    select,
    update,
)

from kinkeeper.actions import proposals
from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.action_retention import purge_extractions
from kinkeeper.actions.journal import purge_refusals
from kinkeeper.actions.press_tokens import purge_tokens
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock, ForwardJumps, is_held_until
from kinkeeper.jobs.leases import WorkState
from kinkeeper.messaging import inbox, outbox
from kinkeeper.models import repository as model_records
from kinkeeper.models.embedding.cache import purge_vectors
from kinkeeper.observability.failures import count_failure, repeat
from kinkeeper.observer import arrangement_rows, repository
from kinkeeper.observer.model import OWN_WORDS, TITLE
from kinkeeper.observer.speaker import Speaker
from kinkeeper.observer.tables import observer_messages, open_questions
from kinkeeper.store.store import Store

# Purges what people said once it is old: texts, surfaces, words in evidence and in memory's
# answers. Decisions and scores stay.

_NAMES = frozenset({"label", "activity", "sides"})
_OWN = frozenset({OWN_WORDS, TITLE})


def purge_old_words(conn: Connection, household: str, *, now: datetime, keep: timedelta) -> int:
    """Remove the words of messages older than `keep` from every table.

    The caller folds the database's log afterwards, so that they are gone from the files too.

    Args:
        keep: Age up to which words are kept.

    Returns:
        How many messages lost their text.
    """
    before = now - keep
    unread = select(cast(observer_messages.c.id, Integer)).where(
        observer_messages.c.household == household,
        observer_messages.c.state.in_([WorkState.QUEUED.value, WorkState.RUNNING.value]),
    )
    purged = inbox.purge_texts(conn, household, now=now, keep=keep, except_for=unread)
    purge_extractions(conn, household, created_before=before, now=now)
    outbox.purge_bodies(conn, household, before=before)
    inbox.purge_failed(conn, household, before=before)
    purge_tokens(conn, household, before=before)
    purge_refusals(conn, household, before=before)
    model_records.purge(conn, household, before=before)
    purge_vectors(conn, household, before=before)
    scores = (observer_messages.c.tripwire_evidence, observer_messages.c.sent_at, _scores)
    said = (observer_messages.c.extraction, observer_messages.c.sent_at, without_surfaces)
    asked = (open_questions.c.extraction, open_questions.c.asked_at, without_surfaces)
    known = (observer_messages.c.brain_context, observer_messages.c.sent_at, _relevances)
    facts = (observer_messages.c.redline_facts, observer_messages.c.sent_at, _without_labels)
    for column, since, blank in (scores, said, asked, known, facts):
        _blank(conn, household, column, since < before, blank)
    _drop_lines(conn, household, before)
    arrangement_rows.purge(conn, household, before=before)
    return purged


def without_surfaces(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return an extraction's record without the words it was read from."""
    if record is None:
        return None
    found = record["extracted_entities"]
    own = {entity["value"] for entity in found if entity["type"] in _OWN}
    entities = [
        {**entity, "surface": "", "value": "" if entity["type"] in _OWN else entity["value"]}
        for entity in found
    ]
    activity = None if record["activity"] in own else record["activity"]
    return {**record, "extracted_entities": entities, "activity": activity}


def _scores(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if record is None else {**record, "contributions": []}


def _relevances(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what memory said without its words: a brain elsewhere may answer with anything."""
    if record is None:
        return None
    answers = [{**answer, "summary": "", "items": []} for answer in record["answers"]]
    return {**record, "answers": answers}


def _without_labels(facts: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what a rule's verdict rests on without what things are called: they may be called as a message did."""
    if facts is None:
        return None
    return {name: _unnamed(value) for name, value in facts.items() if name not in _NAMES}


def _unnamed(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return dict(value) | {name: None for name in _NAMES if name in value}


def _drop_lines(conn: Connection, household: str, before: datetime) -> None:
    """Remove what was said aloud, with its buttons: it goes as it goes from the outbox."""
    has_line = or_(
        observer_messages.c.reply.is_not(None), observer_messages.c.conflict_key.is_not(None)
    )
    conn.execute(
        update(observer_messages)
        .where(
            observer_messages.c.household == household,
            observer_messages.c.sent_at < before,
            has_line,
        )
        .values(reply=None, buttons=[], conflict_key=None)
    )


def _blank(  # noqa: PLR0917 - what to blank, where, and how
    conn: Connection,
    household: str,
    column: Column[Any],
    is_old: ColumnElement[bool],
    blank: Callable[[Any], Any],
) -> None:
    table = column.table
    rows = conn.execute(
        select(table.c.id, column).where(table.c.household == household, is_old)
    ).all()
    for row_id, value in rows:
        if (blanked := blank(value)) != value:
            conn.execute(
                update(table)
                .where(table.c.household == household, table.c.id == row_id)
                .values({column.name: blanked})
            )


log = structlog.get_logger()

_NAME = "observer.upkeep"
_BETWEEN_PURGES = timedelta(days=1)


class Purge(Protocol):
    """Removes the words of what others keep, and tells of how much."""

    def __call__(self, conn: Connection, household: str, *, before: datetime) -> int:
        """Remove words from before then."""
        ...


class Upkeep:
    """Looks after one household's waiting questions and pending actions, on the wall clock.

    Args:
        keep_texts: Age up to which what people said is kept.
        purges: What else keeps words that people said.
    """

    def __init__(
        self,
        store: Store,
        household: str,
        *,
        speaker: Speaker,
        clock: Clock,
        keep_texts: timedelta,
        purges: Sequence[Purge] = (),
    ) -> None:
        self._store = store
        self._household = household
        self._speaker = speaker
        self._clock = clock
        self._keep_texts = keep_texts
        self._purges = purges
        self._next_purge = clock.now()
        self._jumps = ForwardJumps()

    async def run(self, every: timedelta) -> None:
        """Do what is due, again and again, until cancelled.

        Args:
            every: Wait in between, > 0.
        """
        await repeat(self.run_once, every, name=_NAME)

    async def run_once(self) -> int:
        """Do what is due by now; returns how many questions were asked aloud."""
        now = self._clock.now()
        questions, is_expiring = await self._store.read(lambda conn: self._due(conn, now))
        if is_expiring:
            await self._store.write(lambda conn: proposals.expire_due(conn, self._household, now))
        asked = sum([await self._ask(row_id, now) for row_id in questions])
        is_early = is_held_until(self._next_purge, now, _BETWEEN_PURGES)
        if not self._jumps.is_recent(now) and not is_early:
            await self._purge(now)
        return asked

    async def _purge(self, now: datetime) -> None:
        purged = await self._store.write(lambda conn: self._purge_all(conn, now))
        if purged:
            log.info("observer.texts.purged", messages=purged)
        # Also where no message lost its text now: other words may have gone, or the log was in use last time.
        try:
            await asyncio.to_thread(self._store.fold_log)
        except UnavailableError:
            log.info("observer.log.in_use")  # by a reader: the next round purges and tries again
        else:
            self._next_purge = now + _BETWEEN_PURGES

    def _purge_all(self, conn: Connection, now: datetime) -> int:
        purged = purge_old_words(conn, self._household, now=now, keep=self._keep_texts)
        before = now - self._keep_texts
        return purged + sum(purge(conn, self._household, before=before) for purge in self._purges)

    def _due(self, conn: Connection, now: datetime) -> tuple[Sequence[str], bool]:
        questions = [row.id for row in due_questions(conn, self._household, now=now)]
        expiry = action_rows.next_expiry(conn, self._household)
        return questions, expiry is not None and expiry <= now

    async def _ask(self, row_id: str, now: datetime) -> bool:
        try:
            return await self._store.write(lambda conn: self._ask_if_due(conn, row_id, now))
        except UnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - one bad row must not keep all other questions waiting
            count_failure(_NAME, error, row=row_id)
            await self._store.write(
                lambda conn: repository.cancel_deferred(
                    conn, self._household, row_id, reason="failed"
                )
            )
            return False

    def _ask_if_due(self, conn: Connection, row_id: str, now: datetime) -> bool:
        rows = due_questions(conn, self._household, now=now)
        row = next((each for each in rows if each.id == row_id), None)
        return row is not None and self._speaker.ask_late(conn, row, now=now) is not None


def due_questions(conn: Connection, household: str, *, now: datetime) -> Sequence[Row[Any]]:
    """Return the messages whose question is to be asked by now, the earliest first.

    A chat in which messages still wait to be understood is left out: one of them may be the answer.
    """
    table, waiting = observer_messages, observer_messages.alias("waiting")
    answer_may_wait = exists().where(
        waiting.c.household == table.c.household,
        waiting.c.chat_id == table.c.chat_id,
        waiting.c.state.in_([WorkState.QUEUED.value, WorkState.RUNNING.value]),
        waiting.c.due_at <= now,
    )
    return conn.execute(
        select(table)
        .where(
            table.c.household == household,
            table.c.speak_at.is_not(None),
            table.c.speak_at <= now,
            ~answer_may_wait,
        )
        .order_by(table.c.speak_at, table.c.id)
    ).all()
