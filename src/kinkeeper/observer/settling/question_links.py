"""Which open question a part of a message answers. Pure."""

from collections.abc import Sequence

from kinkeeper.core.messages import MessageKind
from kinkeeper.household.model import Role
from kinkeeper.observer.answers.answer_effects import accepts_offers_only, begins_with_yes, loosened
from kinkeeper.observer.answers.attribution import AttributionOutcome, Reply, attribute
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.extraction.prepared import Part, Prepared
from kinkeeper.observer.model import Extraction, OpenQuestion, Stance
from kinkeeper.observer.wording.message_view import Reading


def attribute_part(
    prepared: Prepared, part: Part, asked: Sequence[OpenQuestion], config: ObserverConfig
) -> AttributionOutcome:
    """Return which of these questions a part of a message answers, if any; what sets right answers none."""
    if part.corrects:
        return AttributionOutcome(extraction=part.extraction, question=None, gate=None)
    message, member = prepared.stored.message, prepared.member
    is_reaction = message.kind is MessageKind.REACTION
    given = loosened(part.reading, part.extraction)
    pointed_at = message.target if is_reaction else message.reply_to
    if given.stance is Stance.ACCEPTS:
        # A yes is for none that its sender has refused, unless it points at that one.
        asked = [q for q in asked if q.message_id not in prepared.refused - {pointed_at}]
    if asked and _says_yes(part.reading, asked[0], sender=message.sender):
        # Whatever follows it ("Yes I can. Does Ben come with us?"), it is the answer.
        given = Extraction(is_coordination=False, stance=Stance.ACCEPTS)
    reply = Reply(
        sender=message.sender,
        is_assignable=member is not None and member.role is not Role.CHILD,
        answers=pointed_at if is_reaction else pointed_at or part.answers,
        is_reaction=is_reaction,
        only_offers=given.stance is Stance.ACCEPTS and accepts_offers_only(part.reading),
        talked_since=prepared.talked_since,
    )
    outcome = attribute(given, reply, asked, threshold=config.attribution_threshold)
    if outcome.question is None and given is not part.extraction:
        return attribute(part.extraction, reply, (), threshold=config.attribution_threshold)
    return outcome


def _says_yes(reading: Reading, question: OpenQuestion, *, sender: str) -> bool:
    """Whether the one who was asked, or to whom something was offered, begins with a yes."""
    addressee = question.extraction.addressee
    is_offer = addressee == question.asker != sender
    return (is_offer or addressee == sender) and begins_with_yes(reading, to_offer=is_offer)
