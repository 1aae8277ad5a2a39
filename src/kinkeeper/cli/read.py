"""`kinkeeper read`: what texts say, as frames."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from kinkeeper.bootstrap import System, household_path, read_households
from kinkeeper.bootstrap.models import models_opened
from kinkeeper.cli.input import answered, records_of, text_in
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import log_to_stderr, opened, settings_of
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.errors import InputError, UnavailableError
from kinkeeper.core.time import SystemClock, instant_told
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.language.text import fold
from kinkeeper.observer.group_reader import (
    BatchRead,
    GroupReader,
    batch_of,
    events_ahead,
    group_prompt,
)
from kinkeeper.reading import Context, Frame, Said, Surface, Utterance
from kinkeeper.reading.batch import Heard, cut_batches
from kinkeeper.reading.batch_grounding import Found
from kinkeeper.reading.trained import TrainedReader

app = typer.Typer()


@app.command()
@located
def read(
    where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines {"id", "text", "speaker", "sent_at", "surface", "context"?: [{"text", "speaker"}]}; '
            '"-" reads stdin.',
        ),
    ],
    *,
    model: Annotated[
        bool,
        typer.Option(
            "--model",
            help="Read the lines as one group chat, in batches, with the configured language model.",
        ),
    ] = False,
) -> None:
    """Show how the trained reader, or a language model, reads texts."""
    read_all = read_talk if model else read_file
    if read_all(where, file):
        raise typer.Exit(2)


def read_file(where: Where, file: Path) -> int:
    """Write the frames of each text of a file; returns how many lines were bad."""
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
        frames = [_frame_record(each, utterance.text) for each in reading.frames]
        return {"frames": frames, "engine": reading.engine, "ms": milliseconds}

    return await answered(file, read)


def _utterance(record: Mapping[str, Any], household: Household) -> Utterance:
    surface, sent_at = record.get("surface", Surface.GROUP.value), record.get("sent_at")
    if surface not in {each.value for each in Surface}:
        raise InputError(f'"surface" must be one of {", ".join(each.value for each in Surface)}')
    at = SystemClock().now() if sent_at is None else instant_told(str(sent_at), household.zone)
    return Utterance(
        text=text_in(record, "text"),
        speaker=str(record.get("speaker", "")),
        sent_at=at.astimezone(household.zone),
        surface=Surface(surface),
    )


def _context(record: Mapping[str, Any], household: Household) -> Context:
    before = record.get("context", [])
    if not isinstance(before, Sequence) or not all(isinstance(each, Mapping) for each in before):
        raise InputError('"context" is a list of {"text", "speaker"}')
    names = {name for each in household.members for name in (each.name, *each.aliases)}
    return Context(
        before=[Said(str(each.get("speaker", "")), text_in(each, "text")) for each in before],
        people=frozenset(fold(each).text for each in names),
        locale=household.locale,
    )


def _frame_record(frame: Frame, text: str) -> dict[str, Any]:
    """Return the JSON form of a frame."""
    record = asdict(frame)
    record["clause"] = [frame.clause.start, frame.clause.end]
    record["slots"] = [
        {**asdict(each), "text": text[each.start : each.end], "p": round(each.p, 3)}
        for each in frame.slots
    ]
    return record | {"plan": round(frame.plan, 3), "p": round(frame.p, 3)}


def read_talk(where: Where, file: Path) -> int:
    """Write what a model reads in each message of a group chat; returns how many lines were bad.

    Args:
        file: JSON lines, oldest message first; "-" reads the standard input.
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
                "no model is set up; set MODEL_URL or MODEL_GGUF, and READER=auto"
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
    """Return a record with the message that it tells."""
    if isinstance(record, InputError):
        raise record
    sent_at = instant_told(text_in(record, "sent_at"), household.zone)
    return record, Heard(
        speaker=text_in(record, "speaker"),
        text=text_in(record, "text"),
        sent_at=sent_at.astimezone(household.zone),
    )


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
    return _frame_record(found.frame, text) | {
        "title": found.title,
        "at": found.at.isoformat() if found.at else None,
        "who": found.who,
        "by": found.by,
        "about": found.thing,
        "left_out": found.left_out,
    }
