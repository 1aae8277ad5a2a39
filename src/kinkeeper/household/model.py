"""A household as its file describes it: frozen values, and its members by what they are called. No I/O."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from kinkeeper.household.name_folding import fold, in_words


class Role(StrEnum):
    """What a member is to the household."""

    PARENT = "parent"
    GUARDIAN = "guardian"
    HELPER = "helper"
    CHILD = "child"
    OTHER = "other"


_ADULT_ROLES = frozenset({Role.PARENT, Role.GUARDIAN, Role.HELPER})


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A person of the household.

    Attributes:
        id: Slug used in extractions and assignments.
        name: Display name.
        aliases: Other words for them, as written in the file.
        telegram_id: Their Telegram user id, if known.
        email: Their mail address, if known.
    """

    id: str
    name: str
    role: Role
    aliases: tuple[str, ...] = ()
    telegram_id: int | None = None
    email: str | None = None

    @property
    def is_adult(self) -> bool:
        """Whether they may confirm and be offered as a button (parent, guardian, helper)."""
        return self.role in _ADULT_ROLES

    def limited_to(self, role: Role | None) -> "Member":
        """Return the member with the rights of a role where those are narrower than their own; never with wider ones.

        Args:
            role: The one that their login grants; None where it limits nothing.
        """
        is_narrower = role is not None and _rights(role) < _rights(self.role)
        return replace(self, role=role) if role is not None and is_narrower else self


