"""Numbers and times of requests, no further than a database column reaches."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import AfterValidator

from kinkeeper.core.errors import InputError
from kinkeeper.core.time import check_told

LARGEST_NUMBER: Final = 2**31 - 1
"""Of a row or an event: what a column of numbers holds in every database."""


def _told(instant: datetime) -> datetime:
    try:
        return check_told(instant)
    except InputError as error:
        raise ValueError(error) from None


ToldTime = Annotated[datetime, AfterValidator(_told)]
"""A time within the years that can be shown and reckoned with in every zone."""
