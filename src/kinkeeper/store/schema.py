"""What all tables share: one metadata object, instants, JSON columns as text, names of constraints."""

import json
from datetime import datetime
from typing import Any

from pydantic_core import from_json, to_json
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


# JSON columns as text and back: each message brings four, and the standard library takes several
# times as long.


def json_text(value: object) -> str:
    """Return the JSON of a value; in place of a number that JSON has not (infinite, not a number) stands null.

    Raises:
        TypeError: It has none.
    """
    try:
        return to_json(value, inf_nan_mode="null").decode()
    except ValueError:
        # Halves of characters, very long numbers, kinds of text: what the fast encoder does not know.
        # It writes "Infinity", which PostgreSQL refuses.
        finite = json.loads(json.dumps(value), parse_constant=lambda _: None)
        return json.dumps(finite)


def json_value(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: It is no JSON.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        # What the standard encoder wrote above, the fast decoder need not know either.
        return json.loads(text)
