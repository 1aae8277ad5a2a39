"""How far a bot's updates were handled, written with what they led to; and the tables of a bot."""

from datetime import datetime, timedelta

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    String,
    Table,
    delete,
    insert,
    select,
)

from kinkeeper.store.schema import Instant, metadata

# Tables of a bot: how far its updates were handled, and who spoke to it that it does not listen to.
#
# A bot may serve several households; what belongs to none of them stands under an empty key.

telegram_progress = Table(
    "telegram_progress",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("bot", String(32), primary_key=True),
    Column("next_update", BigInteger, nullable=False),
    Column("handled_at", Instant, nullable=False),
)

telegram_strangers = Table(
    "telegram_strangers",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("bot", String(32), primary_key=True),
    Column("chat_id", String(32), primary_key=True),
    Column("times", Integer, nullable=False),
    Column("last_at", Instant, nullable=False),
)


# Telegram keeps an update for a day. After a week without any it begins a new count, which may lie
# lower: an old place in the old count would then skip everything.
_REMEMBERED = timedelta(hours=24)
_NOBODY = ""
_columns = telegram_progress.c


def note(conn: Connection, bot: str, update_id: int, *, now: datetime) -> None:
    """Note that an update, and all before it, were handled."""
    mine = (_columns.household == _NOBODY, _columns.bot == bot)
    conn.execute(delete(telegram_progress).where(*mine))
    conn.execute(
        insert(telegram_progress).values(
            household=_NOBODY, bot=bot, next_update=update_id + 1, handled_at=now
        )
    )


def load(conn: Connection, bot: str, *, now: datetime) -> int | None:
    """Return the first update that was not handled; None where that says nothing (any more)."""
    found: int | None = conn.execute(
        select(_columns.next_update).where(
            _columns.household == _NOBODY,
            _columns.bot == bot,
            _columns.handled_at > now - _REMEMBERED,
        )
    ).scalar()
    return found
