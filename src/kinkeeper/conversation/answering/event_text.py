"""Events in a few words, and what a request is to change, or has changed, about an event or a task. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from kinkeeper.calendar.event_records import waiting_words
from kinkeeper.conversation.answering.names_and_times import (
    Setting,
    Words,
    is_date,
    listed,
    moment_words,
    name_of,
    period_words,
    plain,
    rule_words,
    span_words,
)
from kinkeeper.language.text import enumerated

# Events in a few words, and who takes part in them. Pure.

Item = Mapping[str, Any]
"""An event as requests tell it."""


def named(members: Sequence[str], setting: Setting) -> str:
    """Return people as they are named to the person spoken to; that person where nobody is."""
    return enumerated([setting.name(each) for each in members] or [setting.name(setting.member)])


def are(members: Sequence[str], setting: Setting) -> str:
    """Return people with the verb that follows them: "you are", "Leo and Mia are"."""
    people = named(members, setting)
    is_one = len(members) <= 1 and people != "you"
    return f"{people} {'is' if is_one else 'are'}"


def event_told(item: Item, setting: Setting) -> str:
    """Return all of an event in a few words."""
    people = [setting.name(str(each)) for each in item.get("who") or ()]
    place = item.get("location") or item.get("place")
    told = briefly_told(item, setting)
    told += f" at {plain(str(place))}" if place else ""
    told += f" ({enumerated(people)})" if people else ""
    in_charge = [str(each) for each in item.get("responsible") or ()]
    if in_charge:
        who = named(in_charge, setting)
        told += (
            f", with {who} in charge"
            if item.get("confirmed", True)
            else f", and {who} would be in charge"
        )
    return told + waiting_told(item, setting)


def in_charge_told(item: Item, in_charge: Sequence[str], setting: Setting) -> str:
    """Return who is in charge of an event, or would be if it were confirmed."""
    if item.get("confirmed", True):
        return f"{are(in_charge, setting)} in charge"
    return f"{named(in_charge, setting)} would be in charge"


def waiting_told(item: Item, setting: Setting) -> str:
    """Return what nobody has confirmed yet, with what parts it from the words before; empty where nothing waits."""
    words = waiting_words(
        item,
        name=setting.name,
        moment=lambda at: moment_words(
            at.isoformat(), now=setting.now, locale=setting.household.locale
        ),
    )
    return f" – {words}" if words else ""


def briefly_told(item: Item, setting: Setting) -> str:
    """Return what an event is and when."""
    return " ".join(part for part in (name_of(item), when_told(item, setting)) if part)


def when_told(item: Item, setting: Setting) -> str:
    """Return when an event is, of times of a series how often; empty where it has no time."""
    if "start" not in item:
        return ""
    start, end, locale = str(item["start"]), item.get("end"), setting.household.locale
    if item.get("times"):
        return _again(item, setting)
    if is_date(start) and end and str(end) > start:
        first, last = (date.fromisoformat(str(each)) for each in (start, end))
        days = (last - first).days + 1
        return period_words(first, days, today=setting.now.date(), locale=locale)
    return span_words(start, str(end) if end else None, now=setting.now, locale=locale)


def _again(item: Item, setting: Setting) -> str:
    """Return when the times of a series are: "every Tuesday from 5pm to 6pm, 4 times by 23 February"."""
    start, end, locale = str(item["start"]), item.get("end"), setting.household.locale
    once = span_words(start, str(end) if end else None, now=setting.now, locale=locale)
    day = moment_words(start[:10], now=setting.now, locale=locale)
    every = rule_words(str(item.get("rrule") or "")) or day
    last = moment_words(str(item["last"]), now=setting.now, locale=locale).removeprefix("on ")
    return f"{every}{once.removeprefix(day)}, {item['times']} times by {last}"


def people_told(item: Item, setting: Setting) -> str:
    """Return who takes part in an event, in brackets with a space before them; empty where nobody is named."""
    people = [setting.name(str(each)) for each in item.get("who") or ()]
    return f" ({enumerated(people)})" if people else ""


def capital(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


ONLY_ONCE = ", just this once"
_REACHES = {"series": ", and all the others in the series", "following": ", and all later ones"}
_TIMES = frozenset({"start_time", "end_time", "shift_minutes"})


def to_change(words: Words) -> str:
    """Return what is to be different about an event, as it follows "Shall I"."""
    changes, what = _changes(words), f"{words.title}{words.when}"
    if old := old_name(words):
        return f"rename {old} to {what}"
    parts = []
    if _TIMES & set(changes):
        parts = [
            f"move {words.title} to{words.when.removeprefix(' on')}"
            if words.when
            else f"move {what}"
        ]
    its = "its" if parts else "the"
    of = "" if parts else f" of {what}"
    if people := _people_of(changes, "responsible", words):
        parts.append(f"put {people} in charge{of}")
    elif "responsible" in changes:
        parts.append(f"leave {'it' if parts else what} unassigned")
    if gone := _leaving(changes, words):
        parts.append(f"take {gone} off {'it' if parts else what}")
    elif people := _people_of(changes, "who", words):
        parts.append(f"put {people} down for {'it' if parts else what}")
    if place := changes.get("location"):
        parts.append(f"change {its} place{of} to {plain(str(place))}")
    told = enumerated(parts) or f"change {words.title} in the calendar{words.when}"
    return f"{told}{how_often(words)}"


def _leaving(changes: Mapping[str, Any], words: Words) -> str:
    """Return who takes no part in an event any more, where that is all that changes about who does."""
    before = words.value("before")
    known = listed(before.get("who")) if isinstance(before, Mapping) else ()
    kept = listed(changes.get("who"))
    if not kept or not set(kept) < set(known):
        return ""
    return enumerated([words.setting.name(str(each)) for each in known if each not in kept])


def how_often(words: Words) -> str:
    """Return of how many times of something that recurs a request is, with what parts it from the words before."""
    if not words.done.result.get("rrule"):
        return ""
    if last := words.done.result.get("last"):
        day = moment_words(
            str(last)[:10], now=words.setting.now, locale=words.setting.household.locale
        )
        return (
            f" and every time until {day.removeprefix('on ')}, {words.done.result['times']} in all"
        )
    scope = str(words.done.params.get("scope", ""))
    return _REACHES.get(scope, ONLY_ONCE)


def what_changed(words: Words) -> str:
    """Return what is different about something now, as it follows what it is called.

    Args:
        words: Of a request that was done.
    """
    changes = _changes(words)
    is_moved = not changes or bool((_TIMES | {"deadline", "remind_at"}) & set(changes))
    if {"title", "summary"} & set(changes):
        return "has been changed"
    if is_moved and words.when:
        return f"is now{words.when}"
    if people := _people_of(changes, "responsible", words):
        return f"now has {people} in charge"
    if "responsible" in changes:
        return f"has nobody in charge{words.when} now; somebody still needs to take it"
    if people := _people_of(changes, "who", words):
        return f"is now for {people}"
    if place := changes.get("location"):
        return f"is now at {plain(str(place))}"
    return "has been changed"


def old_name(words: Words) -> str:
    """Return what an event was called, where it gets another name; empty where it keeps it."""
    before = words.value("before")
    old = str(before.get("title") or "") if isinstance(before, Mapping) else ""
    return f"“{plain(old)}”" if old and old != words.value("title") else ""


def _changes(words: Words) -> Mapping[str, Any]:
    changes = words.done.params.get("changes")
    return changes if isinstance(changes, Mapping) else {}


def _people_of(changes: Mapping[str, Any], name: str, words: Words) -> str:
    return enumerated([words.setting.name(str(each)) for each in listed(changes.get(name))])
