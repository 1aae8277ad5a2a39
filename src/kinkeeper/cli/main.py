"""The command line: all commands, and the place where errors become one line and an exit code."""

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kinkeeper.cli.commands import calendar, events, mail, pending, tasks, token, tools
from kinkeeper.cli.commands.backup import backup
from kinkeeper.cli.commands.chat import chat
from kinkeeper.cli.commands.checkout import PASSED_ON, bench, evaluate
from kinkeeper.cli.commands.consolidate import consolidate
from kinkeeper.cli.commands.context import context
from kinkeeper.cli.commands.demo import demo
from kinkeeper.cli.commands.digest import digest
from kinkeeper.cli.commands.doctor import doctor
from kinkeeper.cli.commands.erase import erase
from kinkeeper.cli.commands.init import init
from kinkeeper.cli.commands.invite import invite
from kinkeeper.cli.commands.jobs import jobs
from kinkeeper.cli.commands.metrics import metrics
from kinkeeper.cli.commands.models import models
from kinkeeper.cli.commands.observe import observe
from kinkeeper.cli.commands.quiet import quiet
from kinkeeper.cli.commands.read import read
from kinkeeper.cli.commands.rehearse import rehearse
from kinkeeper.cli.commands.relate import classify, relate
from kinkeeper.cli.commands.remember import forget, remember
from kinkeeper.cli.commands.restore import restore
from kinkeeper.cli.commands.route import route
from kinkeeper.cli.commands.search import recall, search
from kinkeeper.cli.commands.serve import serve
from kinkeeper.cli.commands.sort import sort
from kinkeeper.cli.commands.when import when
from kinkeeper.cli.commands.why import why
from kinkeeper.cli.commands.worker import worker
from kinkeeper.cli.examples import add_examples
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import ConfigError, InputError, KinkeeperError

_FAILED, _BAD_INPUT = 1, 2

_EVERYDAY, _SETUP, _DATA, _DEVELOPERS = "Everyday", "Setup", "Data", "Developers"


class GroupedHelp(TyperGroup):
    """Lists commands under the headings given as their `rich_help_panel`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section per heading, in the order in which headings first appear."""
        commands = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        shown = [(name, each) for name, each in commands if not each.hidden]
        width = max(len(name) for name, _ in shown)
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in shown:
            text = command.get_short_help_str(formatter.width - 6 - width)
            heading = getattr(command, "rich_help_panel", None) or "Commands"
            sections.setdefault(heading, []).append((name.ljust(width), text))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


app = typer.Typer(
    name="kinkeeper",
    cls=GroupedHelp,
    help="A quiet, local-first assistant that keeps track of a family's plans.",
    epilog="Start here: kinkeeper demo, then kinkeeper init ~/family and kinkeeper doctor.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # the drawn help costs twice the time of everything else
    add_completion=False,
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        sys.stdout.write(f"kinkeeper {version('kinkeeper')}\n")
        raise typer.Exit


@app.callback()
@located
def kinkeeper(
    where: Where,
    version_: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """A quiet, local-first assistant that keeps track of a family's plans."""


app.command(rich_help_panel=_EVERYDAY)(chat)
app.add_typer(pending.app, rich_help_panel=_EVERYDAY)
app.command(rich_help_panel=_EVERYDAY)(pending.undo)
app.command(rich_help_panel=_EVERYDAY)(events.events)
app.add_typer(tasks.app, rich_help_panel=_EVERYDAY)
app.command(rich_help_panel=_EVERYDAY)(remember)
app.command(rich_help_panel=_EVERYDAY)(recall)
app.command(rich_help_panel=_EVERYDAY)(forget)
app.command(rich_help_panel=_EVERYDAY)(why)
app.command(rich_help_panel=_EVERYDAY)(digest)
app.command(rich_help_panel=_EVERYDAY)(quiet)
app.command(rich_help_panel=_SETUP)(demo)
app.command(rich_help_panel=_SETUP)(init)
app.command(rich_help_panel=_SETUP)(doctor)
app.command(rich_help_panel=_SETUP)(serve)
app.command(rich_help_panel=_SETUP)(invite)
app.add_typer(token.app, rich_help_panel=_SETUP)
app.add_typer(calendar.app, rich_help_panel=_SETUP)
app.add_typer(mail.app, rich_help_panel=_SETUP)
app.add_typer(tools.app, rich_help_panel=_SETUP)
app.command("import", rich_help_panel=_DATA)(events.import_file)
app.command(rich_help_panel=_DATA)(events.export)
app.command(rich_help_panel=_DATA)(backup)
app.command(rich_help_panel=_DATA)(restore)
app.command(rich_help_panel=_DATA)(erase)
app.command(rich_help_panel=_DATA)(consolidate)
app.command(rich_help_panel=_DATA)(jobs)
app.command(rich_help_panel=_DATA)(metrics)
app.command(rich_help_panel=_DATA)(models)
app.command(rich_help_panel=_DEVELOPERS)(observe)
app.command(rich_help_panel=_DEVELOPERS)(rehearse)
app.command(rich_help_panel=_DEVELOPERS)(worker)
app.command(rich_help_panel=_DEVELOPERS)(search)
app.command(rich_help_panel=_DEVELOPERS)(context)
app.command(rich_help_panel=_DEVELOPERS)(when)
app.command(rich_help_panel=_DEVELOPERS)(sort)
app.command(rich_help_panel=_DEVELOPERS)(read)
app.command(rich_help_panel=_DEVELOPERS)(route)
app.command(rich_help_panel=_DEVELOPERS)(relate)
app.command(rich_help_panel=_DEVELOPERS)(classify)
app.command("eval", rich_help_panel=_DEVELOPERS, context_settings=PASSED_ON)(evaluate)
app.command("bench", rich_help_panel=_DEVELOPERS, context_settings=PASSED_ON)(bench)
add_examples(app)


def main() -> None:
    """Run the program; every expected error is one line on stderr and a code: 1 failed, 2 bad input."""
    try:
        app()
    except KinkeeperError as error:
        notice(f"kinkeeper: {error}")
        sys.exit(_BAD_INPUT if isinstance(error, ConfigError | InputError) else _FAILED)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        notice(f"kinkeeper: {place}{error.strerror or error}")
        sys.exit(_FAILED)
