"""The rounds of idle thought: when nothing else is to be done, one adult's view is looked at, and what follows is done."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random, uniform  # noqa: TID251 - spreads the rounds, and draws from the seed that is recorded
from typing import Final, Protocol
from uuid import UUID

from sqlalchemy import Connection

from kinkeeper.actions.expected import expected_between
from kinkeeper.background.drift import repository
from kinkeeper.background.drift.actions import ACTIONS
from kinkeeper.background.drift.cycle import (
    Action,
    Cycle,
    Given,
    History,
    Presence,
    Remark,
    State,
    due_now,
    explored,
    settled_remarks,
    think,
)
from kinkeeper.background.drift.model import LOOK_AHEAD, LOOK_BACK, Observation, Snapshot
from kinkeeper.background.drift.observations import observed
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import Clock, Interval, is_of_wrong_clock, to_text
from kinkeeper.goals.model import UNFINISHED
from kinkeeper.goals.repository import list_goals
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import viewer_for
from kinkeeper.memory.concepts import concept_map, follow_facts, is_behind
from kinkeeper.memory.facts import list_facts
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.notes.repository import list_notes
from kinkeeper.observability.failures import count_failure, repeat
from kinkeeper.store.engines import translated
from kinkeeper.store.store import Store
from kinkeeper.tasks.repository import tasks_lately, times_put_off

TICK: Final = timedelta(seconds=300)
JITTER: Final = 0.3
"""A tick is longer or shorter by at most this share."""
LIVED_WITHIN: Final = timedelta(hours=168)
"""Nothing is thought of a household in which nobody said anything for longer."""

_NAME = "background.drift"
_MOST_FACTS = 500
_SHORTEST = TICK * (1 - JITTER) / 2
"""Two cycles of a household lie no closer, whatever number of processes work for it."""


class World(Protocol):
    """What idle thought has to know, and do, beyond its own rows; functions over the caller's transaction."""

    def is_idle(self, conn: Connection, *, now: datetime) -> bool:
        """Whether no work waits or runs."""
        ...

    def was_anything_said(self, conn: Connection, *, since: datetime, until: datetime) -> bool:
        """Whether anybody of the household said anything in a span of time."""
        ...

    def presence(self, conn: Connection, member: Member, *, now: datetime) -> Presence:
        """Return how a member is there just now."""
        ...

    def propose_goal(
        self, conn: Connection, member: Member, thought: Observation, *, now: datetime
    ) -> bool:
        """Let a goal wait for its person's approval; returns whether it does."""
        ...

    def tell(self, conn: Connection, member: Member, remark: Remark, *, now: datetime) -> str:
        """Put a remark where its person alone sees it, once under its id; returns the id of the thread."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """A cycle, with what it rests on.

    Attributes:
        found: What is observed, also what is known to its person.
    """

    given: Given
    found: Sequence[Observation]
    cycle: Cycle


class DriftRounds:
    """Thinks for one household, on the wall clock, while it has nothing else to do.

    Args:
        quiet_hours: When nobody is told anything; what they would be told waits.
        actions: What may be done about a thought.
    """

    def __init__(
        self,
        store: Store,
        household: Household,
        *,
        world: World,
        quiet_hours: QuietHours,
        clock: Clock,
        actions: Sequence[Action] = ACTIONS,
    ) -> None:
        self._store = store
        self._household = household
        self._world = world
        self._quiet_hours = quiet_hours
        self._clock = clock
        self._actions = {each.name: each for each in actions}

    async def run(self) -> None:
        """Think, again and again, until cancelled."""
        await rest()  # what a start brings goes first
        await repeat(self.run_once, rest, name=_NAME)

    async def run_once(self) -> Cycle | None:
        """Think once if there is nothing else to do; returns what came of it."""
        now = self._clock.now()
        member = await self._store.read(lambda conn: self._whose(conn, now))
        if member is None:
            return None
        thinking = await self._store.read(lambda conn: self.think(conn, member, now))
        return await self._store.write(lambda conn: self._do(conn, member, thinking))

    def _whose(self, conn: Connection, now: datetime) -> Member | None:
        """Return whose view is looked at; None where nothing is to be thought now."""
        last = repository.last_cycle_at(conn, self._household.id)
        is_soon = last is not None and now - last < _SHORTEST and not is_of_wrong_clock(last, now)
        if is_soon or not self._world.is_idle(conn, now=now):
            return None
        if not self._world.was_anything_said(conn, since=now - LIVED_WITHIN, until=now):
            return None
        silent = repository.wants_none(conn, self._household.id)
        adults = [each for each in self._household.adults if each.id not in silent]
        draw = Random(self._seed(now))  # noqa: S311 - see the import
        return draw.choice(adults) if adults else None

    def _seed(self, now: datetime) -> int:
        return UUID(stable_id(self._household.id, "drift", to_text(now))).int % 2**31

    def think(self, conn: Connection, member: Member, now: datetime) -> Thinking:
        """Return a member's cycle at a moment; for a moment that is past, as it was then, of the rows as they are."""
        household = self._household
        given = Given(
            snapshot=snapshot_of(conn, household, member, now=now),
            known=concept_map(conn, viewer_for(household, member, now=now), now=now),
            history=repository.history_of(conn, household.id, now=now),
            presence=self._world.presence(conn, member, now=now),
            quiet_hours=self._quiet_hours,
            is_map_behind=is_behind(conn, household.id),
            goals=[
                each
                for each in list_goals(conn, viewer_for(household, member, now=now))
                if each.status in UNFINISHED
            ],
        )
        return Thinking(
            given=given,
            found=observed(given.snapshot),
            cycle=think(given, self._seed(now), self._actions.values()),
        )

    def _do(self, conn: Connection, member: Member, thinking: Thinking) -> Cycle | None:
        household, given = self._household.id, thinking.given
        now = given.now
        last = repository.last_cycle_at(conn, household)
        if last is not None and not is_of_wrong_clock(last, now) and now - last < _SHORTEST:
            return None  # another process was faster
        if member.id in repository.wants_none(conn, household):
            return None
        thought = thinking.cycle.thought
        if thought and repository.is_unwanted(conn, household, member.id, thought.news):
            return None  # ended while it was thought about
        for remark in settled_remarks(given, thinking.found):
            repository.change_remark(conn, household, remark, at=now)
        for question in explored(given, thinking.found):
            repository.change_question(conn, household, question)
        doing = _InTransaction(conn, self._household, member, thinking, self._world)
        effect = self._actions[thinking.cycle.action].run(doing)
        if doing.is_silent:
            doing.tell_deferred(repository.history_of(conn, household, now=_just_after(now)))
        repository.insert_cycle(conn, household, member.id, thinking.cycle, at=now, effect=effect)
        return thinking.cycle


