"""The rules extractor: one message to who does what, when, for whom, and how sure that is. Pure.

It knows the text and the household's words only; what the conversation and the event graph add comes later
(`attribution`, `completion`).
"""

from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import pairwise

from kinkeeper.household.model import Member
from kinkeeper.observer.model import (
    ActionRequired,
    CoordinationType,
    Entity,
    Extraction,
    Stance,
    Task,
    hhmm,
)
from kinkeeper.observer.wording.arrangement_times import (
    Moments,
    is_of_one_week,
    is_timed,
    read_moments,
    turning_point,
)
from kinkeeper.observer.wording.clauses import (
    child_asked,
    children_of,
    clause_around,
    has_cue,
    is_bidden,
    is_special,
    named_tasks,
    seeks_owner_of,
)
from kinkeeper.observer.wording.gist import Gist, Holding, gist_of, holding_of
from kinkeeper.observer.wording.message_parts import arranges_nothing, is_a_limit, is_mere_time
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.reading.modality import Force, force_of_news, is_denied
from kinkeeper.reading.replies import ReplyKind
from kinkeeper.reading.times.model import SpanKind, TimeSpan

# What the rules found in a message, and how much that is worth. Pure.

_CERTAIN = 0.95


def entities(reading: Reading) -> tuple[Entity, ...]:
    """Return the things, times and named handovers found in a message, in text order."""
    found = [
        Entity(type=m.kind, surface=m.surface, start=m.start, end=m.end, value=m.id)
        for m in reading.mentions
    ]
    found += [
        Entity(
            type=span.kind if span.has_date or span.kind is SpanKind.DURATION else "time",
            surface=span.surface,
            start=span.start_char,
            end=span.end_char,
            value=_span_value(span),
        )
        for span in reading.spans
    ]
    found += [
        Entity(type="task", surface=reading.text[start:end], start=start, end=end, value=task)
        for start, end, task in named_tasks(reading)
    ]
    return tuple(sorted(found, key=lambda entity: (entity.start, entity.end, entity.type)))


def _span_value(span: TimeSpan) -> str:
    if span.has_time and not span.has_date:
        return hhmm(span.begin.time())
    begin: datetime = span.begin
    return begin.isoformat() if span.has_time else begin.date().isoformat()


def confidence(
    *,
    has_task: bool,
    has_activity: bool,
    has_stub: bool,
    has_when: bool,
    has_day: bool,
    has_time: bool,
    has_person: bool,
    has_owner: bool,
    is_asked: bool,
    is_uncertain: bool,
    is_told: bool,
) -> float:
    """Return how sure the rules are: what is arranged, when and who add; doubt and past tense take away.

    Args:
        has_task: Whether it is said what is to be done.
        has_activity: Whether an activity is named.
        has_stub: Whether a child with a time, or somebody asked about one, stands for either.
        has_when: Whether a day or time is named.
        has_day: Whether a day is known.
        has_time: Whether a time of day is known.
        has_person: Whether anybody is named.
        has_owner: Whether somebody has it.
        is_asked: Whether somebody is asked.
        is_uncertain: Whether it is a mere possibility.
        is_told: Whether it only tells of what has been.

    Returns:
        A figure in [0, 0.95].
    """
    score = 0.15 + 0.30 * has_task + 0.30 * has_activity
    score += 0.25 * (has_stub and not (has_task or has_activity))
    score += 0.15 * has_when + 0.10 * (has_day and has_time)
    score += 0.15 * has_person + 0.15 * (has_owner or is_asked)
    score -= 0.10 * (not (has_when or has_person or has_owner or is_asked))
    score -= 0.15 * is_uncertain + 0.35 * is_told
    return round(min(max(score, 0.0), _CERTAIN), 2)


_TYPES = {
    Task.PICKUP: CoordinationType.TRANSPORT,
    Task.DROPOFF: CoordinationType.TRANSPORT,
    Task.COVER: CoordinationType.CARE_COVERAGE,
    Task.OTHER: CoordinationType.CARE_COVERAGE,
    Task.ATTEND: CoordinationType.ACTIVITY_CONFIRM,
    Task.APPOINTMENT: CoordinationType.ACTIVITY_CONFIRM,
    Task.CANCEL: CoordinationType.SCHEDULE_CHANGE,
    Task.MOVE: CoordinationType.SCHEDULE_CHANGE,
}
_CHANGES = frozenset({Task.CANCEL, Task.MOVE})
_NOT_NEEDED = frozenset({("not", "need"), ("no", "need")})


