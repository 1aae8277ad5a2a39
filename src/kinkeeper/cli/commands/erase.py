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
        typer.Argument(
            metavar="MEMBER",
            help="Name or id; also the id of someone no longer in the household file.",
        ),
    ],
    export: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Export all household data to this folder first."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be erased.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation prompt.")] = False,
    json_: JsonOption = False,
) -> None:
    """Permanently erase everything about a person."""
    from kinkeeper.cli.person_erasure import Wish, erase_member

    wish = Wish(member=member, export=export, is_rehearsal=dry_run, is_sure=yes, as_json=json_)
    if not erase_member(where, wish):
        raise typer.Exit(1)
