"""One request in words: what it is to do, what was done, and what a request that reads has found. Pure.

The words of a request come from its receipt first, then from what was planned. A request without a row here is told
by its summary, so that what tool servers bring needs none.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinkeeper.actions.requests.model import ActionResult, Decider, ResultStatus
from kinkeeper.conversation.answering.calendar_text import events_told, free_told
from kinkeeper.conversation.answering.event_text import (
    ONLY_ONCE,
    capital,
    event_told,
    how_often,
    old_name,
    to_change,
    what_changed,
)
from kinkeeper.conversation.answering.names_and_times import (
    MOST,
    TITLES,
    Setting,
    Words,
    few,
    is_date,
    is_shown,
    last_day,
    listed,
    local,
    moment_words,
    name_of,
    plain,
    rule_words,
)
from kinkeeper.language.text import enumerated


def to_do(done: ActionResult, setting: Setting) -> str:
    """Return what a request is to do, as it follows "I could not"."""
    words = Words(done, setting)
    tell = _TO_DO.get(f"{done.domain}.{done.action}")
    return tell(words) if tell else _unlisted(words)


def was_done(done: ActionResult, setting: Setting) -> str:
    """Return a sentence that says what a request that writes has done.

    Args:
        done: The request, with its receipt.
    """
    words = Words(done, setting)
    tell = _DONE.get(f"{done.domain}.{done.action}")
    return tell(words) if tell else f"Done: {plain(done.summary) or _unlisted(words)}."


def _unlisted(words: Words) -> str:
    done = words.done
    name = f"{done.domain} {done.action}".replace("_", " ")
    return f"use {plain(name)}" + (f" ({plain(done.summary)})" if done.summary else "")


def _lines(words: Words) -> str:
    found = words.done.params.get("lines") or words.done.params.get("body") or words.value("line")
    lines = found if isinstance(found, list | tuple) else str(found or "").splitlines()
    return enumerated([plain(str(line)) for line in lines if str(line).strip()]) or "that"


def _reminded_at(words: Words) -> tuple[str | None, str]:
    """Return when a new task is reminded of, and how often; nothing where it is not."""
    at, rule = words.value("remind_at"), words.value("rrule")
    deadline = words.value("deadline")
    at = at or (deadline if deadline and not is_date(str(deadline)) else None)
    return (None if at is None else str(at)), rule_words(str(rule)) if rule else ""


def _when_reminded(words: Words) -> str:
    at, every = _reminded_at(words)
    return _repeated(words, at, every) if at and every else f"{words.when}{every and ', ' + every}"


def _reminder(words: Words) -> str:
    """Return what was promised for a new task."""
    at, every = _reminded_at(words)
    title = plain(str(words.value(*TITLES) or "that"))
    members = [str(each) for each in listed(words.value("who"))] or [words.setting.member]
    members.sort(key=lambda each: each != words.setting.member)
    whom = enumerated(
        ["you" if each == words.setting.member else words.setting.name(each) for each in members]
    )
    if at:
        told = _repeated(words, at, every) if every else words.when
        return f"I'll remind {whom}{told}: {title}."
    whose = "" if members == [words.setting.member] else f" It is for {whom}."
    due = f", due{words.when}" if words.when else ""
    return f"“{title}” is on the list{due}{', ' + every if every else ''}.{whose}"


def _only_you(words: Words) -> str:
    """Return who sees it where not everybody does, as a sentence with a space before it."""
    if words.done.result.get("private"):
        return " Only you can see that."
    return f" {capital(hidden)} can't see that." if (hidden := _kept_from(words)) else ""


def _kept_from(words: Words) -> str:
    """Return the names of those it is kept from; empty where it is from nobody."""
    hidden = listed(words.done.result.get("kept_from"))
    return enumerated([words.setting.name(str(each)) for each in hidden])


def _unseen(words: Words) -> str:
    """Return what others see of a new event that not everybody may see."""
    if words.done.result.get("private"):
        return " Only you can see what it is; the others just see that you're busy."
    return _only_you(words)


def _audience(words: Words) -> str:
    """Return who sees something from now on."""
    what = plain(str(words.value("lines") or "")) or words.title
    if hidden := _kept_from(words):
        return f"Everyone but {hidden} can see {what} now."
    if not words.done.result.get("private"):
        return f"The whole family can see {what} now."
    busy = " The others only see that you're busy." if words.done.domain == "calendar" else ""
    return f"Only you can see {what} now.{busy}"


def _repeated(words: Words, at: str, every: str) -> str:
    setting = words.setting
    moment = local(at, now=setting.now)
    first = moment_words(at, now=setting.now, locale=setting.household.locale)
    clock = first.rsplit(" at ", 1)[-1] if moment else ""
    rule, locale = str(words.value("rrule") or ""), setting.household.locale
    last = last_day(rule, today=setting.now.date(), locale=locale)
    return f" {every}{clock and f' at {clock}'}{last and f' until {last}'}"


_TO_DO: Mapping[str, Callable[[Words], str]] = {
    "task.create": lambda words: (
        f"add {words.title} to the list{_when_reminded(words)}{_going(words)}"
    ),
    "task.update": lambda words: f"change {words.title}",
    "task.complete": lambda words: f"mark {words.title} as done",
    "task.delete": lambda words: f"delete {words.title} from the list",
    "task.list": lambda _: "check the task list",
    "calendar.create_event": lambda words: (
        f"add {words.title} to the calendar{words.series}{_going(words)}"
    ),
    "calendar.update_event": to_change,
    "calendar.delete_event": lambda words: f"cancel {words.title}{words.when}{how_often(words)}",
    "calendar.list_events": lambda _: "check the calendar",
    "calendar.find_free": lambda _: "check the calendar",
    "email.create_draft": lambda words: f"draft an email to {words.people}",
    "email.send_email": lambda words: f"send this to {words.people}",
    "email.reply_to_email": lambda words: f"send this reply to {words.people}",
    "email.search": lambda _: "search your email",
    "memory.store": lambda words: f"remember that{_for_whom(words)}",
    "memory.update": lambda _: "change what I remember",
    "memory.set_audience": lambda _: "change who can see that",
    "task.set_audience": lambda words: f"change who can see {words.title}",
    "calendar.set_audience": lambda words: f"change who can see {words.title}",
    "notes.set_audience": lambda words: f"change who can see {words.title}",
    "memory.search": lambda _: "look up what I remember",
    "memory.forget": lambda words: f"forget {words.title}",
    "goal.create": lambda words: f"{_goal_work(words)} {words.title}{_goal_when(words)}",
    "goal.list": lambda _: "check what I'm working on",
    "goal.show": lambda words: f"check how {words.title} stands",
    "goal.pause": lambda words: f"let {words.title} rest",
    "goal.read_page": lambda words: f"read {_site(words)} to look for {words.title}",
    "goal.resume": lambda words: f"go on with {words.title}",
    "goal.cancel": lambda words: f"stop working on {words.title}",
    "notes.create": lambda words: f"create the note {words.title}",
    "notes.append": lambda words: f"add {_lines(words)} to {words.title}",
    "notes.remove_line": lambda words: f"take {_lines(words)} off {words.title}",
    "notes.change_line": lambda words: f"put {_replacing(words)} on {words.title}",
    "notes.clear": lambda words: f"take everything off {words.title}",
    "notes.search": lambda _: "search the notes",
    "notes.list": lambda _: "look at the notes",
}

_DONE: Mapping[str, Callable[[Words], str]] = {
    "task.create": lambda words: f"{_reminder(words)}{_only_you(words)}",
    "task.set_audience": _audience,
    "calendar.set_audience": _audience,
    "notes.set_audience": _audience,
    "task.update": lambda words: f"{words.title} {what_changed(words)}.",
    "task.complete": lambda words: f"{words.title} is marked as done.",
    "task.delete": lambda words: f"{words.title} is off the list.",
    "calendar.create_event": lambda words: (
        f"{words.title} is in the calendar{words.series}{_going(words)}.{_meanwhile(words)}{_unseen(words)}"
    ),
    "calendar.update_event": lambda words: (
        f"{old}{words.when} is now called {words.title}."
        if (old := old_name(words))
        else f"{words.title} {what_changed(words)}.{_meanwhile(words)}"
    ),
    "calendar.delete_event": lambda words: (
        f"{words.title} is cancelled{words.when}{how_often(words).removesuffix(ONLY_ONCE)}."
    ),
    "email.create_draft": lambda words: (
        f"I've drafted an email to {words.people} but not sent it:{words.body or ' ' + words.title}."
    ),
    "email.send_email": lambda words: f"The email to {words.people} has been sent.",
    "email.reply_to_email": lambda words: f"The reply to {words.people} has been sent.",
    "memory.store": lambda words: f"I'll remember that{_for_whom(words)}.",
    "memory.set_audience": lambda words: (
        "Only you can see that now."
        if words.value("private")
        else f"Everyone but {hidden} can see that now."
        if (hidden := _kept_from(words))
        else "The whole family can see that now."
    ),
    "memory.update": lambda _: "I've updated what I remember.",
    "memory.forget": lambda words: f"I've forgotten {words.title}.",
    "goal.create": lambda words: (
        f"I'll {_goal_work(words)} {words.title}{_goal_when(words) or ' and let you know'}."
    ),
    "goal.read_page": lambda words: f"I'll read {_site(words)} to look for {words.title}.",
    "goal.pause": lambda words: f"{words.title} rests until you want me to go on.",
    "goal.resume": lambda words: f"I'm going on with {words.title}.",
    "goal.cancel": lambda words: f"I've stopped working on {words.title}.",
    "notes.create": lambda words: f"I've created the note {words.title}.{_only_you(words)}",
    "notes.append": lambda words: (
        f"{capital(_lines(words))} {_are(words)} on {words.title}.{_only_you(words)}"
    ),
    "notes.remove_line": lambda words: f"{capital(_lines(words))} {_are(words)} off {words.title}.",
    "notes.change_line": lambda words: f"{words.title} now has {_replacing(words)}.",
    "notes.clear": lambda words: (
        f"{words.title} is empty now: {plain(str(words.value('removed')))} "
        f"{'are' if ', ' in str(words.value('removed')) else 'is'} off it."
    ),
}


def _site(words: Words) -> str:
    """Return the host of a page that may be read for a goal."""
    return plain(str(words.value("site") or "the page"))


def _goal_work(words: Words) -> str:
    """Return what is done for a goal, as it follows "I'll"."""
    return _GOAL_WORK.get(str(words.value("kind")), _GOAL_WORK["find"])


def _goal_when(words: Words) -> str:
    """Return when something is asked again, with a space before it; empty of any other goal."""
    at = words.value("next_at", "at") if words.value("kind") == "ask" else None
    setting = words.setting
    when = moment_words(str(at), now=setting.now, locale=setting.household.locale) if at else ""
    return f" {when}" if when else ""


_GOAL_WORK = {"find": "look for", "watch": "keep an eye on", "ask": "come back to"}


def _replacing(words: Words) -> str:
    """Return what stands on a list now, and instead of what."""
    added, removed = words.value("added", "new"), words.value("removed", "line")
    return f"{plain(str(added))} instead of {plain(str(removed))}"


def _for_whom(words: Words) -> str:
    """Return who may recall what was remembered, and how to change that where nobody said it."""
    if hidden := _kept_from(words):
        return f" for everyone but {hidden}"
    if not words.value("private"):
        return " for the whole family"
    if words.value("is_told"):
        return " for you only"
    return ", kept for you only; say “share it” to let the family know"


def _going(words: Words) -> str:
    """Return who takes part in a new event, where it is not only the person spoken to."""
    who = [str(each) for each in listed(words.value("who"))]
    others = who and who != [words.setting.member]
    named = enumerated([words.setting.name(each) for each in who])
    return f", for {named}" if others else ""


def _meanwhile(words: Words) -> str:
    """Return what else takes place at that time, as a sentence with a space before it."""
    others = [
        each for each in listed(words.done.result.get("conflicts")) if isinstance(each, Mapping)
    ]
    told = [f"“{plain(str(each.get('title') or each.get('summary')))}”" for each in others]
    return (
        f" {enumerated(told)} {'is' if len(told) == 1 else 'are'} at the same time." if told else ""
    )


_PLURAL = re.compile(r"[^\s'sui]s$", re.IGNORECASE)
"""The end of most words that stand for several things: "batteries", and neither "hummus" nor "dress"."""


def _are(words: Words) -> str:
    found = words.done.params.get("lines") or words.done.params.get("body") or ""
    lines = found if isinstance(found, list | tuple) else str(found).splitlines()
    is_plural = len(lines) > 1 or _PLURAL.search(str(lines[0] if lines else "")) is not None
    return "are" if is_plural else "is"


# What a request that reads has found, as a sentence or two. Pure.

_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|our|ours|ourselves)\b", re.IGNORECASE)


def was_found(done: ActionResult, setting: Setting) -> str:
    """Return what a request that reads has found."""
    if "free" in done.result or "is_free" in done.result:
        return free_told(done, setting)
    if "remarks" in done.result:
        return _REMARKS[bool(done.result["remarks"])]
    for name, tell in _LISTS.items():
        items = done.result.get(name)
        if isinstance(items, list | tuple):
            return tell(items, done, setting)
    return _anything(done)


_REMARKS = {
    False: "From now on I tell you nothing unasked. Say “start the remarks again” if you miss them.",
    True: "I'll tell you again, at most once a day, when I notice something.",
}


def _holds(items: Sequence[Any], done: ActionResult, _setting: Setting) -> str:
    """Return whether something stands on a list."""
    note, asked = plain(str(done.result.get("note"))), plain(str(done.params.get("line")))
    if not items:
        return f"No, “{note}” has no {asked}."
    found = enumerated([f"“{plain(str(each))}”" for each in items])
    return f"Yes, {found} {'is' if len(items) == 1 else 'are'} on “{note}”."


def _whether_done(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    """Return of some tasks which are done, and which still are to be."""
    if not items:
        return f"I can't find a task about “{plain(str(done.params['query']))}”."
    return " ".join(
        f"Yes, “{name_of(each)}” is done."
        if each.get("status") == "done"
        else f"Nobody has ticked off “{name_of(each)}” yet{_due(each, setting)}."
        for each in items[:MOST]
    )


def _tasks(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    if done.params.get("status") == "all" and done.params.get("query"):
        return _whether_done(items, done, setting)
    if not items:
        return (
            "Nothing is on the list."
            if done.params.get("status") != "done"
            else "Nothing is done yet."
        )
    if is_shown(done, items):
        return f"{len(items)} things are on the list. The first is {_task(items[0], setting)}."
    return f"On the list: {few([_task(each, setting) for each in items], len(items), ';')}."


def _task(item: Mapping[str, Any], setting: Setting) -> str:
    who = [str(each) for each in item.get("who") or ()]
    others = [] if setting.member in who else [setting.name(each) for each in who]
    whose = f", for {enumerated(others)}" if others else ""
    return f"{name_of(item)}{_due(item, setting)}{whose}"


def _due(item: Mapping[str, Any], setting: Setting) -> str:
    due = item.get("deadline") or item.get("remind_at")
    when = moment_words(str(due), now=setting.now, locale=setting.household.locale) if due else ""
    return f" ({when})" if when else ""


def _mails(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    if not items:
        about = done.params.get("query")
        return f"No email found{' for ' + plain(str(about)) if about else ''}."
    told = [
        f"“{name_of(each)}” from {plain(str(each.get('from') or 'somebody'))} "
        f"{moment_words(str(each.get('at') or ''), now=setting.now, locale=setting.household.locale)}".strip()
        for each in items
    ]
    return f"{len(items)} {'email' if len(items) == 1 else 'emails'}: {few(told, len(items), ';')}."


def _notes(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    del setting
    if not items:
        about = done.params.get("title") or done.params.get("query")
        return f"There is no note{' about ' + plain(str(about)) if about else ''}."
    return " ".join(_note(each, is_alone=len(items) == 1) for each in items[:MOST])


def _note(item: Mapping[str, Any], *, is_alone: bool) -> str:
    body = item.get("body") or item.get("lines") or ""
    lines = body if isinstance(body, list | tuple) else str(body).splitlines()
    told = [plain(str(line).lstrip("-*• ")) for line in lines if str(line).strip()]
    if not told:
        return f"“{name_of(item)}” is empty." if is_alone else f"“{name_of(item)}”."
    return f"On “{name_of(item)}”: {few(told, len(told), ',')}."


def leaves_open(done: ActionResult) -> bool:
    """Return whether something was asked about that calendar, tasks and lists do not tell: memory may, or what is open.

    Args:
        done: What a request came to.
    """
    if done.status is not ResultStatus.DONE or done.action_id:
        return False
    found = [done.result[name] for name in ("events", "tasks") if name in done.result]
    names_something = bool(done.params.get("query")) and not done.result.get("instead")
    return "facts" in done.result or (bool(found) and names_something and not any(found))


def nearest_told(done: ActionResult, setting: Setting) -> str:
    """Return that memory does not answer a question, with the first of what it found.

    Args:
        done: The request, with what it found.
    """
    items = done.result.get("facts") or ()
    nearest = f" The closest thing I know: {_facts(items[:1], done, setting)}" if items else ""
    return f"I don't know that.{nearest}"


def _facts(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    del done
    if not items:
        return "I don't know anything about that."
    told = [
        _fact(each, setting) if isinstance(each, Mapping) else plain(str(each)) for each in items
    ]
    return " ".join(
        each if each.endswith((".", "!", "?", "”")) else f"{each}." for each in told[:3]
    )


def _fact(item: Mapping[str, Any], setting: Setting) -> str:
    """Return a fact as it is told; "my" and "I" in it are whoever said so, and neither the assistant nor the asker."""
    words, speaker = name_of(item), item.get("speaker")
    if not speaker or _FIRST_PERSON.search(words) is None:
        return words
    member = setting.household.member(setting.member)
    who = "You" if member is not None and member.name == speaker else plain(str(speaker))
    return f"{who} told me: “{words}”"


def _done(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    since = moment_words(
        str(done.result.get("since") or ""), now=setting.now, locale=setting.household.locale
    )
    since = f"since {since.removeprefix('on ').removesuffix(' at 00:00').removesuffix(' at 12am')}"
    if not items:
        return f"Nothing{' like that' if done.params.get('kind') else ''} has been done {since}, at least nothing you can see."
    told = [_deed(each, setting) for each in items]
    return f"Done {since}: {few(told, len(told), ';')}."


def _waiting(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    if "event" in done.result and done.action == "list_waiting":
        return _whether_confirmed(items, done, setting)
    if not items:
        return "Nothing is waiting for approval."
    own, adults = (Decider.ASKER, "your approval"), (Decider.ADULT, "an adult's approval")
    if _is_adult(setting):
        own = (Decider.ASKER, "approval")
    alone = (Decider.NOBODY, "an adult's approval, but no adult can see it")
    waiting = {
        whose: [_deed(each, setting) for each in items if _decider(each, setting) is decider]
        for decider, whose in (own, adults, alone)
    }
    return " ".join(
        f"{few(told, len(told), ';')} {'is' if len(told) == 1 else 'are'} waiting for {whose}."
        for whose, told in waiting.items()
        if told
    )


def _whether_confirmed(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    """Return whether what is asked about stands, waits, or is not known."""
    if items:
        alone = replace(done, result={"waiting": items})
        return f"Not yet: {_waiting(items, alone, setting)}"
    if (event := done.result["event"]) is not None:
        return f"Yes, it is in the calendar: {event_told(event, setting)}."
    about = plain(str(done.params.get("query")))
    return f"I find nothing about “{about}” in the calendar, and nothing like it is waiting for approval."


def _decider(item: Mapping[str, Any], setting: Setting) -> Decider:
    """Return whose yes something awaits; what earlier versions stored does not say."""
    if (stored := item.get("decider")) is not None:
        return Decider(stored)
    return Decider.ASKER if _is_adult(setting) else Decider.ADULT


def _is_adult(setting: Setting) -> bool:
    member = setting.household.member(setting.member)
    return member is not None and member.is_adult


def _deed(item: Mapping[str, Any], setting: Setting) -> str:
    """Return what was done or awaits a yes, and on whose word where it was another's."""
    by = item.get("by")
    told = f"“{name_of(item)}”"
    return f"{told} (asked for by {setting.name(str(by))})" if by and by != setting.member else told


