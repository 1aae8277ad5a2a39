"""The work on goals: in cycles, a few steps of one goal in each, and every step written down before the next.

A cycle is a row of work (`cycles`). Who runs one that broke off goes on with the same goal after the last step that
was written down: a step that is done is never begun again. Steps run outside transactions and only read.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from sqlalchemy import Connection

from kinkeeper.background.cycles import (
    change_cycle,
    goal_cycles,
    last_cycle,
    load_cycle,
    next_due,
    pause_after,
    plan_cycle,
    use_total,
)
from kinkeeper.background.model import ModelUse, Outcome, StepRunner, WebUse
from kinkeeper.background.page_questions import PageQuestions
from kinkeeper.background.progress_text import answer_of, message_of, unread_text
from kinkeeper.core.time import Clock, ForwardJumps
from kinkeeper.goals.model import (
    CYCLE,
    LONGEST_WORK,
    MOST_STEPS_A_CYCLE,
    UNFINISHED,
    WATCH_EVERY,
    Goal,
    GoalKind,
    GoalStatus,
    Step,
    StepState,
    chosen,
    is_worth_telling,
    moved,
    told,
)
from kinkeeper.goals.repository import TOPIC, find_goal, list_goals, put_goal
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Job, Pace, RowWorker
from kinkeeper.jobs.leases import Key, LeaseLostError
from kinkeeper.jobs.runners import WORK_LEFT
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.observability.failures import count_failure, repeat
from kinkeeper.store.commits import AFTERWARDS
from kinkeeper.store.store import Store

Tell = Callable[[Connection, Goal, str, str], None]
"""Says a text to a goal's person, in the transaction it is given; under the same key once."""

IsQuiet = Callable[[Connection, datetime], bool]
"""Whether the household asked for quiet at that moment."""

