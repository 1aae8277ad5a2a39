"""The sample family in a group of the Bot API emulator, and the program that listens to it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, Table, select

from botapi import BotApi, Group, Message, Person
from botapi.accounts import Bot
from kinkeeper.actions.press_tokens import mint
from kinkeeper.bootstrap import Houses, System, open_houses
from kinkeeper.bootstrap.telegram import Connected, telegram_connected
from kinkeeper.channels.telegram import bot as telegram
from kinkeeper.channels.telegram.bot_status import NOBODY
from kinkeeper.channels.telegram.connection import open_bot
from kinkeeper.channels.telegram.families import Families
from kinkeeper.channels.telegram.families import Family as Member
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.core.time import VirtualClock
from kinkeeper.jobs.job import Job, Pace
from kinkeeper.jobs.leases import Key, RetryLadder, claim
from kinkeeper.messaging.delivery import Deliverer
from kinkeeper.messaging.tables import outbox
from kinkeeper.observer.tables import observer_messages
from kinkeeper.observer.upkeep import Upkeep
from kinkeeper.settings.model import Settings
from live_household import HOUSEHOLD, MONDAY

QUICK = Pace(
    ladder=RetryLadder(delays=(timedelta(milliseconds=1),) * 3),
    poll_every=timedelta(milliseconds=50),
    reconcile_every=timedelta(milliseconds=200),
    upkeep_every=timedelta(milliseconds=20),
)
CLAIMS = "I'll pick up Leo on Thursday at 4pm"
CLAIMS_TOO = "I'm picking up Leo Thursday at 4pm"
AT_ONCE = (0.01,)
SECRET = "sixteen-or-more-letters"  # noqa: S105 - of this test


@dataclass(kw_only=True)
class Family:
    """Two parents and their bot, in one group; the program may run or not."""

    api: BotApi
    bot: Bot
    john: Person
    sarah: Person
    group: Group
    folder: Path
    settings: dict[str, Any]

    @property
    def clock(self) -> VirtualClock:
        assert isinstance(self.api.clock, VirtualClock)
        return self.api.clock

    @property
    def said_by_bot(self) -> list[Message]:
        """What everybody in the group sees of the bot."""
        return [each for each in self.api.messages_in(self.group) if each.sender is self.bot]

    def alone_with(self, person: Person) -> list[Message]:
        """What the bot said to a person in private."""
        return [each for each in person.sees(self.bot) if each.sender is self.bot]

    @contextmanager
    def open(self, **settings: Any) -> Iterator[Houses]:
        """Open the household file and its database, as one start of the program does."""
        values = {
            "family_context": self.folder / "households",
            "db_path": self.folder / "family.sqlite",
            "telegram_bot_token": self.bot.token,
            "telegram_api_url": self.api.url,
            "quiet_hours": "00:00-00:00",
            **self.settings,
            **settings,
        }
        with open_houses(Settings.model_validate(values), now=self.clock.now()) as houses:
            yield houses

    @asynccontextmanager
    async def running(self, **settings: Any) -> AsyncIterator["Running"]:
        """Run the program, from a start to a stop."""
        with self.open(**settings) as houses, houses.live_intakes() as intakes:
            async with (
                houses.talking(self.clock) as talking,
                telegram_connected(
                    houses, intakes, talking.talks, clock=self.clock, ladder=AT_ONCE
                ) as connected,
                houses.working(
                    channels=connected.channels,
                    tasks=connected.tasks,
                    talking=talking,
                    clock=self.clock,
                    pace=QUICK,
                ),
            ):
                yield Running(family=self, houses=houses, connected=connected)

    @asynccontextmanager
    async def stepping(self, **settings: Any) -> AsyncIterator["Stepping"]:
        """Have the program's parts in hand, without anything that goes on by itself."""
        with self.open(**settings) as houses:
            intakes = {
                name: system.intake(_Leaves(), refuses_chats=True)
                for name, system in houses.by_id.items()
            }
            async with (
                open_bot(self.bot.token, api_url=self.api.url) as bot,
                houses.talking(self.clock) as talking,
            ):
                families = Families(
                    all=tuple(
                        Member(
                            participants=system.participants,
                            intake=intakes[name],
                            conversation=talking.talks[name].conversation,
                        )
                        for name, system in houses.by_id.items()
                    )
                )
                running = telegram.Running(
                    bot,
                    houses.store,
                    families,
                    number=str(self.bot.id),
                    clock=self.clock,
                    ladder=AT_ONCE,
                )
                works = [
                    system.work(
                        self.clock,
                        conversation=talking.talks[name].conversation,
                        channels=running.channels[name],
                    )
                    for name, system in houses.by_id.items()
                ]
                outside = Deliverer(
                    houses.store, NOBODY, running.channels[NOBODY], mint=mint, clock=self.clock
                )
                program = Stepping(
                    family=self,
                    houses=houses,
                    running=running,
                    deliverers=[*(work.deliverer for work in works), outside],
                    jobs={work.household: work.jobs[0] for work in works},
                    upkeeps=[work.upkeep for work in works],
                    conversations=[talk.conversation for talk in talking.talks.values()],
                )
                await program.begin()
                yield program


