"""`kinkeeper demo`: three days of a sample family through the real pipeline."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def demo(
    where: Where,
    json_: Annotated[
        bool, typer.Option("--json", help="Answer in JSON lines, as `observe` does.")
    ] = False,
) -> None:
    """Show three days of a sample family: heard, decided, said, kept. Nothing is left behind."""
    from kinkeeper.cli.demonstration import demonstrate

    demonstrate(where, as_json=json_)
