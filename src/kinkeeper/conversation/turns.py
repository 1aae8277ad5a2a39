"""Turns as rows: taken in once, or said unprompted; worked on under a lease, in the order of their thread."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    Connection,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from kinkeeper.conversation import events
from kinkeeper.conversation.model import EventName, Mode
from kinkeeper.conversation.tables import turns
from kinkeeper.conversation.threads import Thread, count_turn, load_thread, open_thread
from kinkeeper.conversation.turn import Turn, TurnOutcome, turn_of
from kinkeeper.core.errors import ConflictError, InputError, InvariantError, NotFoundError
from kinkeeper.core.ids import stable_id
from kinkeeper.jobs import leases
from kinkeeper.jobs.leases import Key, RetryLadder, WorkState
from kinkeeper.store.locks import runner_of
from kinkeeper.store.prepared import Prepared, is_one_of
from kinkeeper.store.schema import json_value

LEASE = timedelta(minutes=13)
"""Longest time a turn may take before another process may take it up: what tools and an answer may take, and a minute.

On a database server it is taken up as soon as its runner is dead, see `jobs.runners`.
"""

Claim = tuple[str, int]
"""Id of a turn, and the epoch to work on it under."""

LONGEST_TEXT = 16_384
_WAITS_IN_LINE = timedelta(minutes=1)
# As JSON is written, with and without spaces; within a text its quotes would be escaped.
_DEED = re.compile(r'"action_id": ?"')
_UNFINISHED = (WorkState.QUEUED.value, WorkState.RUNNING.value)
_columns = turns.c
_LAST = (
    select(turns)
    .where(
        _columns.household == bindparam("of_household"), _columns.thread == bindparam("of_thread")
    )
    .order_by(_columns.position.desc())
)
_itself = turns.alias("itself")
_UP_TO = (
    select(
        *(each for each in _columns if each is not _columns.results),
        cast(_columns.results, Text).label("results"),
    )
    .select_from(turns)
    .join(
        _itself,
        and_(_itself.c.household == _columns.household, _itself.c.thread == _columns.thread),
    )
    .where(
        _itself.c.household == bindparam("of_household"),
        _itself.c.id == bindparam("of_turn"),
        _columns.position <= _itself.c.position,
    )
    .order_by(_columns.position.desc())
)
_BY_ID = Prepared(
    select(turns).where(
        _columns.household == bindparam("of_household"), _columns.id == bindparam("of_turn")
    )
)
_STOPPED = Prepared(
    select(_columns.id).where(
        _columns.household == bindparam("of_household"),
        is_one_of(_columns.id, "of_turns"),
        _columns.stop_requested == 1,
    )
)
_IN_LINE = Prepared(
    select(_columns.id)
    .where(
        _columns.household == bindparam("of_household"),
        _columns.thread == bindparam("of_thread"),
        _columns.state.in_([literal_column("'queued'"), literal_column("'running'")]),
        _columns.aside == literal_column("0"),
    )
    .order_by(_columns.position)
)
_INSERT = Prepared(
    insert(turns),
    (
        "household",
        "id",
        "thread",
        "member",
        "login",
        "position",
        "channel",
        "client_message_id",
        "text",
        "received_at",
        "due_at",
        "state",
        "epoch",
        "begun",
        "lease_until",
        "runner",
        "attempt",
        "failures",
        "stop_requested",
        "chat_id",
        "is_shared",
        "stops",
        "aside",
    ),
)
# Unfinished turns of a thread, and the same message if it was taken in before.
_IN_THE_WAY = Prepared(
    select(_columns.id).where(
        _columns.household == bindparam("of_household"),
        _columns.thread == bindparam("of_thread"),
        or_(
            _columns.id == bindparam("of_turn"),
            and_(
                _columns.state.in_([literal_column("'queued'"), literal_column("'running'")]),
                _columns.aside == literal_column("0"),
            ),
        ),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message to the assistant.

    Attributes:
        thread: Where it was said, as the thread would be made if there is none yet.
        text: Verbatim.
        client_message_id: The client's id of it, unique within the thread.
        is_shared: Whether others read along.
        stops: Ids of the turns that it tells to stop.
    """

    thread: Thread
    text: str
    client_message_id: str
    is_shared: bool = False
    stops: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What became of a message.

    Attributes:
        after: Number behind which the events of the turn stand.
        is_new: False where the same message was taken in before, and not to be tried again.
        claim: The first unfinished turn of the thread, to be worked on now; it may be an earlier one that a process
            left behind. None where somebody works on it.
        stops: Ids of the turns that it tells to stop.
    """

    turn_id: str
    thread_id: str
    after: int
    is_new: bool
    claim: Claim | None
    stops: Sequence[str] = ()


def accept(conn: Connection, said: Incoming, *, now: datetime) -> Accepted:
    """Take a message in, once; the first of its thread's unfinished turns is claimed for the caller if nobody has it.

    The same words with the same id give the same turn; one that broke down is then tried again.

    Raises:
        InputError: It has no words, or too many.
        ConflictError: The thread has another message with that id.
    """
    if not said.text.strip():
        raise InputError("this message is empty")
    if len(said.text) > LONGEST_TEXT:
        raise InputError(f"a message may have at most {LONGEST_TEXT:,} characters")
    thread = open_thread(conn, said.thread)
    household, turn_id = thread.household, _turn_id(thread, said.client_message_id)
    values = {"of_household": household, "of_thread": thread.id, "of_turn": turn_id}
    known = {row[0] for row in _IN_THE_WAY.execute(conn, values)}
    if turn_id in known:
        return _again(conn, said, turn_id, now)
    is_first = not known
    _INSERT.execute(
        conn,
        {
            "household": household,
            "id": turn_id,
            "thread": thread.id,
            "member": thread.member,
            "login": thread.login,
            "position": thread.turns + 1,
            "channel": said.thread.channel,
            "client_message_id": said.client_message_id,
            "text": said.text,
            "received_at": now,
            "due_at": now,
            "begun": 0,
            "epoch": 0,
            "attempt": 1,
            "failures": 0,
            "stop_requested": 0,
            "chat_id": thread.chat_id,
            "is_shared": int(said.is_shared),
            "stops": int(bool(said.stops)),
            "aside": 0,
            **(_claimed(conn, now, epoch=1) if is_first else _waiting(now)),
        },
    )
    count_turn(conn, thread, at=now)
    after = thread.events
    return Accepted(
        turn_id=turn_id,
        thread_id=thread.id,
        after=after,
        is_new=True,
        claim=(turn_id, 1) if is_first else _take_up(conn, household, thread.id, now),
        stops=said.stops,
    )


def claim_next(conn: Connection, household: str, thread_id: str, *, now: datetime) -> Claim | None:
    """Claim the first unfinished turn of a thread, if nobody works on it.

    Returns:
        Id and epoch of the turn, or None.
    """
    waiting = _in_line(conn, household, thread_id)
    if not waiting:
        return None
    epoch = leases.claim(conn, turns, (household, waiting[0]), now=now, lease=LEASE)
    return None if epoch is None else (waiting[0], epoch)


def first_in_thread(conn: Connection, key: Key, _now: datetime) -> Key | None:
    """Return the first unfinished turn of the line that a turn stands in: its thread's, or its own behind the talk.

    Args:
        key: Household and id of a turn.
    """
    household, turn_id = key
    turn = find_turn(conn, household, turn_id)
    if turn is None:
        return None
    if turn.is_aside:
        return key if turn.outcome is None else None
    waiting = _in_line(conn, household, turn.thread_id)
    return (household, waiting[0]) if waiting else None


def find_turn(conn: Connection, household: str, turn_id: str) -> Turn | None:
    """Return a turn, if the household has it."""
    rows = _BY_ID.mappings(conn, {"of_household": household, "of_turn": turn_id})
    return turn_of(rows[0]) if rows else None


def last_turns(conn: Connection, household: str, thread_id: str, *, last: int) -> Sequence[Turn]:
    """Return the last turns of a thread, oldest first.

    Args:
        last: Most turns, > 0.
    """
    of_thread = {"of_household": household, "of_thread": thread_id}
    return [turn_of(row) for row in _limited(_LAST, last).mappings(conn, of_thread)][::-1]


def turn_with_earlier(
    conn: Connection, household: str, turn_id: str, *, last: int, whole: int
) -> tuple[Turn, Sequence[Turn]]:
    """Return a turn, and the finished ones of its thread before it, oldest first.

    Args:
        last: Most earlier turns, > 0.
        whole: How many of them have all their results; what older ones only looked up is left out: a list that was
            shown takes longer to read than all the rest.

    Raises:
        NotFoundError: The household has no such turn.
    """
    of_turn = {"of_household": household, "of_turn": turn_id}
    rows = _limited(_UP_TO, last + 1).mappings(conn, of_turn)
    found = [
        turn_of(row | {"results": _results(row["results"], is_whole=place <= whole)})
        for place, row in enumerate(rows)
    ][::-1]
    if not found or found[-1].id != turn_id:
        raise NotFoundError(f"there is no turn {turn_id!r}")
    return found[-1], [turn for turn in found[:-1] if turn.outcome is not None]


def _results(text: str | None, *, is_whole: bool) -> Any:
    """Return the results of a turn, or only those of a turn that did something."""
    return json_value(text) if text and (is_whole or _DEED.search(text)) else None


def request_stop(conn: Connection, household: str, thread_id: str, *, member: str) -> Sequence[str]:
    """Note that a member's unfinished turns in a thread are to stop; returns their ids."""
    unfinished = (
        _columns.household == household,
        _columns.thread == thread_id,
        _columns.member == member,
        _columns.state.in_(_UNFINISHED),
    )
    stopped = update(turns).where(*unfinished).values(stop_requested=1).returning(_columns.id)
    return list(conn.execute(stopped).scalars())


