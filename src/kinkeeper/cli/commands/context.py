"""`kinkeeper context`: the memories that a session begins with."""

from enum import StrEnum
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


class Form(StrEnum):
    """How they are written."""

    MARKDOWN = "markdown"
    JSON = "json"


@located
def context(
    where: Where,
    query: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the session is about.")
    ] = None,
    project: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Include this project; repeatable.")
    ] = None,
    as_: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="MEMBER", help="Who is asking; includes their private memories."
        ),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="Output format.")] = Form.MARKDOWN,
    json_: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False,
) -> None:
    """Show the memories an assistant starts with."""
    from kinkeeper.cli.contexts import show_context

    is_json = json_ or form is Form.JSON
    show_context(where, query=query, projects=project or [], named=as_, as_json=is_json)
