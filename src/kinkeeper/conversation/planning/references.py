"""Messages that point at what was said before: "cancel it", "the second one", "same time on Friday". Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.audience_wishes import keep, share
from kinkeeper.conversation.planning.calendar_questions import span
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
from kinkeeper.conversation.planning.changing_events import new_time
from kinkeeper.conversation.planning.list_rules import lines_of
from kinkeeper.conversation.planning.mail_rules import recipients
from kinkeeper.conversation.planning.people import who_of
from kinkeeper.conversation.planning.plan_times import moment_of, window_of
from kinkeeper.conversation.planning.referents import (
    MAKES,
    gone,
    latest,
    meant,
    taken_off,
    target,
    timed_last,
)
from kinkeeper.conversation.planning.relative import (
    days_on,
    in_its_frame,
    proposed_with,
    relative_changes,
)
from kinkeeper.conversation.planning.reminders import remind_of
from kinkeeper.conversation.routing.confirmation import rethinks
from kinkeeper.language.text import enumerated
from kinkeeper.reading.times.model import Grain

_TARGETED: Final = {"drop": "delete_event", "move": "update_event", "shift": "update_event"}
WHICH: Final = "Which one do you mean?"
WHAT_TIME: Final = "In the morning or in the evening? Please say the time once more with am or pm."
_JOINTS = re.compile(
    r"(?:(?:and|or|to|till|until|then|at|on|only|not|please|instead)\b\W*)*", re.IGNORECASE
)
"""Between times that are nothing but times; any other word makes it a message of its own."""

_DENIAL = re.compile(r"^(?:(?:no|oh|sorry|wait|actually|hmm|oops)[\s,.!]+)+", re.IGNORECASE)
_AGAIN = re.compile(r"\b(?:same|again|repeat|another|one more|also|too|as well)\b", re.IGNORECASE)
_WITH_TIMES: Final = frozenset({"event", "task"})
"""Kinds of things that can be put at another time."""
_LEAD = re.compile(r"^(?:one|thing|it|the)\s+", re.IGNORECASE)


def pointed(clause: str, case: Case) -> list[Step] | None:
    """Return what a clause asks for that points back, or None where it does not.

    Args:
        clause: With marks, without politeness.
        case: What is known, the history among it.
    """
    if not any(exchange.results for exchange in case.context.history) and not case.context.results:
        return None
    relative = _relative(clause, case)
    if relative:
        return relative
    for name, read in _READERS.items():
        said = _DENIAL.sub("", clause) if name == "only_time" else clause
        found = case.grammar.pointing[name].fullmatch(said)
        if found is not None:
            steps = read({key: value.strip() for key, value in found.groupdict("").items()}, case)
            if steps:
                return [*steps]
            if name in _TARGETED and found.groupdict().get("one") and _has_timed(case):
                return [Missing(action("calendar", _TARGETED[name], {}), "find_by", WHICH)]
    return None


def _has_timed(case: Case) -> bool:
    """Whether something that can be put at another time, or be called off, was spoken of."""
    return any(each.kind in _WITH_TIMES for each in results_of(latest(case)))


def _further(clause: str, last: ActionResult, case: Case) -> list[Step] | None:
    found = case.grammar.pointing["days_on"].fullmatch(clause)
    days = days_on(found.groupdict(""), last.params, case) if found is not None else {}
    kept = {key: value for key, value in last.params.items() if key in {"query", "who"}}
    return [action("calendar", "list_events", {**kept, **days})] if days else None


def _drop(groups: Groups, case: Case) -> Sequence[Step] | None:
    appended = _appended(case)
    if appended is not None and groups["one"].lower() in {"it", "that", "them", "those", "this"}:
        title, lines = appended
        return [action("notes", "remove_line", {"title": title, "line": line}) for line in lines]
    stored = next(latest(case), None)
    if stored is not None and (stored.domain, stored.action) == ("memory", "store"):
        return [action("memory", "forget", {"find_by": stored.params.get("value")})]
    return [step for each in meant(groups["one"], case) if (step := _dropped(each)) is not None]


def _dropped(thing: Thing) -> Step | None:
    if thing.kind == "line":
        return taken_off(thing)
    names = {"event": ("calendar", "delete_event"), "task": ("task", "delete")}
    return action(*names[thing.kind], target(thing)) if thing.kind in names else None


def _appended(case: Case) -> tuple[str, list[str]] | None:
    last = next(latest(case), None)
    if last is None or (last.domain, last.action) != ("notes", "append"):
        return None
    title = last.params.get("title") or last.result.get("title") or ""
    return str(title), str(last.params.get("body", "")).splitlines()


def _done(groups: Groups, case: Case) -> Sequence[Step] | None:
    things = meant(groups.get("one") or groups.get("one2") or "it", case)
    return [step for each in things if (step := _ticked(each)) is not None]


def _ticked(thing: Thing) -> Step | None:
    if thing.kind == "line":
        return taken_off(thing)
    is_open = thing.kind == "task" and thing.is_open
    return action("task", "complete", target(thing)) if is_open else None


def _same_again(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "and the other one": what was done last, done with another thing of the same list."""
    last = next(latest(case), None)
    key = "" if last is None else f"{last.domain}.{last.action}"
    does = {
        "task.complete": _ticked,
        "task.delete": _dropped,
        "calendar.delete_event": _dropped,
        "notes.remove_line": _dropped,
    }.get(key)
    if does is None:
        return None
    return [step for each in meant(groups["one"], case) if (step := does(each)) is not None]