def stopped_of(conn: Connection, household: str, turn_ids: Collection[str]) -> Sequence[str]:
    """Return which of some turns were told to stop."""
    of_turns = {"of_household": household, "of_turns": list(turn_ids)}
    return [id_ for (id_,) in _STOPPED.execute(conn, of_turns)]


def is_stopped(conn: Connection, key: Key) -> bool:
    """Whether a turn was told to stop."""
    household, turn_id = key
    return bool(stopped_of(conn, household, [turn_id]))


def keep_plans(conn: Connection, key: Key, epoch: int, plans: Sequence[Mapping[str, Any]]) -> bool:
    """Store what was planned, so that who takes the turn up after a crash follows it.

    Args:
        epoch: Of the claim it is worked on under.
        plans: As JSON, step by step.

    Returns:
        Whether it was stored; not where somebody else has taken the turn.
    """
    household, turn_id = key
    mine = (_columns.household == household, _columns.id == turn_id, _columns.epoch == epoch)
    return bool(conn.execute(update(turns).where(*mine).values(plans=list(plans))).rowcount)


def _again(conn: Connection, said: Incoming, turn_id: str, now: datetime) -> Accepted:
    """Return the turn of a message that was taken in before; one that broke down begins anew."""
    stored = find_turn(conn, said.thread.household, turn_id)
    if stored is None:
        raise InvariantError(f"turn {turn_id!r} has disappeared")
    if stored.text not in {said.text, ""}:  # the words of an old turn are gone
        raise ConflictError("this conversation has another message with the same message_id")
    claim: Claim | None = None
    after = events.number_before(conn, stored.household, stored.thread_id, stored.id)
    if stored.outcome is TurnOutcome.FAILED:
        after = events.last_number(conn, stored.household, stored.thread_id)
        is_first = not _in_line(conn, stored.household, stored.thread_id)
        epoch = stored.epoch + 1 if is_first else None
        values = _claimed(conn, now, epoch=epoch) if epoch else _waiting(now)
        claim = (stored.id, epoch) if epoch else None
        conn.execute(
            update(turns)
            .where(_columns.household == stored.household, _columns.id == stored.id)
            .values(outcome=None, finished_at=None, stop_requested=0, aside=0, due_at=now, **values)
        )
    elif stored.outcome is None and not stored.is_aside:
        claim = _take_up(conn, stored.household, stored.thread_id, now)
    return Accepted(
        turn_id=stored.id,
        thread_id=stored.thread_id,
        after=after,
        is_new=stored.outcome is TurnOutcome.FAILED,
        claim=claim,
    )


