"""`kinkeeper consolidate`: the upkeep of memory that also runs every night."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def consolidate(
    where: Where,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would change, and change nothing.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Agree to whatever leaves, however much it is.")
    ] = False,
    revert: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Take back what a run changed; `last` is the last one."),
    ] = None,
    named: Annotated[
        str | None, typer.Option("--as", metavar="MEMBER", help="Who takes it back.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Bring memory in step with what is new: support, doubt, sameness, silence."""
    from kinkeeper.cli.consolidating import consolidate_now, take_back

    if revert is not None:
        take_back(where, revert, named=named, as_json=json_)
    elif not consolidate_now(where, is_rehearsal=dry_run, is_agreed=yes, as_json=json_):
        raise typer.Exit(1)
