"""Whose word settles what: one's own about oneself, a parent's about a child. Pure."""

from collections.abc import Collection, Mapping
from enum import IntEnum


class Standing(IntEnum):
    """How far somebody's word counts about whom it is about, against another's."""

    OF_OTHERS = 0
    CHILDS_OWN = 1
    FULL = 2


def standing_of(
    speaker: str | None,
    subject: str,
    *,
    members: Collection[str],
    guardians: Mapping[str, Collection[str]],
) -> Standing:
    """Return how far a statement counts about whom it is about.

    About things, and about people who are no members, everybody's word counts alike.

    Args:
        speaker: Member id, else the name at the source; None where unknown.
        subject: Whom it is about: member id, else anything.
        members: Ids of the members that may be meant.
        guardians: By member id of a child, whose word about it counts.
    """
    voice = (speaker or "").casefold()
    is_own = voice == subject.casefold()
    if subject in guardians:
        if voice in {each.casefold() for each in guardians[subject]}:
            return Standing.FULL
        return Standing.CHILDS_OWN if is_own else Standing.OF_OTHERS
    return Standing.OF_OTHERS if subject in members and not is_own else Standing.FULL
