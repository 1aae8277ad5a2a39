"""Messages that point at what was said before: "cancel it", "the second one", "same time on Friday". Pure."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.planning.calendar_questions import span
from kinkeeper.conversation.planning.case import Case, Groups, Missing, Step, action
from kinkeeper.conversation.planning.event_rules import new_time
from kinkeeper.conversation.planning.list_rules import lines_of
from kinkeeper.conversation.planning.mail_rules import recipients
from kinkeeper.conversation.planning.moments import moment_of
from kinkeeper.conversation.planning.named import Thing, best_match, results_of
from kinkeeper.conversation.planning.people import who_of
from kinkeeper.conversation.planning.task_rules import eve_of

_ORDINALS: Final = {
    "first": 0, "1st": 0, "former": 0, "next": 0, "top": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2,
    "fourth": 3, "4th": 3, "fifth": 4, "5th": 4, "sixth": 5, "seventh": 6, "eighth": 7, "ninth": 8, "tenth": 9,
    "last": -1, "latter": -1, "final": -1, "bottom": -1,
}  # fmt: skip
_NUMBERS: Final = {
    "one": 0, "1": 0, "two": 1, "2": 1, "three": 2, "3": 2, "four": 3, "4": 3, "five": 4, "5": 4, "6": 5,
    "7": 6, "8": 7, "9": 8,
}  # fmt: skip
_TARGETED: Final = {"drop": "delete_event", "move": "update_event", "shift": "update_event"}
WHICH: Final = "Which one do you mean?"
_SEVERAL = re.compile(r"^(?:both|all of|them$|those$|these$)", re.IGNORECASE)
_KIND = re.compile(r"\b(event|appointment|meeting|task|reminder|note)\b", re.IGNORECASE)
_KINDS = {"appointment": "event", "meeting": "event", "reminder": "task"}
_JOINTS = re.compile(
    r"(?:(?:and|or|to|till|until|then|at|on|only|not|please|instead)\b\W*)*", re.IGNORECASE
)
"""Between times that are nothing but times; any other word makes it a message of its own."""

_EVENINGS, _EVENING, _WEEK = frozenset({"evening", "night"}), 18, 7

_LEAD = re.compile(r"^(?:one|thing|it|the)\s+", re.IGNORECASE)


def pointed(clause: str, case: Case) -> list[Step] | None:
    """Return what a clause asks for that points back, or None where it does not.

    Args:
        clause: With marks, without politeness.
        case: What is known, the history among it.
    """
    if not any(exchange.results for exchange in case.context.history) and not case.context.results:
        return None
    for name, read in _READERS.items():
        found = case.grammar.pointing[name].fullmatch(clause)
        if found is not None:
            steps = read({key: value.strip() for key, value in found.groupdict("").items()}, case)
            if steps:
                return [*steps]
            if name in _TARGETED and found.groupdict().get("one"):
                return [Missing(action("calendar", _TARGETED[name], {}), "find_by", WHICH)]
    return None


def latest(case: Case) -> Iterator[ActionResult]:
    """Yield what was done, the latest first."""
    yield from reversed(case.context.results)
    for exchange in reversed(case.context.history):
        yield from reversed(exchange.results)


def meant(said: str, case: Case) -> list[Thing]:
    """Return the things that words like "it" or "the second one" point at; none where nobody can tell."""
    lists = [results_of([each]) for each in latest(case)]
    lists = [each for each in lists if each]
    kind = _KIND.search(said)
    if kind is not None and lists:
        wanted = _KINDS.get(kind[1].lower(), kind[1].lower())
        lists = [
            chosen for each in lists if (chosen := tuple(one for one in each if one.kind == wanted))
        ]
    if not lists:
        return []
    if _SEVERAL.match(said):
        return [*lists[0]]
    words = said.lower().replace("#", " ").split()
    if "other" in words:
        return _other(lists)
    place = next((_ORDINALS[word] for word in words if word in _ORDINALS), None)
    if place is None and words[0] in {"number", "no."} | set(_NUMBERS):
        place = next((_NUMBERS[word] for word in words if word in _NUMBERS), None)
    if place is not None:
        listed = next((each for each in lists if len(each) > 1), lists[0])
        return [listed[place]] if -len(listed) <= place < len(listed) else []
    if words[-1] == "one" or words[:2] == ["the", "one"]:
        return _described(said, lists[0], case) or ([lists[0][0]] if len(lists[0]) == 1 else [])
    return [lists[0][0]] if len(lists[0]) == 1 else []


def _other(lists: Sequence[Sequence[Thing]]) -> list[Thing]:
    """Return the only thing of the latest list that was not spoken of since."""
    since: set[str] = set()
    for each in lists:
        if len(each) > 1:
            rest = [one for one in each if (one.id or one.title) not in since]
            return rest if len(rest) == 1 else []
        since |= {one.id or one.title for one in each}
    return []


def _described(said: str, things: Sequence[Thing], case: Case) -> list[Thing]:
    words = re.sub(
        r"^the (?:one )?(?:on|at|in|with|about|for)?\s*|\s+one$", "", said, flags=re.IGNORECASE
    )
    moment = moment_of(case.message.times(said), case.now)
    if moment is not None:
        text = moment.text or ""
        if moment.day is None and moment.start is not None:
            text = f"T{moment.start:%H:%M}"
        fitting = [each for each in things if each.start and text[:16] in each.start]
        return fitting if len(fitting) == 1 else []
    found = best_match(case.message.words(words), things)
    return [found] if found is not None else []


def target(thing: Thing) -> dict[str, Any]:
    """Return the parameters that name a thing."""
    if thing.kind == "event" and thing.id:
        return {"event_id": thing.id, "on": thing.original_start or thing.start}
    return {"find_by": thing.id or thing.title}


def _drop(groups: Groups, case: Case) -> Sequence[Step] | None:
    appended = _appended(case)
    if appended is not None and groups["one"].lower() in {"it", "that", "them", "those", "this"}:
        title, lines = appended
        return [action("notes", "remove_line", {"title": title, "line": line}) for line in lines]
    stored = next(latest(case), None)
    if stored is not None and (stored.domain, stored.action) == ("memory", "store"):
        return [action("memory", "forget", {"find_by": stored.params.get("value")})]
    names = {"event": ("calendar", "delete_event"), "task": ("task", "delete")}
    return [
        action(*names[each.kind], target(each)) for each in meant(groups["one"], case) if each.kind in names
    ]  # fmt: skip


def _appended(case: Case) -> tuple[str, list[str]] | None:
    last = next(latest(case), None)
    if last is None or (last.domain, last.action) != ("notes", "append"):
        return None
    title = last.params.get("title") or last.result.get("title") or ""
    return str(title), str(last.params.get("body", "")).splitlines()


def _done(groups: Groups, case: Case) -> Sequence[Step] | None:
    things = meant(groups.get("one") or "it", case)
    return [
        action("task", "complete", target(each)) for each in things if each.kind == "task" and each.is_open
    ]  # fmt: skip


def _move(groups: Groups, case: Case) -> Sequence[Step] | None:
    changes = new_time(groups, case)
    return (
        [_changed(each, changes) for each in meant(groups.get("one") or "it", case)]
        if changes
        else None
    )


def _changed(thing: Thing, changes: Mapping[str, Any]) -> Step:
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
    last = next(latest(case), None)
    if last is None or not _JOINTS.fullmatch(case.message.title(groups["to"])):
        return None
    if (last.domain, last.action) == ("calendar", "list_events"):
        kept = {key: value for key, value in last.params.items() if key in {"query", "who"}}
        return [action("calendar", "list_events", {**kept, **span(groups["to"], case)})]
    if (
        last.domain == "calendar" and last.action in {"create_event", "update_event"}
    ) or last.domain == "task":
        return (
            _move(groups, case)
            if last.action in {"create", "update", "create_event", "update_event"}
            else None
        )
    return None


def _again(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "same time on Friday": another one of what was made last."""
    last = next((each for each in latest(case) if each.action in {"create_event", "create"}), None)
    moment = moment_of(case.message.times(groups.get("to", "")), case.now)
    if (
        last is None
        or moment is None
        or moment.day is None
        or "same" not in case.message.text.lower()
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
    return [action(last.domain, last.action, {**known, field: combined(moment.partial or "", old)})]


def _remind(groups: Groups, case: Case) -> Sequence[Step] | None:
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


def _invite(groups: Groups, case: Case) -> Sequence[Step] | None:
    guests = who_of(groups["guest"], case)
    things = [each for each in meant("it", case) if each.kind == "event"]
    return [_changed(each, {"who": guests}) for each in things] if guests else None


def _rename(groups: Groups, case: Case) -> Sequence[Step] | None:
    name = case.message.words(groups["name"])
    things = meant("it", case)
    if len(things) != 1 or things[0].kind not in {"event", "task"}:
        return None
    return [_changed(things[0], {"summary" if things[0].kind == "event" else "title": name})]


def _place(groups: Groups, case: Case) -> Sequence[Step] | None:
    last = next(latest(case), None)
    if last is None or last.action not in {"create_event", "update_event"}:
        return None
    where = _LEAD.sub("", case.message.words(groups["where"]))
    return [_changed(each, {"location": where}) for each in meant("it", case)]


def _person(groups: Groups, case: Case) -> Sequence[Step] | None:
    said = groups["who"] or groups["who2"] or groups["who3"]
    last = next(latest(case), None)
    if last is None:
        return None
    if last.domain == "email" and last.action in {"create_draft", "send_email"}:
        return [action("email", last.action, {**_letter(last), "to": recipients(said, case)})]
    who = who_of(said, case)
    return [_changed(each, {"who": who}) for each in meant("it", case)] if who else None


def _send(_groups: Groups, case: Case) -> Sequence[Step] | None:
    last = next((each for each in latest(case) if each.action == "create_draft"), None)
    return [action("email", "send_email", _letter(last))] if last is not None else None


def _letter(last: ActionResult) -> dict[str, Any]:
    known = {**last.result, **last.params}
    return {key: known.get(key) for key in ("to", "subject", "body")}


def _more(groups: Groups, case: Case) -> Sequence[Step] | None:
    appended = _appended(case)
    if (
        appended is None
        or case.grammar.starts.match(groups["what"])
        or case.message.times(groups["what"])
    ):
        return None
    return [
        action(
            "notes",
            "append",
            {"title": appended[0], "body": "\n".join(lines_of(groups["what"], case))},
        )
    ]


def more(text: str, case: Case) -> list[Step] | None:
    """Return what a whole message adds to a list that was added to before ("and eggs")."""
    found = case.grammar.pointing["more"].fullmatch(text.strip(" .!"))
    steps = _more(found.groupdict(""), case) if found is not None else None
    return [*steps] if steps else None


_READERS: Final[Mapping[str, Callable[[Groups, Case], Sequence[Step] | None]]] = {
    "drop": _drop, "done": _done, "shift": _move, "shift_time": _move, "move": _move, "send": _send,
    "same_time": _again, "only_time": _only_time, "remind": _remind, "person": _person,
    "invite": _invite, "rename": _rename, "place": _place,
}  # fmt: skip
