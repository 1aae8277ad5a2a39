"""The end of a turn: everything it came to, written in one transaction, whichever way it went."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Integer,
    bindparam,
    case,
    func,
    insert,
    literal_column,
    null,
    select,
    update,
)

from kinkeeper.actions.payload import plain
from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.criticism.model import Verdict
from kinkeeper.conversation.model import Answer, Mode, Source, Triage
from kinkeeper.conversation.routing.router import Routed
from kinkeeper.conversation.stages import Course, Stage
from kinkeeper.conversation.tables import (
    critic_verdicts,
    interaction_log,
    onboarding,
    routing_decisions,
    stage_failures,
    tool_iterations,
    triage_calibration,
    turns,
)
from kinkeeper.conversation.taking_back import LastTold
from kinkeeper.conversation.tool_loop import Iteration
from kinkeeper.conversation.turn import Turn, TurnOutcome, result_record
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.jobs.leases import LeaseLostError, WorkState
from kinkeeper.store.prepared import Prepared, is_one_of
from kinkeeper.store.schema import Instant

HELD = "held"
"""Among the signals of a turn: how sure the trained reader was of what it did not offer."""

OFFERED = "offered"
"""Among the signals of a turn: that it asked about an open thing that the message names."""
_NEW, _SETTLED, _SETTLED_FROM = "new", "settled", 5
_MARGINS = 3
_BY_CLAIM = 1000  # numbers of failures that one claim on a turn has to give; those below are of what goes on beside


_RECENT = Prepared(
    select(routing_decisions.c.turn, routing_decisions.c.margin).where(
        routing_decisions.c.household == bindparam("of_household"),
        is_one_of(routing_decisions.c.turn, "turns"),
        routing_decisions.c.margin.is_not(None),
    )
)
_OF_TURN = ("household", "turn", "at")
_ROUTING = Prepared(
    insert(routing_decisions),
    (
        *_OF_TURN,
        "mode",
        "decided_by",
        "scores",
        "tie_break",
        "margin",
        "signals",
        "weights_version",
    ),
)
_TRIAGE = Prepared(
    insert(triage_calibration),
    (
        *_OF_TURN,
        "type",
        "branch",
        "mode",
        "domains",
        "tools",
        "confidence_internal",
        "confidence_tool_need",
        "freshness_risk",
        "source",
        "acted",
    ),
)
_STEP = Prepared(
    insert(tool_iterations), (*_OF_TURN, "number", "actions", "ms", "fatigue", "mode", "ended")
)
_INTERACTION = Prepared(
    insert(interaction_log),
    (*_OF_TURN, "event", "mode", "confidence", "source", "ms", "brought", "relevance"),
)
_ENDS_AS = (
    "outcome",
    "mode",
    "source",
    "confidence",
    "answer",
    "results",
    "clarification",
    "partial",
    "asked_about",
    "used",
    "finished_at",
    "stages",
)
_FINISH = Prepared(
    update(turns)
    .where(
        turns.c.household == bindparam("of_household"),
        turns.c.id == bindparam("of_turn"),
        turns.c.epoch == bindparam("of_epoch"),
        turns.c.state == literal_column(f"'{WorkState.RUNNING.value}'"),
    )
    .values(
        {
            "state": literal_column(f"'{WorkState.DONE.value}'"),
            "lease_until": null(),
            "error": null(),
            "plans": null(),
            **{name: bindparam(f"{name}_", type_=turns.c[name].type) for name in _ENDS_AS},
        }
    )
    .returning(turns.c.id)
)
_ANOTHER = Prepared(
    update(onboarding)
    .where(
        onboarding.c.household == bindparam("of_household"),
        onboarding.c.member == bindparam("of_member"),
    )
    .values(
        exchanges=onboarding.c.exchanges + 1,
        phase=case(
            (
                onboarding.c.exchanges + 1 >= bindparam("settled_from", type_=Integer),
                literal_column(f"'{_SETTLED}'"),
            ),
            else_=onboarding.c.phase,
        ),
        at=bindparam("at_", type_=Instant),
    )
    .returning(onboarding.c.member)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What a turn came to.

    Attributes:
        routed: How it was routed; None where it broke down before.
        triage: Where it went; None as above.
        clarification: What was asked back.
        asked_about: Actions that the person was asked to choose among, and what for.
        iterations: The steps of acting.
        held: How sure the trained reader was of what it was not sure enough of to offer.
        is_offered: Whether it asks about an open thing that the message names, though nobody asked for it.
        verdicts: What second looks at its steps came to.
        brought: How many memories were at hand unasked.
        is_late: Whether the talk went on meanwhile.
        told: What memory reads of the message.
        text: What was read as the message; empty where it is as it was said.
        sets_right: The statement before it that is told in it and is gone with the end of the turn.
        known: Who may see what the household keeps from some and the message names.
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
    held: float | None = None
    is_offered: bool = False
    verdicts: Sequence[Verdict] = ()
    brought: int = 0
    is_late: bool = False
    told: str = ""
    text: str = ""
    sets_right: LastTold | None = None
    known: str = HOUSEHOLD_SCOPE


def write_turn(
    conn: Connection, turn: Turn, ending: Ending, course: Course, *, epoch: int, now: datetime
) -> None:
    """Close a turn's row.

    Args:
        course: How it went.
        epoch: Of the claim it was worked on under.

    Raises:
        LeaseLostError: Somebody else has taken the turn.
    """
    answer = ending.answer
    values = {
        "of_household": turn.household,
        "of_turn": turn.id,
        "of_epoch": epoch,
        "outcome_": ending.outcome.value,
        "mode_": answer.mode.value,
        "source_": answer.source.value,
        "confidence_": answer.confidence,
        "answer_": answer.text,
        "results_": [result_record(each) for each in ending.results],
        "clarification_": ending.clarification,
        "partial_": None if ending.partial is None else plain(ending.partial),
        "asked_about_": None if ending.asked_about is None else plain(ending.asked_about),
        "used_": plain(answer.used),
        "finished_at_": now,
        "stages_": dict(course.took),
    }
    if not _FINISH.execute(conn, values):
        raise LeaseLostError(
            f"turn {turn.id!r} was taken over by another worker; write nothing for it"
        )


def recent_margins(conn: Connection, household: str, earlier: Sequence[Turn]) -> tuple[float, ...]:
    """Return by how much the last decisions of a thread were won, newest last.

    Args:
        earlier: The thread's turns so far, oldest first.
    """
    lately = {"of_household": household, "turns": [turn.id for turn in earlier[-_MARGINS:]]}
    found = _RECENT.mappings(conn, lately) if earlier else ()
    margins = {row["turn"]: row["margin"] for row in found}
    return tuple(margins[turn.id] for turn in earlier if turn.id in margins)


def write_records(
    conn: Connection, turn: Turn, ending: Ending, course: Course, *, now: datetime
) -> None:
    """Write how a turn was decided: routing, triage, steps, answer, failures, and how far its person has come.

    Args:
        course: How it went.
    """
    of_turn = {"household": turn.household, "turn": turn.id, "at": now}
    if ending.routed is not None:
        _ROUTING.execute(conn, of_turn | _routing(ending.routed, ending))
    if ending.triage is not None:
        _TRIAGE.execute(conn, of_turn | _triage(ending.triage, ending))
    for step in ending.iterations:
        _STEP.execute(conn, of_turn | _step(step))
    if ending.verdicts:
        rows = [of_turn | asdict(each) | {"effect": each.effect.value} for each in ending.verdicts]
        conn.execute(insert(critic_verdicts), rows)
    _INTERACTION.execute(conn, of_turn | _answer(ending, course))
    write_failures(conn, turn, course, now=now)
    _come_further(conn, turn, now)


def write_failures(conn: Connection, turn: Turn, course: Course, *, now: datetime) -> None:
    """Write which stages failed.

    Args:
        course: How it went.
    """
    failed = [
        {
            "household": turn.household,
            "turn": turn.id,
            "number": turn.epoch * _BY_CLAIM + number,
            "stage": each.stage.value,
            "reason": each.reason,
            "at": now,
        }
        for number, each in enumerate(course.failures)
    ]
    if failed:
        conn.execute(insert(stage_failures), failed)


def note_failure(
    conn: Connection, household: str, turn_id: str, *, stage: Stage, reason: str, now: datetime
) -> None:
    """Write of something beside a turn that it failed."""
    columns = stage_failures.c
    beside = (columns.household == household, columns.turn == turn_id, columns.number < _BY_CLAIM)
    known = conn.execute(select(func.count()).select_from(stage_failures).where(*beside)).scalar()
    conn.execute(
        insert(stage_failures).values(
            household=household,
            turn=turn_id,
            number=known,
            stage=stage.value,
            reason=reason,
            at=now,
        )
    )


def _routing(routed: Routed, ending: Ending) -> dict[str, Any]:
    held = {} if ending.held is None else {HELD: ending.held}
    offered = {OFFERED: 1.0} if ending.is_offered else {}
    return {
        "mode": routed.triage.mode.value,
        "decided_by": routed.decided_by,
        "scores": {mode.value: round(score, 4) for mode, score in routed.scores.items()},
        "tie_break": int(routed.is_tie),
        "margin": routed.margin,
        "signals": dict(routed.snapshot) | held | offered,
        "weights_version": str(routed.version),
    }


def _triage(triage: Triage, ending: Ending) -> dict[str, Any]:
    return {
        "type": triage.type.value,
        "branch": triage.branch.value,
        "mode": triage.mode.value,
        "domains": list(triage.domains),
        "tools": list(triage.tools),
        "confidence_internal": triage.confidence_internal,
        "confidence_tool_need": triage.confidence_tool_need,
        "freshness_risk": triage.freshness_risk,
        "source": triage.source.value,
        "acted": int(bool(ending.results)),
    }


def _step(step: Iteration) -> dict[str, Any]:
    return {
        "number": step.number,
        "actions": list(step.actions),
        "ms": step.ms,
        "fatigue": step.fatigue,
        "mode": Mode.ACT.value,
        "ended": step.ended,
    }


def _answer(ending: Ending, course: Course) -> dict[str, Any]:
    answer = ending.answer
    return {
        "event": "system_response",
        "mode": answer.mode.value,
        "confidence": answer.confidence,
        "source": answer.source.value,
        "ms": course.took.get("answer", 0.0),
        "brought": ending.brought,
        "relevance": dict(answer.relevance),
    }


def _come_further(conn: Connection, turn: Turn, now: datetime) -> None:
    """Count an exchange of the turn's person."""
    values = {
        "of_household": turn.household,
        "of_member": turn.member,
        "settled_from": _SETTLED_FROM,
        "at_": now,
    }
    if not _ANOTHER.execute(conn, values):
        first = {"household": turn.household, "member": turn.member, "exchanges": 1, "at": now}
        conn.execute(insert(onboarding).values(phase=_NEW, **first))


def nothing_said(mode: Mode = Mode.IGNORE) -> Answer:
    """Return the answer of a turn that has none."""
    return Answer(text="", mode=mode, confidence=0.0, source=Source.RULES)
