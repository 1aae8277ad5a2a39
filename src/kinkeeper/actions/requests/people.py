"""People in the parameters of requests. Pure."""

from collections.abc import Sequence

from kinkeeper.actions.requests.model import Asked
from kinkeeper.core.errors import UnclearError
from kinkeeper.household.name_folding import fold
from kinkeeper.household.senders import resolve_sender
from kinkeeper.language.text import enumerated

Who = str | list[str]
"""Somebody, or several: ids or names of members, words for groups; "me" for who asks."""

_ONESELF = frozenset({"me", "myself", "i"})
_EVERYBODY = frozenset({"all", "everyone", "everybody", "us", "we", "the family", "family"})


def read_who(who: Who | None, asked: Asked) -> tuple[str, ...]:
    """Return the ids of the members that are named, in order.

    Args:
        who: As asked for; nobody where None.
        asked: Who asks.

    Raises:
        UnclearError: A name is nobody's of the household, or several people's.
    """
    named: Sequence[str] = [who] if isinstance(who, str) else who or []
    found = [member for name in named for member in _members(name, asked)]
    return tuple(dict.fromkeys(found))


def names(members: Sequence[str], asked: Asked) -> str:
    """Return members' names in a row: "Leo", "Leo and Emma", "Leo, Emma and Tom"."""
    known = asked.household.names
    return enumerated([known.get(each, each) for each in members])


def _members(name: str, asked: Asked) -> Sequence[str]:
    household, folded = asked.household, fold(name)
    if folded in _ONESELF:
        return [asked.member.id]
    member = resolve_sender(household, name)
    if member is not None:
        return [member.id]
    for group in household.groups:
        if folded in {fold(group.id), *map(fold, group.aliases)}:
            return group.members
    if folded in _EVERYBODY:
        return [member.id for member in household.members]
    options = [member.name for member in household.members]
    raise UnclearError(f"Who is {name}? I know {', '.join(options)}.", options=options)
