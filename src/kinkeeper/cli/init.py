"""`kinkeeper init`: a household file and settings to start with."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import ConflictError, UnavailableError
from kinkeeper.household.file import load_household
from kinkeeper.household.template import TemplateAnswers, render_template
from kinkeeper.household.zones import read_zone
from kinkeeper.settings.model import Settings

_LOCALTIME = Path("/etc/localtime")
_HEAD = """\
# Kinkeeper settings. Lines starting with # show the defaults; remove the # to change one.
# Environment variables with the same names take precedence over this file.

FAMILY_CONTEXT=household.toml
"""

app = typer.Typer()


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Folder to write to.")] = Path(),
    yes: Annotated[bool, typer.Option("--yes", help="Use defaults instead of asking.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Create a household file and settings for your family."""
    household, settings = folder / "household.toml", folder / ".env"
    there = [str(each) for each in (household, settings) if each.exists()]
    if there and not force:
        verb = "already exist" if len(there) > 1 else "already exists"
        raise ConflictError(f"{' and '.join(there)} {verb}; use --force to overwrite")
    answers = _usual()
    if not yes and sys.stdin.isatty():
        answers = _asked(answers)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(household, render_template(answers))
        _write(settings, _render_settings())
    except OSError as error:
        raise UnavailableError(f"cannot write to {str(folder)!r}: {error.strerror}") from error
    load_household(household)
    notice(f"wrote {household} and {settings}")
    notice("Next: add your family to household.toml, then run `kinkeeper doctor` to check it.")


def _render_settings() -> str:
    """Return a settings file listing every setting, commented out, with its default and meaning."""
    lines = [_HEAD]
    for name, field in Settings.model_fields.items():
        default = "" if field.default is None else str(field.default)
        lines.append(f"# {field.description}\n# {name.upper()}={default}\n")
    return "\n".join(lines)


def _usual() -> TemplateAnswers:
    return TemplateAnswers(
        household="home", timezone=_local_zone(), adults=("Alex", "Sam"), children=("Robin",)
    )


def _asked(usual: TemplateAnswers) -> TemplateAnswers:
    household = typer.prompt("Name of your household", default=usual.household, err=True)
    timezone = _zone(typer.prompt("Timezone", default=usual.timezone, err=True))
    adults = typer.prompt(
        "Parents, the administrator first", default=", ".join(usual.adults), err=True
    )
    children = typer.prompt("Children (- for none)", default=", ".join(usual.children), err=True)
    return TemplateAnswers(
        household=household,
        timezone=timezone,
        adults=_names(adults) or usual.adults,
        children=_names(children),
        bot_name=typer.prompt("Name of the assistant", default=usual.bot_name, err=True),
    )


def _zone(name: str) -> str:
    while True:
        try:
            return read_zone(name.strip()).key
        except ValueError as error:
            notice(str(error))
            name = typer.prompt("Timezone", err=True)


def _names(text: str) -> tuple[str, ...]:
    names = (" ".join(name.split()) for name in text.split(","))
    return tuple(name for name in names if name and name != "-")


def _local_zone() -> str:
    """Return the machine's timezone, as far as its usual link tells."""
    _, found, name = str(_LOCALTIME.resolve()).partition("/zoneinfo/")
    try:
        return read_zone(name).key if found else "UTC"
    except ValueError:
        return "UTC"


def _write(path: Path, text: str) -> None:
    """Write a file that only its owner can read: it may come to hold names and keys."""
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