def _rights(role: Role) -> int:
    """Return how much a role may see and do, for comparison: guests least, adults most."""
    return 2 if role in _ADULT_ROLES else int(role is Role.CHILD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Something with an id, a display name and other words for it: activity, place or resource.

    Attributes:
        id: Slug.
        name: Display name; the id in words where the file gives none.
    """

    id: str
    name: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A word for several members ("the boys")."""

    id: str
    aliases: tuple[str, ...]
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """Somebody outside the household to whom mail is written: a person, or several under one name.

    Attributes:
        id: Slug.
        name: Display name.
        emails: Their addresses, at least one.
        aliases: Other words for them.
    """

    id: str
    name: str
    emails: tuple[str, ...]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTime:
    """A time of day with a name ("after-school" = 15:15), local."""

    id: str
    start: time
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedEvent:
    """An event that the file puts into the event graph.

    Attributes:
        id: Slug, stable over reloads.
        summary: One line.
        activity: Activity id, if any.
        who: Member ids taking part.
        responsible: Member ids in charge.
        place: Place id, if any.
        start: Local wall time, naive; midnight where `all_day`.
        duration: > 0; whole days where `all_day`.
        all_day: Whether it has dates only.
        rrule: RFC 5545 rule without the "RRULE:" prefix, if recurring.
        exdates: Local starts (naive) that are left out.
    """

    id: str
    summary: str
    activity: str | None
    who: tuple[str, ...]
    responsible: tuple[str, ...]
    place: str | None
    start: datetime
    duration: timedelta
    all_day: bool = False
    rrule: str | None = None
    exdates: tuple[datetime, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceItem:
    """Something to be done by a day (a car service)."""

    id: str
    summary: str
    due: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Household:
    """One tenant: people, words, timezone, seeds.

    Attributes:
        id: Slug; the tenant key of every row.
        name: What people call the household; empty where the file gives none.
        zone: Timezone of all local times.
        locale: BCP 47 tag ("en-US"): week start and date order.
        bot_name: What the assistant is called.
        owner: Member id who administers; the first parent unless set.
        chats: Chat ids allowed in this environment; empty means none is configured.
        digest_at: Local time of the daily digest for who chose none, by the settings; None for no digest.
        pending_ttl: How long what awaits an adult waits at least, by the settings.
    """

    id: str
    zone: ZoneInfo
    locale: str
    bot_name: str
    owner: str | None
    name: str = ""
    chats: tuple[str, ...] = ()
    pending_ttl: timedelta = timedelta(hours=48)
    digest_at: time | None = time(18)
    members: tuple[Member, ...] = ()
    activities: tuple[Named, ...] = ()
    places: tuple[Named, ...] = ()
    resources: tuple[Named, ...] = ()
    groups: tuple[Group, ...] = ()
    times: tuple[NamedTime, ...] = ()
    events: tuple[SeedEvent, ...] = ()
    maintenance: tuple[MaintenanceItem, ...] = ()
    contacts: tuple[Contact, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def adults(self) -> Sequence[Member]:
        """Members who may confirm, in file order."""
        return [member for member in self.members if member.is_adult]

    @property
    def children(self) -> Sequence[Member]:
        """Members with role child, in file order."""
        return [member for member in self.members if member.role is Role.CHILD]

    @property
    def guardians(self) -> Mapping[str, tuple[str, ...]]:
        """Ids of the parents and guardians by id of each child."""
        in_charge = tuple(
            member.id for member in self.members if member.role in {Role.PARENT, Role.GUARDIAN}
        )
        return {child.id: in_charge for child in self.children}

    @property
    def names(self) -> Mapping[str, str]:
        """Display names of members by id."""
        return {member.id: member.name for member in self.members}

    @property
    def usual_hours(self) -> Mapping[str, time]:
        """Local start of each activity, from its recurring events."""
        return {
            each.activity: each.start.time()
            for each in self.events
            if each.activity and not each.all_day
        }

    @property
    def words_for_people(self) -> frozenset[str]:
        """Names and other words that stand for one member."""
        return frozenset({*self.names.values(), *self.called})

    @property
    def members_by_word(self) -> Mapping[str, frozenset[str]]:
        """Member ids by whatever stands for them, in lower case; a word for several stands for all of these."""
        found: dict[str, frozenset[str]] = {}
        for member in self.members:
            for word in {each.casefold() for each in (member.name, member.id, *member.aliases)}:
                found[word] = found.get(word, frozenset()) | {member.id}
        for group in self.groups:
            found |= dict.fromkeys(map(str.casefold, group.aliases), frozenset(group.members))
        return found

    @property
    def called(self) -> Mapping[str, str]:
        """Display names of members by other words for them, in lower case; a word for several is left out."""
        found: dict[str, set[str]] = {}
        for member in self.members:
            for word in member.aliases:
                found.setdefault(word.casefold(), set()).add(member.name)
        return {word: names.pop() for word, names in found.items() if len(names) == 1}

    @property
    def title(self) -> str:
        """The household's name for people; without one, its id in words with capitals."""
        return self.name or in_words(self.id).title()

    @property
    def place_names(self) -> Mapping[str, str]:
        """Names of places by id."""
        return {place.id: place.name for place in self.places}

    def place_name(self, place: str) -> str:
        """Return the name of a place for people.

        Args:
            place: Id of one of the household's places, or free text, which is returned as it is.
        """
        return next((each.name for each in self.places if each.id == place), place)

    def member(self, member_id: str) -> Member | None:
        """Return the member with that id, if any."""
        return next((member for member in self.members if member.id == member_id), None)

    def knows(self, member: Member) -> bool:
        """Whether somebody is a member as the file has them now, or with rights that their login narrows."""
        known = self.member(member.id)
        return known is not None and known.limited_to(member.role) == member

    def login_of(self, member: Member) -> Role | None:
        """Return the role to which a login limits a member; None where they have all rights that the file gives them."""
        known = self.member(member.id)
        return None if known is None or known.limited_to(member.role) == known else member.role


# The members of a household by the words they are called.


def members_by_name(household: Household) -> dict[str, str]:
    """Return the members' ids by their folded names and aliases; a word for several of them is left out."""
    named = [
        (fold(word), member.id)
        for member in household.members
        for word in {member.id, member.name, *member.aliases}
    ]
    several = Counter(word for word, _ in set(named))
    return {word: member for word, member in named if several[word] == 1}


# Who sent a message: from the name a channel gives to a member of the household.


def resolve_sender(household: Household, sender: str) -> Member | None:
    """Return the member whom `sender` names.

    Args:
        sender: A member id, name, alias or Telegram id; case and accents do not count.

    Returns:
        None where nobody or more than one is meant. An id exactly as written goes before all.
    """
    plain = sender.strip().removeprefix("@")
    if exact := household.member(plain):
        return exact
    wanted = fold(plain)
    found = [member for member in household.members if wanted in _names(member)]
    return found[0] if len(found) == 1 else None


def _names(member: Member) -> set[str]:
    telegram = set() if member.telegram_id is None else {str(member.telegram_id)}
    return telegram | {fold(word) for word in (member.id, member.name, *member.aliases)}
