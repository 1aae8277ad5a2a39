"""The list of what awaits a person."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from rich.table import Table
from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.repository import list_actions
from kinkeeper.cli.located import Where
from kinkeeper.cli.opening import looking, opened, present
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.household.model import Household
from kinkeeper.observer.accounts.metrics import Failure, failures

_OPEN = frozenset({ActionStatus.PENDING})
_ID_LETTERS = 8


def show_pending(where: Where, *, is_all: bool, named: str | None, as_json: bool) -> None:
    """Show what awaits a person, oldest first, and the messages that could not be understood.

    Args:
        where: Household and database.
        is_all: Whether settled actions are wanted, too.
        named: On whose behalf; what is private to them is shown, too. Everybody's where None.
        as_json: Answer with one JSON list.

    Raises:
        KinkeeperError: The household or its database cannot be used.
    """
    with opened(where) as system:
        household, now = system.household, present(system)
        viewer = looking(household, named, now=now)

        def load(conn: Connection) -> tuple[Sequence[PendingAction], Sequence[Failure]]:
            statuses = frozenset(ActionStatus) if is_all else _OPEN
            actions = list_actions(conn, viewer, statuses=statuses, now=now)
            return actions, failures(conn, household.id)

        actions, failed = system.store.read_now(load)
    if as_json:
        answer_json([*map(action_record, actions), *map(_failure_record, failed)])
        return
    if actions:
        console().print(_table(actions, household, now, is_all=is_all))
    else:
        notice("Nothing awaits a yes.")
    for failure in failed:
        notice(
            f"Message {failure.message_id} of chat {failure.chat_id} could not be understood "
            f"({failure.error}); please look at it yourself."
        )


def _table(
    actions: Sequence[PendingAction], household: Household, now: datetime, *, is_all: bool
) -> Table:
    table = Table(title="Waiting for a yes" if not is_all else "All actions", title_justify="left")
    table.add_column("id", no_wrap=True)
    table.add_column("what", ratio=1)
    table.add_column("buttons")
    table.add_column("status" if is_all else "expires", no_wrap=True)
    for action in actions:
        buttons = [choice.label for choice in action.proposal.choices]
        table.add_row(
            action.id[:_ID_LETTERS],
            action.proposal.summary,
            " · ".join(buttons or ["Confirm"]),
            _status(action, household) if is_all else _left(action.proposal.expires_at - now),
        )
    return table


def _status(action: PendingAction, household: Household) -> str:
    member = household.member(action.decided_by) if action.decided_by else None
    by = f" by {member.name}" if member else ""
    return f"{action.status.value}{by}{', taken back' if action.undone_at else ''}"


def _left(rest: timedelta) -> str:
    hours = int(rest.total_seconds() // 3600)
    return f"in {hours} h" if hours else f"in {int(rest.total_seconds() // 60)} min"


def _failure_record(failure: Failure) -> dict[str, Any]:
    return {
        "id": failure.row_id,
        "type": None,
        "status": "manual_review",
        "message_id": failure.message_id,
        "chat_id": failure.chat_id,
        "error": failure.error,
    }
