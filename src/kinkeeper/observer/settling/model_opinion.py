"""What a model said about an arrangement, put to use: when it is asked, and again when the decision is proved."""

from collections.abc import Sequence
from dataclasses import replace

from kinkeeper.observer.consultation import Consultation
from kinkeeper.observer.extraction.candidates import Offer, offer_of
from kinkeeper.observer.extraction.model_grounding import added_to
from kinkeeper.observer.extraction.prepared import Around, Part
from kinkeeper.observer.settling.message_reader import RulesExtractor


def offered(part: Part, around: Around) -> Offer:
    """Return what a model may choose from for one arrangement."""
    return offer_of(
        part.reading, part.extraction, sender=around.sender, earlier=around.earlier(),
        asked=around.loaded.asked, participants=around.participants,
    )  # fmt: skip


def reconsidered(part: Part, around: Around, consultation: Consultation, offer: Offer) -> Part:
    """Return an arrangement with what a model adds, and the record of it.

    An answer of which too much has no ground never costs an arrangement its place that counted without it.
    """
    extraction = added_to(part.extraction, consultation, offer, sender=around.sender)
    if extraction.confidence < around.threshold <= part.extraction.confidence:
        extraction = part.extraction
    return replace(part, extraction=extraction, consultation=consultation)


class RecordedExtractor(RulesExtractor):
    """The rules, and for what a model was asked then its answer of then.

    Args:
        consultations: Recorded with the message.
    """

    def __init__(self, consultations: Sequence[Consultation]) -> None:
        self._consultations = {each.part: each for each in consultations}

    async def reconsider(self, part: Part, around: Around) -> Part:
        """Return the arrangement with what the model added then."""
        consultation = self._consultations.get(around.number)
        if consultation is None:
            return part
        return reconsidered(part, around, consultation, offered(part, around))
