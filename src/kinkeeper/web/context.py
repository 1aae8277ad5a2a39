"""What the server works on, as bootstrap hands it over."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from kinkeeper.conversation.conversation import Conversation
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.memory.context.context_builder import DEFAULT_TOKENS
from kinkeeper.memory.context.prefetch import Streaming
from kinkeeper.memory.finding.search import Finder
from kinkeeper.observability.findings import Finding
from kinkeeper.observability.server import ServerMetrics, server_metrics
from kinkeeper.observer.accounts.proof import Prover
from kinkeeper.observer.intake import Intake
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.store.store import Store
from kinkeeper.web.security.request_limits import RateLimits
from kinkeeper.web.views.welcome import Heard

Check = Callable[[], Awaitable[str | None]]
"""Returns what is not ready, or None."""


Checkup = Callable[[str], Sequence[Finding]]
"""Returns what of the installation concerns a household."""


def _nothing_checked(_household: str) -> Sequence[Finding]:
    return ()


class Webhook(Protocol):
    """Takes updates of a chat service that posts them here."""

    def is_genuine(self, secret: str | None) -> bool:
        """Whether a request carries the agreed secret; takes the same time whatever it carries."""
        ...

    async def receive(self, body: bytes) -> None:
        """Take in one update; returns once it is durable.

        Raises:
            UnavailableError: It could not be stored; the service shall send it again.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """One household that this server serves.

    Attributes:
        store: Where its rows are.
        intake: Its tier 1, which leaves what it queues to the workers.
        prover: Decides messages again, to prove decisions; None where that is not offered.
        streaming: Looks up what its sessions' next turns may call for; None where that is switched off.
        context_tokens: Most tokens of the context of a session's turn.
        conversation: What its members say to the assistant; None where this server takes none.
    """

    participants: Participants
    store: Store
    intake: Intake
    prover: Prover | None = None
    finder: Finder
    streaming: Streaming | None = None
    context_tokens: int = DEFAULT_TOKENS
    conversation: Conversation | None = None

    @property
    def household(self) -> Household:
        """The household as its file describes it."""
        return self.participants.household


@dataclass(frozen=True, slots=True, kw_only=True)
class WebContext:
    """What the routes of one server share.

    Attributes:
        houses: By household id.
        store: Where logins are looked up; the houses' own.
        clock: Tells when things expire.
        address: Where people reach the server: scheme, name and port, without a slash at the end.
        names: Host names it answers to besides loopback and plain addresses.
        checks: What readiness depends on, by name.
        checkup: Checks the installation for one household and says how to mend it; blocks.
        hosts: Hosts that this server is set up to talk to by itself; ideally none.
        sample: Plays the sample family's days through the real observer, in a database of its own.
        webhook: Takes a chat service's updates, where one posts them here.
        rates: How many requests a client may make.
        patience: How long a write waits for the database before the client is told to try again.
        visited: Set when somebody was recognised; what only people need is loaded then.
        stopping: Set when the server is told to stop; what streams ends then.
    """

    houses: Mapping[str, House]
    store: Store
    clock: Clock
    address: str
    names: frozenset[str] = frozenset()
    checks: Mapping[str, Check] = field(default_factory=dict)
    checkup: Checkup = _nothing_checked
    hosts: tuple[str, ...] = ()
    sample: Callable[[], AsyncIterator[Heard]] | None = None
    webhook: Webhook | None = None
    rates: RateLimits = field(default_factory=RateLimits)
    metrics: ServerMetrics | None = field(default_factory=server_metrics)
    patience: timedelta = timedelta(seconds=10)
    visited: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_https(self) -> bool:
        """Whether people reach it over TLS."""
        return urlsplit(self.address).scheme == "https"


def context_of(connection: HTTPConnection) -> WebContext:
    """Return the context of the server that a request reached."""
    context: WebContext = connection.app.state.context
    return context
