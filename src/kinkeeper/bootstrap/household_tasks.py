"""What goes on for one household as long as a process works for it, beside jobs, upkeep and delivery."""

from functools import partial

from kinkeeper.bootstrap.digests import digest_rounds
from kinkeeper.bootstrap.exchange_encoding import encoding_worker, reading_of
from kinkeeper.bootstrap.household_work import LongTask
from kinkeeper.bootstrap.memory import Recall
from kinkeeper.bootstrap.nights import Nights
from kinkeeper.bootstrap.reminders import reminding
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.jobs.job import Pace
from kinkeeper.memory.context.prefetch import Streaming
from kinkeeper.observer.overheard_facts import Hearing
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store


def household_tasks(
    settings: Settings,
    household: Household,
    store: Store,
    *,
    recall: Recall,
    hearing: Hearing,
    streaming: Streaming | None,
    clock: Clock,
    pace: Pace,
) -> list[LongTask]:
    """Return what is to run until the end: memory's work by day and night, encoding, reminders and digests.

    Args:
        settings: In force.
        household: As its file has it.
        store: Its database.
        recall: Finds its memories.
        hearing: Proposes for memory what its chat lets drop.
        streaming: Looks ahead for its members' next turns, where that is switched on.
        clock: Tells what is due.
        pace: How often to look for it.
    """
    reading = reading_of(household, store, clock)
    tasks: list[LongTask] = [
        partial(recall.embed, pace.upkeep_every),
        recall.finder.read_ahead,
        Nights(settings, household, store, clock).run,
        reading.run,
        partial(hearing.run, pace.upkeep_every),
        encoding_worker(household, store, clock, pace).run,
        partial(reminding(store, household, clock).run, pace.upkeep_every),
        partial(digest_rounds(settings, household, store, clock).run, pace.upkeep_every),
    ]
    return tasks if streaming is None else [*tasks, streaming.run]
