"""`kinkeeper pending`: what awaits a person, and the person's decision."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Annotated, Any

import typer
from rich.table import Table
from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.repository import SHOWN_EXPIRED, list_actions, restorable_actions
from kinkeeper.cli import card_decision
from kinkeeper.cli.card_decision import CONFIRM, REJECT, RESTORE, decide
from kinkeeper.cli.located import AsOption, IdArgument, JsonOption, LookOption, Where, located
from kinkeeper.cli.opener import looking, opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.observer.accounts.metrics import Failure, failures

_OPEN = frozenset({ActionStatus.PENDING})
_ID_LETTERS = 8
_HOURS_IN_TWO_DAYS = 48
AllOption = Annotated[bool, typer.Option("--all", help="Include decided and expired ones.")]
ExpiredOption = Annotated[
    bool, typer.Option("--expired", help="Only those that expired and can be restored.")
]

app = typer.Typer(name="pending", help="List what needs approval; confirm, reject or choose.")


@app.callback(invoke_without_command=True)
@located
def pending(
    where: Where,
    all_: AllOption = False,
    expired: ExpiredOption = False,
    as_: LookOption = None,
    json_: JsonOption = False,
) -> None:
    """List what needs approval; confirm, reject or choose."""
    _list(where, all_=all_, expired=expired, named=as_, json_=json_)


@app.command("list")
@located
def list_(
    where: Where,
    all_: AllOption = False,
    expired: ExpiredOption = False,
    as_: LookOption = None,
    json_: JsonOption = False,
) -> None:
    """List what needs approval and messages that failed."""
    _list(where, all_=all_, expired=expired, named=as_, json_=json_)


@app.command()
@located
def confirm(where: Where, id_: IdArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Approve it and apply the change."""
    decide(where, id_, CONFIRM, named=as_, json_=json_)


@app.command()
@located
def reject(where: Where, id_: IdArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Dismiss it; nothing is changed."""
    decide(where, id_, REJECT, named=as_, json_=json_)


@app.command()
@located
def resolve(
    where: Where,
    id_: IdArgument,
    choice: Annotated[str, typer.Argument(metavar="CHOICE", help="Label of the button.")],
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Approve it with one of the choices it offers."""
    decide(where, id_, card_decision.resolve(choice), named=as_, json_=json_)


@app.command()
@located
def restore(where: Where, id_: IdArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Bring back a plan that expired; it waits for your OK again."""
    decide(where, id_, RESTORE, named=as_, json_=json_)


class Listed(Enum):
    """Which actions a list shows, and its title."""

    OPEN = "Waiting for your OK"
    EXPIRED = "Expired; `kinkeeper pending restore ID` brings one back"
    ALL = "All actions"


def _list(where: Where, *, all_: bool, expired: bool, named: str | None, json_: bool) -> None:
    """Print what waits for a decision, oldest first, and the messages that could not be read."""
    listed = Listed.EXPIRED if expired else Listed.ALL if all_ else Listed.OPEN
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        viewer = looking(household, named, now=now)

        def load(conn: Connection) -> tuple[Sequence[PendingAction], Sequence[Failure]]:
            return _found(conn, viewer, listed, now), failures(conn, household.id)

        actions, failed = system.store.read_now(load)
    if json_:
        answer_json([*map(action_record, actions), *map(_failure_record, failed)])
        return
    if actions:
        console().print(_table(actions, household, now, listed))
    else:
        is_expired = listed is Listed.EXPIRED
        notice("Nothing has expired." if is_expired else "Nothing is waiting for your OK.")
    for failure in failed:
        notice(
            f"Message {failure.message_id} of chat {failure.chat_id} could not be processed "
            f"({failure.error}); please look at it yourself."
        )


def _found(
    conn: Connection, viewer: Viewer, listed: Listed, now: datetime
) -> Sequence[PendingAction]:
    if listed is Listed.EXPIRED:
        return restorable_actions(conn, viewer, now=now, since=now - SHOWN_EXPIRED)
    statuses = frozenset(ActionStatus) if listed is Listed.ALL else _OPEN
    return list_actions(conn, viewer, statuses=statuses, now=now)


def _table(
    actions: Sequence[PendingAction], household: Household, now: datetime, listed: Listed
) -> Table:
    is_open = listed is Listed.OPEN
    table = Table(title=listed.value, title_justify="left")
    table.add_column("id", no_wrap=True)
    table.add_column("what", ratio=1)
    table.add_column("buttons")
    table.add_column("expires" if is_open else "status", no_wrap=True)
    for action in actions:
        buttons = [choice.label for choice in action.proposal.choices]
        table.add_row(
            action.id[:_ID_LETTERS],
            action.proposal.summary,
            " · ".join(buttons or ["Approve"]),
            _left(action.expires_at - now) if is_open else _status(action, household),
        )
    return table


def _status(action: PendingAction, household: Household) -> str:
    member = household.member(action.decided_by) if action.decided_by else None
    by = f" by {member.name}" if member else ""
    return f"{action.status.value}{by}{', taken back' if action.undone_at else ''}"


def _left(rest: timedelta) -> str:
    hours = int(rest.total_seconds() // 3600)
    if hours >= _HOURS_IN_TWO_DAYS:
        return f"in {round(hours / 24)} days"
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
