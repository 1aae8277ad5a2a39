"""Reminders of things that were made or shown: "remind me of it an hour before". Pure."""

import re
from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Any

from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.named import Thing
from kinkeeper.conversation.planning.people import PRONOUNS, is_speaker, who_of
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.conversation.planning.referents import latest, meant
from kinkeeper.conversation.planning.task_rules import eve_of

OF_WHAT_STANDS = "of what was made or shown"
"""Why a reminder is planned that names nothing itself: what it is of may only be made by the same message."""

_IS_BEFORE = re.compile(r"\b(?:before|earlier|ahead)\b", re.IGNORECASE)
_WORDS_BETWEEN = frozenset({"", "before", "earlier", "beforehand", "ahead"})
_EVENINGS, _EVENING, _WEEK = frozenset({"evening", "night"}), 18, 7


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
    return [action("task", "create", {**params, "who": whom}, reasoning=OF_WHAT_STANDS)]


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
