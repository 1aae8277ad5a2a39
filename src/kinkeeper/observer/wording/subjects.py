"""Whom and what a message is about: the children, the activity, and whether it is one of the family's. Pure."""

import re

from kinkeeper.household.model import Member, Role
from kinkeeper.language.lexicon import Mention
from kinkeeper.observer.model import Task
from kinkeeper.observer.wording.clauses import TaskPhrase, clause_around, destination, has_cue
from kinkeeper.observer.wording.grammar import grammar
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.observer.wording.wanted import ERRANDS
from kinkeeper.reading.times.model import SpanKind, TimeSpan

_WITH = re.compile(
    r"(?<!\w)(?:stuck|busy|tied up|out|away|here|still|waiting|sitting) (?:(?!<act>)[^.,;]){0,40}?with (?P<who><childs?>|<kids>)"
)
_AFTER_THAT = re.compile(
    r"(?<!\w)(?:after|once|when|before|while|as soon as) (?:i|we) (?:(?:have|am|are|was|were) )?\w+ (?:off |up )?(?P<who>(?:the )?(?:<childs?>|<kids>))"
)
_ASIDES = (_WITH, _AFTER_THAT)
_ASKED_CHILD = re.compile(
    r"(?:^|[.,!?;] )(?P<who><child>) ?,? (?:please )?(?:can|could|will|would|do|are) you (?!(?:be|have|want|feel|hungry|ready|ok|get (?:ready|dressed|up|in|out|your|some|a))(?!\w)).*(?<!\w)(?:him|her|them|<childs?>|<kids>|the \w+)(?!\w)"
)
_OF_ANOTHER = re.compile(
    r"(?<!\w)(?:him|them|her(?= (?:to|from|at|on|home|up|off|back|there|then|now|today|tomorrow|<(?:date|time|place|act))| ?[.!?,]| ?$))(?!\w)"
)
_BY_PRONOUN = re.compile(r" (?:him|her|them)(?!\w)")
_OBJECT = re.compile(r" (?:after |with |up )*(?P<who><adult>)(?= |$)")
_INSIDE = re.compile(r"<adult>")
_FOR_ME = re.compile(r" (?:me|us)(?!\w)")
_OWN_ENGAGEMENT = re.compile(
    r"(?<!\w)(?:(?:i|we) (?:have|got|have got|am having|am at|am in|am on)(?: got)?(?: \w+){0,3}|my) $"
)
_LESS_TELLING = frozenset({"appointment", "meeting", "shift"})
_TIED_CHARACTERS = 12


def children_of(
    reading: Reading, phrase: TaskPhrase | None, sender: Member | None, participants: Participants
) -> tuple[str, ...]:
    """Return whom a message is about: the children it names, else the child who writes.

    Args:
        reading: The message, or a part of it.
        phrase: What is to be done, if named; children the sender only happens to be with are left out.
        sender: Who sent it, if known.
        participants: The household compiled.
    """
    aside = _asides(reading, phrase)
    children = participants.children_of(
        [m for m in reading.mentions if not any(start <= m.start < end for start, end in aside)]
    )
    is_own = sender is not None and not _OF_ANOTHER.search(reading.skeleton)
    if not children and sender and is_own and sender.role is Role.CHILD:
        return (sender.id,)
    return (
        children or _seen_to(reading, phrase) or _dependant(reading, phrase, sender, participants)
    )


def _dependant(
    reading: Reading, phrase: TaskPhrase | None, sender: Member | None, participants: Participants
) -> tuple[str, ...]:
    """The member in whose hands no job is put, a grandmother say, where an appointment is theirs."""
    is_appointment = phrase is not None and phrase.task is Task.APPOINTMENT
    if not is_appointment and not any(
        participants.is_appointment(mention.id) for mention in reading.of_kind("generic")
    ):
        return ()
    if phrase is not None and not is_appointment:
        return ()
    named = {mention.id for mention in reading.of_kind("adult")} - (
        {sender.id} if sender else set()
    )
    others = [
        m.id for m in participants.household.members if m.role is Role.OTHER and m.id in named
    ]
    return tuple(others) if len(others) == 1 else ()


def _seen_to(reading: Reading, phrase: TaskPhrase | None) -> tuple[str, ...]:
    """The grown-up for whom something is to be done: brought somewhere, sat with, looked after."""
    match = _OBJECT.match(reading.skeleton, phrase.end) if phrase else None
    if phrase is None or phrase.task not in ERRANDS:
        return ()
    inside = _INSIDE.search(reading.skeleton, phrase.start, phrase.end)
    at = match.start("who") if match else inside.start() if inside else None
    person = reading.mention_at(at) if at is not None else None
    if person is None or (phrase.adult is not None and phrase.adult.id == person.id):
        return ()
    return (person.id,)


