"""`kinkeeper tools`: foreign tools, what they say of themselves, and which may be called unasked."""

from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import AsOption, JsonOption
from kinkeeper.cli.located import Where, located

app = typer.Typer(
    name="tools", no_args_is_help=True, help="External tools (MCP): list, call, and accept changes."
)


@app.command("list")
@located
def list_(where: Where, json_: JsonOption = False) -> None:
    """List the tools that the configured servers offer."""
    from kinkeeper.cli.foreign_tools import show_tools

    show_tools(where, as_json=json_)


@app.command()
@located
def call(
    where: Where,
    server: Annotated[str, typer.Argument(metavar="SERVER", help="Server name in MCP_SERVERS.")],
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Tool name.")],
    arguments: Annotated[
        str, typer.Argument(metavar="JSON", help="Arguments as a JSON object.")
    ] = "{}",
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Call a tool; unless listed as safe, it waits for confirmation."""
    from kinkeeper.cli.foreign_tools import call_tool

    call_tool(where, server, tool, arguments, by=as_, as_json=json_)


@app.command()
@located
def accept(
    where: Where,
    server: Annotated[str, typer.Argument(metavar="SERVER", help="Server name in MCP_SERVERS.")],
    tool: Annotated[
        str | None, typer.Argument(metavar="[TOOL]", help="Tool name; all tools if omitted.")
    ] = None,
) -> None:
    """Accept the current tool descriptions after reviewing them."""
    from kinkeeper.cli.foreign_tools import accept_tools

    accept_tools(where, server, tool)
