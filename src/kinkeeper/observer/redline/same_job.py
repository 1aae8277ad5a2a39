"""Whether a message and a claim that stands are about the same job of the family. Pure."""

from kinkeeper.observer.answers.attribution import are_same_task
from kinkeeper.observer.model import Extraction, Task
from kinkeeper.observer.redline.case import HANDOVERS, Case, RedlineRules
from kinkeeper.observer.schedule import Slot

JOBS = frozenset({*HANDOVERS, Task.COVER})
"""What somebody does for a child at a given time."""
_VAGUE = frozenset({None, Task.OTHER, Task.COVER, Task.ATTEND, Task.APPOINTMENT})


def is_same_job(case: Case, slot: Slot, rules: RedlineRules) -> bool:
    """Return whether a message is about a job that somebody has taken on already.

    Args:
        case: The message and the household's days.
        slot: What stands.
        rules: The length of what nobody said a length of.
    """
    extraction = case.extraction
    task = Task(slot.task) if slot.task else None
    if not are_same_task(extraction.task, task) or not _says_what(extraction):
        return False
    if extraction.task != task and extraction.task not in _VAGUE and task not in _VAGUE:
        return False
    if not extraction.dates and not _has_in_common(extraction, slot):
        return False
    if _is_errand_of_the_day(extraction, slot) or _is_day_around(extraction, slot):
        return False
    if extraction.child and slot.who and not set(extraction.child) & set(slot.who):
        return False
    if extraction.activity and slot.activity and extraction.activity != slot.activity:
        return False
    if _is_to_another_place(extraction, slot) or _is_another_thing(extraction, slot, task):
        return False
    own = case.interval(slot.day, rules.default_duration)
    return own is None or slot.interval is None or own.overlaps(slot.interval)


def _has_in_common(extraction: Extraction, slot: Slot) -> bool:
    """Whether both name a child, an activity or a kind of job: without a day, nothing else makes them one."""
    return (
        bool(set(extraction.child) & set(slot.who))
        or (extraction.activity is not None and extraction.activity == slot.activity)
        or (extraction.task is not None and extraction.task == slot.task)
    )


def _is_another_thing(extraction: Extraction, slot: Slot, task: Task | None) -> bool:
    """Whether one names an activity and no child, the other a child and no activity, and each is done differently."""
    is_of_anybody = slot.activity is not None and not slot.who
    is_any_run = extraction.activity is None and bool(extraction.child)
    return is_of_anybody and is_any_run and extraction.task != task


def _is_to_another_place(extraction: Extraction, slot: Slot) -> bool:
    """Whether one is to an activity and the other to a place of its own: the school run, and to judo."""
    if extraction.location == slot.place or Task.DROPOFF not in {extraction.task, slot.task}:
        return False
    return (bool(extraction.activity) and slot.activity is None and slot.place is not None) or (
        bool(slot.activity) and extraction.activity is None and extraction.location is not None
    )


def _is_errand_of_the_day(extraction: Extraction, slot: Slot) -> bool:
    """Whether it is one drive or appointment on a day on which the other has the children as a whole."""
    is_whole_day = slot.task == Task.COVER and slot.interval is None and slot.activity is None
    is_errand = extraction.task in {*HANDOVERS, Task.APPOINTMENT}
    return is_errand and is_whole_day and bool(slot.who)


def _is_day_around(extraction: Extraction, slot: Slot) -> bool:
    """Whether it is having the children as a whole on a day on which the other has one drive."""
    is_whole_day = extraction.task is Task.COVER and not extraction.times
    is_day_alone = is_whole_day and extraction.activity is None and bool(extraction.child)
    return is_day_alone and slot.task in HANDOVERS


def _says_what(extraction: Extraction) -> bool:
    """Whether it is clear which of the family's jobs it is; "we'll do that" alone contradicts nobody."""
    if is_of_family(extraction):
        return True
    if extraction.task in JOBS:
        return bool(extraction.child)
    return extraction.task is not Task.APPOINTMENT and (
        extraction.activity is not None and extraction.attribution is not None
    )


def is_of_family(extraction: Extraction) -> bool:
    """Whether the words themselves name one of the family's children, activities or handovers."""
    return names(extraction, "child", "group", "task") or any(
        entity.type == "activity" and entity.value == extraction.activity
        for entity in extraction.entities
    )


def names(extraction: Extraction, *types: str) -> bool:
    """Return whether the words themselves name something of these types (child, group, date, ...)."""
    return any(entity.type in types for entity in extraction.entities)
