"""Is the process alive, is it and its database ready, how is it doing."""

import shutil
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from secrets import token_hex

from sqlalchemy import Connection, text
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kinkeeper.core.errors import KinkeeperError, UnavailableError
from kinkeeper.core.extras import missing_extra
from kinkeeper.core.time import Clock
from kinkeeper.jobs.runners import beat
from kinkeeper.memory.context.prefetch import Streaming
from kinkeeper.models.repository import count_fallbacks, count_outcomes
from kinkeeper.observability.failures import FAILURES, POSTPONED
from kinkeeper.observability.server import counts_text
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.migrate import SCHEMA_VERSION, current_version
from kinkeeper.store.store import Store
from kinkeeper.web.access.door import Allowed, anyone, house_of
from kinkeeper.web.access.model import DECIDERS
from kinkeeper.web.context import context_of
from kinkeeper.web.route_parts import plain_route
from kinkeeper.web.workload import load_work

# Whether the database takes writes and has the tables this program knows.

# Each look costs a durable write; who asks more often gets the last answer.
_BELIEVED = timedelta(seconds=2)

_LEAST_FREE = 8 * 1024 * 1024
"""Bytes that must be free on the disk of the database: about what its log grows by between two checkpoints."""


class DatabaseCheck:
    """Writes to the database to see that it can be written."""

    def __init__(self, store: Store, clock: Clock) -> None:
        # A lock of its own: probes of several servers do not wait for each other.
        self._store = store.locking(f"readiness/{token_hex(8)}")
        self._clock = clock
        self._looked_at: datetime | None = None
        self._missing: str | None = None

    async def __call__(self) -> str | None:
        """Return what is wrong, or None."""
        now, last = self._clock.now(), self._looked_at
        # A clock that was set back makes the last look one of the future, which says nothing.
        if last is None or not last <= now < last + _BELIEVED:
            self._looked_at = now
            self._missing = await self._look()
        return self._missing

    async def _look(self) -> str | None:
        if is_sqlite(self._store.url) and (full := _full(Path(str(self._store.url.database)))):
            return full
        try:
            version = await self._store.write(_touch)
        except KinkeeperError as error:
            return str(error)
        return None if version == SCHEMA_VERSION else "its tables do not belong to this program"


def _full(file: Path) -> str | None:
    """Return a message where the disk of a database file has no room left.

    A write that changes no page fits on a full disk, so the free space is what tells.
    """
    try:
        free = shutil.disk_usage(file.absolute().parent).free
    except OSError as error:
        return f"the folder of the database cannot be read ({error.strerror})"
    return None if free >= _LEAST_FREE else "the disk is full"


def _touch(conn: Connection) -> str | None:
    if not beat(conn):
        conn.execute(text("UPDATE alembic_version SET version_num = version_num"))
    return current_version(conn)


_RECENT = timedelta(days=30)
_ALIVE = b'{"status":"ok"}'


async def healthz(_request: Request) -> Response:
    """Answer that the process is alive."""
    return Response(_ALIVE, media_type="application/json")


async def readyz(request: Request) -> Response:
    """Answer whether messages can be taken in and worked on: 200, or 503 with what is missing."""
    checks = context_of(request).checks
    found = {name: await check() for name, check in checks.items()}
    is_ready = not any(found.values())
    return JSONResponse(
        {
            "status": "ok" if is_ready else "not ready",
            "checks": {name: missing or "ok" for name, missing in found.items()},
        },
        status_code=HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE,
    )


async def metrics(request: Request) -> Response:
    """Answer the server's figures and those of the asker's household, in the Prometheus text format.

    Raises:
        UnavailableError: The library for that format is not installed.
    """
    context, house = context_of(request), house_of(request, request.state.person)
    if context.metrics is None:
        raise UnavailableError(f"/metrics {missing_extra('metrics')}")
    since = context.clock.now() - _RECENT
    household = house.household.id
    work, calls, fallbacks = await house.store.read(
        lambda conn: (
            load_work(conn, household, since=since),
            count_outcomes(conn, household, since=since),
            count_fallbacks(conn, household, since=since),
        )
    )
    text = (
        context.metrics.text()
        + counts_text("kinkeeper_messages", "Messages in the last 30 days, by state.", work.reading)
        + counts_text(
            "kinkeeper_outbox", "Outgoing messages in the last 30 days, by state.", work.sending
        )
        + counts_text(
            "kinkeeper_failed_updates",
            "Updates that could not be processed.",
            {"kept": work.failed_updates},
        )
        + counts_text("kinkeeper_model_calls", "Model calls in the last 30 days, by role.", calls)
        + counts_text(
            "kinkeeper_model_fallbacks",
            "How often a stage ran without a model in the last 30 days.",
            {" ".join(where): count for where, count in fallbacks.items()},
        )
    )
    text += counts_text(
        "kinkeeper_failed_rounds", "Background work that failed since startup, by name.", FAILURES
    ) + counts_text(
        "kinkeeper_postponed_rounds",
        "Background work postponed since startup because something was unavailable, by name.",
        POSTPONED,
    )
    if house.streaming is not None:
        text += counts_text(
            "kinkeeper_streaming",
            "Session turns, and memories looked up for them in advance, since startup.",
            _streaming(house.streaming),
        )
    return Response(text, media_type="text/plain; version=0.0.4")


def _streaming(streaming: Streaming) -> dict[str, int]:
    figures = streaming.figures
    return {
        "turns": figures.turns,
        "looked up": figures.searched,
        "failed": figures.failed,
        "warm": figures.warm,
        "cold": figures.cold,
        "memories": figures.streamed,
        "memories taken up": figures.used,
    }


routes: list[Route] = [
    plain_route("/healthz", healthz, rule=anyone),
    plain_route("/readyz", readyz, rule=anyone),
    plain_route("/metrics", metrics, rule=Allowed(DECIDERS)),
]
