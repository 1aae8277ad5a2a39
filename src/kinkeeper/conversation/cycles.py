"""Turns that wait for slow tools, as rows: begun, kept alive, put behind the talk, ended.

What was said and what came of it are the turn's; these rows tell how it went, without a word of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.result_rows import result_record
from kinkeeper.conversation.tables import tool_cycles, tool_runs, turns
from kinkeeper.conversation.turn import Turn, TurnOutcome
from kinkeeper.conversation.turns import claim_next
from kinkeeper.jobs import leases
from kinkeeper.jobs.leases import LeaseLostError

TYPE = "tool_work"
RUNNING = "running"
_cycles = tool_cycles.c


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleHead:
    """What a turn was when it began to wait.

    Attributes:
        topic: Id of what it is about; "" where nothing.
        intent: What it is by its form; "" where it was not routed.
        warmth: How much is known about it, in [0, 1].
        hints: Requests that triage named.
    """

    topic: str = ""
    intent: str = ""
    warmth: float = 0.0
    hints: Sequence[str] = ()


def begin(
    conn: Connection, turn: Turn, epoch: int, head: CycleHead, *, now: datetime, until: datetime
) -> datetime:
    """Note that a turn waits for slow tools, under a lease that has to be renewed from now on.

    Args:
        conn: In a write transaction.
        turn: The turn.
        epoch: Of the claim it is worked on under.
        head: What it is.
        now: Aware.
        until: When the lease runs out unless it is renewed, aware.

    Returns:
        When that began: before a crash, where it is taken up again.

    Raises:
        LeaseLostError: Somebody else has taken the turn.
    """
    renew(conn, turn, epoch, until=until)
    known = conn.execute(select(_cycles.at, _cycles.state).where(*_of(turn))).first()
    if known is not None and known.state == RUNNING:
        resumed = update(tool_cycles).where(*_of(turn)).values(resumed=_cycles.resumed + 1)
        conn.execute(resumed)
        began: datetime = known.at
        return began
    conn.execute(delete(tool_cycles).where(*_of(turn)))
    conn.execute(
        insert(tool_cycles).values(
            household=turn.household, turn=turn.id, type=TYPE, source=turn.channel,
            topic=head.topic, intent=head.intent, warmth=head.warmth, hints=list(head.hints),
            state=RUNNING, at=now,
        )
    )  # fmt: skip
    return now


def renew(conn: Connection, turn: Turn, epoch: int, *, until: datetime) -> None:
    """Keep a turn's claim alive.

    Args:
        conn: In a write transaction.
        turn: The turn.
        epoch: Of the claim.
        until: When it runs out unless it is renewed again, aware.

    Raises:
        LeaseLostError: Somebody else has taken the turn.
    """
    if not leases.renew(conn, turns, turn.key, epoch, until=until):
        raise LeaseLostError(f"turn {turn.id!r} was taken over by another worker")


def step_aside(
    conn: Connection, turn: Turn, epoch: int, *, now: datetime
) -> tuple[str, int] | None:
    """Put a turn behind the talk: those after it in its thread need not wait for it.

    Args:
        conn: In a write transaction.
        turn: The turn.
        epoch: Of the claim.
        now: Aware.

    Returns:
        The thread's next turn, claimed; None where there is none.

    Raises:
        LeaseLostError: Somebody else has taken the turn.
    """
    if not leases.hold(conn, turns, turn.key, epoch):
        raise LeaseLostError(f"turn {turn.id!r} was taken over by another worker")
    conn.execute(update(turns).where(*_row(turn)).values(aside=1))
    return claim_next(conn, turn.household, turn.thread_id, now=now)


def note_run(
    conn: Connection, turn: Turn, epoch: int, results: Sequence[ActionResult], *, ms: float,
    now: datetime,
) -> None:  # fmt: skip
    """Keep what a turn has done so far: who takes it up after a crash does none of it again.

    Args:
        conn: In a write transaction.
        turn: The turn.
        epoch: Of the claim.
        results: Of all requests so far; the last one is new.
        ms: How long that one took.
        now: Aware.

    Raises:
        LeaseLostError: Somebody else has taken the turn.
    """
    if not leases.hold(conn, turns, turn.key, epoch):
        raise LeaseLostError(f"turn {turn.id!r} was taken over by another worker")
    so_far = [result_record(each) for each in results]
    conn.execute(update(turns).where(*_row(turn)).values(results=so_far))
    number, last = len(results) - 1, results[-1]
    runs = tool_runs.c
    conn.execute(
        delete(tool_runs).where(
            runs.household == turn.household, runs.turn == turn.id, runs.number == number
        )
    )
    conn.execute(
        insert(tool_runs).values(
            household=turn.household, turn=turn.id, number=number,
            request=f"{last.domain}.{last.action}", status=last.status.value, ms=ms, at=now,
        )
    )  # fmt: skip


def end(conn: Connection, turn: Turn, outcome: TurnOutcome, *, now: datetime) -> None:
    """Note what a turn that waited for slow tools came to.

    Args:
        conn: In the transaction that ends the turn.
        turn: The turn.
        outcome: What it came to.
        now: Aware.
    """
    conn.execute(update(tool_cycles).where(*_of(turn)).values(state=outcome.value, finished_at=now))


def _of(turn: Turn) -> tuple[ColumnElement[bool], ...]:
    return (_cycles.household == turn.household, _cycles.turn == turn.id)


def _row(turn: Turn) -> tuple[ColumnElement[bool], ...]:
    return (turns.c.household == turn.household, turns.c.id == turn.id)
