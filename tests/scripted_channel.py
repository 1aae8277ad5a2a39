"""A channel that holds its messages in memory and fails as it is told to, and a deliverer on it."""

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from kinkeeper.messaging.outbound import (
    ChatMovedError,
    Delivered,
    NotSentError,
    OutboundKind,
    OutgoingItem,
    RefusedError,
    Route,
    TooManyError,
)

RETRY_AFTER = timedelta(seconds=40)


class Outcome(StrEnum):
    """What becomes of one call."""

    OK = "ok"
    NOT_SENT = "not_sent"
    TOO_MANY = "too_many"
    REFUSED = "refused"
    LOST_BEFORE = "lost_before"  # the line breaks before it went out, and says nothing
    LOST_AFTER = "lost_after"  # ... after it went out
    DIES_BEFORE = "dies_before"  # the process dies before it went out
    DIES_AFTER = "dies_after"


class Death(BaseException):
    """The process is killed at this point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What people saw happen."""

    item: OutgoingItem
    message_id: str


@dataclass(slots=True)
class ScriptedChannel:
    """Does what the script says, one outcome a call; everything succeeds once it is used up."""

    name: str = "test"
    script: deque[Outcome] = field(default_factory=deque)
    shown: list[Shown] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    refuses_members: bool = False
    closed_chats: set[str] = field(default_factory=set)
    calls: list[OutgoingItem] = field(default_factory=list)
    at_once: int = 0
    busiest: dict[str, int] = field(default_factory=dict)
    pause: float = 0.0
    under_way: dict[str, int] = field(default_factory=dict)

    def will(self, outcomes: Iterable[Outcome]) -> None:
        """Let the next calls come to this."""
        self.script = deque(outcomes)

    async def deliver(self, item: OutgoingItem) -> Delivered:
        """Do one thing, or fail as told."""
        self.calls.append(item)
        lane = f"{item.chat_id}/{item.kind is OutboundKind.NOTICE}"
        self.under_way[lane] = self.under_way.get(lane, 0) + 1
        self.busiest[lane] = max(self.busiest.get(lane, 0), self.under_way[lane])
        try:
            await asyncio.sleep(self.pause)
            return self._do(item)
        finally:
            self.under_way[lane] -= 1

    def _do(self, item: OutgoingItem) -> Delivered:
        outcome = self.script.popleft() if self.script else Outcome.OK
        match outcome:
            case Outcome.NOT_SENT:
                raise NotSentError("no connection")
            case Outcome.TOO_MANY:
                raise TooManyError("too many", retry_after=RETRY_AFTER)
            case Outcome.LOST_BEFORE:
                raise ConnectionResetError
            case Outcome.DIES_BEFORE:
                raise Death
            case _:
                pass
        if item.chat_id in self.moved:
            raise ChatMovedError("moved", new_chat_id=self.moved[item.chat_id])
        is_unwelcome = self.refuses_members and item.route is Route.MEMBER
        if outcome is Outcome.REFUSED or is_unwelcome or item.chat_id in self.closed_chats:
            raise RefusedError("not allowed")
        delivered = self._show(item)
        if outcome is Outcome.LOST_AFTER:
            raise ConnectionResetError
        if outcome is Outcome.DIES_AFTER:
            raise Death
        return delivered

    def _show(self, item: OutgoingItem) -> Delivered:
        if item.kind is OutboundKind.NOTICE:
            self.shown.append(Shown(item=item, message_id=f"notice-{item.answer_to}"))
            return Delivered()
        if item.target is not None:
            key = item.target.ephemeral_id or item.target.channel_message_id or ""
            self.shown.append(Shown(item=item, message_id=key))
            return item.target
        number = str(100 + len(self.shown))
        self.shown.append(Shown(item=item, message_id=number))
        if item.route is Route.MEMBER:
            return Delivered(channel_message_id="0", ephemeral_id=number)
        return Delivered(channel_message_id=number)
