"""Times that are said by others: "an hour later", "the week after", "30 minutes longer", "the 6th" of its month. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.actions.requests.parameters import put_off
from kinkeeper.conversation.model import TAKE_BACK, PlannedAction
from kinkeeper.conversation.planning.case import (
    Case,
    Missing,
    Step,
    Thing,
    action,
    content_words,
    results_of,
    standing_events,
)
from kinkeeper.conversation.planning.creating_events import INSTEAD
from kinkeeper.conversation.planning.message import times_in
from kinkeeper.conversation.planning.referents import latest
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.time import midnight
from kinkeeper.reading.times.model import TimeSpan

_OF_TASKS: Final = {"start_time": "deadline"}
_BACKWARDS: Final = frozenset(
    {"earlier", "sooner", "before", "previous", "shorter", "forward", "up"}
)
_DAYS: Final = {"day": 1, "week": 7}
_MONTHS: Final = 12
_WEEK: Final = timedelta(days=7)
_BESIDE_NOW = re.compile(r"\b(?P<dir>later|earlier|sooner)$", re.IGNORECASE)
_MONTH = re.compile(r"\bmonths?\b", re.IGNORECASE)
_NEXT_TO = re.compile(
    r"^the (?P<dir>next|following|previous) (?P<unit>day|week|month)$", re.IGNORECASE
)
_DAY_OF_MONTH = re.compile(
    r"^(?:on |until |till |til )?(?:the )?(?P<day>[12]?\d|3[01])(?:st|nd|rd|th)$", re.IGNORECASE
)
_WEEKDAY = re.compile(
    r"^(?:on |until |till |til )?(?P<day>mon|tue|wed|thu|fri|sat|sun)(?:s|r|rs|nes|ur)?(?:day)?$",
    re.IGNORECASE,
)
_HALF: Final = 12
_NEAR: Final = timedelta(hours=3)
_UP: Final = range(7, 22)
"""Hours at which what people do begins, unless it is near what it was."""

_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ENDS = re.compile(r"^(?:until|till|til)\b", re.IGNORECASE)


def relative_changes(clause: str, thing: Thing, case: Case) -> dict[str, Any]:
    """Return what a clause changes about when something is, by when it is now; nothing where it does not say that.

    Args:
        clause: With marks, without politeness.
        thing: What is meant, with its start, as it is or as it was last proposed.
    """
    for name, read in _READERS.items():
        found = case.grammar.pointing[name].fullmatch(clause)
        if found is not None:
            changes = read(found.groupdict(""), thing, case)
            if changes:
                return changes
    return {}


def proposed_with(result: ActionResult, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a request that awaits a yes, with changes where it has such: among its "changes", or beside.

    Args:
        changes: By name, times as "start_time" and "end_time".
    """
    if result.domain == "task":
        changes = {_OF_TASKS.get(name, name): value for name, value in changes.items()}
    if "changes" in result.params:
        kept = {
            name: value
            for name, value in result.params["changes"].items()
            if name != "shift_minutes" or not changes.keys() & {"start_time", "deadline"}
        }
        return {**result.params, "changes": {**kept, **changes}}
    if result.action not in {"create_event", "create"}:
        return dict(result.params)
    left = {"remind_at"} if "deadline" in changes else set[str]()  # it was counted from the old one
    return {name: value for name, value in result.params.items() if name not in left} | {**changes}


def onto_what_waits(step: Step, case: Case) -> Step:
    """Return a change of an event together with what is already proposed for it and awaits a yes."""
    if not isinstance(step, PlannedAction) or step.action != "update_event":
        return step
    if "scope" in step.params:
        return step  # of more times than what waits
    event = step.params.get("event_id")
    last = next((each for each in latest(case) if each.result.get("event_id") == event), None)
    if event is None or last is None or last.status is not ResultStatus.AWAITING:
        return step
    if last.action == "create_event":
        return _proposed_anew(step, last, case)
    if last.action != "update_event":
        return step
    return replace(step, params=proposed_with(last, step.params["changes"]))


