"""Takes back a whole import: its steps one by one, the last one first, each in a short transaction of its own."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from kinkeeper.actions.calendar_import import SOURCE
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.repository import done_of_source, sources_beginning
from kinkeeper.actions.undo import undo
from kinkeeper.core.errors import InputError
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store

_HOLDS = frozenset({Outcome.UNDONE, Outcome.ALREADY_UNDONE})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportStep:
    """A step of an import that can be taken back.

    Attributes:
        action_id: Of the action that wrote it.
        member: In whose name it is taken back: nobody else may read it, or they ask for it.
    """

    action_id: str
    member: Member


@dataclass(slots=True, kw_only=True)
class UndoneImport:
    """What became of taking back an import.

    Attributes:
        undone: How many steps were taken back.
        left: Why others were not.
    """

    undone: int = 0
    left: list[str] = field(default_factory=list)

    def note(self, receipt: Receipt) -> None:
        """Take in what became of a step."""
        if receipt.outcome in _HOLDS:
            self.undone += 1
        else:
            self.left.append(f"{receipt.action.proposal.summary}: {receipt.message}")

    @property
    def message(self) -> str:
        """What is told of it, in a line for each step that was left."""
        if not self.undone and not self.left:
            return "This import has already been undone."
        all_ = self.undone + len(self.left)
        begun = (
            f"The import has been undone ({_steps(all_)})."
            if not self.left
            else f"{self.undone} of {_steps(all_)} of the import have been undone."
        )
        return "\n".join([begun, *self.left])


def _steps(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"


def find_import(conn: Connection, household: Household, beginning: str) -> str | None:
    """Return the id of the import whose id begins like this; None where there is none.

    Args:
        conn: Open connection.
        household: Tenant.
        beginning: At least eight characters.

    Raises:
        InputError: Several begin so.
    """
    if len(beginning.strip()) < _FEWEST_CHARACTERS:
        return None
    found = sources_beginning(conn, household.id, SOURCE, beginning.strip())
    if len(found) > 1:
        raise InputError(f"{beginning!r} matches several imports; give more of it")
    return found[0] if found else None


_FEWEST_CHARACTERS = 8


def steps_to_undo(
    conn: Connection, household: Household, import_id: str, by: Iterable[Member]
) -> list[ImportStep]:
    """Return the steps of an import that stand, the last one first.

    Args:
        conn: Open connection.
        household: Theirs.
        import_id: Full id.
        by: Who takes it back: each step in the name of the first who may read it.
    """
    found: dict[str, tuple[int, ImportStep]] = {}
    for member in by:
        viewer = Viewer.of(household.id, member.id)
        for action_id, slot in done_of_source(conn, viewer, SOURCE, import_id):
            number = int(slot.split()[0])
            found.setdefault(action_id, (number, ImportStep(action_id=action_id, member=member)))
    return [step for _, step in sorted(found.values(), key=lambda each: each[0], reverse=True)]


async def undo_import(
    store: Store, household: Household, import_id: str, *, by: Member, now: datetime
) -> UndoneImport:
    """Take back an import as far as a person may see it, in several transactions; what has changed since stays as it is.

    Args:
        store: Of the household.
        household: Theirs.
        import_id: Full id.
        by: Who takes it back.
        now: Aware.
    """
    steps = await store.read(lambda conn: steps_to_undo(conn, household, import_id, [by]))
    done = UndoneImport()
    for step in steps:
        done.note(await store.write(partial(undo_step, step=step, household=household, now=now)))
    return done


def undo_step(
    conn: Connection, step: ImportStep, *, household: Household, now: datetime
) -> Receipt:
    """Take back a step, in the caller's write transaction; what has changed since stays as it is.

    Args:
        conn: In a write transaction.
        step: From `steps_to_undo`.
        household: Theirs.
        now: Aware.
    """
    return undo(conn, step.action_id, member=step.member, household=household, now=now)
