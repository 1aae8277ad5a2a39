"""How long a pending action waits for a person: until what it is about is over."""

from collections.abc import Iterable
from datetime import date, datetime

import structlog
from sqlalchemy import Connection

from kinkeeper.actions.action_writes import extend
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import Proposal
from kinkeeper.actions.registry import read_effects
from kinkeeper.actions.repository import open_actions
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import as_utc, day_over
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer

log = structlog.get_logger()


def extend_open(conn: Connection, household: Household, *, now: datetime) -> int:
    """Give everything that waits its full lifetime, by the settings and the household's zone of today.

    What was proposed by an earlier version, or before an event was moved to a later day, expired too early.

    Args:
        conn: Open connection, in a write transaction.
        household: Whose actions.
        now: Aware; what has expired by then stays so.

    Returns:
        How many expire later now.
    """
    extended = 0
    for action in open_actions(conn, Viewer.whole(household.id), now=now):
        ways = (action.proposal.effects, *(each.effects for each in action.proposal.choices))
        try:
            effects = [each for way in ways for each in read_effects(household.id, way)]
        except InputError:
            log.warning("actions.lifetime.unreadable", action=action.id)
            continue
        until = expiry(
            conn, action.proposal, effects, household=household, asked_at=action.created_at
        )
        if until > action.expires_at:
            extend(conn, action, until=until)
            extended += 1
    return extended


def expiry(
    conn: Connection,
    proposal: Proposal,
    effects: Iterable[Effect],
    *,
    household: Household,
    asked_at: datetime,
) -> datetime:
    """Return the UTC instant at which a proposal expires if nobody decides.

    That is the end of the last local day of anything it could write, or that the message names, and never
    earlier than the household's minimum. What names no day, or goes on without an end, keeps to that minimum
    or to its next occurrence.

    Args:
        conn: Open connection; events that are changed are looked up.
        proposal: What is asked.
        effects: All that it could write, whichever way it is resolved.
        household: Whose days count.
        asked_at: When it was asked, aware.
    """
    ends = [each.over_at(conn, household, after=asked_at) for each in effects]
    named = [date.fromisoformat(day) for day in proposal.extraction.get("dates") or ()]
    ends += [day_over(day, household.zone) for day in named]
    least = as_utc(asked_at) + household.pending_ttl
    return max([least, *(each for each in ends if each is not None)])
