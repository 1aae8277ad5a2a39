"""Conversations of one household: what channels say to the assistant, and what they hear from it.

A message is a committed row before it is answered. It is worked on in this process at once; what a process that
was killed left behind is taken up by a worker, and its events go on where they broke off.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from secrets import token_hex

import structlog
from sqlalchemy import Connection

from kinkeeper.conversation import events, threads, turns
from kinkeeper.conversation.commit import note_failure
from kinkeeper.conversation.events import Streams
from kinkeeper.conversation.model import Social, TurnEvent
from kinkeeper.conversation.parts import Parts
from kinkeeper.conversation.passing_on import Shown, place_of
from kinkeeper.conversation.pipeline import Pipeline
from kinkeeper.conversation.routing.intent import read_social
from kinkeeper.conversation.stages import Stage, UnderWay
from kinkeeper.conversation.tables import turns as turn_rows
from kinkeeper.conversation.threads import Thread, find_thread, thread_of, usual_thread_id
from kinkeeper.conversation.turn import PROGRAMS, Turn
from kinkeeper.conversation.turn_records import TurnTrace, trace_of
from kinkeeper.conversation.turns import Accepted, Claim, Incoming
from kinkeeper.core.errors import NotFoundError, UnavailableError
from kinkeeper.household.model import Member
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Job
from kinkeeper.jobs.leases import Key, LeaseLostError
from kinkeeper.jobs.runners import announce_work
from kinkeeper.observability.failures import surviving

log = structlog.get_logger()

JOB_NAME = "conversation.turn"
_MOST_OPEN = 20
_AGAIN = timedelta(seconds=30)
_CLOCKS_DIFFER = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What became of a message.

    Attributes:
        after: Number behind which the events of the turn stand.
        is_new: False where the same message was taken in before.
    """

    turn_id: str
    thread_id: str
    after: int
    is_new: bool


