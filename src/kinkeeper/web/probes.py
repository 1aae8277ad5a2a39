"""Is the process alive, is it ready, how is it doing."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kinkeeper.web.access.door import Allowed, anyone
from kinkeeper.web.access.model import DECIDERS
from kinkeeper.web.context import context_of
from kinkeeper.web.plain import plain_route

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
    """Answer all figures in the Prometheus text format."""
    return Response(context_of(request).metrics.text(), media_type="text/plain; version=0.0.4")


routes: list[Route] = [
    plain_route("/healthz", healthz, rule=anyone),
    plain_route("/readyz", readyz, rule=anyone),
    plain_route("/metrics", metrics, rule=Allowed(DECIDERS)),
]
