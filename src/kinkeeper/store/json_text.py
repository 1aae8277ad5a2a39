"""JSON columns as text and back: each message brings four, and the standard library takes several times as long."""

import json
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()


def json_text(value: object) -> str:
    """Return the JSON of a value; in place of a number that JSON has not (infinite, not a number) stands null.

    Raises:
        TypeError: It has none.
    """
    try:
        return _encoder.encode(value).decode()
    except (TypeError, UnicodeEncodeError, OverflowError):
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
        return _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        # What the standard encoder wrote above, the fast decoder need not know either.
        return json.loads(text)
