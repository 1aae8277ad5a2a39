"""All that goes on in a process that works for households: jobs, upkeep, delivery, and each household's own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from kinkeeper.bootstrap.digests import digest_rounds
from kinkeeper.bootstrap.drift import drift_rounds
from kinkeeper.bootstrap.goals import goal_work
from kinkeeper.bootstrap.memory import Recall, encoding_worker, reading_of
from kinkeeper.bootstrap.nights import Nights
from kinkeeper.bootstrap.reminders import reminding
from kinkeeper.bootstrap.self_correction import regulator, review_rounds
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.jobs.job import Job, Pace
from kinkeeper.mail.model import MailReader
from kinkeeper.memory.context.prefetch import Streaming
from kinkeeper.messaging.delivery import Deliverer
from kinkeeper.models.model import ModelGateway
from kinkeeper.observer.overheard_facts import Hearing
from kinkeeper.observer.upkeep import Upkeep
from kinkeeper.settings.model import Settings
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.store import Store

LongTask = Callable[[], Coroutine[Any, Any, None]]
"""Runs until it is cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is to be done for one household.

    Attributes:
        jobs: Kinds of durable work.
        upkeep: Does what only the clock makes due.
        deliverer: Delivers what waits to go out.
    """

    household: str
    jobs: tuple[Job, ...]
    upkeep: Upkeep
    deliverer: Deliverer


@asynccontextmanager
async def doing(
    store: Store,
    works: Sequence[Work],
    *,
    outside: Sequence[Deliverer] = (),
    tasks: Sequence[LongTask],
    clock: Clock,
    pace: Pace,
    workers: int,
    lock_held_in: ExitStack | None = None,
) -> AsyncIterator[None]:
    """Do the work of households for the length of the block.

    At its end the tasks and the upkeep are cancelled, then calls of channels under way get some grace,
    then jobs; what is not finished by then is handed back and found again at the next start.

    Args:
        outside: Deliver what is to go out and is no household's.
        tasks: What else is to run until the end.
        workers: Most messages understood at a time, > 0.
        lock_held_in: See `JobEngine`.

    Raises:
        ConflictError: Another process runs the jobs of this SQLite file.
    """
    from kinkeeper.jobs.engine import JobEngine  # noqa: PLC0415 - slow to load, for live mode only
    from kinkeeper.jobs.queue import JobQueue  # noqa: PLC0415

    names = [work.household for work in works]
    with closing(await asyncio.to_thread(JobQueue, store, *names)) as queue:
        engine = JobEngine(
            store,
            queue,
            [job for work in works for job in work.jobs],
            clock=clock,
            workers=workers,
            ladder=pace.ladder,
            reconcile_every=pace.reconcile_every,
            poll_every=pace.poll_every,
            lock_held_in=lock_held_in,
        )
        async with engine.running(), AsyncExitStack() as delivering:
            for deliverer in (*(work.deliverer for work in works), *outside):
                # Whoever runs the jobs of a file is the only one to deliver.
                if is_sqlite(store.url):
                    await deliverer.recover()
                await delivering.enter_async_context(deliverer.running())
            async with asyncio.TaskGroup() as group:
                running = [group.create_task(work.upkeep.run(pace.upkeep_every)) for work in works]
                running += [group.create_task(task()) for task in tasks]
                try:
                    yield
                finally:
                    for each in running:
                        each.cancel()


# What goes on for one household as long as a process works for it, beside jobs, upkeep and
# delivery.


def household_tasks(
    settings: Settings,
    household: Household,
    store: Store,
    *,
    recall: Recall,
    hearing: Hearing,
    streaming: Streaming | None,
    gateway: ModelGateway | None,
    mailbox: MailReader | None,
    clock: Clock,
    pace: Pace,
) -> list[LongTask]:
    """Return what is to run until the end: memory's work by day and night, encoding, goals, reminders, digests, self-correction and idle thought.

    Args:
        hearing: Proposes for memory what its chat lets drop.
        streaming: Looks ahead for its members' next turns, where that is switched on.
        gateway: The way to models; None where there are none.
        mailbox: The household's; None where none is set up.
    """
    reading = reading_of(household, store, clock)
    goals = goal_work(
        settings,
        household,
        store,
        recall.finder,
        mailbox=mailbox,
        gateway=gateway,
        clock=clock,
        pace=pace,
    )
    tasks: list[LongTask] = [
        partial(recall.embed, pace.upkeep_every),
        recall.finder.read_ahead,
        Nights(settings, household, store, clock).run,
        reading.run,
        partial(hearing.run, pace.upkeep_every),
        encoding_worker(household, store, clock, pace).run,
        goals.run,
        partial(reminding(store, household, clock).run, pace.upkeep_every),
        partial(digest_rounds(settings, household, store, clock).run, pace.upkeep_every),
        regulator(settings, household, store, clock).run,
    ]
    reviews = review_rounds(settings, household, store, gateway=gateway, clock=clock)
    if reviews is not None:
        tasks.append(reviews.run)
    if settings.idle_thought:
        tasks.append(drift_rounds(settings, household, store, clock).run)
    return tasks if streaming is None else [*tasks, streaming.run]
