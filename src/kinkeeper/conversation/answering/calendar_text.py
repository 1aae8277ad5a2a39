"""What takes place, and who has time, as an answer: exactly what was asked about it. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.calendar.event_records import NOT_CONFIRMED, may_be_off
from kinkeeper.conversation.answering.event_text import (
    Item,
    are,
    briefly_told,
    capital,
    event_told,
    in_charge_told,
    named,
    people_told,
    waiting_told,
    when_told,
)
from kinkeeper.conversation.answering.names_and_times import (
    Setting,
    day_words,
    few,
    is_date,
    is_shown,
    local,
    moment_words,
    name_of,
    period_words,
    plain,
    rule_words,
    span_words,
)
from kinkeeper.language.text import enumerated
from kinkeeper.memory.statements.care import doings_of
from kinkeeper.reading.asked import asks_for_anything, asks_for_presence, asks_what_happened
from kinkeeper.reading.ruled_out import asks_whether_may
from kinkeeper.reading.times.time_text import clock

# What takes place, as an answer: exactly what was asked about it. Pure.

_WEEK = 7
_DAY = timedelta(days=1)
_MANY = {None, "all", "count", "unowned", "clash"}
"""What is told of some days where none is named."""

_DENIES = re.compile(
    r"\b(?:closed|cancelled|canceled|off|no|not|without|shut|skips?|postponed)\b", re.IGNORECASE
)


def events_told(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    """Return what was asked about events.

    Args:
        items: The events that were found.
        done: The request, with what was asked.
    """
    if done.params.get("wanted") == "whether" and _asks_whether_may(setting):
        return _may_told(items, done, setting)
    told, heard = _found(items, done, setting), _heard(done, setting)
    if not items or not heard:
        return told
    return f"{told} {f'But {heard}' if _is_ruled_out(done) else capital(heard)}."


def _asks_whether_may(setting: Setting) -> bool:
    """Whether it is asked if a child may do something, and not what is planned."""
    return bool(asks_whether_may(setting.text, doings_of(setting.household)))


def _may_told(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    """Return what somebody said that rules it out, and whether it is in the calendar: whether they may is for people to say."""
    told = few([event_told(each, setting) for each in items], len(items), ";")
    if heard := _heard(done, setting):
        return f"{capital(heard)}.{f' In the calendar: {told}.' if told else ''}"
    if told:
        return f"I can't say whether they may. In the calendar: {told}."
    period = _period(done.params, setting)
    return f"I can't say whether they may, and it isn't in the calendar{' ' + period if period else ''}."


def _is_ruled_out(done: ActionResult) -> bool:
    """Whether somebody said that what is in the calendar is not to be done on these days."""
    told = done.result.get("told") or ()
    return any(each.get("is_ruled_out") and not each["is_near"] for each in told)


def _heard(done: ActionResult, setting: Setting) -> str:
    """Return what people said of these days; what is only near, where anything of them is asked for."""
    is_list = "events" in done.result and done.params.get("wanted") is None
    is_open = is_list or asks_for_anything(setting.text)
    told = done.result.get("told") or ()
    return enumerated([quoted(each, setting) for each in told if is_open or not each["is_near"]])


def _found(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    wanted = str(done.params.get("wanted") or "all")
    if wanted == "unowned":
        return _unowned(items, done, setting)
    if not items:
        return _nothing(wanted, done, setting)
    if wanted in _ONE:
        answers = [_marked(_ONE[wanted](each, setting), each, setting) for each in items]
        return capital(f"{few(answers, len(answers), ';')}.")
    if wanted == "count":
        things = "thing" if len(items) == 1 else "things"
        each_told = few([event_told(each, setting) for each in items], len(items), ";")
        period = _period(done.params, setting)
        return f"{len(items)} {things}{' ' + period if period else ''}: {each_told}."
    if is_shown(done, items):
        first, period = event_told(items[0], setting), _period(done.params, setting)
        return f"There are {len(items)} things {period or 'in the calendar'}. The first is {first}."
    is_sure = any(each.get("confirmed", True) and not may_be_off(each) for each in items)
    is_yes = wanted == "clash" or (wanted == "whether" and _is_yes(items, done, setting))
    yes = "Yes: " if is_yes and is_sure else ""
    told = few([event_told(each, setting) for each in items], len(items), ";")
    return f"{yes}{told}{_meanwhile(done, setting)}."


def _marked(told: str, item: Item, setting: Setting) -> str:
    """Return an answer about one event with what nobody has confirmed yet, unless it says so already."""
    return told if NOT_CONFIRMED in told else told + waiting_told(item, setting)


def _is_left_open(done: ActionResult, setting: Setting) -> bool:
    """Whether it is asked what somebody does or did, and not what is planned: that is no yes and no no of the calendar's."""
    is_of_deed = asks_what_happened(setting.text) or not asks_for_anything(setting.text)
    return bool(done.params.get("who")) and not done.params.get("query") and is_of_deed


