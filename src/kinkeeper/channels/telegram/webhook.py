"""Takes in updates that Telegram posts."""

import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from kinkeeper.channels.telegram.reception import Reception

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAddress:
    """Where Telegram posts updates.

    Attributes:
        secret: What Telegram proves itself with.
    """

    url: str
    secret: str


class TelegramWebhook:
    """Takes in what is posted with the agreed secret.

    Args:
        look_again: Called when the bot's rights changed.
        secret: What Telegram proves itself with.
    """

    def __init__(
        self, reception: Reception, *, look_again: Callable[[], None], secret: str
    ) -> None:
        self._reception = reception
        self._look_again = look_again
        self._secret = secret.encode()

    def is_genuine(self, secret: str | None) -> bool:
        """Whether a request carries the secret; takes the same time whatever it carries."""
        given = (secret or "").encode("utf-8", "surrogateescape")
        return hmac.compare_digest(given, self._secret)

    async def receive(self, body: bytes) -> None:
        """Take in one update; returns once it is durable. What is no update is let go.

        Raises:
            UnavailableError: It was not stored; Telegram sends it again.
        """
        try:
            content = json.loads(body)
        except (ValueError, RecursionError):
            log.warning("telegram.webhook.unread", size=len(body))
            return
        taken = await self._reception.take_in(content, is_in_order=False)
        if taken.is_standing_changed:
            self._look_again()
