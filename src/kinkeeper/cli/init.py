"""`kinkeeper init`: a household file and settings to start with."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import ConflictError, UnavailableError
from kinkeeper.household.file import load_household
from kinkeeper.household.name_folding import slugify
from kinkeeper.household.zones import read_zone
from kinkeeper.settings.model import Settings

_FAMILY_HEAD = """\
# The household file: your family, the words you use, and what happens regularly.
#
# Only [household] and one member are required. Lines starting with # are examples: remove the #
# and edit them. `kinkeeper doctor` reports mistakes with line numbers.
#
# An id is a short name used inside this file (a-z, 0-9, hyphens). Don't change ids once the family
# is using the assistant. Aliases are other words you use for the same thing; you don't need to
# list common misspellings.
"""
_AFTER_HOUSEHOLD = """\
# owner = {owner}  # the administrator; default is the first parent
# chats = [-1001234567890]  # ids of the group chats it may listen to

# ---- People ---------------------------------------------------------------------------------
# role: parent, guardian, child, helper (nanny, au pair, sitter) or other. Parents, guardians and
# helpers can approve things; children and others can't.
# telegram_id is the numeric id of their Telegram account; email is their address.
"""
_REST = """\
# A name for several people:
# [[groups]]
# id = "boys"
# aliases = ["the boys"]
# members = [{members}]

# People outside the family you write to; several addresses under one name form a mailing list:
# [[contacts]]
# id = "school"
# name = "The school office"
# email = "office@school.example"

# ---- Words ----------------------------------------------------------------------------------
# Common words (practice, lesson, game, recital, dentist, doctor…) are built in.

# [[activities]]
# id = "soccer"
# aliases = ["football practice"]

# [[places]]
# id = "westside-park"
# name = "Westside Park"
# aliases = ["the park"]

# [[resources]]  # things that can be used by one person at a time
# id = "van"
# name = "the van"

# [[times]]  # times of day your family has a name for
# id = "after-school"
# start = "15:15"

# ---- What happens ---------------------------------------------------------------------------
# start is local time. rrule makes it repeat (RFC 5545); start must be one of the rule's days:
# 6 January 2026 is a Tuesday. exdates skips single days.

# [[events]]
# id = "soccer-practice"
# summary = "Soccer practice"
# activity = "soccer"
# who = [{example}]
# place = "westside-park"
# start = 2026-01-06T16:30:00
# duration_minutes = 60  # or end = 2026-01-06T17:30:00; default is one hour
# rrule = "FREQ=WEEKLY;BYDAY=TU,TH"
# exdates = [2026-02-17]

# [[events]]
# id = "spring-break"
# summary = "Spring break"
# all_day = true
# start = 2026-03-24  # first and last day, inclusive
# end = 2026-03-28

# ---- Maintenance and due dates --------------------------------------------------------------

# [[maintenance]]
# id = "car-service"
# summary = "Car service"
# due = 2026-04-15
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateAnswers:
    """What `kinkeeper init` asks.

    Attributes:
        household: Name of the household, in any script.
        timezone: IANA name.
        adults: Names of the parents, first the one who administers; at least one.
        children: Names of the children.
        bot_name: What the assistant is called.
        locale: Language tag.
    """

    household: str
    timezone: str
    adults: Sequence[str]
    children: Sequence[str] = ()
    bot_name: str = "Kinkeeper"
    locale: str = "en-US"


def render_template(answers: TemplateAnswers) -> str:
    """Return a commented household file that loads as it is.

    Args:
        answers: Names are of one line; locale and timezone exist.
    """
    adults = _ids(answers.adults, "adult", taken=())
    children = _ids(answers.children, "child", taken=adults)
    ids = [*adults, *children]
    household = [
        _FAMILY_HEAD,
        "[household]",
        f"id = {quoted(slugify(answers.household)[:64].strip('-') or 'home')}",
        f"name = {quoted(answers.household)}",
        f"timezone = {quoted(answers.timezone)}",
        f"locale = {quoted(answers.locale)}  # first day of the week, and whether 3/4 is March or April",
        f"bot_name = {quoted(answers.bot_name)}",
        _AFTER_HOUSEHOLD.format(owner=quoted(adults[0])),
    ]
    members = [
        *_members(adults, answers.adults, "parent"),
        *_members(children, answers.children, "child"),
    ]
    several = children if len(children) > 1 else ids
    rest = _REST.format(
        members=", ".join(map(quoted, several)), example=quoted((children or adults)[0])
    )
    return "\n".join([*household, *members, rest])


def quoted(text: str) -> str:
    """Return `text` as a TOML string."""
    # TOML's escapes are those of JSON; of the raw control characters JSON allows one more.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _members(ids: Sequence[str], names: Sequence[str], role: str) -> Iterator[str]:
    for member_id, name in zip(ids, names, strict=True):
        yield f"[[members]]\nid = {quoted(member_id)}\nname = {quoted(name)}\nrole = {quoted(role)}"
        yield '# aliases = []\n# telegram_id = 123456789\n# email = "name@example.org"\n'


def _ids(names: Sequence[str], fallback: str, taken: Sequence[str]) -> list[str]:
    """Return one new id a name; of names that have no Latin letters, a numbered `fallback`."""
    ids: list[str] = []
    for number, name in enumerate(names, start=1):
        base = slugify(name)[:60].strip("-") or f"{fallback}-{number}"
        count, unique = 1, base
        while unique in {*taken, *ids}:
            count += 1
            unique = f"{base}-{count}"
        ids.append(unique)
    return ids


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
