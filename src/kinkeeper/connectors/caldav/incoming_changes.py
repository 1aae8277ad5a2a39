"""What the server has that was not dealt with yet: agreed to, left out, or asked about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from kinkeeper.calendar.import_limit import ImportLimit
from kinkeeper.connectors.caldav.difference_cards import Asking, Difference
from kinkeeper.connectors.caldav.difference_decisions import settle_asked
from kinkeeper.connectors.caldav.model import Version
from kinkeeper.connectors.caldav.sync_records import (
    NEVER,
    ObjectRow,
    ObjectState,
    change_object,
    forget_objects,
    list_objects,
)
from kinkeeper.connectors.caldav.sync_rules import Verdict, decide
from kinkeeper.connectors.caldav.things import Thing, Things
from kinkeeper.core.errors import InputError

_BUSY = frozenset({ObjectState.ASKED, ObjectState.CREATING})
_LEFT_OUT = "It is left out here."
_OVER = "over or cancelled; left out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What an object of the server stands for.

    Attributes:
        etag: Of the version that was read.
        things: Its kind; None where it is of none that is kept here.
        theirs: The thing; None where nothing can be made of it.
        problem: Why nothing can.
        rows: How many rows of occurrences it takes.
    """

    etag: str
    things: Things | None = None
    theirs: Thing | None = None
    problem: str | None = None
    rows: int = 1


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

    def read(self, versions: Mapping[str, Version], now: datetime) -> Mapping[str, Found]:
        """Return what objects of the server stand for, by path; too much of it is left out. Takes CPU time.

        Args:
            versions: As fetched.
            now: Aware.
        """
        limit = ImportLimit(now, outcome=_LEFT_OUT)
        return {path: self._read(version, limit) for path, version in versions.items()}

    def _read(self, version: Version, limit: ImportLimit) -> Found:
        for kind in self.kinds:
            if f"BEGIN:{kind.component}".encode() in version.data.upper():
                break
        else:
            return Found(etag=version.etag)
        try:
            limit.check(kind.noun)
            thing = kind.read(version.data)
            rows = kind.count(thing, limit)
        except InputError as error:
            return Found(etag=version.etag, things=kind, problem=str(error))
        return Found(etag=version.etag, things=kind, theirs=thing, rows=rows)

    def take_in(
        self, conn: Connection, paths: Iterable[str], found: Mapping[str, Found], now: datetime
    ) -> int:
        """Deal with objects as they stand on the server; returns how many actions were proposed.

        Args:
            conn: Open connection, in a write transaction.
            paths: Of what was looked into.
            found: What was found; the others are gone.
            now: Aware.
        """
        rows = {row.path: row for row in list_objects(conn, self.household)}
        ours = self._ours(conn)
        differences = []
        for path in paths:
            there, row = found.get(path), rows.get(path)
            if row is None or row.state in _BUSY:
                continue
            row = replace(row, etag=None if there is None else there.etag)
            change_object(conn, self.household, path, etag=row.etag)
            both = self._look_into(conn, row, there, ours)
            difference = None if both is None else self._deal_with(conn, both, now)
            differences += [] if difference is None else [difference]
        return self.asking.ask(conn, differences, now)

    def _ours(self, conn: Connection) -> dict[str, Thing]:
        loaded = [thing for kind in self.kinds for thing in kind.load(conn).values()]
        return {thing.foreign_id: thing for thing in loaded} | {thing.id: thing for thing in loaded}

    def _look_into(
        self, conn: Connection, row: ObjectRow, there: Found | None, ours: Mapping[str, Thing]
    ) -> Difference | None:
        """Return both sides of an object; None where nothing can be made of it."""
        things = self._kind_of(row) if there is None else there.things
        if things is None:
            self._note(
                conn, row, {"state": ObjectState.APART.value, "note": "nothing to keep here"}
            )
            return None
        if there is not None and there.problem is not None:
            note = {
                "state": ObjectState.APART.value, "note": there.problem, "kind": things.component,
            }  # fmt: skip
            self._note(conn, row, note)
            return None
        theirs = None if there is None else there.theirs
        mine = ours.get(row.local_id or (None if theirs is None else theirs.id) or "")
        if theirs is not None and mine is not None:
            theirs = theirs.completed(mine)
        return Difference(
            row=row, verdict=Verdict.AGREE, things=things, theirs=theirs, ours=mine,
            rows=1 if there is None else there.rows,
        )  # fmt: skip

    def _kind_of(self, row: ObjectRow) -> Things | None:
        """Return of which kind an object was that is gone."""
        return next((kind for kind in self.kinds if row.kind in {kind.component, ""}), None)

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