def _is_yes(items: Sequence[Any], done: ActionResult, setting: Setting) -> bool:
    """Whether what was found says that something takes place: neither that it does not, nor that it may not.

    "School closed" is no yes to "is there school?", nor is choir one while who sings is away or is not to sing.
    """
    if _is_left_open(done, setting) or _is_ruled_out(done):
        return False
    asked = str(done.params.get("query") or "")
    denies = any(_DENIES.search(name_of(each)) for each in items) and not _DENIES.search(asked)
    return not denies and not done.result.get("meanwhile")


def _meanwhile(done: ActionResult, setting: Setting) -> str:
    told = [event_told(each, setting) for each in done.result.get("meanwhile") or ()]
    return f"; but on the same day: {few(told, len(told), ';')}" if told else ""


def _unowned(items: Sequence[Any], done: ActionResult, setting: Setting) -> str:
    period = _period(done.params, setting)
    if not items:
        return f"Nothing in the calendar{' ' + period if period else ''} is without somebody in charge."
    told = [briefly_told(each, setting) + waiting_told(each, setting) for each in items]
    return f"Nobody is down yet for {few(told, len(told), ';')}."


def _nothing(wanted: str, done: ActionResult, setting: Setting) -> str:
    period, about = _period(done.params, setting), done.params.get("query")
    who = [setting.name(str(each)) for each in done.params.get("who") or ()]
    if wanted == "away":
        return (
            f"Nothing in the calendar says that {enumerated(who)} will be away for a day or more."
        )
    if wanted == "clash":
        return f"No, nothing clashes{' ' + period if period else ''}."
    told = f"nothing about {plain(str(about))}" if about else "nothing"
    of = f" with {enumerated(who)}" if who else ""
    until = local(str(done.result.get("to") or ""), now=setting.now)
    is_past = wanted == "last" or (until is not None and until < setting.now)
    told = (
        f"{told}{of} {'was' if is_past else 'is'} in the calendar{' ' + period if period else ''}"
    )
    if heard := _heard(done, setting):
        return f"{capital(told)}, but {heard}."
    if wanted in {"responsible", "who"}:
        return f"Nobody is down for that: {told}.{_instead(done, setting)}"
    near = _instead(done, setting)
    # What nobody put in the calendar may be all the same, unless it is planned and on another day, or something else is on.
    is_open = asks_what_happened(setting.text) or not near
    if wanted == "whether" and is_open and (about or _is_left_open(done, setting)):
        return f"I don't know: nobody has told me, and {told}.{near}"
    return f"{capital(told)}.{near}"


def _instead(done: ActionResult, setting: Setting) -> str:
    item = done.result.get("instead")
    if isinstance(item, Mapping):
        return f" The next is {event_told(item, setting)}."
    told = [event_told(each, setting) for each in done.result.get("beside") or ()]
    return f" What's on then: {few(told, len(told), ';')}." if told else ""


def _away(item: Item, setting: Setting) -> str:
    """Return what keeps somebody away, until when and how long."""
    return _length(item, setting) + people_told(item, setting)


