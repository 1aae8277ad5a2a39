"""Messages as the pages quote them. Pure."""

from dataclasses import dataclass

from kinkeeper.core.messages import MessageKind
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer.accounts.metrics import Failure
from kinkeeper.web.views.addresses import why_href
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.people import People, Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A message that a card rests on.

    Attributes:
        sender: Who said it.
        text: Their words; empty once they are purged.
        at: When, in few words.
        spoken: When, in full.
        kind: Text, reaction or edit.
        why_href: Page that tells how it was decided.
    """

    sender: Person
    text: str
    at: str
    spoken: str
    iso: str
    kind: MessageKind
    why_href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A message that could not be understood and is left to a person.

    Attributes:
        quote: What was said; None where it is gone.
        why_href: Page that tells how far it came.
        error: What went wrong, for engineers.
    """

    message_id: str
    quote: Quote | None
    why_href: str
    error: str


@dataclass(frozen=True, slots=True)
class Quotes:
    """Quotes messages for one household."""

    people: People
    wording: Wording

    def of(self, stored: StoredMessage) -> Quote:
        """Return a message as it is quoted."""
        message, at = stored.message, stored.message.sent_at
        return Quote(
            sender=self.people.of(message.sender),
            text=message.text,
            at=self.wording.moment(at),
            spoken=self.wording.long_moment(at),
            iso=self.wording.local(at).isoformat(timespec="seconds"),
            kind=message.kind,
            why_href=why_href(message.message_id, message.chat_id),
        )

    def left(self, failure: Failure, stored: StoredMessage | None) -> Left:
        """Return a message that is left to a person."""
        return Left(
            message_id=failure.message_id,
            quote=None if stored is None else self.of(stored),
            why_href=why_href(failure.message_id, failure.chat_id),
            error=failure.error,
        )
