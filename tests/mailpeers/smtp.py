"""An SMTP server that keeps what it takes, and can be told to refuse, stall or break off."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


@dataclass(slots=True)
class Post:
    """What a server took, and how it is to behave.

    Attributes:
        url: Where it listens.
        taken: Each mail with its recipients, in order.
        said_to_recipients: Answers to further recipients, by address.
        said_to_text: Answers to further texts; then it takes them.
        breaks_off: Whether it takes the next text and breaks off before it says so.
        logins: Users that logged in.
    """

    url: str = ""
    taken: list[tuple[tuple[str, ...], bytes]] = field(default_factory=list)
    said_to_recipients: dict[str, str] = field(default_factory=dict)
    said_to_text: list[str] = field(default_factory=list)
    breaks_off: bool = False
    logins: list[str] = field(default_factory=list)

    @property
    def messages(self) -> list[Message]:
        return [message_from_bytes(raw, policy=default) for _, raw in self.taken]

    async def handle_RCPT(  # noqa: N802 - the server calls it so
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if said := self.said_to_recipients.get(address):
            return said
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 - the server calls it so
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        if self.said_to_text:
            return self.said_to_text.pop(0)
        content = envelope.content
        assert isinstance(content, bytes)
        self.taken.append((tuple(envelope.rcpt_tos), content))
        if self.breaks_off:
            self.breaks_off = False
            transport = server.transport
            assert isinstance(transport, asyncio.Transport)
            transport.abort()
        return "250 taken as 7Q1"

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: object
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        is_right = data.password == b"pass:word/1"
        if is_right:
            self.logins.append(data.login.decode())
        return AuthResult(success=is_right, handled=False, auth_data=data)


class _Controller(Controller):
    """Lets go of its connections before it stops, which the library leaves to chance."""

    def __init__(self, handler: Post, **options: Any) -> None:
        self._made: list[SMTP] = []
        super().__init__(handler, **options)

    def factory(self) -> SMTP:
        self._made.append(super().factory())
        return self._made[-1]

    async def let_go(self) -> None:
        for each in self._made:
            if isinstance(each.transport, asyncio.Transport):
                each.transport.abort()
        for _ in range(5):
            await asyncio.sleep(0)


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as any_socket:
        any_socket.bind(("127.0.0.1", 0))
        return int(any_socket.getsockname()[1])


@contextmanager
def post_office(*, tls: ssl.SSLContext | None = None, wants_login: bool = False) -> Iterator[Post]:
    """Run a server for the length of the block.

    Args:
        tls: Its certificate; without it speaks no TLS.
        wants_login: Whether its address names a login.
    """
    post, port = Post(), free_port()
    controller = _Controller(
        post,
        hostname="127.0.0.1",
        port=port,
        server_hostname="post.test",
        authenticator=post.authenticate,
        auth_require_tls=False,
        ssl_context=tls,
    )
    controller.start()
    try:
        login = "family%40home.test:pass%3Aword%2F1@" if wants_login else ""
        post.url = f"{'smtps' if tls else 'smtp'}://{login}127.0.0.1:{port}"
        yield post
    finally:
        asyncio.run_coroutine_threadsafe(controller.let_go(), controller.loop).result()
        controller.stop()