def _next(item: Item, setting: Setting) -> str:
    start = local(str(item.get("start")), now=setting.now)
    away = (start.date() - setting.now.date()).days if start is not None else 0
    return event_told(item, setting) + (f", in {away} days" if away >= _WEEK else "")


def _days(item: Item, setting: Setting) -> str:
    rule = rule_words(str(item.get("rrule") or ""))
    start = local(str(item.get("start")), now=setting.now)
    if not rule or start is None:
        return _next(item, setting)
    at = f" at {clock(start.time(), setting.household.locale)}"
    return f"{name_of(item)} is {rule}{'' if is_date(str(item['start'])) else at}{people_told(item, setting)}"


def _last(item: Item, setting: Setting) -> str:
    start = local(str(item.get("start")), now=setting.now)
    is_past = start is not None and start < setting.now
    return f"the last {'was' if is_past else 'is'} {event_told(item, setting)}"


def _start(item: Item, setting: Setting) -> str:
    start = moment_words(str(item["start"]), now=setting.now, locale=setting.household.locale)
    return f"{name_of(item)} starts {start}{people_told(item, setting)}"


def _end(item: Item, setting: Setting) -> str:
    end = moment_words(str(item["end"]), now=setting.now, locale=setting.household.locale)
    return f"{name_of(item)} ends {end}{people_told(item, setting)}"


def _length(item: Item, setting: Setting) -> str:
    start, end = (local(str(item[name]), now=setting.now) for name in ("start", "end"))
    if start is None or end is None:
        return event_told(item, setting)
    return f"{name_of(item)}: {_long(item, end - start)}, {when_told(item, setting)}"


