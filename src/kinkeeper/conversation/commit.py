"""The end of a turn: everything it came to, written in one transaction, whichever way it went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from kinkeeper.actions.payload import plain
from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.model import Answer, Mode, Source, Triage
from kinkeeper.conversation.result_rows import result_record
from kinkeeper.conversation.routing.router import Routed
from kinkeeper.conversation.stages import Course
from kinkeeper.conversation.tables import (
    interaction_log,
    onboarding,
    routing_decisions,
    stage_failures,
    tool_iterations,
    triage_calibration,
    turns,
)
from kinkeeper.conversation.tool_loop import Iteration
from kinkeeper.conversation.turns import Turn, TurnOutcome
from kinkeeper.jobs import leases

_NEW, _SETTLED_AFTER = "new", 5
_MARGINS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What a turn came to.

    Attributes:
        outcome: By and large.
        answer: What is said.
        routed: How it was routed; None where it broke down before.
        triage: Where it went; None as above.
        results: What was done.
        clarification: What was asked back.
        partial: What the question is about.
        asked_about: Actions that the person was asked to choose among, and what for.
        iterations: The steps of acting.
    """

    outcome: TurnOutcome
    answer: Answer
    routed: Routed | None = None
    triage: Triage | None = None
    results: Sequence[ActionResult] = ()
    clarification: str | None = None
    partial: Mapping[str, Any] | None = None
    asked_about: Mapping[str, Any] | None = None
    iterations: Sequence[Iteration] = field(default_factory=tuple)


def write_turn(
    conn: Connection, turn: Turn, ending: Ending, course: Course, *, epoch: int, now: datetime
) -> None:
    """Close a turn's row.

    Args:
        conn: In a write transaction.
        turn: The turn.
        ending: What it came to.
        course: How it went.
        epoch: Of the claim it was worked on under.
        now: Aware.

    Raises:
        LeaseLostError: Somebody else has taken the turn.
    """
    leases.finish(conn, turns, turn.key, epoch)
    answer = ending.answer
    conn.execute(
        update(turns)
        .where(turns.c.household == turn.household, turns.c.id == turn.id)
        .values(
            outcome=ending.outcome.value, mode=answer.mode.value, source=answer.source.value,
            confidence=answer.confidence, answer=answer.text,
            results=[result_record(each) for each in ending.results],
            clarification=ending.clarification,
            partial=None if ending.partial is None else plain(ending.partial), plans=None,
            asked_about=None if ending.asked_about is None else plain(ending.asked_about),
            used=plain(answer.used), finished_at=now, stages=dict(course.took),
        )
    )  # fmt: skip


def recent_margins(conn: Connection, household: str, earlier: Sequence[Turn]) -> tuple[float, ...]:
    """Return by how much the last decisions of a thread were won, newest last.

    Args:
        conn: Any transaction.
        household: Tenant key.
        earlier: The thread's turns so far, oldest first.
    """
    columns = routing_decisions.c
    query = select(columns.turn, columns.margin).where(
        columns.household == household,
        columns.turn.in_([turn.id for turn in earlier[-_MARGINS:]]),
        columns.margin.is_not(None),
    )
    margins = {row.turn: row.margin for row in conn.execute(query)}
    return tuple(margins[turn.id] for turn in earlier if turn.id in margins)


def write_records(
    conn: Connection, turn: Turn, ending: Ending, course: Course, *, now: datetime
) -> None:
    """Write how a turn was decided: routing, triage, steps, answer, failures, and how far its person has come.

    Args:
        conn: In a write transaction.
        turn: The turn.
        ending: What it came to.
        course: How it went.
        now: Aware.
    """
    of_turn = {"household": turn.household, "turn": turn.id, "at": now}
    if ending.routed is not None:
        conn.execute(insert(routing_decisions).values(of_turn | _routing(ending.routed)))
    if ending.triage is not None:
        conn.execute(insert(triage_calibration).values(of_turn | _triage(ending.triage, ending)))
    steps = [of_turn | _step(each) for each in ending.iterations]
    if steps:
        conn.execute(insert(tool_iterations), steps)
    conn.execute(insert(interaction_log).values(of_turn | _answer(ending.answer, course)))
    write_failures(conn, turn, course, now=now)
    _come_further(conn, turn, now)


def write_failures(conn: Connection, turn: Turn, course: Course, *, now: datetime) -> None:
    """Write which stages failed.

    Args:
        conn: In a write transaction.
        turn: The turn.
        course: How it went.
        now: Aware.
    """
    failed = [
        {
            "household": turn.household, "turn": turn.id, "number": turn.epoch * 1000 + number,
            "stage": each.stage.value, "reason": each.reason, "at": now,
        }
        for number, each in enumerate(course.failures)
    ]  # fmt: skip
    if failed:
        conn.execute(insert(stage_failures), failed)


def _routing(routed: Routed) -> dict[str, Any]:
    return {
        "mode": routed.triage.mode.value, "decided_by": routed.decided_by,
        "scores": {mode.value: round(score, 4) for mode, score in routed.scores.items()},
        "tie_break": int(routed.tie_break is not None), "margin": routed.margin,
        "signals": dict(routed.snapshot), "weights_version": str(routed.version),
    }  # fmt: skip


def _triage(triage: Triage, ending: Ending) -> dict[str, Any]:
    return {
        "type": triage.type.value, "branch": triage.branch.value, "mode": triage.mode.value,
        "domains": list(triage.domains), "tools": list(triage.tools),
        "confidence_internal": triage.confidence_internal,
        "confidence_tool_need": triage.confidence_tool_need,
        "freshness_risk": triage.freshness_risk, "source": triage.source.value,
        "acted": int(bool(ending.results)),
    }  # fmt: skip


def _step(step: Iteration) -> dict[str, Any]:
    return {
        "number": step.number, "actions": list(step.actions), "ms": step.ms,
        "fatigue": step.fatigue, "mode": Mode.ACT.value, "ended": step.ended,
    }  # fmt: skip


def _answer(answer: Answer, course: Course) -> dict[str, Any]:
    return {
        "event": "system_response", "mode": answer.mode.value, "confidence": answer.confidence,
        "source": answer.source.value, "ms": course.took.get("answer", 0.0),
        "relevance": dict(answer.relevance),
    }  # fmt: skip


def _come_further(conn: Connection, turn: Turn, now: datetime) -> None:
    """Count an exchange of the turn's person."""
    mine = (onboarding.c.household == turn.household, onboarding.c.member == turn.member)
    known = conn.execute(select(onboarding.c.exchanges).where(*mine)).scalar()
    count = 1 if known is None else int(known) + 1
    phase = _NEW if count < _SETTLED_AFTER else "settled"
    values = {"exchanges": count, "phase": phase, "at": now}
    if known is None:
        who = {"household": turn.household, "member": turn.member}
        conn.execute(insert(onboarding).values(who | values))
    else:
        conn.execute(update(onboarding).where(*mine).values(values))


def nothing_said(mode: Mode = Mode.IGNORE) -> Answer:
    """Return the answer of a turn that has none."""
    return Answer(text="", mode=mode, confidence=0.0, source=Source.RULES)
