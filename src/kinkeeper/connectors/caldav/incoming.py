"""What the server has that was not dealt with yet: agreed to, left out, or asked about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from kinkeeper.connectors.caldav.asking import Asking, Difference
from kinkeeper.connectors.caldav.deciding import Verdict, decide
from kinkeeper.connectors.caldav.model import Version
from kinkeeper.connectors.caldav.records import (
    NEVER,
    ObjectRow,
    ObjectState,
    change_object,
    forget_objects,
    list_objects,
)
from kinkeeper.connectors.caldav.settling import settle_asked
from kinkeeper.connectors.caldav.things import Thing, Things
from kinkeeper.core.errors import InputError

_BUSY = frozenset({ObjectState.ASKED, ObjectState.CREATING})
_OVER = "over or cancelled; left out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """Takes in what one household's server has.

    Attributes:
        household: Tenant key.
        kinds: What is kept in step.
        asking: Asks people.
    """

    household: str
    kinds: Sequence[Things]
    asking: Asking

    def open_paths(self, conn: Connection, now: datetime) -> list[str]:
        """Settle what people decided, and return the objects that are to be looked into.

        Args:
            conn: Open connection, in a write transaction.
            now: Aware.
        """
        ours = self._ours(conn)
        settle_asked(conn, self.household, list_objects(conn, self.household), ours, now=now)
        rows = list_objects(conn, self.household)
        for row in rows:
            mine = ours.get(row.local_id or "")
            if row.state is ObjectState.UNDECIDED and mine and mine.fingerprint() != row.pushed:
                change_object(conn, self.household, row.path, handled=NEVER)
        return [
            row.path
            for row in list_objects(conn, self.household)
            if row.etag != row.handled and row.state not in _BUSY
        ]

    def take_in(
        self,
        conn: Connection,
        paths: Iterable[str],
        versions: Mapping[str, Version],
        now: datetime,
    ) -> int:
        """Deal with objects as they stand on the server; returns how many actions were proposed.

        Args:
            conn: Open connection, in a write transaction.
            paths: Of all that was looked into.
            versions: What was found; the others are gone.
            now: Aware.
        """
        rows = {row.path: row for row in list_objects(conn, self.household)}
        ours = self._ours(conn)
        differences = []
        for path in paths:
            version, row = versions.get(path), rows.get(path)
            if row is None or row.state in _BUSY:
                continue
            row = replace(row, etag=None if version is None else version.etag)
            change_object(conn, self.household, path, etag=row.etag)
            found = self._look_into(conn, row, version, ours)
            difference = None if found is None else self._deal_with(conn, found, now)
            differences += [] if difference is None else [difference]
        return self.asking.ask(conn, differences, now)

    def _ours(self, conn: Connection) -> dict[str, Thing]:
        return {name: thing for kind in self.kinds for name, thing in kind.load(conn).items()}

    def _look_into(
        self, conn: Connection, row: ObjectRow, version: Version | None, ours: Mapping[str, Thing]
    ) -> Difference | None:
        """Return both sides of an object; None where nothing can be made of it."""
        things = self._kind_of(row, version)
        if things is None:
            self._note(conn, row, {"state": ObjectState.APART.value, "note": "nothing kept here"})
            return None
        try:
            theirs = None if version is None else things.read(version.data)
        except InputError as error:
            note = {"state": ObjectState.APART.value, "note": str(error), "kind": things.component}
            self._note(conn, row, note)
            return None
        local_id = row.local_id or (None if theirs is None else theirs.id)
        mine = ours.get(local_id or "")
        if theirs is not None and mine is not None:
            theirs = theirs.completed(mine)
        return Difference(row=row, verdict=Verdict.AGREE, things=things, theirs=theirs, ours=mine)

    def _kind_of(self, row: ObjectRow, version: Version | None) -> Things | None:
        for kind in self.kinds:
            begin = f"BEGIN:{kind.component}".encode()
            if (version is None and row.kind in {kind.component, ""}) or (
                version is not None and begin in version.data.upper()
            ):
                return kind
        return None

    def _deal_with(self, conn: Connection, found: Difference, now: datetime) -> Difference | None:
        """Note what needs no question; return what needs one."""
        row, theirs, ours = found.row, found.theirs, found.ours
        verdict = decide(row, theirs, ours, now=now)
        match verdict:
            case Verdict.FORGET:
                forget_objects(conn, self.household, [row.path])
            case Verdict.LEAVE_OUT:
                self._note(conn, row, {"state": ObjectState.APART.value, "note": _OVER})
            case Verdict.AGREE | Verdict.WRITE if theirs is not None and ours is not None:
                is_equal = verdict is Verdict.AGREE
                pushed = ours.fingerprint() if is_equal else NEVER
                settled = {
                    "state": ObjectState.SYNCED.value, "local_id": ours.id,
                    "agreed": theirs.shared(), "pushed": pushed, "trying": NEVER,
                    "kind": found.things.component, "note": None,
                }  # fmt: skip
                self._note(conn, row, settled)
            case _:
                return replace(found, verdict=verdict)
        return None

    def _note(self, conn: Connection, row: ObjectRow, values: Mapping[str, Any]) -> None:
        change_object(conn, self.household, row.path, **{"handled": row.etag, **values})
