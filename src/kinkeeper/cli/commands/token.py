"""`kinkeeper token`: keys for programs that act for a member, and the list of all keys."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located

JsonOption = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]

app = typer.Typer(
    name="token", no_args_is_help=True, help="API tokens: create, list, revoke; logins, too."
)


@app.command()
@located
def create(
    where: Where,
    member: Annotated[
        str, typer.Argument(metavar="MEMBER", help="Whom it acts for: id, name or alias.")
    ],
    role: Annotated[
        str | None,
        typer.Option(
            "--role", metavar="ROLE",
            help="owner, adult, child, guest, screen, or bridge (only brings messages); "
            "what the household file says otherwise.",
        ),
    ] = None,
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="What it is for.")] = "",
    days: Annotated[
        int | None,
        typer.Option("--days", min=1, help="How long it lasts; until it is revoked otherwise."),
    ] = None,
    json_: JsonOption = False,
) -> None:  # fmt: skip
    """Print a new API token; it is shown this once."""
    from kinkeeper.cli.keys import create_token

    create_token(where, member, role=role, label=label, days=days, as_json=json_)


@app.command("list")
@located
def list_(where: Where, json_: JsonOption = False) -> None:
    """List the tokens, sessions and open invites of the household."""
    from kinkeeper.cli.keys import show_keys

    show_keys(where, as_json=json_)


@app.command()
@located
def revoke(
    where: Where,
    id_: Annotated[str, typer.Argument(metavar="ID", help="As listed, or its beginning.")],
) -> None:
    """End a token, a session or an invite."""
    from kinkeeper.cli.keys import revoke_key

    revoke_key(where, id_)
