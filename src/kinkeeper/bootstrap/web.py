"""Households as the web server sees them."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from urllib.parse import urlsplit

import structlog
from sqlalchemy import Connection

from kinkeeper.bootstrap.brain import brain_findings
from kinkeeper.bootstrap.calendar_checks import calendar_findings
from kinkeeper.bootstrap.conversation import Talk
from kinkeeper.bootstrap.houses import Houses, read_households
from kinkeeper.bootstrap.memory import memory_findings
from kinkeeper.bootstrap.models import model_findings
from kinkeeper.bootstrap.nights import upkeep_findings
from kinkeeper.bootstrap.outside import mail_findings, tool_findings
from kinkeeper.bootstrap.reminders import reminder_findings
from kinkeeper.bootstrap.self_correction import review_finding
from kinkeeper.bootstrap.telegram import Connected
from kinkeeper.core.errors import ConfigError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.observability.failures import failure_finding
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.observer.intake import Intake
from kinkeeper.settings.model import Settings, outbound_hosts
from kinkeeper.store.checks import (
    backup_findings,
    database_findings,
    machine_findings,
    trial_findings,
)
from kinkeeper.web.access.logins import end_keys_of_others
from kinkeeper.web.context import House, WebContext
from kinkeeper.web.probes import DatabaseCheck
from kinkeeper.web.security.hosts import is_loopback
from kinkeeper.web.views.welcome import Heard

log = structlog.get_logger()

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - shown, not listened on


def web_context(
    houses: Houses,
    intakes: Mapping[str, Intake],
    settings: Settings,
    *,
    port: int,
    clock: Clock,
    working: asyncio.Event,
    telegram: Connected,
    talks: Mapping[str, Talk],
    sample: Callable[[], AsyncIterator[Heard]] | None = None,
) -> WebContext:
    """Return what the server's routes work on.

    Args:
        intakes: Tier 1 of each household, which leaves what it queues to the workers.
        working: Set while the workers run.
        telegram: What runs for the chat service.
        talks: What each household's members are talked with, by household id.
        sample: Plays the sample family's days.
    """

    async def workers_run() -> str | None:
        return None if working.is_set() else "no worker is running"

    return WebContext(
        houses={
            household: House(
                participants=system.participants,
                store=system.store,
                intake=intakes[household],
                prover=system.prover(),
                finder=system.recall.finder,
                streaming=talks[household].streaming,
                context_tokens=settings.context_budget_tokens,
                conversation=talks[household].conversation,
            )
            for household, system in houses.by_id.items()
        },
        store=houses.store,
        clock=clock,
        address=server_address(settings, port=port),
        names=_names(settings),
        webhook=telegram.webhook,
        hosts=outbound_hosts(settings),
        sample=sample,
        checks={"database": DatabaseCheck(houses.store, clock), "jobs": workers_run},
        checkup=partial(
            _check_up, houses=houses, settings=settings, clock=clock, telegram=telegram
        ),
    )


def end_keys_of_who_left(conn: Connection, household: Household, *, now: datetime) -> None:
    """End the logins, tokens, invites and calendar addresses of people who are no longer in the household file."""
    members = {member.id for member in household.members}
    if ended := end_keys_of_others(conn, household.id, members, now=now):
        log.warning("web.keys.ended", household=household.id, keys=ended)


def server_address(settings: Settings, *, port: int | None = None) -> str:
    """Return where people reach the server: scheme, name and port, without a slash at the end.

    Args:
        port: Where the server really listens; PORT where None.
    """
    if settings.public_url:
        return settings.public_url
    host = _EVERYWHERE.get(settings.host, settings.host)
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{settings.port if port is None else port}"


def _names(settings: Settings) -> frozenset[str]:
    """Return the host names by which the server can be asked for."""
    urls = [url for url in (settings.public_url, settings.telegram_webhook_url) if url]
    names = {urlsplit(url).hostname or "" for url in urls} | {settings.host.lower()}
    if not is_loopback(settings.host):
        machine = socket.gethostname().lower()
        names |= {machine, f"{machine}.local"}
    return frozenset(names)


def _file_finding(houses: Houses, household: str) -> Finding:
    """Tell whether the household's file still says what this process goes by."""
    check = "household file"
    if houses.file is None:
        return ok(check, "there is no file to watch for changes")
    try:
        found = {each.id: each for each in read_households(houses.file, houses.settings)}
    except ConfigError:
        remedy = "`kinkeeper doctor` names the lines; until they are fixed, the old version applies"
        return warning(check, "it has changed since the server started, and cannot be read", remedy)
    if found.get(household) == houses.by_id[household].household:
        return ok(check, "it has not changed since the server started")
    remedy = (
        "restart `kinkeeper serve`; until then, people who were removed can still approve things"
    )
    return warning(
        check, "it has changed since the server started; the changes are not in use yet", remedy
    )


def _check_up(
    household: str, *, houses: Houses, settings: Settings, clock: Clock, telegram: Connected
) -> Sequence[Finding]:
    """Return what a household may know: nothing of another's groups and members."""
    now, url = clock.now(), houses.store.url
    is_alone = len(houses.systems) == 1
    chats = [
        each for each in telegram.findings() if is_alone or each.household in {None, household}
    ]
    return [
        failure_finding(),
        _file_finding(houses, household),
        *database_findings(url),
        *backup_findings(url, settings.backup_dir, now),
        *trial_findings(houses.store, settings.backup_dir),
        *memory_findings(settings, [houses.by_id[household].household], houses.store),
        *upkeep_findings([houses.by_id[household].household], houses.store, now=now),
        *reminder_findings(houses.store, [houses.by_id[household].household], now=now),
        *chats,
        *tool_findings(settings, [houses.by_id[household].household], houses.store),
        *calendar_findings(
            settings, [each.household for each in houses.systems], houses.store, clock=clock
        ),
        *brain_findings(settings, [houses.by_id[household].household]),
        *model_findings(settings),
        review_finding(settings),
        *mail_findings(settings, [each.household for each in houses.systems]),
        *machine_findings(now),
    ]
