"""Opens what a FILE command reads: a file, or the standard input for "-"."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kinkeeper.core.errors import InputError

STDIN = Path("-")


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
