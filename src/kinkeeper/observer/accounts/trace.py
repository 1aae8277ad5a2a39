"""Why a message was answered or not: the steps it took, as values and in plain words.

Read from the records alone, so that what is told is what was decided. No word of the message is
needed for it, and none is shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, select

from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.repository import load_action
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.core.gates import Stage
from kinkeeper.household.model import Household
from kinkeeper.jobs.leases import WorkState
from kinkeeper.observer import repository, stretches
from kinkeeper.observer.accounts import trace_words
from kinkeeper.observer.consultation import consultations_from
from kinkeeper.observer.model import BY_FOLD
from kinkeeper.observer.tables import observer_messages
from kinkeeper.observer.tripwire.gate import THREAD_BOOST

_WORTH_TELLING = 0.005


class Mark(StrEnum):
    """How a step ended."""

    PASSED = "passed"
    STOPPED = "stopped"  # went no further, or kept it silent
    NOTED = "noted"  # neither


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One rung of the ladder.

    Attributes:
        stage: Short name of the step.
        mark: How it ended.
        text: What happened, in plain words.
    """

    stage: str
    mark: Mark
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReading:
    """A gate as it was logged.

    Attributes:
        stage: Which gate.
        score: In [0, 1]; None where none was produced.
        threshold: In [0, 1].
        passed: Whether the score reached it.
        decision: What followed.
    """

    stage: str
    score: float | None
    threshold: float
    passed: bool
    decision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The way of one message.

    Attributes:
        message_id: The channel's id.
        chat_id: Its chat.
        sender: Member id, or the name as sent.
        sent_at: Aware.
        steps: In the order they happened.
        gates: As logged.
        row: The decision as recorded.
        action: Its pending action, if any.
    """

    message_id: str
    chat_id: str
    sender: str
    sent_at: datetime
    steps: tuple[Step, ...]
    gates: tuple[GateReading, ...]
    row: Row[Any]
    action: PendingAction | None


def load_trace(
    conn: Connection,
    household: Household,
    message_id: str,
    *,
    chat_id: str | None = None,
    is_exact: bool = False,
) -> Trace:
    """Return the trace of a message.

    Args:
        conn: Any transaction.
        household: Its household.
        message_id: The channel's id, or a beginning that fits one message only, or the row's own id.
        chat_id: Its chat, where several have such a message.
        is_exact: Whether it must be the channel's whole id; a person who types may write less.

    Raises:
        NotFoundError: There is no such message.
        InputError: The beginning fits several messages, or several chats have it.
    """
    row = _find_row(conn, household.id, message_id, chat_id, is_exact=is_exact)
    gates = {
        gate.stage: GateReading(
            stage=gate.stage, score=gate.score, threshold=gate.threshold,
            passed=bool(gate.passed), decision=gate.decision,
        )
        for gate in repository.gates_of(conn, household.id, row.id)
    }  # fmt: skip
    action = load_action(conn, household.id, row.action_id) if row.action_id else None
    stretch = stretches.read_with(conn, household.id, row.chat_id, row.id)
    return Trace(
        message_id=row.message_id,
        chat_id=row.chat_id,
        sender=row.sender,
        sent_at=row.sent_at,
        steps=(
            *_ladder(row, gates, action, household, answered=_asked_by(conn, row, household)),
            *_talk(row, stretch),
        ),
        gates=tuple(gates[stage.value] for stage in Stage if stage.value in gates),
        row=row,
        action=action,
    )


def _find_row(
    conn: Connection, household: str, message_id: str, chat_id: str | None, *, is_exact: bool
) -> Row[Any]:
    table = observer_messages
    where = [table.c.household == household]
    if chat_id is not None:
        where.append(table.c.chat_id == chat_id)
    newest_last = select(table).order_by(table.c.created_at, table.c.id)
    rows = conn.execute(newest_last.where(*where, table.c.message_id == message_id)).all()
    if not rows and not is_exact:
        rows = conn.execute(newest_last.where(*where, table.c.id == message_id)).all()
    if not rows and not is_exact and message_id:
        begins = table.c.message_id.startswith(message_id, autoescape=True)
        rows = conn.execute(newest_last.where(*where, begins)).all()
    if not rows:
        raise NotFoundError(f"no message {message_id!r} was received")
    found = sorted({(row.chat_id, row.message_id) for row in rows})
    if len({message for _, message in found}) > 1:
        listed = ", ".join(message for _, message in found[:5])
        raise InputError(f"{message_id!r} matches several ids; give more of it: {listed}")
    if len(found) > 1:
        chats = ", ".join(chat for chat, _ in found)
        raise InputError(f"several chats have a message {message_id!r}; specify one of {chats}")
    return rows[-1]


def _asked_by(conn: Connection, row: Row[Any], household: Household) -> str:
    """Say who wrote what a message answers, and when: its id alone tells people nothing."""
    table = observer_messages.c
    source = conn.execute(
        select(table.sender, table.sent_at).where(
            table.household == household.id, table.chat_id == row.chat_id,
            table.message_id == row.attribution_source,
        )
    ).first()  # fmt: skip
    if source is None:
        return ""
    person = trace_words.person(source.sender, household)
    return f" (from {person}, {trace_words.instant(source.sent_at, household)})"


def _ladder(
    row: Row[Any],
    gates: Mapping[str, GateReading],
    action: PendingAction | None,
    household: Household,
    *,
    answered: str,
) -> Iterator[Step]:
    when = trace_words.instant(row.sent_at, household)
    sender = trace_words.person(row.sender, household)
    yield Step(stage="heard", mark=Mark.PASSED, text=f"Message from {sender}, {when}.")
    yield from _tripwire(row, gates)
    if row.withdrawn_actions:
        count = len(row.withdrawn_actions)
        what = "one proposal" if count == 1 else f"{count} proposals"
        yield Step(stage="withdrawal", mark=Mark.NOTED, text=f"Withdrew {what}.")
    if row.extraction is None:
        return
    yield from _attribution(row, gates, answered, household)
    for asked in consultations_from(row.consulted):
        mark = Mark.PASSED if asked.answer else Mark.NOTED
        yield Step(stage="model", mark=mark, text=trace_words.consulted(asked))
    if row.unread_parts:
        yield Step(stage="length", mark=Mark.NOTED, text=trace_words.left_out(row.unread_parts))
    is_clear, step = _extraction(row, gates, household)
    yield step
    if is_clear:
        yield from _brain(row, gates)
        yield _verdict(row, household)
    if action is not None:
        status = trace_words.status(action)
        is_followed = action.proposal.extraction.get("extractor") == BY_FOLD
        what = "A card follows its plan" if is_followed else "Saved for approval"
        yield Step(
            stage="action",
            mark=Mark.PASSED,
            text=f"{what}: {action.proposal.summary} ({status}, {action.id[:8]}).",
        )


def _talk(row: Row[Any], stretch: Row[Any] | None) -> Iterator[Step]:
    """Say what a model that read the talk made of a message."""
    if stretch is None or stretch.outcome is None:
        return
    effects = [each for each in stretch.effects or () if each["message"] == row.id]
    text = trace_words.talk(stretch.outcome, stretch.engine, effects)
    yield Step(stage="model", mark=Mark.PASSED if effects else Mark.NOTED, text=text)


def _tripwire(row: Row[Any], gates: Mapping[str, GateReading]) -> Iterator[Step]:
    gate = gates.get(Stage.TRIPWIRE.value)
    passed = gate is None or gate.passed
    threshold = gate.threshold if gate else 0.0
    is_queued = row.tier1_decision == "QUEUE"
    numbers = trace_words.score(row.tripwire_confidence, threshold)
    what = "Sounds" if passed else "Does not sound"
    found = trace_words.families(row.tripwire_patterns)
    rest = "" if is_queued else " It was not processed further."
    yield Step(
        stage="tripwire",
        mark=Mark.PASSED if passed else Mark.NOTED if is_queued else Mark.STOPPED,
        text=f"{what} like a plan ({numbers}): {found}{_from_thread(row)}.{rest}",
    )
    if row.override is not None:
        yield Step(
            stage="override", mark=Mark.PASSED,
            text="It may answer an open question, so it was read regardless of its score.",
        )  # fmt: skip
    if is_queued and row.extraction is None:
        yield _waiting(row)


def _waiting(row: Row[Any]) -> Step:
    """Say why a message that passed the first gate was not understood."""
    if row.state == WorkState.MANUAL_REVIEW.value:
        text = f"Reading it failed ({row.error}); a person has to look at it."
    elif row.state == WorkState.DROPPED.value:
        text = "Too many messages arrived within a minute, so this one was only stored."
    else:
        text = "It is still waiting to be read."
    return Step(stage="understanding", mark=Mark.STOPPED, text=text)


def _from_thread(row: Row[Any]) -> str:
    """Say what the talk around the message added to its score."""
    evidence = row.tripwire_evidence
    gained = evidence["confidence"] - evidence["score"]
    if gained < _WORTH_TELLING:
        return ""
    is_short = gained > THREAD_BOOST + _WORTH_TELLING
    what = (
        "a short reply in a conversation about plans"
        if is_short
        else "part of a conversation about plans"
    )
    return f"; +{gained:.2f} as {what}"


def _attribution(
    row: Row[Any], gates: Mapping[str, GateReading], answered: str, household: Household
) -> Iterator[Step]:
    gate = gates.get(Stage.ATTRIBUTION.value)
    if gate is None:
        return
    score = trace_words.score(gate.score, gate.threshold)
    if row.attribution_source and gate.passed:
        owners = [who for who in row.extraction["assigned_to"] if who != "unspecified"]
        takes = f"; {trace_words.people(owners, household)} takes it" if owners else ""
        text = f"Answers message {row.attribution_source}{answered}{takes} ({score})."
        yield Step(stage="attribution", mark=Mark.PASSED, text=text)
    else:
        text = f"Sounds like an answer, but no open question matches it ({score})."
        yield Step(stage="attribution", mark=Mark.STOPPED, text=text)


def _extraction(
    row: Row[Any], gates: Mapping[str, GateReading], household: Household
) -> tuple[bool, Step]:
    gate = gates.get(Stage.EXTRACTION.value)
    what = trace_words.understood(row.extraction, household)
    score = trace_words.score(gate.score, gate.threshold) if gate else "no score"
    if row.redline_decision is not None:
        return True, Step(
            stage="extraction", mark=Mark.PASSED, text=f"Understood: {what} ({score})."
        )
    rest = "" if row.action_id else " It was not processed further."
    return False, Step(
        stage="extraction", mark=Mark.STOPPED,
        text=f"Not clear enough to act on: {what} ({score}).{rest}",
    )  # fmt: skip


def _brain(row: Row[Any], gates: Mapping[str, GateReading]) -> Iterator[Step]:
    gate = gates.get(Stage.BRAIN.value)
    if gate is None:
        return
    asked: Sequence[str] = row.brain_queries or ()
    questions = "; ".join(asked)
    if gate.score is None:
        trouble = (row.brain_context or {}).get("trouble") or "no answer came in time"
        text = f"Checked what is known ({questions}), but {trouble}."
    elif gate.passed:
        score = trace_words.score(gate.score, gate.threshold)
        text = f"Checked what is known: {questions} (relevance {score})."
    else:
        score = trace_words.score(gate.score, gate.threshold)
        text = f"Checked what is known ({questions}); nothing relevant ({score})."
    yield Step(stage="brain", mark=Mark.PASSED if gate.passed else Mark.NOTED, text=text)


def _verdict(row: Row[Any], household: Household) -> Step:
    if row.redline_decision == "SPEAK":
        rule = trace_words.rule(row.redline_trigger_rule, row.redline_facts or {}, household)
        text = f"Spoke because {rule}{f': {row.reply}' if row.reply else '.'}"
        return Step(stage="redline", mark=Mark.PASSED, text=text)
    why = trace_words.silence(row.reason)
    until = ""
    if row.speak_at is not None:
        until = f" If nobody takes it, the group is asked on {trace_words.instant(row.speak_at, household)}."
    return Step(stage="redline", mark=Mark.STOPPED, text=f"Stayed silent: {why}.{until}")
