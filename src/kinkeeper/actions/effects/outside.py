"""Effects outside the database are only queued when an action is executed; a worker carries them out.

The row is written in the transaction that executes the action, so that a yes and what follows from it
are never apart.
"""

from enum import StrEnum

from sqlalchemy import Connection, insert

from kinkeeper.actions.effects.contract import Execution
from kinkeeper.actions.effects.tables import outside_work
from kinkeeper.store.commits import touch

TOPIC = "outside"
"""What commits say that leave something to be done outside."""


class Verb(StrEnum):
    """What is to be done with an effect."""

    DO = "do"
    UNDO = "undo"


def call_outside(conn: Connection, execution: Execution) -> None:
    """Queue an effect, to be done once the transaction commits.

    Args:
        conn: In the transaction that executes the action.
        execution: Of the one effect that the action has.
    """
    _queue(conn, execution, Verb.DO)


def take_back_outside(conn: Connection, execution: Execution) -> None:
    """Queue that an effect is to be taken back.

    Args:
        conn: In the transaction that takes the action back.
        execution: Names the change that is taken back.
    """
    _queue(conn, execution, Verb.UNDO)


def _queue(conn: Connection, execution: Execution, verb: Verb) -> None:
    conn.execute(
        insert(outside_work).values(
            household=execution.household, id=execution.change_id, verb=verb.value,
            action_id=execution.action_id, decided_by=execution.decided_by,
            queued_at=execution.at, due_at=execution.at,
        )
    )  # fmt: skip
    touch(conn, TOPIC, execution.household)
