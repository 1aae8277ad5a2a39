"""Whether a span means what a public data set says it means: one function a set.

Each answers with the strictest true verdict: `EXACT` when begin and end are the set's own, `CONVENTION` when only
a stated convention differs (hours of a part of the day, whether an end day or hour is counted in, am or pm of a
bare hour), else `WRONG`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import IntEnum
from typing import Any

from dateutil.relativedelta import relativedelta

from kinkeeper.reading.times.model import SpanKind, TimeSpan

Row = Mapping[str, Any]


class Verdict(IntEnum):
    """How well a reading agrees."""

    WRONG = 0
    CONVENTION = 1
    EXACT = 2


Scorer = Callable[[Sequence[TimeSpan], Row], Verdict]
_HALF_DAY = timedelta(hours=12)
_SLACKS = tuple(
    timedelta(**slack) for slack in ({"days": 1}, {"hours": 1}, {"minutes": 1}, {"seconds": 1})
)


def _wall(instant: datetime) -> datetime:
    return instant.replace(tzinfo=None)


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace(" ", "T")).replace(tzinfo=None)


def _best(verdicts: Iterable[Verdict]) -> Verdict:
    return max(verdicts, default=Verdict.WRONG)


def _same_instant(mine: datetime, gold: datetime) -> Verdict:
    if mine == gold:
        return Verdict.EXACT
    is_half_off = abs(mine - gold) == _HALF_DAY and 0 < gold.hour % 12 < 12
    return Verdict.CONVENTION if is_half_off else Verdict.WRONG


def _same_end(mine: datetime, gold: datetime) -> Verdict:
    if mine == gold:
        return Verdict.EXACT
    units = (relativedelta(months=1), relativedelta(years=1))
    is_counted_in = any(gold + unit == mine for unit in units)
    return Verdict.CONVENTION if abs(mine - gold) in _SLACKS or is_counted_in else Verdict.WRONG


def _interval(span: TimeSpan, start: datetime, end: datetime) -> Verdict:
    begin, until = _wall(span.begin), _wall(span.until)
    if span.part_of_day is not None and begin.date() == start.date():
        return Verdict.EXACT if (begin, until) == (start, end) else Verdict.CONVENTION
    if begin + _HALF_DAY == start or begin - _HALF_DAY == start:
        shift = start - begin
        return (
            min(Verdict.CONVENTION, _same_end(until + shift, end))
            if start.hour % 12
            else Verdict.WRONG
        )
    return min(_same_instant(begin, start), _same_end(until, end))


def duckling(spans: Sequence[TimeSpan], row: Row) -> Verdict:
    """Score one row of Duckling's corpus."""
    gold = row["items"][0]
    start = _instant(gold["start"])
    if gold["type"] == "interval":
        end = _instant(gold["end"])
        if start == _instant(row["ref"]):
            return _best(max(_interval(span, start, end), _bounded(span, end)) for span in spans)
        return _best(max(_interval(span, start, end), _weekend(span, start, end)) for span in spans)
    if gold["type"] == "open_before":
        return _best(
            max(_same_instant(_wall(span.begin), start), _same_end(_wall(span.until), start))
            for span in spans
        )
    return _best(_rounded(span, start, str(gold["grain"])) for span in spans)


def _bounded(span: TimeSpan, end: datetime) -> Verdict:
    """Compare "by 5": the set gives the time from now on, we the bound itself."""
    if span.bound is None:
        return Verdict.WRONG
    return min(
        Verdict.CONVENTION,
        max(_same_instant(_wall(span.begin), end), _same_end(_wall(span.until), end)),
    )


def _weekend(span: TimeSpan, start: datetime, end: datetime) -> Verdict:
    """Compare a weekend, which begins on Friday at six for the set and at midnight for us."""
    is_same = _wall(span.begin) - start == timedelta(hours=6) and _wall(span.until) == end
    return Verdict.CONVENTION if is_same else Verdict.WRONG


def _rounded(span: TimeSpan, start: datetime, grain: str) -> Verdict:
    begin = _wall(span.begin)
    exact = _same_instant(begin, start)
    if exact is not Verdict.WRONG:
        return exact
    if span.kind is SpanKind.DATE and grain == "Hour" and begin.date() == start.date():
        return Verdict.CONVENTION
    if grain == "Month" and (begin.year, begin.month) == (start.year, start.month):
        return Verdict.CONVENTION
    return Verdict.WRONG


def ctparse(spans: Sequence[TimeSpan], row: Row) -> Verdict:
    """Score one row of ctparse's travel mails."""
    gold = row["items"][0]
    return _best(_ctparse_item(span, gold) for span in spans)


