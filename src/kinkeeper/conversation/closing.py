"""Ends a turn: in one transaction everything, and where that cannot be, at least the answer."""

from collections.abc import Callable
from enum import Enum, auto
from functools import partial

from sqlalchemy import Connection

from kinkeeper.actions.consent import Origin
from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation import cycles
from kinkeeper.conversation.commit import Ending, write_failures, write_records, write_turn
from kinkeeper.conversation.context.model import CommittedTurn, TurnContext
from kinkeeper.conversation.parts import Parts
from kinkeeper.conversation.routing.intent import IntentType
from kinkeeper.conversation.stages import Course, Stage
from kinkeeper.conversation.turn import Turn, TurnOutcome
from kinkeeper.conversation.turns import claim_next
from kinkeeper.core.errors import InvariantError, UnavailableError
from kinkeeper.household.viewing import person_scope
from kinkeeper.jobs.leases import LeaseLostError
from kinkeeper.memory.sessions import SessionMessage, take_in

_SOURCE = "conversation"

Claim = tuple[str, int]
"""Id of a turn, and the epoch to work on it under."""


class _Extent(Enum):
    """How much is written; where all of it cannot be, less is."""

    ALL = auto()
    ANSWER_AND_OUTLET = auto()
    ANSWER = auto()


class Closing:
    """The end of one turn.

    Args:
        parts: What it was worked on with.
        turn: The turn.
        epoch: Of the claim.
        course: How it went.
        has_cycle: Whether it waited for slow tools.
    """

    def __init__(
        self, parts: Parts, turn: Turn, *, epoch: int, course: Course, has_cycle: bool
    ) -> None:
        self._parts = parts
        self._turn = turn
        self._epoch = epoch
        self._course = course
        self._has_cycle = has_cycle

    async def write(
        self,
        ending: Ending,
        tell: Callable[[Connection], None],
        context: TurnContext,
        *,
        recalled: int,
    ) -> Claim | None:
        """Write all there is to write; what comes after an answer must not cost the answer.

        Args:
            ending: What the turn came to.
            tell: Writes what its stream has still to tell.
            context: What it began with.
            recalled: How many memories it had that memory is sure of.

        Returns:
            The thread's next turn, claimed; None where there is none.

        Raises:
            LeaseLostError: Somebody else has taken the turn.
            UnavailableError: The database cannot be reached.
        """
        for extent in _Extent:
            try:
                return await self._parts.store.write(
                    partial(
                        self._all, ending=ending, tell=tell, context=context, recalled=recalled,
                        extent=extent,
                    )
                )  # fmt: skip
            except (LeaseLostError, UnavailableError):
                raise
            except Exception as error:
                self._course.note(Stage.COMMIT, error)
                if extent is _Extent.ANSWER:
                    raise
        raise InvariantError("a turn has an extent that ends it")

    def _all(
        self,
        conn: Connection,
        *,
        ending: Ending,
        tell: Callable[[Connection], None],
        context: TurnContext,
        recalled: int,
        extent: _Extent,
    ) -> Claim | None:
        now, turn = self._parts.clock.now(), self._turn
        write_turn(conn, turn, ending, self._course, epoch=self._epoch, now=now)
        tell(conn)
        if self._has_cycle:
            cycles.end(conn, turn, ending.outcome, now=now)
        if extent is _Extent.ALL and ending.outcome is not TurnOutcome.FAILED:
            write_records(conn, turn, ending, self._course, now=now)
            self._remember(conn, ending, context, recalled)
        else:
            write_failures(conn, turn, self._course, now=now)
        outlet = self._parts.outlets.get(turn.channel)
        if outlet is not None and extent is not _Extent.ANSWER:
            outlet.ended(conn, turn, ending)
        return claim_next(conn, turn.household, turn.thread_id, now=now)

    def _remember(
        self, conn: Connection, ending: Ending, context: TurnContext, recalled: int
    ) -> None:
        """Hand the exchange on: to what knows the talk, and what the person tells to memory."""
        parts, turn = self._parts, self._turn
        committed = CommittedTurn(
            household=turn.household, member=turn.member, thread_id=turn.thread_id, turn_id=turn.id,
            text=turn.text, answer=ending.answer.text, mode=ending.answer.mode,
            results=tuple(ending.results), at=turn.received_at, recalled=recalled,
            is_said=turn.origin is Origin.SAID,
        )  # fmt: skip
        parts.gatherer.commit(conn, committed, context)
        if not committed.is_said or not _tells_something(ending):
            return
        # What is offered for all to know becomes a fact with a yes; until then only its words are kept.
        is_decided = bool(ending.results)
        message = SessionMessage(
            content_session_id=turn.thread_id, user_message=turn.text, source=_SOURCE,
            channel=turn.channel, timestamp=turn.received_at, message_id=turn.id,
            member=turn.member, scope=person_scope(turn.member),
        )  # fmt: skip
        take_in(conn, turn.household, message, at=parts.clock.now(), is_read=is_decided)


# "I moved to Leeds" is short enough to go on with what was said, and tells as much as a long sentence.
_TOLD = frozenset({IntentType.STATEMENT, IntentType.CONTINUATION})


def _tells_something(ending: Ending) -> bool:
    """Whether a message says how things are, and not what the assistant is to do or to say."""
    routed = ending.routed
    return (
        routed is not None
        and routed.triage.confirmation is None
        and routed.intent.type in _TOLD
        and all(_is_offered_fact(each) for each in ending.results)
    )


def _is_offered_fact(result: ActionResult) -> bool:
    """Whether it only asks whether what was told is to be remembered."""
    is_stored = (result.domain, result.action) == ("memory", "store")
    return is_stored and result.status is ResultStatus.AWAITING
