"""`kinkeeper digest`: what the next daily digest says, and when it comes."""

from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import AsOption
from kinkeeper.cli.located import Where, located


@located
def digest(
    where: Where,
    as_: AsOption = None,
    now: Annotated[
        bool,
        typer.Option("--now", help="Show what it would say now, not at the next sending time."),
    ] = False,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="Get it at 18:00, 7pm, …; or off.")
    ] = None,
) -> None:
    """Show your next daily digest, or choose when it comes."""
    from kinkeeper.cli.digest_view import choose_time, show_digest

    if at is not None:
        choose_time(where, at, named=as_)
    else:
        show_digest(where, named=as_, is_now=now)
