"""The emulator as a test holds it: accounts, groups, the clock, and waiting for what happens."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self

from botapi.accounts import Bot, User
from botapi.chats import Chat, Message
from botapi.faults import Faults
from botapi.flood import FloodControl
from botapi.groups import Group
from botapi.people import Person
from botapi.server import Server
from botapi.updates_queue import UpdateQueue
from botapi.world import FIRST_BOT, FIRST_GROUP, FIRST_PERSON, FIRST_SUPERGROUP, Call, World
from kinkeeper.core.time import Clock, VirtualClock

MORNING = datetime(2026, 3, 2, 14, tzinfo=UTC)
FIRST_UPDATE = 411_000_000
LOOK_AGAIN = 0.05


class BotApi:
    """A Bot API on this machine. Use it as a context manager; everything but HTTP is a method.

    Args:
        clock: Dates messages, and lets presses, updates and limits run out. By default one of
            its own, which only `advance` moves.
        flood_control: Whether sending too fast is refused.
    """

    def __init__(self, *, clock: Clock | None = None, flood_control: bool = False) -> None:
        self.clock: Clock = clock or VirtualClock(MORNING)
        self.world = World(clock=self.clock, flood=FloodControl(enforced=flood_control))
        self.faults = Faults()
        self._server = Server(self.world, self.faults)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.faults.clear()
        self._server.stop()

    @property
    def url(self) -> str:
        """Where it listens, as in http://127.0.0.1:40000."""
        return f"http://127.0.0.1:{self._server.port}"

    def proxy(self, public: str, to: str) -> None:
        """Hand what is posted to a public address to a server on this machine, as a proxy with TLS does.

        Args:
            public: Scheme, name and port, as in "https://family.example".
            to: The server's own address; empty where none runs yet.
        """
        with self.world.changing():
            self.world.proxies[public] = to
            for bot in self.world.bots.values():
                for update in bot.updates.pending:
                    update.failures, update.retry_at = 0, 0

    # Accounts and groups

    def bot(
        self, name: str = "Kinkeeper", *, username: str = "kinkeeper_bot", privacy: bool = True
    ) -> Bot:
        """Return a new bot; its `token` is what its program needs. Privacy mode is on, as usual."""
        with self.world.changing():
            bot_id = FIRST_BOT + len(self.world.bots)
            token = f"{bot_id}:AAE{len(self.world.bots):032d}"
            bot = Bot(
                id=bot_id,
                first_name=name,
                username=username,
                token=token,
                privacy=privacy,
                updates=UpdateQueue(FIRST_UPDATE + 1000 * len(self.world.bots)),
            )
            self.world.bots[token] = bot
            return bot

    def user(
        self, first_name: str, last_name: str = "", *, username: str = "", language_code: str = "en"
    ) -> Person:
        """Return a new person."""
        with self.world.changing():
            account = User(
                id=FIRST_PERSON + len(self.world.people),
                first_name=first_name,
                last_name=last_name,
                username=username,
                language_code=language_code,
            )
            self.world.people[account.id] = account
            return Person(self.world, account)

    def group(
        self,
        title: str,
        creator: Person,
        *members: Person | Bot,
        supergroup: bool = False,
        forum: bool = False,
    ) -> Group:
        """Return a new group of these members; a forum is a supergroup."""
        big = supergroup or forum
        with self.world.changing():
            first = FIRST_SUPERGROUP if big else FIRST_GROUP
            chat = Chat(
                id=first - len(self.world.groups),
                kind="supergroup" if big else "group",
                title=title,
                is_forum=forum,
            )
            self.world.groups[chat.id] = chat
        return Group.founded(self.world, chat, creator, members)

    def revoke(self, bot: Bot) -> str:
        """Give the bot another token, as BotFather does, and return it; the old one is refused."""
        with self.world.changing():
            del self.world.bots[bot.token]
            bot.token += "r"
            self.world.bots[bot.token] = bot
            return bot.token

    def set_privacy(self, bot: Bot, on: bool) -> None:
        """Set the mode as BotFather does: groups the bot is in follow only when it comes again."""
        with self.world.changing():
            bot.privacy = on

    # What there is to see

    def messages_in(self, place: Group | Person, bot: Bot | None = None) -> list[Message]:
        """Return what everyone in a group sees, or what stands in a person's chat with a bot."""
        with self.world.changed:
            return [message for message in self._chat(place, bot).messages if not message.deleted]

    def visible_to(self, person: Person, place: Group | Bot) -> list[Message]:
        """Return what this person sees in a group or in their chat with a bot, in order."""
        return person.sees(place)

    def calls(self, method: str = "", *, bot: Bot | None = None) -> list[Call]:
        """Return the calls that bots made, in order."""
        with self.world.changed:
            return [
                call
                for call in self.world.calls
                if call.method.lower().startswith(method.lower()) and bot in {None, call.bot}
            ]

    def updates_of(self, bot: Bot, kind: str = "") -> list[dict[str, Any]]:
        """Return every update made for a bot so far, acknowledged or not."""
        with self.world.changed:
            return [update.as_json() for update in bot.updates.history if kind in {"", update.kind}]

    def _chat(self, place: Group | Person, bot: Bot | None) -> Chat:
        if isinstance(place, Group):
            return place.chat
        owner = bot or next(iter(self.world.bots.values()))
        return self.world.private_chat(owner, place.account)

    # Time and waiting

    def advance(self, seconds: float) -> None:
        """Move the clock on, and let what was waiting for it happen."""
        assert isinstance(self.clock, VirtualClock), "this clock moves by itself"
        with self.world.changing():
            self.clock.advance_to(self.clock.now() + timedelta(seconds=seconds))

    def tick(self) -> None:
        """Look at the clock anew; for a clock that something else moved."""
        with self.world.changing():
            pass

    def wait_for(
        self, met: Callable[[], Any], *, within: float = 5, what: str = "what was waited for"
    ) -> Any:
        """Return the first true result of `met`, asked anew after every change here.

        It may look at the program under test too: it is asked now and then in any case.

        Args:
            met: Takes nothing. It may make calls.
            within: Real seconds.
            what: Named when it does not come.

        Raises:
            AssertionError: It did not come in time.
        """
        deadline = time.monotonic() + within
        while True:
            with self.world.changed:
                version = self.world.version
            if result := met():
                return result
            left = deadline - time.monotonic()
            assert left > 0, f"{what} did not come: {self._state()}"
            with self.world.changed:
                if self.world.version == version:
                    self.world.changed.wait(min(left, LOOK_AGAIN))

    async def until(
        self, met: Callable[[], Any], *, within: float = 5, what: str = "what was waited for"
    ) -> Any:
        """Do as `wait_for`, for a test whose bot runs in the same event loop."""
        return await asyncio.to_thread(self.wait_for, met, within=within, what=what)

    def wait_settled(self, *bots: Bot, within: float = 5) -> None:
        """Return once every update was taken and acknowledged and no call is under way.

        What a program does after it acknowledged is not known here: wait for that by name.

        Args:
            *bots: Whose updates; without any, those of all.
            within: Real seconds.

        Raises:
            AssertionError: It did not come to rest in time.
        """
        self.wait_for(lambda: self._is_settled(bots), within=within, what="rest")

    async def settled(self, *bots: Bot, within: float = 5) -> None:
        """Do as `wait_settled`, for a test whose bot runs in the same event loop."""
        await self.until(lambda: self._is_settled(bots), within=within, what="rest")

    def _is_settled(self, bots: tuple[Bot, ...]) -> bool:
        with self.world.changed:
            asked = bots or tuple(self.world.bots.values())
            return not self.world.calls_running and not any(bot.updates.pending for bot in asked)

    def _state(self) -> str:
        pending = {bot.username: len(bot.updates.pending) for bot in self.world.bots.values()}
        last = [f"{call.method} {call.arguments}" for call in self.world.calls[-5:]]
        return f"pending updates {pending}, running {self.world.calls_running}, last calls {last}"
