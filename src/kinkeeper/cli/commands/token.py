"""`kinkeeper token`: keys for programs that act for a member, and the list of all keys."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

app = typer.Typer(
    name="token", no_args_is_help=True, help="Create, list and revoke API tokens and sign-ins."
)


@app.command()
@located
def create(
    where: Where,
    member: Annotated[
        str, typer.Argument(metavar="MEMBER", help="Member it acts for: id, name or alias.")
    ],
    role: Annotated[
        str | None,
        typer.Option(
            "--role", metavar="ROLE",
            help="owner, adult, child, guest, screen, or bridge (only delivers messages); default is the role in the household file.",
        ),
    ] = None,
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="Label to recognise it by.")] = "",
    expires: Annotated[
        str,
        typer.Option(
            "--expires", metavar="DAYS", help="Days until it expires, or “never”.", show_default=True
        ),
    ] = "365",
    is_program: Annotated[
        bool,
        typer.Option(
            "--program",
            help="For a program that acts on its own, such as one using /mcp: it can read and propose; people decide.",
        ),
    ] = False,
    json_: JsonOption = False,
) -> None:  # fmt: skip
    """Create an API token; it is shown only once."""
    from kinkeeper.cli.keys import create_token

    create_token(
        where, member, role=role, label=label, expires=expires, is_program=is_program, as_json=json_
    )


@app.command("list")
@located
def list_(where: Where, json_: JsonOption = False) -> None:
    """List tokens, sessions and open invites."""
    from kinkeeper.cli.keys import show_keys

    show_keys(where, as_json=json_)


@app.command()
@located
def revoke(
    where: Where,
    id_: Annotated[
        str, typer.Argument(metavar="ID", help="Id as listed, or its first characters.")
    ],
) -> None:
    """Revoke a token, session or invite."""
    from kinkeeper.cli.keys import revoke_key

    revoke_key(where, id_)
