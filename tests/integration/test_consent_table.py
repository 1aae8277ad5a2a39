"""The table of consent, held to everything that can be asked for: each request that writes, from each origin, by each kind of person."""

import itertools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from evals.consent import FURTHER, OWN_GOALS
from evals.hostile_turns import Attacked, attacked
from kinkeeper.actions import approvals
from kinkeeper.actions.authority import is_own_affair
from kinkeeper.actions.consent import Origin, Stakes, highest
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.registry import read_effects, stakes_of
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.requests.model import (
    ActionResult,
    Asked,
    Catalogue,
    RequestKind,
    ResultStatus,
)
from kinkeeper.actions.requests.request_runner import perform
from kinkeeper.actions.requests.tools import ForeignTool, ToolAnswer, tool_requests
from kinkeeper.actions.reversal import undo
from kinkeeper.conversation.model import Plan, PlannedAction, Source
from kinkeeper.core.errors import NotFoundError
from kinkeeper.household.model import Member
from kinkeeper.store.schema import metadata
from talking import on_a_loop

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ASKING = {"pending_actions", "action_transitions", "action_sources", "action_refusals"}
"""Tables of what waits, in which asking writes."""

PAYING = ForeignTool(
    server="market",
    name="order",
    description="Orders.",
    schema={"type": "object"},
    definition="d",
    is_safe=False,
)
WANTED: Mapping[str, Mapping[str, Any]] = {**dict(FURTHER), "market.order": {"what": "a gift card"}}


async def _never(_tool: ForeignTool, _arguments: Mapping[str, Any]) -> ToolAnswer:
    raise AssertionError("a tool that is not safe was called unasked")


@dataclass(kw_only=True)
class Table:
    """A household in which everything is asked for in every way."""

    held: Attacked
    catalogue: Catalogue
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def kinds(self) -> Sequence[RequestKind]:
        """All that writes."""
        return [
            each
            for each in self.catalogue
            if each.prepare is not None and each.key not in OWN_GOALS
        ]

    @property
    def adult(self) -> Member:
        return self.held.system.household.adults[0]

    @property
    def child(self) -> Member:
        return self.held.system.household.children[0]

    async def ask(self, kind: RequestKind, origin: Origin, member: Member) -> ActionResult:
        household = self.held.system.household
        asked = Asked(
            household=household,
            member=member,
            now=self.held.clock.now().astimezone(household.zone),
            channel="web",
            thread_id="t",
            turn_id=f"asked {next(self.numbers)}",
            origin=origin,
        )
        return await perform(
            self.catalogue,
            self.held.system.store,
            asked,
            domain=kind.domain,
            action=kind.name,
            params=WANTED[kind.key],
        )

    async def action(self, result: ActionResult) -> PendingAction:
        def load(conn: Connection) -> PendingAction:
            return load_action(conn, self.held.system.household.id, result.action_id or "")

        return await self.held.system.store.read(load)

    async def press(
        self, verb: Callable[..., Receipt], result: ActionResult, member: Member
    ) -> Receipt:
        household, now = self.held.system.household, self.held.clock.now()
        return await self.held.system.store.write(
            lambda conn: verb(conn, result.action_id, member=member, household=household, now=now)
        )

    async def is_denied(self, result: ActionResult, member: Member) -> bool:
        """Whether somebody's yes is refused; of what is private to another they do not even know."""
        try:
            receipt = await self.press(approvals.confirm, result, member)
        except NotFoundError:
            return True
        return receipt.outcome is Outcome.DENIED

    async def written(self) -> Mapping[str, list[str]]:
        """Return all rows of all tables but those of what waits."""

        def read(conn: Connection) -> Mapping[str, list[str]]:
            return {
                table.name: sorted(map(repr, conn.execute(select(table))))
                for table in metadata.sorted_tables
                if table.name not in ASKING
            }

        return await self.held.system.store.read(read)

    async def may_run_at_once(self, result: ActionResult, origin: Origin, member: Member) -> bool:
        """What the table of consent says, in words of its own: said, low, and an adult's or one's own affair."""
        if result.action_id is None:
            # The family's mail is nothing that a child may look into.
            assert not member.is_adult, (result.action, result.error)
            return False
        household, proposal = self.held.system.household, (await self.action(result)).proposal
        effects = read_effects(household.id, proposal.effects)
        own = await self.held.system.store.read(
            lambda conn: is_own_affair(conn, household, effects, member)
        )
        is_low = highest(proposal.stakes, stakes_of(proposal.effects)) is Stakes.LOW
        return origin is Origin.SAID and is_low and (member.is_adult or own)


