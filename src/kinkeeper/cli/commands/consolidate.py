"""`kinkeeper consolidate`: the upkeep of memory that also runs every night."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def consolidate(
    where: Where,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change without changing anything.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Approve the run even if it archives many facts.")
    ] = False,
    revert: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Undo a run; `last` undoes the latest."),
    ] = None,
    named: Annotated[
        str | None, typer.Option("--as", metavar="MEMBER", help="Who is undoing it.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run the nightly memory upkeep now."""
    from kinkeeper.cli.consolidation_run import consolidate_now, take_back

    if revert is not None:
        take_back(where, revert, named=named, as_json=json_)
    elif not consolidate_now(where, is_rehearsal=dry_run, is_agreed=yes, as_json=json_):
        raise typer.Exit(1)