def _ctparse_item(span: TimeSpan, gold: Row) -> Verdict:
    verdict = _point(_wall(span.begin), gold["start"], span)
    if gold["type"] != "interval" or gold["end"] is None:
        return verdict
    end = gold["end"]
    until = _wall(span.until)
    if end["time"] is None:
        until -= timedelta(days=1)
    return min(verdict, _point(until, end, span))


def _point(mine: datetime, gold: Row, span: TimeSpan) -> Verdict:
    if gold["date"] is not None and mine.date().isoformat() != gold["date"]:
        return Verdict.WRONG
    if gold["time"] is not None:
        said = datetime.combine(mine.date(), datetime.strptime(gold["time"], "%H:%M").time())  # noqa: DTZ007  # a bare time of day
        return _same_instant(mine, said)
    if gold["tod"] is not None:
        tod = str(gold["tod"]).removeprefix("early").removeprefix("late").removeprefix("very")
        is_same = span.part_of_day == tod or {span.part_of_day, tod} == {"night", "evening"}
        return Verdict.EXACT if is_same else Verdict.WRONG
    return Verdict.EXACT


def chrono(spans: Sequence[TimeSpan], row: Row) -> Verdict:
    """Score one row of chrono's tests; the hour that it implies for a day is not compared."""
    return _best(_chrono_item(span, row["items"][0]) for span in spans)


def _chrono_item(span: TimeSpan, gold: Row) -> Verdict:
    start = _instant(gold["start_dt"])
    begin = _wall(span.begin)
    if span.kind is SpanKind.DURATION:
        verdict = _same_instant(_wall(span.until), start)
    elif span.kind is SpanKind.DATE or (span.kind is SpanKind.RANGE and not span.has_time):
        verdict = Verdict.EXACT if begin.date() == start.date() else Verdict.WRONG
    elif span.part_of_day is not None and begin.date() == start.date():
        verdict = Verdict.EXACT if begin == start else Verdict.CONVENTION
    else:
        verdict = (
            Verdict.EXACT
            if abs(begin - start) < timedelta(minutes=1)
            else _same_instant(begin, start)
        )
    if not gold["end_dt"]:
        return verdict
    end = _instant(gold["end_dt"])
    last = _wall(span.until) - (timedelta(days=1) if not span.has_time else timedelta())
    return (
        verdict
        if last.date() == end.date() and (not span.has_time or last == end)
        else Verdict.WRONG
    )


def timefhuman(spans: Sequence[TimeSpan], row: Row) -> Verdict:
    """Score one row of timefhuman's tests: every item of a list must be found."""
    items = [part for item in row["items"] for part in (item if isinstance(item, list) else [item])]
    return min(
        (_best(_timefhuman_item(span, item, row) for span in spans) for item in items),
        default=Verdict.WRONG,
    )


def _timefhuman_item(span: TimeSpan, gold: Row, row: Row) -> Verdict:
    if "range" in gold:
        return _timefhuman_range(span, gold["range"], row)
    value = gold["value"]
    begin, until = _wall(span.begin), _wall(span.until)
    if gold["type"] == "duration":
        length = (until - begin).total_seconds()
        moved = (begin - _instant(row["ref"])).total_seconds()
        return Verdict.EXACT if value in {length, moved} else Verdict.WRONG
    if gold["type"] == "date":
        return Verdict.EXACT if begin.date().isoformat() == value else Verdict.WRONG
    if gold["type"] == "time":
        said = datetime.combine(begin.date(), datetime.fromisoformat(f"2000-01-01T{value}").time())
        return _part_or(span, _same_instant(begin, said))
    start = _instant(value)
    if span.kind is SpanKind.DURATION:
        return _same_instant(until, start)
    return _part_or(
        span,
        _same_instant(begin, start) if span.has_time or not start.hour else _same_day(begin, start),
    )


def _same_day(mine: datetime, gold: datetime) -> Verdict:
    return Verdict.CONVENTION if mine.date() == gold.date() else Verdict.WRONG


def _part_or(span: TimeSpan, verdict: Verdict) -> Verdict:
    return max(verdict, Verdict.CONVENTION) if span.part_of_day is not None else verdict


def _timefhuman_range(span: TimeSpan, ends: Sequence[Row], row: Row) -> Verdict:
    first = _timefhuman_item(span, ends[0], row)
    last = str(ends[1]["value"])
    until = _wall(span.until)
    if ends[1]["type"] == "time":
        return min(first, Verdict.EXACT if until.time().isoformat() == last else Verdict.WRONG)
    if ends[1]["type"] == "duration":
        return Verdict.WRONG
    return min(first, _same_end(until, _instant(last)))


def recognizers(spans: Sequence[TimeSpan], row: Row) -> Verdict:
    """Score one row of the Recognizers' specification: every item must be found at its place."""
    verdicts = []
    for item in row["items"]:
        near = [
            span
            for span in spans
            if span.start_char <= item["end"] and item["start"] < span.end_char
        ]
        verdicts.append(_best(_recognized(span, item) for span in near))
    return min(verdicts, default=Verdict.WRONG)


