"""What the rules read, as frames: where they are sure, the fold hears them instead of the trained reader. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from kinkeeper.arrangements.model import JOBS
from kinkeeper.observer.model import OWN_WORDS, Entity, Extraction, Stance, Task
from kinkeeper.reading.model import (
    Act,
    Clause,
    Frame,
    Modality,
    Predicate,
    Slot,
    SlotName,
    Target,
)

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
        text: Of the message.
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
    slots = tuple(_slots(said))
    begin = min((each.start for each in slots), default=0)
    end = max((each.end for each in slots), default=len(text))
    predicate = PREDICATES.get(said.task) if said.task else None
    if predicate is None and said.activity and said.stance is Stance.STATES:
        predicate = Predicate.EVENT
    return Frame(
        clause=Clause(begin, end), act=_ACTS[said.stance], predicate=predicate,
        modality=Modality.PLAIN, is_negated=False, is_secret=False, slots=slots, target=answers,
        plan=1.0, p=max(said.confidence, answers.p if answers else 0.0),
    )  # fmt: skip


def _slots(said: Extraction) -> Iterator[Slot]:
    for each in said.entities:
        name = _slot_of(each, said)
        if name is not None:
            yield Slot(name=name, start=each.start, end=each.end, p=1.0)


def _slot_of(entity: Entity, said: Extraction) -> SlotName | None:
    if entity.type in _TIMES:
        is_old = said.moved_from is not None and entity.value[:10] == said.moved_from.isoformat()
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
        own, clause=clause, slots=slots, target=own.target or other.target, predicate=predicate,
        act=heard.act, modality=heard.modality, is_negated=heard.is_negated,
    )  # fmt: skip