def extract(reading: Reading, *, sender: Member | None, participants: Participants) -> Extraction:
    """Extract what one message says on its own.

    Args:
        sender: Who sent it; None for somebody the household does not know.

    Returns:
        The extraction; `is_coordination` is False where the text alone arranges nothing (a bare
        "I'll do it" needs attribution to become coordination).
    """
    gist = gist_of(reading, sender, participants)
    reading, phrase, activity, task = gist.reading, gist.phrase, gist.activity, gist.task
    moments = read_moments(reading, task, turning_point(reading, phrase, activity))
    holding = holding_of(gist, sender, participants)
    stance = holding.stance
    children = children_of(reading, phrase, sender, participants)
    seeks_owner = child_asked(reading) is None and seeks_owner_of(
        reading, phrase, stance=stance, participants=participants
    )
    dates = moments.dates or _day_of_errand(gist)
    substance = _substance(
        gist,
        holding,
        is_dated=bool(dates or moments.times),
        is_of_child=bool(children),
        seeks_owner=seeks_owner,
    )
    is_told = arranges_nothing(reading, phrase, stance=stance, dates=dates, sender=sender)
    force = _force(reading) if task in _CHANGES else Force.ASSERTED
    is_wondered = force is Force.ASKED and stance is Stance.STATES
    is_unmeant = is_told or is_wondered or force is Force.SUPPOSED
    is_meant = not (is_unmeant or _tells_what_is_not(gist, stance))
    is_coordination = bool(task or activity or substance.has_stub) and is_meant
    return Extraction(
        is_coordination=is_coordination,
        coordination_type=_type(task, has_activity=activity is not None)
        if is_coordination
        else None,
        action_required=_action_required(task, stance) if is_coordination else None,
        task=task,
        stance=stance,
        assigned_to=holding.assigned,
        addressee=holding.addressee,
        dates=dates,
        times=moments.times,
        time_ranges=moments.ranges,
        is_day_implied=moments.is_day_implied or (bool(dates) and not moments.dates),
        moved_from=moments.moved_from,
        is_announced_change=_announces_change(reading, task, moments),
        child=children,
        activity=activity.id if activity else None,
        location=_location(reading),
        is_loose=activity is not None and not is_timed(reading, activity),
        is_special=is_special(reading, activity, sender, participants) and task not in _CHANGES,
        seeks_owner=seeks_owner,
        yields=_yields(reading),
        entities=entities(reading),
        confidence=confidence(
            has_task=phrase is not None,
            has_activity=activity is not None,
            has_stub=substance.has_stub,
            has_when=substance.has_when,
            has_day=bool(dates),
            has_time=bool(moments.times),
            has_person=bool(children or gist.adult) or has_cue(reading, "person"),
            has_owner=holding.has_owner,
            is_asked=stance is Stance.ASKS,
            is_uncertain=gist.is_uncertain,
            is_told=is_told,
        ),
    )


def _tells_what_is_not(gist: Gist, stance: Stance) -> bool:
    """Whether it only denies that something takes place, is off or needs doing, or that somebody is there."""
    reading, phrase = gist.reading, gist.phrase
    if phrase is not None and phrase.task is Task.CANCEL:
        return "not" in _clause_before(reading, phrase.start)[-2:]
    if is_a_limit(reading):
        return False
    if phrase is not None:
        words = [
            *_clause_before(reading, phrase.start),
            *reading.skeleton[phrase.start :].split()[:1],
        ]
        if not _NOT_NEEDED.isdisjoint(pairwise(words)):
            return True
    about = gist.activity or next(iter(reading.of_kind("child", "group")), None)
    if stance is not Stance.STATES or gist.task in _CHANGES or about is None:
        return False
    at = next((each.at for each in reading.symbols if each.start >= about.start), 0)
    start, end = clause_around(reading, at)
    return is_denied(reading.skeleton[start:end], at - start)


def _clause_before(reading: Reading, at: int) -> list[str]:
    """Return the words of a clause before a place in it."""
    start, _ = clause_around(reading, at)
    return reading.skeleton[start:at].split()


def _force(reading: Reading) -> Force:
    """Return with what force the change is told that a part of a message speaks of."""
    symbols = reading.symbols
    start, end = (symbols[0].start, symbols[-1].end) if symbols else (0, len(reading.text))
    return force_of_news(reading.text, start, end, reading.people)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Substance:
    """Whether there is anything to arrange where neither job nor activity is named."""

    has_when: bool
    has_stub: bool


def _substance(
    gist: Gist, holding: Holding, *, is_dated: bool, is_of_child: bool, seeks_owner: bool
) -> _Substance:
    reading = gist.reading
    has_when = is_dated or any(span.has_date for span in reading.spans)
    is_of_somebody = is_of_child and (
        is_dated or holding.has_owner or (seeks_owner and has_cue(reading, "needed"))
    )
    is_asked = holding.stance is Stance.ASKS and is_bidden(reading)
    has_stub = (is_of_somebody and not is_mere_time(reading) and not is_a_limit(reading)) or (
        has_when and (seeks_owner or is_asked)
    )
    return _Substance(has_when=has_when, has_stub=has_stub)


def _day_of_errand(gist: Gist) -> tuple[date, ...]:
    """What somebody is wanted for and no day is said of is for today ("can someone feed the cat")."""
    return (gist.reading.sent_at.date(),) if gist.task is Task.OTHER else ()


def arranges(extraction: Extraction) -> Extraction:
    """Return the extraction with its kind of arrangement judged anew, after fields were filled in."""
    if extraction.is_coordination or not (
        extraction.task
        or extraction.activity
        or (extraction.child and (extraction.dates or extraction.times))
    ):
        return extraction
    return replace(
        extraction,
        is_coordination=True,
        coordination_type=_type(extraction.task, has_activity=bool(extraction.activity)),
        action_required=_action_required(extraction.task, extraction.stance),
    )


def _type(task: Task | None, *, has_activity: bool) -> CoordinationType:
    if task in _TYPES:
        return _TYPES[task]
    return CoordinationType.ACTIVITY_CONFIRM if has_activity else CoordinationType.CARE_COVERAGE


def _announces_change(reading: Reading, task: Task | None, moments: Moments) -> bool:
    """Whether it says that something will be otherwise than usual: off, moved, or of this week alone."""
    is_once = bool(moments.times) and is_of_one_week(reading)
    return task in _CHANGES or has_cue(reading, "change") or is_once


def _action_required(task: Task | None, stance: Stance) -> ActionRequired:
    if stance in {Stance.STATES, Stance.DECLINES} and task in {Task.CANCEL, None}:
        return ActionRequired.NOTIFY
    return ActionRequired.CONFIRM


def _location(reading: Reading) -> str | None:
    places = reading.of_kind("place")
    return places[0].id if places else None


def _yields(reading: Reading) -> bool:
    reply = reading.reply
    return (reply is not None and reply.kind is ReplyKind.YIELD) or has_cue(reading, "yield")
