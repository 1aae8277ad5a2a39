"""The command line: the table of commands with examples, and where errors become one line and an exit code.

Listing the commands loads none of them; one that is called, or asked for its own help, is loaded then.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from kinkeeper.cli.located import Where, located
from kinkeeper.cli.process_memory import compute_on_one_thread, leave_out_unused
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import ConfigError, InputError, KinkeeperError

# What each command is called like, for its help.

EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "init": ("kinkeeper init ~/family",),
    "demo": ("kinkeeper demo",),
    "observe": (
        "kinkeeper observe chat.jsonl --until 2026-03-06T08:00",
        "kinkeeper observe chat.jsonl --into trial.sqlite",
    ),
    "serve": ("kinkeeper serve --port 8765",),
    "invite": ("kinkeeper invite sarah", "kinkeeper invite gran --role guest --hours 4"),
    "worker": ("kinkeeper worker --household family/household.toml",),
    "chat": (
        "kinkeeper chat",
        "kinkeeper chat what is on tomorrow",
        'kinkeeper chat --as sarah "remind me to call mom tomorrow at 5pm"',
        "printf 'cancel the dentist\\nyes\\n' | kinkeeper chat --json",
    ),
    "undo": ("kinkeeper undo 3f2a --as john",),
    "digest": ("kinkeeper digest", "kinkeeper digest --at 19:30 --as sarah"),
    "quiet": ("kinkeeper quiet 2h", "kinkeeper quiet off"),
    "why": ("kinkeeper why m17",),
    "events": ("kinkeeper events --from 2026-03-01 --to 2026-03-31",),
    "import": ("kinkeeper import school.ics", "kinkeeper import talks.jsonl --as episodes"),
    "export": ("kinkeeper export calendar.ics", "kinkeeper export backup-folder --as all"),
    "remember": ("kinkeeper remember Leo is allergic to nuts --as sarah",),
    "recall": (
        "kinkeeper recall what must Leo not eat",
        "kinkeeper recall where does gran live --as-of 2025-12-24",
    ),
    "forget": ("kinkeeper forget 7d1c --as sarah",),
    "erase": ("kinkeeper erase sam --dry-run", "kinkeeper erase sam --export before-sam-left"),
    "search": ("kinkeeper search questions.jsonl",),
    "context": ('kinkeeper context --query "the school trip" --as sarah',),
    "consolidate": ("kinkeeper consolidate --dry-run", "kinkeeper consolidate --revert last"),
    "when": ('kinkeeper when "next tues 4ish" --tz America/Chicago',),
    "sort": ("kinkeeper sort put milk on the list",),
    "read": ("kinkeeper read texts.jsonl",),
    "rehearse": ("kinkeeper rehearse week.jsonl --seed setup.jsonl --jobs 2",),
    "route": ("kinkeeper route messages.jsonl",),
    "relate": ("kinkeeper relate pairs.jsonl",),
    "classify": ("kinkeeper classify statements.jsonl",),
    "jobs": ("kinkeeper jobs --days 30",),
    "learned": ("kinkeeper learned", "kinkeeper learned --reset offers"),
    "metrics": ("kinkeeper metrics --days 30",),
    "models": ("kinkeeper models --days 1",),
    "doctor": ("kinkeeper doctor", "kinkeeper doctor --mend"),
    "backup": ("kinkeeper backup ~/kinkeeper-2026-11-21.sqlite",),
    "restore": ("kinkeeper restore ~/kinkeeper-2026-11-21.sqlite --dry-run",),
    "eval": ("kinkeeper eval observer", "kinkeeper eval leaks --full", "kinkeeper eval months"),
    "bench": ("kinkeeper bench tripwire",),
    "token create": ('kinkeeper token create sarah --label "open webui"',),
    "token list": ("kinkeeper token list --json",),
    "token revoke": ("kinkeeper token revoke c26f",),
    "pending": ("kinkeeper pending", "kinkeeper pending --all --as sarah"),
    "pending list": ("kinkeeper pending list --all",),
    "pending confirm": ("kinkeeper pending confirm 3f2a --as sarah",),
    "pending reject": ("kinkeeper pending reject 3f2a",),
    "pending restore": ("kinkeeper pending restore 9c41 --as sarah",),
    "pending resolve": ("kinkeeper pending resolve 9c41 Sarah --as john",),
    "calendar sync": ("kinkeeper calendar sync --ask-again",),
    "calendar status": ("kinkeeper calendar status",),
    "tasks": ("kinkeeper tasks", "kinkeeper tasks --done"),
    "tasks list": ("kinkeeper tasks list --for leo",),
    "tasks add": (
        'kinkeeper tasks add "Call mom" --by "tomorrow 5pm"',
        'kinkeeper tasks add "Bins out" --by "sunday 6pm" --repeat "FREQ=WEEKLY;BYDAY=SU"',
    ),
    "tasks change": ('kinkeeper tasks change bins --by "sunday 7pm"',),
    "tasks done": ("kinkeeper tasks done bins",),
    "tasks delete": ("kinkeeper tasks delete bins",),
    "goals": ("kinkeeper goals", "kinkeeper goals --as leo"),
    "goals list": ("kinkeeper goals list --all",),
    "goals show": ("kinkeeper goals show swimming",),
    "goals add": (
        'kinkeeper goals add "a swimming course for Leo under £80"',
        'kinkeeper goals add "opening hours of the museum" --watch',
        'kinkeeper goals add "Do we book the camp?" --ask-at "friday 5pm"',
    ),
    "goals pause": ("kinkeeper goals pause swimming",),
    "goals resume": ("kinkeeper goals resume swimming",),
    "goals cancel": ("kinkeeper goals cancel swimming --as leo",),
    "mail": ("kinkeeper mail",),
    "mail again": ("kinkeeper mail again 5b0e --as sarah",),
    "tools list": ("kinkeeper tools list",),
    "tools call": ('kinkeeper tools call weather forecast \'{"place": "Ulm"}\'',),
    "tools accept": ("kinkeeper tools accept weather",),
}
"""By the command's words, without the program's own name."""


def add_examples(app: typer.Typer, *, group: str = "") -> None:
    """Put under the help of each command what it is called like.

    Args:
        group: Its words, without the program's own name; empty for the program itself.

    Raises:
        KeyError: A command has no example.
    """
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "")
        command.epilog = _shown(EXAMPLES[f"{group} {name}".strip()])
    for sub in app.registered_groups:
        if commands := sub.typer_instance:
            name = commands.info.name or ""
            sub.epilog = _shown(EXAMPLES[name]) if name in EXAMPLES else None
            add_examples(commands, group=name)


def _shown(examples: Sequence[str]) -> str:
    heading = "Example:" if len(examples) == 1 else "Examples:"
    # An empty line between them keeps the help from running them together.
    return "\n\n".join((heading, *examples))


_FAILED, _BAD_INPUT = 1, 2

_EVERYDAY, _SETUP, _DATA, _DEVELOPERS = "Everyday", "Setup", "Data", "Developers"


@dataclass(frozen=True, slots=True)
class Entry:
    """A command in the table.

    Attributes:
        name: What it is called by.
        module: In this package; its `app` has the command, or is the group of commands of that name.
        heading: Where the help lists it.
        help: What the help says of it: the first line of its own.
        is_lasting: Whether it runs for months, so that nothing is loaded which it never uses.
    """

    name: str
    module: str
    heading: str
    help: str
    is_lasting: bool = False


COMMANDS = (
    Entry("chat", "chat", _EVERYDAY, "Talk to the assistant. Ctrl-C stops an answer, Ctrl-D quits."),
    Entry("undo", "card_decision", _EVERYDAY, "Undo a confirmed action, or a whole import."),
    Entry("events", "events", _EVERYDAY, "List calendar events; those that need approval are marked."),
    Entry("remember", "memory_by_hand", _EVERYDAY, "Save something to memory."),
    Entry("recall", "recall", _EVERYDAY, "Search memory."),
    Entry("forget", "memory_by_hand", _EVERYDAY, "Permanently erase a memory."),
    Entry("why", "reports", _EVERYDAY, "Explain why a message was answered, saved or ignored."),
    Entry("digest", "digest", _EVERYDAY, "Show your next daily digest, or choose when it comes."),
    Entry("quiet", "digest", _EVERYDAY, "Pause unprompted messages for a while."),
    Entry("pending", "pending", _EVERYDAY, "List what needs approval; confirm, reject or choose."),
    Entry("tasks", "tasks", _EVERYDAY, "List, add, change, complete or delete tasks."),
    Entry("goals", "goals", _EVERYDAY, "List, add, pause, resume or cancel goals it works on."),
    Entry("demo", "demo", _SETUP, "Replay three days of a sample family. Uses a temporary database."),
    Entry("init", "init", _SETUP, "Create a household file and settings for your family."),
    Entry("doctor", "doctor", _SETUP, "Check your setup and explain how to fix problems."),
    Entry("serve", "serve", _SETUP, "Run everything: web pages, API, chat bots and workers.", is_lasting=True),
    Entry("invite", "token", _SETUP, "Create a one-time sign-in link for someone."),
    Entry("token", "token", _SETUP, "Create, list and revoke API tokens and sign-ins."),
    Entry("calendar", "servers", _SETUP, "Sync with a calendar server (CalDAV) and show its status."),
    Entry("mail", "servers", _SETUP, "List drafts and unsent mail."),
    Entry("tools", "servers", _SETUP, "External tools (MCP): list, call, and accept changes."),
    Entry("import", "events", _DATA, "Import events, episodes or facts; prints one result per line."),
    Entry("export", "export", _DATA, "Export the calendar, the memory or everything."),
    Entry("backup", "backup", _DATA, "Copy the database to a file, also while it is in use."),
    Entry("restore", "backup", _DATA, "Replace the database with a checked backup."),
    Entry("erase", "erase", _DATA, "Permanently erase everything about a person."),
    Entry("consolidate", "consolidate", _DATA, "Run the nightly memory upkeep now."),
    Entry("jobs", "reports", _DATA, "Show queued, running, finished and failed background work."),
    Entry("learned", "reports", _DATA, "Show what confirmations and corrections have changed, or reset it."),
    Entry("metrics", "reports", _DATA, "Show how often it spoke and what people confirmed."),
    Entry("models", "models", _DATA, "Show language model usage, failures and today's budget."),
    Entry("observe", "observe", _DEVELOPERS, "Replay a group chat; prints one decision per line."),
    Entry("rehearse", "rehearse", _DEVELOPERS, "Play a script in a scratch database on a virtual clock; shows the result of each line."),
    Entry("worker", "worker", _DEVELOPERS, "Run a background worker.", is_lasting=True),
    Entry("search", "recall", _DEVELOPERS, "Run a batch of memory searches from a file."),
    Entry("context", "recall", _DEVELOPERS, "Show the memories an assistant starts with."),
    Entry("when", "when", _DEVELOPERS, "Show how dates and times in a text are read."),
    Entry("sort", "classifiers", _DEVELOPERS, "Show which domains a request belongs to."),
    Entry("read", "read", _DEVELOPERS, "Show how the trained reader, or a language model, reads texts."),
    Entry("route", "classifiers", _DEVELOPERS, "Show how messages to the assistant are routed."),
    Entry("relate", "classifiers", _DEVELOPERS, "Decide whether to merge, supersede or keep pairs of statements."),
    Entry("classify", "classifiers", _DEVELOPERS, "Classify statements by memory category."),
    Entry("eval", "checkout", _DEVELOPERS, "Measure accuracy on labelled data; needs a checkout."),
    Entry("bench", "checkout", _DEVELOPERS, "Run benchmarks against limits or other programs; needs a checkout."),
)  # fmt: skip
"""All commands, in the order in which the help lists them."""


class ListedCommands(TyperGroup):
    """Lists commands out of the table, under their headings, and loads one when it is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {each.name: TyperCommand(each.name, help=each.help) for each in COMMANDS}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, loaded, or None where there is no such one."""
        return next((_loaded(each) for each in COMMANDS if each.name == cmd_name), None)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section per heading, in the order in which headings first appear."""
        width = max(len(each.name) for each in COMMANDS)
        sections: dict[str, list[tuple[str, str]]] = {}
        for each in COMMANDS:
            text = self.commands[each.name].get_short_help_str(formatter.width - 6 - width)
            sections.setdefault(each.heading, []).append((each.name.ljust(width), text))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


def _loaded(listed: Entry) -> Any:
    if listed.is_lasting:
        leave_out_unused()
    around = typer.Typer(rich_markup_mode=None)
    around.add_typer(import_module(f"kinkeeper.cli.{listed.module}").app)
    add_examples(around)
    return typer.main.get_group(around).commands[listed.name]


app = typer.Typer(
    name="kinkeeper",
    cls=ListedCommands,
    help="A quiet, local-first assistant that keeps track of a family's plans.",
    epilog="Start here: kinkeeper demo, then kinkeeper init ~/family and kinkeeper doctor.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # the drawn help costs twice the time of everything else
    add_completion=False,
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version  # noqa: PLC0415 - slow, and seldom asked for

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


def main() -> None:
    """Run the program; every expected error is one line on stderr and a code: 1 failed, 2 bad input."""
    compute_on_one_thread()
    try:
        app()
    except KinkeeperError as error:
        notice(f"kinkeeper: {error}")
        sys.exit(_BAD_INPUT if isinstance(error, ConfigError | InputError) else _FAILED)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        notice(f"kinkeeper: {place}{error.strerror or error}")
        sys.exit(_FAILED)
