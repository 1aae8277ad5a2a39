"""What takes place, and who has time, as an answer: exactly what was asked about it. Pure."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.answering.moments import (
    day_words,
    is_date,
    local,
    moment_words,
    period_words,
    rule_words,
    span_words,
)
from kinkeeper.conversation.answering.words import Setting, few, is_shown, name_of, plain
from kinkeeper.language.text import enumerated
from kinkeeper.language.when.regions import clock

_WEEK = 7
_DAY = timedelta(days=1)
_MIDNIGHT = time()
_MANY = {None, "all", "count", "unowned", "clash"}
"""What is told of some days where none is named."""

_Item = Mapping[str, Any]


def events_told(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    """Return what was asked about events.

    Args:
        items: The events that were found.
        done: The request, with what was asked.
        setting: Whose words count.
    """
    wanted = str(done.params.get("wanted") or "all")
    if wanted == "unowned":
        return _unowned(items, done, setting)
    if not items:
        return _nothing(wanted, done, setting)
    if wanted in _ONE:
        told = [_ONE[wanted](each, setting) for each in items]
        return _capital(f"{few(told, len(told), ';')}.")
    if wanted == "count":
        things = "thing" if len(items) == 1 else "things"
        told = [_event(each, setting) for each in items]
        period = _period(done.params, setting)
        return (
            f"{len(items)} {things}{' ' + period if period else ''}: {few(told, len(told), ';')}."
        )
    if is_shown(done, items):
        first, period = _event(items[0], setting), _period(done.params, setting)
        return f"{len(items)} things {period or 'in the calendar'}; the first is {first}."
    yes = "Yes: " if wanted in {"whether", "clash"} else ""
    return f"{yes}{few([_event(each, setting) for each in items], len(items), ';')}."


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
        told = few([_event(each, setting) for each in busy], len(busy), ";")
        return f"Yes: {told}." if busy else f"No, nothing else is {when}."
    if done.result.get("is_free"):
        return _capital(
            f"{_are(who, setting)} free{' ' + when if when else ''}{_though(done, setting)}."
        )
    free = few([_span(each, setting) for each in spans], len(spans), ";")
    if spans and not _is_short(done):
        return f"Free: {free}."
    why = f": {few([_event(each, setting) for each in busy], len(busy), ';')}" if busy else ""
    room = f" Free: {free}." if spans else ""
    return _capital(f"{_are(who, setting)} not free{' ' + when if when else ''}{why}.{room}")


def _though(done: ActionResult, setting: Setting) -> str:
    """Return what goes on for whole days beside it: the calendar does not know whether there is time in them."""
    days = [each for each in done.result.get("all_day") or () if isinstance(each, Mapping)]
    told = [_briefly(each, setting) for each in days]
    return f", apart from {few(told, len(told), ';')}" if told else ""


def _who_is_free(by_member: Mapping[str, Any], when: str, setting: Setting) -> str:
    free = [member for member, busy in by_member.items() if not busy]
    told = [f"{_are(free, setting)} free{' ' + when if when else ''}"] if free else []
    if not free:
        told.append(f"nobody is free{' ' + when if when else ''}")
    told += [
        f"{_are([member], setting)} busy with {few([_event(each, setting) for each in busy], len(busy), ';')}"
        for member, busy in by_member.items()
        if busy
    ]
    return f"{_capital('; '.join(told))}."


def _are(members: Sequence[str], setting: Setting) -> str:
    names = [setting.name(each) for each in members] or [setting.name(setting.member)]
    is_one = len(names) == 1 and names[0] != "you"
    return f"{enumerated(names)} {'is' if is_one else 'are'}"


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


def _span(span: _Item, setting: Setting) -> str:
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


def _unowned(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    period = _period(done.params, setting)
    if not items:
        return f"Everything{' ' + period if period else ''} has somebody."
    told = [_briefly(each, setting) for each in items]
    return f"Nobody is down yet for {few(told, len(told), ';')}."


def _nothing(wanted: str, done: ActionResult, setting: Setting) -> str:
    period, about = _period(done.params, setting), done.params.get("query")
    who = [setting.name(str(each)) for each in done.params.get("who") or ()]
    if wanted == "clash":
        return f"No, nothing clashes{' ' + period if period else ''}."
    told = f"nothing about {plain(str(about))}" if about else "nothing"
    of = f" with {enumerated(who)}" if who else ""
    until = local(str(done.result.get("to") or ""), now=setting.now)
    is_past = wanted == "last" or (until is not None and until < setting.now)
    told = (
        f"{told}{of} {'was' if is_past else 'is'} in the calendar{' ' + period if period else ''}"
    )
    if wanted in {"responsible", "who"}:
        return f"Nobody is down for that: {told}.{_instead(done, setting)}"
    told = f"No, {told}" if wanted == "whether" else _capital(told)
    return f"{told}.{_instead(done, setting)}"


def _instead(done: ActionResult, setting: Setting) -> str:
    item = done.result.get("instead")
    return f" The next is {_event(item, setting)}." if isinstance(item, Mapping) else ""


def _event(item: _Item, setting: Setting) -> str:
    """Return all of an event in a few words."""
    people = [setting.name(str(each)) for each in item.get("who") or ()]
    place = item.get("location") or item.get("place")
    told = _briefly(item, setting)
    told += f" at {plain(str(place))}" if place else ""
    told += f" ({enumerated(people)})" if people else ""
    in_charge = [str(each) for each in item.get("responsible") or ()]
    return f"{told}, {_are(in_charge, setting)} in charge" if in_charge else told


def _briefly(item: _Item, setting: Setting) -> str:
    return " ".join(part for part in (name_of(item), _when(item, setting)) if part)


def _when(item: _Item, setting: Setting) -> str:
    if "start" not in item:
        return ""
    start, end, locale = str(item["start"]), item.get("end"), setting.household.locale
    if is_date(start) and end and str(end) > start:
        first, last = (date.fromisoformat(str(each)) for each in (start, end))
        days = (last - first).days + 1
        return period_words(first, days, today=setting.now.date(), locale=locale)
    return span_words(start, str(end) if end else None, now=setting.now, locale=locale)


def _next(item: _Item, setting: Setting) -> str:
    start = local(str(item.get("start")), now=setting.now)
    away = (start.date() - setting.now.date()).days if start is not None else 0
    return _event(item, setting) + (f", in {away} days" if away >= _WEEK else "")


def _days(item: _Item, setting: Setting) -> str:
    rule = rule_words(str(item.get("rrule") or ""))
    start = local(str(item.get("start")), now=setting.now)
    if not rule or start is None:
        return _next(item, setting)
    at = f" at {clock(start.time(), setting.household.locale)}"
    return f"{name_of(item)} is {rule}{'' if is_date(str(item['start'])) else at}{_with(item, setting)}"


def _last(item: _Item, setting: Setting) -> str:
    start = local(str(item.get("start")), now=setting.now)
    is_past = start is not None and start < setting.now
    return f"the last {'was' if is_past else 'is'} {_event(item, setting)}"


def _start(item: _Item, setting: Setting) -> str:
    start = moment_words(str(item["start"]), now=setting.now, locale=setting.household.locale)
    return f"{name_of(item)} starts {start}{_with(item, setting)}"


def _end(item: _Item, setting: Setting) -> str:
    end = moment_words(str(item["end"]), now=setting.now, locale=setting.household.locale)
    return f"{name_of(item)} ends {end}{_with(item, setting)}"


def _with(item: _Item, setting: Setting) -> str:
    people = [setting.name(str(each)) for each in item.get("who") or ()]
    return f" ({enumerated(people)})" if people else ""


def _length(item: _Item, setting: Setting) -> str:
    start, end = (local(str(item[name]), now=setting.now) for name in ("start", "end"))
    if start is None or end is None:
        return _event(item, setting)
    return f"{name_of(item)}: {_long(item, end - start)}, {_when(item, setting)}"


def _long(item: _Item, length: timedelta) -> str:
    if is_date(str(item["start"])):
        return _counted(length.days + 1, "day")
    hours, minutes = divmod(int(length.total_seconds()) // 60, 60)
    told = [_counted(hours, "hour")] if hours else []
    return " and ".join([*told, *([_counted(minutes, "minute")] if minutes else [])])


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'}"


def _place(item: _Item, setting: Setting) -> str:
    place = item.get("location") or item.get("place")
    if not place:
        return f"the calendar does not say where {_briefly(item, setting)} is"
    return f"{_briefly(item, setting)} is at {plain(str(place))}{_with(item, setting)}"


def _who(item: _Item, setting: Setting) -> str:
    people = [setting.name(str(each)) for each in item.get("who") or ()]
    told = f"{_briefly(item, setting)}: {enumerated(people) or 'nobody is named'}"
    in_charge = [str(each) for each in item.get("responsible") or ()]
    return f"{told}; {_are(in_charge, setting)} in charge" if in_charge else told


def _responsible(item: _Item, setting: Setting) -> str:
    in_charge = [str(each) for each in item.get("responsible") or ()]
    what = f"{_briefly(item, setting)}{_with(item, setting)}"
    if not in_charge:
        return f"nobody is down for {what} yet"
    return f"{_are(in_charge, setting)} in charge of {what}"


_ONE: Final[Mapping[str, Callable[[_Item, Setting], str]]] = {
    "next": _next, "days": _days, "last": _last, "start": _start, "end": _end, "length": _length, "place": _place,
    "who": _who, "responsible": _responsible,
}  # fmt: skip
"""How what is asked of one event is told."""


def _period(params: Mapping[str, Any], setting: Setting) -> str:
    """Return the days that were looked at; "" where they cannot be told shortly."""
    days, today = params.get("days_ahead", _WEEK), setting.now.date()
    start = params.get("from")
    if not isinstance(days, int) or days < 0 or (not start and params.get("wanted") not in _MANY):
        return ""
    if not start:
        return ("today", "today or tomorrow")[days] if days <= 1 else f"in the next {days} days"
    try:
        first = date.fromisoformat(str(start)[:10])
    except ValueError:
        return ""
    count = days if "days_ahead" in params else 1
    if first < today < first + count * _DAY:
        if count == _WEEK:
            return "this week"
        first, count = today, count - (today - first).days
    told = period_words(first, max(count, 1), today=today, locale=setting.household.locale)
    return f"{told}{_hours(params, setting)}"


def _hours(params: Mapping[str, Any], setting: Setting) -> str:
    """Return the hours that were looked at, with a space before them; empty where it was whole days."""
    told = [
        f" {word} {clock(time.fromisoformat(str(params[name])), setting.household.locale)}"
        for word, name in (("from", "since"), ("to" if params.get("since") else "until", "until"))
        if params.get(name)
    ]
    return "".join(told)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
