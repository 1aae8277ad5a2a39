"""The form in which a person writes or edits an event: its fields, what is wrong with them, what they change. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date, time, timedelta
from enum import StrEnum
from typing import Any, Final

from kinkeeper.calendar.model import Event, Occurrence
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_of
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.people import People, Person

_INSTANT = timedelta(microseconds=1)
_LONGEST_BEFORE = 20_000


class Repeat(StrEnum):
    """How often an event takes place, as the form offers it."""

    NEVER = "never"
    DAILY = "daily"
    WEEKDAYS = "weekdays"
    WEEKLY = "weekly"
    FORTNIGHTLY = "fortnightly"
    MONTHLY = "monthly"
    YEARLY = "yearly"
    KEPT = "kept"  # by a rule that the form does not offer


REPEATS: Final[Mapping[Repeat, str]] = {
    Repeat.NEVER: "Never",
    Repeat.DAILY: "Every day",
    Repeat.WEEKDAYS: "Every weekday",
    Repeat.WEEKLY: "Every week",
    Repeat.FORTNIGHTLY: "Every two weeks",
    Repeat.MONTHLY: "Every month",
    Repeat.YEARLY: "Every year",
    Repeat.KEPT: "As it does now",
}
_RULES: Final[Mapping[Repeat, str]] = {
    Repeat.DAILY: "FREQ=DAILY",
    Repeat.WEEKDAYS: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    Repeat.WEEKLY: "FREQ=WEEKLY",
    Repeat.FORTNIGHTLY: "FREQ=WEEKLY;INTERVAL=2",
    Repeat.MONTHLY: "FREQ=MONTHLY",
    Repeat.YEARLY: "FREQ=YEARLY",
}
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


class Audience(StrEnum):
    """Who shall see an event, as the form offers it."""

    KEPT = ""  # as it is; of a new event, its words decide
    OWN = "own"
    HOUSEHOLD = "household"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFields:
    """What the fields hold, as a browser sends them.

    Attributes:
        who: Member ids of those who take part.
        day: ISO date.
        start: HH:MM; empty where it takes the whole day.
        last_day: ISO date; empty where it is the same day.
        responsible: Member ids of those in charge.
        until: Last ISO date on which it repeats; empty for no end.
    """

    title: str = ""
    who: tuple[str, ...] = ()
    day: str = ""
    start: str = ""
    last_day: str = ""
    end: str = ""
    all_day: bool = False
    place: str = ""
    repeat: str = Repeat.NEVER.value
    until: str = ""
    responsible: tuple[str, ...] = ()
    audience: str = Audience.KEPT.value

    @property
    def times(self) -> tuple[str, ...]:
        """When it is, comparable."""
        last = self.last_day or self.day
        if self.all_day:
            return (self.day, last)
        return (self.day, self.start, last, self.end)

    def as_json(self) -> str:
        """Return the fields as a text that a form can carry along."""
        return json.dumps(asdict(self), ensure_ascii=False)


def fields_before(text: str, otherwise: EventFields) -> EventFields:
    """Return the fields as a form had them when it was opened.

    Args:
        text: As `EventFields.as_json` wrote it.
        otherwise: What to return where the text says nothing of use.
    """
    try:
        found = json.loads(text) if len(text) <= _LONGEST_BEFORE else None
    except (ValueError, RecursionError):
        return otherwise
    if not isinstance(found, dict):
        return otherwise
    known: dict[str, Any] = {}
    for each in fields(EventFields):
        value = found.get(each.name)
        default = getattr(otherwise, each.name)
        if isinstance(default, tuple) and isinstance(value, list):
            value = tuple(map(str, value))
        known[each.name] = value if isinstance(value, type(default)) else default
    return EventFields(**known)


def merged(mine: EventFields, before: EventFields, now: EventFields) -> EventFields:
    """Return an event as it is now with what a person changed in the form since they opened it."""
    own = {
        each.name: getattr(mine, each.name)
        for each in fields(EventFields)
        if each.name not in _OF_TIME and getattr(mine, each.name) != getattr(before, each.name)
    }
    if mine.times != before.times:
        own |= {name: getattr(mine, name) for name in _OF_TIME}
    return replace(now, **own)


_OF_TIME = ("day", "start", "last_day", "end", "all_day")


def fields_of(occurrence: Occurrence, household: Household) -> EventFields:
    """Return the fields of an occurrence that is in the calendar."""
    event, zone = occurrence.event, household.zone
    start = occurrence.interval.start.astimezone(zone)
    end = occurrence.interval.end.astimezone(zone)
    last = (end - _INSTANT if event.all_day else end).date()
    repeat, until = repeat_of(event)
    return EventFields(
        title=event.summary,
        who=event.who,
        day=start.date().isoformat(),
        start="" if event.all_day else f"{start:%H:%M}",
        last_day="" if last <= start.date() else last.isoformat(),
        end="" if event.all_day else f"{end:%H:%M}",
        all_day=event.all_day,
        place=household.place_name(occurrence.place) if occurrence.place else "",
        repeat=repeat.value,
        until=until,
        responsible=occurrence.responsible,
    )


def repeat_of(event: Event) -> tuple[Repeat, str]:
    """Return how often an event takes place, and the last day where there is one."""
    if event.rrule is None:
        return Repeat.NEVER, ""
    parts = dict(part.split("=", 1) for part in event.rrule.split(";"))
    last = parts.pop("UNTIL", "")
    parts.pop("WKST", "")
    if parts.get("INTERVAL") == "1":
        del parts["INTERVAL"]
    if parts.get("FREQ") == "WEEKLY" and parts.get("BYDAY") == _DAYS[event.start.weekday()]:
        del parts["BYDAY"]
    plain = {tuple(sorted(rule.split(";"))): repeat for repeat, rule in _RULES.items()}
    found = plain.get(tuple(sorted(f"{name}={value}" for name, value in parts.items())))
    until = f"{last[:4]}-{last[4:6]}-{last[6:8]}" if last else ""
    return found or Repeat.KEPT, until


def rule_of(filled: EventFields, kept: str | None = None) -> str:
    """Return the rule that the form says; empty where it does not repeat.

    Args:
        kept: The rule of the event so far, which "as it does now" keeps.
    """
    repeat = Repeat(filled.repeat)
    if repeat is Repeat.NEVER:
        return ""
    rule = _RULES.get(repeat) or ";".join(
        part for part in (kept or "").split(";") if not part.startswith("UNTIL=")
    )
    return f"{rule};UNTIL={filled.until.replace('-', '')}" if filled.until and rule else rule


def wrong_fields(filled: EventFields) -> dict[str, str]:
    """Return what is wrong with the fields themselves, by the name of the field, in the order of the form."""
    wrong: dict[str, str] = {}
    if not filled.title.strip():
        wrong["title"] = "Give it a title."
    day, last = _date(filled.day), _date(filled.last_day)
    if day is None:
        wrong["day"] = "Choose a day."
    if not filled.all_day:
        wrong |= _wrong_times(filled)
    if filled.last_day and last is None:
        wrong["last_day"] = "This is not a day. Leave it empty for the same day."
    elif day and last and last < day:
        wrong["last_day"] = "The last day is before the first."
    if filled.repeat not in [each.value for each in Repeat]:
        wrong["repeat"] = "Choose one of these."
    elif filled.until and filled.repeat != Repeat.NEVER:
        until = _date(filled.until)
        if until is None or (day and until < day):
            wrong["until"] = "Choose a day after the first one."
    if filled.audience not in [each.value for each in Audience]:
        wrong["audience"] = "Choose one of these."
    return wrong


def _wrong_times(filled: EventFields) -> dict[str, str]:
    if not filled.start:
        return {"start": "Choose a start time, or tick “All day”."}
    start, end = _time(filled.start), _time(filled.end)
    wrong = {
        name: "This is not a time. Write it like 16:30."
        for name, text, clock in (("start", filled.start, start), ("end", filled.end, end))
        if text and clock is None
    }
    is_same_day = filled.last_day in {"", filled.day}
    if not wrong and start and end and is_same_day and end <= start:
        wrong["end"] = "The end has to be after the start."
    return wrong


def time_params(filled: EventFields) -> dict[str, str]:
    """Return start and end as requests take them."""
    last = filled.last_day or filled.day
    if filled.all_day:
        return {"start_time": filled.day, "end_time": last}
    end = {"end_time": f"{last}T{filled.end}"} if filled.end else {}
    return {"start_time": f"{filled.day}T{filled.start}", **end}


def new_event(filled: EventFields) -> dict[str, Any]:
    """Return the parameters that add an event."""
    rule = rule_of(filled)
    return {
        "summary": filled.title.strip(),
        **time_params(filled),
        "all_day": filled.all_day,
        "who": list(filled.who),
        "responsible": list(filled.responsible),
        **({"location": filled.place.strip()} if filled.place.strip() else {}),
        **({"rrule": rule} if rule else {}),
        **({"private": True} if filled.audience == Audience.OWN else {}),
    }


def changes_between(before: EventFields, filled: EventFields, rule: str | None) -> dict[str, Any]:
    """Return what a person changed in the form, as a request takes it.

    Args:
        before: The fields as they were when the form was opened.
        rule: By which the event repeats so far.
    """
    changes: dict[str, Any] = {}
    if filled.title.strip() != before.title:
        changes["summary"] = filled.title.strip()
    if {*filled.who} != {*before.who}:
        changes["who"] = list(filled.who)
    if {*filled.responsible} != {*before.responsible}:
        changes["responsible"] = list(filled.responsible)
    if filled.place.strip() != before.place:
        changes["location"] = filled.place.strip()
    if filled.times != before.times:
        changes |= time_params(filled)
    if (filled.repeat, filled.until) != (before.repeat, before.until):
        changes["rrule"] = rule_of(filled, rule)
    if filled.audience:
        changes["private"] = filled.audience == Audience.OWN
    return changes


# What is shown around the fields.

FIELD_OF_REQUEST: Final[Mapping[str, str]] = {
    "summary": "title",
    "rrule": "repeat",
    "private": "audience",
}
"""What the form calls a field that a request names otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventForm:
    """The form.

    Attributes:
        action: Where it is sent.
        back: Where Cancel and saving lead.
        wrong: What is wrong, by field; "" for what is wrong with no single one.
        members: Whom it offers.
        places: Names of places it offers.
        repeats: What it offers, by value.
        audiences: What it offers, by value.
        before: The fields as they were when it was opened, as a text; empty of a new event.
        version: Of the event, as it was opened; empty of a new event.
        occurrence: Original start of the occurrence; empty of a new event.
        scope: Which part of a series is chosen; empty where it does not repeat.
    """

    heading: str
    action: str
    back: str
    filled: EventFields
    wrong: Mapping[str, str] = field(default_factory=dict)
    members: Sequence[Person]
    places: Sequence[str]
    repeats: Mapping[str, str]
    audiences: Mapping[str, str]
    before: str = ""
    version: str = ""
    occurrence: str = ""
    scope: str = ""

    @property
    def first_wrong(self) -> str:
        """The first field that is wrong, where the cursor goes."""
        return next((name for name in self.wrong if name), "")


