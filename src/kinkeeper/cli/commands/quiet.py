"""`kinkeeper quiet`: no unprompted message for a while."""

from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import AsOption
from kinkeeper.cli.located import Where, located


@located
def quiet(
    where: Where,
    length: Annotated[
        str | None,
        typer.Argument(
            metavar="LENGTH", help="2h, 30m, 1d or off; shows the current state if omitted."
        ),
    ] = None,
    as_: AsOption = None,
) -> None:
    """Pause unprompted messages for a while."""
    from kinkeeper.cli.quiet_hours import be_silent, tell_quiet

    if length is None:
        tell_quiet(where)
    else:
        be_silent(where, length, named=as_)
