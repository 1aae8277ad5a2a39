"""What each command is called like, for its help."""

from collections.abc import Mapping, Sequence
from typing import Final

import typer

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
        app: All of whose commands are there.
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
