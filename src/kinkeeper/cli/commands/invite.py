"""`kinkeeper invite`: a link that logs a member in, once."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def invite(
    where: Where,
    member: Annotated[str, typer.Argument(metavar="MEMBER", help="Id, name or alias.")],
    role: Annotated[
        str | None,
        typer.Option(
            "--role", metavar="ROLE",
            help="owner, adult, child, guest or screen; default is the role in the household file.",
        ),
    ] = None,
    hours: Annotated[
        int, typer.Option("--hours", min=1, max=720, help="Hours until the link expires.")
    ] = 48,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Create a one-time sign-in link for someone."""
    from kinkeeper.cli.keys import invite_member

    invite_member(where, member, role=role, hours=hours, as_json=json_)
