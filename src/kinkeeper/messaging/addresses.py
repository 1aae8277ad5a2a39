"""Where people can be reached: chats that moved, private chats, groups that can show a line to one member."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Table, delete, insert, select

from kinkeeper.messaging.tables import chat_moves, member_only_chats, private_chats

_moves = chat_moves.c
_private = private_chats.c
_member_only = member_only_chats.c

# A chat that moves more often than this goes in a circle.
_MOST_MOVES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where one member can be reached alone.

    Attributes:
        is_private: Whether nobody else is in it; otherwise only the message is hidden from the others.
    """

    chat_id: str
    is_private: bool


def record_move(
    conn: Connection, household: str, channel: str, *, old: str, new: str, now: datetime
) -> bool:
    """Remember that a chat got another id.

    Args:
        old: Its id until now.

    Returns:
        Whether it leads on, be it news or not; a move back to where the chat came from is refused.
    """
    known, onward = (_later_ids(conn, household, channel, each) for each in (old, new))
    if old in onward:
        return False
    if new not in known[1:]:
        key = {"household": household, "channel": channel, "old_chat_id": old}
        _replace(conn, chat_moves, key, {"new_chat_id": new, "moved_at": now})
    return True


def current_chat(conn: Connection, household: str, channel: str, chat_id: str) -> str:
    """Return the id that a chat has now."""
    return _later_ids(conn, household, channel, chat_id)[-1]


def _later_ids(conn: Connection, household: str, channel: str, chat_id: str) -> list[str]:
    """Return an id of a chat and those it got later, the latest last."""
    found = [chat_id]
    for _ in range(_MOST_MOVES):
        moved = conn.execute(
            select(_moves.new_chat_id).where(
                _moves.household == household,
                _moves.channel == channel,
                _moves.old_chat_id == found[-1],
            )
        ).scalar()
        if moved is None:
            break
        found.append(moved)
    return found


def former_chats(conn: Connection, household: str, channel: str, chat_id: str) -> tuple[str, ...]:
    """Return the ids that a chat had before, the latest first; the household file may know only those."""
    found: list[str] = []
    asked = [chat_id]
    while asked:
        earlier = conn.execute(
            select(_moves.old_chat_id)
            .where(
                _moves.household == household,
                _moves.channel == channel,
                _moves.new_chat_id.in_(asked),
            )
            .order_by(_moves.moved_at.desc())
        ).scalars()
        asked = [each for each in earlier if each not in found]
        found += asked
    return tuple(found)


def remember_private_chat(
    conn: Connection, household: str, channel: str, *, member: str, chat_id: str, now: datetime
) -> None:
    """Remember a chat that a member opened with the assistant; it replaces an earlier one."""
    key = {"household": household, "channel": channel, "member": member}
    _replace(conn, private_chats, key, {"chat_id": chat_id, "since": now})


def forget_private_chat(conn: Connection, household: str, channel: str, member: str) -> None:
    """Forget a member's private chat: they closed it, or it refuses messages."""
    conn.execute(
        delete(private_chats).where(
            _private.household == household, _private.channel == channel, _private.member == member
        )
    )


def keep_private_chats(
    conn: Connection, household: str, channel: str, chats: Mapping[str, str]
) -> None:
    """Forget the private chats of who left the household, or has another account now.

    Args:
        chats: The chat that each member may have there, by member.
    """
    known = conn.execute(
        select(_private.member, _private.chat_id).where(
            _private.household == household, _private.channel == channel
        )
    )
    for member, chat_id in known.all():
        if chats.get(member) != chat_id:
            forget_private_chat(conn, household, channel, member)


def private_chat_of(conn: Connection, household: str, channel: str, member: str) -> str | None:
    """Return the chat in which a member can be reached alone, if they opened one."""
    return conn.execute(
        select(_private.chat_id).where(
            _private.household == household, _private.channel == channel, _private.member == member
        )
    ).scalar()


def set_member_only(
    conn: Connection, household: str, channel: str, chat_id: str, *, may: bool, now: datetime
) -> None:
    """Note whether a channel may show a message to one member only in a group.

    Args:
        may: What the channel says now.
    """
    key = {"household": household, "channel": channel, "chat_id": chat_id}
    if may:
        _replace(conn, member_only_chats, key, {"since": now})
        return
    conn.execute(
        delete(member_only_chats).where(
            _member_only.household == household,
            _member_only.channel == channel,
            _member_only.chat_id == chat_id,
        )
    )


def address_for(
    conn: Connection, household: str, channel: str, chat_id: str, *, member: str
) -> Address | None:
    """Return where a member can be told something alone: within the group, else in private, else nowhere.

    Args:
        chat_id: The group it is about, or already their private chat.
    """
    private = private_chat_of(conn, household, channel, member)
    if private == chat_id:
        return Address(chat_id=chat_id, is_private=True)
    allowed = conn.execute(
        select(_member_only.chat_id).where(
            _member_only.household == household,
            _member_only.channel == channel,
            _member_only.chat_id == chat_id,
        )
    ).first()
    if allowed is not None:
        return Address(chat_id=chat_id, is_private=False)
    return None if private is None else Address(chat_id=private, is_private=True)


def _replace(
    conn: Connection, table: Table, key: dict[str, str], values: dict[str, object]
) -> None:
    conn.execute(delete(table).where(*(table.c[name] == value for name, value in key.items())))
    conn.execute(insert(table).values({**key, **values}))
