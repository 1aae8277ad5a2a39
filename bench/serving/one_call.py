"""The call to a model that is timed, and what makes it; loads nothing that calling does not need."""

from datetime import timedelta

from kinkeeper.models.client import HttpChatModel, HttpServer
from kinkeeper.models.connection import ServerConnection
from kinkeeper.models.endpoints import Dialect, Endpoint, RoleModel
from kinkeeper.models.model import Author, ChatMessage, ChatRequest, ModelRole, PromptRef

HOUSEHOLD = "bench"
_INSTRUCTIONS = "Read the message and answer with one JSON object. " * 40


async def make_one_call(url: str) -> None:
    """Make one call with nothing around the client.

    Args:
        url: Base address of the server.
    """
    role = role_on(url)
    server = server_of(role)
    await HttpChatModel(server, role).complete(call())
    await server.connection.close()


def role_on(url: str) -> RoleModel:
    """Return the model that is called.

    Args:
        url: Base address of its server.
    """
    return RoleModel(
        endpoint=Endpoint(url=url, dialect=Dialect.OPENAI),
        model="none",
        timeout=timedelta(seconds=30),
        temperature=0,
        max_output_tokens=300,
        context_tokens=4096,
    )


def server_of(role: RoleModel) -> HttpServer:
    """Return a role's server, not connected to yet."""
    connection = ServerConnection(role.endpoint, allows_public=False)
    return HttpServer(connection, role.endpoint.dialect)


def call() -> ChatRequest:
    """Return the call."""
    return ChatRequest(
        role=ModelRole.LIGHT,
        prompt=PromptRef(id="bench", version=1, hash="0" * 64),
        messages=(
            ChatMessage(author=Author.SYSTEM, text=_INSTRUCTIONS),
            ChatMessage(author=Author.USER, text="Leo has chess at four, who takes him?"),
        ),
        household=HOUSEHOLD,
        is_ambient=True,
    )
