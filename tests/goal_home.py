"""One household and the work on its goals on a virtual clock, with a runner that does as it is told."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from asking import FAMILY, NOW, ZONE, Desk
from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.background.cycles import next_cycle
from kinkeeper.background.goal_work import GoalWork
from kinkeeper.background.model import Outcome, StepRunner
from kinkeeper.background.page_questions import PageQuestions
from kinkeeper.bootstrap.goals import GoalPost
from kinkeeper.conversation.tables import turns
from kinkeeper.conversation.threads import Thread, open_thread
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import VirtualClock
from kinkeeper.goals.model import Goal, Source, Step
from kinkeeper.goals.repository import list_goals
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs.job import Pace
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.store.store import Store

PLAN: tuple[Mapping[str, Any], ...] = (
    {"id": "a", "description": "ask the museum for its hours"},
    {"id": "b", "description": "compare prices of five trains", "depends_on": ["a"]},
    {"id": "c", "description": "choose one hotel near water", "depends_on": ["a"]},
    {"id": "d", "description": "write down everything we need", "depends_on": ["b", "c"]},
    {"id": "e", "description": "tell grandma when we come", "depends_on": ["d"]},
)
"""Steps of which each is done after those it waits for."""


class ToldRunner:
    """Does steps as it is told, and remembers them.

    Attributes:
        finds: What each step finds, by a word of it; nothing where none is given.
        breaks: Words of steps that cannot be done.
        did: Descriptions of the steps it was given, in order.
    """

    limits = "I looked nowhere else."

    def __init__(self) -> None:
        self.finds: dict[str, Sequence[str]] = {}
        self.breaks: set[str] = set()
        self.did: list[str] = []

    async def run(self, goal: Goal, step: Step) -> Outcome:
        self.did.append(step.description)
        if any(word in step.description for word in self.breaks):
            raise UnavailableError("away")
        lines = [
            line for word, all_ in self.finds.items() if word in step.description for line in all_
        ]
        return Outcome(
            lines=lines,
            sources=[Source(kind="note", id=line, text=line) for line in lines],
            digests=lines,
            places=("the attic", "the cellar"),
        )


class GoalHome:
    """One household with its clock; `restart` opens the same file anew."""

    def __init__(
        self,
        file: Path | str,
        start: datetime = NOW,
        *,
        quiet: str = "22:00-07:00",
        runner: StepRunner | None = None,
    ) -> None:
        self._file, self._quiet = file, QuietHours.parse(quiet, ZONE)
        self.clock = VirtualClock(start)
        self.told_runner = ToldRunner()
        self.runner = runner or self.told_runner
        self.is_quiet = False
        self.open()

    def open(self) -> None:
        self.store = Store.open(str(self._file))
        self.desk = Desk(self.store)
        self.work = GoalWork(
            self.store,
            FAMILY.id,
            runner=self.runner,
            tell=GoalPost(FAMILY, self.clock),
            quiet_hours=self._quiet,
            is_quiet=lambda _conn, _now: self.is_quiet,
            questions=PageQuestions(FAMILY),
            clock=self.clock,
            pace=Pace(),
        )

    def restart(self) -> None:
        self.store.close()
        self.open()

    def thread(
        self, name: str, *, member: str = "ruth", channel: str = "web", chat: str | None = None
    ) -> None:
        thread = Thread(
            household=FAMILY.id,
            id=name,
            member=member,
            channel=channel,
            chat_id=chat,
            created_at=NOW,
            last_at=NOW,
        )
        self.store.write_now(lambda conn: open_thread(conn, thread))

    def ask(self, key: str, **params: Any) -> ActionResult:
        by = params.pop("by", None)
        return self.desk.ask(f"goal.{key}", params, by=by, now=self.clock.now().astimezone(ZONE))

    def want(self, text: str, **more: Any) -> str:
        """Take on a goal and return its id."""
        made = self.ask("create", text=text, **more)
        assert made.error is None, made.error
        return str(made.result["id"])

    def take_over(self) -> None:
        """Take over what a process that died had begun, as the work does where it begins."""
        asyncio.run(self.work._worker.take_over())

    def run(self) -> int:
        return asyncio.run(self.work.run_once())

    def until(self, moment: str) -> None:
        """Let time pass, and all be done that becomes due."""
        end = datetime.fromisoformat(moment).replace(tzinfo=ZONE)
        self.run()
        while (due := self._next()) is not None and due <= end:
            self.clock.advance_to(max(due, self.clock.now()))
            if not self.run():
                break
        self.clock.advance_to(end)
        self.run()

    def goal(self, goal_id: str) -> Goal:
        return next(each for each in self.goals if each.id == goal_id)

    @property
    def goals(self) -> Sequence[Goal]:
        whole = Viewer.whole(FAMILY.id)
        return self.store.read_now(lambda conn: list_goals(conn, whole))

    @property
    def said(self) -> list[tuple[str, str]]:
        """Thread and text of everything said, in order."""

        def read(conn: Connection) -> list[tuple[str, str]]:
            query = select(turns.c.thread, turns.c.answer).order_by(
                turns.c.received_at, turns.c.position
            )
            return [(row.thread, row.answer) for row in conn.execute(query)]

        return self.store.read_now(read)

    def _next(self) -> datetime | None:
        return self.store.read_now(lambda conn: next_cycle(conn, FAMILY.id))
