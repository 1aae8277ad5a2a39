"""`kinkeeper demo`: three days of a sample family through the real pipeline."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def demo(
    where: Where,
    json_: Annotated[
        bool, typer.Option("--json", help="Print JSON lines, like `observe`.")
    ] = False,
) -> None:
    """Replay three days of a sample family. Uses a temporary database."""
    from kinkeeper.cli.demonstration import demonstrate

    demonstrate(where, as_json=json_)
