"""Events in a few words, and who takes part in them. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from kinkeeper.calendar.waiting_words import waiting_words
from kinkeeper.conversation.answering.name_text import Setting, name_of, plain
from kinkeeper.conversation.answering.spoken_times import (
    is_date,
    moment_words,
    period_words,
    rule_words,
    span_words,
)
from kinkeeper.language.text import enumerated

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
        item, name=setting.name,
        moment=lambda at: moment_words(
            at.isoformat(), now=setting.now, locale=setting.household.locale
        ),
    )  # fmt: skip
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
