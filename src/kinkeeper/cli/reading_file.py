"""Reads the texts of a file into frames, line by line."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

from kinkeeper.bootstrap import household_path, read_households
from kinkeeper.cli.input import text_in
from kinkeeper.cli.line_by_line import answered
from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import log_to_stderr, settings_of
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock, instant_told
from kinkeeper.household.model import Household
from kinkeeper.language.text_folding import fold
from kinkeeper.reading import Context, Frame, Said, Surface, Utterance
from kinkeeper.reading.trained import TrainedReader


def read_file(where: Where, file: Path) -> int:
    """Write the frames of each text of a file; returns how many lines were bad.

    Args:
        where: Household, whose people and zone are known.
        file: JSON lines.

    Raises:
        ConfigError: The household file is missing or wrong.
        InputError: The file cannot be read.
    """
    log_to_stderr()
    return asyncio.run(_read_all(where, file))


async def _read_all(where: Where, file: Path) -> int:
    settings = settings_of(where)
    household = read_households(household_path(settings, where.household), settings)[0]
    reader = TrainedReader()

    async def read(record: Mapping[str, Any]) -> Mapping[str, Any]:
        utterance, context = _utterance(record, household), _context(record, household)
        begun = perf_counter()
        reading = reader.read(utterance, context)
        milliseconds = round((perf_counter() - begun) * 1000, 1)
        frames = [frame_record(each, utterance.text) for each in reading.frames]
        return {"frames": frames, "engine": reading.engine, "ms": milliseconds}

    return await answered(file, read)


def _utterance(record: Mapping[str, Any], household: Household) -> Utterance:
    surface, sent_at = record.get("surface", Surface.GROUP.value), record.get("sent_at")
    if surface not in {each.value for each in Surface}:
        raise InputError(f'"surface" is one of {", ".join(each.value for each in Surface)}')
    at = SystemClock().now() if sent_at is None else instant_told(str(sent_at), household.zone)
    return Utterance(
        text=text_in(record, "text"), speaker=str(record.get("speaker", "")),
        sent_at=at.astimezone(household.zone), surface=Surface(surface),
    )  # fmt: skip


def _context(record: Mapping[str, Any], household: Household) -> Context:
    before = record.get("context", [])
    if not isinstance(before, Sequence) or not all(isinstance(each, Mapping) for each in before):
        raise InputError('"context" is a list of {"text", "speaker"}')
    names = {name for each in household.members for name in (each.name, *each.aliases)}
    return Context(
        before=[Said(str(each.get("speaker", "")), text_in(each, "text")) for each in before],
        people=frozenset(fold(each).text for each in names), locale=household.locale,
    )  # fmt: skip


def frame_record(frame: Frame, text: str) -> dict[str, Any]:
    """Return the JSON form of a frame.

    Args:
        frame: Read in the text.
        text: All of the message.
    """
    record = asdict(frame)
    record["clause"] = [frame.clause.start, frame.clause.end]
    record["slots"] = [
        {**asdict(each), "text": text[each.start : each.end], "p": round(each.p, 3)}
        for each in frame.slots
    ]
    return record | {"plan": round(frame.plan, 3), "p": round(frame.p, 3)}
