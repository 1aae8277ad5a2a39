"""Runs the server of this process until a signal ends it."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import structlog
import uvicorn
import uvloop

from kinkeeper.bootstrap import System
from kinkeeper.cli.located import Where
from kinkeeper.cli.opening import opened
from kinkeeper.cli.server_address import server_address
from kinkeeper.cli.supervision import READY, STOPPING, report, stay_alive
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import DeniedError, UnavailableError
from kinkeeper.core.time import SystemClock
from kinkeeper.observability.log import log_as_json
from kinkeeper.observer.intake import Intake
from kinkeeper.settings.model import Settings
from kinkeeper.settings.supervisor import find_supervisor
from kinkeeper.web.access.repository import somebody_decides
from kinkeeper.web.app import create_app
from kinkeeper.web.context import House, WebContext
from kinkeeper.web.readiness import DatabaseCheck
from kinkeeper.web.security.hosts import is_loopback

log = structlog.get_logger()

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_FORCED = 70
_LAST_ANSWERS_SECONDS = 5


def serve_until_told(where: Where, *, host: str | None, port: int | None) -> None:
    """Serve until SIGINT or SIGTERM; requests and work in hand are finished or handed back.

    A second signal ends the process at once; what was in hand then is taken up at the next start.

    Args:
        where: Household and database.
        host: Address instead of the one in the settings.
        port: Port instead of the one in the settings.

    Raises:
        DeniedError: The address can be reached from outside, and nobody was set up to log in.
        ConflictError: Another process runs the jobs of this SQLite file.
        UnavailableError: The port is taken.
        KinkeeperError: The household or its database cannot be used.
    """
    with opened(where) as system:
        named = {"host": host, "port": port}
        given = {key: value for key, value in named.items() if value is not None}
        settings = system.settings.model_copy(update=given)
        _require_logins(system, settings.host)
        log_as_json()
        with (
            _listening(settings) as listener,
            system.live_intake() as intake,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(_serve(system, settings, intake, listener))
    notice("stopped")


def _require_logins(system: System, host: str) -> None:
    if is_loopback(host):
        return
    household, now = system.household.id, SystemClock().now()
    if not system.store.read_now(lambda conn: somebody_decides(conn, household, now=now)):
        raise DeniedError(
            f"HOST={host} can be reached from other machines, and nobody can log in yet; "
            "run `kinkeeper invite MEMBER` first, or keep HOST=127.0.0.1"
        )


@contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=512)
    except OSError as error:
        raise UnavailableError(
            f"cannot listen on {settings.host}, port {settings.port} ({error.strerror}); "
            "choose another PORT or HOST"
        ) from error
    with listener:
        yield listener


async def _serve(
    system: System, settings: Settings, intake: Intake, listener: socket.socket
) -> None:
    context = web_context(system, settings, intake, port=listener.getsockname()[1])
    server = _Server(_config(settings, context), context)
    supervisor = find_supervisor()
    with _told(server):
        async with system.worker(), asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(server.serve([listener]))
            living = tasks.create_task(stay_alive(supervisor))
            await server.ready.wait()
            notice(f"Kinkeeper is at {context.address} (Ctrl-C stops)")
            report(supervisor, READY)
            await serving
            report(supervisor, STOPPING)
            living.cancel()


def web_context(system: System, settings: Settings, intake: Intake, *, port: int) -> WebContext:
    """Return what the routes work on.

    Args:
        system: The household and its database.
        settings: In force.
        intake: Tier 1, which leaves what it queues to the workers.
        port: Where the server listens.
    """
    clock = SystemClock()
    urls = [url for url in (settings.public_url, settings.telegram_webhook_url) if url]
    names = {urlsplit(url).hostname or "" for url in urls} | {settings.host.lower()}
    if not is_loopback(settings.host):
        names |= {socket.gethostname().lower(), f"{socket.gethostname().lower()}.local"}
    house = House(participants=system.participants, store=system.store, intake=intake)
    return WebContext(
        houses={system.household.id: house}, store=system.store, clock=clock,
        address=server_address(settings, port=port), names=frozenset(names),
        checks={"database": DatabaseCheck(system.store, clock)},
    )  # fmt: skip


def _config(settings: Settings, context: WebContext) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(context), http="httptools", ws="none", lifespan="off", log_config=None,
        access_log=False, server_header=False, date_header=False,
        proxy_headers=settings.public_url is not None,
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_graceful_shutdown=_LAST_ANSWERS_SECONDS,
    )  # fmt: skip


class _Server(uvicorn.Server):
    """A server that says when it is ready, and leaves signals to its caller."""

    def __init__(self, config: uvicorn.Config, context: WebContext) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._context = context

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        """Stop as soon as the requests in hand are answered; when told again, at once."""
        if self.should_exit:
            log.warning("serve.forced")
            os._exit(_FORCED)
        self.should_exit = True
        self._context.stopping.set()


@contextmanager
def _told(server: _Server) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, server.stop)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
