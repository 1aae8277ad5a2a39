"""Everything the emulator knows, behind one lock that waiters can wait on."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Condition
from typing import Any

from botapi.accounts import Bot, User
from botapi.chats import Chat, Message
from botapi.flood import FloodControl
from kinkeeper.core.time import Clock

FIRST_PERSON = 5_100_000_001
FIRST_BOT = 7_200_000_001
FIRST_GROUP = -4_300_000_001
FIRST_SUPERGROUP = -1_002_400_000_001


@dataclass(eq=False, slots=True)
class ButtonPress:
    """A press of a button, until the bot answers it."""

    id: str
    user: User
    bot: Bot
    message: Message
    made_at: float
    answer: dict[str, Any] | None = None


@dataclass(eq=False, slots=True, kw_only=True)
class Call:
    """A call that a bot made, for tests to look at."""

    bot: Bot
    method: str
    arguments: dict[str, Any]
    answer: dict[str, Any] | None = None


@dataclass(eq=False, slots=True)
class World:
    """The accounts, chats, presses and calls. Touch it only inside `changing` or `looking`."""

    clock: Clock
    flood: FloodControl
    changed: Condition = field(default_factory=Condition)
    people: dict[int, User] = field(default_factory=dict)
    bots: dict[str, Bot] = field(default_factory=dict)
    groups: dict[int, Chat] = field(default_factory=dict)
    privates: dict[tuple[int, int], Chat] = field(default_factory=dict)
    presses: dict[str, ButtonPress] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    proxies: dict[str, str] = field(default_factory=dict)
    calls_running: int = 0
    version: int = 0
    closing: bool = False
    wakers: list[Callable[[], None]] = field(default_factory=list)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the lock, then wake whoever waits for a change."""
        with self.changed:
            yield
            self.notify()
        for wake in self.wakers:
            wake()

    def notify(self) -> None:
        """Tell who waits that something is otherwise; with the lock held."""
        self.version += 1
        self.changed.notify_all()

    def seconds(self) -> float:
        """Return the clock's seconds since 1970."""
        return self.clock.now().timestamp()

    def date(self) -> int:
        """Return the clock's whole seconds since 1970, as messages are dated."""
        return math.floor(self.seconds())

    def account(self, account_id: int) -> User | None:
        if account_id in self.people:
            return self.people[account_id]
        return next((bot for bot in self.bots.values() if bot.id == account_id), None)

    def private_chat(self, bot: Bot, user: User) -> Chat:
        """Return the chat of the two, opening it where there is none; it may be unstarted."""
        key = (bot.id, user.id)
        if key not in self.privates:
            self.privates[key] = Chat(id=user.id, kind="private", user=user, bot=bot)
        return self.privates[key]


def chat_instance(chat: Chat) -> str:
    """Return the opaque number that presses in this chat carry: steady, and not the chat's id."""
    digest = sha256(f"{chat.kind}{chat.id}".encode()).digest()
    return str(int.from_bytes(digest[:8], "big", signed=True))