def _take_up(conn: Connection, household: str, thread_id: str, now: datetime) -> Claim | None:
    """Claim the first unfinished turn of a thread if a process that is gone left it behind."""
    waiting = _in_line(conn, household, thread_id)
    if not waiting:
        return None
    key = (household, waiting[0])
    epoch = leases.claim_stranded(
        conn, turns, key, now=now, lease=LEASE, attempts=RetryLadder().attempts
    )
    return None if epoch is None else (waiting[0], epoch)


def _claimed(conn: Connection, now: datetime, *, epoch: int) -> dict[str, Any]:
    return {
        "state": WorkState.RUNNING.value,
        "epoch": epoch,
        "begun": 1,
        "lease_until": now + LEASE,
        "runner": runner_of(conn),
    }


def _waiting(now: datetime) -> dict[str, Any]:
    return {"state": WorkState.QUEUED.value, "lease_until": now + _WAITS_IN_LINE, "runner": None}


def _in_line(conn: Connection, household: str, thread_id: str) -> list[str]:
    """Return the unfinished turns of a thread in order, but for those that wait behind the talk."""
    of_thread = {"of_household": household, "of_thread": thread_id}
    return [id_ for (id_,) in _IN_LINE.execute(conn, of_thread)]


@cache
def _limited(query: Select[Any], most: int) -> Prepared:
    """Return a query for at most so many rows; where that is a parameter, SQLite plans anew every time."""
    return Prepared(query.limit(literal_column(str(most), Integer)))


