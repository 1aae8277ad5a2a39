"""A card that waits is held against what a model read in the talk, and shows what differs. What people decided stays."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from enum import StrEnum
from typing import Final

from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions.action_writes import note_confidence
from kinkeeper.actions.model import Choice, PendingAction, Proposal
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Household
from kinkeeper.observer.cards.card_corrections import Correction, correctable, corrected
from kinkeeper.observer.model import BY_TALK_READER, Extraction, extraction_from_record
from kinkeeper.observer.redline.phrase_templates import Phrasing

SURE: Final = 0.75
"""Chance of a reading from which it changes a card: not where anything that it said had no ground."""

_SURE_OF_RULES: Final = 0.9


class Effect(StrEnum):
    """What followed from one thing that a model read."""

    OPENED = "opened"
    AGREED = "agreed"
    CORRECTED = "corrected"
    OFFERED = "offered"  # a card shows both: what the rules read, and this
    WITHDRAWN = "withdrawn"
    LEFT = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """What a model read about a plan that may have a card.

    Attributes:
        row_id: Id of the rows of the message that says it.
        days: Local days.
        start: Local time of day, if known.
        owners: Member ids of those who do it.
        p: Chance that it is right.
    """

    row_id: str
    days: tuple[date, ...] = ()
    start: time | None = None
    owners: tuple[str, ...] = ()
    p: float


def differing(said: Extraction, read: Amendment) -> frozenset[str]:
    """Return the names of the fields in which a reading says more than a card, or something else."""

    def names() -> Iterator[str]:
        if read.owners and {*read.owners} != {*said.owners}:
            yield "owners"
        if read.days and {*read.days} != {*said.dates}:
            yield "day"
        if read.start is not None and read.start not in said.times:
            yield "time"

    return frozenset(names())


def amend(
    conn: Connection,
    action: PendingAction,
    read: Amendment,
    *,
    phrasing: Phrasing,
    household: Household,
    now: datetime,
) -> tuple[Effect, str]:
    """Hold a card that waits against a reading; a differing one takes its place.

    Args:
        action: The card's, pending.
        phrasing: The household's words.

    Returns:
        What was done, and the id of the action that stands now.
    """
    said = extraction_from_record(action.proposal.extraction)
    if not differing(said, read):
        note_confidence(conn, action, max(action.proposal.extraction_confidence, read.p))
        return Effect.AGREED, action.id
    proposal = None if read.p < SURE else _amended(action, said, read, phrasing)
    if proposal is None:
        return Effect.LEFT, action.id
    both = _with_both(action, proposal) if _is_of_sure_rules(action, said) else None
    stored = proposals.propose(conn, both or proposal, household=household, now=now)
    proposals.supersede(
        conn, action.id, household=household.id, by_action_id=stored.action.id, now=now
    )
    return Effect.OFFERED if both else Effect.CORRECTED, stored.action.id


def _is_of_sure_rules(action: PendingAction, said: Extraction) -> bool:
    is_sure = action.proposal.extraction_confidence >= _SURE_OF_RULES
    return is_sure and said.extractor == "rules" and bool(action.proposal.effects)


def _with_both(action: PendingAction, proposal: Proposal) -> Proposal | None:
    """Return a proposal that lets a person choose between both; None where people could not tell them apart."""
    first, second = action.proposal, proposal
    if first.summary.casefold() == second.summary.casefold():
        return None
    choices = tuple(
        Choice(label=each.summary, effects=each.effects, result=f"{each.summary}.")
        for each in (first, second)
    )
    return replace(proposal, effects=(), choices=choices)


def _end(said: Extraction, start: time | None) -> time | None:
    return next((end for begin, end in said.time_ranges if begin == start), None)


def _amended(
    action: PendingAction, said: Extraction, read: Amendment, phrasing: Phrasing
) -> Proposal | None:
    """Return the proposal that shows the reading; None where the card is not one entry of one day."""
    days = read.days or said.dates
    if correctable(action) is None or len(days) != 1:
        return None
    start = read.start or (said.times[0] if said.times else None)
    correction = Correction(
        day=days[0], start=start, end=_end(said, start), owners=read.owners or said.owners
    )
    try:
        changed = corrected(action, correction, phrasing)
    except InputError:
        return None
    record = {**changed.extraction, "extractor": BY_TALK_READER}
    return replace(
        changed,
        source_id=read.row_id,
        slot=stable_id("read", action.id, changed.slot),
        origin=action.proposal.origin,
        extraction=record,
        extraction_confidence=read.p,
    )
