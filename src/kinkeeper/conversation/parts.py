"""What turns are worked on with: the stages of one household, handed over by whoever puts the system together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sqlalchemy import Connection

from kinkeeper.actions.requests.model import Catalogue
from kinkeeper.conversation.answering.answerer import Answerer
from kinkeeper.conversation.commit import Ending
from kinkeeper.conversation.context.turn_context import ContextGatherer
from kinkeeper.conversation.lookups import Memories
from kinkeeper.conversation.routing.router import Router
from kinkeeper.conversation.stages import Limits, StopSignal
from kinkeeper.conversation.stream import TurnStream
from kinkeeper.conversation.tool_loop import ToolLoop
from kinkeeper.conversation.tool_work import ToolWork
from kinkeeper.conversation.turn import Turn
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.store.store import Store


class Outlet(Protocol):
    """Hands on what turns come to where a channel does not read the thread's stream."""

    def ended(self, conn: Connection, turn: Turn, ending: Ending) -> None:
        """Hand on what a turn came to, in the transaction that ends it: so it goes out exactly once."""
        ...

    def goes_on(self, conn: Connection, turn: Turn, text: str) -> None:
        """Say that a turn goes on behind the talk, in the transaction that puts it there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a pipeline is made of.

    Attributes:
        store: The household's database.
        household: As its file has it.
        catalogue: What can be asked for, as of now.
        gatherer: Knows what was said before.
        memories: Brings what is remembered.
        router: Tells where a message goes.
        embedder: Compares what is asked with what is open; None compares words.
        limits: Longest times.
        outlets: By channel, hand on what turns came to, where a channel does not read the thread's stream.
    """

    store: Store
    household: Household
    clock: Clock
    catalogue: Callable[[], Catalogue]
    gatherer: ContextGatherer
    memories: Memories
    router: Router
    loop: ToolLoop
    answerer: Answerer
    embedder: Embedder | None = None
    limits: Limits = field(default_factory=Limits)
    outlets: Mapping[str, Outlet] = field(default_factory=dict)

    def work_of(
        self,
        turn: Turn,
        epoch: int,
        *,
        stream: TurnStream,
        stop: StopSignal,
        follow: Callable[[tuple[str, int]], None],
    ) -> ToolWork:
        """Return what takes the slow part of a turn behind the talk.

        Args:
            epoch: Of the claim it is worked on under.
            stream: Told what is being done.
            stop: Whether the person said stop.
            follow: Has the thread's next turn worked on.
        """
        outlet = self.outlets.get(turn.channel)
        return ToolWork(
            self.store,
            turn,
            epoch,
            clock=self.clock,
            limits=self.limits,
            stream=stream,
            stop=stop,
            follow=follow,
            goes_on=None if outlet is None else outlet.goes_on,
        )
