"""A message that sets right a time, day or child said before: what stands then. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta

from kinkeeper.observer.arrangement_rows import Arranged
from kinkeeper.observer.model import Extraction, Stance, Task
from kinkeeper.observer.wording.arrangement_times import figures, nearer
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.reading.corrections import exchanges_owners, is_bare_value, is_given_up, may_correct
from kinkeeper.reading.times.model import Grain, SpanKind, TimeSpan

_AT_ONCE = timedelta(minutes=3)
_TO_ALL = re.compile(
    r"^(?:\W*(?:no+|nope|nah|actually|make|it'?s|it is)\b)|\bnot\s+(?:at\s+)?\w|\bactually\W*$",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"\b(?:moved|changed|pushed|shifted|switched|bumped|preponed|postponed|rescheduled|swapped|put back|brought forward)\b",
    re.IGNORECASE,
)
_TODAY = re.compile(r"to(?:day|night)|now|this", re.IGNORECASE)
_WEEK = timedelta(days=7)
_OF_ITS_OWN = frozenset({Stance.CLAIMS, Stance.ASKS, Stance.ASSIGNS})
_MAY_MOVE = frozenset({None, Task.MOVE, Task.APPOINTMENT, Task.ATTEND})
_COUPLE = 2
_BARE_NO = frozenset({"no", "sorry"})


_Meant = tuple[Arranged, Extraction, bool]
"""A message that arranged something, which job of it, and whether the correction has a sign of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRight:
    """What stands once a correction is read together with what it sets right.

    Attributes:
        extraction: The earlier arrangement with the new values.
        job: The earlier arrangement as it stood.
        rows: Ids of the rows of the messages whose cards it takes the place of.
    """

    extraction: Extraction
    job: Extraction
    rows: tuple[int, ...]


def set_right(
    reading: Reading,
    extraction: Extraction,
    arranged: Sequence[Arranged],
    *,
    sender: str,
    answers: str | None = None,
) -> SetRight | None:
    """Read a message as the correction of an earlier one.

    Whoever names the old hour or day with the new one means the arrangement that has it. Otherwise the sender's own
    last arrangement is meant, with the answer it got, if any; what another announced is only set right by a "no" or
    "not", and an open question of theirs never is.

    Args:
        extraction: What it says on its own.
        arranged: What the chat has arranged lately, newest first.
        sender: Who wrote it.
        answers: The channel's id of the message it replies to, if any; only that one can be meant then.

    Returns:
        What stands then; None for no correction, or one that changes nothing.
    """
    if extraction.stance in _OF_ITS_OWN or _refuses(reading, extraction):
        return None
    likely = [each for each in arranged if answers in {None, each.message_id}]
    meant = _left(reading, extraction, likely) or _signed(reading, extraction, likely, sender)
    if meant is None:
        return None
    each, job, is_signed = meant
    right = _with_new_values(reading, extraction, job, sender, is_signed=is_signed)
    if right is None:
        return None
    asked = [other.row_id for other in arranged if other.message_id == each.answers]
    return SetRight(extraction=right, job=job, rows=(each.row_id, *asked))


def exchanged(reading: Reading, arranged: Sequence[Arranged], *, sender: str) -> list[SetRight]:
    """Return the two jobs of the last two people who have one, each as the other's, where a message says so; else none.

    Args:
        arranged: What the chat has arranged lately, newest first.
        sender: Who wrote it.
    """
    if not exchanges_owners(reading.text):
        return []
    held = [
        (each.row_id, job)
        for each in arranged
        for job in reversed(each.jobs)
        if job.is_coordination and len(job.owners) == 1
    ]
    pair = held[:_COUPLE]
    owners = [job.owners for _, job in pair]
    if len({*owners}) < _COUPLE or not any(sender in each for each in owners):
        return []
    return [
        SetRight(
            extraction=replace(
                job,
                assigned_to=other,
                attribution=None,
                is_announced_change=True,
                stance=Stance.CLAIMS if other == (sender,) else Stance.ASSIGNS,
            ),
            job=job,
            rows=(row,),
        )
        for (row, job), other in zip(pair, reversed(owners), strict=True)
    ]


def _signed(
    reading: Reading, extraction: Extraction, arranged: Sequence[Arranged], sender: str
) -> _Meant | None:
    """Return what is meant by a message that is a correction by its form."""
    is_moved = extraction.task is Task.MOVE and not (extraction.activity or extraction.child)
    if extraction.task and not is_moved:
        return None
    is_signed = is_moved or may_correct(reading.tokens, reading.mentions)
    if not is_signed and not is_bare_value(reading.tokens, reading.mentions):
        return None
    for each in arranged:
        job = _job_meant(each.jobs, extraction)
        if _may_be_meant(each, job, reading, sender=sender, is_signed=is_signed):
            is_it = extraction.activity in {None, job.activity}
            return (each, job, is_signed) if is_it else None
        if not is_signed:
            return None
    return None


def _left(reading: Reading, extraction: Extraction, arranged: Sequence[Arranged]) -> _Meant | None:
    """Return what is meant by a message that says which hour or day does not hold any more."""
    if extraction.task not in _MAY_MOVE or reading.of_kind("activity") or reading.is_question:
        return None
    found = ((each, _job_left(each.jobs, extraction, reading)) for each in arranged)
    return next(((each, job, True) for each, job in found if job is not None), None)


