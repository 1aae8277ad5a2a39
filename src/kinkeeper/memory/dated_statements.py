"""Of which days and people a statement tells: "they need a teddy tomorrow". Pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from kinkeeper.core.time import Interval
from kinkeeper.household.model import Household
from kinkeeper.language.text import tokenise
from kinkeeper.memory.model import Observation
from kinkeeper.memory.statement_match import is_of_speaker
from kinkeeper.memory.statements.care import people_in
from kinkeeper.memory.statements.classification import classify_personal, told_plainly
from kinkeeper.reading.deeds import clauses_of
from kinkeeper.reading.hours import only_sets_time
from kinkeeper.reading.replies import is_question
from kinkeeper.reading.ruled_out import Ban, allows_again, rules_out
from kinkeeper.reading.times.model import SpanKind, TimeSpan, without_spans
from kinkeeper.reading.times.reader import read

_A_WEEK = timedelta(days=8)
"""How long "every day this week" and "from Friday" may hold; on a Sunday the week to come is meant."""

_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def tells_of_day_to_come(text: str, household: Household, *, now: datetime) -> bool:
    """Whether a message tells of a day that is not over yet; what it asks, it does not tell, and a time alone tells nothing."""
    at = now.astimezone(household.zone)
    spans = [*_spans(text, at, household)]
    if not any(each.has_date and each.until > at for each in spans):
        return False
    return not only_sets_time(without_spans(text, spans))


def day_told(text: str, household: Household, *, said_at: datetime) -> Sequence[Observation]:
    """Return what a message tells of a day to come as one observation, in its own words; none where it tells of none."""
    if not tells_of_day_to_come(text, household, now=said_at):
        return ()
    found = classify_personal(text)
    observed = Observation(
        text=text,
        start=0,
        end=len(text),
        category=found.category,
        type=found.type,
        title=found.title,
        narrative=told_plainly(text),
        confidence=1.0,
    )
    return (observed,)


def tells_of_days(text: str, said_at: datetime, days: Interval, household: Household) -> bool:
    """Whether a message tells of one of some days.

    Args:
        text: What was said, verbatim.
        days: Whole ones.
    """
    at = said_at.astimezone(household.zone)
    is_named = any(_is_among(each, at, days) for each in _spans(text, at, household))
    return is_named or rules_out_days(text, said_at, days, household)


def rules_out_days(text: str, said_at: datetime, days: Interval, household: Household) -> bool:
    """Whether a message says that somebody is not to do something on one of some days: "no ballet until the 12th".

    Args:
        text: What was said, verbatim.
        days: Whole ones.
    """
    at = said_at.astimezone(household.zone)
    return any(
        each.start < days.end and each.end > days.start for each in _ruled_out(text, at, household)
    )


def ban_on(
    ban: Ban, text: str, said_at: datetime, days: Interval, *, household: Household
) -> bool | None:
    """Return whether a ban that a message tells rules some days out; None where it says nothing of them.

    What has no last day holds until something else is told.

    Args:
        text: The message, verbatim.
        days: Whole ones.
    """
    at = said_at.astimezone(household.zone)
    if rules_out_days(text, said_at, days, household):
        return True
    spans = [
        each
        for each in _spans(text, at, household)
        if each.recurrence is None and (each.has_date or each.kind is SpanKind.DURATION)
    ]
    if ban.is_over:
        starts = [each.begin for each in spans if each.begin > at]
        return False if not starts or min(starts) < days.end else None
    if ban.is_open or not spans:
        return days.end > at
    return False if any(each.until <= days.start for each in spans) else None


def _ruled_out(text: str, at: datetime, household: Household) -> Iterator[Interval]:
    """Yield for how long a message, said at a time, rules something out."""
    is_out, is_back = rules_out(text), allows_again(text)
    for span in _spans(text, at, household):
        is_duration = span.kind is SpanKind.DURATION
        if span.recurrence is not None or not (span.has_date or is_duration):
            continue
        if is_back and not is_duration and span.bound != "until":
            if span.begin > at:
                yield Interval(at, span.begin)
        elif is_out:
            is_up_to = span.bound in {"until", "before"}
            last = span.begin if span.bound == "before" else span.until
            if last > at:
                yield Interval(at if is_up_to else span.begin, last)


def people_told_of(text: str, teller: str | None, household: Household) -> frozenset[str]:
    """Return the ids of members whom a statement is about; none where it is about the home, or things."""
    speaker = {teller} if teller and is_of_speaker(text) else set()
    return people_in(text, household) | speaker


def _spans(text: str, at: datetime, household: Household) -> Iterator[TimeSpan]:
    if text.rstrip().endswith("?"):  # "the fair is on Friday, isn't it?" tells nothing
        return
    for clause in clauses_of(text):
        if not is_question(tokenise(clause), clause, household.members_by_word):
            yield from read(clause, at, locale=household.locale)


def _is_among(span: TimeSpan, said_at: datetime, days: Interval) -> bool:
    begin, until = span.begin, span.until
    if span.recurrence is not None:
        _, named, weekdays = span.recurrence.partition("BYDAY=")
        if named:
            first, last = days.start, days.end - timedelta(seconds=1)
            count = min((last.date() - first.date()).days + 1, len(_DAYS))
            asked = {_DAYS[(first.weekday() + each) % len(_DAYS)] for each in range(count)}
            return any(each[-2:] in asked for each in weekdays.partition(";")[0].split(","))
        begin, until = said_at, said_at + _A_WEEK
    elif span.kind is SpanKind.DURATION or span.bound == "from":
        until = max(until, begin + _A_WEEK)
    elif not span.has_date:
        return False
    return begin < days.end and until > days.start
