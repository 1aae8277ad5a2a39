"""What a household's calendar, tasks, lists and facts show that somebody would be glad to hear. Pure.

Each observation rests on what its person may see, names what it rests on, and is for that person alone.
"""

from collections.abc import Callable, Iterator
from typing import Final

from kinkeeper.background.drift.days import birthdays, habits, owners_missing
from kinkeeper.background.drift.gaps import hours_unknown, places_unknown
from kinkeeper.background.drift.model import Observation, Snapshot
from kinkeeper.background.drift.needs import by_hand, deadlines, feelings, food_limits, slipping

_OBSERVING: Final[tuple[Callable[[Snapshot], Iterator[Observation]], ...]] = (
    owners_missing,
    birthdays,
    deadlines,
    habits,
    slipping,
    food_limits,
    by_hand,
    feelings,
    places_unknown,
    hours_unknown,
)


def observed(snapshot: Snapshot) -> list[Observation]:
    """Return what a snapshot shows for the member whose it is, the weightiest first."""
    found = [
        each
        for observe in _OBSERVING
        for each in observe(snapshot)
        if each.person == snapshot.member.id and each.until > snapshot.now
    ]
    unique = {each.key: each for each in found}
    return sorted(unique.values(), key=lambda each: (-each.score, each.until, each.key))
