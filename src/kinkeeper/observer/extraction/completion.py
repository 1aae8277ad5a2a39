"""What the messages before and the household's days add to an extraction. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from kinkeeper.calendar.model import EventKind
from kinkeeper.observer.extraction.rules_extractor import arranges
from kinkeeper.observer.model import Extraction, Stance, Task
from kinkeeper.observer.schedule import Schedule, Slot
from kinkeeper.observer.wording.free_topics import leads_with_a_thing
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants

_TELLING = 4
"""Fewest letters of a word that may stand for a longer name."""
_GENERAL = frozenset(
    {
        "school",
        "club",
        "class",
        "classes",
        "lesson",
        "lessons",
        "practice",
        "training",
        "team",
        "band",
        "group",
        "camp",
        "care",
        "after",
        "game",
    }
)
_NEXT_WEEK = re.compile(r"\bnext (?:week|wk)$", re.IGNORECASE)
_WEEK = timedelta(days=7)
_CHANGES = frozenset({Task.CANCEL, Task.MOVE})
_JOB_STANCES = frozenset({Stance.ASKS, Stance.CLAIMS, Stance.ASSIGNS, Stance.ACCEPTS})


def complete(
    extraction: Extraction,
    schedule: Schedule,
    *,
    sent_at: datetime,
    participants: Participants,
    words: frozenset[str] = frozenset(),
) -> Extraction:
    """Fill in what only one reading of the household's days leaves open.

    Args:
        extraction: After attribution.
        schedule: The days it names (or the coming week), and the series of its activity.
        sent_at: When the message was sent, in the household's zone.
        words: What the message says besides people, places and activities, folded.

    Returns:
        The extraction with activity, child and day filled in where they are certain; never changed.
    """
    said, today = extraction.activity, sent_at.date()
    extraction = _name_by_word(extraction, schedule, participants, words)
    extraction = _name_by_place(extraction, schedule, today)
    extraction = _name_activity(extraction, schedule, participants)
    extraction = _name_child(extraction, schedule, participants)
    if extraction.task not in _CHANGES and extraction.activity == said:
        extraction = _imply_day(extraction, schedule, today)
    extraction = _on_its_own_day(extraction, schedule, sent_at)
    return _name_day(extraction, schedule, today) if extraction.task in _CHANGES else extraction


def _name_by_word(
    extraction: Extraction, schedule: Schedule, participants: Participants, words: frozenset[str]
) -> Extraction:
    """Let one word of its name stand for an activity that the child has on that day ("the dancing")."""
    is_named = any(each.id == extraction.activity for each in participants.household.activities)
    if is_named or not extraction.child or not extraction.dates or extraction.is_special:
        return extraction
    telling = {word for word in words if len(word) >= _TELLING and word not in _GENERAL}
    found = {
        slot.activity
        for slot in schedule.slots
        if slot.kind is EventKind.BOOKING
        and slot.activity
        and slot.event_id
        and slot.day in extraction.dates
        and set(extraction.child) & set(slot.who)
        and telling & set(_words_of(slot, participants))
    }
    if len(found) != 1:
        return extraction
    task = None if extraction.task is Task.APPOINTMENT else extraction.task
    return replace(extraction, activity=found.pop(), task=task, is_loose=True)


def _name_by_place(extraction: Extraction, schedule: Schedule, today: date) -> Extraction:
    """Who is brought to a place, or fetched there, where one thing of theirs is on that day goes to that ("to the club")."""
    if extraction.activity or not (extraction.location and extraction.child):
        return extraction
    found = {
        (slot.activity, slot.day)
        for slot in schedule.slots
        if slot.kind is EventKind.BOOKING
        and slot.activity
        and slot.place == extraction.location
        and slot.day in (extraction.dates or (today,))
        and set(extraction.child) & set(slot.who)
    }
    if len(found) != 1:
        return extraction
    activity, day = found.pop()
    # Which activity it is was concluded, not said: nothing is to be held against its times.
    return replace(
        extraction,
        activity=activity,
        is_loose=True,
        dates=extraction.dates or (day,),
        is_day_implied=extraction.is_day_implied or not extraction.dates,
    )


def _words_of(slot: Slot, participants: Participants) -> list[str]:
    activity = next(
        (each for each in participants.household.activities if each.id == slot.activity), None
    )
    name = activity.name if activity else slot.label
    return name.casefold().split()


def _name_activity(
    extraction: Extraction, schedule: Schedule, participants: Participants
) -> Extraction:
    """Let "practice" stand for the one activity that it can mean on that day."""
    if not participants.is_session(extraction.activity) or extraction.is_special:
        return extraction
    days = _days(extraction, schedule)
    candidates = {
        slot.activity
        for slot in schedule.slots
        if slot.kind is EventKind.BOOKING
        and slot.activity
        and slot.event_id
        and slot.day in days
        and (not extraction.child or set(extraction.child) & set(slot.who))
    }
    worded = {
        slot.activity
        for slot in schedule.slots
        if slot.activity in candidates and (extraction.activity or "") in slot.label.casefold()
    }
    chosen = worded if len(worded) == 1 else candidates
    # Which activity it is was concluded, not said: nothing is to be held against its times.
    if len(chosen) != 1:
        return extraction
    named = replace(extraction, activity=chosen.pop(), is_loose=True)
    if extraction.task in _CHANGES and not extraction.dates:
        # "Training is cancelled" is said of the next one.
        return replace(named, dates=tuple(days), is_day_implied=True)
    return named


def _name_child(
    extraction: Extraction, schedule: Schedule, participants: Participants
) -> Extraction:
    """An activity that only one set of children has names those children."""
    children = {child.id for child in participants.household.children}
    is_whole = set(extraction.child) == children and not any(
        entity.type == "child" for entity in extraction.entities
    )
    if extraction.activity is None or (extraction.child and not is_whole):
        return extraction
    of_activity = [
        slot for slot in (*schedule.slots, *schedule.series) if slot.activity == extraction.activity
    ]
    sets = {tuple(person for person in slot.who if person in children) for slot in of_activity}
    sets.discard(())
    return replace(extraction, child=sets.pop()) if len(sets) == 1 else extraction


def _name_day(extraction: Extraction, schedule: Schedule, today: date) -> Extraction:
    """A change without a day concerns the next occurrence; one that names only where to concerns it too."""
    coming = [slot for slot in _of(extraction, schedule.series) if slot.day >= today]
    if not coming:
        return extraction
    if not extraction.named_dates:
        day = (extraction.moved_from or coming[0].day,)
        return replace(extraction, dates=day, is_day_implied=False)
    if extraction.task is Task.MOVE and extraction.moved_from is None:
        standing = [slot for slot in coming if slot.day in extraction.dates]
        source = standing[0] if standing else _nearest(coming, extraction.dates[0])
        return replace(extraction, moved_from=source.day)
    return extraction


def _on_its_own_day(extraction: Extraction, schedule: Schedule, sent_at: datetime) -> Extraction:
    """An hour without a day is one of the activity's next day ("she's got choir at 6"), if that is within a week.

    Another hour than the activity's own is too, but where today's is still to come and the hour is not, nobody
    said which day is meant.
    """
    today, zone = sent_at.date(), sent_at.tzinfo
    if not (extraction.is_day_implied and extraction.times) or extraction.is_special:
        return extraction
    week = _week_of(extraction)
    slots = [
        slot
        for slot in _of(extraction, schedule.series)
        if slot.day >= today
        and (slot.interval is None or slot.interval.end > sent_at)
        and (week is None or week <= slot.day < week + _WEEK)
    ]
    if week is not None and len(slots) != 1:
        # Which of its days, or whether it has any then, nobody said.
        return replace(extraction, dates=(), is_day_implied=False)
    if not slots or any(slot.day in extraction.dates for slot in slots):
        return extraction
    start = slots[0].interval.start.astimezone(zone) if slots[0].interval else None
    is_its_hour = start is not None and (
        extraction.is_announced_change or start.time() == extraction.times[0]
    )
    if is_its_hour:
        return replace(
            extraction, dates=(slots[0].day,), is_day_implied=not extraction.is_announced_change
        )
    if extraction.task is Task.OTHER or slots[0].day > today + _WEEK:
        return extraction
    if slots[0].day == today:
        return replace(extraction, dates=(), is_day_implied=False)
    return replace(extraction, dates=(slots[0].day,))


def _week_of(extraction: Extraction) -> date | None:
    """Return the first day of the week that is named and is not this one ("at 6 next week")."""
    named = (
        each
        for each in extraction.entities
        if each.type == "date" and _NEXT_WEEK.search(each.surface)
    )
    found = next(named, None)
    return None if found is None else date.fromisoformat(found.value)


def _imply_day(extraction: Extraction, schedule: Schedule, today: date) -> Extraction:
    """A job of an activity without a day ("who can do judo?") is that of the activity's next one."""
    is_named = extraction.activity is not None or extraction.task is not None
    if not is_named or extraction.dates or extraction.stance not in _JOB_STANCES:
        return extraction
    standing = [
        slot
        for slot in schedule.slots
        if slot.activity == extraction.activity
        and (extraction.activity is not None or slot.task == extraction.task)
    ]
    days = [slot.day for slot in _of(extraction, standing or schedule.series) if slot.day >= today]
    return replace(extraction, dates=(min(days),), is_day_implied=True) if days else extraction


