"""For whom something is kept that is asked for: everybody of the household, or who asks alone. Pure."""

from collections.abc import Iterable
from typing import Final

from pydantic import Field

from kinkeeper.actions.requests.model import Asked, Parameters
from kinkeeper.core.errors import DeniedError, InputError
from kinkeeper.household.viewing import HOUSEHOLD_SCOPE, person_of, person_scope

PRIVATE: Final = "whether only who asks may see it; left out where they do not say"

ONLY_YOU: Final = "only you"
SEEN_BY: Final = {True: "Seen only by oneself", False: "Seen by the household"}
"""How a change of who may see something begins."""


class SetAudience(Parameters):
    """Who may see something."""

    find_by: str = Field(min_length=1, description="its id, or words of it")
    private: bool = Field(description="whether only who asks may see it, or the household")


def scope_for(private: bool | None, asked: Asked, *, is_usual: bool = False) -> str:  # noqa: FBT001 - as it was said
    """Return the scope of something new.

    Args:
        private: Whether only who asks may see it, where they say so.
        asked: Who asks.
        is_usual: Whether it is of a kind that people keep to themselves.

    Raises:
        InputError: It is to be private, and others read along.
    """
    if private and asked.is_shared:
        raise InputError("others read along here; tell me that where we are alone")
    is_private = is_usual if private is None else private
    return person_scope(asked.member.id) if is_private else HOUSEHOLD_SCOPE


def changed_scope(scope: str, wanted: SetAudience, asked: Asked, people: Iterable[str]) -> str:
    """Return the scope that something gets which is there already.

    Args:
        scope: As it is.
        wanted: As it shall be.
        asked: Who asks.
        people: Member ids of all whose it is: nobody takes from them what is theirs, too.

    Raises:
        InputError: It is so already, or others read along.
        DeniedError: It is not theirs alone.
    """
    if is_private(scope) is wanted.private:
        raise InputError("that is so already")
    if wanted.private and set(people) != {asked.member.id}:
        names = asked.household.names
        others = sorted(names.get(each, each) for each in set(people) - {asked.member.id})
        whose = " and ".join(others) or "everybody"
        raise DeniedError(f"it is not yours alone, but also for {whose}")
    return scope_for(wanted.private, asked)


def is_private(scope: str) -> bool:
    """Whether only one member may see what has a scope."""
    return person_of(scope) is not None
