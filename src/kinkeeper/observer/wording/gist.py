"""What a message turns on: what is to be done, about what, and who has it or is asked to. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kinkeeper.household.model import Member, Role
from kinkeeper.language.lexicon import Mention
from kinkeeper.observer.model import UNSPECIFIED, Stance, Task
from kinkeeper.observer.wording.arrangement_times import day_alone, replaces_time
from kinkeeper.observer.wording.clauses import (
    ERRANDS,
    TaskPhrase,
    activity_of,
    child_asked,
    clause_around,
    cue,
    has_cue,
    stance_of,
    task_phrases,
)
from kinkeeper.observer.wording.free_topics import (
    occasion_of,
    own_words_of,
    promises_a_chore,
    seeks_anybody,
)
from kinkeeper.observer.wording.message_parts import body_of
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.reading.replies import ReplyKind

_OTHERS = re.compile(
    r"<adult> (?:are|is|can|could|would|will) you (?:(?:around|about|free|available)(?!\w)|(?:do|take|get|cover)(?: (?:it|him|her|them|that))?(?= ?[?.!]| ?$))"
    r"|[.!?,] (?:any ?body|any takers|anybody else|somebody)(?: (?:else|able|free|around))? ?(?:\?|$)"
)
_REPLY_STANCES = {
    ReplyKind.CLAIM: Stance.CLAIMS,
    ReplyKind.YIELD: Stance.CLAIMS,
    ReplyKind.ACCEPT: Stance.ACCEPTS,
    ReplyKind.DECLINE: Stance.DECLINES,
    ReplyKind.WITHDRAW: Stance.WITHDRAWS,
}
_ASKS_ANYBODY = re.compile(r"(?<!\w)(?:who|any ?body|somebody|one of (?:us|you))(?!\w)")
_MEANWHILE = re.compile(
    r"(?<!\w)(?:while|whilst|when|as) (?:i|we|<adult>) (?:am|are|is|will be|have|has|do|does|take|takes)(?!\w)"
)
_INVITING = re.compile(
    r"(?<!\w)(?:who is (?:in|coming|up for|joining|around for|keen)|(?:any ?body|somebody|who) (?:wants? to|fancies|fancy|up for|coming|keen|interested|else (?:coming|in)))(?= |$)"
)
_ABSENT = re.compile(r"(?:i|we) (?:am|are|will be) ")
_WANTED = frozenset({Stance.ASKS, Stance.CLAIMS})
_ACTIVE = frozenset({Stance.CLAIMS, Stance.ASKS, Stance.ASSIGNS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Gist:
    """What a message turns on.

    Attributes:
        reading: The message, less what only tells why or meanwhile; own words are among its mentions.
        phrase: What is to be done, if named.
        stance: What the sender does with it.
        is_uncertain: Whether it is a mere possibility.
        activity: What it is about, if named.
        task: What is to be done, as far as phrase and activity tell.
    """

    reading: Reading
    phrase: TaskPhrase | None
    stance: Stance
    is_uncertain: bool
    activity: Mention | None
    task: Task | None

    @property
    def adult(self) -> Mention | None:
        """The adult who is named with it."""
        if self.phrase is not None:
            return self.phrase.adult
        return _adult(self.reading, is_asked=self.stance is Stance.ASKS)


def gist_of(reading: Reading, sender: Member | None, participants: Participants) -> Gist:
    """Return what a message turns on.

    Args:
        reading: The message, or a part of it.
        sender: Who sent it, if known.
    """
    reading = _without_whereabouts(_declining_clause(body_of(reading)))
    phrase = _primary(task_phrases(reading))
    stance, is_uncertain = _stance(reading, phrase)
    said = stance
    activity = activity_of(reading, phrase)
    task = phrase.task if phrase else _implied_task(activity, stance, participants)
    if _tells_another_time(reading, activity, stance, task):
        task = Task.MOVE
    if activity is None and _leaves_open(reading, phrase):
        absent = cue(reading, "decline") if stance is Stance.DECLINES else None
        if (
            _calls_together(reading, stance)
            or _goes_on_after_yes(reading, stance)
            or (absent is not None and _tells_why_away(reading, absent))
        ):
            stance = Stance.STATES
        elif stance is Stance.STATES and promises_a_chore(reading):
            stance = Stance.CLAIMS
        own = own_words_of(reading, stance, is_child=_is_child(sender))
        if own is None:
            stance = said
        else:
            reading = replace(reading, mentions=(*reading.mentions, own))
            phrase, activity = None, own
            task = Task.OTHER if stance in _WANTED else None
    return Gist(
        reading=reading,
        phrase=phrase,
        stance=stance,
        is_uncertain=is_uncertain,
        activity=activity,
        task=task,
    )


def _declining_clause(reading: Reading) -> Reading:
    """Of a refusal, only the refusing clause counts; the rest is its reason ("can't, book club")."""
    if reading.reply is None or reading.reply.kind is not ReplyKind.DECLINE:
        return reading
    if _turns_to_another(reading) or has_cue(reading, "needed"):
        return reading
    if any(phrase.stance in _ACTIVE for phrase in task_phrases(reading)) or seeks_anybody(reading):
        return reading
    match = cue(reading, "decline")
    if match is None or _tells_why_away(reading, match):
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


def _primary(phrases: Sequence[TaskPhrase]) -> TaskPhrase | None:
    """The phrase the message turns on: a change of plan first, then what the sender does, then the first."""
    changes = [phrase for phrase in phrases if phrase.task in {Task.CANCEL, Task.MOVE}]
    own = [phrase for phrase in phrases if _is_senders_part(phrase)]
    if changes and own and own[0].start > changes[0].end:
        # "My flight's been moved so I can do judo": what the sender takes on, or cannot do, is not what moved.
        return own[0]
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


def _is_senders_part(phrase: TaskPhrase) -> bool:
    """Whether the sender takes on, or turns down, something of an activity."""
    if not phrase.is_of_activity or phrase.task in {Task.CANCEL, Task.MOVE}:
        return False
    return phrase.stance is Stance.DECLINES or (phrase.is_sender and phrase.stance is Stance.CLAIMS)


def _stance(reading: Reading, phrase: TaskPhrase | None) -> tuple[Stance, bool]:
    reply = reading.reply
    # "Can't move the scan" refuses nothing that anybody asked for.
    is_answer = reply is not None and not has_cue(reading, "fixed")
    answer = _REPLY_STANCES.get(reply.kind) if reply and is_answer else None
    stance, is_uncertain = stance_of(reading)
    is_refusal = Stance.DECLINES in {answer, stance}
    if is_refusal and (_turns_to_another(reading) or (phrase is None and seeks_anybody(reading))):
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


def _tells_why_away(reading: Reading, refused: re.Match[str]) -> bool:
    """Whether somebody is only said to be away when what was just told takes place ("the sweep is at 2 and I'm at work")."""
    if _ABSENT.match(reading.skeleton, refused.start()) is None:
        return False
    before = reading.within(0, refused.start())
    return bool(before.spans) and occasion_of(before) is not None


def _leaves_open(reading: Reading, phrase: TaskPhrase | None) -> bool:
    """Whether what it is about may stand in its own words: nothing is to be done, or a booking of what has no word."""
    if phrase is None:
        return True
    is_told = phrase.stance is Stance.STATES and phrase.task in {Task.APPOINTMENT, Task.ATTEND}
    return is_told and not reading.of_kind("child", "group")


def _calls_together(reading: Reading, stance: Stance) -> bool:
    """Whether it asks who comes along ("bonfire tonight at 6, who's in?"): it tells of an occasion, and wants nobody for a job."""
    return stance is Stance.ASKS and _INVITING.search(reading.skeleton) is not None


def _goes_on_after_yes(reading: Reading, stance: Stance) -> bool:
    """Whether what begins like a yes goes on to tell something ("all done. Next one 14 Aug at 10")."""
    return stance is Stance.ACCEPTS and occasion_of(reading) is not None


def _is_child(sender: Member | None) -> bool:
    return sender is not None and sender.role is Role.CHILD


def _adult(reading: Reading, *, is_asked: bool) -> Mention | None:
    if is_asked and _ASKS_ANYBODY.search(reading.skeleton):
        # "Can anyone fetch Gran's chair?" asks everybody but her.
        return None
    adults = reading.of_kind("adult")
    match = cue(reading, "assign")
    assigned = reading.mention_at(match.start()) if match else None
    if assigned is not None and assigned.kind == "adult":
        return assigned
    return adults[0] if adults else None


# Jobs that are told to the person spoken to: "you've got Ann", "Ben, you're on pickup". Pure.

_COUPLE = 2
_OPEN = frozenset({Stance.ASKS, Stance.STATES})


def handed_to(
    reading: Reading,
    phrase: TaskPhrase | None,
    stance: Stance,
    *,
    sender: Member | None,
    participants: Participants,
) -> str | None:
    """Return whose job a message says that it is, by telling them so.

    Args:
        reading: The message, or a part of it.
        phrase: What is to be done, if named.
        stance: What the sender does with it as far as that is known.
        sender: Who sent it, if known.

    Returns:
        Member id of the adult who is called by name, or the only other adult; None where nobody is told,
        or nobody knows who.
    """
    if reading.is_question or stance not in _OPEN or (phrase is not None and phrase.is_sender):
        return None
    is_told = phrase.is_handed if phrase is not None else False
    if not (is_told or has_cue(reading, "handed")):
        return None
    if reading.called is not None:
        return reading.called if sender is None or reading.called != sender.id else None
    adults = [adult.id for adult in participants.household.adults]
    if sender is None or sender.id not in adults or len(adults) != _COUPLE:
        return None
    return next(adult for adult in adults if adult != sender.id)


# Who has what a message turns on, or is asked to see to it. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """Who has a job, or is asked to.

    Attributes:
        stance: What the sender does with it, once it is known to whom it goes.
        assigned: Member ids, or ("unspecified",).
        addressee: Member id that a request names, if any.
    """

    stance: Stance
    assigned: tuple[str, ...]
    addressee: str | None

    @property
    def has_owner(self) -> bool:
        """Whether anybody has it."""
        return self.assigned != (UNSPECIFIED,)


def holding_of(gist: Gist, sender: Member | None, participants: Participants) -> Holding:
    """Return who has what a message turns on.

    Args:
        sender: Who sent it, if known.
    """
    reading, phrase, stance = gist.reading, gist.phrase, gist.stance
    assigned, addressee = _assignment(
        stance, phrase=phrase, adult=gist.adult, sender=sender, is_uncertain=gist.is_uncertain
    )
    if stance is Stance.ASKS and addressee is None and phrase is not None:
        addressee = reading.called if sender is None or reading.called != sender.id else None
    if stance is Stance.ASKS and addressee is None:
        addressee = child_asked(reading)
    put_to = _put_to(reading, sender)
    if put_to is not None:
        stance, assigned, addressee = Stance.ASKS, (UNSPECIFIED,), put_to
    handed = handed_to(reading, phrase, stance, sender=sender, participants=participants)
    if handed is not None:
        stance, assigned, addressee = Stance.ASSIGNS, (handed,), None
    return Holding(stance=stance, assigned=assigned, addressee=addressee)


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


def _put_to(reading: Reading, sender: Member | None) -> str | None:
    """The adult to whom a promise of theirs is put ("we said we'd fetch both, Art is that you")."""
    match = cue(reading, "put_to")
    if match is None:
        return None
    at = match.start("who") if match["who"] else match.start("whom")
    person = reading.mention_at(at)
    if person is None or (sender is not None and sender.id == person.id):
        return None
    return person.id
