"""Opens what a FILE command reads: a file, or the standard input for "-"."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kinkeeper.core.errors import InputError
from kinkeeper.messaging.records import parse_record

STDIN = Path("-")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@contextmanager
def lines_of(path: Path) -> Iterator[Iterable[bytes]]:
    """Open a file for reading line by line, as the lines come.

    Raises:
        InputError: It cannot be read.
    """
    if path == STDIN:
        yield sys.stdin.buffer
        return
    try:
        stream = path.open("rb")
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error
    with stream:
        yield stream


def records_of(path: Path) -> Iterator[tuple[int, Mapping[str, Any] | InputError]]:
    """Yield the number and the JSON object of each line, or what is wrong with it; empty lines are passed over.

    Raises:
        InputError: The file cannot be read.
    """
    with lines_of(path) as lines:
        for number, raw in enumerate(lines, start=1):
            line = raw.removeprefix(_BYTE_ORDER_MARK) if number == 1 else raw
            if not line.strip():
                continue
            try:
                yield number, parse_record(line)
            except InputError as error:
                yield number, error


def text_in(record: Mapping[str, Any], name: str) -> str:
    """Return a text of a record, such that it can be written out again.

    Raises:
        InputError: It is missing or no text.
    """
    value = record.get(name)
    if not isinstance(value, str):
        raise InputError(f'"{name}" is missing or no text')
    # Halves of a character cannot be written out again.
    return value.encode("utf-8", "replace").decode()
