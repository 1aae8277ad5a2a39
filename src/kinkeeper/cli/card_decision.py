"""A person's decision from the command line: the press, its receipt, and whether it did what was asked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection

from kinkeeper.actions import approvals, retries
from kinkeeper.actions import reversal as undoing
from kinkeeper.actions.authority import PressDetails
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.repository import find_action
from kinkeeper.actions.reversal import restore
from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.terminal import answer, answer_json
from kinkeeper.core.time import SystemClock
from kinkeeper.household.viewers import Viewer

_HOLDS = frozenset({Outcome.DONE, Outcome.ALREADY_DONE, Outcome.UNDER_WAY})


class Decision(Protocol):
    """What a person does with an action."""

    def press(self, conn: Connection, action_id: str, person: PressDetails) -> Receipt:
        """Do it, in the caller's write transaction."""
        ...

    def holds(self, receipt: Receipt) -> bool:
        """Whether the action now stands as the person wanted it."""
        ...


class Confirm:
    """A yes."""

    def press(self, conn: Connection, action_id: str, person: PressDetails) -> Receipt:
        """Do it, in the caller's write transaction."""
        return approvals.confirm(conn, action_id, **person)

    def holds(self, receipt: Receipt) -> bool:
        """Whether it is done or under way, now or before."""
        return receipt.outcome in _HOLDS


@dataclass(frozen=True, slots=True)
class Resolve:
    """One of the action's buttons."""

    choice: str

    def press(self, conn: Connection, action_id: str, person: PressDetails) -> Receipt:
        """Do it, in the caller's write transaction."""
        return approvals.resolve(conn, action_id, self.choice, **person)

    def holds(self, receipt: Receipt) -> bool:
        """Whether that very choice is done or under way, now or before."""
        chosen = (receipt.action.choice or "").casefold()
        is_done = receipt.outcome in _HOLDS
        return is_done and chosen == self.choice.strip().casefold()


class Reject:
    """A no."""

    def press(self, conn: Connection, action_id: str, person: PressDetails) -> Receipt:
        """Do it, in the caller's write transaction."""
        return approvals.reject(conn, action_id, **person)

    def holds(self, receipt: Receipt) -> bool:
        """Whether it is rejected, now or before."""
        return receipt.outcome is Outcome.REJECTED


class Again:
    """Another try of what failed."""

    def press(self, conn: Connection, action_id: str, person: PressDetails) -> Receipt:
        """Ask about it once more, in the caller's write transaction."""
        return retries.try_again(conn, action_id, **person)

    def holds(self, receipt: Receipt) -> bool:
        """Whether it awaits a yes, or got one since."""
        return receipt.outcome is Outcome.ASKED or receipt.outcome in _HOLDS


class Restore:
    """Bringing back what expired."""

    def press(self, conn: Connection, action_id: str, person: PressDetails) -> Receipt:
        """Let it wait again, in the caller's write transaction."""
        return restore(conn, action_id, **person)

    def holds(self, receipt: Receipt) -> bool:
        """Whether it waits again, or was confirmed since."""
        return receipt.outcome in {Outcome.RESTORED, Outcome.ASKED} or receipt.outcome in _HOLDS


class Undo:
    """Taking back what was done."""

    def press(self, conn: Connection, action_id: str, person: PressDetails) -> Receipt:
        """Do it, in the caller's write transaction."""
        return undoing.undo(conn, action_id, **person)

    def holds(self, receipt: Receipt) -> bool:
        """Whether it is taken back, now or before."""
        return receipt.outcome in {Outcome.UNDONE, Outcome.ALREADY_UNDONE}


def decide(
    where: Where, action: str, decision: Decision, *, named: str | None, json_: bool
) -> bool:
    """Carry out a decision and tell what became of it.

    Args:
        action: Id, or its beginning.
        named: Who decides; the owner where None.
        json_: Answer in JSON.

    Returns:
        Whether the action now stands as the person wanted it.

    Raises:
        NotFoundError: There is no such action.
        InputError: The beginning fits several, or there is no such choice or member.
    """
    with opened(where) as system:
        member = acting(system.household, named)
        person = PressDetails(member=member, household=system.household, now=SystemClock().now())
        receipt = system.store.write_now(_work(action, decision, person))
    if json_:
        answer_json(
            {
                "outcome": receipt.outcome.value,
                "message": receipt.message,
                "changed": receipt.is_change,
                "choices": list(receipt.choices),
                "action": action_record(receipt.action),
            }
        )
    else:
        answer(receipt.message)
    return decision.holds(receipt)


def _work(action: str, decision: Decision, person: PressDetails) -> Callable[[Connection], Receipt]:
    def work(conn: Connection) -> Receipt:
        viewer = Viewer.of(person["household"].id, person["member"].id)
        found = find_action(conn, viewer, action)
        return decision.press(conn, found.id, person)

    return work
