"""`kinkeeper mail`: drafts that are kept here, and mails that did not go out."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.table import Table
from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction
from kinkeeper.actions.receipts import failure
from kinkeeper.actions.repository import actions_of_type
from kinkeeper.cli.card_decision import AGAIN, decide
from kinkeeper.cli.located import AsOption, JsonOption, Where, located
from kinkeeper.cli.opener import opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.mail.model import Draft, Mail, list_drafts

_OPEN = frozenset({ActionStatus.EXECUTING, ActionStatus.FAILED})
_ID_LETTERS = 8

app = typer.Typer(name="mail", help="List drafts and unsent mail.")


@app.callback(invoke_without_command=True)
@located
def mail(where: Where, json_: JsonOption = False) -> None:
    """List drafts and unsent mail."""
    with opened(where) as system:
        household, zone = system.household.id, system.household.zone

        def load(conn: Connection) -> tuple[Sequence[Draft], Sequence[PendingAction]]:
            return list_drafts(conn, household), actions_of_type(conn, household, ActionType.EMAIL)

        drafts, actions = system.store.read_now(load)
    records = [*map(_draft_record, drafts), *_unsent_records(actions)]
    records.sort(key=lambda record: record["at"])
    if json_:
        answer_json(
            [record | {"at": record["at"].astimezone(zone).isoformat()} for record in records]
        )
    elif records:
        console().print(_table(records))
    else:
        notice("There are no drafts here, and no emails are being sent or have failed.")


@app.command()
@located
def again(
    where: Where,
    id_: Annotated[str, typer.Argument(metavar="ID", help="Mail id, or its first characters.")],
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Retry an unsent mail; it needs a new confirmation."""
    decide(where, id_, AGAIN, named=as_, json_=json_)


def _draft_record(draft: Draft) -> dict[str, Any]:
    return {
        "id": draft.id, "state": "draft", "at": draft.written_at, "by": draft.written_by,
        **draft.mail.shown, "reason": None,
    }  # fmt: skip


def _unsent_records(actions: Sequence[PendingAction]) -> Iterator[dict[str, Any]]:
    for action in actions:
        if action.status not in _OPEN or not action.proposal.effects:
            continue
        is_failed = action.status is ActionStatus.FAILED
        yield {
            "id": action.id, "state": "not sent" if is_failed else "under way",
            "at": action.decided_at or action.created_at, "by": action.decided_by,
            **Mail.model_validate(action.proposal.effects[0]["mail"]).shown,
            "reason": failure(action) if is_failed else None,
        }  # fmt: skip


def _table(records: Sequence[dict[str, Any]]) -> Table:
    table = Table()
    for heading in ("id", "state", "to", "subject", "why"):
        table.add_column(heading, overflow="fold")
    for record in records:
        table.add_row(
            record["id"][:_ID_LETTERS], record["state"], ", ".join(record["to"]),
            record["subject"], record["reason"] or "",
        )  # fmt: skip
    return table
