"""What the server has that was not dealt with: agreed to, left out, or asked about and then decided."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import ActionStatus, ActionType, Choice, PendingAction, Proposal
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.written_audience import kept_as_written
from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.connectors.caldav.kinds import Thing, Things, Verdict, decide
from kinkeeper.connectors.caldav.sync_records import (
    NEVER,
    ObjectRow,
    ObjectState,
    change_object,
    forget_objects,
    list_objects,
)
from kinkeeper.connectors.caldav.wire import Version
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE

# What the calendar server says differently becomes pending actions: a person decides, nothing is
# taken over by itself.

SOURCE = "CALDAV"
KEEP_OURS = "Keep ours"
_TAKE_THEIRS = "Use the calendar's version"
_CANCEL_HERE = "Cancel it here too"
_LONGEST = 140
_MOST_AT_ONCE, _MOST_ROWS = 200, 5000

_CLASHES = frozenset({Verdict.CLASH, Verdict.CLASH_GONE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """An object of the server about which a person is to be asked.

    Attributes:
        row: What is known of it.
        verdict: Why.
        theirs: What it stands for, completed by ours; None where it is gone.
        rows: How many rows of occurrences it takes.
    """

    row: ObjectRow
    verdict: Verdict
    things: Things
    theirs: Thing | None
    ours: Thing | None
    rows: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Asks the people of one household.

    Attributes:
        calendar: Its name on the server, for people.
    """

    household: Household
    calendar: str

    def ask(self, conn: Connection, differences: Sequence[Difference], now: datetime) -> int:
        """Propose what differs: one action each, and one for all that is new of a kind and for the same eyes.

        Args:
            differences: All that were found in one round.

        Returns:
            How many actions were proposed.
        """
        new: dict[tuple[str, str], list[Difference]] = {}
        asked = 0
        for each in differences:
            if each.verdict is Verdict.ASK_ADD:
                scope = HOUSEHOLD_SCOPE if each.theirs is None else each.theirs.scope
                new.setdefault((each.things.component, scope), []).append(each)
            else:
                asked += self._propose(conn, [each], self._of_one(each, now), now)
        for found in new.values():
            for batch in _batches(found):
                asked += self._propose(conn, batch, self._of_new(batch, now), now)
        return asked

    def _propose(
        self, conn: Connection, found: Sequence[Difference], proposal: Proposal, now: datetime
    ) -> int:
        kept = kept_as_written(conn, proposal, self.household, None, now=now)
        done = proposals.propose(conn, kept, household=self.household, now=now)
        for each in found:
            offered = "" if each.theirs is None else each.theirs.shared()
            local = each.ours or each.theirs
            change_object(
                conn,
                self.household.id,
                each.row.path,
                state=ObjectState.ASKED.value,
                handled=each.row.etag,
                offered=offered,
                action_id=done.action.id,
                local_id=None if local is None else local.id,
                kind=each.things.component,
                note=None,
            )
        return int(done.is_new)

    def _of_new(self, found: Sequence[Difference], now: datetime) -> Proposal:
        things = found[0].things
        effects = [effect for each in found if each.theirs for effect in things.to_add(each.theirs)]
        titles = ", ".join(each.theirs.title for each in found if each.theirs)
        noun = things.noun if len(found) == 1 else f"{things.noun}s"
        summary = f"Add {len(found)} {noun} from {self.calendar}: {titles}"
        return self._proposal(found, summary, now, kind=things.adding, effects=effects)

    def _of_one(self, each: Difference, now: datetime) -> Proposal:
        things, ours = each.things, each.ours
        if ours is None:
            return self._of_new([each], now)
        if each.theirs is None or each.theirs.is_cancelled:
            effects = things.to_cancel(ours)
            summary = f"Cancel {things.line(ours)} ({self._where('cancelled', each)})"
        else:
            effects = things.to_change(each.theirs, ours)
            summary = f"Change to {things.line(each.theirs)} ({self._where('changed', each)})"
        if each.verdict not in _CLASHES:
            return self._proposal([each], summary, now, kind=things.changing, effects=effects)
        label = _CANCEL_HERE if each.theirs is None else _TAKE_THEIRS
        ways = (
            Choice(
                label=label,
                effects=_frozen(effects),
                result=f"Changed to the version in {self.calendar}.",
            ),
            Choice(label=KEEP_OURS, effects=(), result="Kept the version here."),
        )
        return self._proposal([each], summary, now, kind=things.changing, choices=ways)

    def _where(self, verb: str, each: Difference) -> str:
        is_clash = each.verdict in _CLASHES
        return f"{verb} in {self.calendar}" + (", but also changed here" if is_clash else "")

    def _proposal(
        self,
        found: Sequence[Difference],
        summary: str,
        now: datetime,
        *,
        kind: ActionType,
        effects: Sequence[Effect] = (),
        choices: tuple[Choice, ...] = (),
    ) -> Proposal:
        seen = sorted(f"{each.row.path} {each.row.etag} {each.verdict}" for each in found)
        return Proposal(
            household=self.household.id,
            type=kind,
            source_type=SOURCE,
            source_id=stable_id(SOURCE, *seen, now.isoformat()),
            slot="0",
            chat_id=None,
            extraction={},
            extraction_confidence=1.0,
            summary=_short(summary),
            effects=_frozen(effects),
            choices=choices,
            request=_shown(found),
            merge_key=None,
            origin=Origin.IMPORTED,
        )


def _batches(found: Iterable[Difference]) -> Iterator[list[Difference]]:
    """Yield what one yes takes over: no more than is written in some tenths of a second."""
    batch: list[Difference] = []
    rows = 0
    for each in found:
        if batch and (len(batch) == _MOST_AT_ONCE or rows + each.rows > _MOST_ROWS):
            yield batch
            batch, rows = [], 0
        batch.append(each)
        rows += each.rows
    if batch:
        yield batch


