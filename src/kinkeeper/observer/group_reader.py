"""The reader of group talk with a language model: a batch in one call, and only what has ground comes out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.core.time import local_days
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.models.model import ModelGateway, Outcome, Usage
from kinkeeper.models.prompts import Prompt, load_prompt
from kinkeeper.models.structured import consult
from kinkeeper.reading.batch import DAYS_SHOWN, Batch, Heard, Thing, shown
from kinkeeper.reading.batch_answer import BatchAnswer
from kinkeeper.reading.batch_grounding import Grounded, grounded
from kinkeeper.reading.times import NamedTimeWords

STAGE: Final = "observer.group_reading"
"""Name under which going on without a model is counted."""

PATIENCE: Final = timedelta(seconds=60)
"""Whatever the settings allow a call: nobody waits for it, but the talk goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRead:
    """What came of one call.

    Attributes:
        outcome: How it ended; without an answer the other readers read alone.
        grounded: What was read; None where there is no answer.
        engine: Who read it: "model:" and the model's name; empty where there is no answer.
        usage: What it took; None where there is no answer.
    """

    outcome: Outcome
    grounded: Grounded | None = None
    engine: str = ""
    usage: Usage | None = None


def group_prompt() -> Prompt:
    """Return the prompt that group talk is read with.

    Raises:
        ConfigError: Its file is wrong.
    """
    return load_prompt("kinkeeper.observer", "read_group")


def batch_of(
    household: Household,
    messages: Sequence[Heard],
    new: int,
    *,
    arrangements: Sequence[Thing] = (),
    events: Sequence[Thing] = (),
) -> Batch:
    """Return a stretch of a household's talk with what is known around it.

    Args:
        household: Whose people, locale and named times count.
        messages: The talk, oldest first.
        new: How many of the last messages are to be read, > 0.
    """
    return Batch(
        messages=messages,
        new=new,
        arrangements=arrangements,
        events=events,
        people={each.name: each.aliases for each in household.members},
        locale=household.locale,
        named_times=[
            NamedTimeWords(id=each.id, words=each.aliases, start=each.start)
            for each in household.times
        ],
    )


def events_ahead(
    conn: Connection, viewer: Viewer, household: Household, now: datetime
) -> Sequence[Thing]:
    """Return the calendar of the days that a batch shows.

    Args:
        viewer: Whoever sees all that the chat does.
        now: When the last message of the batch was sent, aware.
    """
    today = now.astimezone(household.zone).date()
    days = local_days(today, today + DAYS_SHOWN, household.zone)
    return [_thing(each, household) for each in occurrences_between(conn, viewer, days)]


def _thing(occurrence: Occurrence, household: Household) -> Thing:
    event = occurrence.event
    start = occurrence.interval.start.astimezone(household.zone)

    def names(members: Sequence[str]) -> tuple[str, ...]:
        return tuple(household.names[each] for each in members if each in household.names)

    return Thing(
        key=f"{event.id}@{occurrence.original_start.isoformat()}",
        title=event.summary,
        at=start.date() if event.all_day else start,
        who=names(event.who),
        by=names(occurrence.responsible),
    )


class GroupReader:
    """Asks a model what the new messages of a talk do to the plans.

    Args:
        models: Answer within their budget and limits, and count where there was no answer.
    """

    def __init__(self, models: ModelGateway, prompt: Prompt) -> None:
        self._models = models
        self._prompt = prompt

    async def read(self, batch: Batch, household: str) -> BatchRead:
        """Return what a batch says, as far as it has ground; without a usable answer that is counted."""
        found = await consult(
            self._models,
            self._prompt,
            shown(batch),
            BatchAnswer,
            household=household,
            stage=STAGE,
            within=PATIENCE,
            is_ambient=True,
        )
        if isinstance(found, Outcome):
            return BatchRead(outcome=found)
        return BatchRead(
            outcome=Outcome.REPAIRED if found.is_repaired else Outcome.OK,
            grounded=grounded(found.value, batch),
            engine=f"model:{found.reply.model}",
            usage=found.reply.usage,
        )
