"""Reminders of things that were made or shown: "remind me of it an hour before". Pure."""

import re
from collections.abc import Sequence
from datetime import datetime, time, timedelta

from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.moments import moment_of
from kinkeeper.conversation.planning.named import Thing
from kinkeeper.conversation.planning.referents import meant
from kinkeeper.conversation.planning.task_rules import eve_of

_EVENINGS, _EVENING, _WEEK = frozenset({"evening", "night"}), 18, 7


def remind_of(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "remind me about it an hour before", of what was made or shown."""
    things = meant(groups.get("one") or "it", case)
    when = groups["when"]
    eve = eve_of(when, case)
    if eve is not None and len(things) == 1 and things[0].start:
        return [_on_the_eve(things[0], when, eve, case)]
    moment = moment_of(case.message.times(when), case.now)
    lengths = case.message.lengths(when)
    if len(things) != 1 or (
        case.message.title(when) not in {"", "before", "earlier", "beforehand", "ahead"}
    ):
        return None
    thing, at = things[0], moment.text if moment is not None else None
    is_before = re.search(r"\b(?:before|earlier|ahead)\b", case.message.words(when), re.IGNORECASE)
    if thing.start and "T" in thing.start and is_before:
        early = lengths[0].until - lengths[0].begin if lengths else _early(groups, case)
        at = (datetime.fromisoformat(thing.start) - early).isoformat()
    return [action("task", "create", {"title": thing.title, "deadline": at or thing.start})]


def _on_the_eve(thing: Thing, when: str, eve: re.Match[str], case: Case) -> Step:
    """Read "the day before at noon": that day at the time that was said, else in the morning or evening of it."""
    day = datetime.fromisoformat(thing.start or "").date()
    day -= timedelta(days=_WEEK if eve["unit"].lower() == "week" else 1)
    said = moment_of(case.message.times(when), case.now)
    at = said.start.timetz() if said is not None and said.start is not None else None
    if at is None and eve["unit"].lower() in _EVENINGS:
        at = time(_EVENING, tzinfo=case.now.tzinfo)
    moment = day.isoformat() if at is None else datetime.combine(day, at).isoformat()
    what = re.search(r"\bto (?P<what>[a-z].+)$", case.message.title(when), re.IGNORECASE)
    return action(
        "task", "create", {"title": what["what"] if what else thing.title, "deadline": moment}
    )


def _early(groups: Groups, case: Case) -> timedelta:
    times = case.message.times(groups["when"])
    if not times:
        return timedelta(hours=1)
    if not times[0].has_time:
        return abs(times[0].begin.date() - case.now.date())
    return abs(times[0].begin - case.now)
