"""Checks one after the other, none of which changes anything, and shows what they found."""

import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kinkeeper.bootstrap import database_address
from kinkeeper.cli.located import Where
from kinkeeper.cli.opening import settings_of
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.errors import ConfigError, KinkeeperError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.file import load_households
from kinkeeper.settings.model import Settings
from kinkeeper.store.engines import is_sqlite, parse_address, reader_engine
from kinkeeper.store.faults import translated
from kinkeeper.store.migrate import SCHEMA_VERSION, current_version
from kinkeeper.store.sqlite_library import check_library, sqlite

_OLDEST_PYTHON = (3, 11)
_RELEASED = datetime(2026, 1, 1, tzinfo=UTC)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Health(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The outcome of one check.

    Attributes:
        check: What was checked.
        health: How it came out.
        found: What was found.
        remedy: How to mend it; empty where nothing is wrong.
    """

    check: str
    health: Health
    found: str
    remedy: str = ""


def check_up(where: Where, *, as_json: bool) -> bool:
    """Run all checks and show them with the settings in force; returns whether nothing is broken.

    Args:
        where: Household and database.
        as_json: Answer with one JSON object.
    """
    settings, findings = _settings(where)
    if settings is not None:
        findings += [_household(where, settings), *_database(where, settings)]
    findings += [_python(), _library(), _clock()]
    if as_json:
        values = settings.model_dump(mode="json") if settings else None
        answer_json({"checks": [asdict(each) for each in findings], "settings": values})
    else:
        _show(console(), findings, settings)
    return all(each.health is not Health.BROKEN for each in findings)


def _settings(where: Where) -> tuple[Settings | None, list[Finding]]:
    try:
        settings = settings_of(where)
    except ConfigError as error:
        remedy = "correct these lines in .env, kinkeeper.toml or the environment"
        return None, [_broken("settings", str(error), remedy)]
    return settings, [_ok("settings", f"environment {settings.env!r}")]


def _household(where: Where, settings: Settings) -> Finding:
    path = where.household or settings.family_context or Path("household.toml")
    if not path.exists():
        remedy = "make one with `kinkeeper init`, or name one with --household or FAMILY_CONTEXT"
        return _broken("household file", f"{path} does not exist", remedy)
    try:
        households = load_households(path, default_event_minutes=settings.default_event_minutes)
    except ConfigError as error:
        return _broken("household file", str(error), "correct the lines it names")
    members = sum(len(household.members) for household in households)
    events = sum(len(household.events) for household in households)
    several = f"{len(households)} households, " if len(households) > 1 else ""
    found = f"{path}: {several}{members} members, {events} events"
    warnings = [warning for household in households for warning in household.warnings]
    if warnings:
        return Finding(
            check="household file", health=Health.WARNING, found=found,
            remedy="; ".join(warnings),
        )  # fmt: skip
    return _ok("household file", found)


def _database(where: Where, settings: Settings) -> Iterator[Finding]:
    try:
        url = parse_address(where.db or database_address(settings))
    except KinkeeperError as error:
        yield _broken("database", str(error), "correct --db, DATABASE_URL or DB_PATH")
        return
    place = url.render_as_string(hide_password=True)
    if is_sqlite(url):
        file = Path(str(url.database))
        yield _folder(file)
        if not file.exists():
            yield _ok("database", f"{file} will be made at the first use")
            return
        place = str(file)
    try:
        engine = reader_engine(url, connections=1)
        try:
            with translated(), engine.connect() as connection:
                version = current_version(connection)
        finally:
            engine.dispose()
    except KinkeeperError as error:
        yield _broken("database", f"{place}: {error}", "see the message")
        return
    yield _version(place, version)


def _version(place: str, version: str | None) -> Finding:
    if version is None:
        return _ok("database", f"{place} is empty; tables are made at the first use")
    if version > SCHEMA_VERSION:
        remedy = "install the newer program, or restore a backup made with this one"
        found = f"{place} has schema {version}, newer than {SCHEMA_VERSION}"
        return _broken("database", found, remedy)
    if version < SCHEMA_VERSION:
        return _ok(
            "database", f"{place} has schema {version}; it is brought up to date at the next use"
        )
    return _ok("database", f"{place}, schema {version}")


def _folder(file: Path) -> Finding:
    folder = file.parent
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        remedy = "choose another folder with --db or DB_PATH, or make this one writable"
        return _broken("data folder", f"{existing} cannot be written", remedy)
    if file.exists() and stat.S_IMODE(file.stat().st_mode) & _OTHERS:
        return Finding(
            check="data folder", health=Health.WARNING, found=f"{file} can be read by others",
            remedy=f"chmod 600 {file}",
        )  # fmt: skip
    return _ok("data folder", str(folder))


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        return _broken("Python", version, "install Python 3.11 or newer")
    return _ok("Python", version)


def _library() -> Finding:
    try:
        check_library()
    except KinkeeperError as error:
        return _broken("SQLite library", sqlite.sqlite_version, str(error))
    return _ok("SQLite library", sqlite.sqlite_version)


def _clock() -> Finding:
    now = SystemClock().now()
    if now < _RELEASED:
        return _broken("clock", f"{now:%Y-%m-%d %H:%M} UTC", "set the machine's date and time")
    return _ok("clock", f"{now:%Y-%m-%d %H:%M} UTC")


def _ok(check: str, found: str) -> Finding:
    return Finding(check=check, health=Health.OK, found=found)


def _broken(check: str, found: str, remedy: str) -> Finding:
    return Finding(check=check, health=Health.BROKEN, found=found, remedy=remedy)


def _show(screen: Console, findings: list[Finding], settings: Settings | None) -> None:
    signs = {
        Health.OK: Text("✓ ok", "green"),
        Health.WARNING: Text("! warning", "yellow"),
        Health.BROKEN: Text("✗ broken", "bold red"),
    }
    table = Table(show_lines=False)
    for heading in ("", "check", "found"):
        table.add_column(heading, no_wrap=heading != "found", overflow="fold")
    for each in findings:
        remedy = f"\n→ {each.remedy}" if each.remedy else ""
        table.add_row(signs[each.health], each.check, f"{each.found}{remedy}")
    screen.print(table)
    if settings is not None:
        screen.print(_settings_table(settings))


def _settings_table(settings: Settings) -> Table:
    table = Table(title="Settings in force (changed ones are marked)", title_justify="left")
    for heading in ("setting", "value", "meaning"):
        table.add_column(heading)
    for name, field in Settings.model_fields.items():
        value: Any = getattr(settings, name)
        is_changed = value != field.default
        shown = Text("" if value is None else str(value), "bold" if is_changed else "dim")
        mark = "* " if is_changed else "  "
        table.add_row(f"{mark}{name.upper()}", shown, field.description or "")
    return table
