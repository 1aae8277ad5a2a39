"""Runs the measurement suites and shows tables, floors and the worst mistakes."""

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Drawing
from rich.text import Text

from kinkeeper.actions.payload import action_record
from kinkeeper.actions.repository import open_actions
from kinkeeper.bootstrap import System, open_system
from kinkeeper.cli.chat_lines import ChatLine, chat_line
from kinkeeper.cli.observing import decisions
from kinkeeper.cli.opening import instant_of, log_to_stderr, present
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.errors import InputError
from kinkeeper.evaluation import tripwire, when
from kinkeeper.evaluation.episode_file import load_episodes
from kinkeeper.evaluation.episodes import evaluate_episodes
from kinkeeper.evaluation.report import Report, Table
from kinkeeper.settings.model import Settings

_WORST_SHOWN = 15

Suite = Callable[[Path | None, Path], Iterator[Report]]


def run_evaluation(suite: str, *, data: Path | None, own: Path, as_json: bool) -> bool:
    """Run one suite or several, and show what they found.

    Args:
        suite: A name of `SUITES`.
        data: Folder with the public sets, if there is one.
        own: Folder with our own labelled chats.
        as_json: Answer with one JSON list.

    Returns:
        Whether every floor was reached.

    Raises:
        InputError: There is no such suite, or its data is missing.
    """
    log_to_stderr()
    if suite not in SUITES:
        raise InputError(f"no suite {suite!r}; known are {', '.join(SUITES)}")
    reports = []
    for part in SUITES[suite]:
        for report in part(data, own):
            reports.append(report)
            if not as_json:
                _show(console(), report)
    if as_json:
        answer_json([_record(report) for report in reports])
    return all(floor.holds for report in reports for floor in report.floors)


class _Replaying:
    """Replays chats, each in a database of its own, and remembers what awaits a person at the end.

    Args:
        root: Folder that the paths of household files start from.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._pending: list[dict[str, Any]] = []

    def run(
        self, household: Path, messages: Sequence[Mapping[str, Any]], until: str | None
    ) -> list[dict[str, Any]]:
        """Replay one chat and return its output lines."""
        inputs = [chat_line(number, each) for number, each in enumerate(messages, start=1)]
        with (
            tempfile.TemporaryDirectory(prefix="kinkeeper-eval-") as folder,
            open_system(
                Settings(), household_file=self._root / household,
                database=str(Path(folder) / "eval.sqlite"),
                now=inputs[0].message.sent_at if inputs else None,
            ) as system,
        ):  # fmt: skip
            end = instant_of(until, system.household) if until else None
            lines = asyncio.run(_collected(system, inputs, end))
            now = max(present(system), end) if end else present(system)
            open_now = system.store.read_now(
                lambda conn: open_actions(conn, system.household.id, now=now)
            )
        self._pending = [action_record(action) for action in open_now]
        return lines

    def pending(self) -> list[dict[str, Any]]:
        """Return what awaited a person at the end of the last replay."""
        return self._pending


async def _collected(
    system: System, inputs: Sequence[ChatLine], until: datetime | None
) -> list[dict[str, Any]]:
    return [line async for line in decisions(system, inputs, until=until)]


def _tripwire(data: Path | None, own: Path) -> Iterator[Report]:
    yield tripwire.measure(_needed(data), chats=own)


def _when(data: Path | None, _own: Path) -> Iterator[Report]:
    yield when.measure(_needed(data))


def _episodes(_data: Path | None, own: Path) -> Iterator[Report]:
    files = sorted(own.glob("episodes_*.jsonl"))
    if not files:
        raise InputError(f"no episodes_*.jsonl in {str(own)!r}; name their folder with --evals")
    for file in files:
        notice(f"replaying {file} …")
        replaying = _Replaying(own.parent)
        report = evaluate_episodes(load_episodes(file), replaying.run, replaying.pending)
        yield replace(report, suite=file.stem)


SUITES: Mapping[str, Sequence[Suite]] = {
    "observer": (_tripwire, _episodes),
    "tripwire": (_tripwire,),
    "episodes": (_episodes,),
    "when": (_when,),
    "all": (_tripwire, _episodes, _when),
}


def _needed(data: Path | None) -> Path:
    if data is None:
        raise InputError(
            "this suite needs the public data sets; name their folder with --data DIR "
            "or KINKEEPER_DATA"
        )
    return data


def _record(report: Report) -> dict[str, Any]:
    record = asdict(report)
    for entry, floor in zip(record["floors"], report.floors, strict=True):
        entry["holds"] = floor.holds
    return record


def _show(screen: Console, report: Report) -> None:
    for table in report.tables:
        screen.print(_drawn(table))
    floors = Drawing(title=f"{report.suite}: floors", title_justify="left")
    for heading in ("figure", "now", "floor", ""):
        floors.add_column(heading, justify="left" if heading in {"figure", ""} else "right")
    for floor in report.floors:
        verdict = Text("ok", "green") if floor.holds else Text("BELOW", "bold red")
        floors.add_row(floor.name, f"{floor.value:.4g}", f"{floor.minimum:.4g}", verdict)
    screen.print(floors)
    if report.worst:
        screen.print(f"Worst mistakes ({len(report.worst)}):")
        for mistake in report.worst[:_WORST_SHOWN]:
            screen.print(f"  {mistake}", soft_wrap=True)


def _drawn(table: Table) -> Drawing:
    drawing = Drawing(title=table.title, title_justify="left")
    for number, heading in enumerate(table.columns):
        drawing.add_column(heading, justify="right" if number else "left")
    for row in table.rows:
        drawing.add_row(*(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row))
    return drawing
