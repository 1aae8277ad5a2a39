"""What an account is in a chat, and which rights that gives it."""

from dataclasses import dataclass
from typing import Any, Literal

from botapi.accounts import User

Status = Literal["creator", "administrator", "member", "left", "kicked"]
PRESENT = ("creator", "administrator", "member")

RIGHTS = (
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_pin_messages",
    "can_manage_topics",
    "can_manage_tags",
    "can_send_welcome_messages",
)
BASIC_GROUP_RIGHTS = frozenset(
    {
        "can_manage_chat",
        "can_delete_messages",
        "can_manage_video_chats",
        "can_restrict_members",
        "can_change_info",
        "can_invite_users",
        "can_pin_messages",
    }
)
_ONLY_IN_SUPERGROUPS = frozenset({"can_manage_topics"})


@dataclass(eq=False, slots=True, kw_only=True)
class Membership:
    """What one account is in one chat."""

    user: User
    status: Status
    rights: frozenset[str] = frozenset()
    private: bool = False
    """Whether a bot came in privacy mode: a later change of the mode needs it to come again."""

    @property
    def present(self) -> bool:
        return self.status in PRESENT

    @property
    def governs(self) -> bool:
        return self.status in {"creator", "administrator"}

    def may(self, right: str) -> bool:
        return self.status == "creator" or right in self.rights

    def as_json(self, kind: str) -> dict[str, Any]:
        shown: dict[str, Any] = {"user": self.user.as_json(), "status": self.status}
        if self.status == "creator":
            shown["is_anonymous"] = False
        elif self.status == "administrator":
            shown |= {"can_be_edited": False, "is_anonymous": False}
            absent = _ONLY_IN_SUPERGROUPS if kind == "group" else frozenset()
            shown |= {right: right in self.rights for right in RIGHTS if right not in absent}
            shown["can_manage_voice_chats"] = "can_manage_video_chats" in self.rights
        elif self.status == "kicked":
            shown["until_date"] = 0
        return shown
