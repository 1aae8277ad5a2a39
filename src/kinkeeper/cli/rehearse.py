"""`kinkeeper rehearse`: a script lived through the real program on a virtual clock."""

import asyncio
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer

from kinkeeper.bootstrap import household_path, open_system, read_households
from kinkeeper.bootstrap.models import model_extractor, models_opened
from kinkeeper.bootstrap.rehearsal import Rehearsal, Step
from kinkeeper.cli.input import records_of
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import log_to_stderr, settings_of
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.errors import InputError, KinkeeperError
from kinkeeper.core.time import VirtualClock, instant_told
from kinkeeper.settings.model import Settings

_RESET, _HOUSEHOLD, _ADVANCE = "reset", "household", "advance"
Line = Step | Mapping[str, Any]
"""A step, or the record that stands in the place of a bad line."""

app = typer.Typer()


@app.command()
@located
def rehearse(
    where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines {"at", "do", "as", "text", …}; docs/operations.md describes them; "-" reads stdin.',
        ),
    ],
    seed: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Script to play first, without showing it."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=64, help="Number of processes for the parts between resets.")
    ] = 1,
) -> None:
    """Play a script in a scratch database on a virtual clock; shows the result of each line."""
    if rehearse_file(where, file, seed=seed, jobs=jobs):
        raise typer.Exit(2)


@dataclass(frozen=True, slots=True)
class Scene:
    """What is played with one household file.

    Attributes:
        lines: In their order.
    """

    household: Path
    lines: list[Line] = field(default_factory=list)


Part = list[Scene]
"""What is played from one reset to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where parts are played."""

    settings: Settings
    household: Path


def rehearse_file(where: Where, file: Path, *, seed: Path | None, jobs: int) -> int:
    """Play a script and write what came of each line; returns how many lines were bad.

    Args:
        where: Household; a database must not be named.
        file: The script, JSON lines.
        seed: A script that is played before every part, and not shown.
        jobs: Most processes, > 0.

    Raises:
        InputError: A file cannot be read, the seed has a bad line, or a database is named.
    """
    if where.db is not None:
        raise InputError("a rehearsal runs in a scratch database; leave out --db")
    log_to_stderr()
    settings = settings_of(where)
    stage = Stage(settings=settings, household=household_path(settings, where.household))
    with tempfile.TemporaryDirectory(prefix="kinkeeper-rehearsal-") as folder:
        parts = _parts(file, stage)
        database = Path(folder) / "seed.sqlite"
        # Also without a seed: a copy is several times faster than a new schema for each part.
        _seed(stage, _parts(seed, stage)[0] if seed else _first_moment(parts), database)
        bad = 0
        for record in _played(stage, database, parts, jobs):
            bad += "error" in record
            answer_json(record)
        return bad


def _seed(stage: Stage, part: Part, database: Path) -> None:
    for record in asyncio.run(_collected(stage, part, database)):
        if "error" in record:
            raise InputError(f"the seed, line {record['line']}: {record['error']}")


def _first_moment(parts: Sequence[Part]) -> Part:
    """Return a part in which nothing happens, at the time of the first step."""
    lines = [line for part in parts for scene in part for line in scene.lines]
    first = next((line for line in lines if isinstance(line, Step)), None)
    household = parts[0][0].household
    return [Scene(household, [] if first is None else [replace(first, do=_ADVANCE)])]


def _parts(file: Path, stage: Stage) -> list[Part]:
    """Read a script; the record of a bad line stands in its place."""
    zone = read_households(stage.household, stage.settings)[0].zone
    parts: list[Part] = [[Scene(stage.household)]]
    for number, record in records_of(file):
        do = None if isinstance(record, InputError) else record.get("do")
        if do == _RESET:
            parts.append([Scene(stage.household)])
            continue
        line = _line(number, record, zone)
        if do == _HOUSEHOLD and isinstance(line, Step):
            parts[-1].append(Scene(stage.household.parent / str(line.details.get("text", ""))))
            line = {"at": line.at.isoformat(), "do": _HOUSEHOLD, "changes": {}}
        parts[-1][-1].lines.append(line)
    return parts


def _line(number: int, record: Mapping[str, Any] | InputError, zone: ZoneInfo) -> Line:
    if isinstance(record, InputError):
        return {"line": number, "error": str(record)}
    at, do = record.get("at"), record.get("do")
    if not isinstance(at, str) or not isinstance(do, str):
        return {"line": number, "error": '"at" or "do" is missing or not text'}
    try:
        return Step(number=number, at=instant_told(at, zone), do=do, details=record)
    except InputError as error:
        return {"line": number, "error": str(error)}


def _played(
    stage: Stage, seed: Path, parts: Sequence[Part], jobs: int
) -> Iterator[Mapping[str, Any]]:
    if jobs == 1 or len(parts) == 1:
        for part in parts:
            yield from _play_part(stage, seed, part)
        return
    # A process that is forked would share its parent's threads' locks.
    with ProcessPoolExecutor(min(jobs, len(parts)), get_context("spawn")) as pool:
        for records in pool.map(partial(_play_part, stage, seed), parts):
            yield from records


def _play_part(stage: Stage, seed: Path, part: Part) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="kinkeeper-rehearsal-") as folder:
        database = Path(folder) / "family.sqlite"
        _copy(seed, database)
        return asyncio.run(_collected(stage, part, database))


def _copy(source: Path, target: Path) -> None:
    """Copy a SQLite database with all that its log holds."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


async def _collected(stage: Stage, part: Part, database: Path) -> list[dict[str, Any]]:
    return [record for scene in part async for record in _records(stage.settings, scene, database)]


async def _records(
    settings: Settings, scene: Scene, database: Path
) -> AsyncIterator[dict[str, Any]]:
    """Play a scene and yield the output lines."""
    start = next((line.at for line in scene.lines if isinstance(line, Step)), None)
    if start is None:
        for record in scene.lines:
            if not isinstance(record, Step):
                yield dict(record)
        return
    async with AsyncExitStack() as opened:
        system = opened.enter_context(
            open_system(settings, household_file=scene.household, database=str(database), now=start)
        )
        clock = VirtualClock(start)
        zones = {system.household.id: system.household.zone}
        gateway = await opened.enter_async_context(
            models_opened(settings, store=system.store, clock=clock, zones=zones)
        )
        rehearsal = Rehearsal(
            system, clock, gateway=gateway, extractor=model_extractor(settings, gateway)
        )
        opened.push_async_callback(rehearsal.close)
        for line in scene.lines:
            if not isinstance(line, Step):
                yield dict(line)
                continue
            try:
                async for record in rehearsal.play(line):
                    yield record
            except KinkeeperError as error:
                yield {"line": line.number, "error": str(error)}
