"""Group talk read by a model as durable work: a stretch of a chat in one call, outside any transaction.

What comes of it is written in one transaction with the end of the work, so that a stretch has its effects once. Without
an answer the other readers' decisions stand as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection

from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.repository import open_actions
from kinkeeper.core.beside import read_beside
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Job
from kinkeeper.jobs.leases import Key, LeaseLostError
from kinkeeper.memory.statements.secrecy import secrecy_of
from kinkeeper.messaging import inbox
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer import stretches
from kinkeeper.observer.extraction_json import extraction_from_record
from kinkeeper.observer.group_reader import BatchRead, GroupReader, batch_of, events_ahead
from kinkeeper.observer.settling.message_reader import Understanding
from kinkeeper.observer.settling.talk_effects import ReadThing, TalkEffects
from kinkeeper.observer.tables import talk_stretches
from kinkeeper.reading.batch import WINDOW, Batch, Heard, Thing
from kinkeeper.reading.batch_grounding import Found
from kinkeeper.store.store import Store

_LEASE: Final = timedelta(minutes=5)
_SAME_TALK: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stretch:
    """What is shown to the model, and the rows behind it."""

    said: Sequence[StoredMessage]
    new: int
    things: Sequence[Thing]
    events: Sequence[Thing]


class TalkReadingJob:
    """Reads the stretches of one household.

    Args:
        store: Its database.
        household: As its file has it.
        reader: Asks the model.
        understanding: Reads a message with what surrounds it.
        effects: Makes cards of what was read.
        clock: Tells when something is written.
    """

    def __init__(
        self,
        store: Store,
        household: Household,
        *,
        reader: GroupReader,
        understanding: Understanding,
        effects: TalkEffects,
        clock: Clock,
    ) -> None:
        self._store = store
        self._household = household
        self._reader = reader
        self._understanding = understanding
        self._effects = effects
        self._clock = clock

    def as_job(self) -> Job:
        """Return the kind of work."""
        return Job(
            name=stretches.TOPIC, table=talk_stretches, handler=self.handle, lease=_LEASE,
            household=self._household.id, line=stretches.first_in_chat,
        )  # fmt: skip

    async def handle(self, key: Key, epoch: int) -> None:
        """Read the stretch of a claimed row.

        Raises:
            LeaseLostError: Another worker took the row meanwhile; nothing was written.
            NotFoundError: There is no such stretch in this household.
        """
        stretch = await self._store.read(lambda conn: self._load(conn, key))
        read: BatchRead | None = None
        things: list[ReadThing] = []
        if stretch.new:
            read = await self._reader.read(await self._batch(stretch), self._household.id)
            things = [await self._thing(each, stretch, read) for each in _found(read)]

        def write(conn: Connection) -> None:
            if not leases.hold(conn, talk_stretches, key, epoch):
                raise LeaseLostError(f"the claim {epoch} on stretch {key[1]!r} is no longer valid")
            now = self._clock.now()
            kept: list[Mapping[str, Any]] = [
                self._effects.apply(conn, each, number, now=now)
                for number, each in enumerate(things)
            ]
            if read is not None:
                stretches.record(
                    conn, key, outcome=read.outcome.value, engine=read.engine, effects=kept
                )
            leases.finish(conn, talk_stretches, key, epoch)

        await self._store.write(write)

    def _load(self, conn: Connection, key: Key) -> _Stretch:
        household, first = key
        row = stretches.find(conn, key)
        last = inbox.load(conn, household, int(row.last)) if row is not None else None
        if household != self._household.id or row is None or last is None:
            raise NotFoundError(f"household {self._household.id!r} has no stretch {first!r}")
        before = inbox.said_before(conn, household, last, within=_SAME_TALK, limit=WINDOW - 1)
        said = [each for each in (*before, last) if each.message.text]
        said = inbox.as_edited(conn, household, said)
        viewer, now = Viewer.of(household), self._clock.now()
        waiting = open_actions(conn, viewer, now=now)
        return _Stretch(
            said=said, new=sum(each.id >= int(first) for each in said),
            things=[
                _shown(each, self._household)
                for each in waiting
                if each.proposal.chat_id == row.chat_id and each.proposal.extraction
            ],
            events=events_ahead(conn, viewer, self._household, last.message.sent_at),
        )  # fmt: skip

    async def _batch(self, stretch: _Stretch) -> Batch:
        heard = [await self._heard(each) for each in stretch.said]
        return batch_of(
            self._household, heard, stretch.new, arrangements=stretch.things, events=stretch.events
        )

    async def _heard(self, stored: StoredMessage) -> Heard:
        message, household = stored.message, self._household
        member = household.member(message.sender) if stored.is_member else None
        wish = await read_beside(
            message.text, lambda: secrecy_of(message.text, household, message.sender, is_group=True)
        )
        return Heard(
            speaker=member.name if member else message.sender, text=message.text,
            sent_at=message.sent_at.astimezone(household.zone),
            is_secret=wish is not None and wish.scope != HOUSEHOLD_SCOPE,
        )  # fmt: skip

    async def _thing(self, found: Found, stretch: _Stretch, read: BatchRead) -> ReadThing:
        """Return one thing that was read, with its message as the other readers read it."""
        stored = stretch.said[found.message]
        loaded = await self._store.read(lambda conn: self._understanding.load(conn, str(stored.id)))
        loaded = replace(loaded, stored=stored)
        prepared = await self._understanding.prepare(loaded)
        answered = None if found.answers is None else str(stretch.said[found.answers].id)
        reading = self._understanding.read(stored.message.text, prepared.sent_at)
        return ReadThing(
            found=found, prepared=prepared, reading=reading, answered=answered, engine=read.engine
        )


def _found(read: BatchRead) -> Sequence[Found]:
    return read.grounded.found if read.grounded else ()


def _shown(action: PendingAction, household: Household) -> Thing:
    """Return a card as a thing that is open."""
    said = extraction_from_record(action.proposal.extraction)
    at = None
    if said.dates:
        day = said.dates[0]
        at = datetime.combine(day, said.times[0], household.zone) if said.times else day
    return Thing(
        key=action.id, title=action.proposal.summary, at=at,
        who=tuple(household.names[each] for each in said.child if each in household.names),
        by=tuple(household.names[each] for each in said.owners if each in household.names),
    )  # fmt: skip
