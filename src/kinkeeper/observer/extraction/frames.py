"""What the trained reader makes of a message in its talk. Slow enough to be done beside the event loop."""

from functools import lru_cache
from typing import Final

import structlog

from kinkeeper.arrangements import Heard
from kinkeeper.core.beside import beside
from kinkeeper.core.messages import MessageKind
from kinkeeper.household.model import Household
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer.extraction.prepared import Loaded
from kinkeeper.reading import Context, Frame, Said, Surface, Utterance
from kinkeeper.reading.trained import TrainedReader, shipped_reader

STAGE: Final = "observer.trained_reader"
"""Name under which it is counted that a message was read without it."""

_without_encoder = lru_cache(maxsize=1)(lambda: TrainedReader(with_encoder=False))

log = structlog.get_logger(__name__)


async def heard_in(loaded: Loaded, household: Household) -> tuple[Heard, bool]:
    """Return a message with its frames, and whether they could be read as they should.

    Where the encoder fails, the linear heads read alone; where these fail, too, there are no frames.

    Args:
        loaded: The message with what surrounds it.
        household: Whose talk it is.
    """
    is_encoded = False
    try:
        frames, is_whole = await beside(lambda: _frames(shipped_reader(), loaded, household)), True
        is_encoded = shipped_reader().has_encoder
    except Exception as error:  # noqa: BLE001 - an optional second reader never costs a message its turn
        log.warning("observer.trained_reader.failed", error=type(error).__name__)
        frames, is_whole = await _by_linear_heads(loaded, household), False
    message = (loaded.original or loaded.stored).message
    heard = Heard(
        message_id=message.message_id, speaker=message.sender, text=loaded.stored.message.text,
        sent_at=message.sent_at, frames=frames,
        before=tuple(each.message.message_id for each in loaded.talk), items=tuple(loaded.items),
        is_encoded=is_encoded,
    )  # fmt: skip
    return heard, is_whole


async def _by_linear_heads(loaded: Loaded, household: Household) -> tuple[Frame, ...]:
    try:
        return await beside(lambda: _frames(_without_encoder(), loaded, household))
    except Exception as error:  # noqa: BLE001 - see above
        log.warning("observer.linear_heads.failed", error=type(error).__name__)
        return ()


def _frames(reader: TrainedReader, loaded: Loaded, household: Household) -> tuple[Frame, ...]:
    spoken = (loaded.original or loaded.stored).message.sent_at
    stored = loaded.stored
    if stored.message.kind is MessageKind.REACTION or not stored.message.text.strip():
        return ()
    utterance = Utterance(
        text=stored.message.text, speaker=_name(stored, household),
        sent_at=spoken.astimezone(household.zone), surface=Surface.GROUP,
    )  # fmt: skip
    context = Context(
        before=[Said(_name(each, household), each.message.text) for each in loaded.talk],
        items=tuple(loaded.items.values()),
        people=frozenset(map(str.casefold, household.words_for_people)), locale=household.locale,
    )  # fmt: skip
    return reader.read(utterance, context).frames


def _name(stored: StoredMessage, household: Household) -> str:
    member = household.member(stored.message.sender) if stored.is_member else None
    return member.name if member else stored.message.sender
