"""`kinkeeper serve`: the API, the pages and the workers in one process, reported to the service manager."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated

import structlog
import typer
import uvicorn

from kinkeeper.bootstrap import Houses
from kinkeeper.bootstrap.conversation import warm_up
from kinkeeper.bootstrap.houses import LAST_TURNS, Talking
from kinkeeper.bootstrap.telegram import telegram_connected
from kinkeeper.bootstrap.web import end_keys_of_who_left, web_context
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import opened_houses
from kinkeeper.cli.process_memory import end_at_once, give_back_unused, keep_what_is_loaded
from kinkeeper.cli.server_link import published
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import DeniedError, UnavailableError
from kinkeeper.core.extras import is_installed
from kinkeeper.core.time import SystemClock
from kinkeeper.jobs.job import Enqueuer
from kinkeeper.observability.failures import count_unforeseen, surviving
from kinkeeper.observability.log import log_as_json
from kinkeeper.settings.load import Supervisor, find_supervisor
from kinkeeper.settings.model import Settings
from kinkeeper.web.access.logins import somebody_decides
from kinkeeper.web.app import create_app
from kinkeeper.web.context import WebContext
from kinkeeper.web.guard import TimedProtocol
from kinkeeper.web.security.hosts import is_loopback
from kinkeeper.web.views.welcome import Heard

# Reports to the service manager: ready, alive, stopping. One datagram each.

READY = "READY=1"
STOPPING = "STOPPING=1"
ALIVE = "WATCHDOG=1"


def report(supervisor: Supervisor | None, state: str) -> None:
    """Send one report; without a supervisor nothing happens, and one that is gone is no error.

    Args:
        supervisor: Who waits for it.
        state: Such as `READY`.
    """
    if supervisor is None:
        return
    path = supervisor.socket
    address = "\0" + path[1:] if path.startswith("@") else path
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        try:
            sender.connect(address)
            sender.send(state.encode())
        except OSError:
            return


async def stay_alive(supervisor: Supervisor | None) -> None:
    """Report a sign of life, twice as often as it is waited for, until cancelled.

    It comes from the event loop: a loop that hangs reports nothing.
    """
    if supervisor is None or supervisor.patience is None:
        return
    half = supervisor.patience.total_seconds() / 2
    while True:
        with surviving("supervision", foreseen=OSError):
            report(supervisor, ALIVE)
        await asyncio.sleep(half)


log = structlog.get_logger()

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_FORCED = 70
_LAST_ANSWERS_SECONDS = 5

app = typer.Typer()


@app.command()
@located
def serve(
    where: Where,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="ADDRESS", help="Address to listen on; default is the setting HOST."
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="Port to listen on; default is the setting PORT, 0 picks a free port.",
        ),
    ] = None,
) -> None:
    """Run everything: web pages, API, chat bots and workers."""
    give_back_unused()
    with opened_houses(where) as houses:
        named = {"host": host, "port": port}
        given = {key: value for key, value in named.items() if value is not None}
        settings = houses.settings.model_copy(update=given)
        _require_logins(houses, settings.host)
        log_as_json()
        with (
            _listening(settings) as listener,
            published(settings, where.db, port=listener.getsockname()[1]),
            houses.live_queue() as queue,
            asyncio.Runner(loop_factory=_loop_factory()) as runner,
        ):
            runner.run(_serve(houses, settings, queue, listener))
    notice("stopped")
    end_at_once()


def _require_logins(houses: Houses, host: str) -> None:
    if is_loopback(host):
        return
    now = SystemClock().now()
    if not houses.store.read_now(
        lambda conn: any(somebody_decides(conn, each, now=now) for each in houses.by_id)
    ):
        raise DeniedError(
            f"HOST={host} can be reached from other machines, but nobody can sign in yet; "
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


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes the event loop: uvloop's where it is installed, else Python's own."""
    if not is_installed("fast"):
        return None
    import uvloop  # noqa: PLC0415 - of an extra

    return uvloop.new_event_loop


async def _serve(
    houses: Houses, settings: Settings, queue: Enqueuer, listener: socket.socket
) -> None:
    count_unforeseen(asyncio.get_running_loop())
    clock, working = SystemClock(), asyncio.Event()
    port, intakes = listener.getsockname()[1], houses.intakes(queue)
    for system in houses.systems:
        await system.store.write(
            partial(end_keys_of_who_left, household=system.household, now=clock.now())
        )
    async with (
        houses.talking(clock, role="serve") as talking,
        telegram_connected(houses, intakes, talking.talks, clock=clock) as telegram,
    ):
        context = web_context(
            houses,
            intakes,
            settings,
            port=port,
            clock=clock,
            working=working,
            telegram=telegram,
            talks=talking.talks,
            sample=_sample,
        )
        server = _Server(_config(settings, context), context, talking)
        supervisor = find_supervisor()
        with _told(server):
            async with (
                houses.working(
                    channels=telegram.channels, tasks=telegram.tasks, talking=talking, clock=clock
                ),
                asyncio.TaskGroup() as tasks,
            ):
                working.set()
                serving = tasks.create_task(server.serve([listener]))
                living = tasks.create_task(stay_alive(supervisor))
                await server.ready.wait()
                keep_what_is_loaded()
                notice(f"Kinkeeper is at {context.address} (Ctrl-C stops)")
                report(supervisor, READY)
                if telegram.channels:
                    context.visited.set()
                warming = tasks.create_task(_warmed_up(context))
                await serving
                report(supervisor, STOPPING)
                working.clear()
                warming.cancel()
                living.cancel()


async def _warmed_up(context: WebContext) -> None:
    """Load what the first turn needs once somebody is there: an idle server is spared its memory."""
    await context.visited.wait()
    with surviving("warming up"):
        await asyncio.to_thread(warm_up)


async def _sample() -> AsyncIterator[Heard]:
    """Play the sample family's days; what that takes is loaded when somebody first looks."""
    from kinkeeper.cli.chat_files import play_sample  # noqa: PLC0415 - an idle server is spared it

    async for heard in play_sample():
        yield heard


def _config(settings: Settings, context: WebContext) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(context),
        http=TimedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=settings.public_url is not None,
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_graceful_shutdown=_LAST_ANSWERS_SECONDS,
    )


class _Server(uvicorn.Server):
    """A server that says when it is ready, and leaves signals to its caller."""

    def __init__(self, config: uvicorn.Config, context: WebContext, talking: Talking) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._told = asyncio.Event()
        self._context = context
        self._talking = talking

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        # The inherited one looks ten times a second whether it is to stop.
        await self.on_tick(0)
        await self._told.wait()
        # Streams go on until the answers under way are told, or handed to another process.
        await self._talking.wind_down(LAST_TURNS)
        self._context.stopping.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        """Stop as soon as the requests in hand are answered; when told again, at once."""
        if self.should_exit:
            log.warning("serve.forced")
            os._exit(_FORCED)
        self.should_exit = True
        self._told.set()


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
