"""Goes through both sides of a household's calendar, again and again."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from urllib.parse import urlsplit

import structlog
from sqlalchemy import Connection

from kinkeeper.connectors.caldav import sync_records
from kinkeeper.connectors.caldav.client import CalDavClient
from kinkeeper.connectors.caldav.difference_cards import Asking
from kinkeeper.connectors.caldav.incoming_changes import Incoming
from kinkeeper.connectors.caldav.model import Collection
from kinkeeper.connectors.caldav.outgoing_changes import Due, Outgoing, find_due
from kinkeeper.connectors.caldav.things import Things
from kinkeeper.core.errors import ConflictError, KinkeeperError, UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.observability.repeat_loop import repeat
from kinkeeper.store.store import Store

log = structlog.get_logger()

_CLAIM = timedelta(minutes=3)
_MOST_ROUNDS = 3
_PATHS_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What one going-through did.

    Attributes:
        written: Objects written to the server.
        asked: Pending actions proposed.
        waiting: Of ours that have not reached the server.
    """

    written: int = 0
    asked: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarSync:
    """Keeps one household's calendar in step.

    Attributes:
        store: Its database.
        household: Theirs.
        kinds: What is kept in step.
        connect: Opens the server.
        clock: Tells the time.
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
        rest = partial(asyncio.sleep, every.total_seconds())
        await repeat(self.run_once, rest, name="caldav", foreseen=KinkeeperError)

    async def run_once(self) -> Tally:
        """Go through both sides once.

        Raises:
            ConflictError: Another process is doing that.
            DeniedError: The server does not let us in.
            InputError: The address leads to no calendar, or to several.
            UnavailableError: The server, or the database, cannot be reached now.
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
            household=self.household.id, kinds=self.kinds,
            asking=Asking(household=self.household, calendar=row.name),
        )  # fmt: skip

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
