"""Asking a goal's person whether a page may be read that nobody named: as a pending action that only they see."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from kinkeeper.actions.consent import Origin
from kinkeeper.actions.model import FROM_CHAT, ActionStatus, PendingAction, as_of
from kinkeeper.actions.proposals import withdraw
from kinkeeper.actions.repository import find_of_slot
from kinkeeper.actions.requests.goals import READ_PAGE, PageOfGoal, prepare_page
from kinkeeper.actions.requests.model import Asked, ResultStatus
from kinkeeper.actions.requests.request_runner import propose_prepared
from kinkeeper.background.web_query import shown_host
from kinkeeper.core.ids import stable_id
from kinkeeper.goals.model import Goal
from kinkeeper.household.model import Household

MOST_ASKED: Final = 3
"""Pages that the person of one goal is asked about, all in all."""

_CHANNEL: Final = "goal"
_SLOT: Final = "0"


def page_action(
    conn: Connection, goal: Goal, address: str, *, now: datetime
) -> PendingAction | None:
    """Return the action that asks for a page, as it stands; None where nobody asked for it."""
    found = find_of_slot(
        conn, goal.household, source_type=FROM_CHAT, source_id=_source_id(goal, address), slot=_SLOT
    )
    return None if found is None else as_of(found, now)


class PageQuestions:
    """Asks the people of one household which pages may be read for their goals."""

    def __init__(self, household: Household) -> None:
        self._household = household

    def ask(
        self, conn: Connection, goal: Goal, addresses: Iterable[str], *, now: datetime
    ) -> str | None:
        """Ask for the first page that was not asked for; return its address, None where nothing is asked.

        A child's goal asks for nothing. Where a question waits, or its person said no, nothing more is asked.
        """
        member = self._household.member(goal.member)
        asked = goal.progress.asked_pages
        address = next((each for each in addresses if each not in asked), None)
        if member is None or not member.is_adult or address is None or len(asked) >= MOST_ASKED:
            return None
        if any(_ends_asking(page_action(conn, goal, each, now=now)) for each in asked):
            return None
        by = Asked(
            household=self._household,
            member=member,
            now=now.astimezone(self._household.zone),
            channel=_CHANNEL,
            thread_id=goal.thread_id or "",
            turn_id=_source_id(goal, address),
            origin=Origin.TASK,
        )
        params = PageOfGoal(find_by=goal.id, address=address).model_dump(mode="json")
        prepared = prepare_page(goal, address, shown_host(address))
        result = propose_prepared(conn, READ_PAGE, by, params=params, prepared=prepared)
        return address if result.status is ResultStatus.AWAITING else None

    def is_waiting(self, conn: Connection, goal: Goal, address: str, *, now: datetime) -> bool:
        """Whether a question still waits for an answer."""
        action = page_action(conn, goal, address, now=now)
        return action is not None and action.status is ActionStatus.PENDING

    def withdraw(self, conn: Connection, goal: Goal, *, now: datetime) -> int:
        """Take back the questions of a goal that is over; returns how many there were."""
        waiting = [
            action
            for each in goal.progress.asked_pages
            if (action := page_action(conn, goal, each, now=now)) is not None
            and action.status is ActionStatus.PENDING
        ]
        for each in waiting:
            withdraw(conn, each.id, household=goal.household, now=now, by_source=goal.id)
        return len(waiting)


def _ends_asking(action: PendingAction | None) -> bool:
    """Whether a question still waits, or its person said no or took their yes back."""
    if action is None:
        return False
    is_undone = action.undone_at is not None
    return is_undone or action.status in {ActionStatus.PENDING, ActionStatus.REJECTED}


def _source_id(goal: Goal, address: str) -> str:
    return f"goal:{stable_id(goal.id, address)}"
