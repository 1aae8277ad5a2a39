"""A household as its file describes it: frozen values, its members by what they are called, rules of recurrence. No I/O."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from dateutil.rrule import rrule, rrulestr

from kinkeeper.household.name_folding import did_you_mean, fold, in_words

_FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_PARTS = (
    "FREQ",
    "INTERVAL",
    "COUNT",
    "UNTIL",
    "WKST",
    "BYDAY",
    "BYMONTH",
    "BYMONTHDAY",
    "BYYEARDAY",
    "BYWEEKNO",
    "BYSETPOS",
    "BYHOUR",
)
_UNTIL = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?")
_DAYS = re.compile(r"([+-]?[1-9]\d?)?(MO|TU|WE|TH|FR|SA|SU)")
_MOST = 1000
_CALENDAR_CYCLE = 400  # years after which dates fall on the same weekdays again
_LAST_YEAR = 9999
_REACH = 17  # years: 29 February may be 8 away, and a rule may take only every second one


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """A rule that can be used.

    Attributes:
        text: RFC 5545 rule in capitals, without prefix.
        rule: The same for computing, in naive local time.
        first: Its first occurrence at or after the start.
    """

    text: str
    rule: rrule
    first: datetime

    def gives(self, moment: datetime) -> bool:
        """Whether `moment` (naive, local) is one of the occurrences."""
        return bool(self.rule.between(moment, moment, inc=True))


def read_recurrence(text: str, start: datetime, zone: ZoneInfo) -> Recurrence:
    """Return the rule `text` for an event that starts at `start`.

    Args:
        text: RFC 5545 rule without prefix.
        start: Naive local time.
        zone: Zone of the household, in which an UNTIL in UTC is read.

    Raises:
        ValueError: The rule cannot be used; the message says why.
    """
    parts = _parts(text)
    _check_limits(parts)
    until = _until(parts["UNTIL"], zone) if "UNTIL" in parts else None
    if until is not None and until < start:
        raise ValueError(f"UNTIL={parts['UNTIL']} is before the start, {start:%Y-%m-%d %H:%M}")
    plain = {key: value for key, value in parts.items() if key not in {"UNTIL", "COUNT"}}
    first = _first(_rule(plain, start), start)
    if first is None or (until and first > until):
        raise ValueError("the rule does not match any day; check the numbers in it")
    rule = _rule(plain, start)
    if until is not None:
        rule = rule.replace(until=until)
    if "COUNT" in parts:
        rule = rule.replace(count=int(parts["COUNT"]))
    canonical = ";".join(f"{key}={value}" for key, value in parts.items())
    return Recurrence(text=canonical, rule=rule, first=first)


def _parts(text: str) -> dict[str, str]:
    """Return the parts of a rule by name, in their order."""
    parts: dict[str, str] = {}
    for part in text.replace(" ", "").upper().rstrip(";").split(";"):
        key, equals, value = part.partition("=")
        if not equals or not value:
            raise ValueError(f'"{part}" is not NAME=VALUE; write e.g. FREQ=WEEKLY;BYDAY=TU,TH')
        if key not in _PARTS:
            raise ValueError(f'unknown part "{key}" in a rule{did_you_mean(key, _PARTS)}')
        if key in parts:
            raise ValueError(f"the rule has {key} twice")
        parts[key] = value
    return parts


def _check_limits(parts: Mapping[str, str]) -> None:
    """Refuse what would never end, never happen, or is not defined."""
    frequency = parts.get("FREQ")
    if frequency not in _FREQUENCIES:
        said = "FREQ is missing" if frequency is None else f"FREQ={frequency} cannot be used"
        raise ValueError(
            f"{said}{did_you_mean(frequency or '', _FREQUENCIES)}; "
            f"use one of {', '.join(_FREQUENCIES)}"
        )
    for key in ("INTERVAL", "COUNT"):
        value = parts.get(key, "1")
        if not value.isdecimal() or not 1 <= int(value) <= _MOST:
            raise ValueError(f"{key}={value} must be a whole number from 1 to {_MOST}")
    if "COUNT" in parts and "UNTIL" in parts:
        raise ValueError("a rule can end with COUNT or UNTIL, but not both")
    for day in parts["BYDAY"].split(",") if "BYDAY" in parts else ():
        match = _DAYS.fullmatch(day)
        if match is None:
            raise ValueError(f"{day} in BYDAY is not a day; the days are MO TU WE TH FR SA SU")
        if match[1] and frequency not in {"MONTHLY", "YEARLY"}:
            raise ValueError(
                f"{day} in BYDAY: a number before the day needs FREQ=MONTHLY or YEARLY"
            )


def _until(value: str, zone: ZoneInfo) -> datetime:
    """Return the last moment of a rule in naive local time; of a bare date, the end of that day."""
    match = _UNTIL.fullmatch(value)
    if match is None:
        raise ValueError(f"UNTIL={value} is not a date; write UNTIL=20260630 or 20260630T235959Z")
    year, month, day, hour, minute, second = (int(number or 0) for number in match.groups()[:6])
    clock = (hour, minute, second) if match[4] else (23, 59, 59)
    try:
        moment = datetime.combine(date(year, month, day), time(*clock))
    except ValueError as error:
        raise ValueError(f"UNTIL={value} is not a real date") from error
    if match[7]:
        moment = moment.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)
    return moment


def _first(rule: rrule, start: datetime) -> datetime | None:
    """Return the first occurrence, or None where there is none for decades.

    The search for an impossible day ends only with the last year there is, thousands of years
    ahead; the same search in the last cycle of the calendar ends soon.
    """
    shift = (_LAST_YEAR - _REACH - start.year) // _CALENDAR_CYCLE * _CALENDAR_CYCLE
    try:
        late = next(iter(rule.replace(dtstart=start.replace(year=start.year + shift))), None)
    except IndexError as error:
        raise ValueError("BYDAY counts beyond the end of the month or year") from error
    return late.replace(year=late.year - shift) if late else None


def _rule(parts: Mapping[str, str], start: datetime) -> rrule:
    text = ";".join(f"{key}={value}" for key, value in parts.items())
    try:
        rule = rrulestr(text, dtstart=start)
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"the rule cannot be read ({error})") from error
    if not isinstance(rule, rrule):
        raise ValueError("there must be exactly one RFC 5545 rule")  # noqa: TRY004 - a bad value to its reader
    return rule


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
