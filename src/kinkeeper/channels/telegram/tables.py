"""Tables of a bot: how far its updates were handled, and who spoke to it that it does not listen to.

A bot may serve several households; what belongs to none of them stands under an empty key.
"""

from sqlalchemy import BigInteger, Column, Integer, String, Table

from kinkeeper.store.schema import Instant, metadata

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
