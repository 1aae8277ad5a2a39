"""Goes through both sides of a household's calendar, again and again, and writes what the server lacks."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import structlog
from sqlalchemy import Connection

from kinkeeper.connectors.caldav import sync_records
from kinkeeper.connectors.caldav.client import CalDavClient
from kinkeeper.connectors.caldav.incoming_changes import Asking, Incoming
from kinkeeper.connectors.caldav.kinds import Thing, Things
from kinkeeper.connectors.caldav.sync_records import (
    NEVER,
    ObjectRow,
    ObjectState,
    change_object,
    forget_objects,
    put_object,
)
from kinkeeper.connectors.caldav.wire import Collection
from kinkeeper.core.errors import ConflictError, InputError, KinkeeperError, UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.observability.failures import repeat
from kinkeeper.store.store import Store

# What of ours has not reached the server: found by comparison, so that nothing waits in memory
# alone.

_WRITABLE = frozenset({ObjectState.SYNCED, ObjectState.REFUSED})
_TAKEN_ELSEWHERE = "the server already has it under another name, or rejects the name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Something of ours that the server does not have as it is.

    Attributes:
        row: What is known of that place, if anything.
        thing: As it is to be there; None where it is to be removed.
    """

    path: str
    row: ObjectRow | None
    things: Things
    thing: Thing | None

    @property
    def is_new(self) -> bool:
        """Whether nothing may stand there yet."""
        row = self.row
        return row is None or row.state is ObjectState.CREATING or row.etag is None


def find_due(
    rows: Sequence[ObjectRow],
    kinds: Sequence[tuple[Things, Mapping[str, Thing]]],
    *,
    folder: str,
    now: datetime,
) -> list[Due]:
    """Return what is to be written to the server.

    Args:
        kinds: All of ours by id, of each kind that the server takes.
        folder: Path of the collection, with a slash at its end.
    """
    by_id = {row.local_id: row for row in rows if row.local_id is not None}
    due = []
    for things, ours in kinds:
        for name, thing in ours.items():
            row = by_id.get(name)
            if _is_due(row, thing, now):
                path = f"{folder}{name}.ics" if row is None else row.path
                due.append(Due(path=path, row=row, things=things, thing=thing))
        for row in rows:
            is_lost = row.local_id is not None and row.local_id not in ours
            if is_lost and row.kind == things.component and row.state is ObjectState.SYNCED:
                due.append(Due(path=row.path, row=row, things=things, thing=None))
    return due


