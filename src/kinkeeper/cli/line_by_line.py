"""Answers the lines of a file one by one, in their order; a bad line is told in its place."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from kinkeeper.cli.input import records_of
from kinkeeper.cli.progress import Progress
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.errors import InputError

Answer = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


async def answered(path: Path, answer: Answer, *, progress: Progress | None = None) -> int:
    """Write a line for each line of a file, with the id of its record; returns how many lines were bad.

    Args:
        path: JSON lines; "-" reads the standard input.
        answer: Makes the rest of a line from a record; raises InputError where it is wrong.
        progress: Told of each line.

    Raises:
        InputError: The file cannot be read.
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
