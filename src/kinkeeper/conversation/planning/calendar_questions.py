"""Reads questions of the calendar: about days, to find time, and those that go on with the last one. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import (
    Case,
    Groups,
    Step,
    Thing,
    action,
    best_match,
    content_words,
)
from kinkeeper.conversation.planning.day_query import Question, read_question, subject_of
from kinkeeper.conversation.planning.message import MARK
from kinkeeper.conversation.planning.people import members_in, together, who_of, without_people
from kinkeeper.conversation.planning.plan_times import (
    Moment,
    Window,
    moment_of,
    window_of,
    window_with,
)
from kinkeeper.core.time import midnight


def asked(_groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read any other question that speaks of the calendar or of what stands in it."""
    text = case.message.text
    if case.grammar.said["no_question"].search(text):
        return None
    return [action("calendar", "list_events", {**span(text, case), "who": members_in(text, case)})]


def span(part: str, case: Case) -> dict[str, Any]:
    """Return the days that a part of the message names."""
    moment = moment_of(case.message.times(part), case.now)
    if moment is None:
        return {}
    day = moment.day or (moment.start.date() if moment.start is not None else None)
    return {"from": day.isoformat(), "days_ahead": max(moment.days, 1)} if day is not None else {}


def find_time(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "find an hour for the two of us next week"."""
    if not groups.get("length") and not groups.get("slot"):
        return None
    part = " ".join(groups.values())
    moment = moment_of(case.message.times(case.message.text), case.now)
    return [action("calendar", "find_free", _time_to_find(moment, part, case))]


def _time_to_find(moment: Moment | None, part: str, case: Case) -> dict[str, Any]:
    first, last = _searched_span(moment, case)
    lengths = case.message.lengths(part)
    minutes = int((lengths[0].until - lengths[0].begin).total_seconds() // 60) if lengths else 0
    if not minutes and "couple of hours" in part.lower():
        minutes = 120
    room = int((last - first).total_seconds() // 60)
    return {
        "between": {"from": first.isoformat(), "to": last.isoformat()},
        "duration": min(minutes, room) if minutes else min(60, room),
        "who": _who(part, case),
    }


def _who(part: str, case: Case) -> list[str]:
    who = together(part, case) or who_of(part, case)
    return who if who != [case.context.asked.member.id] else []


def _searched_span(moment: Moment | None, case: Case) -> tuple[datetime, datetime]:
    zone = case.household.zone
    if moment is None:
        return case.now, midnight(case.now.date() + timedelta(days=8), zone)
    if moment.start is not None:
        end = moment.end or moment.start + timedelta(hours=1)
        return moment.start, end
    day = moment.day or case.now.date()
    first = max(midnight(day, zone), case.now) if day == case.now.date() else midnight(day, zone)
    return first, midnight(day + timedelta(days=max(moment.days, 1)), zone)


# Reads questions about days: what is wanted decides what is looked up. Pure.

_WEEK = timedelta(days=7)
_HOUR = timedelta(hours=1)
_DAY = timedelta(hours=25)  # where clocks change
_MOSTLY = 0.5

_WANTED: Final[Mapping[str, str]] = {
    "unowned": "unowned", "until": "next", "since": "last", "length": "length", "count": "count", "end": "end",
    "last": "last", "start": "start", "place": "place", "in_charge": "responsible", "who": "who",
    "next": "next", "days": "days", "clash": "clash", "list": "all", "use": "all", "busy": "all", "agenda": "all", "whether": "whether",
}  # fmt: skip
"""What is wanted of events, by its name in the grammar."""

_OF_THE_WORLD: Final = frozenset(
    {"length", "place", "who", "list", "busy", "whether", "start", "agenda", "count"}
)
"""What people also ask about things that are in no calendar: it must be one that is, or a day is named."""


_OF_A_DAY: Final = frozenset({"list", "whether", "busy"})
"""What is asked about other sides of things, too, where it does not speak of days: "what's ballet like?"."""

_OF_EACH: Final = frozenset({"next", "start", "end"})
"""What is told of each time that something takes place, where several days are named: "when is judo this week?"."""

_FIRST: Final = frozenset({"next", "first", "earliest", "soonest"})

_NEEDS_A_TIME: Final = frozenset({"in_charge", "use"})
"""What is asked of the household's own days as soon as it names a time, or something in the calendar."""

_OF_TASKS: Final = frozenset({"next", "start", "until", "whether", "in_charge"})
"""What may be asked of a task."""


def ask(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "when's judo next?", "who can take Leo on Friday?", "what's left for today?"."""
    question = read_question(groups["question"], case)
    if question is None:
        return None
    read = _READERS.get(question.wanted)
    return _listed(question, case) if read is None else read(question, case)


def _listed(question: Question, case: Case) -> Sequence[Step] | None:
    if task := _task_meant(question, case):
        return [action("task", "list", {"query": task})]
    if question.wanted not in _WANTED or not _is_of_calendar(question):
        return None
    return [action("calendar", "list_events", _looked_up(question, case))]


def _task_meant(question: Question, case: Case) -> str | None:
    """Return the title of the task that a question is about, where nothing in the calendar fits as well."""
    if question.subject is None or question.is_past or question.wanted not in _OF_TASKS:
        return None
    words = content_words(question.subject)
    task = best_match(question.subject, case.open_tasks())
    event = best_match(question.subject, (each for each in case.things if each.kind == "event"))
    share, at_event = (0.0 if each is None else _shared(words, each) for each in (task, event))
    return task.title if task is not None and share >= _MOSTLY and share > at_event else None


def _shared(words: frozenset[str], thing: Thing) -> float:
    title = content_words(thing.title)
    return len(words & title) / len(words | title)


def _looked_up(question: Question, case: Case) -> dict[str, Any]:
    wanted = "away" if _is_of_absence(question) else _WANTED[question.wanted]
    when = question.window.parameters if question.window is not None else {}
    if wanted == "all" and question.window is None and question.subject is not None:
        wanted = "next"
    if wanted == "place" and question.subject is None:
        wanted = "all"
    if (
        wanted in _OF_EACH
        and _names_days(question)
        and _FIRST.isdisjoint(MARK.sub(" ", case.message.text).lower().split())
    ):
        wanted = "all"
    return {
        **when,
        "query": question.subject,
        "who": list(question.who),
        "wanted": None if wanted == "all" else wanted,
    }


def _names_days(question: Question) -> bool:
    """Whether a question names something, and several days for it."""
    window = question.window
    return (
        question.subject is not None and window is not None and window.until - window.begin > _DAY
    )


def _is_of_absence(question: Question) -> bool:
    """Whether it is asked how long somebody is away, or when they are back, and not from what."""
    return question.is_absent and question.subject is None and bool(question.who)


def _is_of_calendar(question: Question) -> bool:
    if _is_of_absence(question):
        return True
    if question.is_known and (question.is_only_known or not _is_dateless(question)):
        return True
    if question.wanted in _NEEDS_A_TIME:
        return question.window is not None or question.is_known
    if question.wanted == "who" and question.is_past:
        return True
    if question.wanted == "whether" and question.window is not None:
        return True
    is_timely = question.window is not None and question.is_of_days
    if question.subject is None:
        return question.window is not None or question.is_of_days
    if question.wanted in _OF_THE_WORLD:
        return is_timely
    return is_timely or question.wanted != "unowned"


def _is_dateless(question: Question) -> bool:
    """Whether something is asked that may be about another side of a thing than its days."""
    is_of_days = question.window is not None or (question.is_of_days and not question.is_past)
    return question.wanted in _OF_A_DAY and not is_of_days


def _agenda(question: Question, case: Case) -> Sequence[Step] | None:
    """What is still to be done of some days: tasks that are due, and what takes place."""
    if question.subject is not None:
        return None
    is_mine = question.who == (case.context.asked.member.id,)
    whose = {} if is_mine else {"who": list(question.who)}
    if question.window is None:
        return [_tasks_asked(whose)] if question.who and not is_mine else None
    due = {"due_before": question.window.until.date().isoformat()}
    return [_tasks_asked(due | whose), *(_listed(question, case) or ())]


def _tasks_asked(params: Mapping[str, Any]) -> PlannedAction:
    return PlannedAction(domain="task", action="list", params=params)


def _each_free(question: Question, case: Case) -> Sequence[Step] | None:
    """Who of the grown-ups has time: at the time that is named, or at that of what they are wanted for."""
    window = question.window
    if window is None and question.subject is None:
        return None
    adults = [each.id for each in case.household.adults if each.id not in question.who]
    around = question.subject or (_names(question, case) if window and window.is_days else None)
    return [_free_asked(question, case, who=adults, around=around, is_any=True)]


def _is_free(question: Question, case: Case) -> Sequence[Step] | None:
    """Whether somebody has time; where anybody's is asked about, what there is."""
    if not question.asked_of:
        return (
            _listed_whether(question) if question.is_of_anybody else _is_time_free(question, case)
        )
    if question.window is None and not question.is_known:
        return None
    is_timed = question.window is not None and not question.window.is_days
    around = question.subject if question.is_known and not is_timed else None
    return [_free_asked(question, case, who=question.asked_of, around=around)]


def _is_time_free(question: Question, case: Case) -> Sequence[Step] | None:
    """Read "is Saturday morning free?": of whoever asks."""
    if question.window is None or not question.is_of_time:
        return None
    return [_free_asked(question, case, who=[case.context.asked.member.id])]


def _listed_whether(question: Question) -> Sequence[Step] | None:
    if question.window is None or question.subject is not None:
        return None
    params = {**question.window.parameters, "who": list(question.who), "wanted": "whether"}
    return [action("calendar", "list_events", params)]


def _clash(question: Question, case: Case) -> Sequence[Step] | None:
    """Whether what is named, or the time that is, meets with anything else."""
    if question.window is not None and question.window.is_point:
        return [_free_asked(question, case, who=question.who)]
    if question.subject is None:
        return _listed(question, case)
    return [_free_asked(question, case, who=(), around=question.subject)]


def _names(question: Question, case: Case) -> str | None:
    return " ".join(case.household.names[each] for each in question.who) or None


def _free_asked(
    question: Question,
    case: Case,
    *,
    who: Sequence[str],
    around: str | None = None,
    is_any: bool = False,
) -> PlannedAction:
    begin, until = _asked_span(question, case)
    who = together(case.message.text, case) or who
    room = int((until - begin).total_seconds() // 60)
    return action(
        "calendar",
        "find_free",
        {
            "between": {"from": begin.isoformat(), "to": until.isoformat()},
            "duration": min(_minutes(case) or 60, room),
            "who": list(who),
            "around": around,
            "is_any": is_any or None,
        },
    )


def _minutes(case: Case) -> int:
    """Return how many minutes the message wants; 0 where it does not say."""
    length = next(iter(case.message.lengths(case.message.text)), None)
    return 0 if length is None else int((length.until - length.begin).total_seconds() // 60)


def _asked_span(question: Question, case: Case) -> tuple[datetime, datetime]:
    window = question.window
    if window is None:
        return case.now, midnight((case.now + _WEEK).date(), case.household.zone)
    begin = max(window.begin, case.now) if window.until > case.now + _HOUR else window.begin
    return begin, window.until


def _free_time(question: Question, case: Case) -> Sequence[Step] | None:
    """When there is time, where hours of several days are named: "which evenings am I free?"."""
    hours = next(
        (
            each
            for each in case.message.times(case.message.text)
            if each.part_of_day and each.recurrence
        ),
        None,
    )
    found = _free_asked(question, case, who=who_of(case.message.text, case))
    if hours is None:
        return [found] if question.window is not None else None
    span = {"since": f"{hours.begin:%H:%M}", "until": f"{hours.until:%H:%M}"}
    return [replace(found, params={**found.params, **span})]


def _left_to_others(_question: Question, _case: Case) -> None:
    return None


_READERS: Final[Mapping[str, Callable[[Question, Case], Sequence[Step] | None]]] = {
    "each_free": _each_free,
    "free": _is_free,
    "free_time": _free_time,
    "identity": _left_to_others,
    "clash": _clash,
    "agenda": _agenda,
}


# Questions that go on with the last one, of which they say one part anew: "and on Friday?", "what
# about Ben?". Pure.

_LEAD = re.compile(
    r"^(?:(?:and|ok(?:ay)?|so|but|also|then|oh)[\s,]+)*(?:(?:what|how) about|what of|same for|and)\b[\s,]*",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:who|whose|what|which|when|where|how|why|is|are|am|do|does|did|can|could|will|has|have|should|would)\b",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\bthe (?:(?P<unit>day|week|weekend|month) after|(?:next|following) (?P<other>day|week|weekend|month))\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^(?:(?:and|ok(?:ay)?|so|but|also|then|oh)[\s,]+)*(?:what|how) about\b", re.IGNORECASE
)
_JOINING: Final = frozenset(
    {"on", "at", "in", "for", "with", "and", "the", "after", "before", "next"}
)
_PREPOSITION = re.compile(r"^(?:on|at|in|for|with|by|to)\s+", re.IGNORECASE)
_MOST_WORDS: Final = 6
_SPANS: Final = frozenset({"from", "days_ahead", "since", "until"})
_READS: Final = frozenset({"calendar.list_events", "calendar.find_free", "task.list"})
_AWAY: Final[Mapping[str, int]] = {"day": 1, "weekend": 7, "week": 7, "month": 31}


def continued(clause: str, case: Case) -> list[Step] | None:
    """Return what was looked up last, for another day, person or thing; None where a clause does not go on so.

    Args:
        clause: With marks, without politeness.
    """
    lead = goes_on(case)
    rest = _PREPOSITION.sub("", _LEAD.sub("", clause).strip(" ?"))
    is_short = 0 < len(rest.split()) <= _MOST_WORDS and _ASKS.match(rest) is None
    if not is_short or case.grammar.starts.match(rest) or not _is_asked(rest, case):
        return None
    last = _last_read(case)
    if last is not None:
        return _again(last, rest, case)
    window = window_of(rest, case)
    if not lead or window is None or subject_of(rest, case):
        return None
    return [action("calendar", "list_events", window.parameters)]


def goes_on(case: Case) -> bool:
    """Whether the message begins as what goes on with a question does: "and ...", "what about ..."."""
    return _LEAD.match(case.context.text.strip()) is not None


def _is_asked(rest: str, case: Case) -> bool:
    """Whether a part is asked about: by its mark, by "what about", or for it says nothing but when and whom."""
    text = case.context.text.strip()
    if text.endswith("?") or _ABOUT.match(text):
        return True
    said = set(without_people(MARK.sub(" ", rest), case).lower().split())
    return goes_on(case) and said <= _JOINING


def _last_read(case: Case) -> ActionResult | None:
    """Return the look-up that the last turn came to, if it was one alone."""
    if not case.context.history:
        return None
    results = case.context.history[-1].results
    if len(results) != 1 or results[0].status is not ResultStatus.DONE:
        return None
    return results[0] if f"{results[0].domain}.{results[0].action}" in _READS else None


def _again(last: ActionResult, rest: str, case: Case) -> list[Step] | None:
    window = _next_to(last, rest, case) or window_of(rest, case)
    who = who_of(rest, case)
    subject = subject_of(rest, case)
    if subject is not None and (window is not None or who or last.action != "list_events"):
        return None  # more is said anew than one part: it is a question of its own
    planned = PlannedAction(domain=last.domain, action=last.action, params=dict(last.params))
    match last.action:
        case "find_free":
            changed = _free_again(planned, window, who)
        case "list":
            changed = _tasks_again(window, who)
        case _:
            changed = _events_again(planned, window, who, subject)
    return None if changed == planned.params else [replace(planned, params=changed)]


def _events_again(
    planned: PlannedAction, window: Window | None, who: list[str], subject: str | None
) -> dict[str, Any]:
    params = dict(planned.params)
    if window is not None:
        params = {name: value for name, value in params.items() if name not in _SPANS}
        params |= window.parameters
    if who:
        params["who"] = who
    if subject is not None:
        params["query"] = subject
    return params


def _free_again(planned: PlannedAction, window: Window | None, who: list[str]) -> dict[str, Any]:
    params = dict(planned.params)
    if window is not None:
        params = {name: value for name, value in params.items() if name != "around"}
        params["between"] = {"from": window.begin.isoformat(), "to": window.until.isoformat()}
    return params | ({"who": who} if who else {})


def _tasks_again(window: Window | None, who: list[str]) -> dict[str, Any]:
    due = {} if window is None else {"due_before": window.until.date().isoformat()}
    return due | ({"who": who} if who else {})


def _next_to(last: ActionResult, rest: str, case: Case) -> Window | None:
    """Return "the weekend after" by the days that were looked at."""
    said, looked_at = _NEXT.search(case.message.words(rest)), last.params.get("from")
    if said is None or not isinstance(looked_at, str):
        return None
    unit = (said["unit"] or said["other"]).lower()
    day = date.fromisoformat(looked_at[:10]) + timedelta(days=_AWAY[unit])
    return window_with(day, unit, case)
