"""Who may see what is asked for: everybody of the household, all but some, or who asks alone. Pure."""

from collections.abc import Iterable
from typing import Any, Final

from pydantic import Field

from kinkeeper.actions.requests.model import Asked, Parameters
from kinkeeper.actions.requests.people import names, read_who
from kinkeeper.core.errors import DeniedError, InputError
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    kept_from,
    narrowest,
    person_of,
    person_scope,
    surprise_scope,
)
from kinkeeper.memory.statements.secrecy import audience_of, secrecy_of

PRIVATE: Final = "whether only the person asking may see it; omit if they do not say"
KEPT_FROM: Final = "names of household members who must not see it, e.g. for a surprise"

ONLY_YOU: Final = "only you"


class ForWhom(Parameters):
    """Something new, of which may be said who may see it."""

    private: bool | None = Field(default=None, description=PRIVATE)
    kept_from: tuple[str, ...] = Field(default=(), description=KEPT_FROM)


class SetAudience(Parameters):
    """Who may see something."""

    find_by: str = Field(min_length=1, description="its id, or words from it")
    private: bool = Field(
        description="true if only the person asking may see it, false for the household"
    )
    kept_from: tuple[str, ...] = Field(default=(), description=KEPT_FROM)


def scope_for(
    wanted: ForWhom | SetAudience, asked: Asked, *, text: str = "", is_title: bool = True
) -> str:
    """Return the scope of something: the narrowest of what is asked for and of what its words say.

    Where nobody says who may see it, its words decide: a gift is kept from whom it is for, what somebody tells of their
    own health, money, keys, love or feelings is theirs, and all else is the household's.

    Args:
        wanted: What is asked for.
        asked: Who asks.
        text: What is written; empty where only `wanted` decides.
        is_title: Whether the text is the name of something, and no statement.

    Raises:
        InputError: It is to be private, and others read along; or nobody is called like somebody it is kept from.
    """
    own = person_scope(asked.member.id)
    hidden = {*read_who([*wanted.kept_from], asked)} - {asked.member.id}
    scopes = {surprise_scope(hidden)} if hidden else set[str]()
    if wanted.private and not hidden:
        scopes.add(own)
    if wanted.private is None and not hidden:
        scopes.add(
            audience_of(
                text, asked.household, asked.member.id, is_group=asked.is_shared, is_title=is_title
            )
        )
    elif wish := secrecy_of(text, asked.household, asked.member.id, is_group=asked.is_shared):
        scopes.add(wish.scope)
    scope = narrowest(scopes) or own
    if scope == own and asked.is_shared:
        raise InputError("other people can read this chat; tell me in our private chat")
    return scope


def for_asker(wanted: ForWhom, asked: Asked) -> ForWhom:
    """Return what is asked for as its asker's own where they would not see again what is everybody's, as guests would not.

    Args:
        wanted: What is asked for.
        asked: Who asks.
    """
    is_lost = not asked.is_shared and not asked.viewer.sees(HOUSEHOLD_SCOPE)
    if is_lost and wanted.private is None:
        return wanted.model_copy(update={"private": True})
    return wanted


def changed_scope(scope: str, wanted: SetAudience, asked: Asked, people: Iterable[str]) -> str:
    """Return the scope that something gets which is there already.

    Args:
        scope: As it is.
        wanted: As it shall be.
        asked: Who asks.
        people: Member ids of all whose it is: nobody takes from them what is theirs, too.

    Raises:
        InputError: It is so already, or others read along.
        DeniedError: It is not theirs alone, or a child would keep from others what everybody sees.
    """
    changed = scope_for(wanted, asked)
    if changed == scope:
        raise InputError("it's already like that")
    if kept_from(changed) and scope == HOUSEHOLD_SCOPE and not asked.member.is_adult:
        raise DeniedError("only an adult can hide something the family can see")
    if is_private(changed) and set(people) != {asked.member.id}:
        names = asked.household.names
        others = sorted(names.get(each, each) for each in set(people) - {asked.member.id})
        whose = " and ".join(others) or "everybody"
        raise DeniedError(f"it is also for {whose}, not only for you")
    return changed


def seen_by(scope: str, asked: Asked) -> str:
    """Return in words who may see something; empty for the whole household."""
    if is_private(scope):
        return ONLY_YOU
    hidden = kept_from(scope)
    return f"everyone but {names(sorted(hidden), asked)}" if hidden else ""


def becomes_seen(scope: str, asked: Asked) -> str:
    """Return how a change of who may see something begins; whoever reads it may see it before and after."""
    if is_private(scope):
        return "Visible only to one person"
    return f"Visible to {seen_by(scope, asked) or 'the household'}"


def audience_json(scope: str) -> dict[str, Any]:
    """Return who may see something, as requests tell it: "private", and the ids of those it is kept from."""
    hidden = sorted(kept_from(scope))
    return {"private": is_private(scope), **({"kept_from": hidden} if hidden else {})}


def is_private(scope: str) -> bool:
    """Whether only one member may see what has a scope."""
    return person_of(scope) is not None
