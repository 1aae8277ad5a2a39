"""Whether a message wants somebody for a job, and which handovers it names. Pure."""

from collections.abc import Iterator

from kinkeeper.observer.model import Stance, Task
from kinkeeper.observer.wording.clauses import TaskPhrase, cue, has_cue
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants

ERRANDS = frozenset({Task.PICKUP, Task.DROPOFF, Task.COVER})
"""What somebody has to do for a child at a given time."""

_NAMED_TASKS = (Task.PICKUP, Task.DROPOFF)


def seeks_owner_of(
    reading: Reading, phrase: TaskPhrase | None, *, stance: Stance, participants: Participants
) -> bool:
    """Return whether somebody is wanted: asked for in so many words, or plainly needed by a child.

    Args:
        reading: The message, or a part of it.
        phrase: What is to be done, if named.
        stance: What the sender does with it.
        participants: The household compiled.
    """
    if stance is Stance.ASKS:
        return has_cue(reading, "wanted") or (is_bidden(reading) and _is_of_family(reading, phrase))
    if stance is not Stance.STATES or not reading.of_kind("child", "group"):
        return False
    if has_cue(reading, "needed") and reading.spans:
        return True
    if phrase is not None and phrase.task in ERRANDS:
        return any(has_cue(reading, name) for name in _NAMED_TASKS)
    is_outside = any(participants.is_appointment(m.id) for m in reading.of_kind("generic"))
    return is_outside and bool(reading.spans)


def _is_of_family(reading: Reading, phrase: TaskPhrase | None) -> bool:
    """Whether what one of the others is asked to do is an errand or activity of the household."""
    if reading.of_kind("activity") or any(has_cue(reading, name) for name in _NAMED_TASKS):
        return True
    is_job = phrase is not None or bool(reading.of_kind("generic"))
    is_errand = phrase is not None and phrase.task in ERRANDS
    return (is_job and bool(reading.of_kind("child", "group"))) or (
        is_errand and bool(reading.spans)
    )


def is_bidden(reading: Reading) -> bool:
    """Return whether one of the others is asked to do something, whatever that is."""
    return reading.asks_for_owner or has_cue(reading, "bidden")


def named_tasks(reading: Reading) -> Iterator[tuple[int, int, Task]]:
    """Yield (start, end, task) in the text where a handover is named as a thing ("the pickup", "school run")."""
    for name in _NAMED_TASKS:
        match = cue(reading, name)
        if match is not None:
            first = reading.symbol_at(match.start())
            last = reading.symbol_at(match.end() - 1)
            yield first.start, last.end, Task(name)
