"""What routes are made of: plain ones for what is asked often, and numbers and times of requests."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kinkeeper.core.errors import InputError
from kinkeeper.core.time import check_told

# Plain routes: for what is asked so often that a page's comforts would cost too much.

Endpoint = Callable[[Request], Awaitable[Response]]
Rule = Callable[[Request], Awaitable[Any]]


def plain_route(
    path: str, endpoint: Endpoint, *, rule: Rule, methods: tuple[str, ...] = ("GET",)
) -> Route:
    """Return a route that first applies its rule; what the rule returns is `request.state.person`.

    Args:
        rule: Who may use it: an `Allowed`, or `anyone`.
    """

    async def guarded(request: Request) -> Response:
        request.state.person = await rule(request)
        return await endpoint(request)

    guarded.rule = rule  # type: ignore[attr-defined]  # a test reads it
    return Route(path, guarded, methods=list(methods))


# Numbers and times of requests, no further than a database column reaches.

LARGEST_NUMBER: Final = 2**31 - 1
"""Of a row or an event: what a column of numbers holds in every database."""


def _told(instant: datetime) -> datetime:
    try:
        return check_told(instant)
    except InputError as error:
        raise ValueError(error) from None


ToldTime = Annotated[datetime, AfterValidator(_told)]
"""A time within the years that can be shown and reckoned with in every zone."""
