"""One run of the upkeep, from what is new to the report: finished or not begun, whatever becomes of the process."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.memory.journal import purge_images
from kinkeeper.memory.upkeep.batch import STAGE
from kinkeeper.memory.upkeep.plan_executor import Doing, TooMuchError, carry_out
from kinkeeper.memory.upkeep.planner import Planner, Progress, Tools
from kinkeeper.memory.upkeep.report import Cost, RunState
from kinkeeper.memory.upkeep.runs import Run, insert_run, purge_runs
from kinkeeper.models.call_records import prompt_cost
from kinkeeper.store.store import Store

REVERSIBLE = timedelta(days=90)
"""How long a change of memory can be taken back."""


async def consolidate(
    store: Store,
    household: str,
    tools: Tools,
    *,
    now: datetime,
    progress: Progress,
    is_rehearsal: bool = False,
    is_agreed: bool = False,
    remarks: Sequence[str] = (),
) -> Run:
    """Bring memory in step with what is new since the last run.

    Args:
        store: The database.
        household: Tenant key.
        tools: What it works with.
        now: Aware.
        progress: Hears of each step.
        is_rehearsal: Whether it only tells what it would do.
        is_agreed: Whether somebody has agreed to whatever leaves.
        remarks: What it has to do without, for the report.

    Returns:
        The run: done, or asking because too much would leave. Where more is new than one run looks at,
        its report tells so, and another one has to follow.

    Raises:
        ConflictError: Another run was finished meanwhile.
        UnavailableError: The database cannot be written.
    """
    plan = await Planner(store, household, tools, now=now, progress=progress).plan()
    cost = await cost_since(store, household, now)
    plan = replace(plan, cost=cost, remarks=(*remarks, *plan.remarks))
    progress("apply the changes")
    doing = Doing(household=household, now=now, is_agreed=is_agreed, propose=tools.propose)
    try:
        if is_rehearsal:
            return await store.rehearse(lambda conn: carry_out(conn, plan, doing))
        run = await store.write(lambda conn: carry_out(conn, plan, doing))
    except TooMuchError as error:
        asking = replace(error.run, state=RunState.ASKS, change_set=None)
        if not is_rehearsal:
            await store.write(lambda conn: insert_run(conn, asking))
        return asking
    await store.write(lambda conn: _purge(conn, household, now))
    return run


async def cost_since(store: Store, household: str, since: datetime) -> Cost:
    """Return what models were asked by nights since an instant.

    Args:
        store: Where their calls are recorded.
        household: Tenant key.
        since: Aware.
    """
    return await store.read(
        lambda conn: Cost(**prompt_cost(conn, household, prompts=STAGE, since=since))
    )


def _purge(conn: Connection, household: str, now: datetime) -> None:
    purge_images(conn, household, older_than=now - REVERSIBLE)
    purge_runs(conn, household, before=now - REVERSIBLE)
