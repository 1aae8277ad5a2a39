"""A person corrects a card before it is saved: the same arrangement with another owner, day or time.

The corrected one is a proposal of its own that its author said; it takes the place of the card.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, Unpack

from sqlalchemy import Connection

from kinkeeper.actions import approvals, proposals, receipts
from kinkeeper.actions.authority import Press, PressDetails, objection
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.calendar import AddEvent, MoveOccurrence
from kinkeeper.actions.journal import record_refusal
from kinkeeper.actions.model import ActionStatus, PendingAction, Proposal
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.registry import read_effects
from kinkeeper.actions.repository import load_action
from kinkeeper.calendar.model import Event, EventKind
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.observer.model import UNSPECIFIED, extraction_from_record, extraction_record
from kinkeeper.observer.redline.phrase_templates import Phrasing

_DAY = timedelta(days=1)
_LONGEST = timedelta(days=1)
_TAKES_ITS_PLACE = frozenset({Outcome.DONE, Outcome.ASKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What a card shall say instead.

    Attributes:
        day: Local day.
        start: Local time of day; None for the whole day.
        end: Local time of day; one that is not after the start lies on the next day. None keeps the length.
        owners: Member ids in charge; may be empty.
    """

    day: date
    start: time | None
    end: time | None
    owners: tuple[str, ...]


def correctable(action: PendingAction) -> AddEvent | MoveOccurrence | None:
    """Return the one entry of the calendar that an action would write, if that is all it does.

    An action that asks for an owner writes the same entry whichever is chosen.
    """
    proposal = action.proposal
    ways = [proposal.effects] if proposal.effects else [way.effects for way in proposal.choices]
    is_single = all(len(effects) == 1 for effects in ways)
    if proposal.conflict_key is not None or not ways or not is_single:
        return None
    effect = read_effects(proposal.household, ways[0])[0]
    return effect if isinstance(effect, AddEvent | MoveOccurrence) else None


def correct(
    conn: Connection,
    action_id: str,
    correction: Correction,
    *,
    phrasing: Phrasing,
    **press: Unpack[PressDetails],
) -> Receipt:
    """Save a corrected card in place of the one that was shown.

    Args:
        action_id: The card's action.
        phrasing: The household's words.
        press: Who decides, and what they were shown.

    Returns:
        What became of the corrected one; of the first one, where that was settled already.

    Raises:
        NotFoundError: The household has no such action.
        InputError: It cannot be corrected so; the message says why.
    """
    asked = Press(**press)
    action = load_action(conn, asked.household.id, action_id, for_update=True)
    reason = objection(action, asked)
    if reason is not None:
        by = asked.member.id
        record_refusal(conn, asked.household.id, action.id, reason=reason, by=by, at=asked.now)
        return receipts.refused(action, reason)
    action = proposals.expire_if_due(conn, action, asked.now)
    if action.status is not ActionStatus.PENDING:
        return receipts.settled(action, asked.household)
    receipt = approvals.request(
        conn,
        corrected(action, correction, phrasing),
        member=asked.member,
        household=asked.household,
        now=asked.now,
    )
    if receipt.outcome in _TAKES_ITS_PLACE:
        proposals.supersede(
            conn,
            action.id,
            household=asked.household.id,
            by_action_id=receipt.action.id,
            now=asked.now,
        )
    return receipt


def corrected(action: PendingAction, correction: Correction, phrasing: Phrasing) -> Proposal:
    """Return the proposal that says what the correction says, and otherwise what the action says.

    Raises:
        InputError: The action is not one entry, a person is unknown, or the time is impossible.
    """
    effect = correctable(action)
    if effect is None:
        raise InputError("this card cannot be edited in a form; say what is wrong instead")
    household = phrasing.participants.household
    unknown = [owner for owner in correction.owners if household.member(owner) is None]
    if unknown:
        raise InputError(f"{unknown[0]!r} is not a member of the household")
    proposal = action.proposal
    extraction = replace(
        extraction_from_record(proposal.extraction),
        dates=(correction.day,),
        times=(correction.start,) if correction.start else (),
        time_ranges=((correction.start, correction.end),)
        if correction.start and correction.end
        else (),
        assigned_to=correction.owners or (UNSPECIFIED,),
    )
    slot = stable_id(action.payload_hash, correction)
    record = extraction_record(extraction)
    written, shown = _written(effect, correction, phrasing, slot, record)
    return replace(
        proposal,
        slot=f"{slot}",
        origin=Origin.SAID,
        extraction=record,
        summary=phrasing.summary(extraction),
        effects=(written,),
        choices=(),
        merge_key=None,
        suggested_event=shown,
    )


def _written(  # noqa: PLR0917 - one effect and what it becomes
    effect: AddEvent | MoveOccurrence,
    correction: Correction,
    phrasing: Phrasing,
    slot: str,
    extraction: Mapping[str, Any],
) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    zone = phrasing.participants.household.zone
    begin = datetime.combine(correction.day, correction.start or time(), tzinfo=zone)
    if isinstance(effect, MoveOccurrence):
        length = _length(correction, begin, effect.new_duration)
        moved = effect.model_copy(update={"new_start": begin, "new_duration": length})
        return moved.frozen(), None
    event = effect.event
    title = event.summary
    if event.kind is EventKind.CARE:
        title = phrasing.care(extraction_from_record(extraction), correction.owners)
    kept = event.duration if not event.all_day else timedelta(hours=1)
    corrected_event = replace(
        event,
        id=stable_id(event.id, slot),
        summary=title,
        start=begin,
        all_day=correction.start is None,
        responsible=correction.owners,
        duration=_DAY if correction.start is None else _length(correction, begin, kept) or kept,
    )
    return AddEvent(event=corrected_event).frozen(), _suggested(corrected_event)


def _length(correction: Correction, begin: datetime, default: timedelta | None) -> timedelta | None:
    """Return how long it takes in real time; an end that is not after the start is the next day's."""
    if correction.start is None or correction.end is None:
        return default
    end = datetime.combine(correction.day, correction.end, tzinfo=begin.tzinfo)
    if end <= begin:
        end = datetime.combine(correction.day + _DAY, correction.end, tzinfo=begin.tzinfo)
    length = timedelta(seconds=end.timestamp() - begin.timestamp())
    if length > _LONGEST:
        raise InputError("it would last longer than a day; choose another end")
    return length


def _suggested(event: Event) -> Mapping[str, Any]:
    frozen = AddEvent(event=event).frozen()["event"]
    return {
        name: frozen[name]
        for name in ("summary", "start", "all_day", "who", "responsible", "place")
    }
