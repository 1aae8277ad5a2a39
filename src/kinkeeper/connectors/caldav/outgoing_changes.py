"""What of ours has not reached the server: found by comparison, so that nothing waits in memory alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kinkeeper.connectors.caldav.client import CalDavClient
from kinkeeper.connectors.caldav.sync_records import (
    NEVER,
    ObjectRow,
    ObjectState,
    change_object,
    forget_objects,
    put_object,
)
from kinkeeper.connectors.caldav.things import Thing, Things
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.store.store import Store

_WRITABLE = frozenset({ObjectState.SYNCED, ObjectState.REFUSED})
_TAKEN_ELSEWHERE = "the server already has it under another name, or rejects the name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Something of ours that the server does not have as it is.

    Attributes:
        path: Where it goes.
        row: What is known of that place, if anything.
        things: Its kind.
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
        rows: Of all objects.
        kinds: All of ours by id, of each kind that the server takes.
        folder: Path of the collection, with a slash at its end.
        now: Aware.
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
        household: Tenant key.
        store: Its database.
        client: Speaks with the server.
        url: Of the collection.
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
                    path=each.path, kind=each.things.component, local_id=each.thing.id,
                    state=ObjectState.CREATING, trying=each.thing.shared(),
                )  # fmt: skip
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
            due.path, state=ObjectState.SYNCED.value, etag=etag, handled=etag,
            agreed=thing.shared(), pushed=thing.fingerprint(), trying=NEVER, note=None,
        )  # fmt: skip
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
