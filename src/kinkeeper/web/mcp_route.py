"""POST /mcp: the Model Context Protocol, for other programs' models, with the rights of a member."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.extras import missing_extra
from kinkeeper.web.access import logins
from kinkeeper.web.access.door import Allowed, door_of
from kinkeeper.web.access.model import READERS, KeyKind
from kinkeeper.web.context import context_of
from kinkeeper.web.route_parts import plain_route
from kinkeeper.web.security.browser_protection import require_own_origin

# POST /mcp: the Model Context Protocol, for models of other programs; with the token and the rights
# of a member.


class _Exchange(Response):
    """Answers out of the request itself, which the protocol's library reads."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        from kinkeeper.web.mcp_server import exchange  # noqa: PLC0415 - most servers never need it

        await exchange(scope, receive, send)


async def exchange_messages(request: Request) -> Response:
    """Answer a message of the protocol.

    A token that is used here is a program's from then on: whoever holds it must not also write or decide with it.

    Raises:
        DeniedError: A page of another site sent it.
        UnavailableError: The protocol's library is not installed.
    """
    if (missing := missing_extra("mcp")) is not None:
        raise UnavailableError(f"the Model Context Protocol {missing}")
    require_own_origin(request)
    key = request.state.person.key
    if key.kind is KeyKind.TOKEN and not key.is_program:
        await context_of(request).store.write(lambda conn: logins.mark_program(conn, key))
        door_of(request).forget()
    return _Exchange()


routes: list[Route] = [
    plain_route(
        "/mcp", exchange_messages, rule=Allowed(READERS, takes_programs=True), methods=("POST",)
    )
]
