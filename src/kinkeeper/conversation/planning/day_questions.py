"""Reads questions about days: what is wanted decides what is looked up. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.day_query import Question, read_question
from kinkeeper.conversation.planning.named import Thing, best_match, content_words
from kinkeeper.conversation.planning.people import together, who_of
from kinkeeper.core.time import midnight

_WEEK = timedelta(days=7)
_HOUR = timedelta(hours=1)
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
    return [action("calendar", "list_events", _looked_up(question))]


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


def _looked_up(question: Question) -> dict[str, Any]:
    wanted = "away" if _is_of_absence(question) else _WANTED[question.wanted]
    when = question.window.parameters if question.window is not None else {}
    if wanted == "all" and question.window is None and question.subject is not None:
        wanted = "next"
    if wanted == "place" and question.subject is None:
        wanted = "all"
    return {
        **when, "query": question.subject, "who": list(question.who),
        "wanted": None if wanted == "all" else wanted,
    }  # fmt: skip


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
    if question.wanted == "whether" and question.who and question.window is not None:
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
        return [_tasks(whose)] if question.who and not is_mine else None
    due = {"due_before": question.window.until.date().isoformat()}
    return [_tasks(due | whose), *(_listed(question, case) or ())]


def _tasks(params: Mapping[str, Any]) -> PlannedAction:
    return PlannedAction(domain="task", action="list", params=params)


def _each_free(question: Question, case: Case) -> Sequence[Step] | None:
    """Who of the grown-ups has time: at the time that is named, or at that of what they are wanted for."""
    window = question.window
    if window is None and question.subject is None:
        return None
    adults = [each.id for each in case.household.adults if each.id not in question.who]
    around = question.subject or (_names(question, case) if window and window.is_days else None)
    return [_free(question, case, who=adults, around=around, is_any=True)]


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
    return [_free(question, case, who=question.asked_of, around=around)]


def _is_time_free(question: Question, case: Case) -> Sequence[Step] | None:
    """Read "is Saturday morning free?": of whoever asks."""
    if question.window is None or not question.is_of_time:
        return None
    return [_free(question, case, who=[case.context.asked.member.id])]


def _listed_whether(question: Question) -> Sequence[Step] | None:
    if question.window is None or question.subject is not None:
        return None
    params = {**question.window.parameters, "who": list(question.who), "wanted": "whether"}
    return [action("calendar", "list_events", params)]


def _clash(question: Question, case: Case) -> Sequence[Step] | None:
    """Whether what is named, or the time that is, meets with anything else."""
    if question.window is not None and question.window.is_point:
        return [_free(question, case, who=question.who)]
    if question.subject is None:
        return _listed(question, case)
    return [_free(question, case, who=(), around=question.subject)]


def _names(question: Question, case: Case) -> str | None:
    return " ".join(case.household.names[each] for each in question.who) or None


def _free(
    question: Question, case: Case, *, who: Sequence[str], around: str | None = None,
    is_any: bool = False,
) -> PlannedAction:  # fmt: skip
    begin, until = _between(question, case)
    who = together(case.message.text, case) or who
    room = int((until - begin).total_seconds() // 60)
    return action(
        "calendar", "find_free",
        {
            "between": {"from": begin.isoformat(), "to": until.isoformat()},
            "duration": min(_minutes(case) or 60, room), "who": list(who), "around": around,
            "is_any": is_any or None,
        },
    )  # fmt: skip


def _minutes(case: Case) -> int:
    """Return how many minutes the message wants; 0 where it does not say."""
    length = next(iter(case.message.lengths(case.message.text)), None)
    return 0 if length is None else int((length.until - length.begin).total_seconds() // 60)


def _between(question: Question, case: Case) -> tuple[datetime, datetime]:
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
    found = _free(question, case, who=who_of(case.message.text, case))
    if hours is None:
        return [found] if question.window is not None else None
    span = {"since": f"{hours.begin:%H:%M}", "until": f"{hours.until:%H:%M}"}
    return [replace(found, params={**found.params, **span})]


def _left_to_others(_question: Question, _case: Case) -> None:
    return None


_READERS: Final[Mapping[str, Callable[[Question, Case], Sequence[Step] | None]]] = {
    "each_free": _each_free, "free": _is_free, "free_time": _free_time, "identity": _left_to_others, "clash": _clash,
    "agenda": _agenda,
}  # fmt: skip
