"""Who has what a message turns on, or is asked to see to it. Pure."""

from dataclasses import dataclass

from kinkeeper.household.model import Member, Role
from kinkeeper.language.lexicon import Mention
from kinkeeper.observer.model import (
    UNSPECIFIED,
    Stance,
)
from kinkeeper.observer.wording.clauses import (
    TaskPhrase,
    cue,
)
from kinkeeper.observer.wording.gist import Gist
from kinkeeper.observer.wording.handovers import handed_to
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.observer.wording.subjects import child_asked


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
        gist: What that is.
        sender: Who sent it, if known.
        participants: The household compiled.
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
