"""`kinkeeper erase`: everything of a person, for good."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import JsonOption
from kinkeeper.cli.located import Where, located


@located
def erase(
    where: Where,
    member: Annotated[
        str,
        typer.Argument(metavar="MEMBER", help="Name or id; the id of who has left the file, too."),
    ],
    export: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write everything the household has there first."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would be erased.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json_: JsonOption = False,
) -> None:
    """Erase a person: what they said, what is theirs, and what is remembered of them."""
    from kinkeeper.cli.erasing import Wish, erase_member

    wish = Wish(member=member, export=export, is_rehearsal=dry_run, is_sure=yes, as_json=json_)
    if not erase_member(where, wish):
        raise typer.Exit(1)
