"""Who can take part: people and bots."""

from dataclasses import dataclass, field
from typing import Any

from botapi.updates_queue import UpdateQueue


@dataclass(eq=False, slots=True, kw_only=True)
class User:
    """An account. Ids are larger than 32 bits hold, as new accounts' are."""

    id: int
    first_name: str
    last_name: str = ""
    username: str = ""
    language_code: str = ""
    is_bot: bool = False

    @property
    def full_name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "id": self.id,
            "is_bot": self.is_bot,
            "first_name": self.first_name,
        }
        shown |= {
            name: value
            for name in ("last_name", "username", "language_code")
            if (value := getattr(self, name))
        }
        return shown


@dataclass(eq=False, slots=True, kw_only=True)
class Bot(User):
    """A bot's account, with its queue of updates and what its owner set for it."""

    token: str
    updates: UpdateQueue
    is_bot: bool = True
    privacy: bool = True
    can_join_groups: bool = True
    last_message_id: int = 0
    commands: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)

    def next_message_id(self) -> int:
        """Return the next id of the sequence that its private chats and basic groups share."""
        self.last_message_id += 1
        return self.last_message_id

    def about_itself(self) -> dict[str, Any]:
        """Return what getMe answers."""
        return self.as_json() | {
            "can_join_groups": self.can_join_groups,
            "can_read_all_group_messages": not self.privacy,
            "supports_inline_queries": False,
            "can_connect_to_business": False,
            "has_main_web_app": False,
            "has_topics_enabled": False,
            "allows_users_to_create_topics": False,
            "can_manage_bots": False,
            "supports_guest_queries": False,
            "supports_join_request_queries": False,
        }
