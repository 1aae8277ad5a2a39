"""What the parameters of requests share: people, times, and who may see what is asked for. Pure."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from pydantic import Field

from kinkeeper.actions.requests.model import Asked, Parameters
from kinkeeper.core.errors import DeniedError, InputError, UnclearError
from kinkeeper.core.time import check_told, midnight
from kinkeeper.household.model import resolve_sender
from kinkeeper.household.name_folding import fold
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    kept_from,
    kept_to,
    narrowest,
    person_of,
    person_scope,
    surprise_scope,
)
from kinkeeper.language.text import enumerated
from kinkeeper.memory.statements.discretion import seems_own_title
from kinkeeper.memory.statements.secrecy import audience_of, secrecy_of
from kinkeeper.reading.times import time_text

# People in the parameters of requests. Pure.

Who = str | list[str]
"""Somebody, or several: ids or names of members, words for groups; "me" for who asks."""

_ONESELF = frozenset({"me", "myself", "i"})
_EVERYBODY = frozenset({"all", "everyone", "everybody", "us", "we", "the family", "family"})


def read_who(who: Who | None, asked: Asked) -> tuple[str, ...]:
    """Return the ids of the members that are named, in order.

    Args:
        who: As asked for; nobody where None.

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


# Times in the parameters of requests, read and said in the household's zone. Pure.

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?")
_OF_A_DAY = (time(9), time(18))
"""What is of a day is told of in its morning, or in its evening if that has passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time as it was asked for.

    Attributes:
        at: Aware, in the household's zone; the beginning of the day where only that was named.
        is_day: Whether only a day was named.
    """

    at: datetime
    is_day: bool = False


def read_moment(text: str, asked: Asked, *, around: datetime | None = None) -> Moment:
    """Return the time that a text means.

    Args:
        text: A date-time, a date, or a time of day, in ISO 8601; without offset it is local.
        asked: Who asks; in whose zone.
        around: Of what is being changed: a bare time of day means one on its day, a bare date its time of
            day. Without it a bare time of day is not understood, and a date is a whole day.

    Raises:
        InputError: It is no such time.
    """
    zone, plain = asked.household.zone, text.strip()
    try:
        if _DATE.fullmatch(plain):
            day = check_told(datetime.fromisoformat(plain)).date()
            if around is None:
                return Moment(at=midnight(day, zone), is_day=True)
            return Moment(at=datetime.combine(day, around.astimezone(zone).time(), tzinfo=zone))
        if _CLOCK.fullmatch(plain) and around is not None:
            clock = time.fromisoformat(plain.rjust(5, "0"))
            return Moment(at=datetime.combine(around.astimezone(zone).date(), clock, tzinfo=zone))
        instant = check_told(datetime.fromisoformat(plain))
    except ValueError as error:
        raise InputError(f"{text!r} is not a date or time; write e.g. 2026-03-05T16:30") from error
    return Moment(at=instant.astimezone(zone) if instant.tzinfo else instant.replace(tzinfo=zone))


def read_day(text: str, asked: Asked) -> date:
    """Return the local day on which a time lies.

    Raises:
        InputError: It is no date or date-time.
    """
    return read_moment(text, asked).at.date()


def require_ahead(moment: Moment, asked: Asked, question: str) -> None:
    """Refuse a time that has passed; of a bare day, one that is over.

    Args:
        moment: As it was asked for.
        question: What to ask the person.

    Raises:
        UnclearError: It has passed; the person is asked for another.
    """
    now = asked.now.astimezone(asked.household.zone)
    is_over = moment.at.date() < now.date() if moment.is_day else moment.at <= now
    if is_over:
        raise UnclearError(f"{said(moment, asked).capitalize()} has already passed. {question}")


def to_the_minute(moment: Moment, asked: Asked) -> datetime | None:
    """Return when somebody is told of a time; None where the day that it names has no hour left for it."""
    if not moment.is_day:
        return moment.at
    of_day = [datetime.combine(moment.at.date(), at, tzinfo=moment.at.tzinfo) for at in _OF_A_DAY]
    return next((each for each in of_day if each > asked.now), None)


