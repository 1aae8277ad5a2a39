"""Chats that are no household's here: nothing of what is said in them is kept, only that they are there.

What they are told goes out through an outbox of its own, so no household's rows name a stranger.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, insert, select, update

from kinkeeper.channels.telegram.families import CHANNEL
from kinkeeper.channels.telegram.tables import telegram_strangers
from kinkeeper.messaging import outbox
from kinkeeper.messaging.outbound import Outbound
from kinkeeper.store.locks import lock

NOBODY = ""
"""Stands for a household where something belongs to none; no household file can have this id."""

_MOST = 100
_ANSWER_WITHIN = timedelta(hours=1)
_ONCE_IN = timedelta(days=1)
_columns = telegram_strangers.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranger:
    """A chat that is not listened to.

    Attributes:
        chat_id: Telegram's number of it, as the household file would name it.
        times: How often something came from it.
        last_at: Aware; when last.
    """

    chat_id: str
    times: int
    last_at: datetime


def count(conn: Connection, bot: str, chat_id: str, *, now: datetime) -> None:
    """Count something that came from a chat that is no household's here.

    Args:
        conn: In a write transaction.
        bot: Telegram's number of the bot.
        chat_id: The chat.
        now: Aware.
    """
    lock(conn, NOBODY)
    mine = (_columns.household == NOBODY, _columns.bot == bot)
    counted = conn.execute(
        update(telegram_strangers)
        .where(*mine, _columns.chat_id == chat_id)
        .values(times=_columns.times + 1, last_at=now)
    )
    if counted.rowcount:
        return
    # Anybody can add a bot to a chat: the longest silent make room.
    known = conn.execute(
        select(_columns.chat_id).where(*mine).order_by(_columns.last_at.desc(), _columns.chat_id)
    ).scalars()
    if too_many := list(known)[_MOST - 1 :]:
        conn.execute(delete(telegram_strangers).where(*mine, _columns.chat_id.in_(too_many)))
    conn.execute(
        insert(telegram_strangers).values(
            household=NOBODY, bot=bot, chat_id=chat_id, times=1, last_at=now
        )
    )


def answer(conn: Connection, chat_id: str, account: int | None, *, now: datetime) -> None:
    """Tell somebody who is no member their number, once a day, and nothing else.

    Args:
        conn: In a write transaction.
        chat_id: Their private chat.
        account: Telegram's number of them.
        now: Aware.
    """
    lock(conn, NOBODY)
    outbox.forget(conn, NOBODY, before=now - _ONCE_IN)
    message = Outbound(
        channel=CHANNEL, chat_id=chat_id,
        body=f"I only talk to members of the household. Your Telegram id is {account}.",
        dedupe_key=f"stranger:{chat_id}", deliver_by=now + _ANSWER_WITHIN, is_unprompted=False,
        is_soundless=True,
    )  # fmt: skip
    outbox.put(conn, NOBODY, message, now=now)


def find(conn: Connection, bot: str) -> Sequence[Stranger]:
    """Return the chats that are not listened to, the latest first."""
    rows = conn.execute(
        select(telegram_strangers)
        .where(_columns.household == NOBODY, _columns.bot == bot)
        .order_by(_columns.last_at.desc(), _columns.chat_id)
    )
    return [Stranger(chat_id=row.chat_id, times=row.times, last_at=row.last_at) for row in rows]
