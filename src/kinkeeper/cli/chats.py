"""Reads a chat file line by line: JSON lines, or a Telegram Desktop export, recognised by its shape."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from kinkeeper.cli.chat_lines import BadLine, ChatLine, chat_line
from kinkeeper.cli.input import LONGEST_DOCUMENT, too_long
from kinkeeper.cli.telegram_export import export_lines, is_export
from kinkeeper.core.errors import InputError
from kinkeeper.messaging.message_json import parse_record

_BOM = b"\xef\xbb\xbf"


def read_any_chat(lines: Iterable[bytes]) -> Iterator[ChatLine | BadLine]:
    """Yield a message or an error for each line that is not blank, as soon as it was read.

    A Telegram export is one JSON document: it is read whole, and its messages are counted as lines.
    """
    numbered = _not_blank(lines)
    first = next(numbered, None)
    if first is None:
        return
    if first[1].strip() == b"{":
        yield from _export([first, *_document(numbered)])
        return
    try:
        record = parse_record(first[1])
    except InputError:
        record = {}
    if is_export(record):
        yield from export_lines(record)
        return
    for number, line in chain([first], numbered):
        yield _read(number, line)


def _document(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of one document.

    Raises:
        InputError: There are too many of them to be held in memory.
    """
    size = 0
    for number, line in lines:
        size += len(line)
        if size > LONGEST_DOCUMENT:
            raise too_long("an export")
        yield number, line


def _export(lines: Sequence[tuple[int, bytes]]) -> Iterator[ChatLine | BadLine]:
    """Read one document that spans lines; where it is none, each line by itself."""
    try:
        record = parse_record(b"".join(line for _, line in lines))
    except InputError:
        record = {}
    if is_export(record):
        yield from export_lines(record)
        return
    yield from (_read(number, line) for number, line in lines)


def _not_blank(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    for number, raw in enumerate(lines, start=1):
        line = raw.removeprefix(_BOM) if number == 1 else raw
        if line.strip():
            yield number, line


def _read(number: int, raw: bytes) -> ChatLine | BadLine:
    try:
        return chat_line(number, parse_record(raw))
    except InputError as error:
        return BadLine(number=number, error=str(error))