def _shown(found: Sequence[Difference]) -> dict[str, Any]:
    """Return what a card shows besides the difference in the calendar, which it shows by itself."""
    things = found[0].things
    if things.changing.is_about_calendar:
        return {}
    before = [things.line(each.ours) for each in found if each.ours is not None]
    after = [things.line(each.theirs) for each in found if each.theirs is not None]
    lines = {"here now": "\n".join(before), "on the calendar server": "\n".join(after)}
    return {"shown": {name: text for name, text in lines.items() if text}}


def _frozen(effects: Sequence[Effect]) -> tuple[dict[str, object], ...]:
    return tuple(effect.frozen() for effect in effects)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip(' ,')}…"


# What people decided about the differences they were asked about.

_OPEN = frozenset({ActionStatus.PENDING, ActionStatus.CONFIRMED, ActionStatus.EXECUTING})
_DECIDED = frozenset({ActionStatus.DONE, ActionStatus.REJECTED})
_DECLINED = "declined: it stays on the server and is left out here"
_NEWER = "the calendar server has a newer version"


def settle_asked(
    conn: Connection,
    household: str,
    rows: Sequence[ObjectRow],
    ours: Mapping[str, Thing],
    *,
    now: datetime,
) -> None:
    """Take into account what became of the questions that were asked.

    A question about one object of which a newer version stands on the server is taken back.

    Args:
        ours: All of ours by id.
    """
    asked = [row for row in rows if row.state is ObjectState.ASKED]
    sharing = Counter(row.action_id for row in asked)
    for row in asked:
        action = _action_of(conn, household, row, now)
        mine = ours.get(row.local_id or "")
        if action is not None and action.status in _OPEN:
            is_alone = action.status is ActionStatus.PENDING and sharing[row.action_id] == 1
            if row.etag != row.handled and is_alone:
                proposals.withdraw(conn, action.id, household=household, now=now, by_source=_NEWER)
                change_object(conn, household, row.path, **_looked_at_again(mine))
            continue
        values = _outcome(row, action, mine)
        if values is None:
            forget_objects(conn, household, [row.path])
        else:
            change_object(conn, household, row.path, **values)


def _action_of(
    conn: Connection, household: str, row: ObjectRow, now: datetime
) -> PendingAction | None:
    try:
        action = load_action(conn, household, row.action_id or "")
    except NotFoundError:
        return None
    return proposals.expire_if_due(conn, action, now)


def _outcome(
    row: ObjectRow, action: PendingAction | None, ours: Thing | None
) -> dict[str, Any] | None:
    """Return what is noted of an object once its question is settled; None where it is to be forgotten."""
    if action is not None and action.status is ActionStatus.FAILED:
        return _looked_at_again(ours)
    if action is None or action.status not in _DECIDED:
        pushed = NEVER if ours is None else ours.fingerprint()
        return {"state": ObjectState.UNDECIDED.value, "pushed": pushed}
    is_yes = action.status is ActionStatus.DONE and action.choice != KEEP_OURS
    if is_yes and action.undone_at is None:
        return _taken(row, ours)
    if ours is None:
        return {"state": ObjectState.APART.value, "note": _DECLINED}
    # Ours holds: it is written over exactly the version that was declined.
    return {"state": ObjectState.SYNCED.value, "agreed": NEVER, "pushed": NEVER}


def _taken(row: ObjectRow, ours: Thing | None) -> dict[str, Any] | None:
    if ours is None:
        return _looked_at_again(ours)
    if row.handled is None and ours.is_cancelled:
        return None
    is_equal = ours.shared() == row.offered
    return {
        "state": ObjectState.SYNCED.value,
        "agreed": row.offered,
        "trying": NEVER,
        "pushed": ours.fingerprint() if is_equal else NEVER,
    }


def _looked_at_again(ours: Thing | None) -> dict[str, Any]:
    state = ObjectState.NEW if ours is None else ObjectState.SYNCED
    return {"state": state.value, "handled": NEVER}


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
        kinds: What is kept in step.
    """

    household: str
    kinds: Sequence[Things]
    asking: Asking

    def open_paths(self, conn: Connection, now: datetime) -> list[str]:
        """Settle what people decided, and return the objects that are to be looked into."""
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
        """Return what objects of the server stand for, by path; too much of it is left out. Takes CPU time."""
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
            paths: Of what was looked into.
            found: What was found; the others are gone.
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
                "state": ObjectState.APART.value,
                "note": there.problem,
                "kind": things.component,
            }
            self._note(conn, row, note)
            return None
        theirs = None if there is None else there.theirs
        mine = ours.get(row.local_id or (None if theirs is None else theirs.id) or "")
        if theirs is not None and mine is not None:
            theirs = theirs.completed(mine)
        return Difference(
            row=row,
            verdict=Verdict.AGREE,
            things=things,
            theirs=theirs,
            ours=mine,
            rows=1 if there is None else there.rows,
        )

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
                    "state": ObjectState.SYNCED.value,
                    "local_id": ours.id,
                    "agreed": theirs.shared(),
                    "pushed": pushed,
                    "trying": NEVER,
                    "kind": found.things.component,
                    "note": None,
                }
                self._note(conn, row, settled)
            case _:
                return replace(found, verdict=verdict)
        return None

    def _note(self, conn: Connection, row: ObjectRow, values: Mapping[str, Any]) -> None:
        change_object(conn, self.household, row.path, **{"handled": row.etag, **values})
