"""A line of a chat file: it is a message, or tells what is wrong with it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.model import Household
from kinkeeper.household.senders import resolve_sender
from kinkeeper.messaging.message_json import parse_message
from kinkeeper.observer.speaker import REPLAY


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLine:
    """A message of an input line.

    Attributes:
        number: 1-based line.
        message: What was sent.
        is_local: Whether `sent_at` came without an offset; then its digits are local time.
        account: The sender's account number, where the file has it beside the name.
    """

    number: int
    message: InboundMessage
    is_local: bool
    account: str | None = None

    def placed(self, household: Household) -> InboundMessage:
        """Return the message as the household understands it: local times, known accounts."""
        message = self.message
        if self.is_local:
            message = replace(message, sent_at=message.sent_at.replace(tzinfo=household.zone))
        if self.account is not None and resolve_sender(household, self.account) is not None:
            message = replace(message, sender=self.account)
        return message


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line that is no message.

    Attributes:
        number: 1-based line.
        error: What is wrong and how to mend it.
    """

    number: int
    error: str

    def record(self) -> dict[str, Any]:
        """Return the line that stands in its place in the output."""
        return {"line": self.number, "error": self.error}


def chat_line(number: int, record: Mapping[str, Any]) -> ChatLine:
    """Return the message of a record.

    Raises:
        InputError: A field is missing, of the wrong type, or impossible.
    """
    message, is_local = parse_message(record, channel=REPLAY)
    return ChatLine(number=number, message=message, is_local=is_local)