def _anything(done: ActionResult) -> str:
    if done.card is not None:
        items = [plain(str(item.get("text", ""))) for item in done.card.items]
        told = few([each for each in items if each], len(items), ";")
        return f"{plain(done.card.title)}: {told or 'nothing'}."
    for name in ("text", "answer", "message"):
        if isinstance(found := done.result.get(name), str) and found.strip():
            return plain(found, 400)
    return plain(done.summary) or "I found nothing."


def _goals(items: Sequence[Any], _done: ActionResult, setting: Setting) -> str:
    """Return what is worked on, and how far it has come."""
    if not items:
        return "I'm not working on anything for you right now."
    return " ".join(_goal(each, setting) for each in items[:MOST])


def _goal(item: Mapping[str, Any], setting: Setting) -> str:
    at, status, steps = item.get("next_at"), str(item.get("status")), item.get("steps") or ()
    when = moment_words(str(at), now=setting.now, locale=setting.household.locale) if at else ""
    done = sum(each.get("state") == "done" for each in steps)
    if status not in {"pending", "running"}:
        stands = "it rests" if status == "paused" else f"it is {status}"
    elif item.get("kind") == "ask":
        stands = f"I'll come back to it {when}"
    elif item.get("kind") == "watch":
        stands = "I keep an eye on it"
    else:
        stands = f"{done} of {len(steps)} steps are done" if done else "I've found nothing yet"
    return f"“{name_of(item)}”: {stands}."


_LISTS: Mapping[str, Callable[[Sequence[Any], ActionResult, Setting], str]] = {
    "events": events_told,
    "tasks": _tasks,
    "mails": _mails,
    "notes": _notes,
    "facts": _facts,
    "memories": _facts,
    "lines_found": _holds,
    "done": _done,
    "waiting": _waiting,
    "goals": _goals,
}