def audiences_of(event: Event | None, people: People) -> dict[str, str]:
    """Return who can be chosen to see an event.

    Args:
        event: None for a new one.
    """
    if event is None or event.scope == HOUSEHOLD_SCOPE:
        return {Audience.KEPT.value: "The whole family", Audience.OWN.value: "Only me"}
    if person_of(event.scope) is not None:
        return {Audience.KEPT.value: "Only me", Audience.HOUSEHOLD.value: "The whole family"}
    return {Audience.KEPT.value: people.audience(event.scope)}


def repeats_of(now: EventFields | None) -> dict[str, str]:
    """Return how often an event can be chosen to take place.

    Args:
        now: As it is; None for a new one.
    """
    is_kept = now is not None and now.repeat == Repeat.KEPT
    return {
        each.value: text for each, text in REPEATS.items() if each is not Repeat.KEPT or is_kept
    }


def blank(day: date, start: str, viewer: str, wording: Wording) -> EventFields:
    """Return the fields of an event that is to be added.

    Args:
        start: HH:MM; empty for the next full hour of today, or nine o'clock.
        viewer: Member id of who adds it.
    """
    soon = wording.local(wording.now) + timedelta(hours=1)
    usual = f"{soon.hour:02}:00" if day == soon.date() else "09:00"
    begins = _time(start) or time.fromisoformat(usual)
    ends = time(min(begins.hour + 1, 23), begins.minute if begins.hour < time.max.hour else 59)
    return EventFields(
        who=(viewer,), day=day.isoformat(), start=f"{begins:%H:%M}", end=f"{ends:%H:%M}"
    )


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _time(text: str) -> time | None:
    try:
        return time.fromisoformat(text)
    except ValueError:
        return None