class Conversation:
    """Takes in what members say, and tells what is answered.

    Args:
        parts: What turns are worked on with.
    """

    def __init__(self, parts: Parts) -> None:
        self._store = parts.store
        self._household = parts.household
        self._clock = parts.clock
        self._pipeline = Pipeline(parts)
        self._streams = Streams(parts.store, parts.household)
        self._tasks: set[asyncio.Task[None]] = set()
        self._under_way = UnderWay(parts.store, parts.household.id)
        self._claims: dict[str, int] = {}
        self._is_closing = False

    async def say(
        self,
        member: Member,
        text: str,
        *,
        channel: str,
        thread_id: str | None = None,
        chat_id: str | None = None,
        client_message_id: str | None = None,
    ) -> Said:
        """Take in a message; returns once it is durable, and answers it meanwhile.

        Args:
            member: Who speaks, as the channel identified them.
            text: Verbatim.
            channel: "web", "cli", "telegram".
            thread_id: Where: id or name of a thread of theirs; their usual thread of that channel and chat where None.
            chat_id: The chat on that channel, where it has several.
            client_message_id: The channel's id of the message: the same one again is not answered twice.

        Raises:
            InputError: It has no words, or too many.
            ConflictError: The thread has another message with that id.
            UnavailableError: It could not be stored.
        """
        key = client_message_id or token_hex(16)
        return await self._said(
            lambda conn: self.take_in(
                conn,
                member,
                text,
                channel=channel,
                thread_id=thread_id,
                chat_id=chat_id,
                client_message_id=key,
            )
        )

    async def pass_on(self, member: Member, shown: Shown) -> Said:
        """Take in a message that a program passes on; returns once it is durable, and answers it meanwhile.

        Args:
            member: Whose login the program has.
            shown: The message, and what the program shows of the talk so far.

        Raises:
            InputError: It has no words, or too many.
            UnavailableError: It could not be stored.
        """

        def take(conn: Connection) -> Accepted:
            place = place_of(
                conn, self._household, member, shown, channel=PROGRAMS, now=self._clock.now()
            )
            return self.take_in(
                conn,
                member,
                shown.said[-1],
                channel=PROGRAMS,
                thread_id=place.thread_id,
                chat_id=shown.place,
                client_message_id=place.message_id,
            )

        return await self._said(take)

    async def _said(self, take: Callable[[Connection], Accepted]) -> Said:
        accepted = await self._store.write(take)
        self.begin(accepted)
        return Said(
            turn_id=accepted.turn_id,
            thread_id=accepted.thread_id,
            after=accepted.after,
            is_new=accepted.is_new,
        )

    def take_in(
        self,
        conn: Connection,
        member: Member,
        text: str,
        *,
        channel: str,
        client_message_id: str,
        thread_id: str | None = None,
        chat_id: str | None = None,
        is_shared: bool = False,
    ) -> Accepted:
        """Take in a message in the caller's transaction; `begin` has it answered once that is committed.

        Args:
            member: Who speaks, as the channel identified them.
            text: Verbatim.
            channel: "web", "cli", "telegram".
            client_message_id: The channel's id of the message.
            thread_id: Where: id or name of a thread of theirs; their usual thread of that channel and chat where None.
            chat_id: The chat on that channel, where it has several.
            is_shared: Whether others read along there.

        Raises:
            InputError: It has no words, or too many.
            ConflictError: The thread has another message with that id.
        """
        now, household = self._clock.now(), self._household.id
        login = self._household.login_of(member)
        usual = usual_thread_id(household, member.id, channel, chat_id, login=login)
        thread = Thread(
            household=household,
            member=member.id,
            login=login,
            channel=channel,
            chat_id=chat_id,
            id=thread_id or usual,
            created_at=now,
            last_at=now,
            name=None if thread_id == usual else thread_id,
        )
        stops: Sequence[str] = ()
        if read_social(text, names=(self._household.bot_name,)) is Social.CANCEL:
            own = find_thread(conn, self._household, member, thread.id)
            if own is not None:
                stops = turns.request_stop(conn, household, own.id, member=member.id)
        said = Incoming(
            thread=thread,
            text=text,
            client_message_id=client_message_id,
            is_shared=is_shared,
            stops=stops,
        )
        return turns.accept(conn, said, now=now)

    def begin(self, accepted: Accepted) -> None:
        """Work on a message that was taken in, in this process, now that it is committed.

        Args:
            accepted: As `take_in` returned it.
        """
        self._under_way.stop(accepted.stops)
        if accepted.claim is not None:
            self._begin(accepted.claim)

    def events(
        self, member: Member, thread_id: str, *, after: int = 0, turn_id: str | None = None
    ) -> AsyncIterator[TurnEvent]:
        """Return a thread's events: those that are stored, then those that come.

        Args:
            member: Who listens.
            after: Number of the last event they know.
            turn_id: Only this turn's, and no further than its end; all, without end, where None.

        Raises:
            NotFoundError: With the first event: the member has no such thread.
        """
        return self._streams.events(member, thread_id, after=after, turn_id=turn_id)

    async def stop(self, member: Member, thread_id: str) -> int:
        """Stop what is under way in a thread: what has not been done yet is left.

        Returns:
            How many turns were told to stop.

        Raises:
            NotFoundError: The member has no such thread.
        """

        def request(conn: Connection) -> Sequence[str]:
            thread = thread_of(conn, self._household, member, thread_id)
            return turns.request_stop(conn, thread.household, thread.id, member=member.id)

        stopped = await self._store.write(request)
        self._under_way.stop(stopped)
        return len(stopped)

    async def threads(self, member: Member) -> Sequence[Thread]:
        """Return a member's threads, the one last spoken in first."""
        return await self._store.read(
            lambda conn: threads.list_threads(conn, self._household, member)
        )

    async def thread(self, member: Member, thread_id: str) -> Thread:
        """Return a member's thread by its id or by what they call it.

        Raises:
            NotFoundError: The member has no such thread.
        """
        return await self._store.read(
            lambda conn: thread_of(conn, self._household, member, thread_id)
        )

    async def history(self, member: Member, thread_id: str, *, last: int = 50) -> Sequence[Turn]:
        """Return the last turns of a member's thread, oldest first.

        Raises:
            NotFoundError: The member has no such thread.
        """

        def read(conn: Connection) -> Sequence[Turn]:
            thread = thread_of(conn, self._household, member, thread_id)
            return turns.last_turns(conn, thread.household, thread.id, last=last)

        return await self._store.read(read)

    async def left_open(self, member: Member, thread_id: str) -> Sequence[Said]:
        """Return what was said in a member's thread, if it is theirs, and is not answered yet; oldest first."""
        household = self._household.id

        def read(conn: Connection) -> Sequence[Said]:
            thread = find_thread(conn, self._household, member, thread_id)
            if thread is None:
                return []
            found = turns.last_turns(conn, household, thread.id, last=_MOST_OPEN)
            return [
                Said(
                    turn_id=turn.id,
                    thread_id=thread.id,
                    is_new=False,
                    after=events.number_before(conn, household, thread.id, turn.id),
                )
                for turn in found
                if turn.outcome is None
            ]

        return await self._store.read(read)

    async def why(self, member: Member, turn_id: str) -> TurnTrace:
        """Return how a turn of a member was decided, and what its answer rests on.

        Raises:
            NotFoundError: The member has no such turn.
        """
        household = self._household.id

        def read(conn: Connection) -> TurnTrace:
            turn = turns.find_turn(conn, household, turn_id)
            if turn is None:
                raise NotFoundError(f"you have no turn {turn_id!r}")
            thread_of(conn, self._household, member, turn.thread_id)
            return trace_of(conn, turn)

        return await self._store.read(read)

    async def is_awaited(self, turn_id: str) -> bool:
        """Whether somebody still waits for the answer to a message, and has not been told to go on meanwhile."""
        household = self._household.id
        turn = await self._store.read(lambda conn: turns.find_turn(conn, household, turn_id))
        return turn is not None and turn.outcome is None and not turn.is_aside

    async def note_failure(self, turn_id: str, stage: Stage, reason: str) -> None:
        """Count something beside a turn that failed.

        Args:
            reason: The kind of error, never its words.
        """
        household, now = self._household.id, self._clock.now()
        await self._store.write(
            lambda conn: note_failure(conn, household, turn_id, stage=stage, reason=reason, now=now)
        )

    async def run(self) -> None:
        """Stay until cancelled; then hand back what is under way, to be taken up by another process."""
        try:
            await asyncio.Event().wait()
        finally:
            await self.close()

    async def wind_down(self, grace: timedelta) -> None:
        """Let turns under way end, hand back those that do not, and begin no more; streams go on.

        Args:
            grace: How long turns may go on, >= 0.
        """
        self._is_closing = True
        if self._tasks and grace:
            await asyncio.wait(self._tasks, timeout=grace.total_seconds())
        tasks, claims = list(self._tasks), dict(self._claims)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if claims:
            await self._hand_back(claims)

    async def close(self) -> None:
        """End the work in this process; turns that are under way are handed back."""
        await self.wind_down(timedelta(0))
        await self._streams.close()
        await self._under_way.close()

    async def _hand_back(self, claims: Mapping[str, int]) -> None:
        # In the past by the clock of any other machine, too.
        until, household = self._clock.now() - _CLOCKS_DIFFER, self._household.id

        def release(conn: Connection) -> None:
            for turn_id, epoch in claims.items():
                leases.release(conn, turn_rows, (household, turn_id), epoch, until=until)
            announce_work(conn)

        await self._store.write(release)
        for turn_id in claims:
            self._claims.pop(turn_id, None)

    async def idle(self) -> None:
        """Wait until nothing is under way in this process."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def as_job(self) -> Job:
        """Return the kind of work that takes up turns which a process left behind."""
        return Job(
            name=JOB_NAME,
            table=turn_rows,
            handler=self._take_up,
            lease=turns.LEASE,
            household=self._household.id,
            line=turns.first_in_thread,
            is_awaited=True,
        )

    async def _take_up(self, key: Key, epoch: int) -> None:
        """Work on a turn that was left behind."""
        if self._is_closing:  # another process is to take it
            raise asyncio.CancelledError
        following = await self._work((key[1], epoch))
        if following is not None:
            self._begin(following)

    def _begin(self, claim: Claim) -> None:
        work = self._hand_back(dict([claim])) if self._is_closing else self._work_on(claim)
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work_on(self, claim: Claim) -> None:
        """Work on a turn, then on those of its thread that wait behind it."""
        following: Claim | None = claim
        with surviving(JOB_NAME) as work:
            try:
                while following is not None:
                    claim = following
                    following = await self._work(claim)
            except LeaseLostError:
                log.info("conversation.turn.taken_over", turn=claim[0])
        if work.error is not None:
            with surviving(JOB_NAME):
                await self._store.write(partial(self._leave, claim, work.error))

    def _leave(self, claim: Claim, error: Exception, conn: Connection) -> None:
        """Let a turn that broke off be taken up again soon; it counts as a try unless something was away."""
        (turn_id, epoch), until = claim, self._clock.now() + _AGAIN
        key = (self._household.id, turn_id)
        again = leases.release if isinstance(error, UnavailableError) else leases.renew
        again(conn, turn_rows, key, epoch, until=until)
        self._claims.pop(turn_id, None)

    async def _work(self, claim: Claim) -> Claim | None:
        turn_id, epoch = claim
        self._claims[turn_id] = epoch
        with self._under_way.working_on(turn_id) as stop:
            following = await self._pipeline.run(turn_id, epoch, stop, follow=self._begin)
        del self._claims[turn_id]
        return following
