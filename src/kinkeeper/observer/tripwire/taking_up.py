"""Whether a message answers what is open in its chat, as far as tier 1 can tell. Pure."""

from collections.abc import Sequence

from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.observer.answers.questions import Asked
from kinkeeper.observer.model import Stance
from kinkeeper.reading.replies import Reply, ReplyKind

_SPEAKER = frozenset({"i", "i'll", "i'm"})
_TAKING = frozenset({ReplyKind.CLAIM, ReplyKind.YIELD, ReplyKind.ASSIGN})


def takes_up(
    message: InboundMessage, sender: str, reply: Reply | None, asked: Sequence[Asked], *, asks: bool
) -> bool:
    """Tell whether a message takes on or accepts what is open in its chat, as far as its form tells.

    Args:
        message: What was sent.
        sender: Member id, or the name as sent.
        reply: What it says as a short answer, if anything.
        asked: Questions open in its chat.
        asks: Whether it asks for somebody itself.
    """
    reference = message.target or message.reply_to
    if reply is None or not asked or (message.kind is MessageKind.REACTION and reference is None):
        return False
    is_own_word = reply.kind in _TAKING or not _SPEAKER.isdisjoint(reply.cue.split())
    is_clear = reply.is_whole or (reply.stands_alone and is_own_word)
    if reference is None and not is_clear:
        # A yes of the one who was asked counts, whatever follows it.
        is_yes = reply.kind is ReplyKind.ACCEPT and not asks
        asked = [question for question in asked if is_yes and question.addressee == sender]
    return any(
        _settles(reply.kind, sender, question)
        for question in asked
        if reference in {None, question.message_id}
    )


def _settles(kind: ReplyKind, sender: str, question: Asked) -> bool:
    """Whether an answer of this kind can settle a question; thanks and "you do it" only settle an offer."""
    if kind in _TAKING:
        return True
    if question.asker == sender or question.stance != Stance.ASKS:
        return False
    is_offer = question.addressee == question.asker
    return kind is ReplyKind.ACCEPT or (
        is_offer and kind in {ReplyKind.HAND, ReplyKind.ACKNOWLEDGE}
    )