def _proposed_anew(step: PlannedAction, last: ActionResult, case: Case) -> PlannedAction:
    """Return a change of an event that nobody has confirmed yet as a new proposal of it."""
    changes = dict(step.params["changes"])
    minutes = changes.pop("shift_minutes", None)
    for name in ("start_time", "end_time"):
        at = last.params.get(name)
        if minutes is not None and at and name not in changes:
            old = datetime.fromisoformat(at).astimezone(case.household.zone)
            changes[name] = put_off(old, timedelta(minutes=minutes)).isoformat()
    params = proposed_with(last, changes)
    return replace(step, action="create_event", params=params, is_offer=True)


_STANDS: Final = frozenset({ResultStatus.DONE, ResultStatus.AWAITING})


def on_day_spoken_of(steps: Sequence[Step], clause: str, case: Case) -> list[Step]:
    """Return steps in which something new at a bare hour is on the day that was spoken of before: "no judo on Friday, add tennis at 5".

    It is sure to be on that day where it takes the place of what is off then; else it is only proposed.

    Args:
        clause: With marks; the steps are made of it.
    """
    said = case.message.times(clause)
    spoken = _day_before(clause, case) if said and all(map(_is_bare, said)) else None
    if spoken is None:
        return [*steps]
    day, is_sure = spoken
    hour = _on_that_day(said[0], day, case) if day is not None and len(said) == 1 else None
    known = partial(_moved_to, day=day, hour=hour, zone=case.household.zone)
    return [
        replace(each, action=known(each.action, is_sure=True))
        if isinstance(each, Missing)
        else known(each, is_sure=is_sure)
        for each in steps
    ]


def _is_bare(span: TimeSpan) -> bool:
    """Whether a time is an hour of a day that it does not say."""
    return span.has_time and not (span.has_date or span.is_away or span.recurrence)


def _day_before(clause: str, case: Case) -> tuple[date | None, bool] | None:
    """Return the day that was spoken of before a clause, if it is one alone, and whether the clause is sure to be of it; None where none was."""
    text, today = case.message.text, case.now.date()
    at = min(text.find(each) for each in clause if each in case.message.spans)
    spans = [
        each for each in case.message.times(text[: max(at, 0)]) if each.has_date or each.recurrence
    ]
    is_instead = INSTEAD.search(text) is not None
    if spans:
        last = spans[-1]
        is_one = last.until - last.begin <= timedelta(days=1) and not last.recurrence
        day = last.begin.date() if is_one else None
        is_off = is_instead or case.grammar.said["takes_away"].match(text) is not None
        is_sure = is_off and len({each.begin.date() for each in spans}) == 1
    else:
        results = case.context.history[-1].results if case.context.history else ()
        day = next(filter(None, map(_day_of, reversed(results))), None)
        is_sure = is_instead
    is_ahead = day is not None and day > today
    return (day, is_sure) if is_ahead or (spans and day is None) else None


def _day_of(result: ActionResult) -> date | None:
    """Return the one day that was asked about, or on which something was cancelled; None for all else."""
    if result.status not in _STANDS:
        return None
    params = result.params
    start = str(params.get("from")) if params.get("days_ahead") == 1 else None
    if isinstance(between := params.get("between"), Mapping):
        first, after = (datetime.fromisoformat(str(between[name])) for name in ("from", "to"))
        start = between["from"] if after - first <= timedelta(days=1) else None
    if result.action == "delete_event":
        start = params.get("on") or next((each.start for each in results_of([result])), None)
    return date.fromisoformat(start[:10]) if start and start[:4].isdigit() else None


def _on_that_day(hour: TimeSpan, day: date, case: Case) -> datetime | None:
    """Return when an hour is on a day, as it would be read beside it."""
    found = times_in(f"{day.isoformat()} {hour.surface}", case.now, case.household)
    return found[0].begin if len(found) == 1 and found[0].has_time else None


