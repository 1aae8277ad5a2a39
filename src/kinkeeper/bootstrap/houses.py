"""The households of one process: opened by the settings, talked with and worked for."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection

from kinkeeper.actions.lifetime import extend_open, keep_days_of_open
from kinkeeper.actions.outside.adapter import Adapter
from kinkeeper.actions.press_tokens import mint
from kinkeeper.bootstrap.calendar_checks import calendar_tasks
from kinkeeper.bootstrap.conversation import Talk
from kinkeeper.bootstrap.household_work import LongTask, Work, doing
from kinkeeper.bootstrap.memory import Recall
from kinkeeper.bootstrap.models import model_extractor, models_opened
from kinkeeper.bootstrap.outside import outside_tasks, tools_opened
from kinkeeper.bootstrap.system import System
from kinkeeper.calendar.seeds import SeedReport, sync_seeds
from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.core.time import Clock, SystemClock
from kinkeeper.digest.repository import parse_time
from kinkeeper.household.file import load_households
from kinkeeper.household.model import Household
from kinkeeper.jobs.job import Enqueuer, Pace
from kinkeeper.jobs.runners import Heartbeat
from kinkeeper.messaging.delivery import Deliverer
from kinkeeper.messaging.outbound import Channel
from kinkeeper.models.model import ModelGateway
from kinkeeper.observability.failures import surviving
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.intake import Intake
from kinkeeper.observer.redline.case import RedlineRules
from kinkeeper.observer.redline.phrase_templates import Limits
from kinkeeper.observer.settling.message_reader import Extractor
from kinkeeper.observer.wording.participants import compile_participants
from kinkeeper.settings.load import data_folder
from kinkeeper.settings.model import Settings
from kinkeeper.store.nightly_backups import NightlyBackups
from kinkeeper.store.store import Store

Channels = Mapping[str, Sequence[Channel]]

LAST_TURNS = timedelta(milliseconds=500)
"""How long turns under way may go on when a process is told to stop, before another one takes them up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talking:
    """What a process talks with.

    Attributes:
        gateway: The way to models; None where there are none.
        talks: By household id.
        adapters: By household id, carry out what is asked of foreign tools, by the name of the effect.
    """

    gateway: ModelGateway | None
    talks: Mapping[str, Talk]
    adapters: Mapping[str, Mapping[str, Adapter]]

    async def wind_down(self, grace: timedelta) -> None:
        """Let turns under way end, hand back those that do not, and begin no more.

        Args:
            grace: How long turns may go on, >= 0.
        """

        async def wind_down(talk: Talk) -> None:
            with surviving("conversation.turn"):
                await talk.conversation.wind_down(grace)

        await asyncio.gather(*map(wind_down, self.talks.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Houses:
    """The households of one process, on one database.

    Attributes:
        systems: One a household, at least one; all on the same open store, under the same settings.
        file: Where the households were read, a file or a folder; None where they came otherwise.
        after_store: Closed once the store is: keeps other processes from working on the database until then.
    """

    systems: tuple[System, ...]
    file: Path | None = None
    after_store: ExitStack | None = None

    @classmethod
    def of(cls, system: System) -> "Houses":
        """Return a household as the only one."""
        return cls(systems=(system,))

    @property
    def store(self) -> Store:
        """The database they share; what it writes belongs to no household."""
        return self.systems[0].store.locking("")

    @property
    def settings(self) -> Settings:
        """The settings they share."""
        return self.systems[0].settings

    @property
    def by_id(self) -> Mapping[str, System]:
        """Each household's system by the household's id."""
        return {system.household.id: system for system in self.systems}

    @property
    def _households(self) -> list[Household]:
        return [system.household for system in self.systems]

    def _backups(self, clock: Clock) -> NightlyBackups:
        return NightlyBackups(
            self.store,
            self.settings.backup_dir,
            zone=self.systems[0].household.zone,
            keep=timedelta(days=self.settings.message_retention_days),
            clock=clock,
        )

    @contextmanager
    def live_intakes(self, *, refuses_chats: bool = True) -> Iterator[Mapping[str, Intake]]:
        """Yield each household's tier 1, which leaves what it queues to workers, by household id.

        Blocks at the start: enter it before the event loop runs, or in a thread.

        Args:
            refuses_chats: Whether only the chats of the household files are taken in.
        """
        with self.live_queue() as queue:
            yield self.intakes(queue, refuses_chats=refuses_chats)

    def intakes(self, queue: Enqueuer, *, refuses_chats: bool = True) -> Mapping[str, Intake]:
        """Return each household's tier 1, which leaves its work in a queue, by household id."""
        return {
            household: system.intake(queue, refuses_chats=refuses_chats)
            for household, system in self.by_id.items()
        }

    @contextmanager
    def live_queue(self) -> Iterator[Enqueuer]:
        """Yield where work is left for workers, in this process or another. Blocks at the start."""
        from kinkeeper.jobs.queue import JobQueue  # noqa: PLC0415 - slow to load, for live mode only

        with closing(JobQueue(self.store, *self.by_id)) as queue:
            yield queue

    @asynccontextmanager
    async def talking(self, clock: Clock, *, role: str = "talk") -> AsyncIterator[Talking]:
        """Yield what the members of all households are talked with, for the length of the block.

        Args:
            role: What this process is, in the list of those that are alive.
        """
        zones = {system.household.id: system.household.zone for system in self.systems}
        async with AsyncExitStack() as opened:
            await opened.enter_async_context(beating(self.store, role=role))
            gateway = await opened.enter_async_context(
                models_opened(self.settings, store=self.store, clock=clock, zones=zones)
            )
            tools = await opened.enter_async_context(
                tools_opened(self.settings, self._households, self.store, clock)
            )
            talks = {
                household: system.talk(clock, gateway, tools=tools.get(household))
                for household, system in self.by_id.items()
            }
            try:
                yield Talking(
                    gateway=gateway,
                    talks=talks,
                    adapters={household: each.adapters for household, each in tools.items()},
                )
            finally:
                for talk in talks.values():
                    await talk.conversation.close()

    @asynccontextmanager
    async def working(
        self,
        *,
        channels: Channels | None = None,
        tasks: Sequence[LongTask] = (),
        talking: Talking | None = None,
        clock: Clock | None = None,
        extractor: Extractor | None = None,
        pace: Pace | None = None,
    ) -> AsyncIterator[None]:
        """Do all there is to do for the households, for the length of the block.

        That is: understand what tier 1 queues, do what the clock makes due, deliver what waits to go
        out, and run the tasks given. At the end the tasks are cancelled first, then what is being
        delivered or understood is finished or handed back.

        Args:
            channels: What each household can deliver through, by household id; under another key, what
                is no household's goes out.
            tasks: What else is to run until the end (polling for updates); one that ends or fails
                must not be missed, so its error ends the block.
            talking: What this process talks with members with; made for the block where None.
            extractor: Reads messages; as the settings say where None.

        Raises:
            ConflictError: Another process runs the jobs of this SQLite file.
        """
        clock, pace, served = clock or SystemClock(), pace or Pace(), channels or {}
        async with AsyncExitStack() as opened:
            is_own = talking is None
            if talking is None:
                talking = await opened.enter_async_context(self.talking(clock, role="worker"))
            async with doing(
                self.store,
                self._works(talking, served, clock, extractor),
                outside=self._outside(served, clock),
                clock=clock,
                pace=pace,
                tasks=(*tasks, *self._tasks(talking, clock, pace)),
                workers=self.settings.tier2_workers,
                lock_held_in=self.after_store,
            ):
                try:
                    yield
                finally:
                    if is_own:
                        await talking.wind_down(LAST_TURNS)

    def _works(
        self, talking: Talking, served: Channels, clock: Clock, extractor: Extractor | None
    ) -> list[Work]:
        """Return what is to be done for each household."""
        reads = extractor or model_extractor(self.settings, talking.gateway)
        return [
            system.work(
                clock,
                conversation=talking.talks[household].conversation,
                extractor=reads,
                channels=served.get(household, ()),
            )
            for household, system in self.by_id.items()
        ]

    def _outside(self, served: Channels, clock: Clock) -> list[Deliverer]:
        """Return what delivers what is no household's."""
        return [
            Deliverer(self.store.locking(key), key, through, mint=mint, clock=clock)
            for key, through in served.items()
            if key not in self.by_id
        ]

    def _tasks(self, talking: Talking, clock: Clock, pace: Pace) -> list[LongTask]:
        """Return what runs as long as the process does, beside the work."""
        calendar = calendar_tasks(self.settings, self._households, self.store, clock)
        beyond = outside_tasks(
            self.settings,
            self._households,
            self.store,
            clock=clock,
            pace=pace,
            further=talking.adapters,
        )
        own = [
            task
            for household, system in self.by_id.items()
            for task in system.tasks(clock, pace, talking.talks[household], talking.gateway)
        ]
        return [*calendar, *beyond, *own, self._backups(clock).run]


@asynccontextmanager
async def beating(store: Store, *, role: str) -> AsyncIterator[None]:
    """Let other processes know for the length of the block that this one is alive."""
    heartbeat = Heartbeat(store, role=role)
    await asyncio.to_thread(heartbeat.begin)
    try:
        yield
    finally:
        await asyncio.to_thread(heartbeat.end)


@contextmanager
def live_intake(system: System, *, refuses_chats: bool = True) -> Iterator[Intake]:
    """Yield a household's tier 1, which leaves what it queues to workers, in this process or another.

    Blocks at the start: enter it before the event loop runs, or in a thread.

    Args:
        refuses_chats: Whether only the chats of the household file are taken in.
    """
    with Houses.of(system).live_intakes(refuses_chats=refuses_chats) as intakes:
        yield intakes[system.household.id]


@contextmanager
def open_system(
    settings: Settings,
    *,
    household_file: Path | None,
    database: str | None,
    now: datetime | None = None,
) -> Iterator[System]:
    """Open the household and its database, bring the file's events into the graph, close at the end.

    Args:
        now: Instant the event graph is extended to; the wall clock's where None.

    Raises:
        ConfigError: There is no household file, it is wrong, or a folder with several is named.
        StoreVersionError: The database is from a newer program.
    """
    path = household_path(settings, household_file)
    found = read_households(path, settings)
    if len(found) > 1:
        ids = ", ".join(household.id for household in found)
        raise _refused(
            path, f"the folder contains several households ({ids}); specify one of its files"
        )
    with Store.open(database or database_address(settings)) as store:
        yield _system(settings, found[0], store, now or SystemClock().now(), is_only=True)


@contextmanager
def open_houses(
    settings: Settings,
    *,
    household_file: Path | None = None,
    database: str | None = None,
    now: datetime | None = None,
) -> Iterator[Houses]:
    """Open every household of a folder, or of one file, on one database; close it at the end.

    Args:
        household_file: File or folder instead of the one in the settings.
        now: Instant the event graphs are extended to; the wall clock's where None.

    Raises:
        ConfigError: There is no household file, one is wrong, or two claim the same id or chat;
            every problem with its place.
        StoreVersionError: The database is from a newer program.
    """
    path = household_path(settings, household_file)
    found = read_households(path, settings)
    with ExitStack() as after_store, Store.open(database or database_address(settings)) as store:
        instant = now or SystemClock().now()
        yield Houses(
            systems=tuple(
                _system(settings, household, store, instant, is_only=len(found) == 1)
                for household in found
            ),
            file=path,
            after_store=after_store,
        )


def database_address(settings: Settings) -> str:
    """Return where the database is: by setting, else a file of the environment in the data folder."""
    if settings.database_url:
        return settings.database_url
    return str(settings.db_path or data_folder() / f"{settings.env}.sqlite")


def observer_config(settings: Settings) -> ObserverConfig:
    """Return the observer's numbers out of the settings."""
    return ObserverConfig(
        tripwire_threshold=settings.tripwire_threshold,
        extraction_threshold=settings.extraction_threshold,
        attribution_threshold=settings.attribution_threshold,
        brain_min_relevance=settings.brain_min_relevance,
        brain_timeout=timedelta(milliseconds=settings.brain_timeout_ms),
        max_brain_queries=settings.max_brain_queries_per_message,
        window_size=settings.context_window_size,
        context_ttl=timedelta(seconds=settings.context_ttl_seconds),
        attribution_window=timedelta(seconds=settings.attribution_window_seconds),
        open_question_window=timedelta(seconds=settings.open_question_window_seconds),
        max_speak_per_day=settings.max_speak_per_day,
        max_messages_per_minute=settings.max_messages_per_minute,
        rules=RedlineRules(
            temporal_conflict=settings.redline_temporal_conflict,
            resource_conflict=settings.redline_resource_conflict,
            missing_variable=settings.redline_missing_variable,
            speak_on_missing=settings.speak_on_missing_critical,
            default_duration=timedelta(minutes=settings.default_event_minutes),
            travel_buffer=timedelta(minutes=settings.travel_buffer_minutes),
            grace=timedelta(seconds=settings.open_question_grace_seconds),
        ),
        limits=Limits(
            conflict=settings.max_conflict_message_length,
            clarification=settings.max_clarification_length,
            summary=settings.max_summary_length,
        ),
    )


def _system(
    settings: Settings, household: Household, store: Store, now: datetime, *, is_only: bool
) -> System:
    own = store.locking(household.id)
    seeds = own.write_now(lambda conn: _brought_up_to_date(conn, household, now))
    return System(
        settings=settings,
        household=household,
        participants=compile_participants(household),
        store=own,
        config=observer_config(settings),
        seeds=seeds,
        recall=Recall(settings, household, own),
        is_only=is_only,
    )


def _brought_up_to_date(conn: Connection, household: Household, now: datetime) -> SeedReport:
    keep_days_of_open(conn, household, now=now)
    seeds = sync_seeds(conn, household, now)
    extend_open(conn, household, now=now)
    return seeds


def read_households(path: Path, settings: Settings) -> Sequence[Household]:
    """Read the households of a file or folder, with the group that the settings name.

    Raises:
        ConfigError: A file is wrong, or it is not clear whose the group is; every problem with its place.
    """
    ttl = timedelta(hours=settings.pending_action_ttl_hours)
    found = [
        replace(household, pending_ttl=ttl, digest_at=parse_time(settings.digest_at))
        for household in load_households(path, default_event_minutes=settings.default_event_minutes)
    ]
    group = settings.telegram_group_chat_id
    if group is None or any(group in household.chats for household in found):
        return found
    if len(found) > 1:
        raise _refused(
            path,
            f"TELEGRAM_GROUP_CHAT_ID={group} does not say which household it belongs to; "
            "write it into that household's `chats`",
        )
    return [replace(found[0], chats=(*found[0].chats, group))]


def _refused(path: Path, message: str) -> ConfigError:
    return ConfigError([Problem(where=str(path), line=None, message=message)])


def household_path(settings: Settings, named: Path | None) -> Path:
    """Return the household file or folder: the one named, else that of the settings, else household.toml here."""
    if named or settings.family_context:
        return named or settings.family_context or Path()
    path = Path("household.toml")
    if not path.is_file():
        raise _refused(
            path,
            "no household file here; create one with `kinkeeper init`, or specify one with --household FILE or FAMILY_CONTEXT",
        )
    return path
