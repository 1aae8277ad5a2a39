"""What still waits for a yes: how long it waits, and that its whole days stay the same in another zone."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any

import structlog
from sqlalchemy import Connection

from kinkeeper.actions.action_writes import extend, refreeze
from kinkeeper.actions.effects.calendar import AddEvent, OccurrenceEffect, UpdateEvent
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import Proposal
from kinkeeper.actions.registry import read_effects
from kinkeeper.actions.repository import open_actions
from kinkeeper.calendar.model import Event
from kinkeeper.calendar.repository import find_event
from kinkeeper.calendar.seeds import is_elsewhere, on_same_days, same_day
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import as_utc, day_over
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer

log = structlog.get_logger()


def extend_open(conn: Connection, household: Household, *, now: datetime) -> int:
    """Give everything that waits its full lifetime, by the settings and the household's zone of today.

    What was proposed by an earlier version, or before an event was moved to a later day, expired too early.

    Args:
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
        effects: All that it could write, whichever way it is resolved.
        household: Whose days count.
    """
    ends = [each.over_at(conn, household, after=asked_at) for each in effects]
    named = [date.fromisoformat(day) for day in proposal.extraction.get("dates") or ()]
    ends += [day_over(day, household.zone) for day in named]
    least = as_utc(asked_at) + household.pending_ttl
    return max([least, *(each for each in ends if each is not None)])


# What waits for a yes when a household has moved to another zone: whole days stay the days that
# people were shown.

_Frozen = Mapping[str, Any]


def keep_days_of_open(conn: Connection, household: Household, *, now: datetime) -> int:
    """Let whole days in everything that waits begin at midnight of the household's zone.

    To be called before the stored events move there: they tell in which zone the days were.

    Args:
        household: Whose actions, with the zone of today.

    Returns:
        How many actions are different; they say the same as before, and their buttons stay good.
    """
    kept = 0
    for action in open_actions(conn, Viewer.whole(household.id), now=now):
        try:
            proposal = _kept(conn, action.proposal, household)
        except InputError:
            log.warning("actions.days_kept.unreadable", action=action.id)
            continue
        if proposal != action.proposal:
            refreeze(conn, action, proposal)
            kept += 1
    return kept


def _kept(conn: Connection, proposal: Proposal, household: Household) -> Proposal:
    starts: dict[str, str] = {}

    def moved(effects: tuple[_Frozen, ...]) -> tuple[_Frozen, ...]:
        return tuple(_moved(conn, each, household, starts) for each in effects)

    suggested = proposal.suggested_event
    effects = moved(proposal.effects)
    choices = tuple(replace(each, effects=moved(each.effects)) for each in proposal.choices)
    if suggested is not None and suggested.get("start") in starts:
        suggested = {**suggested, "start": starts[suggested["start"]]}
    return replace(proposal, effects=effects, choices=choices, suggested_event=suggested)


def _moved(
    conn: Connection, frozen: _Frozen, household: Household, starts: dict[str, str]
) -> _Frozen:
    """Return an effect on the same days of the household's zone; notes how starts of events read before and after."""
    (effect,) = read_effects(household.id, [frozen])
    fields: dict[str, Any] = {}
    if isinstance(effect, AddEvent | UpdateEvent):
        fields = _events_of(effect, household)
    elif isinstance(effect, OccurrenceEffect):
        stored = find_event(conn, Viewer.whole(household.id), effect.event_id)
        if stored is not None and is_elsewhere(stored, household.zone):
            fields = _instants_of(effect, stored, household)
    if not fields:
        return frozen
    after = effect.model_copy(update=fields).frozen()
    if "event" in after:
        starts[frozen["event"]["start"]] = after["event"]["start"]
    return after


def _events_of(effect: AddEvent | UpdateEvent, household: Household) -> dict[str, Event]:
    given = {"event": effect.event}
    if isinstance(effect, UpdateEvent) and effect.based_on is not None:
        given["based_on"] = effect.based_on
    return {
        name: on_same_days(event, household.zone)
        for name, event in given.items()
        if is_elsewhere(event, household.zone)
    }


def _instants_of(effect: Effect, stored: Event, household: Household) -> dict[str, datetime]:
    return {
        name: same_day(stored, instant, household.zone)
        for name in ("original_start", "new_start")
        if (instant := getattr(effect, name, None)) is not None
    }
