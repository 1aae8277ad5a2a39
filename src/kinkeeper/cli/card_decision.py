"""A person's decision from the command line, whether it did what was asked, and `kinkeeper undo`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import typer
from sqlalchemy import Connection

from kinkeeper.actions import approvals, retries, reversal
from kinkeeper.actions.authority import PressDetails
from kinkeeper.actions.calendar_import import UndoneImport, find_import, steps_to_undo, undo_step
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.repository import find_action
from kinkeeper.cli.located import AsOption, IdArgument, JsonOption, Where, located
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.terminal import Progress, answer, answer_json
from kinkeeper.core.time import SystemClock
from kinkeeper.household.viewers import Viewer

_HOLDS = frozenset({Outcome.DONE, Outcome.ALREADY_DONE, Outcome.UNDER_WAY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person does with an action.

    Attributes:
        press: Does it, in a write transaction, with `PressDetails` of the person.
        outcomes: Those with which the action stands as the person wanted it, now or before.
        choice: Label of the button that must have been chosen, if any.
    """

    press: Callable[..., Receipt]
    outcomes: frozenset[Outcome] = _HOLDS
    choice: str | None = None

    def holds(self, receipt: Receipt) -> bool:
        """Whether the action now stands as the person wanted it."""
        chosen = (receipt.action.choice or "").casefold()
        is_chosen = self.choice is None or chosen == self.choice.strip().casefold()
        return is_chosen and receipt.outcome in self.outcomes


CONFIRM = Decision(press=approvals.confirm)
REJECT = Decision(press=approvals.reject, outcomes=frozenset({Outcome.REJECTED}))
AGAIN = Decision(press=retries.try_again, outcomes=_HOLDS | {Outcome.ASKED})
RESTORE = Decision(press=reversal.restore, outcomes=_HOLDS | {Outcome.RESTORED, Outcome.ASKED})
UNDO = Decision(press=reversal.undo, outcomes=frozenset({Outcome.UNDONE, Outcome.ALREADY_UNDONE}))


def resolve(choice: str) -> Decision:
    """Return the press of one of the action's buttons."""

    def press(conn: Connection, action_id: str, **person: Any) -> Receipt:
        return approvals.resolve(conn, action_id, choice, **person)

    return Decision(press=press, choice=choice)


def decide(
    where: Where, action: str, decision: Decision, *, named: str | None, json_: bool
) -> None:
    """Carry out a decision and tell what became of it; exits with 1 where the action stands otherwise.

    Args:
        named: Who decides; the owner where None.

    Raises:
        InputError: The beginning fits several, or there is no such choice or member.
    """
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        member = acting(household, named)
        person = PressDetails(member=member, household=household, now=now)

        def work(conn: Connection) -> Receipt:
            found = find_action(conn, Viewer.of(household.id, member.id), action)
            return decision.press(conn, found.id, **person)

        receipt = system.store.write_now(work)
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
    if not decision.holds(receipt):
        raise typer.Exit(1)


app = typer.Typer()


@app.command()
@located
def undo(where: Where, id_: IdArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Undo a confirmed action, or a whole import."""
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        import_id = system.store.read_now(lambda conn: find_import(conn, household, id_))
        done = UndoneImport() if import_id else None
        if import_id and done:
            adults_first = sorted(household.members, key=lambda each: not each.is_adult)
            members = adults_first if as_ is None else [acting(household, as_)]
            steps = system.store.read_now(
                lambda conn: steps_to_undo(conn, household, import_id, members)
            )
            progress = Progress("steps undone", total=len(steps))
            for step in steps:
                work = partial(undo_step, step=step, household=household, now=now)
                done.note(system.store.write_now(work))
                progress.add(1)
    if done is None:
        decide(where, id_, UNDO, named=as_, json_=json_)
        return
    if json_:
        answer_json({"undone": done.undone, "left": done.left, "message": done.message})
    else:
        answer(done.message)
    if done.left:
        raise typer.Exit(1)
