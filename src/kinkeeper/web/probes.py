"""Is the process alive, is it ready, how is it doing."""

from datetime import timedelta
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kinkeeper.memory.context.prefetch import Streaming
from kinkeeper.models.repository import count_fallbacks, count_outcomes
from kinkeeper.observability.failures import FAILURES, POSTPONED
from kinkeeper.observability.server import counts_text
from kinkeeper.web.access.door import Allowed, anyone, house_of
from kinkeeper.web.access.model import DECIDERS
from kinkeeper.web.context import context_of
from kinkeeper.web.plain import plain_route
from kinkeeper.web.workload import load_work

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
    """Answer the server's figures and those of the asker's household, in the Prometheus text format."""
    context, house = context_of(request), house_of(request, request.state.person)
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
        "kinkeeper_failed_rounds",
        "Background work that failed since startup, by name.",
        FAILURES,
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
        "turns": figures.turns, "looked up": figures.searched, "failed": figures.failed,
        "warm": figures.warm, "cold": figures.cold, "memories": figures.streamed,
        "memories taken up": figures.used,
    }  # fmt: skip


routes: list[Route] = [
    plain_route("/healthz", healthz, rule=anyone),
    plain_route("/readyz", readyz, rule=anyone),
    plain_route("/metrics", metrics, rule=Allowed(DECIDERS)),
]
