"""What the trained reader sees in a message, in the fields of an extraction: beside the rules, and where these find nothing. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import Final

from kinkeeper.arrangements import Heard
from kinkeeper.arrangements.frame_grounding import grounding_of
from kinkeeper.arrangements.model import EVERYBODY, JOBS, Told
from kinkeeper.household.model import Member
from kinkeeper.observer.extraction.card_titles import LED_IN, LONGEST_TITLE, called
from kinkeeper.observer.extraction.findings import entities
from kinkeeper.observer.extraction.rules_extractor import arranges
from kinkeeper.observer.model import (
    BY_TRAINED_READER,
    OWN_WORDS,
    UNSPECIFIED,
    Entity,
    Extraction,
    Stance,
    Task,
)
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.observer.wording.plain_words import is_errand, is_noun_phrase
from kinkeeper.reading.model import Act, Frame, Modality, Predicate, SlotName

PLAN: Final = 0.6
"""Chance of a plan from which one that the rules do not see becomes a card."""

FILLED: Final = 0.7
"""Chance of a frame from which it fills what the rules leave open."""

LINKED: Final = 0.6
"""Chance of a link from which a short answer belongs to the question that it leads to."""

_MEANT: Final = frozenset({Modality.PLAIN, Modality.REPORTED, Modality.QUOTED})
_STANCES: Final = {
    Act.STATE: Stance.STATES, Act.ASK: Stance.ASKS, Act.REQUEST: Stance.ASKS, Act.OFFER: Stance.CLAIMS,
    Act.PROMISE: Stance.CLAIMS, Act.ASSIGN: Stance.ASSIGNS,
}  # fmt: skip
_ANSWERS: Final = {
    Act.OFFER: Stance.CLAIMS, Act.PROMISE: Stance.CLAIMS, Act.ACCEPT: Stance.ACCEPTS, Act.DECLINE: Stance.DECLINES,
}  # fmt: skip
_TASKS: Final = {
    Predicate.PICKUP: Task.PICKUP, Predicate.DROPOFF: Task.DROPOFF, Predicate.COVER: Task.COVER,
    Predicate.TASK: Task.OTHER,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One thing that the trained reader sees in a message.

    Attributes:
        frame: As it was read.
        told: The same with its people and times resolved.
        title: What it is about, in words of the talk, where the message itself has none.
        extractor: Who saw it.
    """

    frame: Frame
    told: Told
    title: str = ""
    extractor: str = BY_TRAINED_READER


def seen_in(heard: Heard, participants: Participants) -> tuple[Seen, ...]:
    """Return what the frames of a message say; a frame that hands out several things comes several times."""
    grounding = grounding_of(participants.household)
    return tuple(
        Seen(frame=frame, told=told)
        for frame in heard.frames
        for told in grounding.told(replace(heard, frames=(frame,)))
    )


def plans_in(
    seen: Sequence[Seen], reading: Reading, sender: Member | None, participants: Participants
) -> Iterator[Extraction]:
    """Yield the plans in a message that stand out so clearly that a person should be asked about them.

    Args:
        seen: What the trained reader sees.
        reading: The whole message.
        sender: Who wrote it, if known.
        participants: The household compiled.
    """
    for each in seen:
        extraction = _extraction(each, reading, sender, participants)
        if each.frame.plan >= PLAN and extraction is not None and _says_enough(extraction):
            yield extraction


def answer_in(seen: Sequence[Seen]) -> tuple[Stance, str] | None:
    """Return what a message that arranges nothing itself does with an earlier one, and the id of that; None where it is not sure."""
    for each in seen:
        target = each.frame.target
        is_sure = target is not None and min(target.p, each.frame.p) >= LINKED
        is_answer = is_sure and each.frame.act in _ANSWERS and _is_meant(each.frame)
        if is_answer and each.told.answers:
            return _ANSWERS[each.frame.act], each.told.answers
    return None


def filled(
    extraction: Extraction, seen: Sequence[Seen], reading: Reading, participants: Participants
) -> Extraction:
    """Return what the rules read with what they left open, where one frame alone is about the same.

    Args:
        extraction: By the rules.
        seen: The frames of its words.
        reading: The whole message.
        participants: The household compiled.
    """
    frames = [each.frame for each in seen]
    extraction = called(extraction, frames, reading, participants)
    sure = [each for each in seen if each.frame.p >= FILLED and _is_meant(each.frame)]
    if len(sure) != 1:
        return extraction
    told = sure[0].told
    extraction = _titled(extraction, sure[0].frame, reading)
    children = _members(told.who_for, participants)
    owners = _members(told.who_does, participants)
    takes_owner = not extraction.owners and told.act in {Act.OFFER, Act.PROMISE, Act.ASSIGN}
    return replace(
        extraction,
        child=extraction.child or children,
        assigned_to=owners if takes_owner and owners else extraction.assigned_to,
    )


