"""Waiting for what becomes of an action that reaches outside the database."""

import asyncio
from datetime import datetime, timedelta

from sqlalchemy import Connection, select

from kinkeeper.actions.effects.tables import outside_work
from kinkeeper.actions.journal import TOPIC
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.repository import load_action
from kinkeeper.core.time import Clock
from kinkeeper.jobs.leases import WorkState
from kinkeeper.store.store import Store

_LOOK_EVERY_SECONDS = 1.0
_PUT_OFF = timedelta(minutes=1)
"""Whose next try is further off is not waited for any more."""


async def settled(
    store: Store, household: str, action_id: str, *, clock: Clock, within: timedelta
) -> PendingAction:
    """Return an action once it is under way no more, or as it stands when that takes too long or was put off.

    Args:
        store: The household's database.
        household: Tenant key.
        action_id: Full id.
        clock: Tells what is far off.
        within: Longest wait.

    Raises:
        NotFoundError: The household has no action with that id.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within.total_seconds()

    def look(conn: Connection) -> tuple[PendingAction, bool]:
        action = load_action(conn, household, action_id)
        return action, _is_put_off(conn, household, action_id, now=clock.now())

    with store.watch((TOPIC, household)) as watch:
        while True:
            action, is_put_off = await store.read(look)
            left = deadline - loop.time()
            if action.status is not ActionStatus.EXECUTING or is_put_off or left <= 0:
                return action
            # Another process may be the one that settles it; its commits are not heard here.
            await watch.wait(min(left, _LOOK_EVERY_SECONDS))


def _is_put_off(conn: Connection, household: str, action_id: str, *, now: datetime) -> bool:
    """Whether something went wrong, and it is tried again only after some time."""
    columns = outside_work.c
    query = select(columns.id).where(
        columns.household == household, columns.action_id == action_id,
        columns.state == WorkState.QUEUED.value, columns.due_at > now + _PUT_OFF,
    )  # fmt: skip
    return conn.execute(query).first() is not None
