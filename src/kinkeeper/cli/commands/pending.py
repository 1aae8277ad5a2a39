"""`kinkeeper pending` and `kinkeeper undo`: what awaits a person, and the person's decision."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Id of the action, or its beginning.")
]
AsOption = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="MEMBER", help="Who decides; the owner of the household where not given."
    ),
]
LookOption = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="MEMBER", help="Who looks: what is private to them is shown, too."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
AllOption = Annotated[bool, typer.Option("--all", help="Settled ones, too.")]

app = typer.Typer(name="pending", help="What awaits a yes: list it, confirm, reject, choose.")


@app.callback(invoke_without_command=True)
@located
def pending(
    where: Where, all_: AllOption = False, as_: LookOption = None, json_: JsonOption = False
) -> None:
    """What awaits a yes: list it, confirm, reject, choose."""
    _list(where, all_=all_, named=as_, json_=json_)


@app.command("list")
@located
def list_(
    where: Where, all_: AllOption = False, as_: LookOption = None, json_: JsonOption = False
) -> None:
    """List what awaits a yes, and what could not be understood."""
    _list(where, all_=all_, named=as_, json_=json_)


@app.command()
@located
def confirm(where: Where, id_: IdArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Say yes; this writes it to the household's calendar."""
    from kinkeeper.cli.deciding import Confirm, decide

    _finish(decide(where, id_, Confirm(), named=as_, json_=json_))


@app.command()
@located
def reject(where: Where, id_: IdArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Say no; nothing is written."""
    from kinkeeper.cli.deciding import Reject, decide

    _finish(decide(where, id_, Reject(), named=as_, json_=json_))


@app.command()
@located
def resolve(
    where: Where,
    id_: IdArgument,
    choice: Annotated[str, typer.Argument(metavar="CHOICE", help="One of its buttons.")],
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Choose one of its buttons; this writes it to the household's calendar."""
    from kinkeeper.cli.deciding import Resolve, decide

    _finish(decide(where, id_, Resolve(choice), named=as_, json_=json_))


@located
def undo(where: Where, id_: IdArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Take back what a confirmed action wrote."""
    from kinkeeper.cli.deciding import Undo, decide

    _finish(decide(where, id_, Undo(), named=as_, json_=json_))


def _list(where: Where, *, all_: bool, named: str | None, json_: bool) -> None:
    from kinkeeper.cli.pending_list import show_pending

    show_pending(where, is_all=all_, named=named, as_json=json_)


def _finish(is_done: bool) -> None:
    if not is_done:
        raise typer.Exit(1)
