"""Answers to questions of the planner: what was known, with what the next message adds. Pure."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from kinkeeper.conversation.planning.case import Case, Step, action
from kinkeeper.conversation.planning.changing_events import named_event
from kinkeeper.conversation.planning.clauses import bare
from kinkeeper.conversation.planning.mail_rules import composed, recipients
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.conversation.planning.references import combined
from kinkeeper.conversation.planning.referents import meant, target
from kinkeeper.language.text import shorten

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
    fill = _FILLERS.get(str(partial["missing"]))
    added = fill(text, case) if fill is not None and text else None
    if not added:
        return None
    if partial["domain"] == "task" and "changes" in added:
        added = {"changes": {"deadline": added["changes"]["start_time"]}}
    added = _beside_what_is_known(added, partial["params"], text, case)
    params = {**partial["params"], **{key: value for key, value in added.items() if value}}
    return action(partial["domain"], partial["action"], _on_its_day(params, text, case))


def _beside_what_is_known(
    added: Mapping[str, Any], known: Mapping[str, Any], text: str, case: Case
) -> dict[str, Any]:
    """Return a time with the day, or the hour, that was known before: of "on Friday", "at 3" is on Friday."""
    moment = moment_of(case.message.times(text), case.now)
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
        joined = combined(moment.partial, old)
        if "T" in joined:
            value = datetime.fromisoformat(joined)
            full[name] = (
                value if value.tzinfo else value.replace(tzinfo=case.household.zone)
            ).isoformat()
    return full


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


def _day(text: str, case: Case) -> dict[str, Any]:
    moment = moment_of(case.message.times(text), case.now)
    return {"on": moment.day.isoformat()} if moment is not None and moment.day else {}


def _changed_time(text: str, case: Case) -> dict[str, Any]:
    if _NO_TIME.match(text):
        return {}
    moment = moment_of(case.message.times(text), case.now)
    return {"changes": {"start_time": moment.partial}} if moment is not None else {}


_FILLERS: Final[Mapping[str, Callable[[str, Case], dict[str, Any]]]] = {
    "body": _body, "to": _to, "title": _title, "deadline": _time("deadline"),
    "start_time": _time("start_time"), "summary": _summary, "changes": _changed_time, "find_by": _find_by, "on": _day,
}  # fmt: skip
