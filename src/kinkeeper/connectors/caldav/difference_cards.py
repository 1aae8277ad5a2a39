"""What the calendar server says differently becomes pending actions: a person decides, nothing is taken over by itself."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import ActionType, Choice, Proposal
from kinkeeper.connectors.caldav.sync_records import ObjectRow, ObjectState, change_object
from kinkeeper.connectors.caldav.sync_rules import Verdict
from kinkeeper.connectors.caldav.things import Thing, Things
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE

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
        things: Its kind.
        theirs: What it stands for, completed by ours; None where it is gone.
        ours: Of ours, where there is one.
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
        household: Theirs.
        calendar: Its name on the server, for people.
    """

    household: Household
    calendar: str

    def ask(self, conn: Connection, differences: Sequence[Difference], now: datetime) -> int:
        """Propose what differs: one action each, and one for all that is new of a kind and for the same eyes.

        Args:
            conn: Open connection, in a write transaction.
            differences: All that were found in one round.
            now: Aware.

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
        done = proposals.propose(conn, proposal, household=self.household, now=now)
        for each in found:
            offered = "" if each.theirs is None else each.theirs.shared()
            local = each.ours or each.theirs
            change_object(
                conn, self.household.id, each.row.path, state=ObjectState.ASKED.value,
                handled=each.row.etag, offered=offered, action_id=done.action.id,
                local_id=None if local is None else local.id, kind=each.things.component,
                note=None,
            )  # fmt: skip
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
            household=self.household.id, type=kind, source_type=SOURCE,
            source_id=stable_id(SOURCE, *seen, now.isoformat()), slot="0", chat_id=None, extraction={},
            extraction_confidence=1.0, summary=_short(summary), effects=_frozen(effects),
            choices=choices, request=_shown(found), merge_key=None, origin=Origin.IMPORTED,
        )  # fmt: skip


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
