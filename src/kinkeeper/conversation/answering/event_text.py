"""What a request is to change, or has changed, about an event or a task, in words. Pure."""

from collections.abc import Mapping
from typing import Any

from kinkeeper.conversation.answering.name_text import Words, listed, plain
from kinkeeper.conversation.answering.spoken_times import moment_words
from kinkeeper.language.text import enumerated

ONLY_ONCE = ", just this once"
_REACHES = {
    "series": ", and all the others in the series",
    "following": ", and all later ones",
}
_TIMES = frozenset({"start_time", "end_time", "shift_minutes"})


def to_change(words: Words) -> str:
    """Return what is to be different about an event, as it follows "Shall I".

    Args:
        words: Of the request.
    """
    changes, what = _changes(words), f"{words.title}{words.when}"
    if old := old_name(words):
        return f"rename {old} to {what}"
    parts = []
    if _TIMES & set(changes):
        parts = [
            f"move {words.title} to{words.when.removeprefix(' on')}"
            if words.when
            else f"move {what}"
        ]
    its = "its" if parts else "the"
    of = "" if parts else f" of {what}"
    if people := _people_of(changes, "responsible", words):
        parts.append(f"put {people} in charge{of}")
    elif "responsible" in changes:
        parts.append(f"leave {'it' if parts else what} unassigned")
    if gone := _leaving(changes, words):
        parts.append(f"take {gone} off {'it' if parts else what}")
    elif people := _people_of(changes, "who", words):
        parts.append(f"put {people} down for {'it' if parts else what}")
    if place := changes.get("location"):
        parts.append(f"change {its} place{of} to {plain(str(place))}")
    told = enumerated(parts) or f"change {words.title} in the calendar{words.when}"
    return f"{told}{how_often(words)}"


def _leaving(changes: Mapping[str, Any], words: Words) -> str:
    """Return who takes no part in an event any more, where that is all that changes about who does."""
    before = words.value("before")
    known = listed(before.get("who")) if isinstance(before, Mapping) else ()
    kept = listed(changes.get("who"))
    if not kept or not set(kept) < set(known):
        return ""
    return enumerated([words.setting.name(str(each)) for each in known if each not in kept])


def how_often(words: Words) -> str:
    """Return of how many times of something that recurs a request is, with what parts it from the words before.

    Args:
        words: Of the request.
    """
    if not words.done.result.get("rrule"):
        return ""
    if last := words.done.result.get("last"):
        day = moment_words(
            str(last)[:10], now=words.setting.now, locale=words.setting.household.locale
        )
        return (
            f" and every time until {day.removeprefix('on ')}, {words.done.result['times']} in all"
        )
    scope = str(words.done.params.get("scope", ""))
    return _REACHES.get(scope, ONLY_ONCE)


def what_changed(words: Words) -> str:
    """Return what is different about something now, as it follows what it is called.

    Args:
        words: Of a request that was done.
    """
    changes = _changes(words)
    is_moved = not changes or bool((_TIMES | {"deadline", "remind_at"}) & set(changes))
    if {"title", "summary"} & set(changes):
        return "has been changed"
    if is_moved and words.when:
        return f"is now{words.when}"
    if people := _people_of(changes, "responsible", words):
        return f"now has {people} in charge"
    if "responsible" in changes:
        return f"has nobody in charge{words.when} now; somebody still needs to take it"
    if people := _people_of(changes, "who", words):
        return f"is now for {people}"
    if place := changes.get("location"):
        return f"is now at {plain(str(place))}"
    return "has been changed"


def old_name(words: Words) -> str:
    """Return what an event was called, where it gets another name; empty where it keeps it.

    Args:
        words: Of the request.
    """
    before = words.value("before")
    old = str(before.get("title") or "") if isinstance(before, Mapping) else ""
    return f"“{plain(old)}”" if old and old != words.value("title") else ""


def _changes(words: Words) -> Mapping[str, Any]:
    changes = words.done.params.get("changes")
    return changes if isinstance(changes, Mapping) else {}


def _people_of(changes: Mapping[str, Any], name: str, words: Words) -> str:
    return enumerated([words.setting.name(str(each)) for each in listed(changes.get(name))])
