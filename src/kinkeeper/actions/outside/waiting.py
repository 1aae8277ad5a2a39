"""Waiting for what becomes of an action that reaches outside the database."""

import asyncio
from datetime import timedelta

from kinkeeper.actions.journal import TOPIC
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.repository import load_action
from kinkeeper.store.store import Store

_LOOK_EVERY_SECONDS = 1.0


async def settled(
    store: Store, household: str, action_id: str, *, within: timedelta
) -> PendingAction:
    """Return an action once it is under way no more, or as it stands when that takes too long.

    Args:
        store: The household's database.
        household: Tenant key.
        action_id: Full id.
        within: Longest wait.

    Raises:
        NotFoundError: The household has no action with that id.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within.total_seconds()
    with store.watch((TOPIC, household)) as watch:
        while True:
            action = await store.read(lambda conn: load_action(conn, household, action_id))
            left = deadline - loop.time()
            if action.status is not ActionStatus.EXECUTING or left <= 0:
                return action
            # Another process may be the one that settles it; its commits are not heard here.
            await watch.wait(min(left, _LOOK_EVERY_SECONDS))