def _moved_to(
    step: PlannedAction, *, day: date | None, hour: datetime | None, zone: ZoneInfo, is_sure: bool
) -> PlannedAction:
    """Return a request whose new event is on a day; proposed where that is not sure."""
    start = str(step.params.get("start_time"))
    if step.action != "create_event" or "T" not in start or "rrule" in step.params:
        return step
    begin, times = datetime.fromisoformat(start), dict[str, str]()
    if day is not None:
        at = hour or datetime.combine(day, begin.time(), zone)
        times["start_time"] = at.isoformat()
        if "end_time" in step.params:
            length = datetime.fromisoformat(str(step.params["end_time"])) - begin
            times["end_time"] = (at + length).isoformat()
    is_offer = step.is_offer or not is_sure or day is None
    return replace(step, params={**step.params, **times}, is_offer=is_offer)


def proposed_anew(thing: Thing, changes: Mapping[str, Any]) -> PlannedAction:
    """Return as a new proposal what only a card would put into the calendar, with changes."""
    known = {
        "summary": thing.title,
        "start_time": thing.start,
        "end_time": thing.end,
        "who": [*thing.who],
        "responsible": [*thing.responsible],
        "location": thing.location,
        "rrule": thing.rrule,
    }
    return replace(action("calendar", "create_event", {**known, **changes}), is_offer=True)


def onto_card(step: Step, case: Case) -> list[Step]:
    """Return what a change of an event comes to that only a card would put into the calendar: the end of that card, and another one.

    Of somebody who may not decide about the card it is another one beside it.
    """
    if not isinstance(step, PlannedAction) or step.action not in {"update_event", "delete_event"}:
        return [step]
    event = step.params.get("event_id")
    thing = next((each for each in standing_events(case.context) if each.id == event), None)
    if thing is None or thing.rrule or thing.card not in case.context.fetched.get("cards", ()):
        return [step]
    dropped = action(*TAKE_BACK, {"action_id": thing.card})
    is_adult = case.context.asked.member.is_adult
    if step.action == "delete_event":
        return [dropped if is_adult else step]
    changed = proposed_anew(thing, _absolute(step.params["changes"], thing))
    return [dropped, changed] if is_adult else [changed]


def _absolute(changes: Mapping[str, Any], thing: Thing) -> dict[str, Any]:
    """Return changes with the times at which something begins and ends then."""
    old = [datetime.fromisoformat(each) for each in (thing.start, thing.end) if each]
    changes, by = dict(changes), timedelta(minutes=changes.get("shift_minutes", 0))
    changes.pop("shift_minutes", None)
    begin = (
        datetime.fromisoformat(changes["start_time"]) if "start_time" in changes else old[0] + by
    )
    length = old[-1] - old[0]
    is_day = "T" not in str(changes.get("start_time", thing.start))
    known = {
        name: f"{each.date()}" if is_day else each.isoformat()
        for name, each in (("start_time", begin), ("end_time", begin + length))
    }
    return {**known, **changes}


def together(steps: list[Step]) -> list[Step]:
    """Return steps in which what one message changes about one time of an event is one change.

    Args:
        steps: As they were read, in their order.
    """

    def joined(last: PlannedAction, step: PlannedAction) -> Mapping[str, Any] | None:
        if not _is_same(step, last):
            return None
        changes = {**last.params["changes"], **step.params["changes"]}
        return {**last.params, "changes": changes}

    return _joined(steps, joined)


def onto_new(steps: list[Step], case: Case) -> list[Step]:
    """Return steps in which who sees to "it" is said of what the same message puts into the calendar, and of nothing before.

    Args:
        steps: As they were read, in their order.
    """

    def joined(last: PlannedAction, step: PlannedAction) -> Mapping[str, Any] | None:
        if last.action != "create_event" or not _only_charges(step, case):
            return None
        return {**last.params, **step.params["changes"]}

    return _joined(steps, joined)


