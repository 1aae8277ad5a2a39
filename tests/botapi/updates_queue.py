"""What waits for one bot: kept until it is acknowledged, delivered as often as asked for."""

from dataclasses import dataclass, field
from typing import Any

KINDS = frozenset(
    {
        "message",
        "edited_message",
        "channel_post",
        "edited_channel_post",
        "business_connection",
        "business_message",
        "edited_business_message",
        "deleted_business_messages",
        "message_reaction",
        "message_reaction_count",
        "inline_query",
        "chosen_inline_result",
        "callback_query",
        "shipping_query",
        "pre_checkout_query",
        "purchased_paid_media",
        "poll",
        "poll_answer",
        "my_chat_member",
        "chat_member",
        "chat_join_request",
        "chat_boost",
        "removed_chat_boost",
    }
)
DEFAULT_KINDS = KINDS - {"chat_member", "message_reaction", "message_reaction_count"}

DAY = 24 * 60 * 60
PRESS_LIFETIME = 150


@dataclass(eq=False, slots=True, kw_only=True)
class Update:
    """Something that happened, as the bot gets it."""

    id: int
    kind: str
    body: dict[str, Any]
    queue: str
    expires_at: float
    deliveries: int = 0
    failures: int = 0
    retry_at: float = 0
    in_flight: bool = False

    def as_json(self) -> dict[str, Any]:
        return {"update_id": self.id, self.kind: self.body}


@dataclass(eq=False, slots=True, kw_only=True)
class Webhook:
    """Where updates go instead of waiting to be fetched."""

    url: str = ""
    secret_token: str = ""
    max_connections: int = 40
    last_error_date: int = 0
    last_error_message: str = ""


@dataclass(eq=False, slots=True)
class UpdateQueue:
    """Updates of one bot, oldest first."""

    last_id: int
    pending: list[Update] = field(default_factory=list)
    history: list[Update] = field(default_factory=list)
    allowed: frozenset[str] = DEFAULT_KINDS
    webhook: Webhook = field(default_factory=Webhook)
    polls: int = 0
    waiting: bool = False
    ended_by: str = ""

    def add(self, kind: str, body: dict[str, Any], *, queue: str, now: float) -> None:
        """Add what happened, if the bot asked for such updates when it happened.

        Args:
            queue: What it must stay in order with when a webhook gets it.
            now: Seconds since 1970.
        """
        if kind not in self.allowed:
            return
        self.last_id += 1
        lifetime = PRESS_LIFETIME if kind == "callback_query" else DAY
        update = Update(
            id=self.last_id, kind=kind, body=body, queue=queue, expires_at=now + lifetime
        )
        self.pending.append(update)
        self.history.append(update)

    def drop_expired(self, now: float) -> None:
        self.pending = [update for update in self.pending if update.expires_at > now]

    def acknowledge(self, offset: int) -> None:
        """Forget what came before `offset`; a negative one keeps only the last ones."""
        if offset < 0:
            self.pending = self.pending[offset:]
        elif offset > 0:
            self.pending = [update for update in self.pending if update.id >= offset]

    def confirm(self, update: Update) -> None:
        """Forget one update, which a webhook took."""
        self.pending = [waiting for waiting in self.pending if waiting is not update]

    def fetch(self, limit: int) -> list[dict[str, Any]]:
        """Return the oldest updates; they stay until they are acknowledged."""
        batch = self.pending[:limit]
        for update in batch:
            update.deliveries += 1
        return [update.as_json() for update in batch]

    def allow(self, kinds: list[str]) -> None:
        """Ask for these kinds from now on; none known means the usual ones."""
        known = KINDS & {kind.lower() for kind in kinds}
        self.allowed = frozenset(known) or DEFAULT_KINDS