_NAMED_PART = re.compile(r"T(MO|AF|EV|NI|DT|MI|BH)")


def _recognized(span: TimeSpan, item: Row) -> Verdict:
    kind = str(item["type"])
    if kind == "set":
        return _set(span, str(item["timex"]))
    if kind == "duration":
        return _duration(span, item)
    if kind not in {"date", "daterange", "time", "timerange", "datetime", "datetimerange"}:
        return Verdict.WRONG
    verdict = _best(_valued(span, value) for value in item["values"] or ())
    is_part = span.part_of_day is not None and _NAMED_PART.search(str(item["timex"])) is not None
    if verdict is Verdict.WRONG and is_part:
        days = {str(value.get("start", ""))[:10] for value in item["values"] or ()}
        if kind == "timerange" or _wall(span.begin).date().isoformat() in days:
            return Verdict.CONVENTION
    return verdict


def _valued(span: TimeSpan, value: Row) -> Verdict:
    begin, until = _wall(span.begin), _wall(span.until)
    if "value" in value:
        return _at(begin, str(value["value"]), str(value["type"]), span)
    start, end = value.get("start"), value.get("end")
    day = begin.date()
    if start is not None and end is not None:
        first, last = _moment(str(start), day), _moment(str(end), day)
        if last <= first and len(str(end)) <= 8:
            last += timedelta(days=1)
        return max(_interval(span, first, last), _bounded(span, last))
    if start is not None:
        first = _moment(str(start), day)
        late = _moment(str(start), until.date())
        return (
            Verdict.EXACT
            if begin == first
            else (Verdict.CONVENTION if until == late else Verdict.WRONG)
        )
    if end is not None:
        last = _moment(str(end), day)
        return (
            Verdict.EXACT
            if begin == last
            else (Verdict.CONVENTION if until == _moment(str(end), until.date()) else Verdict.WRONG)
        )
    return Verdict.WRONG


def _moment(text: str, day: date) -> datetime:
    if re.fullmatch(r"[0-9:]{5,8}", text):
        return datetime.combine(day, datetime.fromisoformat(f"2000-01-01T{text}").time())
    return _instant(text)


def _at(begin: datetime, value: str, kind: str, span: TimeSpan) -> Verdict:
    if value == "not resolved":
        return Verdict.WRONG
    if kind == "date":
        is_day = begin.date().isoformat() == value and span.kind in {
            SpanKind.DATE,
            SpanKind.DATETIME,
        }
        return Verdict.EXACT if is_day else Verdict.WRONG
    return _same_instant(begin, _moment(value, begin.date()))


def _duration(span: TimeSpan, item: Row) -> Verdict:
    values = item["values"] or ()
    length = (span.until - span.begin).total_seconds()
    if any(str(value.get("value")) == str(int(length)) for value in values):
        return Verdict.EXACT
    months = re.fullmatch(r"P(\d+)([MY])", str(item["timex"]))
    if months is None:
        return Verdict.WRONG
    count = int(months[1]) * (12 if months[2] == "Y" else 1)
    begin, until = span.begin, span.until
    moved = (until.year - begin.year) * 12 + until.month - begin.month
    return Verdict.EXACT if moved == count and until.day == begin.day else Verdict.WRONG


_FREQUENCIES = {"D": "DAILY", "W": "WEEKLY", "M": "MONTHLY", "Y": "YEARLY"}
_CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def _set(span: TimeSpan, timex: str) -> Verdict:
    rule = span.recurrence or ""
    weekday = re.match(r"XXXX-WXX-([1-7])", timex)
    if weekday is not None:
        return Verdict.EXACT if f"BYDAY={_CODES[int(weekday[1]) - 1]}" in rule else Verdict.WRONG
    if "WE" in timex:
        return Verdict.EXACT if "BYDAY=SA,SU" in rule else Verdict.WRONG
    every = re.fullmatch(r"P(?:T?)(\d+(?:\.\d+)?)([DWMYH])", timex)
    if every is not None:
        frequency = f"FREQ={_FREQUENCIES.get(every[2], 'HOURLY')}"
        interval = "" if every[1] == "1" else f";INTERVAL={every[1]}"
        return Verdict.EXACT if rule == frequency + interval else Verdict.WRONG
    if timex.startswith("T"):
        return Verdict.EXACT if rule == "FREQ=DAILY" else Verdict.WRONG
    return Verdict.WRONG


SCORERS: Mapping[str, Scorer] = {
    "recognizers_datetime_en": recognizers,
    "ctparse_timeparse_en": ctparse,
    "duckling_time_en": duckling,
    "timefhuman_tests": timefhuman,
    "chrono_en_tests": chrono,
}
