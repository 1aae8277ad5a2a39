"""The application: every route, and what holds for all of them."""

from dataclasses import replace
from typing import Any

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from kinkeeper.web import live, probes, problems
from kinkeeper.web import mcp_route as model_context
from kinkeeper.web.access.door import Door
from kinkeeper.web.api import access as access_api
from kinkeeper.web.api import (
    chat,
    completions,
    event_edits,
    events,
    goals,
    memory,
    observability,
    observe,
    observer,
    sessions,
    tasks,
)
from kinkeeper.web.api import pending as pending_api
from kinkeeper.web.api.description import described
from kinkeeper.web.context import WebContext
from kinkeeper.web.guard import Guard
from kinkeeper.web.pages import every

_API = (
    access_api.router,
    pending_api.router,
    events.router,
    event_edits.router,
    observer.router,
    sessions.router,
    memory.router,
    tasks.router,
    goals.router,
    chat.router,
    completions.router,
    observability.router,
)


def _hurried(context: WebContext) -> WebContext:
    """Let nobody wait for the database as long as workers do."""
    houses = {
        name: replace(house, store=house.store.impatient(context.patience))
        for name, house in context.houses.items()
    }
    return replace(context, store=context.store.impatient(context.patience), houses=houses)


class Application(FastAPI):
    """The routes, behind the guard."""

    def __init__(self, context: WebContext) -> None:
        super().__init__(
            title="Kinkeeper",
            docs_url=None,
            redoc_url=None,
            telemetry={"tracing": False, "metrics": False, "logs": False},
        )
        context = _hurried(context)
        self.state.context = context
        self.state.door = Door(context)
        self.state.editions = events.Editions()
        self.state.listeners = live.Listeners()
        # What comes with every message must not pay for what pages need.
        hot = [*observe.routes, *(observe.webhook_routes if context.webhook is not None else ())]
        self.router.routes[:0] = [*hot, *probes.routes, *model_context.routes, *every.plain]
        for router in (*_API, *every.routers):
            self.include_router(router)
        problems.install(self)
        self._guard = Guard(super().__call__, context=context, application=self, hot=hot)

    def openapi(self) -> dict[str, Any]:
        """Return what the server offers to programs."""
        if self.openapi_schema is None:
            self.openapi_schema = described(super().openapi())
        return self.openapi_schema

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self._guard(scope, receive, send)


def create_app(context: WebContext) -> FastAPI:
    """Return the server's application."""
    return Application(context)
