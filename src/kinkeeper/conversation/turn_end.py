"""Ends a turn: in one transaction everything, and where that cannot be, at least the answer."""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from functools import partial

from sqlalchemy import Connection

from kinkeeper.actions import session_words
from kinkeeper.actions.consent import Author, Origin
from kinkeeper.actions.repository import narrow_scope
from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation import tool_work
from kinkeeper.conversation.commit import Ending, write_failures, write_records, write_turn
from kinkeeper.conversation.context.model import CommittedTurn, TurnContext
from kinkeeper.conversation.parts import Parts
from kinkeeper.conversation.planning.plan_grounding import is_copied
from kinkeeper.conversation.stages import Course, Stage
from kinkeeper.conversation.taking_back import is_about_told
from kinkeeper.conversation.told_audience import (
    is_left_over,
    scope_of_told,
    secret_of,
    share_carried,
)
from kinkeeper.conversation.turn import Turn, TurnOutcome
from kinkeeper.conversation.turns import Claim, claim_next, last_turns
from kinkeeper.core.errors import InvariantError, UnavailableError
from kinkeeper.household.viewers import kept_to, person_scope
from kinkeeper.jobs.leases import LeaseLostError
from kinkeeper.memory.dated_statements import tells_of_day_to_come
from kinkeeper.memory.sessions import SessionMessage
from kinkeeper.memory.statements.care import is_report
from kinkeeper.memory.statements.secrecy import audience_of, points_back

_SOURCE = "conversation"
_LOOKED_BACK = 4
_FORGET = ("memory", "forget")


class _Extent(Enum):
    """How much is written; where all of it cannot be, less is."""

    ALL = auto()
    ANSWER_AND_OUTLET = auto()
    ANSWER = auto()


class Closing:
    """The end of one turn.

    Args:
        parts: What it was worked on with.
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
                        self._all,
                        ending=ending,
                        tell=tell,
                        context=context,
                        recalled=recalled,
                        extent=extent,
                    )
                )
            except (LeaseLostError, UnavailableError):
                raise
            except Exception as error:
                self._course.note(Stage.COMMIT, error)
                if extent is _Extent.ANSWER:
                    raise
        raise InvariantError("a turn could not be closed, not even in part")

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
            tool_work.end(conn, turn, ending.outcome, now=now)
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
            household=turn.household,
            member=turn.member,
            thread_id=turn.thread_id,
            turn_id=turn.id,
            text=turn.text,
            answer=ending.answer.text,
            mode=ending.answer.mode,
            results=tuple(ending.results),
            at=turn.received_at,
            recalled=recalled,
            is_said=turn.origin is Origin.SAID,
        )
        parts.gatherer.commit(conn, committed, context)
        text, before = ending.text or turn.text, ending.sets_right
        member = turn.speaker(parts.household)
        is_wish = points_back(text, parts.household.members_by_word)
        secret = secret_of(text, parts.household, turn.member, is_group=turn.is_shared)
        is_secret = (
            secret is not None and share_carried(secret, ending.results, parts.household) < 1
        )
        if member is None or not (is_wish or is_secret or ending.told):
            return
        if ending.told in {"", text} and _only_forgets(ending.results):
            return  # it would be read as news, and keep the words that are to be forgotten
        # Beside a secret all is kept as the secret is; else only what no request carries.
        is_beside = secret is None and ending.told not in {"", text}
        is_carried = bool(ending.results) and not (
            ending.is_offered
            or is_beside
            or is_report(text, parts.household)
            or tells_of_day_to_come(text, parts.household, now=turn.received_at)
        )
        if before is not None:
            is_carried &= all(map(is_about_told, ending.results))
        is_decided = is_carried or is_copied(text)
        if secret is not None and not is_copied(text):
            is_decided = not is_left_over(secret, ending.results, parts.household)
        scope = person_scope(turn.member)
        if is_secret or not is_decided:
            scope = scope_of_told(
                text if before is None else turn.text,
                parts.household,
                member,
                now=turn.received_at,
                history=context.history,
                is_shared=turn.is_shared,
                told=ending.told if before is None else before.text,
            )
            scope = kept_to(scope, ending.known)
        if before is not None:
            before.take_back(conn)
            scope = kept_to(before.scope or scope, scope)
        message = SessionMessage(
            content_session_id=turn.thread_id,
            user_message=ending.told if is_beside else text,
            source=_SOURCE,
            channel=turn.channel,
            timestamp=turn.received_at,
            message_id=turn.id,
            is_turn=True,
        )
        # What is offered for all to know becomes a fact with a yes; until then only its words are kept. So are
        # words that were dictated for, or copied from, elsewhere: nobody said that they are so.
        session_words.keep(
            conn,
            message,
            Author(is_adult=member.is_adult, origin=turn.origin),
            household=parts.household,
            member=member,
            scope=scope,
            at=parts.clock.now(),
            is_read=is_decided,
            narrows_last=not (is_wish and self._narrow_last_actions(conn)),
        )

    def _narrow_last_actions(self, conn: Connection) -> bool:
        """Keep secret what the turn before led to, because this message asks for it; False where it led to nothing."""
        turn, household = self._turn, self._parts.household
        earlier = last_turns(conn, turn.household, turn.thread_id, last=_LOOKED_BACK)
        people = household.members_by_word
        before = [
            each for each in earlier if each.id != turn.id and not points_back(each.text, people)
        ]
        if not before or not before[-1].results:
            return False
        scope = audience_of(f"{before[-1].text}\n{turn.text}", household, turn.member)
        ids = [each.action_id for each in before[-1].results if each.action_id is not None]
        narrow_scope(conn, turn.household, ids, scope)
        return True


def _only_forgets(results: Sequence[ActionResult]) -> bool:
    """Whether all that a message asks for is that something be forgotten."""
    return bool(results) and all((each.domain, each.action) == _FORGET for each in results)