def _turn_id(thread: Thread, client_message_id: str) -> str:
    return stable_id(thread.household, "turn", thread.id, client_message_id)


# Says something in a thread that nobody asked for just now: a turn with an answer and no message.


def post_to_thread(
    conn: Connection,
    household: str,
    thread_id: str,
    text: str,
    *,
    key: str,
    now: datetime,
    used: Sequence[Mapping[str, Any]] = (),
    asks: Sequence[str] = (),
) -> bool:
    """Say something in a thread that nobody asked for just now: a reminder that is due.

    Args:
        asks: Ids of the actions that it asks about.
        used: What it rests on, each {"kind", "id", "text"}.
        key: Identifies it; the same one again says nothing.

    Returns:
        Whether it was said now; not where it was before, or the thread does not exist.
    """
    thread = load_thread(conn, household, thread_id, locked=True)
    turn_id = stable_id(household, "posted", thread_id, key)
    if thread is None or find_turn(conn, household, turn_id) is not None:
        return False
    conn.execute(
        insert(turns).values(
            household=household,
            id=turn_id,
            thread=thread_id,
            member=thread.member,
            login=thread.login,
            position=thread.turns + 1,
            channel=thread.channel,
            client_message_id=f"posted:{turn_id}",
            text="",
            received_at=now,
            due_at=now,
            state=WorkState.DONE.value,
            outcome=TurnOutcome.POSTED.value,
            mode=Mode.RESPOND.value,
            answer=text,
            used=list(used),
            asked_about={"verb": "confirm", "actions": list(asks)} if asks else None,
            finished_at=now,
        )
    )
    count_turn(conn, thread, at=now)
    done = {
        "turn_id": turn_id,
        "trace_id": turn_id,
        "mode": Mode.RESPOND.value,
        "text": text,
        "used": list(used),
    }
    told: list[events.Told] = [(EventName.TOKEN, {"text": text}), (EventName.DONE, done)]
    events.append(conn, household, thread_id, told, turn_id=turn_id, at=now)
    return True