_NAME: Final = "goals"
_SPARE: Final = timedelta(minutes=5)
"""How much longer than its steps a cycle may take, and how late a question may be asked in quiet hours."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """The claim of a worker on a cycle."""

    key: Key
    epoch: int

    def hold(self, conn: Connection) -> None:
        """Keep the claim until the transaction ends.

        Raises:
            LeaseLostError: Another worker has the cycle by now.
        """
        if not leases.hold(conn, goal_cycles, self.key, self.epoch):
            raise LeaseLostError(f"cycle {self.key[-1]} of the work on goals is another worker's")


class GoalWork:
    """Works on the goals of one household.

    Args:
        runner: Does the steps.
        tell: Tells people how their goals stand.
        quiet_hours: When nothing is done, but to ask at the very time that somebody named.
        is_quiet: Tells whether quiet was asked for.
        questions: Asks people which pages may be read.
    """

    def __init__(
        self,
        store: Store,
        household: str,
        *,
        runner: StepRunner,
        tell: Tell,
        quiet_hours: QuietHours,
        is_quiet: IsQuiet,
        questions: PageQuestions,
        clock: Clock,
        pace: Pace,
    ) -> None:
        self._store = store.locking(household)
        self._household = household
        self._whole = Viewer.whole(household)
        self._runner = runner
        self._tell = tell
        self._quiet_hours = quiet_hours
        self._is_quiet = is_quiet
        self._questions = questions
        self._clock = clock
        job = Job(
            name=_NAME,
            table=goal_cycles,
            handler=self._cycle,
            lease=LONGEST_WORK + _SPARE,
            household=household,
        )
        self._worker = RowWorker(store, job, topic=(TOPIC, household), clock=clock, pace=pace)
        self._jumps = ForwardJumps()
        self._look_again = pace.reconcile_every
        self._wait = CYCLE

    async def run(self) -> None:
        """Do what is due when it is, until cancelled."""
        await self._worker.take_over()
        with self._store.watch((TOPIC, self._household), WORK_LEFT, after=AFTERWARDS) as watch:
            await repeat(self.run_once, lambda: watch.wait(self._wait.total_seconds()), name=_NAME)

    async def run_once(self) -> int:
        """Do what is due by now, and see when the next is; returns how many cycles that were."""
        # First what is due: a question that is due now is asked although its hour is a quiet one.
        done = await self._worker.run_once()
        wait = await self._store.write(self._plan)
        if not wait and (more := await self._worker.run_once()):
            done, wait = done + more, await self._store.write(self._plan)
        self._wait = min(CYCLE, wait or self._look_again)
        return done

    def _plan(self, conn: Connection) -> timedelta:
        """Let there be the next cycle, and return how long it is until then."""
        now = self._clock.now()
        self._settle_questions(conn, now)
        last = last_cycle(conn, self._household, has_ended=True)
        due_at = next_due(
            list_goals(conn, self._whole),
            now=now,
            quiet=self._quiet_hours,
            last_end=None if last is None else last["ended_at"],
            pause=pause_after(self._household, "" if last is None else last["id"]),
        )
        plan_cycle(conn, self._household, due_at, now=now)
        return CYCLE if due_at is None else max(due_at - now, timedelta(0))

    def _settle_questions(self, conn: Connection, now: datetime) -> None:
        """Let steps go on whose person has answered, and end what was not allowed in time or is asked for nothing."""
        for goal in list_goals(conn, self._whole):
            if goal.status not in UNFINISHED:
                if goal.progress.asked_pages:
                    self._questions.withdraw(conn, goal, now=now)
                continue
            after = goal
            for step in goal.progress.asking:
                if not self._questions.is_waiting(conn, goal, step.asks, now=now):
                    after = replace(after, progress=after.progress.with_step(_answered(goal, step)))
            if after is not goal:
                put_goal(conn, after, at=now)

    async def _cycle(self, key: Key, epoch: int) -> None:
        """Work on one goal: a few of its steps, one after another."""
        ends_at = asyncio.get_running_loop().time() + LONGEST_WORK.total_seconds()
        claim, tried = _Claim(key, epoch), set[str]()
        goal_id = await self._store.write(partial(self._begin, claim))
        while begun := await self._store.write(partial(self._next, claim, goal_id, tried)):
            goal, step = begun
            tried.add(step.id)
            outcome = await self._done(goal, step, ends_at)
            await self._store.write(partial(self._note, claim, goal.id, step=step, outcome=outcome))
        await self._store.write(partial(self._end, claim, goal_id))

    def _begin(self, claim: _Claim, conn: Connection) -> str | None:
        """Choose the goal of a cycle, or find the one that it had chosen; None where nothing is to be done."""
        claim.hold(conn)
        now = self._clock.now()
        if (goal_id := load_cycle(conn, claim.key)["goal_id"]) is not None:
            return str(goal_id)
        has_jumped = self._jumps.is_recent(now)
        for each in list_goals(conn, self._whole):
            if each.status in UNFINISHED and each.expires_at <= now and not has_jumped:
                put_goal(conn, moved(each, GoalStatus.EXPIRED), at=now)
        goal = chosen(list_goals(conn, self._whole), now=now)
        if goal is None or (self._rests(conn, now) and not _is_punctual(goal, now)):
            return None
        if goal.status is GoalStatus.PENDING:
            goal = moved(goal, GoalStatus.RUNNING)
        progress = replace(goal.progress, cycles=goal.progress.cycles + 1)
        put_goal(conn, replace(goal, progress=progress), at=now)
        change_cycle(conn, claim.key, goal_id=goal.id)
        return goal.id

    def _next(
        self, claim: _Claim, goal_id: str | None, tried: set[str], conn: Connection
    ) -> tuple[Goal, Step] | None:
        """Begin the next step of a goal; None where this cycle does no more of it.

        That it is begun is written down first: one that kills the process is not begun for ever.
        """
        claim.hold(conn)
        goal = None if goal_id is None else find_goal(conn, self._whole, goal_id)
        if goal is None or goal.status is not GoalStatus.RUNNING or goal.kind is GoalKind.ASK:
            return None
        most = 1 if goal.kind is GoalKind.WATCH else MOST_STEPS_A_CYCLE
        ready = [each for each in goal.progress.ready if each.id not in tried]
        if not ready or load_cycle(conn, claim.key)["steps"] >= most:
            return None
        step = replace(ready[0], iterations=ready[0].iterations + 1)
        begun = replace(goal, progress=goal.progress.with_step(step))
        put_goal(conn, begun, at=self._clock.now())
        return begun, step

    async def _done(self, goal: Goal, step: Step, ends_at: float) -> Outcome | None:
        """Return what a step came to; None where it could not be done this time."""
        try:
            async with asyncio.timeout_at(ends_at):
                return await self._runner.run(goal, step)
        except Exception as error:  # noqa: BLE001 - one step that breaks must not keep the other goals waiting
            count_failure(_NAME, error, goal=goal.id)
            return None

    def _note(
        self, claim: _Claim, goal_id: str, conn: Connection, *, step: Step, outcome: Outcome | None
    ) -> None:
        """Write down what a step came to, unless its goal is gone or was stopped meanwhile."""
        claim.hold(conn)
        goal = find_goal(conn, self._whole, goal_id)
        if goal is None or goal.status not in UNFINISHED:
            return
        now = self._clock.now()
        asks = None if outcome is None else self._asked(conn, goal, outcome, now)
        self._count(conn, claim, outcome, is_asked=asks is not None)
        if asks is not None:
            asked = (*goal.progress.asked_pages, asks)
            goal = replace(goal, progress=replace(goal.progress, asked_pages=asked))
        if outcome is not None and goal.kind is not GoalKind.WATCH:
            done = replace(
                step,
                state=StepState.DONE if asks is None else StepState.ASKING,
                answer=answer_of(outcome),
                sources=tuple(outcome.sources),
                asks=asks or "",
            )
            goal = replace(goal, progress=goal.progress.with_step(done))
        elif outcome is not None:
            goal = _looked(goal, replace(step, asks=asks or step.asks), outcome)
        if goal.kind is GoalKind.WATCH:
            goal = replace(goal, next_at=now + WATCH_EVERY)
        put_goal(conn, goal, at=now)

    def _count(
        self, conn: Connection, claim: _Claim, outcome: Outcome | None, *, is_asked: bool
    ) -> None:
        """Write down what a step used."""
        row = load_cycle(conn, claim.key)
        web = replace(WebUse() if outcome is None else outcome.web, asked=int(is_asked))
        model = ModelUse() if outcome is None else outcome.model
        use = use_total(row["web"], web, model)
        change_cycle(conn, claim.key, steps=row["steps"] + 1, web=use)

    def _asked(self, conn: Connection, goal: Goal, outcome: Outcome, now: datetime) -> str | None:
        """Ask whether one of the pages may be read that nobody named; return its address, None where nothing is asked."""
        return self._questions.ask(conn, goal, outcome.pages, now=now) if outcome.pages else None

    def _end(self, claim: _Claim, goal_id: str | None, conn: Connection) -> None:
        """Close a goal that has come to its end, tell people what is worth it, and close the cycle."""
        now = self._clock.now()
        goal = None if goal_id is None else find_goal(conn, self._whole, goal_id)
        if goal is not None and (over := _over(goal)) is not goal:
            put_goal(conn, over, at=now)
        count = 0
        for each in list_goals(conn, self._whole):
            if is_worth_telling(each) and (not self._rests(conn, now) or _is_punctual(each, now)):
                text = message_of(each, limits=self._runner.limits)
                self._tell(conn, each, text, f"goal:{each.id}:{claim.key[-1]}")
                put_goal(conn, told(each), at=now)
                count += 1
        change_cycle(conn, claim.key, told=count, ended_at=now)
        leases.finish(conn, goal_cycles, claim.key, claim.epoch)

    def _rests(self, conn: Connection, now: datetime) -> bool:
        return self._quiet_hours.hold(now) or self._is_quiet(conn, now)


def _is_punctual(goal: Goal, now: datetime) -> bool:
    """Whether it is the very time at which somebody wanted to be asked."""
    at = goal.next_at
    return goal.kind is GoalKind.ASK and at is not None and now - at <= _SPARE


def _looked(goal: Goal, step: Step, outcome: Outcome) -> Goal:
    """Return a watched goal after a look: what is new is kept until it is told, and the next look is its first try."""
    now, seen = frozenset(outcome.digests), goal.progress.seen
    gone = {each for each in seen if each.partition(":")[0] in outcome.whole and each not in now}
    seen = tuple(each for each in seen if each not in gone)
    new = [at for at, digest in enumerate(outcome.digests) if digest not in seen]
    renewed = {outcome.digests[at].partition(":")[0] for at in new}
    lost = {each.partition(":")[0] for each in gone} - renewed
    is_first = goal.progress.told_coverage is None
    fresh = replace(
        outcome,
        lines=[*(outcome.whole[each] for each in sorted(lost)), *(outcome.lines[at] for at in new)],
        sources=[outcome.sources[at] for at in new],
    )
    answer = answer_of(fresh) if fresh.lines or is_first else step.answer
    sources = tuple(fresh.sources) or step.sources
    looked = replace(step, answer=answer, sources=sources, iterations=0)
    progress = goal.progress.with_step(looked)
    return replace(
        goal, progress=replace(progress, seen=(*seen, *(outcome.digests[at] for at in new)))
    )


def _answered(goal: Goal, step: Step) -> Step:
    """Return a step whose person answered or let the time pass: it goes on, or ends with what it came to."""
    if goal.kind is GoalKind.WATCH or step.asks in goal.progress.allowed_pages:
        return replace(step, state=StepState.WAITING, asks="")
    answer = step.answer or unread_text(step.asks)
    return replace(step, state=StepState.DONE, answer=answer, asks="")


def _over(goal: Goal) -> Goal:
    """Return a goal that nothing is left to be done for as completed or failed; any other as it is."""
    if goal.status is not GoalStatus.RUNNING:
        return goal
    if goal.kind is GoalKind.ASK:
        steps = tuple(replace(each, state=StepState.DONE) for each in goal.progress.steps)
        return moved(
            replace(goal, progress=replace(goal.progress, steps=steps)), GoalStatus.COMPLETED
        )
    if goal.progress.coverage == 100:  # noqa: PLR2004 - percent
        return moved(goal, GoalStatus.COMPLETED)
    return goal if goal.progress.ready or goal.progress.asking else moved(goal, GoalStatus.FAILED)
