"""What all tables share: one metadata object, the column type of instants, the naming of constraints."""

from datetime import datetime
from typing import Any

from sqlalchemy import Dialect, MetaData, String
from sqlalchemy.types import TypeDecorator

from kinkeeper.core.time import from_text, to_text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Instant(TypeDecorator[datetime]):
    """An aware datetime, stored as fixed-width UTC text so that both databases order it alike."""

    impl = String(27)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """Return the storage text of an aware datetime."""
        return None if value is None else to_text(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        """Return the aware UTC datetime of a storage text."""
        return None if value is None else from_text(value)
