"""Text of a program's pipe, of which no line may become longer than can be read.

The protocol's library gathers a line until it ends, however long that takes, and asks only for an encoding by
its name. So this is one.
"""

import codecs
from typing import Final

ENCODING: Final = "kinkeeper-limited-lines"
"""UTF-8 in lines of limited length."""
LONGEST_LINE: Final = 1024 * 1024


class _Decoder(codecs.IncrementalDecoder):
    """Decodes UTF-8 piece by piece."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._inner = codecs.getincrementaldecoder("utf-8")(errors)
        self._length = 0

    def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override]  # noqa: FBT001, FBT002 - as the library calls it
        """Return the text of a piece.

        Raises:
            UnicodeError: The line it belongs to is too long, or it is no UTF-8.
        """
        _, end, rest = data.rpartition(b"\n")
        self._length = len(rest) if end else self._length + len(data)
        if self._length > LONGEST_LINE:
            raise UnicodeError(f"a line is longer than {LONGEST_LINE:,} bytes")
        return self._inner.decode(data, final)


def _find(name: str) -> codecs.CodecInfo | None:
    if name != ENCODING.replace("-", "_"):
        return None
    plain = codecs.lookup("utf-8")
    return codecs.CodecInfo(plain.encode, plain.decode, incrementaldecoder=_Decoder, name=ENCODING)


codecs.register(_find)
