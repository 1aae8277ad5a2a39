"""Reads a file as one group chat with a language model, batch by batch; nothing of it is kept but the calls' records."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.models import models_opened
from kinkeeper.cli.input import records_of, text_in
from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import opened
from kinkeeper.cli.reading_file import frame_record
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.errors import InputError, UnavailableError
from kinkeeper.core.time import SystemClock, instant_told
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.observer.group_reader import (
    BatchRead,
    GroupReader,
    batch_of,
    events_ahead,
    group_prompt,
)
from kinkeeper.reading.batch import Heard, cut_batches
from kinkeeper.reading.batch_grounding import Found


def read_talk(where: Where, file: Path) -> int:
    """Write what a model reads in each message of a group chat; returns how many lines were bad.

    Args:
        where: Household, whose people, calendar and settings count.
        file: JSON lines, oldest message first; "-" reads the standard input.

    Raises:
        ConfigError: The settings or the household file are wrong.
        InputError: The file cannot be read.
        UnavailableError: There is no model.
    """
    with opened(where) as system:
        records, bad = [], 0
        for number, record in records_of(file):
            try:
                records.append(_heard(record, system.household))
            except InputError as error:
                bad += 1
                answer_json({"line": number, "error": str(error)})
        asyncio.run(_read(system, records))
    return bad


async def _read(system: System, said: Sequence[tuple[Mapping[str, Any], Heard]]) -> None:
    household, clock = system.household, SystemClock()
    everybody = Viewer.of(household.id)
    async with models_opened(
        system.settings, store=system.store, clock=clock, zones={household.id: household.zone}
    ) as gateway:
        if gateway is None:
            raise UnavailableError(
                "no model is asked; set MODEL_URL or MODEL_GGUF, and READER=auto"
            )
        reader = GroupReader(gateway, group_prompt())
        begun = 0
        for window, new in cut_batches([heard for _, heard in said]):
            sent_at = window[-1].sent_at
            events = system.store.read_now(
                lambda conn, sent_at=sent_at: events_ahead(conn, everybody, household, sent_at)  # type: ignore[misc]
            )
            read = await reader.read(batch_of(household, window, new, events=events), household.id)
            begun += new
            shown = said[begun - len(window) : begun]
            for place in range(len(window) - new, len(window)):
                answer_json(_told(read, place, shown))


def _heard(
    record: Mapping[str, Any] | InputError, household: Household
) -> tuple[Mapping[str, Any], Heard]:
    """Return a record with the message that it tells.

    Raises:
        InputError: It tells none.
    """
    if isinstance(record, InputError):
        raise record
    sent_at = instant_told(text_in(record, "sent_at"), household.zone)
    return record, Heard(
        speaker=text_in(record, "speaker"), text=text_in(record, "text"),
        sent_at=sent_at.astimezone(household.zone),
    )  # fmt: skip


def _told(
    read: BatchRead, place: int, shown: Sequence[tuple[Mapping[str, Any], Heard]]
) -> dict[str, Any]:
    """Return the output line of the message at a place of a batch."""
    record, heard = shown[place]
    found = [each for each in read.grounded.found if each.message == place] if read.grounded else []
    answered = [
        None if each.answers is None else shown[each.answers][0].get("id") for each in found
    ]
    frames = [
        {**_found_record(each, heard.text), "answers": of}
        for each, of in zip(found, answered, strict=True)
    ]
    known = {"id": record["id"]} if "id" in record else {}
    return {**known, "frames": frames, "engine": read.engine, "outcome": read.outcome.value}


def _found_record(found: Found, text: str) -> dict[str, Any]:
    return frame_record(found.frame, text) | {
        "title": found.title, "at": found.at.isoformat() if found.at else None, "who": found.who,
        "by": found.by, "about": found.thing, "left_out": found.left_out,
    }  # fmt: skip
