"""Fetching updates: a call that waits until there is something, or somebody else asks."""

import asyncio
from typing import Any

from starlette.requests import Request

from botapi.accounts import Bot
from botapi.parameters import Arguments
from botapi.refusals import Refusal, bad_request, conflict
from botapi.world import World

LONGEST_WAIT = 50
MOST_UPDATES = 100
_OTHER_POLL = (
    "terminated by other getUpdates request; make sure that only one bot instance is running"
)
_WEBHOOK_ACTIVE = (
    "can't use getUpdates method while webhook is active; use deleteWebhook to delete the "
    "webhook first"
)


def read_allowed(arguments: Arguments) -> list[str] | None:
    """Return the kinds of updates a call asks for; None where it leaves them as they are.

    Raises:
        Refusal: They are no list.
    """
    kinds = arguments.parsed("allowed_updates", "allowed updates")
    if kinds is None:
        return None
    if not isinstance(kinds, list):
        raise bad_request("can't parse allowed updates: expected an Array")
    return [str(kind) for kind in kinds]


class Poll:
    """One waiting getUpdates of a bot; a later one ends it."""

    def __init__(
        self, world: World, bot: Bot, arguments: Arguments, *, woken: asyncio.Event
    ) -> None:
        self._world = world
        self._queue = bot.updates
        self._woken = woken
        with world.changing():
            if self._queue.webhook.url:
                raise conflict(_WEBHOOK_ACTIVE)
            kinds = read_allowed(arguments)
            if kinds is not None:
                self._queue.allow(kinds)
            self._queue.polls += 1
            self._number = self._queue.polls
            self._queue.ended_by = ""
            self._queue.drop_expired(world.seconds())
            self._queue.acknowledge(arguments.integer("offset"))
            self._limit = min(max(arguments.integer("limit", MOST_UPDATES), 1), MOST_UPDATES)
            self._timeout = min(max(arguments.integer("timeout"), 0), LONGEST_WAIT)
            self._until = world.seconds() + self._timeout

    async def answer(self, request: Request) -> list[dict[str, Any]] | None:
        """Wait for updates, and return them; None when the client went away.

        The wait ends with the real time asked for, or when the clock of the test passes it.

        Raises:
            Refusal: Another call took over.
        """
        gone = asyncio.ensure_future(_hang_up(request))
        deadline = asyncio.get_running_loop().time() + self._timeout
        try:
            while True:
                self._woken.clear()
                left = deadline - asyncio.get_running_loop().time()
                batch = self._ready(out_of_time=left <= 0)
                if batch is not None:
                    return batch
                woken = asyncio.ensure_future(self._woken.wait())
                await asyncio.wait({gone, woken}, timeout=left, return_when="FIRST_COMPLETED")
                woken.cancel()
                if gone.done():
                    return None
        finally:
            gone.cancel()
            self._leave()

    def _ready(self, *, out_of_time: bool) -> list[dict[str, Any]] | None:
        """Return what to answer now; None to wait on."""
        with self._world.changed:
            if self._queue.ended_by:
                raise conflict(self._queue.ended_by)
            if self._number != self._queue.polls:
                raise conflict(_OTHER_POLL)
            if self._world.closing:
                raise Refusal(502, "Bad Gateway")
            now = self._world.seconds()
            self._queue.drop_expired(now)
            if self._queue.pending or out_of_time or now >= self._until:
                return self._queue.fetch(self._limit)
            if not self._queue.waiting:
                self._queue.waiting = True
                self._world.notify()
            return None

    def _leave(self) -> None:
        with self._world.changed:
            if self._number == self._queue.polls:
                self._queue.waiting = False
                self._world.notify()


async def _hang_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
