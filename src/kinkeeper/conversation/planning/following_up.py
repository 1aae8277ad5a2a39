"""Follow-ups that do something else with what was found or done: book the room that was found, show the list again. Pure."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.planning.case import Case, Missing, Step, action
from kinkeeper.conversation.planning.named import results_of
from kinkeeper.conversation.planning.people import members_in, who_of
from kinkeeper.conversation.planning.referents import latest, target

_HERS = re.compile(r"^(?:her|his|their)\b", re.IGNORECASE)
_SHE = re.compile(r"^(?:she|he)\b", re.IGNORECASE)
_IT = re.compile(r"^(?:it|that|this|them)?$", re.IGNORECASE)
_HOUR = 60
_ARRANGED = frozenset({"create_event", "update_event"})


def followed(clause: str, case: Case) -> list[Step] | None:
    """Return what a clause wants done with the latest result, or None where it does not speak of it."""
    last = next(latest(case), None)
    if last is None:
        return None
    booked = case.grammar.pointing["book"].fullmatch(clause)
    if last.action == "find_free":
        booked = booked or case.grammar.pointing["book_in"].fullmatch(clause)
    if booked is not None and last.action == "find_free":
        return _booked(last, case.message.title(booked["what"]), case)
    if case.grammar.pointing["show"].fullmatch(clause):
        return _shown(last)
    return _peopled(clause, last, case)


def _peopled(clause: str, last: ActionResult, case: Case) -> list[Step] | None:
    """Read "gran is taking her", "Leo is coming too", said of an event that was just made or changed."""
    things = results_of([last])
    if last.action not in _ARRANGED or len(things) != 1:
        return None
    for name, field in (("taking", "responsible"), ("joining", "who")):
        found = case.grammar.describing[name].fullmatch(clause)
        people = who_of(found["who"], case) if found is not None else []
        if people:
            known = last.result.get("who") or () if field == "who" else ()
            everyone = list(dict.fromkeys((*known, *people)))
            changes = {"changes": {field: everyone}}
            return [action("calendar", "update_event", {**target(things[0]), **changes})]
    return None


def _booked(last: ActionResult, title: str, case: Case) -> list[Step] | None:
    """Put something into the first room that was found."""
    rooms = last.result.get("free") or (
        [last.params["between"]] if last.result.get("is_free") else []
    )
    start = _start(rooms[0]) if rooms else None
    if start is None:
        return None
    title = "" if _IT.match(title) else title
    end = start + timedelta(minutes=last.params.get("duration", _HOUR))
    params = {
        "summary": title, "start_time": start.isoformat(), "end_time": end.isoformat(),
        "who": last.params.get("who") or members_in(title, case),
    }  # fmt: skip
    step = action("calendar", "create_event", params)
    return [step] if title else [Missing(step, "summary", "What should I put there?")]


def _start(room: Mapping[str, Any]) -> datetime | None:
    said = room.get("start") or room.get("from")
    return datetime.fromisoformat(said) if isinstance(said, str) else None


def set_right(clause: str, case: Case) -> list[Step] | None:
    """Read "it's changed to 9020" right after what it was had been asked, and answered from memory.

    Args:
        clause: With marks, without politeness.
        case: The message, and what was said before it.
    """
    if not case.context.history or case.context.history[-1].results:
        return None
    before = case.context.history[-1]
    pointing = case.grammar.pointing
    asked = pointing["asked_what"].fullmatch(case.grammar.spelled_out(before.text).strip(" ?!."))
    new = pointing["is_now"].fullmatch(clause)
    if asked is None or new is None or not before.used:
        return None
    what = asked["what"]
    value = f"{what[0].upper()}{what[1:]} is {case.message.words(new['new'])}"
    return [action("memory", "update", {"key": what, "new_value": value})]


def _shown(last: ActionResult) -> list[Step] | None:
    """Show again what was changed."""
    if last.domain == "notes":
        title = last.result.get("title") or last.params.get("title")
        return [action("notes", "list", {"title": title})]
    things = results_of([last])
    if last.domain == "task" and len(things) == 1:
        return [action("task", "list", {"query": things[0].title, "status": "all"})]
    return None


def with_name(value: str, case: Case) -> str:
    """Return a fact that begins with "her" or "he" with the name of whoever was spoken of last, where that is known."""
    if not (_HERS.match(value) or _SHE.match(value)):
        return value
    name = _spoken_of(case)
    if name is None:
        return value
    return _SHE.sub(name, _HERS.sub(f"{name}'s", value, count=1), count=1)


def _spoken_of(case: Case) -> str | None:
    for exchange in reversed(case.context.history):
        named = members_in(exchange.text, case)
        if len(named) == 1:
            return case.household.names[named[0]]
        asked = [each.params.get("query") for each in exchange.results if each.domain == "memory"]
        names = [each for each in asked if isinstance(each, str) and each.istitle()]
        if names:
            return names[-1]
    return None