def _asides(reading: Reading, phrase: TaskPhrase | None) -> list[tuple[int, int]]:
    """Stretches of the text that tell with whom the sender is just now, not who is to be fetched or brought."""
    if phrase is None:
        return []
    asked = asked_child(reading)
    if asked is not None:
        return [asked]
    found = [match for pattern in _ASIDES for match in pattern.finditer(reading.skeleton)]
    if not _BY_PRONOUN.match(reading.skeleton, phrase.end):
        found = [match for match in found if match.re is not _AFTER_THAT]
    return [
        (_text_offset(reading, match.start("who")), _text_offset(reading, match.end()))
        for match in found
        if not match.start() <= phrase.start < match.end()
    ]


def asked_child(reading: Reading) -> tuple[int, int] | None:
    """Return where a child stands who is asked to see to another ("Ben can you walk her there?"), if one is.

    Args:
        reading: The message, or a part of it.
    """
    match = _ASKED_CHILD.search(reading.skeleton)
    if match is None:
        return None
    return _text_offset(reading, match.start("who")), _text_offset(reading, match.end("who"))


def child_asked(reading: Reading) -> str | None:
    """Return the id of the child who is asked to see to another, if one is.

    Args:
        reading: The message, or a part of it.
    """
    place = asked_child(reading)
    mentions = reading.of_kind("child") if place else []
    return next((m.id for m in mentions if place and place[0] <= m.start < place[1]), None)


def _text_offset(reading: Reading, offset: int) -> int:
    symbol = reading.symbol_at(offset)
    return symbol.start if symbol.at >= offset else symbol.end


def _is_senders_own(reading: Reading, mention: Mention, phrase: TaskPhrase | None) -> bool:
    """Whether an appointment is what keeps the sender from the job ("i have an exam, can you get Ann?")."""
    if phrase is None:
        return False
    at = next((symbol.at for symbol in reading.symbols if symbol.item is mention), 0)
    start, end = clause_around(reading, at)
    is_elsewhere = not start <= phrase.start < end
    if _FOR_ME.match(reading.skeleton, phrase.end):
        return False
    return is_elsewhere and _OWN_ENGAGEMENT.search(reading.skeleton[start:at]) is not None


def activity_of(reading: Reading, phrase: TaskPhrase | None) -> Mention | None:
    """Return the activity talked about; an appointment's own word wins over a series it merely touches.

    Args:
        reading: The message, or a part of it.
        phrase: What is to be done, if named; what keeps the sender from it is not meant.
    """
    generic, named = reading.of_kind("generic"), reading.of_kind("activity")
    if has_cue(reading, "thing"):
        is_called_off = phrase is not None and phrase.task is Task.CANCEL and bool(generic)
        return named[0] if is_called_off and named else None
    generic = [m for m in generic if not _is_senders_own(reading, m, phrase)]
    generic = [mention for mention in generic if mention.id not in _LESS_TELLING] or generic
    bound = destination(reading)
    if bound is not None:
        return bound
    for mention in generic:
        if any(_is_tied(mention, span) for span in reading.spans if span.has_time) and not any(
            _is_tied(other, span) for other in named for span in reading.spans if span.has_time
        ):
            return mention
    return next(iter(named or generic), None)


def _is_tied(mention: Mention, span: TimeSpan) -> bool:
    return abs(span.start_char - mention.end) <= _TIED_CHARACTERS or (
        abs(mention.start - span.end_char) <= _TIED_CHARACTERS
    )


def is_special(
    reading: Reading, activity: Mention | None, sender: Member | None, participants: Participants
) -> bool:
    """Return whether it is no series of the household: an occasion, somebody else's lesson, a game for fun.

    Args:
        reading: The message, or a part of it.
        activity: What it is about, if anything.
        sender: Who sent it, if known.
        participants: The household compiled.
    """
    occasions = grammar().stances["special"]
    if has_cue(reading, "special") or any(
        # The mark of a word that is in the vocabulary as well hides it from the grammar.
        participants.is_occasion(mention.id) or occasions.search(mention.surface.casefold())
        for mention in reading.of_kind("generic")
    ):
        return True
    if activity is None:
        return False
    if reading.of_kind("child", "group"):
        is_timed_out = any(span.kind is SpanKind.RANGE for span in reading.spans)
        return (
            is_timed_out
            and participants.is_session(activity.id)
            and has_cue(reading, "other_session")
        )
    if activity.kind == "activity":
        return has_cue(reading, "pastime")
    is_grown_up = sender is None or sender.role is not Role.CHILD
    return participants.is_session(activity.id) and (
        has_cue(reading, "other_session") or (is_grown_up and has_cue(reading, "own_session"))
    )
