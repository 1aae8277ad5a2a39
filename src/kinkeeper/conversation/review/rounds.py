"""The rounds of review: a few past decisions of routing a day are judged again, while there is nothing else to do."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, Protocol

from sqlalchemy import Connection

from kinkeeper.conversation.looking_back import looked_back
from kinkeeper.conversation.review.model import Case, Review
from kinkeeper.conversation.review.repository import (
    add_review,
    last_said,
    not_reviewed,
    reviewed_since,
)
from kinkeeper.conversation.turns import turn_with_earlier
from kinkeeper.core.time import Clock, midnight
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import viewer_for
from kinkeeper.models.model import Outcome
from kinkeeper.observability.failures import repeat
from kinkeeper.store.store import Store

MOST_A_DAY: Final = 20
"""Decisions that are reviewed on a local day, at most; the household's budget for models may allow fewer."""
LOOK_BACK: Final = timedelta(days=7)
"""Decisions older than this are not reviewed."""
SILENCE: Final = timedelta(minutes=30)
"""How long nobody must have written to the assistant."""

_NAME: Final = "conversation.review"
_EVERY: Final = timedelta(hours=1)
_UNUSABLE: Final = frozenset({Outcome.INVALID_OUTPUT, Outcome.TRUNCATED, Outcome.REFUSED_BY_MODEL})
"""The model is there, and has nothing usable to say of this message."""


class Judge(Protocol):
    """Says which way a message should have taken."""

    async def review(self, case: Case, *, household: str) -> Review | Outcome:
        """Return its word, or why there is none."""
        ...


class ReviewRounds:
    """Reviews the routing of one household.

    Args:
        judge: A strong model.
        is_idle: Whether no work of the household waits or runs.
    """

    def __init__(
        self,
        store: Store,
        household: Household,
        *,
        judge: Judge,
        is_idle: Callable[[Connection, str, datetime], bool],
        clock: Clock,
    ) -> None:
        self._store = store
        self._household = household
        self._judge = judge
        self._is_idle = is_idle
        self._clock = clock

    async def run(self) -> None:
        """Review again and again, until cancelled."""
        await repeat(self.run_once, _EVERY, name=_NAME)

    async def run_once(self) -> int:
        """Review what may be reviewed now; returns how many decisions the model gave a usable answer to."""
        reviewed = 0
        while (case := await self._store.read(self._next)) is not None:
            found = await self._judge.review(case, household=self._household.id)
            if isinstance(found, Outcome) and found not in _UNUSABLE:
                break  # it is away, or too dear for today
            await self._keep(case, found)
            reviewed += isinstance(found, Review)
        return reviewed

    def _next(self, conn: Connection) -> Case | None:
        """Return the next decision to review; None where there is none, or something else to do."""
        household, now = self._household.id, self._clock.now()
        said = last_said(conn, household)
        if said is None or now - said < SILENCE or not self._is_idle(conn, household, now):
            return None
        today = midnight(now.astimezone(self._household.zone).date(), self._household.zone)
        if reviewed_since(conn, household, today) >= MOST_A_DAY:
            return None
        for turn, mode in not_reviewed(conn, household, since=now - LOOK_BACK):
            if (case := self._case(conn, turn, mode, now=now)) is not None:
                return case
        return None

    def _case(self, conn: Connection, turn_id: str, mode: str, *, now: datetime) -> Case | None:
        """Return a turn as its person may look back at it; None where not all of its words hold any more."""
        household = self._household
        turn, earlier = turn_with_earlier(conn, household.id, turn_id, last=1, whole=1)
        member = turn.speaker(household)
        if member is None:
            return None
        viewer = viewer_for(household, member, now=now)
        *before, here = looked_back(conn, viewer, [*earlier, turn], now=now)
        if here.text != turn.text:
            return None
        said = {"said": before[-1].text, "answered": before[-1].answer} if before else {}
        return Case(turn=turn.id, mode=mode, text=turn.text, before=said)

    async def _keep(self, case: Case, found: Review | Outcome) -> None:
        """Store what the model said, or that it said nothing usable."""
        household, now = self._household.id, self._clock.now()
        review = found if isinstance(found, Review) else None
        route = None if review is None else review.route
        await self._store.write(
            lambda conn: add_review(
                conn,
                household,
                case.turn,
                route=route,
                agrees=None if route is None else route.value == case.mode.lower(),
                model="" if review is None else review.model,
                prompt=0 if review is None else review.prompt,
                at=now,
            )
        )
