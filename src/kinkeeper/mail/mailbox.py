"""What is read in a mailbox: values, and what a mailbox offers. All of it is other people's text."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from kinkeeper.mail.model import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedMail:
    """A mail in the mailbox, as far as it is read.

    Attributes:
        message_id: As its sender gave it, where it is one.
        sender: Who it says it is from; nobody has proven that.
        answer_to: Where its sender wants answers.
        subject: One line.
        at: When it arrived, aware.
        text: Beginning of its plain text.
        references: Message-IDs of its conversation, oldest first.
    """

    message_id: str | None
    sender: Address
    answer_to: Address
    subject: str
    at: datetime
    text: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MailQuery:
    """What is looked for; everything given must fit.

    Attributes:
        sender: Part of the name or address of who wrote it.
        words: Each stands somewhere in it.
        is_unread: Whether only unread mails count.
        since: First day, local.
        before: Day after the last, local.
    """

    sender: str = ""
    words: tuple[str, ...] = ()
    is_unread: bool = False
    since: date | None = None
    before: date | None = None


class MailReader(Protocol):
    """Reads the household's mailbox; changes nothing in it, not even what counts as read."""

    async def search(self, query: MailQuery, *, limit: int) -> Sequence[ReceivedMail]:
        """Return the latest mails that fit, latest first.

        Args:
            query: What is looked for.
            limit: Most to return, > 0.

        Raises:
            UnavailableError: The mailbox cannot be reached.
        """
        ...

    async def correspondents(self, name: str) -> Sequence[Address]:
        """Return whom mail was written to, or who wrote, under a name; those written to first, each once.

        Args:
            name: Part of a name or address.

        Raises:
            UnavailableError: The mailbox cannot be reached.
        """
        ...