def _joined(
    steps: list[Step], params_of: Callable[[PlannedAction, PlannedAction], Mapping[str, Any] | None]
) -> list[Step]:
    """Return steps in which a request and the one after it are one, wherever the two give parameters for it."""
    kept: list[Step] = []
    for step in steps:
        last = kept[-1] if kept else None
        if isinstance(step, PlannedAction) and isinstance(last, PlannedAction):
            params = params_of(last, step)
            if params is not None:
                kept[-1] = replace(last, params=params)
                continue
        kept.append(step)
    return kept


def _only_charges(step: PlannedAction, case: Case) -> bool:
    """Whether a request does no more than put somebody in charge of an event that its message does not name."""
    if step.action != "update_event" or {*step.params["changes"]} != {"responsible"}:
        return False
    event = step.params.get("event_id")
    title = next((each.title for each in case.things if event and each.id == event), "")
    people = {word for each in case.household.members for word in content_words(each.name)}
    return bool(title) and (content_words(title) - people).isdisjoint(
        content_words(case.message.text)
    )


def _is_same(one: PlannedAction, other: PlannedAction) -> bool:
    """Whether two requests change the same time of the same event."""
    same = ("event_id", "on", "scope")
    return (
        one.action == other.action == "update_event"
        and one.params.get("event_id") is not None
        and all(one.params.get(name) == other.params.get(name) for name in same)
    )


def in_its_frame(changes: Mapping[str, Any], to: str, thing: Thing, case: Case) -> dict[str, Any]:
    """Return changes whose day and hour are meant by when something is now.

    "The 6th" is of its month, a weekday of its week where that is not this one (unless the day has passed), and a
    bare "7" the one that is near it; where nobody can tell which, no new start is returned. "In the morning" is the
    hour that was said before, where it was said bare.

    Args:
        changes: With "start_time" as the words say it by themselves.
        to: The words, with marks.
    """
    value = changes.get("start_time")
    if thing.start is None or not isinstance(value, str):
        return dict(changes)
    spans, old = case.message.times(to), datetime.fromisoformat(thing.start)
    old = old if old.tzinfo else old.replace(tzinfo=case.household.zone)
    framed = value
    for span in spans:
        if span.has_date and not span.has_time:
            framed = _on(framed, _framed(span, old.date(), case.now.date()))
        elif span.part_of_day is not None and _was_bare(old, case):
            framed = _in_part(framed, span, old, case)
        elif span.has_time and not span.is_meridiem_known and _takes_days(thing):
            framed = framed if span.has_date else _as_on_its_day(span, thing, old, case)
        elif span.has_time and not span.is_meridiem_known:
            near = _near(framed, old, case.now)
            if near is None:
                return {name: value for name, value in changes.items() if name != "start_time"}
            framed = near
    return {**changes, "start_time": framed}


def _was_bare(old: datetime, case: Case) -> bool:
    """Whether the message before this one named an hour without the half of its day."""
    before = case.context.history[-1] if case.context.history else None
    if before is None:
        return False
    said = times_in(before.text, before.at.astimezone(case.household.zone), case.household)
    return any(
        span.has_time and not span.is_meridiem_known and span.begin.time() == old.time()
        for span in said
    )


def _in_part(value: str, span: TimeSpan, old: datetime, case: Case) -> str:
    """Return a time as the old hour in a part of the day; as it is where the hour has none there."""
    clock = f"{old.hour % _HALF or _HALF}:{old:%M} {span.surface}"
    said = times_in(clock, midnight(case.now.date(), case.household.zone), case.household)
    if len(said) != 1 or said[0].until - said[0].begin > timedelta(hours=1):
        return value
    day, mark, _ = value.rpartition("T")
    return f"{day}{mark}{said[0].begin:%H:%M}"


def _takes_days(thing: Thing) -> bool:
    """Whether something has a day and no hours."""
    ends = [each for each in (thing.start, thing.end) if each]
    return all("T" not in each or "T00:00" in each for each in ends)