async def rest() -> None:
    """Wait until the next tick."""
    seconds = TICK.total_seconds()
    await asyncio.sleep(uniform(seconds * (1 - JITTER), seconds * (1 + JITTER)))  # noqa: S311 - see the import


def _just_after(now: datetime) -> datetime:
    return now + timedelta(microseconds=1)


def snapshot_of(
    conn: Connection, household: Household, member: Member, *, now: datetime
) -> Snapshot:
    """Return what a member sees of their household."""
    viewer = viewer_for(household, member, now=now)
    tasks = tasks_lately(conn, viewer, since=now - LOOK_BACK)
    return Snapshot(
        household=household,
        member=member,
        now=now,
        tasks=tasks,
        put_off=times_put_off(conn, tasks),
        occurrences=expected_between(
            conn, viewer, Interval(now - LOOK_BACK, now + LOOK_AHEAD), now=now
        ),
        notes=list_notes(conn, viewer),
        facts=list_facts(conn, viewer, now=now, limit=_MOST_FACTS),
    )


def kept_for(
    conn: Connection, household: Household, member: Member, *, now: datetime
) -> list[Observation]:
    """Return what is kept as a question for a member, in words made anew from what they see now."""
    kept = repository.open_questions(conn, household.id, member.id)
    if not kept:
        return []
    found = observed(snapshot_of(conn, household, member, now=now))
    return [each for each in found if each.news in kept]


class _InTransaction:
    """Carries out what a cycle came to."""

    def __init__(  # noqa: PLR0917 - what a cycle is carried out with
        self,
        conn: Connection,
        household: Household,
        member: Member,
        thinking: Thinking,
        world: World,
    ) -> None:
        self._conn = conn
        self._household = household
        self._member = member
        self._thinking = thinking
        self._world = world
        self.is_silent = True

    def tell(self) -> str:
        given, thought = self._thinking.given, self._thinking.cycle.thought
        if thought is None:
            return ""
        remark = Remark(
            id=repository.cycle_id(self._household.id, self._member.id, given.now),
            member=self._member.id,
            matter=thought.matter,
            news=thought.news,
            text=thought.text,
            about=frozenset(each.id for each in thought.evidence),
            score=self._thinking.cycle.worth,
            state=State.DEFERRED,
            made_at=given.now,
            until=thought.until,
        )
        told = remark if given.quiet_hours.hold(given.now) else self._told(remark)
        repository.insert_remark(self._conn, self._household.id, told, thought.evidence)
        self.is_silent = False
        return told.state.value

    def tell_deferred(self, history: History) -> None:
        """Tell the best of what waited for the end of the quiet hours, and drop the rest.

        Args:
            history: As it stands now.
        """
        best = due_now(replace(self._thinking.given, history=history))
        if best is None:
            return
        now = self._thinking.given.now
        for each in history.deferred_for(self._member.id):
            told = self._told(each) if each.id == best.id else replace(each, state=State.DROPPED)
            repository.change_remark(self._conn, self._household.id, told, at=now)

    def propose_goal(self) -> str:
        thought, now = self._thinking.cycle.thought, self._thinking.given.now
        if thought is None:
            return ""
        is_proposed = self._world.propose_goal(self._conn, self._member, thought, now=now)
        return "proposed" if is_proposed else ""

    def keep(self) -> str:
        thought, now = self._thinking.cycle.thought, self._thinking.given.now
        if thought is None:
            return ""
        repository.plant(self._conn, self._household.id, self._member.id, thought, at=now)
        return "kept"

    def follow_facts(self) -> str:
        follow_facts(self._conn, self._household.id)
        return "map brought up to date"

    def _told(self, remark: Remark) -> Remark:
        """Return a remark after it was told, or after telling it failed."""
        now = self._thinking.given.now
        try:
            with translated(), self._conn.begin_nested():
                thread_id = self._world.tell(self._conn, self._member, remark, now=now)
        except UnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - it is counted, and after two of three there is a pause
            count_failure(_NAME, error, member=self._member.id)
            return replace(remark, state=State.FAILED, told_at=now)
        return replace(remark, state=State.WAITING, told_at=now, thread_id=thread_id)
