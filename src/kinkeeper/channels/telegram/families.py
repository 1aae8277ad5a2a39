"""Whose a chat or an account is, among the households that one bot serves."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from kinkeeper.actions.press_tokens import is_button_of
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.household.model import Household, Member
from kinkeeper.messaging.addresses import former_chats, keep_private_chats
from kinkeeper.observer.intake import Intake
from kinkeeper.observer.wording.participants import Participants

CHANNEL = "telegram"
"""What rows call this channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A household that the bot serves.

    Attributes:
        intake: Its tier 1, which leaves what it queues to workers.
        conversation: What its members say to the bot itself; None where nobody answers that.
    """

    participants: Participants
    intake: Intake
    conversation: Conversation | None = None

    @property
    def household(self) -> Household:
        """The household as its file describes it."""
        return self.participants.household

    def member(self, account: int | None) -> Member | None:
        """Return whose an account is, if it is a member's."""
        if account is None:
            return None
        members = self.household.members
        return next((each for each in members if each.telegram_id == account), None)

    def forget_who_left(self, conn: Connection) -> None:
        """Keep a private chat only of those whom the household file names with that account."""
        chats = {each.id: str(each.telegram_id) for each in self.household.members}
        keep_private_chats(conn, self.household.id, CHANNEL, chats)


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    """All households of a bot.

    Attributes:
        all: In the order of their files.
    """

    all: tuple[Family, ...]

    def of_chat(self, conn: Connection, chat_id: str) -> Family | None:
        """Return whose a group is; also under the number that it got later."""
        for family in self.all:
            if chat_id in family.household.chats:
                return family
        for family in self.all:
            earlier = former_chats(conn, family.household.id, CHANNEL, chat_id)
            if not set(earlier).isdisjoint(family.household.chats):
                return family
        return None

    def of_account(self, account: int | None) -> Sequence[tuple[Family, Member]]:
        """Return the households in which somebody is a member, with who they are there."""
        found = ((family, family.member(account)) for family in self.all)
        return [(family, member) for family, member in found if member is not None]

    def of_press(
        self, conn: Connection, chat_id: str, account: int, data: str, *, is_private: bool
    ) -> Family | None:
        """Return in whose name a button was shown: a private chat may belong to several households."""
        if not is_private:
            return self.of_chat(conn, chat_id)
        theirs = [family for family, _ in self.of_account(account)]
        for family in theirs:
            if is_button_of(conn, family.household.id, data):
                return family
        return theirs[0] if theirs else None