def _titled(extraction: Extraction, frame: Frame, reading: Reading) -> Extraction:
    """Return what names neither an activity nor a job with the words of the message for it."""
    title = None if extraction.activity or extraction.task else _title(frame, reading)
    if title is None:
        return extraction
    own = (title,) if title.type == OWN_WORDS else ()
    return replace(extraction, activity=title.value, entities=(*extraction.entities, *own))


def _phrase(words: str) -> str:
    """Return words without what leads in to them, not longer than a title may be."""
    said = words.lower().split()
    return " ".join(dropwhile(LED_IN.__contains__, said))[:LONGEST_TITLE]


def _extraction(
    seen: Seen, reading: Reading, sender: Member | None, participants: Participants
) -> Extraction | None:
    """Return a frame as an extraction; None where it opens nothing."""
    frame, told = seen.frame, seen.told
    if not _is_meant(frame) or frame.act not in _STANCES:
        return None
    if frame.predicate not in _TASKS and frame.predicate is not Predicate.EVENT:
        return None
    stance = _STANCES[frame.act]
    title = _title(frame, reading, seen.title)
    day, clock = told.when.days, told.when.start
    days = day or ((reading.sent_at.date(),) if clock else ())
    read = Extraction(
        is_coordination=False, task=_task(frame, title), stance=stance, dates=days,
        times=(clock,) if clock else (),
        time_ranges=((clock, told.when.end),) if clock and told.when.end else (),
        is_day_implied=not day, assigned_to=_owners(told, stance, sender, participants),
        addressee=_addressee(told, stance, participants),
        child=_members(told.who_for or told.likely_for, participants),
        activity=title.value if title else None, location=_place(frame, reading),
        entities=_entities(frame, reading, title), seeks_owner=frame.act is Act.ASK,
        confidence=round(min(frame.plan, 0.95), 2), extractor=seen.extractor,
    )  # fmt: skip
    return arranges(read)


def _is_meant(frame: Frame) -> bool:
    return frame.modality in _MEANT and not frame.is_negated


def _task(frame: Frame, title: Entity | None) -> Task | None:
    if frame.predicate is Predicate.EVENT:
        return Task.APPOINTMENT if title and title.type == "generic" else None
    return _TASKS[frame.predicate] if frame.predicate else None


def _title(frame: Frame, reading: Reading, known: str = "") -> Entity | None:
    """Return what it is about: an activity that the clause names, else the words of its slot, as a short phrase."""
    named = [
        each
        for each in reading.of_kind("activity", "generic")
        if frame.clause.start <= each.start < frame.clause.end
    ]
    slot = next((each for each in frame.slots if each.name is SlotName.WHAT), None)
    if slot is not None:
        named = [each for each in named if slot.start <= each.start < slot.end]
    if named:
        best = min(named, key=lambda each: each.kind != "activity")
        return Entity(type=best.kind, surface=best.surface, start=best.start, end=best.end, value=best.id)  # fmt: skip
    start, end = (slot.start, slot.end) if slot else (0, 0)
    surface = reading.text[start:end]
    symbols = [each for each in reading.symbols if start <= each.start and each.end <= end]
    is_plain = is_noun_phrase(reading.text, symbols) or (
        symbols and is_errand(reading.text, symbols)
    )
    words = _phrase(surface if slot and is_plain else "" if slot else known)
    if not any(each.isalpha() for each in words):
        return None
    return Entity(type=OWN_WORDS, surface=surface, start=start, end=end, value=words)


def _entities(frame: Frame, reading: Reading, title: Entity | None) -> tuple[Entity, ...]:
    found = [each for each in entities(reading) if frame.clause.start <= each.start < frame.clause.end]  # fmt: skip
    if title is not None and title.type == OWN_WORDS:
        found.append(title)
    return tuple(sorted(found, key=lambda each: (each.start, each.end, each.type)))


def _owners(
    told: Told, stance: Stance, sender: Member | None, participants: Participants
) -> tuple[str, ...]:
    named = _members(told.who_does, participants)
    if stance is Stance.CLAIMS:
        own = (sender.id,) if sender is not None and not told.who_does else ()
        return named or own or (UNSPECIFIED,)
    gives = stance in {Stance.ASSIGNS, Stance.STATES} and told.predicate in JOBS
    return named if gives and named else (UNSPECIFIED,)


def _addressee(told: Told, stance: Stance, participants: Participants) -> str | None:
    named = _members(told.who_does, participants)
    return named[0] if stance is Stance.ASKS and len(named) == 1 else None


def _members(people: Sequence[str], participants: Participants) -> tuple[str, ...]:
    """Return those who are members; everybody is nobody in particular."""
    household = participants.household
    return tuple(each for each in people if each != EVERYBODY and household.member(each))


def _place(frame: Frame, reading: Reading) -> str | None:
    named = [
        each.id
        for each in reading.of_kind("place")
        if frame.clause.start <= each.start < frame.clause.end
    ]
    return named[0] if named else None


def _says_enough(extraction: Extraction) -> bool:
    """Whether a person could tell what they confirm: a day, and what it is about or who is fetched, brought or looked after."""
    return bool(extraction.dates) and bool(
        extraction.activity or (extraction.task and extraction.child)
    )