def _long(item: Item, length: timedelta) -> str:
    if is_date(str(item["start"])):
        return _counted(length.days + 1, "day")
    hours, minutes = divmod(int(length.total_seconds()) // 60, 60)
    told = [_counted(hours, "hour")] if hours else []
    return " and ".join([*told, *([_counted(minutes, "minute")] if minutes else [])])


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'}"


def _place(item: Item, setting: Setting) -> str:
    place = item.get("location") or item.get("place")
    if not place:
        return f"the calendar doesn't say where {briefly_told(item, setting)} is"
    return f"{briefly_told(item, setting)} is at {plain(str(place))}{people_told(item, setting)}"


def _who(item: Item, setting: Setting) -> str:
    people = [setting.name(str(each)) for each in item.get("who") or ()]
    told = f"{briefly_told(item, setting)}: {enumerated(people) or 'nobody is named'}"
    in_charge = [str(each) for each in item.get("responsible") or ()]
    return f"{told}; {in_charge_told(item, in_charge, setting)}" if in_charge else told


def _responsible(item: Item, setting: Setting) -> str:
    in_charge = [str(each) for each in item.get("responsible") or ()]
    what = f"{briefly_told(item, setting)}{people_told(item, setting)}"
    claims = [each["claimed_by"] for each in item.get("waiting") or ()]
    if several := next((each for each in claims if len(each) > 1), None):
        return f"{named(several, setting)} have both offered to take {what} – {NOT_CONFIRMED}"
    if not in_charge:
        return f"nobody is down yet for {what}"
    if not item.get("confirmed", True):
        return f"{named(in_charge, setting)} would be down for {what}"
    return f"{are(in_charge, setting)} down for {what}"


_ONE: Final[Mapping[str, Callable[[Item, Setting], str]]] = {
    "next": _next,
    "days": _days,
    "last": _last,
    "start": _start,
    "end": _end,
    "length": _length,
    "place": _place,
    "who": _who,
    "responsible": _responsible,
    "away": _away,
}
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


# Who has time, and when, as an answer. Pure.

_MIDNIGHT = time()


def free_told(done: ActionResult, setting: Setting) -> str:
    """Return who has time, and when.

    Args:
        done: The request, with what was found.
    """
    by_member = done.result.get("by_member")
    when = _looked_at(done, setting)
    if isinstance(by_member, Mapping) and by_member:
        return _who_is_free(by_member, when, done, setting)
    spans = [each for each in done.result.get("free") or () if isinstance(each, Mapping)]
    busy = [each for each in done.result.get("busy") or () if isinstance(each, Mapping)]
    who = [str(each) for each in done.result.get("who") or ()]
    if done.params.get("around") and not done.params.get("who"):
        told = few([event_told(each, setting) for each in busy], len(busy), ";")
        return f"Yes: {told}." if busy else f"No, there is nothing else {when}."
    days = _all_day(done, setting)
    nothing = f"{days}; nothing else is" if days else "nothing is"
    nothing += f" in the calendar for {named(who, setting)}{' ' + when if when else ''}"
    away, heard = enumerated([*_said_away(done, setting).values()]), _heard(done, setting)
    if heard and asks_for_presence(setting.text):
        away = away or heard
    if away and not busy and _is_short(done):
        return capital(f"{nothing}, but {away}.")
    if done.result.get("is_free"):
        told = f"{nothing if days else _free(who, when, setting)}."
        return capital(f"{told} {capital(heard)}." if heard else told)
    free = few([_span(each, setting) for each in spans], len(spans), ";")
    if spans and not _is_short(done):
        return f"Free: {free}."
    if busy and asks_for_presence(setting.text):
        told = few([event_told(each, setting) for each in busy], len(busy), ";")
        return f"In the calendar for {named(who, setting)}: {told}."
    why = f": {few([event_told(each, setting) for each in busy], len(busy), ';')}" if busy else ""
    room = f" Free: {free}." if spans else ""
    room += f" {capital(days)}." if days else ""
    return capital(f"{are(who, setting)} not free{' ' + when if when else ''}{why}.{room}")


def _free(who: Sequence[str], when: str, setting: Setting) -> str:
    """Return that nothing keeps members busy, as far as the calendar knows; of where they are it knows nothing."""
    then = f" {when}" if when else ""
    if asks_for_presence(setting.text):
        return f"nothing is in the calendar for {named(who, setting)}{then}"
    return f"{are(who, setting)} free{then} as far as I know: nothing is in the calendar for {named(who, setting)} then"


def _all_day(done: ActionResult, setting: Setting) -> str:
    """Return what goes on for whole days beside it: the calendar does not know whether there is time in them."""
    days = [each for each in done.result.get("all_day") or () if isinstance(each, Mapping)]
    told = [event_told(each, setting) for each in days]
    return few(told, len(told), ";")


def _said_away(done: ActionResult, setting: Setting) -> dict[str, str]:
    """Return by member who said when that they have no time then."""
    told = done.result.get("told_away") or {}
    return {member: quoted(words, setting) for member, words in told.items()}


def quoted(words: Item, setting: Setting) -> str:
    """Return what somebody said, with who and when."""
    at, locale = local(words["said_at"], now=setting.now), setting.household.locale
    day = f" {day_words(at.date(), today=setting.now.date(), locale=locale)}" if at else ""
    return f"{named([words['by']], setting)} said{day}: “{plain(words['text'])}”"


def _who_is_free(
    by_member: Mapping[str, Any], when: str, done: ActionResult, setting: Setting
) -> str:
    said = _said_away(done, setting)
    free = [member for member, busy in by_member.items() if not (busy or member in said)]
    told = [_free(free, when, setting)] if free else []
    if not free:
        told.append(f"nobody is free{' ' + when if when else ''}")
    told += [_kept_busy(member, busy, setting) for member, busy in by_member.items() if busy]
    told += [words for member, words in said.items() if not by_member.get(member)]
    return f"{capital('; '.join(told))}."


def _kept_busy(member: str, busy: Sequence[Any], setting: Setting) -> str:
    """Return what keeps a member busy; of what goes on for whole days only that it does."""
    told = few([event_told(each, setting) for each in busy], len(busy), ";")
    if all(each.get("all_day") for each in busy):
        return f"for {named([member], setting)} there is {told}"
    return f"{are([member], setting)} busy with {told}"


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
    return (
        _span({"start": asked.get("from"), "end": asked.get("to")}, setting)
        if (isinstance(asked, Mapping))
        else ""
    )


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
