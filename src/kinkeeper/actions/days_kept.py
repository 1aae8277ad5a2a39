"""What waits for a yes when a household has moved to another zone: whole days stay the days that people were shown."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import Connection

from kinkeeper.actions.action_writes import refreeze
from kinkeeper.actions.effects.calendar import AddEvent, OccurrenceEffect, UpdateEvent
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import Proposal
from kinkeeper.actions.registry import read_effects
from kinkeeper.actions.repository import open_actions
from kinkeeper.calendar.model import Event
from kinkeeper.calendar.repository import find_event
from kinkeeper.calendar.whole_days import is_elsewhere, on_same_days, same_day
from kinkeeper.core.errors import InputError
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer

log = structlog.get_logger()

_Frozen = Mapping[str, Any]


def keep_days_of_open(conn: Connection, household: Household, *, now: datetime) -> int:
    """Let whole days in everything that waits begin at midnight of the household's zone.

    To be called before the stored events move there: they tell in which zone the days were.

    Args:
        conn: Open connection, in a write transaction.
        household: Whose actions, with the zone of today.
        now: Aware.

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
