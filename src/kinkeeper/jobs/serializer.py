"""What the job engine may write into and read from its tables: JSON, never pickled objects.

Unpickling runs code, so whoever can write the database file could run code here. The engine picks the
unpickler by a column of the row, whatever serializer it is given; hence it is taken out altogether.
"""

import json
from typing import Any, NoReturn

from kinkeeper.core.errors import DeniedError, InvariantError
from kinkeeper.jobs.library import DefaultSerializer, Serializer


class JsonSerializer(Serializer):
    """Plain JSON; of an error only its type is kept, since its text may quote a message."""

    def serialize(self, data: Any) -> str:
        """Return the JSON text of ids and small scalars.

        Raises:
            InvariantError: Something else was given to a job.
        """
        return json.dumps(data, default=_plain, separators=(",", ":"))

    def deserialize(self, serialized_data: str) -> Any:
        """Return the value of a JSON text."""
        return json.loads(serialized_data)

    def name(self) -> str:
        """Return the name stored beside every value; never change it."""
        return "kinkeeper_json"


def refuse_pickles() -> None:
    """Make the engine unable to unpickle anything, in the whole process."""
    DefaultSerializer.deserialize = _refuse  # type: ignore[assignment, method-assign]  # no setting turns it off


def _refuse(_serializer: object, _text: str) -> NoReturn:
    raise DeniedError("a job's stored value is a pickled object, which could run code; not read")


def _plain(value: object) -> object:
    if isinstance(value, BaseException):
        return {"error": type(value).__name__}
    raise InvariantError(f"a job takes ids only, not a {type(value).__name__}")
