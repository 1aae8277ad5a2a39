"""What goes on with the last turn: answers to its questions, edits of what waits, use of what it found. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import (
    Case,
    Groups,
    Missing,
    Step,
    Thing,
    action,
    best_match,
    further,
    results_of,
)
from kinkeeper.conversation.planning.changing_events import named_event, new_time
from kinkeeper.conversation.planning.clauses import bare
from kinkeeper.conversation.planning.mail_rules import composed, recipients
from kinkeeper.conversation.planning.message import BARE_WEEKDAY
from kinkeeper.conversation.planning.people import (
    is_person,
    is_speaker,
    members_in,
    people_in,
    who_of,
)
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.conversation.planning.references import changed, combined
from kinkeeper.conversation.planning.referents import latest, meant, target, timed_last
from kinkeeper.conversation.planning.relative import in_its_frame, proposed_with, relative_changes
from kinkeeper.conversation.planning.task_rules import remind
from kinkeeper.language.text import shorten
from kinkeeper.reading.times.model import TimeSpan

# Follow-ups that do something else with what was found or done: book the room that was found, show
# the list again. Pure.

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
    return _reminded_too(clause, last, case) or _peopled(clause, last, case)


def _reminded_too(clause: str, last: ActionResult, case: Case) -> list[Step] | None:
    """Read "and dad to fix my bike" right after a reminder: of something else, for whom it names or for the same."""
    whom, to, what = clause.partition("to ")
    whom, errand = whom.strip(), case.grammar.said["errand"].fullmatch(what)
    is_asked = (last.domain, last.action) == ("task", "create")
    if not (is_asked and to and errand) or not (is_person(whom, case) or is_speaker(whom)):
        return None
    if not whom and clause == case.message.text.strip(" .!"):
        return None  # nothing joins it to the reminder, whose purpose it may be
    steps = remind({"who": whom, "what": what}, case) or ()
    who = {} if whom else {"who": last.params.get("who")}
    return [
        further(each.domain, each.action, {**who, **each.params})
        for each in steps
        if isinstance(each, PlannedAction)
    ]


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
        "summary": title,
        "start_time": start.isoformat(),
        "end_time": end.isoformat(),
        "who": last.params.get("who") or members_in(title, case),
    }
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


# Answers to questions of the planner: what was known, with what the next message adds. Pure.

_LONGEST_SUBJECT = 60
_NO_TIME = re.compile(
    r"^(?:please\s+)?(?:don't|do not|never|stop|what|who|whose|where|why|how|which|is|are|do|does|did|am)\b",
    re.IGNORECASE,
)
"""Forbids or asks something: a time in it answers no question."""


def open_question(case: Case) -> Mapping[str, Any] | None:
    """Return what the last answer asked back for, if it did."""
    return case.context.history[-1].partial if case.context.history else None


_NOON: Final = 12
_MAKES_IT = re.compile(r"^(?:make|move|change|put|have|set|push) (?:it|that)$", re.IGNORECASE)
"""A second thought about what was said before, and no name."""


def completed(partial: Mapping[str, Any], case: Case) -> Step | None:
    """Return the earlier request with what was asked for, or None where the message does not say it.

    Args:
        partial: As a plan left it: domain, action, params, missing.
        case: The message that may answer.
    """
    text = bare(case.message.text, case.grammar, case.household.bot_name)
    thing = _one_of_last(text, case) if partial["missing"] == "find_by" else None
    if thing is not None and "changes" in partial["params"]:
        return changed(thing, partial["params"]["changes"])
    fill = _FILLERS.get(str(partial["missing"]))
    added = fill(text, case) if fill is not None and text else None
    if not added:
        return None
    if partial["domain"] == "task" and "changes" in added:
        added = {"changes": {"deadline": added["changes"]["start_time"]}}
    added = _beside_what_is_known(added, partial["params"], text, case)
    params = {**partial["params"], **{key: value for key, value in added.items() if value}}
    return action(partial["domain"], partial["action"], _on_its_day(params, text, case))


def at_each(step: Step, case: Case) -> Iterator[Step]:
    """Yield a task at each of several hours that an answer names ("at 8, 2 and 8"); any other request as it is."""
    listed = case.message.several(case.message.text)
    if isinstance(step, Missing) or "deadline" not in step.params or not listed:
        yield step
        return
    for hour in listed:
        moment = moment_of(hour, case.now)
        start = None if moment is None else moment.start
        if start is not None and start <= case.now:
            start += timedelta(days=1)
        known = {} if start is None else {"deadline": start.isoformat()}
        yield replace(step, params={**step.params, **known})


def _beside_what_is_known(
    added: Mapping[str, Any], known: Mapping[str, Any], text: str, case: Case
) -> dict[str, Any]:
    """Return a time with the day, or the hour, that was known before: of "on Friday", "at 3" is on Friday.

    A weekday is the one that lies nearest to the day that was known, and the reminder of what was to be done moves along.
    """
    spans = case.message.times(text)
    moment = moment_of(spans, case.now)
    full = dict(added)
    for name in ("start_time", "deadline"):
        old = known.get(name)
        if (
            moment is None
            or moment.partial is None
            or not added.get(name)
            or not isinstance(old, str)
        ):
            continue
        joined = combined(_nearest(moment.partial, old, spans, case), old)
        if moment.is_part and moment.start is not None and "T" in old:
            was = datetime.fromisoformat(
                old
            )  # "in the morning" says only which half of the day it is
            half = moment.start.hour // _NOON * _NOON
            joined = f"{joined[:10]}T{was.hour % _NOON + half:02}{old[13:]}"
        if "T" in joined:
            value = datetime.fromisoformat(joined)
            full[name] = (
                value if value.tzinfo else value.replace(tzinfo=case.household.zone)
            ).isoformat()
        else:
            full[name] = joined
        if (remind_at := known.get("remind_at")) is not None:
            full["remind_at"] = full[name] if "T" in joined else combined(joined, remind_at)
    return full


def _nearest(new: str, old: str, spans: Sequence[TimeSpan], case: Case) -> str:
    """Return a weekday that answers a question about a known day as the one nearest to that; any other time as it is."""
    is_weekday = len(spans) == 1 and BARE_WEEKDAY.match(spans[0].surface) is not None
    if not is_weekday or "-" not in old or "-" not in new:
        return new
    was, named = date.fromisoformat(old[:10]), date.fromisoformat(new[:10])
    near = was + timedelta(days=(named.weekday() - was.weekday() + 3) % 7 - 3)
    return f"{near.isoformat()}{new[10:]}" if near >= case.now.date() else new


def _on_its_day(params: dict[str, Any], text: str, case: Case) -> dict[str, Any]:
    """Return parameters whose start is on the day of the end that was known, and whose end is after it.

    Of "choir until 9 on Friday", "from 6" is on Friday evening, and so is the 9.
    """
    start, end = params.get("start_time"), params.get("end_time")
    if not (isinstance(start, str) and isinstance(end, str) and "T" in start and "T" in end):
        return params
    begin, over = datetime.fromisoformat(start), datetime.fromisoformat(end)
    if not any(each.has_date for each in case.message.times(text)):
        begin = datetime.combine(over.date(), begin.timetz())
    over = datetime.combine(begin.date(), over.timetz())
    if over <= begin and over.hour < _NOON:
        over += timedelta(hours=_NOON)
    ends = {"end_time": over.isoformat()} if over > begin else {"end_time": None}
    return {**params, "start_time": begin.isoformat(), **ends}


def _said(name: str, text: str, case: Case) -> str:
    found = case.grammar.answering[name].fullmatch(text)
    return found["value"] if found is not None else text


def _body(text: str, case: Case) -> dict[str, Any]:
    said = _said("saying", text, case)
    body = case.message.sentence(said)
    body = composed(body.rstrip("."), body)
    return {"body": body, "subject": shorten(body.rstrip(".!?"), _LONGEST_SUBJECT)}


def _to(text: str, case: Case) -> dict[str, Any]:
    return {"to": recipients(_said("to_whom", text, case), case)}


def _text(text: str, case: Case) -> dict[str, Any]:
    return {"text": case.message.words(text)}


def _title(text: str, case: Case) -> dict[str, Any]:
    said = _said("to_do", text, case)
    moment = moment_of(case.message.times(said), case.now)
    return {"title": case.message.title(said), "deadline": moment and moment.text}


def _time(name: str) -> Callable[[str, Case], dict[str, Any]]:
    def read(text: str, case: Case) -> dict[str, Any]:
        if _NO_TIME.match(text):
            return {}
        moment = moment_of(case.message.times(text), case.now)
        lengths = case.message.lengths(text)
        if moment is None:
            return {name: lengths[0].until.isoformat()} if lengths and name == "deadline" else {}
        end = moment.end.isoformat() if moment.end is not None and not moment.is_part else None
        return {
            name: moment.text,
            "rrule": moment.rule,
            **({"end_time": end} if name == "start_time" else {}),
        }

    return read


def _summary(text: str, case: Case) -> dict[str, Any]:
    title = re.sub(r"^(?:the|a|an|my|our)\s+", "", case.message.title(text), flags=re.IGNORECASE)
    if _MAKES_IT.match(title):
        return {}
    return {"summary": title, **_time("start_time")(text, case)}


def _find_by(text: str, case: Case) -> dict[str, Any]:
    things = meant(text.lower(), case)
    return target(things[0]) if len(things) == 1 else named_event(text, case)


def _one_of_last(text: str, case: Case) -> Thing | None:
    """Return which of the things that the last turn made or changed a text means; None where it means none of them."""
    among = timed_last(case)
    named = best_match(text, results_of(among))
    things = [named] if named is not None else meant(text.lower(), case, among)
    return things[0] if len(among) > 1 and len(things) == 1 else None


def _who(text: str, case: Case) -> dict[str, Any]:
    named = people_in(text, case)
    return {"who": list(dict.fromkeys([case.context.asked.member.id, *named]))} if named else {}


def _day(text: str, case: Case) -> dict[str, Any]:
    moment = moment_of(case.message.times(text), case.now)
    return {"on": moment.day.isoformat()} if moment is not None and moment.day else {}


def _changed_time(text: str, case: Case) -> dict[str, Any]:
    if _NO_TIME.match(text):
        return {}
    moment = moment_of(case.message.times(text), case.now)
    return {"changes": {"start_time": moment.partial}} if moment is not None else {}


_FILLERS: Final[Mapping[str, Callable[[str, Case], dict[str, Any]]]] = {
    "body": _body,
    "to": _to,
    "title": _title,
    "deadline": _time("deadline"),
    "start_time": _time("start_time"),
    "at": _time("at"),
    "text": _text,
    "summary": _summary,
    "changes": _changed_time,
    "find_by": _find_by,
    "on": _day,
    "who": _who,
}


# Edits of what awaits a yes: the whole request again, with what the person wants different. Pure.

ASK = "What should I change?"
_MAIL = ("subject", "added", "copied", "recipient", "replaced", "body")
_DATED = ("start_time", "deadline")


def edited(open_edit: Sequence[ActionResult], case: Case) -> list[Step] | None:
    """Return the requests that replace those which await a yes, or None where the edit is not understood.

    Args:
        open_edit: What awaits a yes; the latest that the edit fits is changed, the others stay as they are.
    """
    text = re.sub(r"^(?:and|but|also)\s+", "", case.message.text.strip(), flags=re.IGNORECASE)
    forms = dict.fromkeys((bare(case.message.text, case.grammar, case.household.bot_name), text))
    for place in range(len(open_edit) - 1, -1, -1):
        for form in forms:
            changed = _changed(open_edit[place], form, case)
            if changed is not None:
                rest = [_again(each) for each in open_edit]
                rest[place] = changed
                return rest
    return None


def _again(result: ActionResult) -> Step:
    return action(result.domain, result.action, dict(result.params))


def _changed(result: ActionResult, text: str, case: Case) -> Step | None:
    params = dict(result.params)
    changes = _mail(params, text, case) if result.domain == "email" else _other(result, text, case)
    return action(result.domain, result.action, {**params, **changes}) if changes else None


def _mail(params: Mapping[str, Any], text: str, case: Case) -> dict[str, Any]:
    for name in _MAIL:
        found = case.grammar.editing[name].fullmatch(text)
        if found is None:
            continue
        groups = found.groupdict("")
        if name == "copied":
            before = params.get("to", [])
            before = [before] if isinstance(before, str) else [*before]
            return {"to": [*before, *recipients(groups["to"], case)]}
        if name in {"recipient", "replaced"}:
            return {"to": recipients(groups["to"], case)}
        if name == "subject":
            return {"subject": case.message.words(groups["subject"])}
        said = case.message.sentence(groups["body"])
        body = composed(said.rstrip("."), said)
        return {"body": f"{params.get('body', '')} {body}".strip() if name == "added" else body}
    return {}


def _other(result: ActionResult, text: str, case: Case) -> dict[str, Any]:
    title = case.grammar.editing["title"].fullmatch(text)
    if title is not None:
        return proposed_with(
            result,
            {
                "summary" if result.domain == "calendar" else "title": case.message.words(
                    title["title"]
                )
            },
        )
    things = results_of([result])
    relative = relative_changes(text, things[0], case) if things else {}
    if relative and result.action == "delete_event":
        return {"on": relative["start_time"]} if "start_time" in relative else {}
    if relative:
        return proposed_with(result, relative)
    found = case.grammar.pointing["only_time"].fullmatch(text) or case.grammar.pointing[
        "move"
    ].fullmatch(text)
    if found is not None:
        return _retimed(result, found.groupdict(""), case)
    place = case.grammar.pointing["place"].fullmatch(text)
    if place is not None and result.domain == "calendar" and result.action != "delete_event":
        return proposed_with(result, {"location": case.message.words(place["where"])})
    if case.grammar.pointing["pointer"].fullmatch(text) and result.domain == "calendar":
        others = [each for each in meant(text, case) if each.kind == "event" and each.id]
        return {"find_by": None, **target(others[0])} if len(others) == 1 else {}
    aim = case.grammar.editing["target"].fullmatch(text)
    if aim is not None and ("find_by" in result.params or "event_id" in result.params):
        what = re.sub(r"\s+instead$", "", aim["what"], flags=re.IGNORECASE)
        return {"event_id": None, "on": None, **named_event(what, case)}
    return {}


def _retimed(result: ActionResult, groups: Groups, case: Case) -> dict[str, Any]:
    new, things = new_time(groups, case), results_of([result])
    is_dated = bool(things) and "-" in (things[0].start or "")  # "17:00" alone has no frame
    if is_dated and "start_time" in new:
        new = in_its_frame(new, groups.get("to", ""), things[0], case)
    old = {**result.params, **result.params.get("changes", {})}
    field = next((name for name in _DATED if name in old), None)
    if field is None or "start_time" not in new:
        if result.action == "delete_event" and "start_time" in new:
            return {"on": new["start_time"]}
        return {}
    value = combined(str(new["start_time"]), str(old[field]))
    offset = f"{case.now:%z}"
    if "T" in value and len(value) == len("2026-01-01T00:00"):
        value = f"{value}:00{offset[:3]}:{offset[3:]}"
    return proposed_with(result, {field: value})
