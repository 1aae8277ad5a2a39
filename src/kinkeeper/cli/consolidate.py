"""`kinkeeper consolidate`: the upkeep of memory that also runs every night."""

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.status import Status
from rich.table import Table
from sqlalchemy import Connection

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.consolidation import Consolidating
from kinkeeper.cli.located import JsonOption, Where, located
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer, answer_json, notice
from kinkeeper.core.errors import ConflictError
from kinkeeper.core.time import SystemClock
from kinkeeper.memory.upkeep.planner import Progress
from kinkeeper.memory.upkeep.rollback import revert
from kinkeeper.memory.upkeep.runs import Run, RunState, Told, latest_runs, tell

_LAST = "last"
_SHOWN = 50
_LOOKED_BACK = 100
_MICROS = 1_000_000

app = typer.Typer()


@app.command()
@located
def consolidate(
    where: Where,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change without changing anything.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Run even if many facts would be archived.")
    ] = False,
    revert: Annotated[
        str | None, typer.Option(metavar="RUN", help="Undo a run; `last` undoes the latest.")
    ] = None,
    named: Annotated[
        str | None, typer.Option("--as", metavar="MEMBER", help="Who is undoing it.")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Run the nightly memory upkeep now."""
    if revert is not None:
        _take_back(where, revert, named=named, as_json=json_)
    elif not _consolidate_now(where, is_rehearsal=dry_run, is_agreed=yes, as_json=json_):
        raise typer.Exit(1)


def _consolidate_now(where: Where, *, is_rehearsal: bool, is_agreed: bool, as_json: bool) -> bool:
    """Run the upkeep until nothing new is left, and show what it changes.

    Args:
        is_rehearsal: Whether it only tells.
        is_agreed: Whether whatever leaves may leave.

    Returns:
        Whether it is done, or would be; not where it asks.
    """
    with opened(where) as system:
        runs = _run(system, is_rehearsal=is_rehearsal, is_agreed=is_agreed)
        told = [each for run in runs for each in _told(system, run)]
        if as_json:
            answer_json(
                {
                    "dry_run": is_rehearsal,
                    "runs": [_record(each) for each in runs],
                    "changes": [_change(each) for each in told],
                }
            )
        else:
            _show(runs, told, is_rehearsal=is_rehearsal)
    return runs[-1].state is RunState.DONE


def _take_back(where: Where, wanted: str, *, named: str | None, as_json: bool) -> None:
    """Take back what a run changed.

    Args:
        wanted: Id of the run, its beginning, or "last".
        named: Who takes it back; the owner where None.
    """
    with opened(where) as system:
        household, now = system.household.id, SystemClock().now()
        member = acting(system.household, named)

        def work(conn: Connection) -> Run:
            run = _chosen(conn, household, wanted)
            revert(conn, household, run.id, by=member.id, at=now)
            return run

        run = system.store.write_now(work)
    if as_json:
        answer_json({"reverted": run.id, "changes": len(run.report.differences)})
    else:
        answer(
            f"undone: {len(run.report.differences)} changes of {run.started_at:%Y-%m-%d %H:%M} UTC"
        )


def _chosen(conn: Connection, household: str, wanted: str) -> Run:
    runs = [run for run in latest_runs(conn, household, limit=_LOOKED_BACK) if run.change_set]
    runs = runs[:1] if wanted == _LAST else [run for run in runs if run.id.startswith(wanted)]
    if len(runs) != 1:
        raise ConflictError(f"{wanted!r} does not match a run that changed something")
    return runs[0]


def _run(system: System, *, is_rehearsal: bool, is_agreed: bool) -> Sequence[Run]:
    with _progress() as progress:
        doing = Consolidating(
            system.settings,
            system.household,
            system.store,
            SystemClock(),
            progress=progress,
            is_rehearsal=is_rehearsal,
            is_agreed=is_agreed,
        )
        return asyncio.run(doing.run())


@contextmanager
def _progress() -> Iterator[Progress]:
    """Yield what shows the step under way, where somebody is looking."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with Status("begin", console=Console(stderr=True)) as status:
        yield lambda step: status.update(f"{step} …")


def _told(system: System, run: Run) -> Sequence[Told]:
    return system.store.read_now(lambda conn: tell(conn, run, viewer=None))


def _record(run: Run) -> Mapping[str, Any]:
    record = run.report.record()
    del record["differences"]
    return {
        "id": run.id,
        "state": run.state.value,
        "change_set": run.change_set,
        "changes": len(run.report.differences),
        **record,
    }


def _change(told: Told) -> Mapping[str, Any]:
    difference = told.difference
    return {
        "kind": difference.kind.value,
        "fact": difference.fact,
        "text": told.fact.narrative if told.fact else None,
        "other": difference.other,
        "other_text": told.other.narrative if told.other else None,
        "before": difference.before,
        "after": difference.after,
    }


def _show(runs: Sequence[Run], told: Sequence[Told], *, is_rehearsal: bool) -> None:
    if told:
        console().print(_table(told[:_SHOWN]))
    changes = sum(len(run.report.differences) for run in runs)
    more = (
        f" ({changes - _SHOWN} not shown; --json shows up to 200 a run)" if changes > _SHOWN else ""
    )
    last = runs[-1].report
    verb = "would change" if is_rehearsal else "changed"
    if runs[-1].state is RunState.ASKS:
        answer(
            f"{last.leaving} of {last.active} facts would be archived{more}; nothing was changed"
        )
        notice("that many changes need approval: see them with --dry-run, approve them with --yes")
        return
    noun = "memory" if changes == 1 else "memories"
    answer(f"{verb}: {changes} {noun}{more}")
    for remark in last.remarks:
        notice(remark)
    notice(_cost(runs))
    if runs[-1].change_set and not is_rehearsal:
        notice("to undo this within 90 days: kinkeeper consolidate --revert last")


def _cost(runs: Sequence[Run]) -> str:
    """Return what runs took, in one line."""
    seconds = sum(value for run in runs for value in run.report.seconds.values())
    calls = sum(run.report.cost.calls for run in runs)
    tokens = sum(run.report.cost.input_tokens + run.report.cost.output_tokens for run in runs)
    price = sum(run.report.cost.micros for run in runs) / _MICROS
    return f"{seconds:.1f} s, {calls} model calls, {tokens} tokens, {price:.4f} estimated cost"


def _table(told: Sequence[Told]) -> Table:
    table = Table()
    for heading in ("", "memory", "now", "before", "after"):
        table.add_column(heading, justify="right" if heading in {"before", "after"} else "left")
    for each in told:
        before = each.difference.before
        table.add_row(
            each.difference.kind.value,
            each.fact.narrative if each.fact else "(new)",
            each.other.narrative if each.other else "",
            "" if before is None else f"{before:.2f}",
            f"{each.difference.after:.2f}",
        )
    return table
