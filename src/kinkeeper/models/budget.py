"""Keeps a household within its day's budget: the most that a call can take is set aside before it begins.

A call whose process dies stays counted in full until the day is over.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import structlog

from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock, midnight
from kinkeeper.models import daily_budget
from kinkeeper.models.daily_budget import Amount
from kinkeeper.models.endpoints import DailyLimits, RoleModel
from kinkeeper.models.errors import ModelError
from kinkeeper.models.model import ChatModel, ChatReply, ChatRequest, Outcome, Usage
from kinkeeper.models.tokens import at_most
from kinkeeper.models.wire import answer_limit
from kinkeeper.store.store import Store

log = structlog.get_logger()

# No server saw these, so they take nothing of the day.
_NEVER_SENT = frozenset({Outcome.UNREACHABLE, Outcome.CIRCUIT_OPEN, Outcome.PUBLIC_HOST})
# The server refused at once: a call, without tokens.
_UNREAD = frozenset({Outcome.REJECTED, Outcome.OVERLOADED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Whose days have which limits.

    Attributes:
        store: Keeps what was used.
        limits: Of each household and local day.
        zones: Of the households, by tenant key.
        clock: Tells the day.
    """

    store: Store
    limits: DailyLimits
    zones: Mapping[str, ZoneInfo]
    clock: Clock

    def today(self, household: str) -> date:
        """Return a household's local day."""
        return self.clock.now().astimezone(self.zones[household]).date()


@dataclass(slots=True, kw_only=True)
class _Reservation:
    """What was set aside for a call, and what it took.

    Attributes:
        most: What the call can take.
        taken: What it took; all of `most` until somebody knows better.
    """

    most: Amount
    taken: Amount = field(default_factory=Amount)


class Budgeted:
    """A model within the day's budget.

    Args:
        model: Answers.
        role: Which it is, and what its tokens cost.
        budget: Whose days have which limits.
    """

    def __init__(self, model: ChatModel, role: RoleModel, budget: Budget) -> None:
        self._model = model
        self._role = role
        self._budget = budget

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the whole answer.

        Raises:
            ModelError: There is none, or the day's budget does not allow the call.
        """
        async with self._reserved(request) as reservation:
            reply = await self._model.complete(request)
            reservation.taken = self._amount(reply.usage)
            return reply

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        """Yield the answer piece by piece, and the whole of it last.

        Raises:
            ModelError: It broke off, or the day's budget does not allow the call.
        """
        async with (
            self._reserved(request) as reservation,
            aclosing(self._model.stream(request)) as pieces,
        ):
            async for piece in pieces:
                if isinstance(piece, ChatReply):
                    reservation.taken = self._amount(piece.usage)
                yield piece

    @asynccontextmanager
    async def _reserved(self, request: ChatRequest) -> AsyncIterator[_Reservation]:
        household, budget = request.household, self._budget
        day, most = budget.today(household), self._most(request)
        name = await budget.store.locking(household).write(
            lambda conn: daily_budget.reserve(
                conn, household, day, wanted=most, limits=budget.limits
            )
        )
        if name is not None:
            raise self._refusal(name, household, day)
        reservation = _Reservation(most=most, taken=most)
        try:
            yield reservation
        except ModelError as error:
            reservation.taken = _taken_in_vain(error.outcome, most)
            raise
        finally:
            await self._settle(household, day, reservation.taken - most)

    async def _settle(self, household: str, day: date, change: Amount) -> None:
        if change == Amount():
            return
        try:
            await self._budget.store.locking(household).write(
                lambda conn: daily_budget.add_spent(conn, household, day, change)
            )
        except UnavailableError as error:
            # What was set aside stays so: too much is counted, never too little.
            log.warning("models.budget.unsettled", reason=type(error).__name__)

    def _most(self, request: ChatRequest) -> Amount:
        return self._amount(
            Usage(input_tokens=at_most(request), output_tokens=answer_limit(request, self._role))
        )

    def _amount(self, usage: Usage) -> Amount:
        return Amount(
            calls=1,
            tokens=usage.input_tokens + usage.output_tokens,
            cost_micros=self._role.price.micros(usage),
        )

    def _refusal(self, name: str, household: str, day: date) -> ModelError:
        zone = self._budget.zones[household]
        renewal = midnight(day + timedelta(days=1), zone)
        return ModelError(
            f"today's model budget does not allow this call ({name}); it renews at "
            f"{renewal:%Y-%m-%d %H:%M} {zone.key}; to allow more, raise {name}",
            outcome=Outcome.OVER_BUDGET,
            retry_after=renewal - self._budget.clock.now(),
        )


def _taken_in_vain(outcome: Outcome, most: Amount) -> Amount:
    """Return what a call without an answer counts for: what is not known counts in full."""
    if outcome in _NEVER_SENT:
        return Amount()
    return Amount(calls=1) if outcome in _UNREAD else most
