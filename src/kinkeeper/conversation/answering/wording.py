"""One request and what became of it as words: what it is to do, and what was done. Pure.

The words of a request come from its receipt first, then from what was planned. A request without a row here is told
by its summary, so that what tool servers bring needs none.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.answering.moments import (
    is_date,
    local,
    moment_words,
    rule_words,
    series_words,
    span_words,
)
from kinkeeper.household.model import Household
from kinkeeper.language.text import enumerated, shorten, strip_controls

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""An identity, which names nothing to a person."""

_LONGEST = 140
_LONGEST_BODY = 400
_NAMES = ("title", "summary", "subject", "text", "name", "narrative", "value", "line")
MOST: Final = 6
"""Things that are named one after the other."""

_FEW = 2
_TITLES = ("title", "summary", "find_by", "subject", "query")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Whose words and times an answer uses.

    Attributes:
        household: Names, zone and locale.
        member: Id of the person spoken to.
        now: Aware, in the household's zone.
    """

    household: Household
    member: str
    now: datetime

    def name(self, person: str) -> str:
        """Return how a member or somebody else is named to the person spoken to."""
        member = self.household.member(person)
        if person == self.member:
            return "you"
        return member.name if member else plain(person)


@dataclass(frozen=True, slots=True)
class Words:
    """A request as words are made of it.

    Attributes:
        done: The request and what became of it.
        setting: Whose words count.
    """

    done: ActionResult
    setting: Setting

    def value(self, *names: str) -> Any:
        """Return the first of these that the receipt holds, else the plan, else None; an identity counts as nothing."""
        changes = self.done.params.get("changes")
        places = (
            self.done.result,
            changes if isinstance(changes, Mapping) else {},
            self.done.params,
        )
        return next(
            (
                place[name]
                for place in places
                for name in names
                if place.get(name) not in (None, "") and not _ID.fullmatch(str(place[name]))
            ),
            None,
        )

    @property
    def title(self) -> str:
        """What it is called, in quotation marks; "that" where nothing names it."""
        found = self.value(*_TITLES)
        return f"“{plain(str(found))}”" if found else "that"

    @property
    def when(self) -> str:
        """When it is, with a space before it; empty where it has no time."""
        start = self.value("start", "start_time", "remind_at", "deadline", "on")
        end = self.value("end", "end_time")
        told = "" if start is None else span_words(
            str(start), str(end) if end else None, now=self.setting.now, locale=self.setting.household.locale
        )  # fmt: skip
        return f" {told}" if told else ""

    @property
    def series(self) -> str:
        """When a new event is, with a space before it: how often, where it recurs."""
        start, end, rule = self.value("start"), self.value("end"), self.value("rrule")
        if start is None or not rule:
            return self.when
        told = series_words(
            str(start), str(end) if end else None, str(rule), now=self.setting.now,
            locale=self.setting.household.locale,
        )  # fmt: skip
        return f" {told}"

    @property
    def people(self) -> str:
        """To whom it goes, joined."""
        found = self.value("to", "sender_name", "who")
        people = found if isinstance(found, list | tuple) else [found] if found else []
        return enumerated([self.setting.name(str(each)) for each in people]) or "somebody"

    @property
    def body(self) -> str:
        """Its text, in quotation marks, with a space before it; empty where it has none."""
        found = self.value("body", "text")
        return f" “{plain(str(found), _LONGEST_BODY)}”" if found else ""


def plain(text: str, limit: int = _LONGEST) -> str:
    """Return words that somebody wrote on one line, without what is invisible, and not too long."""
    return shorten(" ".join(strip_controls(text).split()), limit)


def name_of(item: Mapping[str, Any]) -> str:
    """Return what something that was found is called."""
    return next((plain(str(item[name])) for name in _NAMES if item.get(name)), "something")


def few(told: Sequence[str], count: int, mark: str) -> str:
    """Return the first of some things, and how many more there are.

    Args:
        told: Each in words.
        count: How many there are.
        mark: Between them.
    """
    shown = f"{mark} ".join(told[:MOST])
    return f"{shown} and {count - MOST} more" if count > MOST else shown


def is_shown(done: ActionResult, items: Sequence[Any]) -> bool:
    """Whether a card shows a longer list, so that words need not."""
    return done.card is not None and len(items) > _FEW


def to_do(done: ActionResult, setting: Setting) -> str:
    """Return what a request is to do, as it follows "I could not".

    Args:
        done: The request.
        setting: Whose words count.
    """
    words = Words(done, setting)
    tell = _TO_DO.get(f"{done.domain}.{done.action}")
    return tell(words) if tell else _unlisted(words)


def was_done(done: ActionResult, setting: Setting) -> str:
    """Return a sentence that says what a request that writes has done.

    Args:
        done: The request, with its receipt.
        setting: Whose words count.
    """
    words = Words(done, setting)
    tell = _DONE.get(f"{done.domain}.{done.action}")
    return tell(words) if tell else f"That is done: {plain(done.summary) or _unlisted(words)}."


def _unlisted(words: Words) -> str:
    done = words.done
    name = f"{done.domain} {done.action}".replace("_", " ")
    return f"use {plain(name)}" + (f" ({plain(done.summary)})" if done.summary else "")


def _lines(words: Words) -> str:
    found = words.done.params.get("lines") or words.done.params.get("body") or words.value("line")
    lines = found if isinstance(found, list | tuple) else str(found or "").splitlines()
    return enumerated([plain(str(line)) for line in lines if str(line).strip()]) or "that"


def _reminder(words: Words) -> str:
    """Return what was promised for a new task."""
    at, rule = words.value("remind_at"), words.value("rrule")
    deadline = words.value("deadline")
    at = at or (deadline if deadline and not is_date(str(deadline)) else None)
    every = rule_words(str(rule)) if rule else ""
    title = plain(str(words.value(*_TITLES) or "that"))
    others = [str(each) for each in _ids(words.value("who")) if str(each) != words.setting.member]
    whom = (
        f" It is for {enumerated([words.setting.name(each) for each in others])}." if others else ""
    )
    if at:
        told = _repeated(words, str(at), every) if every else words.when
        return f"I'll remind you{told}: {title}.{whom}"
    due = f", due{words.when}" if words.when else ""
    return f"“{title}” is on the list{due}{', ' + every if every else ''}.{whom}"


def _repeated(words: Words, at: str, every: str) -> str:
    setting = words.setting
    moment = local(at, now=setting.now)
    first = moment_words(at, now=setting.now, locale=setting.household.locale)
    clock = first.rsplit(" at ", 1)[-1] if moment else ""
    return f" {every} at {clock}" if clock else f" {every}"


def _ids(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value] if value else []


def _old_name(words: Words) -> str:
    """Return what an event was called, where it gets another name; empty where it keeps it."""
    before = words.value("before")
    old = str(before.get("title") or "") if isinstance(before, Mapping) else ""
    return f"“{plain(old)}”" if old and old != words.value("title") else ""


def _changes(words: Words) -> Mapping[str, Any]:
    changes = words.done.params.get("changes")
    return changes if isinstance(changes, Mapping) else {}


def _people_of(changes: Mapping[str, Any], name: str, words: Words) -> str:
    return enumerated([words.setting.name(str(each)) for each in _ids(changes.get(name))])


def _to_change(words: Words) -> str:
    """Return what is to be different about an event, as it follows "Shall I"."""
    changes, what = _changes(words), f"{words.title}{words.when}"
    if old := _old_name(words):
        return f"rename {old} to {what}"
    parts = []
    if _TIMES & set(changes):
        parts = [f"move {words.title}, so that it is{words.when}" if words.when else f"move {what}"]
    its = "its" if parts else "the"
    of = "" if parts else f" of {what}"
    if people := _people_of(changes, "responsible", words):
        parts.append(f"put {people} in charge{of}")
    if people := _people_of(changes, "who", words):
        parts.append(f"note {people} as taking part{of.replace(' of ', ' in ', 1)}")
    if place := changes.get("location"):
        parts.append(f"change {its} place{of} to {plain(str(place))}")
    return enumerated(parts) or f"change {words.title} in the calendar{words.when}"


def _changed(words: Words) -> str:
    changes = _changes(words)
    is_moved = not changes or bool((_TIMES | {"deadline", "remind_at"}) & set(changes))
    if {"title", "summary"} & set(changes):
        return "is changed"
    if is_moved and words.when:
        return f"is now{words.when}"
    if people := _people_of(changes, "responsible", words):
        return f"is with {people} in charge now"
    if people := _people_of(changes, "who", words):
        return f"is with {people} now"
    if place := changes.get("location"):
        return f"is at {plain(str(place))} now"
    return "is changed"


_TIMES = frozenset({"start_time", "end_time", "shift_minutes"})

_TO_DO: Mapping[str, Callable[[Words], str]] = {
    "task.create": lambda words: f"put {words.title} on the list{words.when}",
    "task.update": lambda words: f"change {words.title}",
    "task.complete": lambda words: f"mark {words.title} as done",
    "task.delete": lambda words: f"delete {words.title} from the list",
    "task.list": lambda _: "look at the list of tasks",
    "calendar.create_event": lambda words: (
        f"put {words.title} into the calendar{words.series}{_going(words)}"
    ),
    "calendar.update_event": _to_change,
    "calendar.delete_event": lambda words: f"cancel {words.title}{words.when}",
    "calendar.list_events": lambda _: "look into the calendar",
    "calendar.find_free": lambda _: "look into the calendar",
    "email.create_draft": lambda words: f"write a draft to {words.people}",
    "email.send_email": lambda words: f"send this to {words.people}",
    "email.reply_to_email": lambda words: f"send this reply to {words.people}",
    "email.search": lambda _: "search the mail",
    "memory.store": lambda _: "remember that",
    "memory.update": lambda _: "change what I remember",
    "memory.set_audience": lambda _: "change who can see that",
    "memory.search": lambda _: "look up what I remember",
    "memory.forget": lambda words: f"forget {words.title}",
    "notes.create": lambda words: f"make the note {words.title}",
    "notes.append": lambda words: f"add {_lines(words)} to {words.title}",
    "notes.remove_line": lambda words: f"take {_lines(words)} off {words.title}",
    "notes.search": lambda _: "search the notes",
    "notes.list": lambda _: "look at the notes",
}

_DONE: Mapping[str, Callable[[Words], str]] = {
    "task.create": _reminder,
    "task.update": lambda words: f"{words.title} {_changed(words)}.",
    "task.complete": lambda words: f"{words.title} is marked as done.",
    "task.delete": lambda words: f"{words.title} is off the list.",
    "calendar.create_event": lambda words: (
        f"{words.title} is in the calendar{words.series}{_going(words)}.{_meanwhile(words)}"
    ),
    "calendar.update_event": lambda words: (
        f"{old}{words.when} is called {words.title} now."
        if (old := _old_name(words))
        else f"{words.title} {_changed(words)}.{_meanwhile(words)}"
    ),
    "calendar.delete_event": lambda words: f"{words.title} is cancelled{words.when}.",
    "email.create_draft": lambda words: (
        f"A draft to {words.people} is written, not sent:{words.body or ' ' + words.title}."
    ),
    "email.send_email": lambda words: f"The mail to {words.people} is sent.",
    "email.reply_to_email": lambda words: f"The reply to {words.people} is sent.",
    "memory.store": lambda words: f"I'll remember that{_for_whom(words)}.",
    "memory.set_audience": lambda words: (
        "Only you can see that now."
        if words.value("private")
        else "The whole family can see that now."
    ),
    "memory.update": lambda _: "What I remember is changed.",
    "memory.forget": lambda words: f"{_capital(words.title)} is forgotten.",
    "notes.create": lambda words: f"The note {words.title} is made.",
    "notes.append": lambda words: f"{_capital(_lines(words))} {_are(words)} on {words.title}.",
    "notes.remove_line": lambda words: (
        f"{_capital(_lines(words))} {_are(words)} off {words.title}."
    ),
}


def _for_whom(words: Words) -> str:
    """Return who may recall what was remembered, and how to change that where nobody said it."""
    if not words.value("private"):
        return " for the whole family"
    if words.value("is_told"):
        return " for you only"
    return ", kept for you only; say “share it” to let the family know"


def _going(words: Words) -> str:
    """Return who takes part in a new event, where it is not only the person spoken to."""
    who = [str(each) for each in _ids(words.value("who"))]
    others = who and who != [words.setting.member]
    named = enumerated([words.setting.name(each) for each in who])
    return f", for {named}" if others else ""


def _meanwhile(words: Words) -> str:
    """Return what else takes place at that time, as a sentence with a space before it."""
    others = [
        each for each in _ids(words.done.result.get("conflicts")) if isinstance(each, Mapping)
    ]
    told = [f"“{plain(str(each.get('title') or each.get('summary')))}”" for each in others]
    return (
        f" {enumerated(told)} {'is' if len(told) == 1 else 'are'} at the same time." if told else ""
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _are(words: Words) -> str:
    found = words.done.params.get("lines") or words.done.params.get("body") or ""
    count = len(found) if isinstance(found, list | tuple) else len(str(found).splitlines())
    return "are" if count > 1 else "is"
