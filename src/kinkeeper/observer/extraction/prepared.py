"""A message as it is read: its parts, and what stands around it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from kinkeeper.arrangements import Heard
from kinkeeper.household.model import Member
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer.arranged import Arranged
from kinkeeper.observer.consultation import Consultation
from kinkeeper.observer.extraction.context import BrainContext
from kinkeeper.observer.extraction.continuation import Earlier
from kinkeeper.observer.model import Extraction, OpenQuestion
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.reading import Clause

MOST_PARTS: Final = 12
"""Nobody arranges more in one message; a longer list holds up all others, and would be as many cards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One arrangement of a message.

    Attributes:
        reading: The words that make it.
        extraction: What they say, with what the messages just before add.
        corrects: Ids of the rows of the messages that it sets right: what was said, what was answered.
        corrected: The arrangement that it sets right, as it stood.
        consultation: What a model was asked about it, if one was.
        answers: The channel's id of the message that the trained reader takes it to answer, if any.
        by_rules: What the rules alone read, where the trained reader may have added to it: the ground to speak.
    """

    reading: Reading
    extraction: Extraction
    corrects: tuple[int, ...] = ()
    corrected: Extraction | None = None
    consultation: Consultation | None = None
    answers: str | None = None
    by_rules: Extraction | None = None

    def covers(self, clause: Clause) -> bool:
        """Tell whether any of its words stand in a clause of the message."""
        symbols = self.reading.symbols
        start, end = (symbols[0].start, symbols[-1].end) if symbols else (0, len(self.reading.text))
        return start < clause.end and clause.start < end


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A message read, and what memory says about it; nothing is decided yet.

    Attributes:
        stored: The message.
        original: What it edits, if it is an edit.
        sent_at: When it was said, in the household's zone; of an edit, when the original was.
        member: Who sent it, if known.
        scope: Who may see what it tells.
        parts: What it arranges, one part each; most messages have one.
        brain: What memory said.
        talked_since: When somebody else last asked something, of the messages just before.
        refused: The channel's ids of the messages whose jobs the sender has refused.
        unread_parts: How many more it arranges that were left out, as there were too many.
        heard: The message with its frames, the ids of the messages before it, and the ids of the actions that were open.
        is_heard: Whether the trained reader could read it.
    """

    stored: StoredMessage
    original: StoredMessage | None
    sent_at: datetime
    member: Member | None
    scope: str
    parts: tuple[Part, ...]
    brain: BrainContext
    talked_since: datetime | None = None
    refused: frozenset[str] = frozenset()
    unread_parts: int = 0
    heard: Heard
    is_heard: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What `prepare` needs from the database.

    Attributes:
        stored: The message.
        original: What it edits, if it is an edit.
        asked: Questions it may answer, newest first.
        refused: The channel's ids of those among them that its sender has refused.
        window: Its context window, newest first.
        last_child: Child the chat was last about, hours ago at most; None where it was several or nobody.
        arranged: What the chat has arranged lately, newest first, where the message may set it right.
        talk: The last messages of the chat up to a day before it, oldest first.
        items: What is open in the chat, as people call it, by action id, the latest first.
    """

    stored: StoredMessage
    original: StoredMessage | None
    asked: Sequence[OpenQuestion]
    window: Sequence[StoredMessage]
    last_child: str | None
    refused: frozenset[str] = frozenset()
    arranged: Sequence[Arranged] = ()
    talk: Sequence[StoredMessage] = ()
    items: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known around one arrangement of a message.

    Attributes:
        number: Which arrangement it is, from 0.
        loaded: The message with what surrounds it.
        sender: Who wrote it, if known.
        participants: The household compiled.
        earlier: Reads the context window, newest first.
        threshold: Confidence from which an arrangement counts.
    """

    number: int
    loaded: Loaded
    sender: Member | None
    participants: Participants
    earlier: Callable[[], Sequence[Earlier]]
    threshold: float