def _take(_groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "I'll do it" right after something was shown or made that somebody has to see to."""
    just = case.context.history[-1].results if case.context.history else ()
    things = results_of(just[-1:])
    me = [case.context.asked.member.id]
    if len(things) != 1 or things[0].kind not in {"event", "task"}:
        return None
    field = "responsible" if things[0].kind == "event" else "who"
    return [changed(things[0], {field: me})]


def _relative(clause: str, case: Case) -> list[Step] | None:
    """Read "an hour later" and the like, said of what was made or changed last."""
    found = timed_last(case)
    last = next(iter(found), None)
    if last is not None and last.action == "list_events":
        return _further(clause, last, case)
    if last is None or last.action not in MAKES:
        return None
    things = results_of(found)
    changes = relative_changes(clause, things[0], case) if things else {}
    if changes and len(things) > 1:
        return [asked_which(things, changes)]
    if changes and last.status is ResultStatus.AWAITING:
        return [action(last.domain, last.action, proposed_with(last, changes))]
    return [changed(things[0], changes)] if changes else None


def _move(groups: Groups, case: Case) -> Sequence[Step] | None:
    changes = new_time(groups, case)
    if not changes:
        return None
    to, among = groups.get("to", ""), timed_last(case)
    one = groups.get("one") or "it"
    things = meant(one, case, among)
    if not things and len(among) > 1:
        return [asked_which(results_of(among), changes)]
    timed = [each for each in things or meant(one, case) if each.kind in _WITH_TIMES]
    return [_at(each, in_its_frame(changes, to, each, case)) for each in timed]


def _retimed(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "half ten for the haircut", of what was just made or changed."""
    made = [each for each in latest(case) if each.action in MAKES]
    thing = best_match(case.message.words(groups["thing"]), results_of(made))
    changes = new_time(groups, case)
    if thing is None or not changes or thing.kind not in _WITH_TIMES:
        return None
    return [_at(thing, in_its_frame(changes, groups["to"], thing, case))]


def _at(thing: Thing, changes: Mapping[str, Any]) -> Step:
    """Return what puts something at a time; a question where nobody can tell which half of the day is meant."""
    step = changed(thing, changes)
    return step if changes else Missing(step, "changes", WHAT_TIME)


def asked_which(things: Sequence[Thing], changes: Mapping[str, Any]) -> Missing:
    """Return the question which of several things a new time is of."""
    names = enumerated([f"“{each.title}”" for each in reversed(things)], last="or")
    step = action("calendar", "update_event", {"changes": dict(changes)})
    return Missing(step, "find_by", f"Which one do you mean: {names}?")


def _waits(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "the second one can wait till Monday", "do the first one on Saturday"."""
    one, to = groups["one"] or groups["one2"], groups["to"] or groups["to2"]
    return _move({"one": one, "to": to}, case)


def changed(thing: Thing, changes: Mapping[str, Any]) -> PlannedAction:
    """Return the request that changes a task or an event.

    Args:
        changes: By name, as of an event; times as "HH:MM", a date, or both.
    """
    changes = with_known_day(changes, thing.start)
    if thing.kind == "task":
        renamed = {
            "deadline" if key == "start_time" else key: value for key, value in changes.items()
        }
        renamed.pop("end_time", None)
        return action("task", "update", {**target(thing), "changes": renamed})
    return action("calendar", "update_event", {**target(thing), "changes": dict(changes)})


def with_known_day(changes: Mapping[str, Any], start: str | None) -> dict[str, Any]:
    """Return changes whose new time has the day, or the time of day, that it keeps.

    Args:
        changes: With "start_time" or "deadline" as "HH:MM", a date, or both.
        start: What it was, ISO 8601, if known.
    """
    full = dict(changes)
    for name in ("start_time", "deadline"):
        if isinstance(value := changes.get(name), str) and start:
            full[name] = combined(value, start)
    return full


def combined(new: str, old: str) -> str:
    """Return a time with what it leaves open taken from an older one; both ISO 8601 or parts of it."""
    if "T" in new or "T" not in old:
        if "T" not in new and "T" not in old and len(new) != len(old):
            day, clock = (new, old) if len(new) > len(old) else (old, new)
            return f"{day}T{clock}"
        return new
    was = datetime.fromisoformat(old)
    if ":" in new:
        hour, minute = map(int, new.split(":"))
        return was.replace(hour=hour, minute=minute, second=0).isoformat()
    return datetime.combine(datetime.fromisoformat(new).date(), was.time()).isoformat()


def _only_time(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "and on Friday?" after a question to the calendar, "actually at 8" after something with a time."""
    last = next(iter(timed_last(case)), None)
    if last is None or not _JOINTS.fullmatch(case.message.title(groups["to"])):
        return None
    if (last.domain, last.action) == ("calendar", "list_events"):
        kept = {key: value for key, value in last.params.items() if key in {"query", "who"}}
        return [action("calendar", "list_events", {**kept, **span(groups["to"], case)})]
    if (last.domain, last.action) == ("calendar", "find_free"):
        return _free_then(last, groups["to"], case)
    if (
        last.domain == "calendar" and last.action in {"create_event", "update_event"}
    ) or last.domain == "task":
        return (
            _move(groups, case)
            if last.action in {"create", "update", "create_event", "update_event"}
            else None
        )
    return None


def _free_then(last: ActionResult, part: str, case: Case) -> Sequence[Step] | None:
    """Read "what about at 6?" after a question whether somebody has time: on that day, if no other is named."""
    window, asked = window_of(part, case), last.params.get("between")
    if window is None or not isinstance(asked, Mapping):
        return None
    begin, until = window.begin, window.until
    if not any(each.has_date for each in case.message.times(part)):
        day = datetime.fromisoformat(str(asked["from"])).date()
        until = datetime.combine(day, begin.timetz()) + (until - begin)
        begin = datetime.combine(day, begin.timetz())
    between = {"from": begin.isoformat(), "to": until.isoformat()}
    kept = {key: value for key, value in last.params.items() if key in {"who", "is_any"}}
    minutes = int((until - begin).total_seconds() // 60)
    return [
        action("calendar", "find_free", {"between": between, "duration": min(60, minutes), **kept})
    ]


def _again(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "same time on Friday": another one of what was made last."""
    last = next((each for each in latest(case) if each.action in {"create_event", "create"}), None)
    moment = moment_of(case.message.times(groups.get("to", "")), case.now)
    if (
        last is None
        or moment is None
        or moment.day is None
        or _AGAIN.search(case.message.text) is None
    ):
        return None
    field = "start_time" if last.domain == "calendar" else "deadline"
    known = {
        key: value
        for key, value in last.params.items()
        if key not in {"end_time", "rrule", "remind_at"}
    }
    old = known.get(field) or last.result.get("start") or last.result.get("deadline")
    if not isinstance(old, str):
        return None
    day = _same_day(groups["to"], old, case) or moment.partial or ""
    one_more = action if rethinks(case.message.text) else further
    return [one_more(last.domain, last.action, {**known, field: combined(day, old)})]


def again(text: str, case: Case) -> list[Step] | None:
    """Return one thing more like what was made last ("also on Saturday"), or None where the text asks for no such."""
    found = case.grammar.pointing["same_time"].fullmatch(text)
    return [*(_again(found.groupdict(""), case) or ())] if found is not None else None


def _same_day(to: str, old: str, case: Case) -> str | None:
    """Return the day that "next week" or "two weeks later" makes of an older one; None for other words."""
    was = datetime.fromisoformat(old).date()
    span = next((each for each in case.message.times(to) if each.has_date), None)
    if span is None:
        return None
    if span.surface.lower().endswith("later"):
        return (was + (span.begin.date() - case.now.date())).isoformat()
    if span.grain is Grain.WEEK:
        return (
            span.begin.date() + timedelta(days=was.weekday() - span.begin.weekday())
        ).isoformat()
    return None


def _invite(groups: Groups, case: Case) -> Sequence[Step] | None:
    guests = who_of(groups["guest"], case)
    things = [each for each in meant("it", case) if each.kind in {"event", "task"}]
    return [
        changed(each, {"who": [*dict.fromkeys((*each.who, *guests))]}) for each in things if guests
    ]


def _rename(groups: Groups, case: Case) -> Sequence[Step] | None:
    name = case.message.words(groups["name"])
    things = meant("it", case)
    if len(things) != 1 or things[0].kind not in {"event", "task"}:
        return None
    return [changed(things[0], {"summary" if things[0].kind == "event" else "title": name})]


def _place(groups: Groups, case: Case) -> Sequence[Step] | None:
    last = next(latest(case), None)
    if last is None or last.action not in {"create_event", "update_event"}:
        return None
    where = _LEAD.sub("", case.message.words(groups["where"]))
    return [changed(each, {"location": where}) for each in meant("it", case)]


def _person(groups: Groups, case: Case) -> Sequence[Step] | None:
    said = groups["who"] or groups["who2"] or groups["who3"]
    last = next(latest(case), None)
    if last is None:
        return None
    if last.domain == "email" and last.action in {"create_draft", "send_email"}:
        return [action("email", last.action, {**_letter(last), "to": recipients(said, case)})]
    who = who_of(said, case)
    return [changed(each, {"who": who}) for each in meant("it", case)] if who else None


def _send(_groups: Groups, case: Case) -> Sequence[Step] | None:
    last = next((each for each in latest(case) if each.action == "create_draft"), None)
    return [action("email", "send_email", _letter(last))] if last is not None else None


def _letter(last: ActionResult) -> dict[str, Any]:
    known = {**last.result, **last.params}
    return {key: known.get(key) for key in ("to", "subject", "body")}


def _more(groups: Groups, case: Case) -> Sequence[Step] | None:
    appended, what = _appended(case), case.grammar.closings.sub("", groups["what"])
    if appended is None or case.grammar.starts.match(what) or case.message.times(what):
        return None
    return [
        further("notes", "append", {"title": appended[0], "body": "\n".join(lines_of(what, case))})
    ]


def more(text: str, case: Case) -> list[Step] | None:
    """Return what a whole message adds to what was done last; politeness is part of it ("and eggs", "just for me")."""
    said = _DENIAL.sub("", text.strip(" .!"))
    for name, read in {"more": _more, "keep": keep, "share": share}.items():
        found = case.grammar.pointing[name].fullmatch(said)
        steps = read(found.groupdict(""), case) if found is not None else None
        if steps:
            return [*steps]
    return None


_READERS: Final[Mapping[str, Callable[[Groups, Case], Sequence[Step] | None]]] = {
    "drop": _drop,
    "done": _done,
    "waits": _waits,
    "shift": _move,
    "shift_time": _move,
    "move": _move,
    "send": _send,
    "retimed": _retimed,
    "same_time": _again,
    "only_time": _only_time,
    "remind": remind_of,
    "person": _person,
    "invite": _invite,
    "rename": _rename,
    "place": _place,
    "taking": _take,
    "same_again": _same_again,
    "line_gone": gone,
    "share": share,
    "keep": keep,
}
