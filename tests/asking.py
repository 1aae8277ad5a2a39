"""Requests carried out on a real database, as the loop of a turn carries them out."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.receipts import Receipt
from kinkeeper.actions.requests.calendar import calendar_requests
from kinkeeper.actions.requests.goals import goal_requests
from kinkeeper.actions.requests.memory import memory_requests
from kinkeeper.actions.requests.model import ActionResult, Asked, Catalogue
from kinkeeper.actions.requests.notes import note_requests
from kinkeeper.actions.requests.own_record import record_requests
from kinkeeper.actions.requests.request_runner import perform
from kinkeeper.actions.requests.tasks import task_requests
from kinkeeper.actions.reversal import undo
from kinkeeper.calendar.model import Event, EventKind, Provenance, SourceType
from kinkeeper.calendar.occurrences import extend_horizon
from kinkeeper.calendar.repository import insert_event
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Group, Household, Member, Named, Role
from kinkeeper.memory.finding.search import Finder
from kinkeeper.store.store import Store

ZONE = ZoneInfo("America/Chicago")
NOW = datetime(2026, 11, 11, 10, 0, tzinfo=ZONE)  # a Wednesday

RUTH = Member(id="ruth", name="Ruth", role=Role.PARENT, aliases=("mum",))
ABE = Member(id="abe", name="Abe", role=Role.PARENT)
NIA = Member(id="nia", name="Nia", role=Role.CHILD)
IVO = Member(id="ivo", name="Ivo", role=Role.CHILD)

FAMILY = Household(
    id="larch",
    zone=ZONE,
    locale="en-US",
    bot_name="Kin",
    owner="ruth",
    members=(RUTH, ABE, NIA, IVO),
    groups=(Group(id="kids", aliases=("the kids",), members=("nia", "ivo")),),
    places=(Named(id="hall", name="Old Hall", aliases=("the hall",)),),
)


class Desk:
    """One household's requests; every request is a turn of its own.

    Args:
        store: Open; closed by whoever opened it.
        household: Whose.
    """

    def __init__(self, store: Store, household: Household = FAMILY) -> None:
        self.store = store
        self.household = household
        finder = Finder(
            store, household.id, zone=household.zone, embedder=None, locale=household.locale
        )
        self.catalogue = Catalogue(
            (
                *task_requests(store),
                *goal_requests(store),
                *calendar_requests(store, usual_length=timedelta(hours=1)),
                *note_requests(store),
                *memory_requests(store, finder),
                *record_requests(store),
            )
        )
        self._turns = count(1)
        self._asked = Asked(
            household=household,
            member=household.members[0],
            now=NOW,
            channel="web",
            thread_id="thread-1",
            turn_id="",
        )

    def sits_in(self, thread_id: str, *, channel: str = "web", is_shared: bool = False) -> None:
        """Let what follows be asked for in another conversation, where others may read along."""
        self._asked = replace(
            self._asked, thread_id=thread_id, channel=channel, is_shared=is_shared
        )

    def ask(
        self,
        key: str,
        params: Mapping[str, Any] | None = None,
        *,
        by: Member | None = None,
        now: datetime = NOW,
        turn: str | None = None,
    ) -> ActionResult:
        domain, _, action = key.partition(".")
        asked = replace(
            self._asked,
            turn_id=turn or f"turn-{next(self._turns)}",
            now=now,
            member=by or self._asked.member,
        )
        return asyncio.run(
            perform(
                self.catalogue, self.store, asked, domain=domain, action=action, params=params or {}
            )
        )

    def yes(self, result: ActionResult, *, by: Member = RUTH, now: datetime = NOW) -> Receipt:
        assert result.action_id is not None
        action_id = result.action_id
        return self.store.write_now(
            lambda conn: approvals.confirm(
                conn, action_id, member=by, household=self.household, now=now
            )
        )

    def undo(self, result: ActionResult, *, by: Member = RUTH, now: datetime = NOW) -> Receipt:
        assert result.action_id is not None
        action_id = result.action_id
        return self.store.write_now(
            lambda conn: undo(conn, action_id, member=by, household=self.household, now=now)
        )

    def put(self, *events: Event) -> None:
        def write(conn: Connection) -> None:
            extend_horizon(conn, self.household.id, NOW)
            for each in events:
                insert_event(conn, each)

        self.store.write_now(write)


def event(summary: str, start: str, *, minutes: int = 60, **fields: Any) -> Event:
    """Return an event of the family; `start` is local."""
    plain = Event(
        id=stable_id(FAMILY.id, "sample", summary),
        household=FAMILY.id,
        kind=EventKind.BOOKING,
        summary=summary,
        start=datetime.fromisoformat(start).replace(tzinfo=ZONE),
        duration=timedelta(minutes=minutes),
        tz=ZONE.key,
        who=("nia",),
        provenance=Provenance(source_type=SourceType.SEED, source_id=summary),
    )
    return replace(plain, **fields)