def said(moment: Moment, asked: Asked) -> str:
    """Return a time in few words: "today 4:30pm", of a bare day "Thu 5 Mar"."""
    household = asked.household
    if moment.is_day:
        today = asked.now.astimezone(household.zone).date()
        return time_text.day(moment.at.date(), today=today, locale=household.locale)
    local = moment.at.astimezone(household.zone)
    return time_text.moment(local, now=asked.now, locale=household.locale)


def said_span(start: datetime, end: datetime, asked: Asked) -> str:
    """Return a span of time in few words."""
    zone, locale = asked.household.zone, asked.household.locale
    return time_text.span(
        start.astimezone(zone), end.astimezone(zone), now=asked.now, locale=locale
    )


def shifted(instant: datetime, by: timedelta) -> datetime:
    """Return an instant moved by a length of real time, in the zone it is in."""
    return (instant.astimezone(UTC) + by).astimezone(instant.tzinfo)


def put_off(instant: datetime, by: timedelta) -> datetime:
    """Return an instant moved by as much as people say: by whole days it keeps its hour, whatever the clocks do.

    Args:
        instant: Aware, in the household's zone.
        by: How much later, negative for earlier.
    """
    return shifted(instant, by) if by % timedelta(days=1) else instant + by


# Who may see what is asked for: everybody of the household, all but some, or who asks alone. Pure.

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
    wanted: ForWhom | SetAudience,
    asked: Asked,
    *,
    text: str = "",
    is_title: bool = True,
    whose: Collection[str] | None = None,
    is_visit: bool = False,
) -> str:
    """Return the scope of something: the narrowest of what is asked for and of what its words say.

    Where nobody says who may see it, its words decide: a gift is kept from whom it is for, what somebody tells of their
    own health, money, keys, love or feelings is theirs, and all else is the household's.

    Args:
        text: What is written; empty where only `wanted` decides.
        is_title: Whether the text is the name of something, and no statement.
        whose: Member ids of all for whom it is, where it is for somebody.
        is_visit: Whether it has a time in the calendar: fitted heads read its title, too, where it is the asker's alone, and
            block for some milliseconds.

    Raises:
        InputError: It is to be private, and others read along; or nobody is called like somebody it is kept from.
    """
    own = person_scope(asked.member.id)
    hidden = {*read_who([*wanted.kept_from], asked)} - {asked.member.id}
    scopes = {surprise_scope(hidden)} if hidden else set[str]()
    if wanted.private and not hidden:
        scopes.add(own)
    if wanted.private is None and not hidden:
        is_theirs = whose is not None and {*whose} <= {asked.member.id}
        said = audience_of(
            text,
            asked.household,
            asked.member.id,
            is_group=asked.is_shared,
            is_title=is_title,
            is_theirs=is_theirs,
        )
        is_open = said == HOUSEHOLD_SCOPE and not asked.is_shared
        is_own = is_visit and is_theirs and is_open and seems_own_title(text)
        scopes.add(own if is_own else said)
    elif wish := secrecy_of(text, asked.household, asked.member.id, is_group=asked.is_shared):
        scopes.add(wish.scope)
    scope = narrowest(scopes) or own
    if scope == own and asked.is_shared:
        raise InputError("other people can read this chat; tell me in our private chat")
    return scope


def for_asker(wanted: ForWhom, asked: Asked) -> ForWhom:
    """Return what is asked for as its asker's own where they would not see again what is everybody's, as guests would not."""
    is_lost = not asked.is_shared and not asked.viewer.sees(HOUSEHOLD_SCOPE)
    if is_lost and wanted.private is None:
        return wanted.model_copy(update={"private": True})
    return wanted


def kept_scope(scope: str, wanted: SetAudience, asked: Asked) -> str:
    """Return the scope that is wanted for something, of all that it has the narrower one where it is to be kept from somebody."""
    changed = scope_for(wanted, asked)
    return kept_to(scope, changed) if wanted.private else changed


def changed_scope(scope: str, wanted: SetAudience, asked: Asked, people: Iterable[str]) -> str:
    """Return the scope that something gets which is there already; a wish to keep it from somebody never widens it.

    Args:
        people: Member ids of all whose it is: nobody takes from them what is theirs, too.

    Raises:
        InputError: It is so already, or others read along.
        DeniedError: It is not theirs alone, or a child would keep from others what everybody sees.
    """
    changed = kept_scope(scope, wanted, asked)
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


def is_private(scope: str) -> bool:
    """Whether only one member may see what has a scope."""
    return person_of(scope) is not None
