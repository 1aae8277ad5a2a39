"""Jobs that are told to the person spoken to: "you've got Ann", "Ben, you're on pickup". Pure."""

from kinkeeper.household.model import Member
from kinkeeper.observer.model import Stance
from kinkeeper.observer.wording.clauses import TaskPhrase, has_cue
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants

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
        participants: The household compiled.

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
