"""Moments, people, actions and records that tests of the pages' views build on."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from kinkeeper.actions.model import ActionStatus, PendingAction, Proposal
from kinkeeper.calendar.model import Event, EventKind, EventState, Occurrence
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import Interval
from kinkeeper.household.model import Household, Named
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer.redline.phrase_templates import Limits, Phrasing
from kinkeeper.observer.wording.participants import compile_participants
from kinkeeper.web.views.calendar_diff import DiffWords, Standing
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.items import Lines
from kinkeeper.web.views.people import people_of
from pending_samples import EXPIRES, FAMILY, event, proposal

EMPTY = Standing(events={}, occurrences={})
PLACES = {"dojo": "The dojo"}


def home(*, zone: str = "Europe/Vienna", locale: str = "en-GB") -> Household:
    judo = Named(id="judo", name="Judo")
    return replace(FAMILY, zone=ZoneInfo(zone), locale=locale, activities=(judo,))


def words_at(now: datetime, household: Household | None = None) -> Wording:
    return Wording(phrasing=_phrasing(household or home()), now=now)


@cache
def _phrasing(household: Household) -> Phrasing:
    """Compiling a household's words takes a tenth of a second."""
    return Phrasing(participants=compile_participants(household), limits=Limits())


def lines_at(now: datetime, household: Household | None = None) -> Lines:
    return Lines(people_of(household or home()), PLACES, words_at(now, household))


def diffs_at(now: datetime, household: Household | None = None) -> DiffWords:
    return DiffWords(people_of(household or home()), PLACES, words_at(now, household))


def occurrence(of: Event, **fields: Any) -> Occurrence:
    plain = Occurrence(
        event=of,
        original_start=of.start,
        interval=Interval(of.start, of.start + of.duration),
        state=EventState.CONFIRMED,
        responsible=of.responsible,
        place=of.place,
    )
    return replace(plain, **fields)


def care(name: str, start: datetime, *owners: str, minutes: int = 60, **fields: Any) -> Event:
    """Return the job of fetching Tara."""
    return event(
        name,
        kind=EventKind.CARE,
        summary=f"{name} for Tara",
        start=start,
        responsible=owners,
        duration=timedelta(minutes=minutes),
        task="pickup",
        **fields,
    )


def action(asked: Proposal | None = None, **fields: Any) -> PendingAction:
    wanted = asked or proposal()
    plain = PendingAction(
        id=f"action-{wanted.source_id}",
        proposal=wanted,
        payload_hash="0" * 64,
        version=1,
        status=ActionStatus.PENDING,
        created_at=EXPIRES - timedelta(hours=48),
        expires_at=EXPIRES,
    )
    return replace(plain, **fields)


def standing(*events: Event) -> Standing:
    """Return events with their first occurrences as they stand."""
    return Standing(
        events={each.id: each for each in events},
        occurrences={(each.id, each.start): occurrence(each) for each in events},
    )


def heard(number: int, sender: str, text: str, at: datetime) -> StoredMessage:
    message = InboundMessage(
        channel="test",
        chat_id="chat-1",
        message_id=f"m{number}",
        sender=sender,
        text=text,
        sent_at=at,
    )
    return StoredMessage(id=number, message=message, thread_id="t", is_member=True)