def _job_left(
    jobs: Sequence[Extraction], extraction: Extraction, reading: Reading
) -> Extraction | None:
    """Return the job that was to be at the hour, or on the day, which a message says not to hold any more."""
    days, clocks = _old_days(reading), _old_clocks(reading)
    if not (days or clocks):
        return None
    return next(
        (
            job
            for job in reversed(jobs)
            if job.is_coordination
            and job.stance not in {Stance.DECLINES, Stance.WITHDRAWS}
            and (not clocks or any(nearer(clock, at) == at for clock in clocks for at in job.times))
            and (not days or days & {*job.dates})
            and _may_be_the_same(extraction, job)
        ),
        None,
    )


def _may_be_the_same(extraction: Extraction, job: Extraction) -> bool:
    """Tell whether what two messages name does not differ, but for the words they have for it."""
    if extraction.child and job.child and not {*extraction.child} & {*job.child}:
        return False
    words = {*(extraction.activity or "").split()}
    return not words or job.activity is None or bool(words & {*job.activity.split()})


def _old_days(reading: Reading) -> set[date]:
    return {
        each.begin.date()
        for each in reading.spans
        if each.has_date and is_given_up(reading.text, each.start_char)
    }


def _old_clocks(reading: Reading) -> set[time]:
    named = {each.start_char: each.begin.time() for each in reading.spans if each.has_time}
    return {
        clock
        for at, clock in {**dict(figures(reading)), **named}.items()
        if is_given_up(reading.text, at)
    }


def _job_meant(jobs: Sequence[Extraction], extraction: Extraction) -> Extraction:
    """Of a list of jobs the one whose child or activity is named, else the last."""
    named = [
        job
        for job in jobs
        if set(job.child) & set(extraction.child)
        or (extraction.activity and job.activity == extraction.activity)
    ]
    return named[-1] if named else jobs[-1]


def _refuses(reading: Reading, extraction: Extraction) -> bool:
    """Whether it turns a job down, unlike the mere "no" of "no, 5"."""
    if extraction.stance is not Stance.DECLINES:
        return False
    return reading.reply is None or not _BARE_NO.issuperset(reading.reply.cue.split())


def _may_be_meant(
    each: Arranged, job: Extraction, reading: Reading, *, sender: str, is_signed: bool
) -> bool:
    if not job.is_coordination or job.stance in {Stance.DECLINES, Stance.WITHDRAWS}:
        return False
    if each.sender == sender:
        return is_signed or reading.sent_at - each.sent_at <= _AT_ONCE
    # An answer to the sender's own question stands for the question.
    if job.attribution is not None and job.owners:
        return is_signed
    is_news = _TO_ALL.search(reading.text) is not None or _MOVED.search(reading.text) is not None
    return is_signed and job.stance is Stance.STATES and is_news


def _with_new_values(
    reading: Reading, extraction: Extraction, job: Extraction, sender: str, *, is_signed: bool
) -> Extraction | None:
    days = _new_days(reading, job)
    clocks = _new_clocks(reading, job.times[0] if job.times else None)
    child = tuple(one for one in extraction.child if one != sender)
    times = clocks if clocks and clocks != job.times[: len(clocks)] else ()
    dates = days if days and set(days) != set(job.dates) else ()
    children = child if is_signed and child and not set(child) & set(job.child) else ()
    if not is_signed and not times:
        return None
    if not (times or dates or children):
        return None
    return replace(
        job,
        stance=_stance(job, sender),
        dates=dates or job.dates,
        is_day_implied=job.is_day_implied and not dates,
        times=times or job.times,
        time_ranges=() if times else job.time_ranges,
        child=children or job.child,
        is_announced_change=True,
        moved_from=job.moved_from if job.task is Task.MOVE else None,
        entities=extraction.entities,
        attribution=None,
    )


def _stance(job: Extraction, sender: str) -> Stance:
    if not job.owners:
        return job.stance
    return Stance.CLAIMS if job.owners == (sender,) else Stance.ASSIGNS


def _new_days(reading: Reading, job: Extraction) -> tuple[date, ...]:
    """The days that are named; a weekday that is today's means next week's where the job is still to come."""
    today = reading.sent_at.date()
    is_later = bool(job.dates) and min(job.dates) > today
    return tuple(
        span.begin.date() + _WEEK
        if is_later and span.begin.date() == today and not _TODAY.match(span.surface)
        else span.begin.date()
        for span in _kept(reading)
        if span.has_date and span.grain not in {Grain.WEEK, Grain.MONTH, Grain.YEAR}
    )


def _new_clocks(reading: Reading, near: time | None) -> tuple[time, ...]:
    """The times of day that are named, a bare figure among them, in the half of the day that is nearer."""
    found = [
        (span.start_char, span.begin.time(), span.is_meridiem_known)
        for span in _kept(reading)
        if span.has_time
    ]
    covered = [(span.start_char, span.end_char) for span in reading.spans]
    found += [
        (at, clock, False)
        for at, clock in figures(reading)
        if near is not None
        and not any(start <= at < end for start, end in covered)
        and not is_given_up(reading.text, at)
    ]
    return tuple(
        clock if is_known or near is None else nearer(clock, near)
        for _, clock, is_known in sorted(found)[:1]
    )


def _kept(reading: Reading) -> list[TimeSpan]:
    return [
        span
        for span in reading.spans
        if span.kind is not SpanKind.DURATION
        and span.grain is not Grain.SECOND
        and not is_given_up(reading.text, span.start_char)
    ]
