"""`kinkeeper tools`: foreign tools, what they say of themselves, and which may be called unasked."""

from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import AsOption, JsonOption
from kinkeeper.cli.located import Where, located

app = typer.Typer(
    name="tools", no_args_is_help=True, help="Tools of others: list them, accept how they changed."
)


@app.command("list")
@located
def list_(where: Where, json_: JsonOption = False) -> None:
    """Ask the servers of the settings what they offer, and show it."""
    from kinkeeper.cli.foreign_tools import show_tools

    show_tools(where, as_json=json_)


@app.command()
@located
def call(
    where: Where,
    server: Annotated[str, typer.Argument(metavar="SERVER", help="As MCP_SERVERS names it.")],
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Its name there.")],
    arguments: Annotated[
        str, typer.Argument(metavar="JSON", help="Its arguments, as a JSON object.")
    ] = "{}",
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Call a tool: at once where it is listed as safe, else it waits for a yes like any other request."""
    from kinkeeper.cli.foreign_tools import call_tool

    call_tool(where, server, tool, arguments, by=as_, as_json=json_)


@app.command()
@located
def accept(
    where: Where,
    server: Annotated[str, typer.Argument(metavar="SERVER", help="As MCP_SERVERS names it.")],
    tool: Annotated[
        str | None, typer.Argument(metavar="[TOOL]", help="One of its tools; all where not given.")
    ] = None,
) -> None:
    """Accept tools as they describe themselves now, after you have looked at them."""
    from kinkeeper.cli.foreign_tools import accept_tools

    accept_tools(where, server, tool)
