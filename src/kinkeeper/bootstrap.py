"""Composition root: settings to a running system; nothing else wires."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from kinkeeper.brain.graph import GraphBrain
from kinkeeper.calendar.seeds import SeedReport, sync_seeds
from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.core.time import Clock, SystemClock, VirtualClock
from kinkeeper.household.file import load_households
from kinkeeper.household.model import Household
from kinkeeper.jobs.job import Enqueuer, Pace
from kinkeeper.observer.case import RedlineRules
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.context import ContextSource
from kinkeeper.observer.intake import Intake
from kinkeeper.observer.job import UnderstandingJob
from kinkeeper.observer.participants import Participants, compile_participants
from kinkeeper.observer.phrasing import Limits, Phrasing
from kinkeeper.observer.replay import Replay
from kinkeeper.observer.settlement import Settlement
from kinkeeper.observer.speaking import Speaker
from kinkeeper.observer.tripwire import load_tripwire
from kinkeeper.observer.understanding import Extractor, RulesExtractor, Understanding
from kinkeeper.observer.upkeep import Upkeep
from kinkeeper.settings.load import data_folder
from kinkeeper.settings.model import Settings
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
    """

    settings: Settings
    household: Household
    participants: Participants
    store: Store
    config: ObserverConfig
    seeds: SeedReport

    def intake(self, queue: Enqueuer | None = None, *, refuses_chats: bool) -> Intake:
        """Return tier 1; with a queue, tier 2's work is enqueued with each message."""
        tripwire = load_tripwire(self.participants.lexicon, self.settings.tripwire_patterns_path)
        return Intake(self.participants, tripwire, self.config, queue, refuses_chats=refuses_chats)

    def understanding(self, clock: Clock, extractor: Extractor | None = None) -> Understanding:
        """Return the half of tier 2 that reads: by rules unless told, with the event graph for a brain."""
        brain = GraphBrain(self.store, self.household.id, self.household.zone, clock)
        context = ContextSource(
            brain,
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

    def replay(self, start: datetime) -> Replay:
        """Return the observer on a virtual clock that begins at `start`."""
        clock = VirtualClock(start)
        return Replay(
            self.store, self.household.id, intake=self.intake(refuses_chats=False),
            understanding=self.understanding(clock), settlement=self.settlement(),
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
        from kinkeeper.jobs.queue import JobQueue  # noqa: PLC0415 - slow to load, for live mode only

        with closing(JobQueue(self.store, self.household.id)) as queue:
            yield self.intake(queue, refuses_chats=refuses_chats)

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
            extractor: Reads messages; the rules where None.
            pace: How often it looks for something to do.

        Raises:
            ConflictError: Another process runs the jobs of this SQLite file.
            UnavailableError: The database cannot be reached.
        """
        from kinkeeper.jobs.engine import JobEngine  # noqa: PLC0415 - slow to load, for live mode only
        from kinkeeper.jobs.queue import JobQueue  # noqa: PLC0415

        clock, pace = clock or SystemClock(), pace or Pace()
        job = UnderstandingJob(
            self.store, self.household.id, understanding=self.understanding(clock, extractor),
            settlement=self.settlement(),
        )  # fmt: skip
        upkeep = Upkeep(
            self.store, self.household.id, speaker=self.speaker(), clock=clock,
            keep_texts=timedelta(days=self.settings.message_retention_days),
        )  # fmt: skip
        with closing(await asyncio.to_thread(JobQueue, self.store, self.household.id)) as queue:
            engine = JobEngine(
                self.store, queue, [job.as_job()], clock=clock,
                workers=self.settings.tier2_workers, ladder=pace.ladder,
                reconcile_every=pace.reconcile_every, poll_every=pace.poll_every,
            )  # fmt: skip
            async with engine.running(), asyncio.TaskGroup() as tasks:
                looking = tasks.create_task(upkeep.run(pace.upkeep_every))
                try:
                    yield
                finally:
                    looking.cancel()


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
        settings: In force.
        household_file: Instead of the one in the settings.
        database: Instead of the one in the settings.
        now: Instant the event graph is extended to; the wall clock's where None.

    Raises:
        ConfigError: There is no household file, it is wrong, or a folder with several is named.
        StoreVersionError: The database is from a newer program.
        UnavailableError: The database cannot be opened.
    """
    path = household_file or settings.family_context or _usual_household_file()
    household = _only_household(path, settings)
    with Store.open(database or database_address(settings)) as store:
        instant = now or SystemClock().now()
        seeds = store.write_now(lambda conn: sync_seeds(conn, household, instant))
        yield System(
            settings=settings, household=household,
            participants=compile_participants(household), store=store,
            config=observer_config(settings), seeds=seeds,
        )  # fmt: skip


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
        action_ttl=timedelta(hours=settings.pending_action_ttl_hours),
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


def _only_household(path: Path, settings: Settings) -> Household:
    """Load a household file, or the one file of a folder."""
    found = load_households(path, default_event_minutes=settings.default_event_minutes)
    if len(found) > 1:
        ids = ", ".join(household.id for household in found)
        message = f"the folder holds several households ({ids}); name one file of it"
        raise ConfigError([Problem(where=str(path), line=None, message=message)])
    return found[0]


def _usual_household_file() -> Path:
    path = Path("household.toml")
    if not path.is_file():
        raise ConfigError(
            [
                Problem(
                    where=str(path), line=None,
                    message="no household file here; make one with `kinkeeper init`, or name one "
                    "with --household FILE or FAMILY_CONTEXT",
                )
            ]
        )  # fmt: skip
    return path