def _is_due(row: ObjectRow | None, thing: Thing, now: datetime) -> bool:
    if row is None:
        return not thing.is_cancelled and not thing.is_over(now)
    if row.state is ObjectState.CREATING:
        return True
    if row.state not in _WRITABLE or row.etag != row.handled:
        return False
    return thing.fingerprint() != row.pushed


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """Writes what is due to one household's calendar.

    Attributes:
        client: Speaks with the server.
    """

    household: str
    store: Store
    client: CalDavClient
    url: str

    async def write(self, due: Sequence[Due]) -> int:
        """Write all of it, each in exactly the state that was seen; returns how much was written.

        Raises:
            DeniedError: The server does not let us in.
            UnavailableError: The server cannot be reached now; what is left is found again.
        """
        await self._intend([each for each in due if each.is_new])
        return sum([await self._write_one(each) for each in due])

    async def _intend(self, due: Sequence[Due]) -> None:
        """Note what is about to be put there, so that it is known again after a crash."""
        if not due:
            return

        def note(conn: Any) -> None:
            for each in due:
                if each.thing is None or (each.row and each.row.state is ObjectState.CREATING):
                    continue
                row = ObjectRow(
                    path=each.path,
                    kind=each.things.component,
                    local_id=each.thing.id,
                    state=ObjectState.CREATING,
                    trying=each.thing.shared(),
                )
                put_object(conn, self.household, row)

        await self.store.write(note)

    async def _write_one(self, due: Due) -> int:
        try:
            if due.thing is None:
                return await self._remove(due)
            if due.is_new:
                etag = await self._create(due, due.thing)
            elif due.row is not None and due.thing.shared() == due.row.agreed:
                return await self._note(due.path, pushed=due.thing.fingerprint())
            else:
                etag = await self._replace(due, due.thing)
        except ConflictError:
            await self._meet(due)
            return 0
        except InputError as error:
            fingerprint = NEVER if due.thing is None else due.thing.fingerprint()
            state = ObjectState.REFUSED.value
            await self._note(due.path, state=state, note=str(error), pushed=fingerprint)
            return 0
        return await self._written(due, due.thing, etag)

    async def _create(self, due: Due, thing: Thing) -> str | None:
        """Put it where nothing stands, unless an earlier try, in other words perhaps, arrived after all."""
        if due.row is not None and due.row.state is ObjectState.CREATING:
            if await self.client.fetch(self.url, [due.path]):
                raise ConflictError("it is already there")
            await self._note(due.path, trying=thing.shared())
        data = due.things.write(thing, over=None)
        return await self.client.create(self.url, due.path, data)

    async def _replace(self, due: Due, thing: Thing) -> str | None:
        """Write over the version that was dealt with, keeping what is theirs alone."""
        known = (await self.client.fetch(self.url, [due.path])).get(due.path)
        if due.row is None or known is None or known.etag != due.row.handled:
            raise ConflictError("the calendar server has a different version")
        data = due.things.write(thing, over=known.data)
        await self._note(due.path, trying=thing.shared())
        return await self.client.replace(self.url, due.path, data, etag=known.etag)

    async def _written(self, due: Due, thing: Thing, etag: str | None) -> int:
        if etag is None:
            stands = (await self.client.fetch(self.url, [due.path])).get(due.path)
            etag = None if stands is None else stands.etag
        await self._note(
            due.path,
            state=ObjectState.SYNCED.value,
            etag=etag,
            handled=etag,
            agreed=thing.shared(),
            pushed=thing.fingerprint(),
            trying=NEVER,
            note=None,
        )
        return 1

    async def _remove(self, due: Due) -> int:
        """Remove what we put there and what is here no more; what others put there stays."""
        row = due.row
        if row is None or not row.path.endswith(f"/{row.local_id}.ics"):
            note = "undone here; it stays in the server's calendar"
            return await self._note(
                due.path, state=ObjectState.APART.value, note=note, local_id=None
            )
        await self.client.remove(self.url, due.path, etag=row.etag or "")
        await self.store.write(lambda conn: forget_objects(conn, self.household, [due.path]))
        return 1

    async def _meet(self, due: Due) -> None:
        """Look at what stands in the way: our own, written before a crash, or another version."""
        stands = (await self.client.fetch(self.url, [due.path])).get(due.path)
        if stands is None and due.is_new:
            state, pushed = ObjectState.REFUSED.value, due.thing.fingerprint() if due.thing else ""
            await self._note(due.path, state=state, note=_TAKEN_ELSEWHERE, pushed=pushed)
            return
        etag = None if stands is None else stands.etag
        await self._note(due.path, state=ObjectState.SYNCED.value, etag=etag, handled=NEVER)

    async def _note(self, path: str, **values: object) -> int:
        await self.store.write(lambda conn: change_object(conn, self.household, path, **values))
        return 0


log = structlog.get_logger()

