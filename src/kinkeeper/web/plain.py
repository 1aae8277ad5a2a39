"""Plain routes: for what is asked so often that a page's comforts would cost too much."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

Endpoint = Callable[[Request], Awaitable[Response]]
Rule = Callable[[Request], Awaitable[Any]]


def plain_route(
    path: str,
    endpoint: Endpoint,
    *,
    rule: Rule,
    methods: tuple[str, ...] = ("GET",),
) -> Route:
    """Return a route that first applies its rule; what the rule returns is `request.state.person`.

    Args:
        path: Template.
        endpoint: Answers.
        rule: Who may use it: an `Allowed`, or `anyone`.
        methods: Of HTTP.
    """

    async def guarded(request: Request) -> Response:
        request.state.person = await rule(request)
        return await endpoint(request)

    guarded.rule = rule  # type: ignore[attr-defined]  # a test reads it
    return Route(path, guarded, methods=list(methods))
