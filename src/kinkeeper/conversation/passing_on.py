"""What a program passes on of what a person says, with all that it shows them of the talk so far.

Such a program keeps its conversations itself and names none of our threads. What it shows is other people's text: it
is no evidence and no consent. It only tells which thread the message belongs to: the one whose last answer is the last
one shown. Where none is, a new thread begins, in which nothing waits for a yes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, select

from kinkeeper.conversation.tables import threads, turns
from kinkeeper.conversation.turn import Turn, TurnOutcome, turn_of
from kinkeeper.conversation.turns import last_turns
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Household, Member

SENT_AGAIN = timedelta(minutes=2)
"""How long after a turn that did or asked something the same request is the same message, whose answer was not heard."""

_MOST_ALIKE = 50
_MARKS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message as a program passes it on.

    Attributes:
        place: Tells the program's conversations apart as far as it does itself.
        said: What the person said there as it shows it, oldest first; the last one is the message. Not empty.
        answered: The last answer that it shows; "" where there is none.
        is_named: Whether the program names its conversations; else what was said in them has to be the same.
    """

    place: str
    said: Sequence[str]
    answered: str
    is_named: bool = False
    message_id: str | None = None

    @property
    def digest(self) -> str:
        """Return what is the same for the same request."""
        return self.message_id or stable_id(self.answered, *self.said)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message belongs.

    Attributes:
        message_id: Of the message within it: that of an earlier one where it is the same, sent again.
    """

    thread_id: str
    message_id: str


def place_of(
    conn: Connection,
    household: Household,
    member: Member,
    shown: Shown,
    *,
    channel: str,
    now: datetime,
) -> Place:
    """Return where a message belongs that a program passes on.

    Args:
        member: Whose login the program has, with its rights.
        shown: The message, and what it shows.
    """
    known = _alike(conn, household, member, shown, channel=channel)
    if (again := _sent_before(conn, household.id, known, shown, now=now)) is not None:
        return Place(again.thread_id, again.client_message_id)
    going_on = (each for each in known if _goes_on(conn, household.id, each, shown))
    login = household.login_of(member)
    limit = () if login is None else (login.value,)
    new = stable_id(
        household.id, "passed on", member.id, shown.place, shown.digest, len(known), *limit
    )
    thread_id = next(going_on, new)
    return Place(thread_id, shown.message_id or f"{shown.digest}@{now.isoformat()}")


def _alike(
    conn: Connection, household: Household, member: Member, shown: Shown, *, channel: str
) -> Sequence[str]:
    """Return the threads of a place, the one last spoken in first."""
    query = (
        select(threads.c.id)
        .where(
            threads.c.household == household.id,
            threads.c.member == member.id,
            threads.c.login.is_not_distinct_from(household.login_of(member)),
            threads.c.channel == channel,
            threads.c.chat_id == shown.place,
        )
        .order_by(threads.c.last_at.desc(), threads.c.id)
        .limit(_MOST_ALIKE)
    )
    return conn.execute(query).scalars().all()


def _sent_before(
    conn: Connection, household: str, known: Sequence[str], shown: Shown, *, now: datetime
) -> Turn | None:
    """Return the turn of the same request, where it counts as the same message."""
    id_ = turns.c.client_message_id
    is_same = (
        id_ == shown.message_id
        if shown.message_id is not None
        else id_.startswith(f"{shown.digest}@")
    )
    query = select(turns).where(turns.c.household == household, turns.c.thread.in_(known), is_same)
    found = [turn_of(dict(row)) for row in conn.execute(query).mappings()]
    return next((each for each in found if _is_again(each, shown, now=now)), None)


def _is_again(turn: Turn, shown: Shown, *, now: datetime) -> bool:
    """Whether a turn of the same request is that of the same message: what was only looked up is looked up anew."""
    if shown.message_id is not None or turn.finished_at is None:
        return True
    is_felt = turn.outcome is TurnOutcome.FAILED or any(each.action_id for each in turn.results)
    return is_felt and now - turn.finished_at <= SENT_AGAIN


def _goes_on(conn: Connection, household: str, thread_id: str, shown: Shown) -> bool:
    """Whether what is shown is how a thread stands: then a yes can mean what was asked there."""
    if not shown.answered:
        return False
    last = last_turns(conn, household, thread_id, last=1)
    if not last or not shows_answer(shown.answered, last[-1].answer):
        return False
    if shown.is_named:
        return True
    told = last_turns(conn, household, thread_id, last=len(shown.said))
    return [_words(each.text) for each in told] == [_words(each) for each in shown.said[:-1]]


def shows_answer(shown: str, answer: str | None) -> bool:
    """Whether a text that is shown holds an answer, whatever its spaces and marks; one that said nothing is shown as anything.

    Args:
        answer: As it was given; None where it is not there yet.
    """
    if answer is None:
        return False
    words = _words(answer)
    return not words or f" {words} " in f" {_words(shown)} "


def _words(text: str) -> str:
    return _MARKS.sub(" ", text).strip().casefold()
