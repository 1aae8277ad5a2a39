"""Folds each settled message into the arrangements of its chat, and mirrors them in their cards: in the settling transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.arrangements import Heard, fold
from kinkeeper.observer.arrangement_rows import ChatRows, Kept
from kinkeeper.observer.cards.card_builder import Proposer
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.extraction.as_frame import heard_frames
from kinkeeper.observer.extraction.prepared import Part, Prepared
from kinkeeper.observer.model import OF_READERS_ALONE, Decision
from kinkeeper.observer.settling.agreed_plans import Outlook
from kinkeeper.observer.settling.mirror import Mirror, Mirrored
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.reading.model import Frame, Target


class Fold:
    """Keeps the arrangements of one household's chats.

    Args:
        participants: The household compiled.
        config: Thresholds and numbers.
        proposer: Builds cards.
    """

    def __init__(
        self, participants: Participants, config: ObserverConfig, proposer: Proposer
    ) -> None:
        self._family = participants.household
        self._config = config
        self._mirror = Mirror(participants, config, proposer)

    def outlook(self, conn: Connection, prepared: Prepared, *, now: datetime) -> Outlook:
        """Return a message beside the arrangements of its chat as they stand without it.

        Args:
            conn: Any transaction.
            prepared: The message.
            now: Aware.
        """
        rows = ChatRows(conn, self._family.id, prepared.stored.message.chat_id)
        return Outlook(heard=prepared.heard, before=rows.load(now))

    def take(
        self, conn: Connection, prepared: Prepared, decision: Decision, *, now: datetime
    ) -> Mirrored:
        """Fold a message that the rules have decided about, and bring the cards in step.

        Args:
            conn: In a write transaction.
            prepared: The message.
            decision: Of the rules.
            now: Aware.
        """
        stored = prepared.original or prepared.stored
        rows = ChatRows(conn, self._family.id, stored.message.chat_id)
        if prepared.original is not None:
            rows.forget_message(prepared.original.id, now)
        before = rows.load(now)
        heard = self._heard(prepared, decision, before.cards)
        folded = fold(before.state, heard, self._family, now)
        mirrored = self._mirror.show(conn, prepared, folded, before.cards, now=now)
        after = Kept(state=folded.state, cards=mirrored.cards)
        rows.save(prepared.stored.id, before=before, after=after, now=now)
        rows.remember(stored.id, folded.state.recent.get(heard.message_id, ()))
        return mirrored

    def _heard(self, prepared: Prepared, decision: Decision, cards: Mapping[str, str]) -> Heard:
        """Return the message with the frames of both readers, and the arrangements of the open cards."""
        heard = prepared.heard
        ruled = [part.extraction for part in prepared.parts if _is_of_rules(part)]
        by_rules = decision.attribution_source if len(ruled) == len(prepared.parts) else None
        answered = by_rules or prepared.stored.message.reply_to
        before = [*heard.before, *([answered] if answered not in {None, *heard.before} else ())]
        target = Target(said=before.index(answered), p=1.0) if answered else None
        plans = {card: plan for plan, card in cards.items()}
        items = [plans.get(each) for each in heard.items]
        frames = heard_frames(
            [_known(each, items) for each in heard.frames], ruled, text=heard.text,
            threshold=self._config.extraction_threshold, answers=target,
            may_doubt=heard.is_encoded,
        )  # fmt: skip
        return replace(heard, before=before, items=[each or "" for each in items], frames=frames)


def _is_of_rules(part: Part) -> bool:
    """Tell whether the rules read a part, and not the trained reader alone."""
    return part.answers is None and part.extraction.extractor not in OF_READERS_ALONE


def _known(frame: Frame, items: Sequence[str | None]) -> Frame:
    """Return a frame without a target that is no arrangement."""
    target = frame.target
    is_known = target is None or target.item is None or items[target.item] is not None
    return frame if is_known else replace(frame, target=None)
