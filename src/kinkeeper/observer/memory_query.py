"""A question to memory in words, as the abstract query it means. Pure."""

from collections.abc import Iterator
from datetime import date, datetime

from kinkeeper.brain.model import BrainQuery
from kinkeeper.observer.model import Task
from kinkeeper.observer.wording.clauses import ERRANDS, named_tasks, task_phrases
from kinkeeper.observer.wording.message_view import Reading, read_message
from kinkeeper.observer.wording.participants import Participants


def query_of(question: str, participants: Participants, *, now: datetime) -> BrainQuery:
    """Return the query that a question means: about a job, an activity, or a day alone.

    A question for a job ("who usually does the soccer pickup") is about who does it, whatever else
    it names.

    Args:
        question: "soccer schedule Thursday"; any text.
        now: Aware; relative days count from it.
    """
    household = participants.household
    reading = read_message(
        question,
        sent_at=now.astimezone(household.zone),
        lexicon=participants.lexicon,
        locale=household.locale,
        named_times=participants.named_times,
    )
    task = next(_errands(reading), None)
    activity = None if task else next(_activities(reading, participants), None)
    return BrainQuery(text=question, activity=activity, task=task, day=_day(reading))


def _errands(reading: Reading) -> Iterator[Task]:
    yield from (task for _, _, task in named_tasks(reading))
    yield from (phrase.task for phrase in task_phrases(reading) if phrase.task in ERRANDS)


def _activities(reading: Reading, participants: Participants) -> Iterator[str]:
    yield from (mention.id for mention in reading.of_kind("activity"))
    for mention in reading.of_kind("generic"):
        if not participants.is_session(mention.id):
            yield mention.id


def _day(reading: Reading) -> date | None:
    return next((span.begin.date() for span in reading.spans if span.has_date), None)
