"""A person's talk with the assistant: what the next turn would begin with, after each stage that keeps something of a turn."""

from sqlalchemy import Connection

from kinkeeper.actions.requests.model import Asked
from kinkeeper.bootstrap.memory import encoding_of
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.conversation import turns
from kinkeeper.conversation.answering.answerer import Answerer
from kinkeeper.conversation.commit import Ending, write_turn
from kinkeeper.conversation.context.model import CommittedTurn, TurnContext
from kinkeeper.conversation.context.repository import conversation_encodings
from kinkeeper.conversation.context.turn_context import FIRST_STAGE, ContextGatherer
from kinkeeper.conversation.model import (
    Answer,
    AnswerContext,
    Branch,
    Mode,
    Source,
    Triage,
    TurnType,
)
from kinkeeper.conversation.stages import Course
from kinkeeper.conversation.threads import Thread
from kinkeeper.conversation.turn import Turn, TurnOutcome
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.jobs import leases
from kinkeeper.memory.finding.search import Finder
from kinkeeper.store.store import Store

_CHANNEL = "web"
_TURNS = 8
_PLAIN = Triage(type=TurnType.CHAT, branch=Branch.RESPOND, mode=Mode.RESPOND)


class Talks:
    """Holds one member's talks.

    Args:
        store: The database.
        people: The household, with the id under which it was told.
        member: Who talks.
        clock: Tells when.
        finder: Searches its memory.
    """

    def __init__(
        self, store: Store, people: Household, member: str, *, clock: Clock, finder: Finder
    ) -> None:
        found = people.member(member)
        if found is None:
            raise InvariantError(f"{member!r} is nobody of the household")
        self._member = found
        self._store = store
        self._people = people
        self._clock = clock
        self._gatherer = ContextGatherer(store, people, clock=clock)
        self._encoding = encoding_of(people, store, clock)
        self._answerer = Answerer(know=HouseholdBrain(store, people, finder, clock).know)

    async def tell(self, thread: str, text: str, answered: str) -> str:
        """Take in what the person tells; return the id of the turn.

        Args:
            thread: Its talk.
            text: What they say.
            answered: What is answered.
        """
        turn = self._taken_in(thread, text)
        context = await self._begun(thread, text)
        answer = Answer(text=answered, mode=Mode.RESPOND, confidence=1.0, source=Source.RULES)
        await self._end(turn, context, answer)
        return turn.id

    async def ask(self, thread: str, text: str) -> None:
        """Have a question answered.

        Args:
            thread: Its talk.
            text: The question.
        """
        turn = self._taken_in(thread, text)
        context = await self._begun(thread, text)
        known = AnswerContext(
            asked=self._asked(thread, turn.id),
            text=text,
            mode=Mode.RESPOND,
            triage=_PLAIN,
            history=context.history,
            gists=context.gists,
            known=context.known,
            said_in=context.said_in,
        )
        async for piece in self._answerer.answer(known):
            if isinstance(piece, Answer):
                await self._end(turn, context, piece)

    async def begins_with(self, thread: str, text: str) -> str:
        """Return all words that the next turn of a talk would begin with.

        Args:
            thread: The talk.
            text: What would be said.
        """
        context = await self._begun(thread, text)
        known = [f"{about} {value}" for about, value in context.known.items()]
        talk = [words for each in context.history for words in (each.text, each.answer)]
        return "\n".join([*context.gists, *known, *talk])

    def _taken_in(self, thread: str, text: str) -> Turn:
        now = self._clock.now()
        talk = Thread(
            household=self._people.id,
            id=thread,
            member=self._member.id,
            channel=_CHANNEL,
            chat_id=None,
            created_at=now,
            last_at=now,
        )

        def work(conn: Connection) -> Turn | None:
            number = len(turns.last_turns(conn, self._people.id, thread, last=100))
            said = turns.Incoming(thread=talk, text=text, client_message_id=str(number))
            accepted = turns.accept(conn, said, now=now)
            return turns.find_turn(conn, self._people.id, accepted.turn_id)

        turn = self._store.write_now(work)
        if turn is None:
            raise InvariantError(f"a turn of {thread!r} was taken in and is not there")
        return turn

    async def _begun(self, thread: str, text: str) -> TurnContext:
        asked = self._asked(thread, "")
        lately = self._store.read_now(
            lambda conn: turns.last_turns(conn, self._people.id, thread, last=_TURNS)
        )
        return await self._gatherer.gather(
            thread_id=thread,
            member=self._member,
            viewer=asked.viewer,
            text=text,
            earlier=[each for each in lately if each.outcome],
            now=asked.now,
        )

    def _asked(self, thread: str, turn_id: str) -> Asked:
        return Asked(
            household=self._people,
            member=self._member,
            channel=_CHANNEL,
            thread_id=thread,
            turn_id=turn_id,
            now=self._clock.now().astimezone(self._people.zone),
        )

    async def _end(self, turn: Turn, context: TurnContext, answer: Answer) -> None:
        committed = CommittedTurn(
            household=turn.household,
            member=turn.member,
            thread_id=turn.thread_id,
            turn_id=turn.id,
            text=turn.text,
            answer=answer.text,
            mode=answer.mode,
            results=(),
            at=turn.received_at,
        )
        key = (turn.household, FIRST_STAGE, turn.id)
        ending = Ending(outcome=TurnOutcome.ANSWERED, answer=answer)

        def work(conn: Connection) -> int | None:
            now = self._clock.now()
            write_turn(conn, turn, ending, Course(), epoch=turn.epoch, now=now)
            self._gatherer.commit(conn, committed, context)
            lease = turns.LEASE
            return leases.claim(conn, conversation_encodings, key, now=now, lease=lease)

        epoch = self._store.write_now(work)
        if epoch is None:
            raise InvariantError(f"nothing was to be encoded of the turn {turn.id!r}")
        await self._encoding.handle(key, epoch)
