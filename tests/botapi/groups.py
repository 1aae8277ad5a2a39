"""Groups: who is in them, who governs, and what becomes of them."""

from dataclasses import dataclass
from typing import Protocol

from botapi.accounts import Bot, User
from botapi.chats import Chat, Message, Topic
from botapi.members import BASIC_GROUP_RIGHTS, RIGHTS, Membership, Status
from botapi.posting import announce, keep, number, set_status
from botapi.world import FIRST_SUPERGROUP, World


class Somebody(Protocol):
    """Whoever stands for an account."""

    @property
    def account(self) -> User: ...


@dataclass(eq=False, slots=True)
class Group:
    """A basic group or a supergroup. After `migrate` it stands for the supergroup."""

    world: World
    chat: Chat
    creator: User

    @classmethod
    def founded(
        cls, world: World, chat: Chat, creator: Somebody, members: tuple[Somebody | Bot, ...]
    ) -> "Group":
        """Found a group; what it begins with, a bot hears only in a basic group."""
        group = cls(world, chat, creator.account)
        chat.members[creator.account.id] = Membership(user=creator.account, status="creator")
        at_once = [member for member in members if chat.kind == "group" or not _is_bot(member)]
        with world.changing():
            for member in at_once:
                set_status(world, chat, _account(member), "member", by=creator.account)
            created = {f"{chat.kind}_chat_created": True}
            announce(world, chat, creator.account, created)
        for member in members:
            if member not in at_once:
                group.add(member)
        return group

    @property
    def id(self) -> int:
        return self.chat.id

    @property
    def title(self) -> str:
        return self.chat.title

    def add(self, member: Somebody | Bot, *, by: Somebody | None = None) -> None:
        """Add somebody, also somebody removed before. The creator does, unless said otherwise."""
        account = _account(member)
        with self.world.changing():
            known = self.chat.member(account.id)
            assert known is None or not known.present, "already in the group"
            set_status(self.world, self.chat, account, "member", by=self._actor(by))
            told = {
                "new_chat_participant": account.as_json(),
                "new_chat_member": account.as_json(),
                "new_chat_members": [account.as_json()],
            }
            announce(self.world, self.chat, self._actor(by), told)

    def remove(self, member: Somebody | Bot, *, by: Somebody | None = None) -> None:
        """Remove somebody; who does it to oneself leaves. A basic group bans no person."""
        account, actor = _account(member), self._actor(by)
        with self.world.changing():
            leaves = account is actor or (self.chat.kind == "group" and not account.is_bot)
            status: Status = "left" if leaves else "kicked"
            also_told = (account,) if isinstance(account, Bot) else ()
            set_status(self.world, self.chat, account, status, by=actor)
            told = {
                "left_chat_participant": account.as_json(),
                "left_chat_member": account.as_json(),
            }
            announce(self.world, self.chat, actor, told, also_told=also_told)

    def promote(self, member: Somebody | Bot, *rights: str, by: Somebody | None = None) -> None:
        """Make somebody an administrator.

        Args:
            member: In the group.
            *rights: Of `botapi.members.RIGHTS`; without any, pinning messages. In a basic group,
                administrators have that group's fixed rights.
            by: The creator, unless said otherwise.
        """
        given = frozenset(rights or ("can_pin_messages",)) | {"can_manage_chat"}
        assert given <= set(RIGHTS), f"unknown rights: {given - set(RIGHTS)}"
        if self.chat.kind == "group":
            given = BASIC_GROUP_RIGHTS
        with self.world.changing():
            set_status(
                self.world,
                self.chat,
                _account(member),
                "administrator",
                by=self._actor(by),
                rights=given,
            )

    def demote(self, member: Somebody | Bot, *, by: Somebody | None = None) -> None:
        """Make an administrator an ordinary member again."""
        with self.world.changing():
            set_status(self.world, self.chat, _account(member), "member", by=self._actor(by))

    def topic(self, name: str, *, by: Somebody | None = None) -> Topic:
        """Open a topic of a forum."""
        assert self.chat.is_forum, "only forums have topics"
        with self.world.changing():
            opened = Message(
                chat=self.chat,
                sender=self._actor(by),
                date=self.world.date(),
                content={"forum_topic_created": {"name": name, "icon_color": 7322096}},
                is_service=True,
            )
            topic = Topic(name=name, opened_by=opened)
            opened.topic = topic
            number(opened)
            self.chat.topics[topic.id] = topic
            keep(self.world, opened)
            return topic

    def rename(self, title: str, *, by: Somebody | None = None) -> None:
        """Give the group another title."""
        with self.world.changing():
            self.chat.title = title
            announce(self.world, self.chat, self._actor(by), {"new_chat_title": title})

    def migrate(self, *, by: Somebody | None = None) -> int:
        """Make the basic group a supergroup, as the app does for some settings; return its id."""
        assert self.chat.kind == "group", "already a supergroup"
        actor, old = self._actor(by), self.chat
        with self.world.changing():
            new = Chat(
                id=FIRST_SUPERGROUP - len(self.world.groups), kind="supergroup", title=old.title
            )
            self.world.groups[new.id] = new
            new.members = dict(old.members)
            announce(self.world, old, actor, {"migrate_to_chat_id": new.id})
            announce(self.world, new, actor, {"migrate_from_chat_id": old.id})
            old.migrated_to = new
            self.chat = new
        return new.id

    def _actor(self, by: Somebody | None) -> User:
        return self.creator if by is None else by.account


def _account(member: Somebody | Bot) -> User:
    return member if isinstance(member, Bot) else member.account


def _is_bot(member: Somebody | Bot) -> bool:
    return isinstance(member, Bot)
