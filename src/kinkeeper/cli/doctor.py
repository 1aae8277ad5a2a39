"""`kinkeeper doctor`: checks the setup."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from sqlalchemy import URL, Connection

from kinkeeper.bootstrap import database_address, read_households
from kinkeeper.bootstrap.brain import brain_findings
from kinkeeper.bootstrap.calendar_checks import calendar_server_findings, stored_calendar_findings
from kinkeeper.bootstrap.memory import embedder_finding, memory_findings
from kinkeeper.bootstrap.models import model_findings
from kinkeeper.bootstrap.nights import upkeep_findings
from kinkeeper.bootstrap.outside import mail_server_findings, stored_tool_findings
from kinkeeper.bootstrap.reminders import reminder_findings
from kinkeeper.bootstrap.telegram import telegram_findings
from kinkeeper.cli.located import JsonOption, Where, located
from kinkeeper.cli.opener import opened_houses, settings_of
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.errors import ConfigError, KinkeeperError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Household
from kinkeeper.memory.invariants import check, mend
from kinkeeper.observability.findings import Finding, Health, broken, ok, warning
from kinkeeper.settings.model import Settings
from kinkeeper.store.checks import (
    backup_findings,
    database_findings,
    machine_findings,
    stored_findings,
    trial_findings,
)
from kinkeeper.store.engines import parse_address
from kinkeeper.store.store import Store
from kinkeeper.web.access.logins import list_keys
from kinkeeper.web.access.model import KeyKind, is_alive

# Checks of what a database holds: whether memory is sound, found, and looked after; whether
# reminders are said.

_CHECK = "memory"
_SHOWN = 3


def stored_memory_findings(
    url: URL, settings: Settings, households: Sequence[Household], *, now: datetime
) -> Sequence[Finding]:
    """Check the memories in a database, as `stored_findings` does."""
    return stored_findings(
        url,
        _CHECK,
        lambda store: [
            *(_soundness(store, household.id) for household in households),
            *memory_findings(settings, households, store),
            *upkeep_findings(households, store, now=now),
            *reminder_findings(store, households, now=now),
        ],
    )


def _soundness(store: Store, household: str) -> Finding:
    breaches = store.read_now(lambda conn: check(conn, household))
    if not breaches:
        found = ok(_CHECK, "every memory has a source")
        return replace(found, household=household)
    told = "; ".join(f"{len(each.ids)} × {each.what}" for each in breaches[:_SHOWN])
    if any(each.is_mendable for each in breaches):
        remedy = "run `kinkeeper doctor --mend`; you can undo it on the Memory page"
    else:
        remedy = "restore an earlier backup with `kinkeeper restore FILE`"
    return replace(broken(_CHECK, told, remedy), household=household)


# Whether keys that open a household end at some time.

_KEYS_CHECK = "tokens"


def stored_key_findings(
    url: URL, households: Sequence[Household], *, now: datetime
) -> Sequence[Finding]:
    """Return which households have API tokens that never expire, as `stored_findings` does."""
    return stored_findings(
        url, _KEYS_CHECK, lambda store: [_tokens(store, each, now) for each in households]
    )


def _tokens(store: Store, household: Household, now: datetime) -> Finding:
    keys = store.read_now(lambda conn: list_keys(conn, household.id))
    alive = [each for each in keys if each.kind is KeyKind.TOKEN and is_alive(each, now)]
    endless = sum(each.expires_at is None for each in alive)
    if not endless:
        return ok(_KEYS_CHECK, f"{len(alive)} API tokens, all with an expiry date")
    return Finding(
        check=_KEYS_CHECK,
        health=Health.WARNING,
        found=f"{endless} of {len(alive)} API tokens never expire",
        remedy="see `kinkeeper token list`; revoke what is no longer used and create new ones, which last 365 days",
        household=household.id,
    )


app = typer.Typer()


@app.command()
@located
def doctor(
    where: Where,
    json_: JsonOption = False,
    mend: Annotated[
        bool, typer.Option("--mend", help="First rebuild damaged memories where possible.")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Show every setting, not only those you changed.")
    ] = False,
) -> None:
    """Check your setup and explain how to fix problems."""
    if mend:
        _mend_memories(where)
    if not _check_up(where, as_json=json_, show_all=all_):
        raise typer.Exit(1)


def _check_up(where: Where, *, as_json: bool, show_all: bool = False) -> bool:
    """Run all checks and show the results and settings; returns whether nothing is broken.

    Args:
        show_all: Show every setting instead of the changed ones only.
    """
    settings, findings = _settings(where)
    if settings is not None:
        households, found = _households(where, settings)
        findings += [found, *_database(where, settings, households)]
        findings += [*brain_findings(settings, households), *model_findings(settings)]
        findings.append(embedder_finding(settings))
        findings += mail_server_findings(settings, households)
        findings += calendar_server_findings(settings)
    findings += machine_findings(SystemClock().now())
    if as_json:
        values = settings.model_dump(mode="json") if settings else None
        answer_json({"checks": [asdict(each) for each in findings], "settings": values})
    else:
        _show(console(), findings, settings, show_all=show_all)
    return all(each.health is not Health.BROKEN for each in findings)


def _settings(where: Where) -> tuple[Settings | None, list[Finding]]:
    try:
        settings = settings_of(where)
    except ConfigError as error:
        remedy = "correct these lines in .env, kinkeeper.toml or the environment"
        return None, [broken("settings", str(error), remedy)]
    return settings, [ok("settings", f"environment {settings.env!r}")]


def _households(where: Where, settings: Settings) -> tuple[Sequence[Household], Finding]:
    path = where.household or settings.family_context or Path("household.toml")
    if not path.exists():
        remedy = (
            "create one with `kinkeeper init`, or specify one with --household or FAMILY_CONTEXT"
        )
        return (), broken("household file", f"{path} does not exist", remedy)
    try:
        households = read_households(path, settings)
    except ConfigError as error:
        return (), broken("household file", str(error), "correct the lines it names")
    members = sum(len(household.members) for household in households)
    events = sum(len(household.events) for household in households)
    several = f"{len(households)} households, " if len(households) > 1 else ""
    found = f"{path}: {several}{members} members, {events} events"
    warnings = [each for household in households for each in household.warnings]
    if warnings:
        return households, warning("household file", found, "; ".join(warnings))
    return households, ok("household file", found)


def _database(where: Where, settings: Settings, households: Sequence[Household]) -> list[Finding]:
    try:
        url = parse_address(where.db or database_address(settings))
    except KinkeeperError as error:
        return [broken("database", str(error), "correct --db, DATABASE_URL or DB_PATH")]
    now = SystemClock().now()
    backups = backup_findings(url, settings.backup_dir, now)
    trial = stored_findings(
        url, "backup restore test", lambda store: trial_findings(store, settings.backup_dir)
    )
    telegram = telegram_findings(settings, households, url)
    memory = stored_memory_findings(url, settings, households, now=now)
    calendar = stored_calendar_findings(url, settings, households)
    tools = stored_tool_findings(url, settings, households)
    keys = stored_key_findings(url, households, now=now)
    return [*database_findings(url), *backups, *trial, *memory, *telegram, *calendar, *tools, *keys]


def _show(
    screen: Console, findings: list[Finding], settings: Settings | None, *, show_all: bool
) -> None:
    signs = {
        Health.OK: Text("✓ ok", "green"),
        Health.WARNING: Text("! warning", "yellow"),
        Health.BROKEN: Text("✗ broken", "bold red"),
    }
    table = Table(show_lines=False)
    for heading in ("", "check", "found"):
        table.add_column(heading, no_wrap=heading != "found", overflow="fold")
    several = len({each.household for each in findings if each.household}) > 1
    for each in findings:
        whose = f", {each.household}" if several and each.household else ""
        remedy = f"\n→ {each.remedy}" if each.remedy else ""
        table.add_row(signs[each.health], f"{each.check}{whose}", f"{each.found}{remedy}")
    screen.print(table)
    if settings is not None:
        screen.print(_settings_table(settings, show_all=show_all))
    screen.print(_verdict(findings))


def _verdict(findings: list[Finding]) -> Text:
    broken_ = sum(each.health is Health.BROKEN for each in findings)
    warnings = sum(each.health is Health.WARNING for each in findings)
    if broken_:
        return Text(
            f"{broken_} of {len(findings)} checks failed; see the arrows above.", "bold red"
        )
    if warnings:
        return Text(f"Ready to use, with {warnings} warning(s); see the arrows above.", "yellow")
    return Text("Everything is fine. Start it with `kinkeeper serve`.", "green")


def _settings_table(settings: Settings, *, show_all: bool) -> Table:
    title = "All settings (* = changed)" if show_all else "Changed settings (--all shows every one)"
    table = Table(title=title, title_justify="left")
    for heading in ("setting", "value", "meaning"):
        table.add_column(heading)
    # Written as JSON, a setting hides what is secret in it.
    values: Mapping[str, Any] = settings.model_dump(mode="json")
    for name, field in Settings.model_fields.items():
        value, is_changed = values[name], getattr(settings, name) != field.default
        shown = Text("" if value is None else str(value), "bold" if is_changed else "dim")
        if not (is_changed or show_all):
            continue
        mark = "* " if is_changed else "  "
        table.add_row(f"{mark}{name.upper()}", shown, field.description or "")
    return table


def _mend_memories(where: Where) -> None:
    """Work broken memories of all households out anew, and say how many there were."""
    now = SystemClock().now()
    with opened_houses(where) as houses:
        for household, system in houses.by_id.items():
            count = system.store.write_now(partial(_mend, household=household, now=now))
            notice(f"{household}: {count} memories rebuilt")


def _mend(conn: Connection, *, household: str, now: datetime) -> int:
    breaches = check(conn, household)
    count = sum(len(each.ids) for each in breaches if each.is_mendable)
    if count:
        mend(conn, household, breaches, at=now)
    return count
