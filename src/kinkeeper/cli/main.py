"""The program `kinkeeper`: its commands, and the border where errors become one line and an exit code."""

import sys
from typing import Annotated

import typer

from kinkeeper.cli.commands import calendar, events, mail, pending, tasks, token, tools
from kinkeeper.cli.commands.backup import backup
from kinkeeper.cli.commands.bench import bench
from kinkeeper.cli.commands.chat import chat
from kinkeeper.cli.commands.consolidate import consolidate
from kinkeeper.cli.commands.context import context
from kinkeeper.cli.commands.demo import demo
from kinkeeper.cli.commands.doctor import doctor
from kinkeeper.cli.commands.erase import erase
from kinkeeper.cli.commands.evaluate import evaluate
from kinkeeper.cli.commands.init import init
from kinkeeper.cli.commands.invite import invite
from kinkeeper.cli.commands.jobs import jobs
from kinkeeper.cli.commands.metrics import metrics
from kinkeeper.cli.commands.models import models
from kinkeeper.cli.commands.observe import observe
from kinkeeper.cli.commands.quiet import quiet
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

app = typer.Typer(
    name="kinkeeper",
    help="A quiet, local-first assistant that keeps a family's arrangements together.",
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
    """A quiet, local-first assistant that keeps a family's arrangements together."""


app.command()(init)
app.command()(demo)
app.command()(observe)
app.command()(serve)
app.command()(invite)
app.add_typer(token.app)
app.command()(worker)
app.command()(chat)
app.add_typer(pending.app)
app.command()(pending.undo)
app.command()(quiet)
app.command()(why)
app.command()(events.events)
app.add_typer(calendar.app)
app.add_typer(tasks.app)
app.add_typer(mail.app)
app.add_typer(tools.app)
app.command("import")(events.import_file)
app.command()(events.export)
app.command()(remember)
app.command()(recall)
app.command()(forget)
app.command()(erase)
app.command()(search)
app.command()(context)
app.command()(consolidate)
app.command()(when)
app.command()(sort)
app.command()(route)
app.command()(relate)
app.command()(classify)
app.command()(jobs)
app.command()(metrics)
app.command()(models)
app.command()(doctor)
app.command()(backup)
app.command()(restore)
app.command("eval")(evaluate)
app.command()(bench)
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
