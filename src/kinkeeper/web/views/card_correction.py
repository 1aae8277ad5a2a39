"""The form that corrects a card before it is saved. Pure."""

from dataclasses import dataclass
from datetime import timedelta

from kinkeeper.actions.effects.calendar import AddEvent
from kinkeeper.actions.model import PendingAction
from kinkeeper.household.model import Household, Member
from kinkeeper.observer.cards.card_corrections import correctable
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.people import People, Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Somebody who may be put in charge."""

    person: Person
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionForm:
    """The form, filled with what the card says.

    Attributes:
        action_id: Of the card.
        payload_hash: Of what the card shows.
        line: Of the card.
        day: ISO date.
        start: HH:MM; empty of whole days.
        end: HH:MM; empty of whole days.
        candidates: Adults of the household; empty where the card has no owner.
    """

    action_id: str
    payload_hash: str
    line: str
    day: str
    start: str
    end: str
    candidates: tuple[Candidate, ...]


def correction_form(
    action: PendingAction, *, household: Household, people: People, wording: Wording
) -> CorrectionForm | None:
    """Return the form; None where the card cannot be corrected in one."""
    effect = correctable(action)
    if effect is None:
        return None
    is_whole_day = False
    chosen: tuple[str, ...] = ()
    candidates: tuple[Member, ...] = ()
    length: timedelta | None
    if isinstance(effect, AddEvent):
        start, length = effect.event.start, effect.event.duration
        is_whole_day = effect.event.all_day
        chosen = effect.event.responsible if action.proposal.effects else ()
        candidates = tuple(household.adults)
    else:
        start, length = effect.new_start, effect.new_duration
    begin = wording.local(start)
    return CorrectionForm(
        action_id=action.id,
        payload_hash=action.payload_hash,
        line=action.proposal.summary,
        day=begin.date().isoformat(),
        start="" if is_whole_day else f"{begin:%H:%M}",
        end="" if is_whole_day or length is None else f"{wording.local(start + length):%H:%M}",
        candidates=tuple(
            Candidate(person=people.of(member.id), is_chosen=member.id in chosen)
            for member in candidates
        ),
    )
