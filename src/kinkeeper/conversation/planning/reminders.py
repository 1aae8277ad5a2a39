"""Reminders of what was made or shown, and before or after what takes place. Pure."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from dateutil.rrule import rrulestr

from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import (
    Case,
    Groups,
    Missing,
    Step,
    Thing,
    action,
    best_match,
)
from kinkeeper.conversation.planning.clauses import bare
from kinkeeper.conversation.planning.event_updates import News, Told
from kinkeeper.conversation.planning.people import (
    PRONOUNS,
    is_person,
    is_speaker,
    means_two_of_us,
    one_of,
    together,
    who_of,
)
from kinkeeper.conversation.planning.plan_times import moment_of, shifted_rule
from kinkeeper.conversation.planning.referents import latest, meant
from kinkeeper.conversation.planning.task_rules import eve_of
from kinkeeper.conversation.planning.told_events import Meant
from kinkeeper.memory.statements.care import people_in
from kinkeeper.memory.statements.names import kin
from kinkeeper.reading.deeds import next_dose

OF_WHAT_STANDS = "of what was made or shown"
"""Why a reminder is planned that names nothing itself: what it is of may only be made by the same message."""

_REMIND: Final = "remind "
_IS_BEFORE = re.compile(r"\b(?:before|earlier|ahead)\b", re.IGNORECASE)
_WORDS_BETWEEN = frozenset({"", "before", "earlier", "beforehand", "ahead"})
_EVENINGS, _EVENING, _WEEK = frozenset({"evening", "night"}), 18, 7


def after_dose(case: Case) -> list[Step]:
    """Read "gave Ada Calpol at 2, remind me at 6 for the next": when it is not certain, that is asked."""
    people = kin().union(case.household.members_by_word)
    dose = next_dose(case.context.text, case.now, people)
    if dose is None:
        return []
    whom = sorted(people_in(dose.whom, case.household) - {case.context.asked.member.id})
    params = {"title": dose.title, **({"who": whom[0]} if whom else {})}
    if dose.at is None:
        return [Missing(action("task", "create", params), "deadline", _NEXT)]
    return [action("task", "create", {**params, "deadline": dose.at.isoformat()})]


def remind_of(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "remind me about it an hour before", of what was made or shown."""
    things, whom = meant(groups.get("one") or "it", case), _whom(groups["whom"], case)
    if len(things) != 1 or whom is None:
        return None
    thing, when = things[0], groups["when"]
    eve = eve_of(when, case)
    if eve is not None and thing.start:
        params = _on_the_eve(thing, when, eve, case)
    elif case.message.title(when) in _WORDS_BETWEEN:
        params = {"title": thing.title, "deadline": _before(thing, groups, case)}
    else:
        return None
    params = {**params, "who": whom}
    return [_of_series(params, thing, case) if thing.rrule else _of_what_stands(params)]


def on_its_eve(case: Case) -> list[Step]:
    """Return the reminder of what is told right before, and is no event: "the bins go out on Friday, remind me the night before"."""
    text = case.message.text
    at = text.lower().rfind(_REMIND)
    told, rest = text[: max(at, 0)], text[at + len(_REMIND) :]
    told = bare(told, case.grammar).removesuffix(" and")
    told = told[max(map(told.rfind, ".!?;")) + 1 :]
    eve, moment = eve_of(rest, case), moment_of(case.message.times(told), case.now)
    title = case.message.title(told)
    whom = _whom(case.message.words(rest)[: eve.start()].strip(), case) if eve is not None else None
    if eve is None or whom is None or moment is None or moment.day is None or not title:
        return []
    thing = Thing(kind="event", id="", title=title, start=moment.text, rrule=moment.rule or "")
    params = {**_on_the_eve(thing, rest, eve, case), "who": whom}
    return [_of_series(params, thing, case) if thing.rrule else action("task", "create", params)]


def _of_what_stands(params: Mapping[str, Any]) -> PlannedAction:
    return action("task", "create", params, reasoning=OF_WHAT_STANDS)


def _of_series(params: dict[str, Any], thing: Thing, case: Case) -> Step:
    """Return a reminder of each time of a series; asked about where no rule says when those are."""
    first, start = params["deadline"], thing.start or ""
    days = (date.fromisoformat(first[:10]) - date.fromisoformat(start[:10])).days
    rule = shifted_rule(thing.rrule, days)
    if rule is None:
        return Missing(action("task", "create", {**params, "deadline": None}), "deadline", _EACH)
    at = datetime.fromisoformat(first)
    if "T" in first and at <= case.now:
        following = rrulestr(rule, dtstart=at).after(case.now)
        first = first if following is None else following.isoformat()
    return _of_what_stands({**params, "deadline": first, "rrule": rule})


def _before(thing: Thing, groups: Groups, case: Case) -> str | None:
    """Return when to remind: before it where that was said, at the time that was named, or at its own."""
    when = groups["when"]
    if thing.start and "T" in thing.start and _IS_BEFORE.search(case.message.words(when)):
        lengths = case.message.lengths(when)
        early = lengths[0].until - lengths[0].begin if lengths else _early(groups, case)
        return (datetime.fromisoformat(thing.start) - early).isoformat()
    moment = moment_of(case.message.times(when), case.now)
    return (moment.text if moment is not None else None) or thing.start


