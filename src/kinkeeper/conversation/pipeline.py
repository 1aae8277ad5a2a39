"""One turn, from a message to a committed answer: context, routing, open questions, acting, answering, commit.

Every stage has a limit and something the turn goes on with when it fails; every way ends in the commit.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from time import monotonic
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.bars import Bar, offsets_at
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.requests.model import ActionResult, Asked, ResultStatus
from kinkeeper.actions.written_audience import known_scope
from kinkeeper.conversation.answering.nothing_done import names_open_thing
from kinkeeper.conversation.answering.request_text import leaves_open
from kinkeeper.conversation.answering.templates import is_question
from kinkeeper.conversation.answering.templates import told as template
from kinkeeper.conversation.commit import Ending, nothing_said, recent_margins
from kinkeeper.conversation.context.model import TurnContext
from kinkeeper.conversation.events import has_events
from kinkeeper.conversation.looking_back import without_words
from kinkeeper.conversation.lookups import NOTHING, Brought, fetch
from kinkeeper.conversation.model import (
    LONGEST_READ,
    Answer,
    AnswerContext,
    Branch,
    Confirmation,
    Exchange,
    Mode,
    Nearest,
    Plan,
    PlanningContext,
    Social,
    Source,
    Triage,
    TurnType,
)
from kinkeeper.conversation.nearest import near_in_meaning, seek
from kinkeeper.conversation.open_thing_offer import offer_about
from kinkeeper.conversation.parts import Parts
from kinkeeper.conversation.planning.case import case_of
from kinkeeper.conversation.planning.memory_rules import told_of
from kinkeeper.conversation.planning.rule_planner import vocabulary_of
from kinkeeper.conversation.planning.told_changes import tells_of_other
from kinkeeper.conversation.questions import Open, Settler, find_open
from kinkeeper.conversation.routing.confirmation import Decision
from kinkeeper.conversation.routing.router import Routed
from kinkeeper.conversation.stages import Course, Stage, StoppedError, StopSignal
from kinkeeper.conversation.stream import TurnStream
from kinkeeper.conversation.taking_back import (
    LastTold,
    edited_lately,
    forgotten,
    is_remembered,
    last_told,
    nothing_kept,
    restored,
    retracted,
    taken_back,
    took_back,
    undone,
    wants_undo,
)
from kinkeeper.conversation.told_audience import secret_of
from kinkeeper.conversation.tool_loop import Acted
from kinkeeper.conversation.tool_work import CycleHead, ToolWork
from kinkeeper.conversation.turn import Turn, TurnOutcome
from kinkeeper.conversation.turn_end import Closing
from kinkeeper.conversation.turns import Claim, is_stopped, keep_plans, turn_with_earlier
from kinkeeper.core.beside import beside, read_beside
from kinkeeper.core.errors import InvariantError
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, kept_to
from kinkeeper.jobs.leases import LeaseLostError
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.statements.care import only_denies
from kinkeeper.memory.statements.discretion import seems_private
from kinkeeper.memory.statements.secrecy import points_back, wished_scope
from kinkeeper.reading.corrections import asks_to_restore, retraction_of
from kinkeeper.reading.forgetting import wish_to_forget
from kinkeeper.reading.replies import only_says_no, only_takes_on, steps_back
from kinkeeper.reading.second_thoughts import takes_back

_EARLIER = 20  # in which a question may still be open
_HEARD_SECONDS = 0.1  # that another process's stop may go unnoticed where it was just looked for
_HISTORY = 8  # that "it" and "that" may mean something of
_BROKE = "Something went wrong, and nothing more was done. Please try again."
_UNREADABLE = "I couldn't read that message. Nothing was done. Please put it another way."
_NOTHING_OF_IT = "All right, I haven't done or saved any of that."
_MOST_READS = 2
_TOO_LONG = f"Your message was long: I read its first {LONGEST_READ:,} characters and saved the rest as it is."
_ASKING = frozenset({ResultStatus.AWAITING, ResultStatus.UNCLEAR})
_REFUSING = frozenset({Confirmation.NO, Confirmation.EDIT})
_UNROUTED = Triage(type=TurnType.CHAT, branch=Branch.RESPOND, mode=Mode.RESPOND)
_NO_CONTEXT = TurnContext()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """What a turn begins with."""

    turn: Turn
    earlier: Sequence[Turn]
    open: Open
    margins: tuple[float, ...]
    offset: float
    is_resumed: bool


class Pipeline:
    """Runs the turns of one household.

    Args:
        parts: What it is made of.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def run(
        self, turn_id: str, epoch: int, stop: StopSignal, *, follow: Callable[[Claim], None]
    ) -> Claim | None:
        """Run a claimed turn to its end.

        Args:
            stop: Set when its person says stop.
            follow: Has the thread's next turn worked on, where that need not wait for this one's end.

        Returns:
            The thread's next turn, claimed; None where there is none.

        Raises:
            LeaseLostError: Somebody else has taken the turn; it is theirs now.
            UnavailableError: The database cannot be reached.
        """
        parts = self._parts
        loaded = await parts.store.read(lambda conn: self._load(conn, turn_id))
        if loaded.turn.is_stopped:
            stop.set()
        stream = TurnStream(parts.store, loaded.turn, epoch, clock=parts.clock)
        if loaded.is_resumed:
            stream.status("resumed", "Picking up where I left off…", restart=True)
        run = _Run(
            parts=parts,
            loaded=loaded,
            epoch=epoch,
            stream=stream,
            signal=stop,
            work=parts.work_of(loaded.turn, epoch, stream=stream, stop=stop, follow=follow),
        )
        try:
            return await run.commit(
                run.unreadable() if run.broke_twice else await run.ending_or_failure()
            )
        finally:
            await run.work.end()

    def _load(self, conn: Connection, turn_id: str) -> _Loaded:
        household = self._parts.household.id
        turn, earlier = turn_with_earlier(conn, household, turn_id, last=_EARLIER, whole=_HISTORY)
        return _Loaded(
            turn=turn,
            earlier=earlier,
            open=find_open(conn, household, earlier, now=turn.received_at),
            margins=recent_margins(conn, household, earlier),
            offset=offsets_at(conn, household, turn.received_at).of(Bar.OFFERS),
            is_resumed=turn.epoch > 1 and has_events(conn, household, turn.thread_id, turn.id),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What was settled or done, and where the message turned out to go."""

    triage: Triage
    acted: Acted
    asked_about: Mapping[str, Any] | None = None


@dataclass(kw_only=True)
class _Run:
    """One turn under way."""

    parts: Parts
    loaded: _Loaded
    epoch: int
    stream: TurnStream
    signal: StopSignal
    work: ToolWork
    course: Course = field(default_factory=Course)
    context: TurnContext = _NO_CONTEXT
    brought: Brought = NOTHING
    is_cut: bool = False
    known: str = HOUSEHOLD_SCOPE
    asked_at: float = -inf
    before: LastTold | None = None

    @property
    def turn(self) -> Turn:
        return self.loaded.turn

    @property
    def whole(self) -> str:
        """The message, with the statement before it that it sets right."""
        return self.turn.text if self.before is None else self.before.with_reply(self.turn.text)

    @property
    def text(self) -> str:
        """What is read of the message."""
        return self.whole[:LONGEST_READ]

    @cached_property
    def said(self) -> str:
        """What decides where the message goes: a wish for secrecy beside what it tells is no request and no answer."""
        turn = self.turn
        secret = secret_of(self.text, self.parts.household, turn.member, is_group=turn.is_shared)
        return self.whole if secret is None else secret

    @cached_property
    def scope(self) -> str:
        """Who may read what is proposed from a message that is not planned as a whole: the rest may ask for secrecy."""
        turn, member = self.turn, self.turn.speaker(self.parts.household)
        if member is None or not member.is_adult:
            return HOUSEHOLD_SCOPE  # what others ask for awaits an adult, who has to read it
        if self.is_read_whole:
            return self.known
        household = self.parts.household
        wished = wished_scope(self.whole, household, turn.member, is_group=turn.is_shared)
        return kept_to(wished, self.known)

    @property
    def is_read_whole(self) -> bool:
        return len(self.turn.text) <= LONGEST_READ

    async def is_wanted(self) -> bool:
        """Whether the person said stop, here or in another process."""
        is_known = monotonic() < self.asked_at + _HEARD_SECONDS
        if not is_known and not self.signal.is_set:
            self._heed(await self.parts.store.read(lambda conn: is_stopped(conn, self.turn.key)))
        return self.signal.is_set

    def _heed(self, is_told: bool) -> None:  # noqa: FBT001 - what a look into the database came to
        """Take in what other processes were told."""
        self.asked_at = monotonic()
        if is_told:
            self.signal.set()

    @property
    def broke_twice(self) -> bool:
        """Whether two processes ended while they read the message, before anything was planned."""
        turn = self.turn
        return turn.begun > _MOST_READS and not turn.plans and not turn.results

    def unreadable(self) -> Ending:
        """Return how a message ends that must not break a third process."""
        self.course.note(Stage.TURN, "BrokeTwice")
        return Ending(
            outcome=TurnOutcome.FAILED, answer=replace(nothing_said(Mode.RESPOND), text=_UNREADABLE)
        )

    async def ending_or_failure(self) -> Ending:
        """Return what the turn comes to, whatever breaks."""
        try:
            return await self.ending()
        except LeaseLostError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever breaks, the turn ends with a word to the person
            self.course.note(Stage.TURN, error)
            return Ending(outcome=TurnOutcome.FAILED, answer=nothing_said(Mode.RESPOND))

    async def ending(self) -> Ending:
        """Return what the turn comes to."""
        household, turn = self.parts.household, self.turn
        self.before = await self._last_told()
        if (member := turn.speaker(household)) is not None and not turn.is_shared:
            self.known = await self.parts.store.read(
                lambda conn: known_scope(conn, household, member, self.text, now=turn.received_at)
            )
        await read_beside(self.turn.text, lambda: (self.said, self.scope))
        asked, lately = self._asked(), self.loaded.earlier[-_HISTORY:]
        async with asyncio.TaskGroup() as group:
            bringing = group.create_task(self._bring())
            self.context = await self.course.attempt(
                Stage.CONTEXT,
                lambda: self.parts.gatherer.gather(
                    thread_id=self.turn.thread_id,
                    member=asked.member,
                    viewer=asked.viewer,
                    text=self.text,
                    earlier=lately,
                    now=asked.now,
                ),
                TurnContext(history=without_words(lately)),
                within=self.parts.limits.context,
            )
            history = self.context.history
            routed = await self._route(history)
            triage = routed.triage if routed is not None else _UNROUTED
        self.brought = bringing.result()
        self.work.head = self._head(routed, triage)
        planning = PlanningContext(
            asked=asked, text=self.text, triage=triage, history=history, offset=self.loaded.offset
        )
        done = await self._do(planning, routed)
        if self.before is not None:
            done = _told_as_well(done)
        await self._show(done.acted.results)
        acted = done.acted
        nearest = await self._nearest(planning, done)
        context = await self._to_answer(planning, routed, done, nearest)
        is_offered = False
        if (offered := await self._offered(planning, context)) is not None:
            done, acted, is_offered = replace(done, acted=offered), offered, True
            await self._show(acted.results)
            context = replace(
                context, results=acted.results, mode=self._mode(routed, done), nearest=None
            )
        answer = await self._answer(context)
        is_cancelled = self.is_cut or any(each.ended == "stopped" for each in acted.iterations)
        return Ending(
            outcome=TurnOutcome.CANCELLED if is_cancelled else TurnOutcome.ANSWERED,
            answer=answer,
            routed=routed,
            triage=done.triage,
            results=acted.results,
            clarification=acted.clarification,
            partial=acted.partial,
            asked_about=done.asked_about,
            iterations=acted.iterations,
            held=acted.held,
            is_offered=is_offered,
            verdicts=acted.verdicts,
            brought=len(self.brought.lines),
            is_late=self.work.is_aside,
            told=context.told,
            text=self.whole,
            sets_right=self.before,
            known=self.known,
        )

    async def _to_answer(
        self, planning: PlanningContext, routed: Routed | None, done: _Done, nearest: Nearest | None
    ) -> AnswerContext:
        """Return what the answer may be made of, with what the message tells beside what was done."""
        asked, acted = planning.asked, done.acted
        told = await beside(
            lambda: told_of(self.text, routed, acted.results, asked.household, now=asked.now)
        )
        if self.before is not None:
            told = self.whole  # what it replaces is gone
        if told:  # the answer says who may see it; read here, it holds nobody up
            await beside(lambda: seems_private(self.text))
        return AnswerContext(
            asked=asked,
            text=self.text,
            mode=self._mode(routed, done),
            triage=done.triage,
            history=planning.history,
            results=acted.results,
            memories=self.brought.lines,
            clarification=acted.clarification,
            is_stopped=self.signal.is_set or self.turn.stops,
            called=self.context.called,
            gists=self.context.gists,
            known=self.context.known,
            said_in=self.context.said_in,
            world=self.context.world,
            told=told,
            unread=acted.unread,
            set_right=self.before.text if self.before else "",
            nearest=nearest,
        )

    async def _offered(self, planning: PlanningContext, context: AnswerContext) -> Acted | None:
        """Ask whether the open thing that a message names is over; None where the answer names none, or nothing came of it."""
        near = context.nearest
        if near is None or not self.is_read_whole or context.is_stopped:
            return None
        if (plan := offer_about(near, self.text, planning.asked)) is None:
            return None
        if not names_open_thing(context, template(context).text):
            return None
        acted = await self._act(planning, only=plan)
        is_asked = any(each.status in _ASKING for each in acted.results)
        return acted if is_asked else None

    async def commit(self, ending: Ending) -> Claim | None:
        """Write what the turn came to, and claim the next one of its thread."""
        if ending.outcome is TurnOutcome.FAILED:
            self.stream.failed(Stage.TURN.value, ending.answer.text or _BROKE)
        else:
            self.stream.done(ending.answer)
        closing = Closing(
            self.parts,
            self.turn,
            epoch=self.epoch,
            course=self.course,
            has_cycle=self.work.has_begun,
        )
        async with self.stream.closing() as tell:
            claim = await closing.write(ending, tell, self.context, recalled=self.brought.strong)
        if ending.outcome is not TurnOutcome.FAILED:
            self.parts.memories.turn_ended(self.turn, self._asked().viewer, ending.answer.text)
        return claim

    async def _last_told(self) -> LastTold | None:
        """Return the statement right before the message that means something only together with it."""
        text, earlier = self.turn.text, self.loaded.earlier
        if not earlier or self.turn.is_shared or retraction_of(text) is not None:
            return None
        if wish_to_forget(text) is not None:
            return None
        asked = self._asked()
        return await self.parts.store.read(lambda conn: last_told(conn, text, earlier, asked))

    def _asked(self) -> Asked:
        household, turn = self.parts.household, self.turn
        member = turn.speaker(household)
        if member is None:
            raise InvariantError(f"turn {turn.id!r} belongs to nobody in the household any more")
        return Asked(
            household=household,
            member=member,
            now=turn.received_at.astimezone(household.zone),
            channel=turn.channel,
            thread_id=turn.thread_id,
            turn_id=turn.id,
            is_shared=turn.is_shared,
            # Nobody knows what the unread rest says about it, so what a long message asks for is confirmed first.
            origin=turn.origin if self.is_read_whole else Origin.OBSERVED,
            scope=self.scope,
        )

    async def _bring(self) -> Brought:
        return await self.course.attempt(
            Stage.MEMORIES,
            lambda: self.parts.memories.bring(self.turn, self._asked().viewer),
            NOTHING,
            within=self.parts.limits.memories,
        )

    async def _route(self, history: Sequence[Any]) -> Routed | None:
        parts = self.parts
        return await self.course.attempt(
            Stage.ROUTE,
            lambda: parts.router.route(
                self.said,
                history=history,
                open_question=self.loaded.open.asked,
                signals=replace(self.context.signals, recent_margins=self.loaded.margins),
                requests=tuple(parts.catalogue()),
                names=(parts.household.bot_name,),
                people=parts.household.members_by_word,
            ),
            None,
            within=parts.limits.route,
        )

    async def _do(self, planning: PlanningContext, routed: Routed | None) -> _Done:
        """Settle what is open, or act; what is wholly social does neither, and a stop was heeded when it was said."""
        triage, asked = planning.triage, planning.asked
        # Stopped before anybody began it, it says nothing to open questions either.
        self.is_cut = self.signal.is_set and self.turn.epoch == 1
        if self.turn.stops:
            return _Done(triage=replace(triage, social=Social.CANCEL), acted=Acted())
        if self.is_cut:
            return _Done(triage=triage, acted=Acted())
        if (acted := await self._retracted(asked)) is not None:
            respond = replace(triage, social=None, branch=Branch.RESPOND, mode=Mode.RESPOND)
            return _Done(triage=respond, acted=acted)
        settler = Settler(self.parts.store, self.work, found=self.loaded.open, course=self.course)
        decision = routed.confirmation if routed is not None else None
        decided = None
        if (
            self.before is None
            and self.is_read_whole
            and self._unwanted() is None
            and not _keeps_last_secret(
                self.text, planning.history, self.parts.household.members_by_word
            )
            and not await self._tells_of_other(planning, decision)
        ):
            decided = await settler.settle(asked, self.said, triage, decision)
        if decided is None and wants_undo(self.text, self.loaded.earlier):
            text, earlier = self.text, self.loaded.earlier
            acted = await self.parts.store.write(
                lambda conn: taken_back(conn, text, earlier, asked)
            )
            return _Done(
                triage=replace(triage, social=None, branch=Branch.RESPOND, mode=Mode.RESPOND),
                acted=acted,
            )
        if decided is None:
            is_social = triage.branch is Branch.SOCIAL and not (
                steps_back(self.text) or only_says_no(self.text) or only_takes_on(self.text)
            )
            acted = Acted() if is_social else await self._act(await self._with_wish(planning))
            if acted.results:
                triage = replace(triage, social=None)
            await settler.replace((), acted, asked)
            return _Done(triage=triage, acted=acted)
        if decided.edited:
            acted = await self._act(replace(planning, open_edit=decided.edited))
            await settler.replace(decided.edited, acted, asked)
            return _Done(triage=triage, acted=acted)
        return _Done(
            triage=replace(triage, confirmation=decided.confirmation, social=None),
            acted=Acted(results=list(decided.results), clarification=decided.question),
            asked_about=decided.asked_about,
        )

    async def _tells_of_other(self, planning: PlanningContext, said: Decision | None) -> bool:
        """Return whether a no, or an edit, tells of something else in the calendar than what is asked about."""
        open_ = self.loaded.open.all
        if not open_ or said is None or said.kind not in _REFUSING:
            return False
        context = replace(planning, fetched=await self._fetch(planning.asked))
        case = case_of(context, vocabulary_of(planning.asked.household))
        return tells_of_other(case, [each.proposal.summary for each in open_])

    async def _retracted(self, asked: Asked) -> Acted | None:
        """Return what a message takes back, of itself or of what was said right before; None where it does not."""
        text, earlier = self.turn.text, self.loaded.earlier
        back = retraction_of(text)
        if (before := self.before) is not None and takes_back(text):
            self.before = None
            return await self.parts.store.write(before.take_back)
        if self.is_read_whole and asks_to_restore(text):
            return await self.parts.store.write(lambda conn: restored(conn, earlier, asked))
        if (what := self._unwanted()) is not None:
            return await self.parts.store.write(lambda conn: forgotten(conn, what, earlier, asked))
        if back is None or not self.is_read_whole:
            return None
        if back.before and (
            not back.about or not {*stems(back.before)}.isdisjoint(stems(back.about))
        ):
            return Acted(results=[nothing_kept(_NOTHING_OF_IT)])
        if back.is_plain and (self.loaded.open.fresh or (earlier and earlier[-1].results)):
            return None  # it answers what is open, or is about what was done
        is_whatever = not (back.about or back.before or self.loaded.open.fresh)
        if is_whatever and (count := edited_lately(earlier)):
            return await self.parts.store.write(lambda c: undone(c, earlier, asked, count=count))
        return await self.parts.store.write(lambda conn: retracted(conn, back, earlier, asked))

    def _unwanted(self) -> str | None:
        """Return the words for what the message wants forgotten; None where it wants nothing of the kind."""
        is_heard = self.is_read_whole and not self.turn.is_shared
        is_heard = is_heard and retraction_of(self.turn.text) is None
        return wish_to_forget(self.turn.text) if is_heard else None

    async def _with_wish(self, planning: PlanningContext) -> PlanningContext:
        """Return what the planner may look at, with a wish to forget what memory knows put in plain words."""
        what, asked = self._unwanted(), planning.asked
        if what is None or not await self.parts.store.read(
            lambda conn: is_remembered(conn, what, asked)
        ):
            return planning
        return replace(planning, text=f"forget that {what}")

    async def _fetch(self, asked: Asked) -> Mapping[str, Any]:
        fetched, is_told = await self.parts.store.read(
            lambda conn: (fetch(conn, asked), is_stopped(conn, self.turn.key))
        )
        self._heed(is_told)
        return fetched

    async def _act(self, planning: PlanningContext, *, only: Plan | None = None) -> Acted:
        nothing: Mapping[str, Any] = {}
        fetched = await self.course.attempt(
            Stage.FETCH,
            lambda: self._fetch(planning.asked),
            nothing,
            within=self.parts.limits.context,
        )
        planning = replace(planning, fetched=fetched)
        return await self.parts.loop.run(
            planning,
            self.parts.catalogue(),
            course=self.course,
            stream=self.stream,
            stop=self,
            work=self.work,
            done=self.turn.results,
            plans=self.turn.plans if only is None else (),
            keep=self._keep,
            take_back=lambda action_id: self.parts.store.write(
                lambda conn: took_back(conn, action_id, planning.asked)
            ),
            only=only,
        )

    async def _keep(self, plans: Sequence[Mapping[str, Any]]) -> None:
        """Store what was planned, so that who takes the turn up after a crash follows it."""
        changed = await self.parts.store.write(
            lambda conn: keep_plans(conn, self.turn.key, self.epoch, plans)
        )
        if not changed:
            raise LeaseLostError(f"turn {self.turn.id!r} was taken over by another worker")

    async def _show(self, results: Sequence[ActionResult]) -> None:
        """Show results as cards, and what awaits a yes as it is frozen."""
        waiting = [
            each.action_id
            for each in results
            if each.status is ResultStatus.AWAITING and each.action_id is not None
        ]
        household = self.parts.household.id
        for result in results:
            if result.card is not None:
                self.stream.card(result.card)
        if waiting:
            actions = await self.parts.store.read(
                lambda conn: [load_action(conn, household, each) for each in waiting]
            )
            for action in actions:
                self.stream.confirm(action_record(action), action.proposal.summary)

    async def _nearest(self, planning: PlanningContext, done: _Done) -> Nearest | None:
        """Return what a message may have meant that nothing was done about."""
        triage, results = done.triage, done.acted.results
        if self.before or done.acted.clarification or triage.social or triage.confirmation:
            return None
        if only_denies(self.text, self.parts.household):
            return None  # what was not done leaves open what there is to do
        if not all(map(leaves_open, results)):
            return None
        is_asked = bool(results) or is_question(self.text)

        async def find() -> Nearest | None:
            store = self.parts.store
            sought = await store.read(lambda conn: seek(conn, planning, is_asked=is_asked))
            return None if sought is None else await near_in_meaning(sought, self.parts.embedder)

        return await self.course.attempt(Stage.FETCH, find, None, within=self.parts.limits.context)

    def _mode(self, routed: Routed | None, done: _Done) -> Mode:
        triage, acted = done.triage, done.acted
        if acted.clarification is not None and not acted.results:
            return Mode.CLARIFY
        if routed is None or triage.confirmation is not None:
            return Mode.RESPOND
        return self.parts.router.terminal(routed) if triage.mode is Mode.ACT else triage.mode

    async def _answer(self, context: AnswerContext) -> Answer:
        told: list[str] = []

        async def stream() -> Answer:
            async with aclosing(self.parts.answerer.answer(context)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Answer):
                        return piece
                    told.append(piece)
                    self.stream.token(piece)
            raise InvariantError("an answer ended before it was complete")

        limits, answer = self.parts.limits, None
        # Who said stop while things were done hears what was done, and that from receipts.
        if not context.is_stopped:
            try:
                with self.signal.breaking_off():
                    async with self.stream.telling_if_long(
                        "answer", "Writing…", after=limits.status_after
                    ):
                        answer = await self.course.attempt(
                            Stage.ANSWER, stream, None, within=limits.answer
                        )
            except StoppedError:
                self.is_cut = True
                if told and not context.results:
                    return Answer(
                        text="".join(told), mode=context.mode, confidence=0.0, source=Source.MODEL
                    )
                context = replace(context, is_stopped=True)
        if answer is None:
            if told:
                self.stream.status("answer", "Starting over…", restart=True)
            answer = template(context)
            self.stream.token(answer.text)
        return answer if self.is_read_whole else self._with_limit(answer)

    def _with_limit(self, answer: Answer) -> Answer:
        """Add to an answer that the end of the message was not read."""
        self.stream.token(f" {_TOO_LONG}")
        return replace(answer, text=f"{answer.text} {_TOO_LONG}".strip())

    def _head(self, routed: Routed | None, triage: Triage) -> CycleHead:
        return CycleHead(
            topic=self.context.topic.id,
            intent=routed.intent.type.value if routed else "",
            warmth=self.context.signals.warmth,
            hints=triage.tools,
        )


def _told_as_well(done: _Done) -> _Done:
    """Return what came of a message that sets a statement right: it tells that, whatever else it may ask for."""
    results = [each for each in done.acted.results if each.action_id is not None]
    acted = replace(done.acted, results=results, clarification=None)
    triage = replace(done.triage, social=None, branch=Branch.RESPOND, mode=Mode.RESPOND)
    return replace(done, acted=acted, triage=done.triage if results else triage)


def _keeps_last_secret(text: str, history: Sequence[Exchange], people: Collection[str]) -> bool:
    """Whether a message asks to keep secret what was done last: then it answers no earlier question."""
    return (
        bool(history and history[-1].results)
        and points_back(text, people)
        and all(each.status is ResultStatus.DONE for each in history[-1].results)
    )
