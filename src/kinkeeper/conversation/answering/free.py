"""Who has time, and when, as an answer. Pure."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.answering.event_words import (
    Item,
    are,
    capital,
    event_told,
    named,
)
from kinkeeper.conversation.answering.name_text import Setting, few
from kinkeeper.conversation.answering.spoken_times import day_words, local, period_words, span_words
from kinkeeper.reading.times.regions import clock

_DAY = timedelta(days=1)
_MIDNIGHT = time()


def free_told(done: ActionResult, setting: Setting) -> str:
    """Return who has time, and when.

    Args:
        done: The request, with what was found.
        setting: Whose words count.
    """
    by_member = done.result.get("by_member")
    when = _looked_at(done, setting)
    if isinstance(by_member, Mapping) and by_member:
        return _who_is_free(by_member, when, setting)
    spans = [each for each in done.result.get("free") or () if isinstance(each, Mapping)]
    busy = [each for each in done.result.get("busy") or () if isinstance(each, Mapping)]
    who = [str(each) for each in done.result.get("who") or ()]
    if done.params.get("around") and not done.params.get("who"):
        told = few([event_told(each, setting) for each in busy], len(busy), ";")
        return f"Yes: {told}." if busy else f"No, there is nothing else {when}."
    if done.result.get("is_free"):
        if days := _all_day(done, setting):
            return capital(
                f"{days}; nothing else is in the calendar for {named(who, setting)}{' ' + when if when else ''}."
            )
        return capital(f"{are(who, setting)} free{' ' + when if when else ''}.")
    free = few([_span(each, setting) for each in spans], len(spans), ";")
    if spans and not _is_short(done):
        return f"Free: {free}."
    why = f": {few([event_told(each, setting) for each in busy], len(busy), ';')}" if busy else ""
    room = f" Free: {free}." if spans else ""
    return capital(f"{are(who, setting)} not free{' ' + when if when else ''}{why}.{room}")


def _all_day(done: ActionResult, setting: Setting) -> str:
    """Return what goes on for whole days beside it: the calendar does not know whether there is time in them."""
    days = [each for each in done.result.get("all_day") or () if isinstance(each, Mapping)]
    told = [event_told(each, setting) for each in days]
    return few(told, len(told), ";")


def _who_is_free(by_member: Mapping[str, Any], when: str, setting: Setting) -> str:
    free = [member for member, busy in by_member.items() if not busy]
    told = [f"{are(free, setting)} free{' ' + when if when else ''}"] if free else []
    if not free:
        told.append(f"nobody is free{' ' + when if when else ''}")
    told += [
        f"{are([member], setting)} busy with {few([event_told(each, setting) for each in busy], len(busy), ';')}"
        for member, busy in by_member.items()
        if busy
    ]
    return f"{capital('; '.join(told))}."


def _is_short(done: ActionResult) -> bool:
    """Whether a day or less was looked at: then it was asked whether somebody has time, not when."""
    span = done.result.get("looked_at") or {}
    try:
        start, end = (date.fromisoformat(str(span[name])[:10]) for name in ("start", "end"))
    except (KeyError, ValueError):
        return True
    return end - start <= _DAY


def _looked_at(done: ActionResult, setting: Setting) -> str:
    span = done.result.get("looked_at")
    if isinstance(span, Mapping):
        return _span(span, setting)
    asked = done.params.get("between")
    return _span({"start": asked.get("from"), "end": asked.get("to")}, setting) if (
        isinstance(asked, Mapping)
    ) else ""  # fmt: skip


def _span(span: Item, setting: Setting) -> str:
    start, end = str(span.get("start") or ""), span.get("end")
    first, last = local(start, now=setting.now), local(str(end or ""), now=setting.now)
    locale = setting.household.locale
    is_whole = first is not None and last is not None and first.time() == last.time() == _MIDNIGHT
    if is_whole and first is not None and last is not None and last > first:
        days = (last.date() - first.date()).days
        return period_words(first.date(), days, today=setting.now.date(), locale=locale)
    if first is not None and last == _end_of_day(first):
        return f"{day_words(first.date(), today=setting.now.date(), locale=locale)} from {clock(first.time(), locale)}"
    return span_words(start, str(end) if end else None, now=setting.now, locale=locale)


def _end_of_day(moment: datetime) -> datetime:
    return datetime.combine(moment.date() + _DAY, _MIDNIGHT, tzinfo=moment.tzinfo)