def _whom(said: str, case: Case) -> list[str] | None:
    """Return who is to be reminded, none where it is whoever speaks; None where nobody can tell."""
    if means_two_of_us(said, case):
        return together(said, case) or None
    if is_speaker(said):
        return []
    if said.lower() not in PRONOUNS:
        return who_of(said, case) or None
    last = next((each for each in latest(case) if each.result.get("who")), None)
    me = case.context.asked.member.id
    return [each for each in last.result["who"] if each != me] or None if last else None


def _on_the_eve(thing: Thing, when: str, eve: re.Match[str], case: Case) -> dict[str, Any]:
    """Read "the day before at noon": that day at the time that was said, else in the morning or evening of it."""
    day = datetime.fromisoformat(thing.start or "").date()
    day -= timedelta(days=_WEEK if eve["unit"].lower() == "week" else 1)
    said = moment_of(case.message.times(when), case.now)
    at = said.start.timetz() if said is not None and said.start is not None else None
    if at is None and eve["unit"].lower() in _EVENINGS:
        at = time(_EVENING, tzinfo=case.now.tzinfo)
    moment = day.isoformat() if at is None else datetime.combine(day, at).isoformat()
    what = re.search(r"\bto (?P<what>[a-z].+)$", case.message.title(when), re.IGNORECASE)
    return {"title": what["what"] if what else thing.title, "deadline": moment}


def _early(groups: Groups, case: Case) -> timedelta:
    times = case.message.times(groups["when"])
    if not times:
        return timedelta(hours=1)
    if not times[0].has_time:
        return abs(times[0].begin.date() - case.now.date())
    return abs(times[0].begin - case.now)


# Reminders before or after what takes place: "an hour before the recital", "after judo on Tuesday".
# Pure.

_EVE_OF = re.compile(r"^(?:the|a|one) (?P<unit>day|week|evening|night|morning) ", re.IGNORECASE)
_NEXT: Final = "When is the next dose due?"
_EACH: Final = "When should I remind you of each of them?"
_UNKNOWN: Final = "I don't know when {} is. When should I remind you?"
_EARLY: Final = timedelta(hours=1)
"""How long before something whoever is to do something "before" it is reminded."""


def long_before(groups: Groups, case: Case) -> Sequence[Step]:
    """Read "remind me an hour before the recital": of what is known to take place; asked about where it is not.

    Args:
        groups: What was found: "before", which begins with how long, and "what".
    """
    lengths = case.message.lengths(groups["before"])
    named, _, what = case.message.title(groups["what"]).partition(" to ")
    event = _time_of(named, groups["what"], case) or best_match(
        named, (each for each in case.things if each.kind == "event")
    )
    eve = _EVE_OF.match(groups["before"])
    if event is None or "T" not in (event.start or "") or not (lengths or eve):
        return [_asked({"title": what or named}, named)]
    if eve is not None:
        params = _on_the_eve(event, groups["what"], eve, case)
    else:
        at = datetime.fromisoformat(event.start or "") - (lengths[0].until - lengths[0].begin)
        params = {"title": what or event.title, "deadline": at.isoformat()}
    recurs = any(each.recurrence for each in case.message.times(groups["what"]))
    if recurs and event.rrule:
        return [_of_series(params, event, case)]
    return [action("task", "create", params)]


def around(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "remind me after judo on Tuesday to wash the kit": when that ends, or well before it begins.

    Args:
        groups: What was found: "around" ("after", "before", ...), "event" with its times, "what", and "who".
    """
    params: dict[str, Any] = {"title": case.message.title(groups["what"])}
    if not is_speaker(groups["who"]):
        if not is_person(groups["who"], case):
            return None
        params["who"] = one_of(groups["who"], case)
    named = case.message.title(groups["event"])
    time = _time_of(named, groups["event"], case)
    if time is None and "behind" in groups:
        return None  # "before school" is a part of what is to be done then
    if time is None:
        return [_asked(params, case.message.words(groups["event"]))]
    is_after = groups["around"].lower().split()[-1] in {"after", "once"}
    at = time.end if is_after else (datetime.fromisoformat(time.start or "") - _EARLY).isoformat()
    return [action("task", "create", {**params, "deadline": at})]


def _time_of(named: str, when: str, case: Case) -> Thing | None:
    """Return the one time of an event that words mean; None where there is none with hours, or several fit."""
    if not named:
        return None
    meant = Meant(Told(news=News.ENDS, about=named, when=when), case)
    times = meant.times(meant.events)
    if len({each.id for each in times}) != 1 or "T" not in (times[0].start or ""):
        return None
    return times[0] if times[0].end else None


def _asked(params: dict[str, Any], named: str) -> Missing:
    return Missing(action("task", "create", params), "deadline", _UNKNOWN.format(named))
