"""Acting: plan, carry out, look at what came of it, plan again, within a budget."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Protocol

from sqlalchemy import Connection

from kinkeeper.actions.consent import Origin
from kinkeeper.actions.model import FROM_CHAT, OPENS_TO
from kinkeeper.actions.payload import plain
from kinkeeper.actions.repository import find_of_slot
from kinkeeper.actions.requests.model import (
    ActionResult,
    Asked,
    Catalogue,
    RequestKind,
    ResultStatus,
)
from kinkeeper.actions.requests.request_runner import perform, result_of
from kinkeeper.conversation.criticism.model import Critic, Reviewed, Step, Verdict
from kinkeeper.conversation.model import (
    TAKE_BACK,
    Plan,
    PlannedAction,
    Planner,
    PlanningContext,
    Source,
)
from kinkeeper.conversation.stages import Course, Limits, Stage, StoppedError, StopSignal
from kinkeeper.conversation.stream import TurnStream
from kinkeeper.conversation.tool_work import ToolWork
from kinkeeper.conversation.turn import plan_record, read_plan
from kinkeeper.core.effort import Effort
from kinkeeper.core.ids import canonical_json
from kinkeeper.language.text import texts_within
from kinkeeper.store.store import Store

NOT_UNDERSTOOD = "I had trouble understanding; could you rephrase?"
TAKE_BACK_WHAT = (
    "Shall I take that back? Say “undo that” for what I did last, or “cancel it” for what waits."
)
_TOO_LATE = "there was no answer in time"
_STOPPED = "You said stop before this was done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """One step of acting.

    Attributes:
        number: From 0.
        actions: What was carried out, as "domain.name".
        ms: How long it took.
        fatigue: What all steps so far have cost.
        ended: Why the acting ended with it; None where it went on.
    """

    number: int
    actions: tuple[str, ...]
    ms: float
    fatigue: float
    ended: str | None = None


@dataclass(slots=True, kw_only=True)
class Acted:
    """What acting came to.

    Attributes:
        results: In order.
        clarification: What to ask back.
        further: Ids of the actions that are wanted beside what waits.
        verdicts: What second looks at them came to.
        unread: Requests of the message that nothing was made of.
        held: See `Plan`.
    """

    results: list[ActionResult] = field(default_factory=list)
    further: set[str | None] = field(default_factory=set)
    clarification: str | None = None
    partial: Mapping[str, Any] | None = None
    iterations: list[Iteration] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    unread: tuple[str, ...] = ()
    held: float | None = None


class Stop(Protocol):
    """Knows whether the person said stop."""

    @property
    def signal(self) -> StopSignal:
        """Breaks off what is under way."""
        ...

    async def is_wanted(self) -> bool:
        """Whether nothing more is to be done."""
        ...


class ToolLoop:
    """Acts on plans of one household's turns.

    Args:
        planner: Decides what is next.
        limits: How much a turn may do.
        critic: Looks at what steps came to; None where nobody does.
    """

    def __init__(
        self, store: Store, planner: Planner, limits: Limits, *, critic: Critic | None = None
    ) -> None:
        self._store = store
        self._critic = critic
        self._planner = planner
        self._limits = limits

    async def run(
        self,
        context: PlanningContext,
        catalogue: Catalogue,
        *,
        course: Course,
        stream: TurnStream,
        stop: Stop,
        work: ToolWork,
        done: Sequence[ActionResult] = (),
        plans: Sequence[Mapping[str, Any]] = (),
        keep: Callable[[Sequence[Mapping[str, Any]]], Awaitable[None]],
        take_back: Callable[[str], Awaitable[ActionResult]],
        only: Plan | None = None,
    ) -> Acted:
        """Act until there is nothing more to do, or something ends it.

        Args:
            context: What the planner may look at.
            course: Takes down how it goes.
            stop: Asked before each request.
            work: Takes what is slow behind the talk.
            done: What an earlier run of the same turn that broke off had found out.
            plans: Of an earlier run of the same turn that broke off: followed as far as they go.
            keep: Stores the plans made so far before they are carried out.
            take_back: Drops or undoes what was planned before in the thread, by the id of its action.
            only: What to carry out; None has it planned.
        """
        run = _Run(
            store=self._store,
            planner=self._planner if only is None else _Planned(only),
            critic=self._critic,
            limits=self._limits,
            context=context,
            catalogue=catalogue,
            course=course,
            stream=stream,
            stop=stop,
            work=work,
            done=done,
            plans=list(plans),
            keep=keep,
            take_back=take_back,
        )
        async with course.timed(Stage.ACT):
            return await run.all()


@dataclass(frozen=True, slots=True)
class _Planned(Planner):
    """Plans what was decided before."""

    decided: Plan

    async def plan(self, context: PlanningContext) -> Plan:
        return Plan() if context.results else self.decided


@dataclass(slots=True, kw_only=True)
class _Run:
    """The acting of one turn."""

    store: Store
    planner: Planner
    critic: Critic | None
    limits: Limits
    context: PlanningContext
    catalogue: Catalogue
    course: Course
    stream: TurnStream
    stop: Stop
    work: ToolWork
    done: Sequence[ActionResult]
    plans: list[Mapping[str, Any]]
    keep: Callable[[Sequence[Mapping[str, Any]]], Awaitable[None]]
    take_back: Callable[[str], Awaitable[ActionResult]]
    acted: Acted = field(default_factory=Acted)
    effort: Effort = field(init=False)
    ends_at: float = 0.0

    def __post_init__(self) -> None:
        """Begin with no effort."""
        self.effort = Effort(most=self.limits.fatigue, repeats=self.limits.repeats)

    async def all(self) -> Acted:
        """Go on until something ends it."""
        self.ends_at = self._now() + self.limits.acting.total_seconds()
        for number in range(self.limits.steps):
            began, before = perf_counter(), len(self.acted.results)
            try:
                ended = await self._step(number, await self._next_plan(number))
            except StoppedError:
                ended = "stopped"
                # What was planned before a crash need not be known any more; what it wrote is.
                if number == 0 and (done_before := await self._written(0)) is not None:
                    self.acted.results.append(done_before)
            if ended is None and number == self.limits.steps - 1:
                ended = "iterations"
            done = self.acted.results[before:]
            if done or ended not in {None, "empty plan"}:
                self.acted.iterations.append(
                    Iteration(
                        number=number,
                        actions=tuple(f"{each.domain}.{each.action}" for each in done),
                        ms=round((perf_counter() - began) * 1000, 3),
                        fatigue=round(self.effort.spent, 3),
                        ended=ended,
                    )
                )
            if ended is not None:
                break
        return self.acted

    async def _next_plan(self, number: int) -> Plan | None:
        """Return the next plan: as an earlier run made it, or a new one; None where there is none to be had."""
        if number < len(self.plans):
            return read_plan(self.plans[number])
        context = replace(self.context, results=tuple(self.acted.results))
        async with self.stream.telling_if_long(
            "plan", "Thinking about it…", after=self.limits.status_after
        ):
            with self.stop.signal.breaking_off():
                plan = await self.course.attempt(
                    Stage.PLAN, lambda: self.planner.plan(context), None, within=self.limits.plan
                )
        # What the same words always give needs no keeping, as long as it is one request.
        if plan is not None and (len(plan.actions) > 1 or number or plan.source is Source.MODEL):
            self.plans = [*self.plans[:number], plan_record(plan)]
            if plan.actions:
                await self.keep(self.plans)
        elif plan is not None:
            self.plans.append(plan_record(plan))
        return plan

    async def _step(self, number: int, plan: Plan | None) -> str | None:
        """Carry a plan out; return why the acting ends with it, if it does."""
        if plan is None:
            if not self.acted.results:
                self.acted.clarification = NOT_UNDERSTOOD
            return "no plan"
        plan = self._without_doubtful(plan)
        self.acted.unread = plan.unread
        if not self.acted.results:
            self.acted.held = plan.held
        if plan.clarification is not None:
            self.acted.clarification, self.acted.partial = plan.clarification, plan.partial
        if not plan.actions:
            return "empty plan"
        for at, action in enumerate(plan.actions):
            ended = await self._why_not(action)
            if ended is not None:
                await self._leave(plan.actions[at:], ended)
                return ended
            origin = plan.origin_of(action, self.context.asked.origin)
            result = await self._carry_out(action, origin)
            reviewed = await self._reviewed(result, plan.source, origin)
            self.acted.results.append(reviewed.result)
            if action.is_further:
                self.acted.further.add(reviewed.result.action_id)
            self.effort.add(self._cost(action), number=number)
            if reviewed.question is not None:
                self.acted.clarification = reviewed.question
                return "paused"
        return self._why_done(plan)

    def _without_doubtful(self, plan: Plan) -> Plan:
        """Return a plan that takes nothing back unless the person themself said so beyond doubt."""
        sure = tuple(
            each
            for each in plan.actions
            if (each.domain, each.action) != TAKE_BACK
            or plan.origin_of(each, self.context.asked.origin) is Origin.SAID
        )
        if len(sure) == len(plan.actions):
            return plan
        return replace(plan, actions=sure, clarification=plan.clarification or TAKE_BACK_WHAT)

    async def _reviewed(self, result: ActionResult, source: Source, origin: Origin) -> Reviewed:
        """Return a step after a second look; where that fails, the step stands."""
        kind = self.catalogue.find(result.domain, result.action)
        if self.critic is None or kind is None:
            return Reviewed(result=result)
        asked = replace(self.context.asked, number=len(self.acted.results), origin=origin)
        step = Step(context=self.context, source=source, kind=kind, asked=asked, result=result)
        critic = self.critic
        reviewed = await self.course.attempt(
            Stage.CRITIC,
            lambda: critic.review(step, self.catalogue),
            Reviewed(result=result),
            within=self.limits.critic,
        )
        if reviewed.verdict is not None:
            self.acted.verdicts.append(reviewed.verdict)
        return reviewed

    async def _why_not(self, action: PlannedAction) -> str | None:
        """Return why a request is not carried out any more, if so."""
        if await self.stop.is_wanted():
            return "stopped"
        if self._now() >= self.ends_at:
            return "timeout"
        what = {"key": f"{action.domain}.{action.action}", "params": dict(action.params)}
        return self.effort.why_not(canonical_json(what))

    async def _leave(self, actions: Sequence[PlannedAction], ended: str) -> None:
        """Say of what is not carried out any more why it is not, unless an earlier run of the turn has done it."""
        if ended == "repetition":
            return
        first = len(self.acted.results)
        for number, action in enumerate(actions, start=first):
            done = await self._written(number)
            self.acted.results.append(done or _left(action, ended))

    def _why_done(self, plan: Plan) -> str | None:
        if plan.clarification is not None:
            return "clarification"
        if any(each.status is ResultStatus.UNCLEAR for each in self.acted.results):
            return "unclear"
        if plan.is_whole:
            return "whole plan"
        return "fatigue" if self.effort.is_spent else None

    async def _carry_out(self, action: PlannedAction, origin: Origin) -> ActionResult:
        if (action.domain, action.action) == TAKE_BACK:
            return await self.take_back(action.params["action_id"])
        kind = self.catalogue.find(action.domain, action.action)
        if kind is None:
            self.course.note(Stage.ACT, "UnknownRequest")
            return replace(_failed(action, "that is not set up here"), may_retry=False)
        known = self._found_before(action)
        if known is not None:
            return known
        if kind.limit is not None:
            await self.work.begin(kind.progress)
            self._take_more_time()
        began = perf_counter()
        asked = replace(
            self.context.asked,
            number=len(self.acted.results),
            origin=origin,
            is_unsaid=action.is_unsaid or self._goes_on_unsaid(action),
            confidence=action.confidence,
        )
        result = await self.work.settled(await self._performed(action, kind, asked))
        ms = round((perf_counter() - began) * 1000, 3)
        await self.work.ran([*self.acted.results, result], ms=ms)
        self._take_more_time()
        return result

    def _goes_on_unsaid(self, action: PlannedAction) -> bool:
        """Whether a request has words of one that waits and that only its person is shown."""
        context = self.context
        before = (*context.open_edit, *(each for turn in context.history for each in turn.results))
        words = {*texts_within(action.params)}
        return any(
            OPENS_TO in each.result and not words.isdisjoint(texts_within(each.params))
            for each in before
        )

    def _take_more_time(self) -> None:
        """Let the acting take as long as slow tools may, once it waits for one."""
        if self.work.has_begun:
            self.ends_at = self._now() + self.work.left.total_seconds()

    def _found_before(self, action: PlannedAction) -> ActionResult | None:
        """Return what an earlier run of the turn found by the same request; what it wrote is found by its number."""
        at = len(self.acted.results)
        if at >= len(self.done):
            return None
        known = self.done[at]
        is_same = (known.domain, known.action) == (action.domain, action.action)
        is_same = is_same and plain(known.params) == plain(action.params)
        is_read = known.status is ResultStatus.DONE and known.action_id is None
        return known if is_same and is_read else None

    async def _performed(
        self, action: PlannedAction, kind: RequestKind, asked: Asked
    ) -> ActionResult:
        left = max(0.0, self.ends_at - self._now())
        longest = min(left, (kind.limit or self.limits.action).total_seconds())
        # What writes is over in a moment, and must not be left half-way.
        may_break_off = self.stop.signal.breaking_off() if kind.read else nullcontext()
        async with self.stream.telling_if_long(
            "act", kind.progress, after=self.limits.status_after
        ):
            try:
                with may_break_off:
                    async with asyncio.timeout(longest):
                        return await perform(
                            self.catalogue,
                            self.store,
                            asked,
                            domain=action.domain,
                            action=action.action,
                            params=action.params,
                        )
            except TimeoutError as error:
                self.course.note(Stage.ACT, error)
                # It may have been written all the same.
                return await self._written(asked.number) or _failed(action, _TOO_LATE)
            except StoppedError:
                return _left(action, "stopped")
            except Exception as error:  # noqa: BLE001 - one request that breaks is told as failed, the others go on
                self.course.note(Stage.ACT, error)
                return _failed(action, "something went wrong here")

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    async def _written(self, number: int) -> ActionResult | None:
        """Return how a request of this turn stands that was written, now or by an earlier run; None where it was not."""
        asked = self.context.asked

        def stored(conn: Connection) -> ActionResult | None:
            found = find_of_slot(
                conn,
                asked.household.id,
                source_type=FROM_CHAT,
                source_id=asked.turn_id,
                slot=str(number),
            )
            return None if found is None else result_of(found)

        return await self.store.read(stored)

    def _cost(self, action: PlannedAction) -> float:
        kind = self.catalogue.find(action.domain, action.action)
        return 1.0 if kind is None else kind.cost


def _left(action: PlannedAction, ended: str) -> ActionResult:
    """Return a request that was not carried out, or not to its end."""
    if ended != "stopped":
        return _failed(action, "this took too long")
    return ActionResult(
        domain=action.domain,
        action=action.action,
        params=action.params,
        status=ResultStatus.CANCELLED,
        error=_STOPPED,
    )


def _failed(action: PlannedAction, reason: str) -> ActionResult:
    return ActionResult(
        domain=action.domain,
        action=action.action,
        params=action.params,
        status=ResultStatus.FAILED,
        error=reason,
        may_retry=True,
    )
