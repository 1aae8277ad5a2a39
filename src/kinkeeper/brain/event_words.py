"""The words by which a household's people may ask for an event. Pure."""

from collections.abc import Iterable
from functools import lru_cache

from kinkeeper.calendar.model import Event
from kinkeeper.household.model import Household
from kinkeeper.memory.finding.terms import stems


class EventWords:
    """The words of one household's people, places and activities.

    Args:
        household: As its file describes it.
    """

    def __init__(self, household: Household) -> None:
        self._of_things = {
            each.id: _stems_of((each.id, each.name, *each.aliases))
            for each in (*household.activities, *household.places)
        }
        self._of_people = {
            member.id: _stems_of(
                (
                    member.id, member.name, *member.aliases,
                    *(
                        word
                        for group in household.groups
                        if member.id in group.members
                        for word in (group.id, *group.aliases)
                    ),
                )
            )
            for member in household.members
        }  # fmt: skip

    def of(self, event: Event, also: Iterable[str] = ()) -> frozenset[str]:
        """Return the stems of all words by which somebody may ask for an event.

        Args:
            event: Of this household.
            also: What else people called it.
        """
        found = _stems(event.summary) | _stems_of(also)
        for thing in (event.activity, event.place, event.task):
            if thing:
                found |= self._of_things.get(thing) or _stems(thing)
        for person in (*event.who, *event.responsible):
            found |= self._of_people.get(person) or _stems(person)
        return found


def _stems_of(words: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(_stems, words))


@lru_cache(maxsize=8192)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text.replace("-", " ")))
