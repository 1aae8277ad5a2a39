"""A household that lives on a virtual clock and thinks in between, for the tests of idle thought."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select, update

from kinkeeper.background.drift.cycle import Cycle
from kinkeeper.background.drift.repository import drift_remarks
from kinkeeper.background.drift.rounds import DriftRounds
from kinkeeper.bootstrap.drift import HouseholdWorld, IdleThoughts, drift_rounds
from kinkeeper.conversation.answering.answerer import Answerer
from kinkeeper.conversation.context.repository import conversation_encodings
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.conversation.tables import turns
from kinkeeper.conversation.turn import TurnOutcome
from kinkeeper.core.ids import stable_id
from kinkeeper.jobs.leases import WorkState
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.notes.model import Note
from kinkeeper.notes.note_changes import add_note
from kinkeeper.tasks.model import Place, Task
from kinkeeper.tasks.task_changes import add_task
from live_household import MONDAY, ZONE
from talking import Talking, talking

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def due(title: str = "Pay the camp deposit", *, days: int = 5, **fields: Any) -> Task:
    plain = Task(
        id=stable_id("miller", title),
        household="miller",
        title=title,
        tz=ZONE.key,
        place=Place(channel="web"),
        created_at=MONDAY,
        asked_by="john",
        deadline=(MONDAY + days * DAY).astimezone(ZONE),
    )
    return replace(plain, **fields)


class Life:
    """A household that lives on a virtual clock, and thinks in between."""

    def __init__(self, talk: Talking) -> None:
        self.talk = talk
        self.rounds = self.new_rounds()

    def new_rounds(self, world: HouseholdWorld | None = None) -> DriftRounds:
        system = self.talk.system
        found = drift_rounds(system.settings, system.household, system.store, self.talk.clock)
        if world is None:
            return found
        return DriftRounds(
            system.store,
            system.household,
            world=world,
            clock=self.talk.clock,
            quiet_hours=QuietHours.parse(system.settings.quiet_hours, system.household.zone),
        )

    def mention(self) -> None:
        """Let answers mention what came to mind."""
        thoughts = IdleThoughts(self.talk.system.store)
        self.talk = self.talk.again(answerer=Answerer(thoughts=thoughts))

    async def think_of_it(self) -> None:
        """Think until something comes to mind, of somebody who is just talking and so is told nothing."""
        await self.talk.answer("hello")
        cycle = None
        while cycle is None or cycle.thought is None:
            self.talk.later(minutes=4)
            cycle = await self.think()

    @property
    def now(self) -> datetime:
        return self.talk.clock.now()

    async def write(self, *tasks: Task) -> None:
        for task in tasks:
            await self.talk.system.store.write(
                lambda conn, task=task: add_task(
                    conn, task, change_id=f"add {task.id}", at=self.now
                )
            )

    async def note_down(self) -> None:
        """Write down what the household's own calendar leaves open, so that nothing but what a test adds is asked."""
        note = Note(
            id=stable_id("miller", "places"),
            household="miller",
            title="Places",
            body="- chess club: school hall",
            created_at=self.now,
            made_by="john",
        )
        await self.talk.system.store.write(
            lambda conn: add_note(conn, note, change_id="places", at=self.now)
        )

    async def think(self) -> Cycle | None:
        """Think once, after what is made of exchanges afterwards is made."""
        encoded = update(conversation_encodings).values(state=WorkState.DONE.value)
        await self.talk.system.store.write(lambda conn: conn.execute(encoded).rowcount)
        return await self.rounds.run_once()

    async def live(self, length: timedelta, *, tick: timedelta = timedelta(minutes=25)) -> None:
        end = self.now + length
        while self.now < end:
            await self.think()
            self.talk.clock.advance_to(self.now + tick)

    def rows(self, table: Any = drift_remarks, *order: Any) -> list[Any]:
        query = select(table).order_by(*(order or table.primary_key.columns))
        return self.talk.system.store.read_now(lambda conn: conn.execute(query).all())  # type: ignore[return-value]

    def posted(self) -> list[tuple[str, str]]:
        """Return what was said unasked: to whom, and the words."""
        return [
            (row.member, row.answer)
            for row in self.rows(turns, turns.c.received_at)
            if row.outcome == TurnOutcome.POSTED.value
        ]


@asynccontextmanager
async def living(place: Path | str, *, greeting: str = "hello") -> AsyncIterator[Life]:
    async with talking(place, Planners(None)) as talk:
        if greeting:
            await talk.answer(greeting)
            talk.later(minutes=40)
        life = Life(talk)
        await life.note_down()
        yield life
