"""Settings and a household file as a running system: nothing else wires the parts together."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from kinkeeper.actions.outside.adapter import Adapter
from kinkeeper.actions.outside.figures import purge_work
from kinkeeper.actions.press_tokens import mint
from kinkeeper.actions.requests.catalogue import Catalogue
from kinkeeper.bootstrap.brain import brain_of
from kinkeeper.bootstrap.calendar_checks import calendar_tasks
from kinkeeper.bootstrap.conversation import Talk, talk_of
from kinkeeper.bootstrap.doing import LongTask, Work, doing
from kinkeeper.bootstrap.household_tasks import household_tasks
from kinkeeper.bootstrap.mail import mail_requests
from kinkeeper.bootstrap.memory import Recall
from kinkeeper.bootstrap.models import model_extractor, models_opened
from kinkeeper.bootstrap.outside import outside_tasks
from kinkeeper.bootstrap.requests import catalogue_of
from kinkeeper.bootstrap.tools import Tools, tools_opened
from kinkeeper.calendar.seeds import SeedReport
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.conversation.records import purge as purge_turns
from kinkeeper.core.time import Clock, SystemClock, VirtualClock
from kinkeeper.household.model import Household
from kinkeeper.jobs.job import Enqueuer, Pace
from kinkeeper.messaging.channel import Channel
from kinkeeper.messaging.delivery import Deliverer
from kinkeeper.messaging.quiet_hours import QuietHours
from kinkeeper.models.model import ModelGateway
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.context import ContextSource
from kinkeeper.observer.hearing import Hearing
from kinkeeper.observer.intake import Intake
from kinkeeper.observer.job import UnderstandingJob
from kinkeeper.observer.participants import Participants
from kinkeeper.observer.phrasing import Phrasing
from kinkeeper.observer.proof import Prover
from kinkeeper.observer.replay import Replay
from kinkeeper.observer.settlement import Settlement
from kinkeeper.observer.speaking import Speaker
from kinkeeper.observer.tripwire import load_tripwire
from kinkeeper.observer.understanding import Extractor, RulesExtractor, Understanding
from kinkeeper.observer.upkeep import Upkeep
from kinkeeper.settings.model import Settings
from kinkeeper.store.nightly import NightlyBackups
from kinkeeper.store.row_changes import purge as purge_changes
from kinkeeper.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One household, its database, and the observer's parts, ready to run.

    Attributes:
        settings: In force.
        household: From its file.
        participants: The household compiled.
        store: Open; closed by whoever opened the system.
        config: The observer's numbers.
        seeds: What bringing the household file into the event graph did.
        recall: Finds memories.
        is_only: Whether this installation serves no other household.
    """

    settings: Settings
    household: Household
    participants: Participants
    store: Store
    config: ObserverConfig
    seeds: SeedReport
    recall: Recall
    is_only: bool = True

    def intake(self, queue: Enqueuer | None = None, *, refuses_chats: bool) -> Intake:
        """Return tier 1; with a queue, tier 2's work is enqueued with each message."""
        tripwire = load_tripwire(self.participants.lexicon, self.settings.tripwire_patterns_path)
        return Intake(self.participants, tripwire, self.config, queue, refuses_chats=refuses_chats)

    def understanding(self, clock: Clock, extractor: Extractor | None = None) -> Understanding:
        """Return the half of tier 2 that reads: by rules unless told."""
        context = ContextSource(
            brain_of(self.settings, self.household, self.store, self.recall.finder, clock=clock),
            timeout=self.config.brain_timeout,
            cache_ttl=timedelta(seconds=self.settings.brain_cache_ttl_seconds),
            clock=clock,
        )
        return Understanding(self.participants, self.config, extractor or RulesExtractor(), context)

    def settlement(self) -> Settlement:
        """Return the half of tier 2 that decides and writes."""
        return Settlement(self.participants, self.config, self.speaker())

    def speaker(self) -> Speaker:
        """Return the one that speaks in the groups."""
        phrasing = Phrasing(participants=self.participants, limits=self.config.limits)
        return Speaker(self.household.id, self.household.zone, phrasing, self.config)

    def talk(
        self,
        clock: Clock,
        gateway: ModelGateway | None = None,
        *,
        tools: Tools | None = None,
    ) -> Talk:
        """Return what talks with the members: by rules where there is no model."""
        mail = mail_requests(self.settings, is_only_household=self.is_only)
        own = catalogue_of(self.settings, self.store, self.recall.finder, further=mail)

        def catalogue() -> Catalogue:
            # Servers come and go, and so do their tools.
            return own if tools is None else own.extended(tools.requests())

        return talk_of(
            self.settings, self.household, self.store, recall=self.recall,
            catalogue=catalogue, clock=clock, gateway=gateway,
        )  # fmt: skip

    def hearing(self, clock: Clock) -> Hearing:
        """Return what proposes for memory what the chat lets drop."""
        return Hearing(self.store, self.household, clock=clock, lasts=self.config.action_ttl)

    def tasks(self, clock: Clock, pace: Pace, talk: Talk) -> list[LongTask]:
        """Return what is to run for the household as long as the process does, beside its work."""
        return household_tasks(
            self.settings, self.household, self.store, recall=self.recall,
            hearing=self.hearing(clock), streaming=talk.streaming, clock=clock, pace=pace,
        )  # fmt: skip

    def prover(self) -> Prover:
        """Return what decides messages again, to prove decisions."""
        return Prover(
            self.store, self.participants, self.config,
            intake=self.intake(refuses_chats=False), settlement=self.settlement(),
        )  # fmt: skip

    def replay(self, start: datetime, extractor: Extractor | None = None) -> Replay:
        """Return the observer on a virtual clock that begins at `start`, reading by rules unless told."""
        clock = VirtualClock(start)
        return Replay(
            self.store, self.household.id, intake=self.intake(refuses_chats=False),
            understanding=self.understanding(clock, extractor), settlement=self.settlement(),
            speaker=self.speaker(), clock=clock,
        )  # fmt: skip

    @contextmanager
    def live_intake(self, *, refuses_chats: bool = True) -> Iterator[Intake]:
        """Yield tier 1 that leaves what it queues to workers, in this process or another.

        Blocks at the start: enter it before the event loop runs, or in a thread.

        Args:
            refuses_chats: Whether only the chats of the household file are taken in.

        Raises:
            UnavailableError: The database cannot be reached.
        """
        with Houses(systems=(self,)).live_intakes(refuses_chats=refuses_chats) as intakes:
            yield intakes[self.household.id]

    @asynccontextmanager
    async def worker(
        self,
        *,
        clock: Clock | None = None,
        extractor: Extractor | None = None,
        pace: Pace | None = None,
    ) -> AsyncIterator[None]:
        """Understand what tier 1 queues, and do what the clock makes due, for the length of the block.

        Args:
            clock: The wall clock where None.
            extractor: Reads messages; as the settings say where None.
            pace: How often it looks for something to do.

        Raises:
            ConflictError: Another process runs the jobs of this SQLite file.
            UnavailableError: The database cannot be reached.
        """
        houses = Houses(systems=(self,))
        async with houses.working(clock=clock, extractor=extractor, pace=pace):
            yield

    def work(
        self,
        clock: Clock,
        *,
        conversation: Conversation,
        extractor: Extractor | None = None,
        channels: Sequence[Channel] = (),
    ) -> Work:
        """Return what is to be done for the household: jobs, upkeep, delivery through these channels."""
        job = UnderstandingJob(
            self.store, self.household.id, understanding=self.understanding(clock, extractor),
            settlement=self.settlement(),
        )  # fmt: skip
        upkeep = Upkeep(
            self.store, self.household.id, speaker=self.speaker(), clock=clock,
            keep_texts=timedelta(days=self.settings.message_retention_days),
            purges=(purge_turns, purge_work, purge_changes),
        )  # fmt: skip
        deliverer = Deliverer(
            self.store, self.household.id, channels, mint=mint, clock=clock,
            quiet_hours=QuietHours.parse(self.settings.quiet_hours, self.household.zone),
        )  # fmt: skip
        return Work(
            household=self.household.id,
            jobs=(job.as_job(), conversation.as_job()), upkeep=upkeep,
            deliverer=deliverer,
        )  # fmt: skip


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Houses:
    """The households of one process, on one database.

    Attributes:
        systems: One a household, at least one; all on the same open store, under the same settings.
        file: Where the households were read, a file or a folder; None where they came otherwise.
    """

    systems: tuple[System, ...]
    file: Path | None = None

    @property
    def store(self) -> Store:
        """The database they share."""
        return self.systems[0].store

    @property
    def settings(self) -> Settings:
        """The settings they share."""
        return self.systems[0].settings

    @property
    def by_id(self) -> Mapping[str, System]:
        """Each household's system by the household's id."""
        return {system.household.id: system for system in self.systems}

    def _backups(self, clock: Clock) -> NightlyBackups:
        return NightlyBackups(
            self.store, self.settings.backup_dir, zone=self.systems[0].household.zone,
            keep=timedelta(days=self.settings.message_retention_days), clock=clock,
        )  # fmt: skip

    @contextmanager
    def live_intakes(self, *, refuses_chats: bool = True) -> Iterator[Mapping[str, Intake]]:
        """Yield each household's tier 1, which leaves what it queues to workers, by household id.

        Blocks at the start: enter it before the event loop runs, or in a thread.

        Args:
            refuses_chats: Whether only the chats of the household files are taken in.

        Raises:
            UnavailableError: The database cannot be reached.
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
        """Yield where work is left for workers, in this process or another. Blocks at the start.

        Raises:
            UnavailableError: The database cannot be reached.
        """
        from kinkeeper.jobs.queue import JobQueue  # noqa: PLC0415 - slow to load, for live mode only

        with closing(JobQueue(self.store, *self.by_id)) as queue:
            yield queue

    @asynccontextmanager
    async def talking(self, clock: Clock) -> AsyncIterator[Talking]:
        """Yield what the members of all households are talked with, for the length of the block.

        Args:
            clock: Tells the time.

        Raises:
            ConfigError: A prompt's file is wrong.
        """
        zones = {system.household.id: system.household.zone for system in self.systems}
        async with AsyncExitStack() as opened:
            gateway = await opened.enter_async_context(
                models_opened(self.settings, store=self.store, clock=clock, zones=zones)
            )
            tools = await opened.enter_async_context(
                tools_opened(
                    self.settings, [each.household for each in self.systems], self.store, clock
                )
            )
            talks = {
                household: system.talk(clock, gateway, tools=tools.get(household))
                for household, system in self.by_id.items()
            }
            try:
                yield Talking(
                    gateway=gateway, talks=talks,
                    adapters={household: each.adapters for household, each in tools.items()},
                )  # fmt: skip
            finally:
                for talk in talks.values():
                    await talk.conversation.close()

    @asynccontextmanager
    async def working(
        self,
        *,
        channels: Mapping[str, Sequence[Channel]] | None = None,
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
            clock: The wall clock where None.
            extractor: Reads messages; as the settings say where None.
            pace: How often it looks for something to do.

        Raises:
            ConflictError: Another process runs the jobs of this SQLite file.
            UnavailableError: The database cannot be reached.
        """
        clock, served = clock or SystemClock(), channels or {}
        async with AsyncExitStack() as opened:
            if talking is None:
                talking = await opened.enter_async_context(self.talking(clock))
            reads = extractor or model_extractor(self.settings, talking.gateway)
            works = [
                system.work(
                    clock, conversation=talking.talks[household].conversation, extractor=reads,
                    channels=served.get(household, ()),
                )
                for household, system in self.by_id.items()
            ]  # fmt: skip
            outside = [
                Deliverer(self.store, key, through, mint=mint, clock=clock)
                for key, through in served.items()
                if key not in self.by_id
            ]
            pace = pace or Pace()
            calendar = calendar_tasks(
                self.settings, [each.household for each in self.systems], self.store, clock
            )
            beyond = outside_tasks(
                self.settings, [each.household for each in self.systems], self.store, clock=clock,
                pace=pace, further=talking.adapters,
            )  # fmt: skip
            own = [
                task
                for household, system in self.by_id.items()
                for task in system.tasks(clock, pace, talking.talks[household])
            ]
            async with doing(
                self.store, works, outside=outside, clock=clock, pace=pace,
                tasks=(*tasks, *calendar, *beyond, *own, self._backups(clock).run),
                workers=self.settings.tier2_workers,
            ):  # fmt: skip
                yield