def _as_on_its_day(span: TimeSpan, thing: Thing, day: datetime, case: Case) -> str:
    """Return an hour as it is meant of something that is on a day without hours, whatever the hour is now."""
    morning = midnight(day.date(), case.household.zone)
    clock = f"{span.begin.hour % _HALF or _HALF}:{span.begin:%M}"
    said = times_in(f"{thing.title} at {clock}", morning, case.household)
    hour = next((each for each in reversed(said) if each.has_time), span)
    return f"{hour.begin:%H:%M}"


def _on(value: str, day: date | None) -> str:
    """Return a time as "HH:MM", a date or both on another day."""
    if day is None:
        return value
    rest = value.partition("T")[2]
    return f"{day.isoformat()}T{rest}" if rest else day.isoformat()


def _near(value: str, old: datetime, now: datetime) -> str | None:
    """Return a time with that of the two hours of its number which is meant by an older time.

    The nearer one where it is near, else the one at which people are up; None where only the other one is to come.
    """
    day, mark, clock = value.rpartition("T")
    on = datetime.combine(date.fromisoformat(day) if day else old.date(), old.timetz())
    hour = int(clock[:2]) % _HALF
    both = [on.replace(hour=each, minute=int(clock[3:5])) for each in (hour, hour + _HALF)]
    meant = min(both, key=lambda each: abs(each - on))
    if abs(meant - on) > _NEAR:
        up = [each for each in both if each.hour in _UP]
        meant = up[0] if len(up) == 1 else both[on.hour >= _HALF]
        if meant <= now < max(both):
            return None
    meant = max(both) if meant <= now else meant
    return f"{day}{mark}{meant:%H:%M}{clock[5:]}"


def _framed(span: TimeSpan, start: date, today: date) -> date | None:
    numbered, named = _DAY_OF_MONTH.match(span.surface), _WEEKDAY.match(span.surface)
    meant = None
    if numbered is not None:
        meant = _in_month(start, int(numbered["day"]))
    elif named is not None and (start - today >= _WEEK or span.begin.date() == today != start):
        meant = start + timedelta(days=_WEEKDAYS.index(named["day"].lower()) - start.weekday())
        if meant == today and start - today > _WEEK / 2:
            meant += _WEEK  # today would be called today, unless what is tomorrow is put there
    return meant if meant is not None and meant >= today else None


def _in_month(of: date, day: int) -> date | None:
    try:
        return of.replace(day=day)
    except ValueError:
        return None


def _by_length(groups: Mapping[str, str], thing: Thing, case: Case) -> dict[str, Any]:
    lengths = case.message.lengths(groups["by"])
    return _shifted(_signed(lengths[0].until - lengths[0].begin, groups["way"]), thing)


def _beside_now(groups: Mapping[str, str], thing: Thing, case: Case) -> dict[str, Any]:
    """Read "an hour later", which by itself is a time counted from now."""
    (span,) = case.message.times(groups["at"])[:1] or (None,)
    if span is None or _BESIDE_NOW.search(span.surface) is None:
        return {}
    if span.has_time:
        return _shifted(span.begin - case.now.replace(microsecond=0), thing)
    if _MONTH.search(span.surface):
        months = (span.begin.year - case.now.year) * _MONTHS + span.begin.month - case.now.month
        return _months_on(months, thing)
    return _shifted(span.begin.date() - case.now.date(), thing)


