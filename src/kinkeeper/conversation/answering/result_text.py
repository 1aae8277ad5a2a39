"""What a request that reads has found, as a sentence or two. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.answering.days import events_told
from kinkeeper.conversation.answering.free import free_told
from kinkeeper.conversation.answering.name_text import (
    MOST,
    Setting,
    few,
    is_shown,
    name_of,
    plain,
)
from kinkeeper.conversation.answering.spoken_times import moment_words
from kinkeeper.language.text import enumerated

_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|our|ours|ourselves)\b", re.IGNORECASE)


def was_found(done: ActionResult, setting: Setting) -> str:
    """Return what a request that reads has found.

    Args:
        done: The request, with what it found.
        setting: Whose words count.
    """
    if "free" in done.result or "is_free" in done.result:
        return free_told(done, setting)
    for name, tell in _LISTS.items():
        items = done.result.get(name)
        if isinstance(items, list | tuple):
            return tell(items, done, setting)
    return _anything(done)


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
        f"Yes, “{name_of(each)}” is done." if each.get("status") == "done"
        else f"Not yet: “{name_of(each)}” is still open{_due(each, setting)}."
        for each in items[:MOST]
    )  # fmt: skip


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
        setting: Whose words count.
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


def _waiting(items: Sequence[Any], _done: ActionResult, setting: Setting) -> str:
    if not items:
        return "Nothing is waiting for approval."
    told = [_deed(each, setting) for each in items]
    whose = "an adult's approval" if not _is_adult(setting) else "approval"
    return f"{few(told, len(told), ';')} {'is' if len(told) == 1 else 'are'} waiting for {whose}."


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


_LISTS: Mapping[str, Callable[[Sequence[Any], ActionResult, Setting], str]] = {
    "events": events_told, "tasks": _tasks, "mails": _mails, "notes": _notes, "facts": _facts,
    "memories": _facts, "lines_found": _holds, "done": _done, "waiting": _waiting,
}  # fmt: skip