_CLAIM = timedelta(minutes=3)
_MOST_ROUNDS = 3
_PATHS_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What one going-through did.

    Attributes:
        written: Objects written to the server.
        waiting: Of ours that have not reached the server.
    """

    written: int = 0
    asked: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarSync:
    """Keeps one household's calendar in step.

    Attributes:
        kinds: What is kept in step.
        connect: Opens the server.
    """

    store: Store
    household: Household
    kinds: Sequence[Things]
    connect: Callable[[], CalDavClient]
    clock: Clock

    async def run(self, every: timedelta) -> None:
        """Go through both sides until cancelled; a server that is away is tried again the next time.

        Args:
            every: Wait in between, > 0.
        """
        await repeat(self.run_once, every, name="caldav", foreseen=KinkeeperError)

    async def run_once(self) -> Tally:
        """Go through both sides once.

        Raises:
            ConflictError: Another process is doing that.
            DeniedError: The server does not let us in.
            InputError: The address leads to no calendar, or to several.
        """
        now = self.clock.now()
        if not await self.store.write(
            lambda conn: sync_records.claim(conn, self.household.id, now=now, lasts=_CLAIM)
        ):
            raise ConflictError("another process is syncing the calendar; try again")
        failure: str | None = "it was interrupted"
        waiting: int | None = None
        try:
            async with self.connect() as client:
                tally = await self._through(client)
        except KinkeeperError as error:
            failure, waiting = str(error), len(await self._due())
            raise
        else:
            failure, waiting = None, tally.waiting
            return tally
        finally:
            ended = self.clock.now()
            await asyncio.shield(
                self.store.write(
                    lambda conn: sync_records.settle(
                        conn, self.household.id, now=ended, failure=failure, waiting=waiting
                    )
                )
            )

    async def _through(self, client: CalDavClient) -> Tally:
        collection = await client.find_calendar()
        await self.store.write(
            lambda conn: sync_records.turn_to(
                conn, self.household.id, url=collection.url, name=collection.name or "your calendar"
            )
        )
        written = asked = 0
        for _ in range(_MOST_ROUNDS):
            asked += await self._take_in(client, collection)
            due = await self._due(collection)
            outgoing = Outgoing(
                household=self.household.id, store=self.store, client=client, url=collection.url
            )
            done = await outgoing.write(due)
            written += done
            if done == len(due):
                break
        left = await self._due(collection)
        return Tally(written=written, asked=asked, waiting=len(left))

    async def _take_in(self, client: CalDavClient, collection: Collection) -> int:
        row = await self.store.read(
            lambda conn: sync_records.find_calendar(conn, self.household.id)
        )
        if row is None:
            raise UnavailableError("the calendar's sync state is missing; try again")
        delta = await client.changes(collection.url, row.mark)
        now = self.clock.now()
        incoming = Incoming(
            household=self.household.id,
            kinds=self.kinds,
            asking=Asking(household=self.household, calendar=row.name),
        )

        def note(conn: Connection) -> list[str]:
            sync_records.note_delta(conn, self.household.id, delta)
            return incoming.open_paths(conn, now)

        paths = await self.store.write(note)
        if not paths:
            return 0
        versions = await client.fetch(collection.url, paths)
        found = await asyncio.to_thread(incoming.read, versions, now)
        asked = 0
        # Some at a time, so that others write in between; what is dealt with is not looked into again.
        for at in range(0, len(paths), _PATHS_AT_ONCE):
            some = paths[at : at + _PATHS_AT_ONCE]
            asked += await self.store.write(
                partial(incoming.take_in, paths=some, found=found, now=now)
            )
        return asked

    async def _due(self, collection: Collection | None = None) -> list[Due]:
        """Return what of ours has not reached the server; without a collection by what was known last."""
        now = self.clock.now()

        def find(conn: Connection) -> list[Due]:
            row = sync_records.find_calendar(conn, self.household.id)
            known = row.url if row is not None else ""
            url = collection.url if collection is not None else known
            kinds = [
                (kind, kind.load(conn))
                for kind in self.kinds
                if collection is None or collection.takes(kind.component)
            ]
            rows = sync_records.list_objects(conn, self.household.id)
            return find_due(rows, kinds, folder=urlsplit(url).path, now=now)

        return await self.store.read(find)
