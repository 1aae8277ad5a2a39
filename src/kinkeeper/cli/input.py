"""Opens what a FILE command reads, and answers the lines of a file one by one."""

import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from kinkeeper.cli.terminal import Progress, answer_json
from kinkeeper.core.errors import InputError
from kinkeeper.messaging.message_json import parse_record

STDIN = Path("-")
LONGEST_DOCUMENT = 128 << 20
"""Bytes of one line, or of one document that spans lines."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@contextmanager
def lines_of(path: Path) -> Iterator[Iterable[bytes]]:
    """Open a file for reading line by line, as the lines come.

    Raises:
        InputError: It cannot be read; while reading, that a line is too long to be held in memory.
    """
    if path == STDIN:
        yield _lines(sys.stdin.buffer)
        return
    try:
        stream = path.open("rb")
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error
    with stream:
        yield _lines(stream)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    for number, line in enumerate(iter(partial(stream.readline, LONGEST_DOCUMENT + 1), b""), 1):
        if len(line) > LONGEST_DOCUMENT:
            raise too_long(f"line {number}")
        yield line


def too_long(what: str) -> InputError:
    """Return the error about something that is too long to be held in memory."""
    return InputError(f"{what} is longer than {LONGEST_DOCUMENT >> 20} MB; split the file")


def records_of(path: Path) -> Iterator[tuple[int, Mapping[str, Any] | InputError]]:
    """Yield the number and the JSON object of each line, or what is wrong with it; empty lines are passed over."""
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
    """Return a text of a record, such that it can be written out again."""
    value = record.get(name)
    if not isinstance(value, str):
        raise InputError(f'"{name}" is missing or not text')
    # Halves of a character cannot be written out again.
    return value.encode("utf-8", "replace").decode()


# Answers the lines of a file one by one, in their order; a bad line is told in its place.

Answer = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


async def answered(path: Path, answer: Answer, *, progress: Progress | None = None) -> int:
    """Write a line for each line of a file, with the id of its record; returns how many lines were bad.

    Args:
        path: JSON lines; "-" reads the standard input.
        answer: Makes the rest of a line from a record; raises InputError where it is wrong.
        progress: Told of each line.
    """
    bad = 0
    for number, record in records_of(path):
        try:
            if isinstance(record, InputError):
                raise record
            known = {"id": record["id"]} if "id" in record else {}
            answer_json({**known, **await answer(record)})
        except InputError as error:
            bad += 1
            answer_json({"line": number, "error": str(error)})
        if progress is not None:
            progress.add(1)
    if progress is not None:
        progress.finish()
    return bad