@dataclass(frozen=True, kw_only=True)
class Running:
    """The program as it runs."""

    family: Family
    houses: Houses
    connected: Connected

    @property
    def system(self) -> System:
        return self.houses.systems[0]

    def rows(self, table: Table, **where: Any) -> Sequence[Row[Any]]:
        """Return rows of a table, in order."""
        wanted = [table.c[name] == value for name, value in where.items()]
        statement = select(table).where(*wanted).order_by(*table.primary_key.columns)
        return self.houses.store.read_now(lambda conn: conn.execute(statement).all())

    async def until(self, met: Callable[[], Any], what: str, *, within: float = 10) -> Any:
        """Return the first true result of `met`."""
        return await self.family.api.until(met, within=within, what=what)

    async def spoken(self, count: int = 1, *, within: float = 10) -> Message:
        """Return the latest message in the group once there are so many."""
        await self.until(
            lambda: len(self.family.said_by_bot) >= count,
            f"message {count} in the group",
            within=within,
        )
        return self.family.said_by_bot[-1]

    async def quiet_now(self) -> None:
        """Wait until everything that came in was understood and everything that is due went out."""
        await self.family.api.settled(self.family.bot)

        def is_done() -> bool:
            waiting = [r for r in self.rows(observer_messages) if r.state in {"queued", "running"}]
            going = [r for r in self.rows(outbox) if r.state in {"queued", "sending"}]
            return not waiting and not going

        await self.until(is_done, "rest")


class _Leaves:
    """Leaves what is queued to the next step."""

    def enqueue(self, _conn: Connection, _job: str, _key: Key, **_: Any) -> None:
        pass


@dataclass(frozen=True, kw_only=True)
class Stepping:
    """The program, one step at a time: what Telegram has is taken in, understood, answered."""

    family: Family
    houses: Houses
    running: Running
    deliverers: Sequence[Deliverer]
    jobs: Mapping[str, Job]
    upkeeps: Sequence[Upkeep]
    conversations: Sequence[Conversation]

    @property
    def system(self) -> System:
        return self.houses.systems[0]

    def rows(self, table: Table, **where: Any) -> Sequence[Row[Any]]:
        """Return rows of a table, in order."""
        wanted = [table.c[name] == value for name, value in where.items()]
        statement = select(table).where(*wanted).order_by(*table.primary_key.columns)
        return self.houses.store.read_now(lambda conn: conn.execute(statement).all())

    async def begin(self) -> None:
        """Tell Telegram how the bot works, as the program does at its start."""
        await self.running._presence._until_done()
        self.running._presence.ready.set()
        self.running._polling._place = await self.running._polling._kept_place()

    async def hear(self) -> None:
        """Take in all that Telegram has."""
        while self.family.bot.updates.pending:
            await self.running._polling._round()
            if self.running._presence._due.is_set():
                self.running._presence._due.clear()
                await self.running._presence._tell()
            if self.running._polling._place is not None:
                self.family.bot.updates.acknowledge(self.running._polling._place)

    async def understand(self) -> None:
        """Understand what was queued, in its order, and do what the clock makes due."""
        while queued := self.rows(observer_messages, state="queued"):
            row = min(queued, key=lambda row: int(row.id))
            key, now = (row.household, row.id), self.family.clock.now()
            job = self.jobs[row.household]
            claimed = await self.houses.store.write(
                lambda conn, key=key, now=now: claim(  # type: ignore[misc]  # a lambda with defaults
                    conn, observer_messages, key, now=now, lease=timedelta(minutes=5)
                )
            )
            await job.handler(key, claimed)
        for conversation in self.conversations:
            await conversation.idle()
        for upkeep in self.upkeeps:
            await upkeep.run_once()

    async def deliver(self) -> None:
        """Send what waits to go out."""
        for deliverer in self.deliverers:
            await deliverer.run_once()

    async def step(self) -> None:
        """Take in, understand, send."""
        await self.hear()
        await self.understand()
        await self.deliver()


@contextmanager
def family(
    folder: Path,
    *,
    supergroup: bool = True,
    admin: bool = True,
    privacy: bool = True,
    flood_control: bool = False,
    **settings: Any,
) -> Iterator[Family]:
    """Yield the family, with the program not running yet; it is Monday morning."""
    with BotApi(clock=VirtualClock(MONDAY), flood_control=flood_control) as api:
        bot = api.bot(privacy=privacy)
        john, sarah = api.user("John", "Miller"), api.user("Sarah", "Miller")
        group = api.group("The Millers", john, sarah, bot, supergroup=supergroup)
        if admin:
            group.promote(bot)
        write_household(folder, "miller", group.id, john, sarah)
        yield Family(
            api=api, bot=bot, john=john, sarah=sarah, group=group, folder=folder, settings=settings
        )


def write_household(folder: Path, name: str, chat_id: int, john: Person, sarah: Person) -> Path:
    """Write the sample household's file under another id, for these accounts and this group."""
    text = HOUSEHOLD.read_text(encoding="utf-8")
    for old, new in (
        ('id = "miller"', f'id = "{name}"\nchats = [{chat_id}]'),
        ("telegram_id = 1001", f"telegram_id = {john.id}"),
        ("telegram_id = 1002", f"telegram_id = {sarah.id}"),
    ):
        assert old in text
        text = text.replace(old, new, 1)
    file = folder / "households" / f"{name}.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def run(scenario: Callable[[], Any], *, within: float = 60) -> None:
    """Run a scenario on an event loop of its own, for at most so many seconds."""

    async def bounded() -> None:
        async with asyncio.timeout(within):
            await scenario()

    asyncio.run(bounded())