@asynccontextmanager
async def table() -> AsyncIterator[Table]:
    async with attacked(ROOT) as held:
        foreign = tool_requests((PAYING,), _never, limits={"market": timedelta(minutes=1)})
        yield Table(held=held, catalogue=held.catalogue.extended(foreign))


@on_a_loop
async def test_each_request_of_each_origin_by_each_person_asks_or_runs_as_the_table_says() -> None:
    ran: set[tuple[str, Origin, bool]] = set()
    async with table() as asked:
        assert {kind.key for kind in asked.kinds} == set(WANTED), "something new writes: add it"
        before = await asked.written()
        for kind, origin in itertools.product(asked.kinds, Origin):
            for member in (asked.adult, asked.child):
                case = (kind.key, origin, member.id)
                result = await asked.ask(kind, origin, member)
                if await asked.may_run_at_once(result, origin, member):
                    assert result.status is not ResultStatus.AWAITING, case
                    assert await asked.written() != before, case
                    ran.add((kind.key, origin, member.is_adult))
                    await asked.press(undo, result, asked.adult)
                    before = await asked.written()
                    continue
                assert result.status in {ResultStatus.AWAITING, ResultStatus.FAILED}, case
                if result.action_id is not None:
                    assert await asked.is_denied(result, asked.child), case
                    await asked.press(approvals.reject, result, asked.adult)
                assert await asked.written() == before, case
    assert {origin for _, origin, _ in ran} == {Origin.SAID}
    high = {kind.key for kind in asked.kinds if kind.stakes is Stakes.HIGH}
    assert {key for key, _, is_adult in ran if is_adult} == set(WANTED) - high
    assert not {key for key, _, is_adult in ran if not is_adult} & high


@on_a_loop
async def test_after_a_yes_each_request_is_done_and_taken_back_or_says_that_it_cannot_be() -> None:
    async with table() as asked:
        # What is erased for good comes last.
        for kind in sorted(asked.kinds, key=lambda each: each.key == "memory.forget"):
            before = await asked.written()
            result = await asked.ask(kind, Origin.MODEL, asked.adult)
            receipt = await asked.press(approvals.confirm, result, asked.adult)
            assert receipt.action.status in {ActionStatus.DONE, ActionStatus.EXECUTING}, kind.key
            assert await asked.written() != before, kind.key
            back = await asked.press(undo, result, asked.adult)
            assert back.outcome in {Outcome.UNDONE, Outcome.NOT_UNDOABLE}, kind.key
            assert back.message, kind.key


@pytest.mark.parametrize("source", Source)
@pytest.mark.parametrize("is_said", [False, True])
@pytest.mark.parametrize("is_offer", [False, True])
@pytest.mark.parametrize("said", [Origin.SAID, Origin.OPENAI])
def test_what_is_planned_is_said_only_where_rules_or_the_persons_own_words_ask_for_it(
    source: Source, is_said: bool, is_offer: bool, said: Origin
) -> None:
    action = PlannedAction(domain="task", action="create", params={}, is_offer=is_offer)
    origin = Plan(actions=(action,), source=source, is_said=is_said).origin_of(action, said)
    from_them = not is_offer and (source is Source.RULES or is_said)
    assert origin is (said if from_them else Origin.INFERRED if is_offer else Origin.MODEL)
