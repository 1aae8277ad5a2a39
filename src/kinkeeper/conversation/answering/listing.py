"""What a request that reads has found, as a sentence or two. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.answering.moments import moment_words, period_words, span_words
from kinkeeper.conversation.answering.wording import Setting, plain
from kinkeeper.language.text import enumerated

_MOST = 6
_FEW = 2
_WEEK = 7
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|our|ours|ourselves)\b", re.IGNORECASE)
_NAMES = ("title", "summary", "subject", "text", "name", "narrative", "value", "line")


def was_found(done: ActionResult, setting: Setting) -> str:
    """Return what a request that reads has found.

    Args:
        done: The request, with what it found.
        setting: Whose words count.
    """
    if "free" in done.result or "is_free" in done.result:
        return _free(done, setting)
    for name, tell in _LISTS.items():
        items = done.result.get(name)
        if isinstance(items, list | tuple):
            return tell(items, done, setting)
    return _anything(done)


def _events(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    period = _period(done.params, setting)
    about = done.params.get("query")
    if not items:
        told = f"Nothing about {plain(str(about))} is in the calendar" if about else (
            "Nothing is in the calendar"
        )  # fmt: skip
        nobody = "Nobody is down for that. " if setting.asks_who else ""
        return f"{nobody}{told}{' ' + period if period else ''}."
    if _is_shown(done, items):
        first = _event(items[0], setting)
        return f"{len(items)} things {period or 'in the calendar'}; the first is {first}."
    return f"{_enumerated([_event(each, setting) for each in items], len(items), ';')}."


def _is_shown(done: ActionResult, items: Sequence[Any]) -> bool:
    """Whether a card shows a longer list, so that words need not."""
    return done.card is not None and len(items) > _FEW


def _event(item: Mapping[str, Any], setting: Setting) -> str:
    end = item.get("end")
    when = "" if "start" not in item else span_words(
        str(item["start"]), str(end) if end else None, now=setting.now, locale=setting.household.locale
    )  # fmt: skip
    people = [setting.name(str(each)) for each in item.get("who") or ()]
    place = item.get("location") or item.get("place")
    told = " ".join(part for part in (_name(item), when) if part)
    told += f" at {plain(str(place))}" if place else ""
    told += f" ({enumerated(people)})" if people else ""
    in_charge = [setting.name(str(each)) for each in item.get("responsible") or ()]
    if in_charge:
        is_one = len(in_charge) == 1 and in_charge[0] != "you"
        return f"{told}, {enumerated(in_charge)} {'is' if is_one else 'are'} in charge"
    return f"{told}, nobody has taken it yet" if setting.asks_who else told


def _tasks(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    if not items:
        return (
            "Nothing is on the list."
            if done.params.get("status") != "done"
            else "Nothing is done yet."
        )
    if _is_shown(done, items):
        return f"{len(items)} things are on the list; the first is {_task(items[0], setting)}."
    return f"On the list: {_enumerated([_task(each, setting) for each in items], len(items), ';')}."


def _task(item: Mapping[str, Any], setting: Setting) -> str:
    due = item.get("deadline") or item.get("remind_at")
    when = moment_words(str(due), now=setting.now, locale=setting.household.locale) if due else ""
    return f"{_name(item)} ({when})" if when else _name(item)


def _mails(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    if not items:
        about = done.params.get("query")
        return f"No mail found{' for ' + plain(str(about)) if about else ''}."
    told = [
        f"“{_name(each)}” from {plain(str(each.get('from') or 'somebody'))} "
        f"{moment_words(str(each.get('at') or ''), now=setting.now, locale=setting.household.locale)}".strip()
        for each in items
    ]
    return f"{len(items)} {'mail' if len(items) == 1 else 'mails'}: {_enumerated(told, len(items), ';')}."


def _notes(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    del setting
    if not items:
        about = done.params.get("title") or done.params.get("query")
        return f"There is no note{' about ' + plain(str(about)) if about else ''}."
    return " ".join(_note(each, is_alone=len(items) == 1) for each in items[:_MOST])


def _note(item: Mapping[str, Any], *, is_alone: bool) -> str:
    body = item.get("body") or item.get("lines") or ""
    lines = body if isinstance(body, list | tuple) else str(body).splitlines()
    told = [plain(str(line).lstrip("-*• ")) for line in lines if str(line).strip()]
    if not told:
        return f"“{_name(item)}” is empty." if is_alone else f"“{_name(item)}”."
    return f"On “{_name(item)}”: {_enumerated(told, len(told), ',')}."


def _facts(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    del done
    if not items:
        return "I know nothing about that."
    told = [
        _fact(each, setting) if isinstance(each, Mapping) else plain(str(each)) for each in items
    ]
    return " ".join(
        each if each.endswith((".", "!", "?", "”")) else f"{each}." for each in told[:3]
    )


def _fact(item: Mapping[str, Any], setting: Setting) -> str:
    """Return a fact as it is told; "my" and "I" in it are whoever said so, and neither the assistant nor the asker."""
    words, speaker = _name(item), item.get("speaker")
    if not speaker or _FIRST_PERSON.search(words) is None:
        return words
    member = setting.household.member(setting.member)
    who = "You" if member is not None and member.name == speaker else plain(str(speaker))
    return f"{who} told me: “{words}”"


def _free(done: ActionResult, setting: Setting) -> str:
    spans = [each for each in done.result.get("free") or () if isinstance(each, Mapping)]
    told = [
        span_words(
            str(each.get("start") or ""), str(each.get("end") or ""), now=setting.now,
            locale=setting.household.locale,
        )
        for each in spans
    ]  # fmt: skip
    asked = done.params.get("between")
    when = ""
    if isinstance(asked, Mapping):
        when = span_words(
            str(asked.get("from") or asked.get("start") or ""),
            str(asked.get("to") or asked.get("end") or "") or None,
            now=setting.now, locale=setting.household.locale,
        )  # fmt: skip
    busy = [each for each in done.result.get("busy") or () if isinstance(each, Mapping)]
    if done.result.get("is_free"):
        return f"Yes, {when} is free." if when else "Yes, that is free."
    if told:
        return f"Free: {_enumerated(told, len(told), ';')}."
    why = (
        f": {_enumerated([_event(each, setting) for each in busy], len(busy), ';')}" if busy else ""
    )
    return f"No, nothing is free{' ' + when if when else ''}{why}."


def _anything(done: ActionResult) -> str:
    if done.card is not None:
        items = [plain(str(item.get("text", ""))) for item in done.card.items]
        told = _enumerated([each for each in items if each], len(items), ";")
        return f"{plain(done.card.title)}: {told or 'nothing'}."
    for name in ("text", "answer", "message"):
        if isinstance(found := done.result.get(name), str) and found.strip():
            return plain(found, 400)
    return plain(done.summary) or "That brought nothing."


def _period(params: Mapping[str, Any], setting: Setting) -> str:
    """Return the days that were looked at; "" where they cannot be told shortly."""
    days = params.get("days_ahead", _WEEK)
    today = setting.now.date()
    if not isinstance(days, int) or days < 0:
        return ""
    if not (start := params.get("from")):
        return ("today", "today or tomorrow")[days] if days <= 1 else f"in the next {days} days"
    try:
        first = date.fromisoformat(str(start)[:10])
    except ValueError:
        return ""
    count = days if "days_ahead" in params else 1
    return period_words(first, max(count, 1), today=today, locale=setting.household.locale)


def _name(item: Mapping[str, Any]) -> str:
    return next((plain(str(item[name])) for name in _NAMES if item.get(name)), "something")


def _enumerated(told: Sequence[str], count: int, mark: str) -> str:
    shown = f"{mark} ".join(told[:_MOST])
    return f"{shown} and {count - _MOST} more" if count > _MOST else shown


_LISTS: Mapping[str, Callable[[Sequence[Any], ActionResult, Setting], str]] = {
    "events": _events, "tasks": _tasks, "mails": _mails, "notes": _notes, "facts": _facts,
    "memories": _facts,
}  # fmt: skip
