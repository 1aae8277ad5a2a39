"""`kinkeeper pending` and `kinkeeper undo`: what awaits a person, and the person's decision."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Action id, or its first characters.")
]
AsOption = Annotated[
    str | None,
    typer.Option("--as", metavar="MEMBER", help="Who decides; default is the owner."),
]
LookOption = Annotated[
    str | None,
    typer.Option("--as", metavar="MEMBER", help="Who is asking; includes their private items."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
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
    from kinkeeper.cli.card_decision import Confirm, decide

    _finish(decide(where, id_, Confirm(), named=as_, json_=json_))


@app.command()
@located
def reject(where: Where, id_: IdArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Dismiss it; nothing is changed."""
    from kinkeeper.cli.card_decision import Reject, decide

    _finish(decide(where, id_, Reject(), named=as_, json_=json_))


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
    from kinkeeper.cli.card_decision import Resolve, decide

    _finish(decide(where, id_, Resolve(choice), named=as_, json_=json_))


@app.command()
@located
def restore(where: Where, id_: IdArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Bring back a plan that expired; it waits for your OK again."""
    from kinkeeper.cli.card_decision import Restore, decide

    _finish(decide(where, id_, Restore(), named=as_, json_=json_))


@located
def undo(where: Where, id_: IdArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Undo a confirmed action, or a whole import."""
    from kinkeeper.cli.card_decision import Undo, decide
    from kinkeeper.cli.event_import import undo_import

    is_undone = undo_import(where, id_, by=as_, json_=json_)
    if is_undone is None:
        is_undone = decide(where, id_, Undo(), named=as_, json_=json_)
    _finish(is_undone)


def _list(where: Where, *, all_: bool, expired: bool, named: str | None, json_: bool) -> None:
    from kinkeeper.cli.pending_list import Listed, show_pending

    listed = Listed.EXPIRED if expired else Listed.ALL if all_ else Listed.OPEN
    show_pending(where, listed, named=named, as_json=json_)


def _finish(is_done: bool) -> None:
    if not is_done:
        raise typer.Exit(1)
