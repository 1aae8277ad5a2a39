"""Options and arguments that several commands have."""

from typing import Annotated

import typer

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Action id, or its first characters.")
]
AsOption = Annotated[
    str | None,
    typer.Option("--as", metavar="MEMBER", help="Who decides; default is the owner."),
]
LookOption = Annotated[
    str | None,
    typer.Option("--as", metavar="MEMBER", help="Who is asking; includes their private items."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
