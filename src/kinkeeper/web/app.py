"""The application: every route, and what holds for all of them."""

from fastapi import FastAPI
from starlette.routing import Route

from kinkeeper.web import probes, problems
from kinkeeper.web.access.door import Door
from kinkeeper.web.api import access as access_api
from kinkeeper.web.api import observe, webhook
from kinkeeper.web.context import WebContext
from kinkeeper.web.guard import Guard
from kinkeeper.web.pages import every


def create_app(context: WebContext) -> FastAPI:
    """Return the server's application.

    Args:
        context: What it works on.
    """
    app = FastAPI(
        title="Kinkeeper",
        docs_url=None,
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.context = context
    app.state.door = Door(context)
    # Plain routes, and first: what comes with every message must not pay for what pages need.
    hot: list[Route] = [*observe.routes, *probes.routes, *every.plain]
    if context.webhook is not None:
        hot += webhook.routes
    app.router.routes[:0] = hot
    for router in (access_api.router, *every.routers):
        app.include_router(router)
    problems.install(app)
    app.add_middleware(Guard, context=context, routes=app)
    return app