def _nearest(slots: Sequence[Slot], day: date) -> Slot:
    return min(slots, key=lambda slot: (abs((slot.day - day).days), slot.day))


def _of(extraction: Extraction, slots: Sequence[Slot]) -> list[Slot]:
    return [
        slot
        for slot in slots
        if not extraction.child or not slot.who or set(extraction.child) & set(slot.who)
    ]


def _days(extraction: Extraction, schedule: Schedule) -> Sequence[date]:
    return extraction.dates or sorted({slot.day for slot in schedule.slots})[:1]


# What the messages just before add: whom "him" means, and what a bare "weds 4:15" is about. Pure.

_ONE = re.compile(r"(?<!\w)(?:he|she|him|her|his|hers)(?!\w)")
_SEVERAL = re.compile(r"(?<!\w)(?:them|their|theirs)(?!\w)")
_ASKS_WHEN = re.compile(
    r"\b(?:when|what time|which day|what day)\b(?:[^?]*\?|(?:'s| is| are| was| would| does| do| did| will| can) )",
    re.IGNORECASE,
)
_ALL_RIGHT = re.compile(
    r"(?:(?:oh|ah|no|hey|actually|nah|hang on) ,? ?)*"
    r"(?:(?:it|that|you) (?:is|are) (?:ok|okay|fine|alright|all right|grand|good|cool)|no need|do not (?:worry|bother)|never ?mind|leave it)(?!\w)"
)
_FETCHES_THEM = re.compile(r"(?:pick|collect|get|fetch|grab|drop|take|bring) them(?!\w)")
_SCHOOL = re.compile(
    r"(?<!\w)(?:school|nursery|daycare|kindergarten|kinder|creche|preschool)(?!\w)"
)
_SURE_ENOUGH = 0.65
_WAYS = frozenset({Task.PICKUP, Task.DROPOFF})


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A message of the context window.

    Attributes:
        extraction: What it arranges on its own.
        is_same_sender: Whether whoever wrote the present message wrote it.
    """

    reading: Reading
    extraction: Extraction
    is_same_sender: bool


def needs_context(reading: Reading, extraction: Extraction) -> bool:
    """Whether earlier messages could say more: an open pronoun, or a time with nothing to hang on."""
    return _is_open_plea(extraction) or (
        not extraction.child
        and (
            _is_fragment(extraction)
            or _may_be_other_half(extraction)
            or bool(_ONE.search(reading.skeleton) or _SEVERAL.search(reading.skeleton))
        )
    )


def _is_open_plea(extraction: Extraction) -> bool:
    """Whether somebody is asked to see to a child and nothing says when or for what."""
    is_job = extraction.stance is Stance.ASKS and extraction.task in _WAYS
    return is_job and bool(extraction.child) and not (extraction.dates or extraction.activity)


def continued(
    reading: Reading,
    extraction: Extraction,
    earlier: Sequence[Earlier],
    *,
    last_child: str | None,
    participants: Participants,
) -> Extraction:
    """Fill in what earlier messages say.

    Args:
        earlier: The context window, newest first.
        last_child: Child the chat was last about, if it was one.

    Returns:
        The extraction with child (and, for a fragment, activity and task) filled in.
    """
    if _is_open_plea(extraction) and earlier and earlier[0].extraction.child == extraction.child:
        # "Can someone pick me up", right after the sender's lesson was told of.
        return arranges(_of_what_was_told(extraction, earlier[0].extraction))
    filled = _as_other_half(extraction, earlier)
    filled = _resolve_pronoun(reading, filled, earlier, participants)
    if not filled.child and last_child and _ONE.search(reading.skeleton):
        filled = replace(filled, child=(last_child,))
        if earlier:
            filled = _of_what_was_told(filled, earlier[0].extraction)
    if filled.stance is Stance.CLAIMS and earlier and _waves_off(earlier[0]):
        filled = replace(filled, yields=True)
    is_told = filled.stance is Stance.STATES and not leads_with_a_thing(reading)
    if is_told and _is_fragment(filled):
        filled = _continue_fragment(filled, earlier)
    return arranges(filled)


def _resolve_pronoun(
    reading: Reading, extraction: Extraction, earlier: Sequence[Earlier], participants: Participants
) -> Extraction:
    if extraction.child:
        return extraction
    wants_one = _ONE.search(reading.skeleton) is not None and not _FETCHES_THEM.search(
        reading.skeleton
    )
    wants_several = _SEVERAL.search(reading.skeleton) is not None
    if not (wants_one or wants_several):
        return extraction
    for message in earlier:
        told = message.extraction
        # A child that only says something is not whom the next one fetches.
        meant = told.child if told.is_coordination else ()
        children = participants.children_of(message.reading.mentions) or meant
        if (wants_one and len(children) == 1) or (wants_several and len(children) > 1):
            return _of_what_was_told(replace(extraction, child=children), told)
    if wants_several and not wants_one and _is_school_run(reading, extraction):
        return replace(extraction, child=tuple(c.id for c in participants.household.children))
    return extraction


def _is_school_run(reading: Reading, extraction: Extraction) -> bool:
    """Whether "them", of whom nobody spoke, can only be all the children: brought to school, fetched from there."""
    return (
        extraction.task in _WAYS
        and _SCHOOL.search(reading.skeleton + reading.text.casefold()) is not None
    )


def _may_be_other_half(extraction: Extraction) -> bool:
    is_bare = not (extraction.child or extraction.activity or extraction.dates)
    return (
        is_bare and extraction.task in _WAYS and extraction.stance in {Stance.CLAIMS, Stance.ASKS}
    )


def _as_other_half(extraction: Extraction, earlier: Sequence[Earlier]) -> Extraction:
    """The way back of what was just taken there: "I'll do cubs drop-off", then "and I'll do the pick-up"."""
    if not _may_be_other_half(extraction) or not earlier:
        return extraction
    there = earlier[0].extraction
    if there.task not in _WAYS or there.task == extraction.task or not there.owners:
        return extraction
    return replace(
        extraction,
        child=there.child,
        activity=there.activity,
        dates=there.dates,
        location=extraction.location or there.location,
        confidence=max(extraction.confidence, _SURE_ENOUGH),
    )


def _waves_off(message: Earlier) -> bool:
    """Whether the sender has just said that the other need not: "it's ok, I'm off Friday", then "so I'll take her"."""
    return message.is_same_sender and _ALL_RIGHT.match(message.reading.skeleton) is not None


def _of_what_was_told(extraction: Extraction, told: Extraction) -> Extraction:
    """Who asks "who's getting him?" right after his lesson was told of, asks about that lesson."""
    is_open = not (extraction.dates or extraction.activity)
    is_meant = extraction.stance is Stance.ASKS or (
        extraction.stance is Stance.CLAIMS and told.stance is Stance.STATES
    )
    if not (is_open and is_meant) or not told.is_coordination or told.stance is Stance.DECLINES:
        return extraction
    is_at_end = extraction.task is Task.PICKUP
    return replace(
        extraction,
        dates=told.dates,
        is_day_implied=told.is_day_implied,
        activity=told.activity,
        times=extraction.times or (() if is_at_end else told.times),
    )


def _is_fragment(extraction: Extraction) -> bool:
    return (
        extraction.task is None
        and extraction.activity is None
        and bool(extraction.dates or extraction.times)
    )


def _continue_fragment(extraction: Extraction, earlier: Sequence[Earlier]) -> Extraction:
    """A time sent after what it is for: the sender's own last message without one, or somebody's "when?"."""
    for message in earlier:
        other = message.extraction
        is_asked = _ASKS_WHEN.search(message.reading.text) is not None
        if not (message.is_same_sender or is_asked) or not (other.activity or other.task):
            continue
        if other.times and not is_asked:
            continue
        if other.dates and extraction.dates and not set(other.dates) & set(extraction.dates):
            continue
        if not extraction.times and set(extraction.dates) <= set(other.dates):
            return extraction
        return replace(
            extraction,
            task=other.task,
            activity=other.activity,
            child=extraction.child or other.child,
            dates=extraction.dates or other.dates,
            location=extraction.location or other.location,
            confidence=max(extraction.confidence, _SURE_ENOUGH),
        )
    return extraction
