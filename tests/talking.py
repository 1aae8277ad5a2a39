"""Conversations of the sample household on a real database, with plans and extra requests that a test writes down."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from kinkeeper.actions.repository import open_actions
from kinkeeper.actions.requests.model import Catalogue, RequestKind
from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.bootstrap.system import catalogue_of
from kinkeeper.calendar.repository import list_events
from kinkeeper.conversation.answering.answerer import Answerer
from kinkeeper.conversation.context.turn_context import ContextGatherer
from kinkeeper.conversation.conversation import Conversation, Said
from kinkeeper.conversation.lookups import Memories
from kinkeeper.conversation.model import (
    EventName,
    Plan,
    PlannedAction,
    Planner,
    PlanningContext,
    TurnEvent,
)
from kinkeeper.conversation.parts import Parts
from kinkeeper.conversation.routing.router import Router
from kinkeeper.conversation.stages import Limits
from kinkeeper.conversation.tool_loop import ToolLoop
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.facts import list_facts
from kinkeeper.notes.repository import list_notes
from kinkeeper.tasks.repository import open_tasks
from live_household import HOUSEHOLD, MONDAY, live_system

Test = ParamSpec("Test")


def on_a_loop(test: Callable[Test, Coroutine[Any, Any, None]]) -> Callable[Test, None]:
    """Return a test that runs on an event loop of its own."""

    @wraps(test)
    def run(*args: Test.args, **kwargs: Test.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


Next = Callable[[PlanningContext], Plan]


def wants(domain: str, action: str, **params: Any) -> PlannedAction:
    """Return a planned request."""
    return PlannedAction(domain=domain, action=action, params=params)


@dataclass
class Script(Planner):
    """Plans what stands beside the message, once a turn; whatever else is said asks for nothing."""

    lines: Mapping[str, tuple[PlannedAction, ...] | Next]
    asked: list[PlanningContext] = field(default_factory=list)

    async def plan(self, context: PlanningContext) -> Plan:
        self.asked.append(context)
        found = self.lines.get(context.text, ())
        if callable(found):
            return found(context)
        return Plan() if context.results else Plan(actions=found)


@dataclass
class Talking:
    """One household's conversations, as one process holds them."""

    system: System
    clock: VirtualClock
    conversation: Conversation
    parts: Parts

    @property
    def john(self) -> Member:
        return self.member("john")

    def member(self, member_id: str) -> Member:
        found = self.system.household.member(member_id)
        assert found is not None
        return found

    async def say(self, text: str, *, by: str = "john", **more: Any) -> Said:
        return await self.conversation.say(self.member(by), text, channel="web", **more)

    async def heard(self, said: Said, *, by: str = "john") -> list[TurnEvent]:
        """Return what is told of a turn, to its end."""
        async with asyncio.timeout(30):
            return [
                event
                async for event in self.conversation.events(
                    self.member(by), said.thread_id, after=said.after, turn_id=said.turn_id
                )
            ]

    async def answer(self, text: str, **more: Any) -> str:
        """Say something and return what is answered."""
        last = (await self.heard(await self.say(text, **more), by=more.get("by", "john")))[-1]
        assert last.name is EventName.DONE, last
        answered: str = last.data["text"]
        return answered

    def again(self, **changes: Any) -> "Talking":
        """Return the same as another process would hold it."""
        parts = replace(self.parts, **changes)
        return replace(self, conversation=Conversation(parts), parts=parts)

    def later(self, **length: float) -> None:
        self.clock.advance_to(self.clock.now() + timedelta(**length))


async def seen_by(talk: Talking, other: str) -> str:
    """Return all that somebody else can read: cards, events, tasks, notes, facts and what was heard."""
    await reading_of(talk.system.household, talk.system.store, talk.clock).run_once()
    viewer, now = Viewer.of(talk.system.household.id, other), talk.clock.now()
    store = talk.system.store
    found = [
        *(
            each.proposal.summary
            for each in await store.read(lambda c: open_actions(c, viewer, now=now))
        ),
        *(each.summary for each in await store.read(lambda c: list_events(c, viewer))),
        *(str(each) for each in await store.read(lambda c: open_tasks(c, viewer))),
        *(str(each) for each in await store.read(lambda c: list_notes(c, viewer))),
        *(each.narrative for each in await store.read(lambda c: list_facts(c, viewer, now=now))),
        *(each.text for each in await store.read(lambda c: list_episodes(c, viewer))),
    ]
    return "\n".join(found).lower()


@asynccontextmanager
async def talking(
    place: Path | str,
    planner: Planner,
    *,
    further: Iterable[RequestKind] = (),
    limits: Limits | None = None,
    household: Path = HOUSEHOLD,
) -> AsyncIterator[Talking]:
    """Hold conversations of the sample household on a clock that is moved by hand.

    Args:
        place: A folder, or the address of a database.
        planner: Decides what is done.
        further: Requests besides the built-in ones.
        limits: Of turns.
        household: Its file.
    """
    database = place / "family.sqlite" if isinstance(place, Path) else place
    with live_system(database, household=household) as system:
        clock, finder = VirtualClock(MONDAY), system.recall.finder
        bounds = limits or Limits()
        built_in = catalogue_of(system.settings, system.store, finder)
        catalogue = Catalogue((*built_in, *further))
        parts = Parts(
            store=system.store,
            household=system.household,
            clock=clock,
            catalogue=lambda: catalogue,
            gatherer=ContextGatherer(system.store, system.household, clock=clock),
            memories=Memories(finder, None, clock, household=system.household, searches=False),
            router=Router(None),
            loop=ToolLoop(system.store, planner, bounds),
            answerer=Answerer(),
            limits=bounds,
        )
        held = Talking(system, clock, Conversation(parts), parts)
        try:
            yield held
        finally:
            await held.conversation.close()