def days_on(groups: Mapping[str, str], last: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """Return the days to list that are said by those listed last ("and the week after?").

    Args:
        groups: What was found, by name.
        last: Parameters of the last listing.
    """
    beside = _beside(groups, case)
    first = last.get("from")
    if beside is None or not isinstance(first, str) or beside[0] not in _DAYS:
        return {}
    days = _DAYS[beside[0]]
    start = date.fromisoformat(first[:10]) + _signed(timedelta(days=days), beside[1])
    return {"from": start.isoformat(), "days_ahead": days}


def _beside(groups: Mapping[str, str], case: Case) -> tuple[str, str] | None:
    """Return which unit of time is meant and which way from where one stands, if that is what was said."""
    if not groups["at"]:
        return groups["unit"].lower(), groups["way"]
    found = _NEXT_TO.match(case.message.words(groups["at"]))
    return (found["unit"].lower(), found["dir"]) if found is not None else None


def _next_to(groups: Mapping[str, str], thing: Thing, case: Case) -> dict[str, Any]:
    """Read "the day after" and "the following week"."""
    beside = _beside(groups, case)
    if beside is None:
        return {}
    unit, way = beside
    if unit in _DAYS:
        return _shifted(_signed(timedelta(days=_DAYS[unit]), way), thing)
    return _months_on(-1 if way.lower() in _BACKWARDS else 1, thing)


def _weekday_after(groups: Mapping[str, str], thing: Thing, case: Case) -> dict[str, Any]:
    """Read "the Thursday after": the first such day after the one on which it is."""
    (span,) = case.message.times(groups["at"])[:1] or (None,)
    if span is None or not thing.start or _WEEKDAY.match(span.surface) is None:
        return {}
    days = (span.begin.weekday() - _start_of(thing).weekday()) % _WEEK.days
    return _shifted(timedelta(days=days or _WEEK.days), thing)


def _months_on(months: int, thing: Thing) -> dict[str, Any]:
    old = _start_of(thing)
    past = old.month - 1 + months
    day = _in_month(date(old.year + past // _MONTHS, past % _MONTHS + 1, 1), old.day)
    return _shifted(day - old.date(), thing) if day is not None else {}


def _longer(groups: Mapping[str, str], thing: Thing, case: Case) -> dict[str, Any]:
    if thing.kind != "event" or thing.end is None:
        return {}
    lengths = case.message.lengths(groups["by"])
    more = _signed(lengths[0].until - lengths[0].begin, groups["way"])
    return {"end_time": (datetime.fromisoformat(thing.end) + more).isoformat()}


def _lasting(groups: Mapping[str, str], thing: Thing, case: Case) -> dict[str, Any]:
    if thing.kind != "event" or "T" not in (thing.start or ""):
        return {}
    lengths = case.message.lengths(groups["by"])
    return {"end_time": (_start_of(thing) + (lengths[0].until - lengths[0].begin)).isoformat()}


def _ending(groups: Mapping[str, str], thing: Thing, case: Case) -> dict[str, Any]:
    (said,) = case.message.times(groups["to"])[:1] or (None,)
    if thing.kind != "event" or not thing.start or said is None:
        return {}
    if not (groups["verb"] or _ENDS.match(said.surface)):
        return {}
    start = _start_of(thing)
    if "T" in thing.start:
        end = datetime.combine(start.date(), said.begin.timetz())
        return {"end_time": end.isoformat()} if said.has_time else {}
    last = _framed(said, start.date(), case.now.date()) or said.begin.date()
    return {"end_time": last.isoformat()} if said.has_date and not said.has_time else {}


def _shifted(by: timedelta, thing: Thing) -> dict[str, Any]:
    if not thing.start:
        return {"shift_minutes": int(by.total_seconds() // 60)}
    new = _start_of(thing) + by
    return {"start_time": new.isoformat() if "T" in thing.start else new.date().isoformat()}


def _signed(length: timedelta, way: str) -> timedelta:
    return -length if way.lower() in _BACKWARDS else length


def _start_of(thing: Thing) -> datetime:
    if thing.start is None:
        raise InvariantError("no time can be computed from a thing without a start")
    return datetime.fromisoformat(thing.start)


_READERS: Final = {
    "later": _by_length,
    "beside_now": _beside_now,
    "next_to": _next_to,
    "weekday_after": _weekday_after,
    "longer": _longer,
    "lasting": _lasting,
    "ending": _ending,
}
