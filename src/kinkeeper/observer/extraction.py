"""The rules extractor: one message to who does what, when, for whom. Pure and deterministic.

It knows the text and the household's words only; what the conversation and the event graph add comes later
(`attribution`, `completion`).
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from kinkeeper.household.model import Member, Role
from kinkeeper.language.lexicon import Mention
from kinkeeper.language.replies import ReplyKind
from kinkeeper.observer.clauses import (
    TaskPhrase,
    clause_around,
    cue,
    has_cue,
    stance_of,
    task_phrases,
)
from kinkeeper.observer.findings import confidence, entities
from kinkeeper.observer.handing import handed_to
from kinkeeper.observer.idle import arranges_nothing, is_a_limit, is_mere_time
from kinkeeper.observer.model import (
    UNSPECIFIED,
    ActionRequired,
    CoordinationType,
    Extraction,
    Stance,
    Task,
)
from kinkeeper.observer.moments import (
    is_of_one_week,
    is_timed,
    read_moments,
    replaces_time,
    turning_point,
)
from kinkeeper.observer.own_hours import day_alone
from kinkeeper.observer.participants import Participants
from kinkeeper.observer.reading import Reading
from kinkeeper.observer.subjects import activity_of, asked_child, children_of, is_special
from kinkeeper.observer.wanted import ERRANDS, is_bidden, seeks_owner_of

_OTHERS = re.compile(
    r"<adult> (?:are|is|can|could|would|will) you (?:(?:around|about|free|available)(?!\w)|(?:do|take|get|cover)(?: (?:it|him|her|them|that))?(?= ?[?.!]| ?$))"
    r"|[.!?,] (?:any ?body|any takers|anybody else|somebody)(?: (?:else|able|free|around))? ?(?:\?|$)"
)
_ASKS_ANYBODY = re.compile(r"(?<!\w)(?:who|any ?body|somebody|one of (?:us|you))(?!\w)")
_TYPES = {
    Task.PICKUP: CoordinationType.TRANSPORT,
    Task.DROPOFF: CoordinationType.TRANSPORT,
    Task.COVER: CoordinationType.CARE_COVERAGE,
    Task.ATTEND: CoordinationType.ACTIVITY_CONFIRM,
    Task.APPOINTMENT: CoordinationType.ACTIVITY_CONFIRM,
    Task.CANCEL: CoordinationType.SCHEDULE_CHANGE,
    Task.MOVE: CoordinationType.SCHEDULE_CHANGE,
}
_REPLY_STANCES = {
    ReplyKind.CLAIM: Stance.CLAIMS,
    ReplyKind.YIELD: Stance.CLAIMS,
    ReplyKind.ACCEPT: Stance.ACCEPTS,
    ReplyKind.DECLINE: Stance.DECLINES,
    ReplyKind.WITHDRAW: Stance.WITHDRAWS,
}
_MEANWHILE = re.compile(
    r"(?<!\w)(?:while|whilst|when|as) (?:i|we|<adult>) (?:am|are|is|will be|have|has|do|does|take|takes)(?!\w)"
)
_ACTIVE = frozenset({Stance.CLAIMS, Stance.ASKS, Stance.ASSIGNS})


def extract(reading: Reading, *, sender: Member | None, participants: Participants) -> Extraction:
    """Extract what one message says on its own.

    Args:
        reading: The message, read.
        sender: Who sent it; None for somebody the household does not know.
        participants: The household compiled.

    Returns:
        The extraction; `is_coordination` is False where the text alone arranges nothing (a bare
        "I'll do it" needs attribution to become coordination).
    """
    reading = _without_whereabouts(_declining_clause(reading))
    phrases = task_phrases(reading)
    phrase = _primary(phrases)
    stance, is_uncertain = _stance(reading, phrase)
    activity = activity_of(reading, phrase)
    task = phrase.task if phrase else _implied_task(activity, stance, participants)
    if _tells_another_time(reading, activity, stance, task):
        task = Task.MOVE
    moments = read_moments(reading, task, turning_point(reading, phrase, activity))
    children = children_of(reading, phrase, sender, participants)
    adult = phrase.adult if phrase else _adult(reading, is_asked=stance is Stance.ASKS)
    assigned, addressee = _assignment(
        stance, phrase=phrase, adult=adult, sender=sender, is_uncertain=is_uncertain
    )
    if stance is Stance.ASKS and addressee is None and phrase is not None:
        addressee = reading.called if sender is None or reading.called != sender.id else None
    put_to = _put_to(reading, sender)
    if put_to is not None:
        stance, assigned, addressee = Stance.ASKS, (UNSPECIFIED,), put_to
    handed = handed_to(reading, phrase, stance, sender=sender, participants=participants)
    if handed is not None:
        stance, assigned, addressee = Stance.ASSIGNS, (handed,), None
    dates, times = moments.dates, moments.times
    has_owner = assigned != (UNSPECIFIED,)
    seeks_owner = asked_child(reading) is None and seeks_owner_of(
        reading, phrase, stance=stance, participants=participants
    )
    has_when = bool(dates or times) or any(span.has_date for span in reading.spans)
    is_of_child = bool(children and (dates or times or has_owner))
    has_stub = (is_of_child and not is_mere_time(reading) and not is_a_limit(reading)) or (
        has_when and (seeks_owner or (stance is Stance.ASKS and is_bidden(reading)))
    )
    has_substance = bool(task or activity or has_stub)
    is_told = arranges_nothing(reading, phrase, stance=stance, dates=dates, sender=sender)
    is_coordination = has_substance and not is_told
    return Extraction(
        is_coordination=is_coordination,
        coordination_type=_type(task, activity) if is_coordination else None,
        task=task,
        stance=stance,
        dates=dates,
        times=times,
        time_ranges=moments.ranges,
        is_day_implied=moments.is_day_implied,
        assigned_to=assigned,
        addressee=addressee,
        child=children,
        activity=activity.id if activity else None,
        location=_location(reading),
        moved_from=moments.moved_from,
        is_announced_change=task in {Task.CANCEL, Task.MOVE}
        or has_cue(reading, "change")
        or (bool(times) and is_of_one_week(reading)),
        is_loose=activity is not None and not is_timed(reading, activity),
        is_special=is_special(reading, activity, sender, participants)
        and task not in {Task.CANCEL, Task.MOVE},
        seeks_owner=seeks_owner,
        yields=_yields(reading),
        action_required=_action_required(task, stance) if is_coordination else None,
        entities=entities(reading),
        confidence=confidence(
            has_task=phrase is not None, has_activity=activity is not None,
            has_stub=has_stub,
            has_when=has_when, has_day=bool(dates), has_time=bool(times),
            has_person=bool(children or adult) or has_cue(reading, "person"), has_owner=has_owner,
            is_asked=stance is Stance.ASKS, is_uncertain=is_uncertain, is_told=is_told,
        ),
    )  # fmt: skip


def _declining_clause(reading: Reading) -> Reading:
    """Of a refusal, only the refusing clause counts; the rest is its reason ("can't, book club")."""
    if reading.reply is None or reading.reply.kind is not ReplyKind.DECLINE:
        return reading
    if _turns_to_another(reading) or has_cue(reading, "needed"):
        return reading
    if any(phrase.stance in _ACTIVE for phrase in task_phrases(reading)):
        return reading
    match = cue(reading, "decline")
    if match is None:
        return reading
    start, end = clause_around(reading, match.end() - 1)
    if reading.within(0, start).of_kind("child", "group", "activity"):
        start = 0
    comma = reading.skeleton.find(" ,", match.end())
    part = reading.within(start, min(end, comma) if comma >= 0 else end)
    # The day of the reason is the day of the job ("the vet is coming on Friday, I can't").
    days = tuple(day_alone(span) for span in reading.spans if span.has_date)
    return part if part.spans or len(days) != 1 else replace(part, spans=days)


def _without_whereabouts(reading: Reading) -> Reading:
    """What grown-ups are at meanwhile is not what is arranged ("who has the girls while I'm at hockey with Theo")."""
    match = _MEANWHILE.search(reading.skeleton)
    if match is None:
        return reading
    part = reading.within(0, match.start())
    rest = reading.within(match.start(), len(reading.skeleton))
    if not part.of_kind("child", "group") or not rest.of_kind("activity", "generic"):
        return reading
    # The day of what they are at is the day of the job.
    days = tuple(day_alone(span) for span in rest.spans if span.has_date)
    return part if part.spans or len(days) != 1 else replace(part, spans=days)


def arranges(extraction: Extraction) -> Extraction:
    """Return the extraction with its kind of arrangement judged anew, after fields were filled in."""
    if extraction.is_coordination or not (
        extraction.task
        or extraction.activity
        or (extraction.child and (extraction.dates or extraction.times))
    ):
        return extraction
    kind = _TYPES.get(extraction.task) if extraction.task else None
    if kind is None:
        kind = (
            CoordinationType.ACTIVITY_CONFIRM
            if extraction.activity
            else CoordinationType.CARE_COVERAGE
        )
    return replace(
        extraction, is_coordination=True, coordination_type=kind,
        action_required=_action_required(extraction.task, extraction.stance),
    )  # fmt: skip


def _primary(phrases: Sequence[TaskPhrase]) -> TaskPhrase | None:
    """The phrase the message turns on: a change of plan first, then what the sender does, then the first."""
    changes = [phrase for phrase in phrases if phrase.task in {Task.CANCEL, Task.MOVE}]
    taken = [p for p in phrases if p.is_sender and p.is_of_activity and p.stance is Stance.CLAIMS]
    if changes and taken and taken[0].start > changes[0].end:
        # "My flight's been moved so I can do judo": what the sender takes on is not what moved.
        return taken[0]
    if changes and (
        len(changes) == len(phrases) or any(phrase.is_of_activity for phrase in changes)
    ):
        return changes[0]
    phrases = [phrase for phrase in phrases if phrase not in changes] or phrases
    # "I'll do the swimming pickup": who fetches does not go along.
    if any(phrase.task in ERRANDS for phrase in phrases):
        phrases = [phrase for phrase in phrases if phrase.task is not Task.ATTEND]
    for phrase in phrases:
        if phrase.is_sender:
            return phrase
    named = [phrase for phrase in phrases if phrase.task is not Task.APPOINTMENT]
    return next(iter(named or phrases), None)


def _stance(reading: Reading, phrase: TaskPhrase | None) -> tuple[Stance, bool]:
    reply = reading.reply
    # "Can't move the scan" refuses nothing that anybody asked for.
    is_answer = reply is not None and not has_cue(reading, "fixed")
    answer = _REPLY_STANCES.get(reply.kind) if reply and is_answer else None
    stance, is_uncertain = stance_of(reading)
    is_refusal = Stance.DECLINES in {answer, stance}
    if is_refusal and _turns_to_another(reading):
        return Stance.ASKS, False
    if is_refusal and phrase is not None and phrase.task in ERRANDS and has_cue(reading, "needed"):
        return Stance.STATES, False
    if is_refusal and not (phrase and phrase.stance in _ACTIVE):
        return Stance.DECLINES, False
    if phrase is not None and phrase.stance is not Stance.STATES:
        return phrase.stance, phrase.is_uncertain
    if answer is not None and reply is not None and reply.is_whole:
        return answer, False
    if phrase is not None and phrase.task in {Task.CANCEL, Task.MOVE} and stance is not Stance.ASKS:
        return Stance.STATES, is_uncertain
    is_bare = phrase is None and not reading.of_kind("activity", "generic", "child")
    if stance is Stance.STATES and is_bare and answer is not None:
        return answer, is_uncertain
    return stance, is_uncertain


def _turns_to_another(reading: Reading) -> bool:
    """Whether a refusal goes on to look for somebody else ("stuck in Leeds, Sam are you about?", "can't. Anyone?")."""
    refused = cue(reading, "decline")
    rest = reading.skeleton[refused.end() :] if refused else ""
    return _OTHERS.search(rest) is not None


def _assignment(
    stance: Stance,
    *,
    phrase: TaskPhrase | None,
    adult: Mention | None,
    sender: Member | None,
    is_uncertain: bool,
) -> tuple[tuple[str, ...], str | None]:
    nobody = (UNSPECIFIED,)
    # "If I do Monday, can you do Tuesday?" offers the one for the other.
    is_offer = stance is Stance.ASKS and phrase is not None and phrase.is_sender
    if is_uncertain and not is_offer:
        return nobody, None
    if stance is Stance.CLAIMS and sender and sender.role is not Role.CHILD:
        return (sender.id,), None
    if stance is Stance.ASSIGNS and adult:
        return (adult.id,), None
    if stance is Stance.ASKS:
        # An offer ("shall I get him?") names its own owner; a yes settles it.
        if phrase and phrase.is_sender and sender and sender.role is not Role.CHILD:
            return nobody, sender.id
        # A mother who writes "Mum, can you …" asks her own.
        is_own_name = adult is not None and sender is not None and adult.id == sender.id
        return nobody, adult.id if adult and not is_own_name else None
    return nobody, None


def _adult(reading: Reading, *, is_asked: bool) -> Mention | None:
    if is_asked and _ASKS_ANYBODY.search(reading.skeleton):
        # "Can anyone fetch Gran's chair?" asks everybody but her.
        return None
    adults = reading.of_kind("adult")
    match = cue(reading, "assign")
    item = reading.symbols[reading.symbol_at(match.start())].item if match else None
    if isinstance(item, Mention) and item.kind == "adult":
        return item
    return adults[0] if adults else None


def _implied_task(
    activity: Mention | None, stance: Stance, participants: Participants
) -> Task | None:
    if activity is None or activity.kind != "generic":
        return None
    is_sought = stance is not Stance.STATES and participants.is_care(activity.id)
    return Task.COVER if is_sought else Task.APPOINTMENT


def _tells_another_time(
    reading: Reading, activity: Mention | None, stance: Stance, task: Task | None
) -> bool:
    """Whether an activity is said to be at a new time and not at the old one ("at 5 today, not 4")."""
    is_open = activity is not None and stance is Stance.STATES and not reading.is_question
    return is_open and task in {None, Task.APPOINTMENT, Task.ATTEND} and replaces_time(reading)


def _put_to(reading: Reading, sender: Member | None) -> str | None:
    """The adult to whom a promise of theirs is put ("we said we'd fetch both, Art is that you")."""
    match = cue(reading, "put_to")
    if match is None:
        return None
    at = match.start("who") if match["who"] else match.start("whom")
    item = reading.symbols[reading.symbol_at(at)].item
    is_other = isinstance(item, Mention) and (sender is None or item.id != sender.id)
    return item.id if isinstance(item, Mention) and is_other else None


def _type(task: Task | None, activity: Mention | None) -> CoordinationType:
    if task in _TYPES:
        return _TYPES[task]
    if activity:
        return CoordinationType.ACTIVITY_CONFIRM
    return CoordinationType.CARE_COVERAGE


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
