"""POST /telegram/webhook: updates as the chat service posts them."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kinkeeper.core.errors import DeniedError, NotFoundError
from kinkeeper.web.context import Webhook, context_of
from kinkeeper.web.plain import plain_route

_SECRET_HEADER = "x-telegram-bot-api-secret-token"  # noqa: S105 - a header's name


async def genuine(request: Request) -> Webhook:
    """Rule: lets in who knows the agreed secret.

    Raises:
        NotFoundError: No updates are taken here.
        DeniedError: The secret is missing or wrong.
    """
    webhook = context_of(request).webhook
    if webhook is None:
        raise NotFoundError("updates are not accepted here")
    if not webhook.is_genuine(request.headers.get(_SECRET_HEADER)):
        raise DeniedError("the secret is missing or wrong")
    return webhook


async def receive(request: Request) -> Response:
    """Take in one update; answers once it is durable."""
    webhook: Webhook = request.state.person
    await webhook.receive(await request.body())
    return Response(status_code=200)


routes: list[Route] = [
    plain_route(
        "/telegram/webhook", receive, rule=genuine, methods=("POST",),
    )
]  # fmt: skip
