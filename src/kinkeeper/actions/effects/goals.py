"""Effects on goals; every one is journaled there, and can be taken back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import PlainSerializer, PlainValidator
from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect, Execution, Touched
from kinkeeper.core.errors import InputError
from kinkeeper.goals import repository
from kinkeeper.goals.model import Goal, GoalStatus
from kinkeeper.household.viewers import person_scope


def _goal(value: Any) -> Goal:
    if isinstance(value, Goal):
        return value
    if not isinstance(value, Mapping):
        raise ValueError("a goal must be an object")  # noqa: TRY004 - pydantic collects ValueErrors
    try:
        return repository.goal_of(value, value["steps"])
    except (KeyError, TypeError, InputError) as error:
        raise ValueError(f"invalid goal: {error}") from error


def _row(goal: Goal) -> dict[str, Any]:
    return repository.goal_row(goal) | {"steps": [asdict(step) for step in goal.progress.steps]}


GoalField = Annotated[Goal, PlainValidator(_goal), PlainSerializer(_row)]
"""A new goal as JSON, and back."""


class _GoalEffect(Effect):
    """Something done to a goal.

    Attributes:
        goal: As it is, or as it shall be where it is new.
    """

    goal: GoalField

    def check(self, household: str) -> None:
        """Refuse a goal of another household, or one that others could see."""
        if self.goal.household != household:
            raise InputError(f"goal {self.goal.id!r} belongs to another household")
        if self.goal.scope != person_scope(self.goal.member):
            raise InputError("a goal is seen by nobody but whose it is")

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return the goal."""
        scope = self.goal.scope
        before = None if isinstance(self, AddGoal) else scope
        return (Touched(id=self.goal.id, before=before, after=scope, whose=self.goal.member),)


class AddGoal(_GoalEffect):
    """Take on a new goal."""

    effect: Literal["goal.add"] = "goal.add"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        repository.add_goal(conn, self.goal, change_id=execution.change_id, at=execution.at)


class _MovesGoal(_GoalEffect):
    """Brings a goal into another state."""

    def _move(self, conn: Connection, execution: Execution, status: GoalStatus) -> None:
        repository.move_goal(
            conn, self.goal, status, change_id=execution.change_id, at=execution.at
        )


class PauseGoal(_MovesGoal):
    """Let a goal rest."""

    effect: Literal["goal.pause"] = "goal.pause"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        self._move(conn, execution, GoalStatus.PAUSED)


class ResumeGoal(_MovesGoal):
    """Go on with a goal that rests."""

    effect: Literal["goal.resume"] = "goal.resume"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        self._move(conn, execution, GoalStatus.PENDING)


class CancelGoal(_MovesGoal):
    """Stop a goal."""

    effect: Literal["goal.cancel"] = "goal.cancel"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        self._move(conn, execution, GoalStatus.CANCELLED)


class ReadPage(Effect):
    """Let one page of the web be read for a goal until that ends.

    Attributes:
        member: Whose goal it is.
        address: Of the page, and of no other page of its host.
    """

    effect: Literal["goal.read_page"] = "goal.read_page"
    goal_id: str
    member: str
    address: str

    def check(self, household: str) -> None:
        """Refuse what is no address of a page."""
        if not self.address.startswith(("http://", "https://")):
            raise InputError("only pages at http:// and https:// are read")

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return the goal. It is an adult's decision, whosever goal it is."""
        scope = person_scope(self.member)
        return (Touched(id=self.goal_id, before=scope, after=scope),)

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        repository.allow_page(
            conn,
            execution.household,
            self.goal_id,
            self.address,
            change_id=execution.change_id,
            at=execution.at,
        )


def undo_read_page(conn: Connection, execution: Execution) -> None:
    """Take back that a page may be read.

    Raises:
        ConflictError: It may not be read any more: its goal has ended.
    """
    repository.take_back_page(conn, execution.household, execution.change_id, at=execution.at)


def undo(conn: Connection, execution: Execution) -> None:
    """Take back the change that `execution` names; a goal that was new is stopped.

    Raises:
        ConflictError: It was changed again since, is over, or there is no room for it.
        NotFoundError: There was no such change.
    """
    repository.undo_change(conn, execution.household, execution.change_id, at=execution.at)
