"""Reminders before or after what takes place: "an hour before the recital", "after judo on Tuesday". Pure."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from kinkeeper.conversation.planning.case import Case, Groups, Missing, Step, action
from kinkeeper.conversation.planning.event_updates import News, Told
from kinkeeper.conversation.planning.named import Thing, best_match
from kinkeeper.conversation.planning.people import is_person, is_speaker, one_of
from kinkeeper.conversation.planning.told_events import Meant

_EVE_OF = re.compile(r"^(?:the|a|one) (?P<unit>day|week|evening|night) ", re.IGNORECASE)
_UNKNOWN: Final = "I don't know when {} is. When should I remind you?"
_EARLY: Final = timedelta(hours=1)
"""How long before something whoever is to do something "before" it is reminded."""


def long_before(groups: Groups, case: Case) -> Sequence[Step]:
    """Read "remind me an hour before the recital": of what is known to take place; asked about where it is not.

    Args:
        groups: What was found: "before", which begins with how long, and "what".
        case: The message.
    """
    lengths = case.message.lengths(groups["before"])
    named = case.message.title(groups["what"])
    event = _time_of(named, groups["what"], case) or best_match(
        named, (each for each in case.things if each.kind == "event")
    )
    early = lengths[0].until - lengths[0].begin if lengths else _eve_length(groups["before"])
    if event is None or "T" not in (event.start or "") or early is None:
        return [_asked({"title": named}, named)]
    at = datetime.fromisoformat(event.start or "") - early
    return [action("task", "create", {"title": event.title, "deadline": at.isoformat()})]


def _eve_length(words: str) -> timedelta | None:
    """Return how long before something "the day before the recital" is; None where no such words begin it."""
    found = _EVE_OF.match(words)
    if found is None:
        return None
    return timedelta(weeks=1) if found["unit"].lower() == "week" else timedelta(days=1)


def around(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "remind me after judo on Tuesday to wash the kit": when that ends, or well before it begins.

    Args:
        groups: What was found: "around" ("after", "before", ...), "event" with its times, "what", and "who".
        case: The message.
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
