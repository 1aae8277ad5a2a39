"""Frames as extractions with the title of a card, and what the rules read as frames. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import Final

from kinkeeper.arrangements import Arrangement, Heard
from kinkeeper.arrangements.frame_grounding import grounding_of
from kinkeeper.arrangements.model import EVERYBODY, JOBS, Told
from kinkeeper.household.model import Member
from kinkeeper.language.lexicon import Mention
from kinkeeper.observer.extraction.rules_extractor import arranges, entities
from kinkeeper.observer.model import (
    BY_TRAINED_READER,
    OWN_WORDS,
    TITLE,
    UNSPECIFIED,
    Entity,
    Extraction,
    Stance,
    Task,
)
from kinkeeper.observer.wording.free_topics import is_errand, is_noun_phrase
from kinkeeper.observer.wording.message_view import Reading, Symbol
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.reading.corrections import is_given_up
from kinkeeper.reading.modality import is_denied
from kinkeeper.reading.model import Act, Clause, Frame, Modality, Predicate, Slot, SlotName, Target

# What a card is called: the phrase of the message that the trained reader sees its subject in.
# Pure.

LONGEST_TITLE: Final = 60
"""Characters."""

_PERSON_SYMBOLS: Final = frozenset({"<child>", "<adult>", "<kids>"})
_WAYS: Final = frozenset({Predicate.PICKUP, Predicate.DROPOFF, Predicate.COVER})
_SAYS_LITTLE: Final = frozenset(
    {"appointment", "church", "hospital", "religious service", "repair"}
)
_POINTS: Final = frozenset(
    {"thing", "things", "stuff", "one", "ones", "mine", "yours", "this", "that", "these", "those"}
)
_LED_TO: Final = frozenset({"to", "from", "at", "for", "after", "during"})
_LONG: Final = 4
_VERB_ENDS: Final = ("s", "d")
"""Of a verb told of somebody else, or of the past: "gets", "moved"."""
_ARTICLES: Final = frozenset(
    {"the", "a", "an", "my", "our", "your", "his", "her", "their", "this", "that", "some"}
)
LED_IN: Final = _ARTICLES | {"to", "for", "at", "on", "of"}
"""Words before a phrase that are no part of a title."""

_OBJECTS: Final = _ARTICLES | {"it", "them", "him", "by", "<child>", "<adult>"}


def called(
    extraction: Extraction, seen: Sequence[Frame], reading: Reading, participants: Participants
) -> Extraction:
    """Return what is read with the family's words for it on the card, where the household has no name for it.

    A general word gives way to the phrase in which it stands, and to any other one only where it says next to nothing.
    """
    is_named = any(each.id == extraction.activity for each in participants.household.activities)
    if is_named or extraction.is_in_own_words:
        return extraction
    general = [each for each in reading.of_kind("generic") if each.id == extraction.activity]
    is_open = not general or extraction.activity in _SAYS_LITTLE
    for frame in sorted(seen, key=lambda each: each.predicate in _WAYS):
        for slot in frame.slots:
            title = _noun_phrase(slot, reading) if _may_name(slot, frame, reading) else None
            is_around = title and any(
                title.start <= each.start < title.end
                and title.value.casefold() != each.surface.casefold()
                for each in general
            )
            if title is not None and (is_around or is_open):
                return replace(extraction, entities=(*extraction.entities, title))
    return extraction


def _may_name(slot: Slot, frame: Frame, reading: Reading) -> bool:
    """Tell whether a slot says what it is about: of a way, where from or where to."""
    if frame.predicate not in _WAYS:
        return slot.name is SlotName.WHAT
    is_end = slot.name in {SlotName.WHAT, SlotName.WHERE}
    before = [each for each in reading.symbols if each.end <= slot.start]
    while before and (before[-1].text in _ARTICLES or _is_owner(before[-1])):
        before.pop()
    return is_end and bool(before) and before[-1].text in _LED_TO


def _noun_phrase(slot: Slot, reading: Reading) -> Entity | None:
    """Return the noun phrase that a slot holds or begins, without whom it is for; None where it holds none."""
    symbols = [each for each in reading.symbols if slot.start <= each.start < slot.end]
    if len(symbols) > 1 and symbols[-1].text in _PERSON_SYMBOLS and symbols[-2].text == "for":
        symbols = symbols[:-2]
    symbols = [*dropwhile(_is_owner, symbols)]
    if not symbols or {each.text for each in symbols} <= _PERSON_SYMBOLS | _POINTS:
        return None
    symbols = symbols + _rest(symbols[-1], reading)
    if not is_noun_phrase(reading.text, symbols) or _is_deed(symbols, reading):
        return None
    start, end = symbols[0].start, symbols[-1].end
    before = next((each for each in reversed(reading.symbols) if each.end <= start), None)
    if before is not None and before.text in _ARTICLES:
        start = before.start
    return Entity(
        type=TITLE,
        surface=reading.text[start:end],
        start=start,
        end=end,
        value=_as_written(reading.text, start, end),
    )


def _as_written(text: str, start: int, end: int) -> str:
    """Return a phrase with the capitals of its names, but not those of a sentence or of a shout."""
    words = [*dropwhile(lambda each: each.lower() in LED_IN, text[start:end].split())]
    is_first = not text[:start].rstrip() or text[:start].rstrip()[-1] in '.!?"“:'
    if is_first or text[start:end].isupper():
        words = [each.lower() for each in words]
    return " ".join(words)[:LONGEST_TITLE]


def _rest(last: Symbol, reading: Reading) -> list[Symbol]:
    """Return the noun with which a phrase goes on that was cut short ("eye" of "the eye clinic on Thursday")."""
    after = [each for each in reading.symbols if each.start >= last.end][:2]
    if not after or reading.text[last.end : after[0].start] != " ":
        return []
    word, text = after[0], reading.text
    is_last = (
        len(after) == 1
        or text[word.end : after[1].start] != " "
        or not is_noun_phrase(text, after[1:])
    )
    is_noun = word.text == "<generic>" or (
        word.item is None and len(word.text) >= _LONG and not word.text.endswith(_VERB_ENDS)
    )
    return [word] if is_last and is_noun and is_noun_phrase(text, [word]) else []


def _is_deed(symbols: Sequence[Symbol], reading: Reading) -> bool:
    """Tell whether the one word of a phrase is what somebody does to something ("ring the plumber")."""
    following = next((each for each in reading.symbols if each.start >= symbols[-1].end), None)
    is_led = following is not None and following.text in _OBJECTS
    return len(symbols) == 1 and is_led


def _is_owner(symbol: Symbol) -> bool:
    """Tell whether a unit says whose something is; cards say so themselves."""
    return isinstance(symbol.item, Mention) and symbol.item.surface.endswith(
        ("'s", "’s", "s'", "s’")
    )


PLAN: Final = 0.6
"""Chance of a plan from which one that the rules do not see becomes a card."""

FILLED: Final = 0.7
"""Chance of a frame from which it fills what the rules leave open."""

LINKED: Final = 0.6
"""Chance of a link from which a short answer belongs to the question that it leads to."""

_MEANT: Final = frozenset({Modality.PLAIN, Modality.REPORTED, Modality.QUOTED})
_STANCES: Final = {
    Act.STATE: Stance.STATES,
    Act.ASK: Stance.ASKS,
    Act.REQUEST: Stance.ASKS,
    Act.OFFER: Stance.CLAIMS,
    Act.PROMISE: Stance.CLAIMS,
    Act.ASSIGN: Stance.ASSIGNS,
}
_ANSWERS: Final = {
    Act.OFFER: Stance.CLAIMS,
    Act.PROMISE: Stance.CLAIMS,
    Act.ACCEPT: Stance.ACCEPTS,
    Act.DECLINE: Stance.DECLINES,
}
_TASKS: Final = {
    Predicate.PICKUP: Task.PICKUP,
    Predicate.DROPOFF: Task.DROPOFF,
    Predicate.COVER: Task.COVER,
    Predicate.TASK: Task.OTHER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One thing that the trained reader sees in a message.

    Attributes:
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
    told_by_frame = grounding_of(participants.household).told_by_frame(heard)
    return tuple(
        Seen(frame=frame, told=told)
        for frame, all_told in zip(heard.frames, told_by_frame, strict=True)
        for told in all_told
    )


def plans_in(
    seen: Sequence[Seen], reading: Reading, sender: Member | None, participants: Participants
) -> Iterator[Extraction]:
    """Yield the plans in a message that stand out so clearly that a person should be asked about them.

    Args:
        seen: What the trained reader sees.
        sender: Who wrote it, if known.
    """
    for each in seen:
        extraction = _extraction(each, reading, sender, participants)
        if each.frame.plan >= PLAN and extraction is not None and _says_enough(extraction):
            yield extraction


def extraction_of(whole: Arrangement, participants: Participants) -> Extraction | None:
    """Return an arrangement that members have on a day as an extraction; None for any other."""
    task = _TASKS.get(whole.predicate)
    owners, days = _members(whole.who_does, participants), whole.when.days
    if task is None and whole.predicate is not Predicate.EVENT:
        return None
    if not owners or len(owners) < len(whole.who_does) or not days:
        return None
    words, start, end = _phrase(whole.what), whole.when.start, whole.when.end
    named = any(each.isalpha() for each in words)
    title = Entity(type=OWN_WORDS, surface=whole.what, start=0, end=0, value=words)
    read = Extraction(
        is_coordination=True,
        task=task,
        stance=Stance.CLAIMS,
        dates=days,
        times=(start,) if start else (),
        time_ranges=((start, end),) if start and end else (),
        assigned_to=owners,
        child=_members(whole.who_for, participants),
        activity=words if named else None,
        entities=(title,) if named else (),
    )
    return read if _says_enough(read) else None


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
        seen: The frames of its words.
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
    if not _is_meant(frame) or told.modality is Modality.PAST or frame.act not in _STANCES:
        return None
    if frame.predicate not in _TASKS and frame.predicate is not Predicate.EVENT:
        return None
    stance = _STANCES[frame.act]
    title = _title(frame, reading, seen.title)
    if stance is Stance.STATES and title is not None and _is_denied(title, reading):
        return None
    day, clock = told.when.days, told.when.start
    days = day or ((reading.sent_at.date(),) if clock else ())
    read = Extraction(
        is_coordination=False,
        task=_task(frame, title),
        stance=stance,
        dates=days,
        times=(clock,) if clock else (),
        time_ranges=((clock, told.when.end),) if clock and told.when.end else (),
        is_day_implied=not day,
        assigned_to=_owners(told, stance, sender, participants),
        addressee=_addressee(told, stance, participants),
        child=_members(told.who_for or told.likely_for, participants),
        activity=title.value if title else None,
        location=_place(frame, reading),
        entities=_entities(frame, reading, title),
        seeks_owner=frame.act is Act.ASK,
        confidence=round(min(frame.plan, 0.95), 2),
        extractor=seen.extractor,
    )
    return arranges(read)


def _is_denied(title: Entity, reading: Reading) -> bool:
    at = next((each.at for each in reading.symbols if each.start >= title.start), 0)
    return is_denied(reading.skeleton, at)


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
        return Entity(
            type=best.kind, surface=best.surface, start=best.start, end=best.end, value=best.id
        )
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
    found = [
        each for each in entities(reading) if frame.clause.start <= each.start < frame.clause.end
    ]
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


# What the rules read, as frames: where they are sure, the fold hears them instead of the trained
# reader. Pure.

_ACTS: Final[Mapping[Stance, Act]] = {
    Stance.CLAIMS: Act.OFFER,
    Stance.ASSIGNS: Act.ASSIGN,
    Stance.ASKS: Act.ASK,
    Stance.DECLINES: Act.DECLINE,
    Stance.ACCEPTS: Act.ACCEPT,
    Stance.WITHDRAWS: Act.WITHDRAW,
    Stance.STATES: Act.STATE,
}
PREDICATES: Final[Mapping[Task, Predicate]] = {
    Task.PICKUP: Predicate.PICKUP,
    Task.DROPOFF: Predicate.DROPOFF,
    Task.COVER: Predicate.COVER,
    Task.ATTEND: Predicate.COVER,
    Task.CANCEL: Predicate.CANCEL,
    Task.MOVE: Predicate.MOVE,
    Task.APPOINTMENT: Predicate.EVENT,
    Task.OTHER: Predicate.TASK,
}
LEAVES_OPEN: Final = frozenset({Act.ASK, Act.REQUEST, Act.DECLINE, Act.WITHDRAW})
"""Acts after which nobody has anything that they did not have before."""
_GIVES: Final = frozenset({Act.OFFER, Act.ASSIGN})
_COMMITS: Final = _GIVES | {Act.ACCEPT}
_THINGS: Final = frozenset({"activity", "generic", OWN_WORDS})
_TIMES: Final = frozenset({"time", "date", "datetime", "range", "recurring"})


def heard_frames(
    read: Sequence[Frame],
    said: Iterable[Extraction],
    *,
    text: str,
    threshold: float,
    answers: Target | None,
    may_doubt: bool,
) -> tuple[Frame, ...]:
    """Return the frames of a message: those of the trained reader, with what the rules are sure of in their place.

    Args:
        read: By the trained reader, in the order of the text.
        said: What the rules read, one for each part.
        threshold: Confidence from which the rules are sure.
        answers: The message that it surely answers, if any.
        may_doubt: Whether the trained reader may hear no commitment where the rules hear one.
    """
    frames = list(read)
    for each in said:
        is_sure = each.is_coordination and each.confidence >= threshold
        if not is_sure and (answers is None or each.stance is Stance.STATES):
            continue
        own = _frame(each, text, answers)
        place = _place_of(own, frames)
        if place is None:
            frames.append(own)
        elif frames[place].predicate is not Predicate.ABSENCE or not _may_be_away(each):
            frames[place] = _joined(own, frames[place], may_doubt=may_doubt)
    return tuple(frames)


def _may_be_away(said: Extraction) -> bool:
    """Tell whether what the rules take for something unknown that takes place may be where the speaker is."""
    return said.stance is Stance.STATES and said.is_in_own_words and not said.child


def is_no_commitment(frame: Frame) -> bool:
    """Tell whether nobody takes anything on in a clause: it asks, refuses, denies, or is not plainly meant."""
    is_plain = frame.modality is Modality.PLAIN and not frame.is_negated
    return frame.act in LEAVES_OPEN or not is_plain


def _frame(said: Extraction, text: str, answers: Target | None) -> Frame:
    slots = tuple(_slots(said, text))
    begin = min((each.start for each in slots), default=0)
    end = max((each.end for each in slots), default=len(text))
    predicate = PREDICATES.get(said.task) if said.task else None
    if predicate is None and said.activity and said.stance is Stance.STATES:
        predicate = Predicate.EVENT
    return Frame(
        clause=Clause(begin, end),
        act=_ACTS[said.stance],
        predicate=predicate,
        modality=Modality.PLAIN,
        is_negated=False,
        is_secret=False,
        slots=slots,
        target=answers,
        plan=1.0,
        p=max(said.confidence, answers.p if answers else 0.0),
    )


def _slots(said: Extraction, text: str) -> Iterator[Slot]:
    for each in said.entities:
        name = _slot_of(each, said, text)
        if name is not None:
            yield Slot(name=name, start=each.start, end=each.end, p=1.0)


def _slot_of(entity: Entity, said: Extraction, text: str) -> SlotName | None:
    if entity.type in _TIMES:
        is_old = is_given_up(text, entity.start) or (
            said.moved_from is not None and entity.value[:10] == said.moved_from.isoformat()
        )
        is_new = said.task is Task.MOVE and not is_old
        return SlotName.FROM if is_old else SlotName.TO if is_new else SlotName.WHEN
    if entity.type in _THINGS:
        return SlotName.WHAT
    if entity.type == "place":
        return SlotName.WHERE
    if entity.value in said.owners:
        return SlotName.WHO_DOES
    return SlotName.WHO_FOR if entity.value in said.child or entity.type == "group" else None


def _place_of(own: Frame, frames: Sequence[Frame]) -> int | None:
    """Return the place of the frame of the same clause: that shares most with it, of none the one that is most of a plan."""
    ranked = [
        (
            min(own.clause.end, each.clause.end) - max(own.clause.start, each.clause.start),
            each.plan,
            -place,
        )
        for place, each in enumerate(frames)
    ]
    return -max(ranked)[2] if ranked else None


def _joined(own: Frame, other: Frame, *, may_doubt: bool) -> Frame:
    """Return a frame of the rules with what only the trained reader saw: other slots, what it answers, and that nobody commits to anything."""
    named = {each.name for each in own.slots}
    taken = [(each.start, each.end) for each in own.slots]
    more = [
        each
        for each in other.slots
        if each.name not in named and not any(a < each.end and each.start < b for a, b in taken)
    ]
    slots = tuple(sorted((*own.slots, *more), key=lambda each: each.start))
    clause = Clause(
        min(own.clause.start, other.clause.start), max(own.clause.end, other.clause.end)
    )
    predicate = own.predicate or other.predicate
    if own.act in _GIVES and predicate not in JOBS | {Predicate.EVENT}:
        # Whoever has a child's activity that day sees to it, and is not away.
        predicate = Predicate.COVER
    is_doubted = may_doubt and own.act in _COMMITS and is_no_commitment(other)
    heard = other if is_doubted else own
    return replace(
        own,
        clause=clause,
        slots=slots,
        target=own.target or other.target,
        predicate=predicate,
        act=heard.act,
        modality=heard.modality,
        is_negated=heard.is_negated,
    )
