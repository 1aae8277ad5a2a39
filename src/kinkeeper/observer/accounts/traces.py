"""Why a message was answered or not: the steps it took, as values and in plain words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Row, select

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.repository import load_action
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.core.gates import Stage
from kinkeeper.household.model import Household
from kinkeeper.jobs.leases import WorkState
from kinkeeper.models.model import Outcome
from kinkeeper.observer import repository
from kinkeeper.observer.consultation import Consultation, consultations_from
from kinkeeper.observer.extraction.model_grounding import Doubt
from kinkeeper.observer.model import BY_FOLD, UNSPECIFIED, RedlineRule
from kinkeeper.observer.tables import observer_messages
from kinkeeper.observer.tripwire.gate import THREAD_BOOST
from kinkeeper.reading.times import time_text

# Plain words for what the records hold: people, times, patterns, extractions, rules, reasons. Pure.

_FAMILIES: Mapping[str, str] = MappingProxyType({
    "temporal": "a day",
    "clock": "a time of day",
    "assignment": "somebody taking on a job",
    "question_owner": "a question about who does it",
    "transport": "dropping off or picking up",
    "care": "looking after somebody",
    "pronoun_reply": "a reply in the first person",
    "acceptance": "a yes",
    "decline": "a no",
    "eta": "somebody on the way",
    "errand": "an errand",
    "appointment": "an appointment",
    "people": "a child or the kids",
    "adults": "an adult in the family",
    "activities": "an activity",
    "places": "a place",
    "change": "a change of plans",
    "rendezvous": "a place to meet",
    "schedule_question": "a question about the plan",
    "request": "a request",
    "past_narrative": "something in the past",
    "habit": "a habit",
    "feeling": "a feeling",
    "noise": "small talk",
})  # fmt: skip
_TASKS: Mapping[str, str] = MappingProxyType(
    {
        "pickup": "pickup",
        "dropoff": "drop-off",
        "cover": "covering",
        "attend": "attending",
        "cancel": "cancelling",
        "move": "moving",
        "appointment": "an appointment",
        "other": "a task",
    }
)
_RULES: Mapping[str, str] = MappingProxyType(
    {
        RedlineRule.TEMPORAL_CONFLICT: "two plans clash",
        RedlineRule.RESOURCE_CONFLICT: "two people have the same job, or one person has two at once",
        RedlineRule.MISSING_VARIABLE: "it is soon, and nobody has taken it",
        RedlineRule.TIME_MISMATCH: "the time or day does not match what is known",
    }
)
_SILENCES: Mapping[str, str] = MappingProxyType(
    {
        "no_rule": "nothing clashes, and somebody is in charge",
        "not_agreed": "the earlier messages do not support it, so nothing was said",
        "reader_alone": "only the trained reader noticed it, so it waits for approval",
        "nothing_to_confirm": "there is nothing to save for approval",
        "acknowledged": "it only agrees with something already settled",
        "declined": "somebody said no, so the question stays open",
        "withdrawn": "it withdraws something",
        "question_answered": "somebody answered before the group had to be asked",
        "question_withdrawn": "the question was withdrawn",
        "passed": "the event was over by the time the message was edited",
        "asked_again": "the same question was asked again later, and that one is waiting instead",
        "grace": "nobody has taken it yet, but the family still has time to answer",
        "question_settled": "the question was settled before the group had to be asked",
        "too_late": "its time had passed before the group could be asked",
        "already_announced": "the same conflict was announced less than a day ago",
        "daily_limit": "the daily limit was reached; it waits in the pending list",
        "quiet": "somebody asked for quiet; it waits in the pending list",
        "switched_off": "asking about unassigned jobs is switched off",
        "low_confidence_no_brain": "it was not certain enough, and nothing known supports it",
    }
)

_STANDS: Mapping[ActionStatus, str] = MappingProxyType(
    {
        ActionStatus.PENDING: "waiting",
        ActionStatus.SUPERSEDED: "replaced by a newer one",
        ActionStatus.WITHDRAWN: "no longer true, so withdrawn",
        ActionStatus.EXPIRED: "nobody approved it in time",
        ActionStatus.REJECTED: "dismissed",
    }
)

_DOUBTS: Mapping[str, str] = MappingProxyType(
    {
        Doubt.NO_SUBJECT: "it was unclear whom or what it is for",
        Doubt.NO_OWNER: "it was unclear who does it",
        Doubt.SEVERAL_TIMES: "it mentions more than one time",
        Doubt.FAINT: "it was unclear whether anything is being arranged",
        Doubt.UNPLACED: "it was unclear what will happen",
    }
)
_EFFECTS: Mapping[str, str] = MappingProxyType(
    {
        "opened": "saw a plan, saved for approval ({card})",
        "agreed": "agrees with what is waiting for approval ({card})",
        "corrected": "understood it differently, so a corrected card is waiting ({card})",
        "offered": "understood it differently, so a card shows both versions ({card})",
        "withdrawn": "understood that the plan is off, so a card was withdrawn ({card})",
        "left": "saw something that changes nothing",
    }
)

_NO_ANSWERS: Mapping[str, str] = MappingProxyType(
    {
        Outcome.TIMEOUT: "took too long",
        Outcome.INVALID_OUTPUT: "answered in the wrong format",
        Outcome.TRUNCATED: "gave an incomplete answer",
        Outcome.REFUSED_BY_MODEL: "refused to answer",
        Outcome.UNREACHABLE: "could not be reached",
        Outcome.OVER_BUDGET: "was not asked, because the budget is used up or the conversation is too long",
        Outcome.PUBLIC_HOST: "was not asked, because it is on a public host",
        Outcome.CIRCUIT_OPEN: "was not asked, because it had just failed several times",
        Outcome.OVERLOADED: "was too busy",
        Outcome.SERVER_ERROR: "failed while answering",
        Outcome.REJECTED: "rejected the request (`kinkeeper doctor` checks its settings)",
    }
)


def person_name(member_id: str, household: Household) -> str:
    """Return a name; of somebody who is no member, what they were called."""
    member = household.member(member_id)
    return member.name if member else f"{member_id} (a guest)"


def people(member_ids: Iterable[str], household: Household) -> str:
    """Return names joined: "Leo and Mia"."""
    return " and ".join(person_name(member, household) for member in member_ids)


def instant(at: datetime, household: Household) -> str:
    """Return a local day and time as the region writes them: "Thu 5 Mar 2026 16:00"."""
    local = at.astimezone(household.zone)
    return f"{day(local.date(), household)} {time_text.clock(local.time(), household.locale)}"


def day(of: date, household: Household) -> str:
    """Return a day as the region writes it: "Thu 5 Mar 2026", "Thu Mar 5 2026"."""
    return f"{time_text.day_with_weekday(of, household.locale)} {of.year}"


def gate_numbers(value: float | None, threshold: float) -> str:
    """Return a gate's numbers: "0.85, 0.60 needed"."""
    scored = "no score" if value is None else f"{value:.2f}"
    return f"{scored}, {threshold:.2f} needed"


def families(found: Sequence[str]) -> str:
    """Return the pattern families that were found, in words."""
    if not found:
        return "none of the usual signs"
    return ", ".join(_FAMILIES.get(name, name.replace("_", " ")) for name in found)


def understood(extraction: Mapping[str, Any], household: Household) -> str:
    """Return an extraction in words: "fetching, Leo, soccer, Thu 5 Mar 2026, 15:00, by Sarah"."""
    owners = [who for who in extraction["assigned_to"] if who != UNSPECIFIED]
    days = [day(date.fromisoformat(each), household) for each in extraction["dates"]]
    times = [time.fromisoformat(each) for each in extraction["times"]]
    parts = [
        _TASKS.get(extraction["task"] or "", ""),
        people(extraction["child"], household),
        (extraction["activity"] or "").replace("-", " "),
        ", ".join(days),
        ", ".join(time_text.clock(each, household.locale) for each in times),
        f"by {people(owners, household)}" if owners else "",
    ]
    return ", ".join(part for part in parts if part) or "nothing definite"


def consulted(asked: Consultation) -> str:
    """Return why a model was asked, and what came of it."""
    why = _DOUBTS.get(asked.doubt, asked.doubt.replace("_", " "))
    if asked.answer is None:
        trouble = _NO_ANSWERS.get(asked.outcome, f"failed ({asked.outcome.value})")
        return (
            f"A model should have helped, because {why}, but it {trouble}; the rules decided alone."
        )
    left = ""
    if asked.discarded:
        left = (
            f" {asked.discarded} of its values had no basis in the conversation and were left out."
        )
    said = "found a plan" if asked.answer.is_arrangement else "found none, so nothing was added"
    return f"Asked a model, because {why}; {asked.model} {said}.{left}"


def left_out(parts: int) -> str:
    """Return that so many parts of a message were not read."""
    what = "its last part was" if parts == 1 else f"its last {parts} parts were"
    return f"It contains too many plans at once; {what} left out."


def rule_words(name: str | None, facts: Mapping[str, Any], household: Household) -> str:
    """Return why a rule speaks, with what it collides with where that is known."""
    words = _RULES.get(name or "", name or "a rule asked for it")
    booked = facts.get("booked") or facts.get("slot")
    if not booked or not booked.get("start"):
        return words
    start = instant(datetime.fromisoformat(booked["start"]), household)
    return f"{words} ({', '.join(filter(None, [booked['label'], start]))})"


def silence(reason: str) -> str:
    """Return why nothing was said."""
    return _SILENCES.get(reason, reason.replace("_", " "))


def status_words(action: PendingAction) -> str:
    """Return where an action stands, in a few plain words."""
    if action.undone_at is not None:
        return "taken back"
    return _STANDS.get(action.status, action.status.value)


def talk(outcome: str, engine: str | None, effects: Sequence[Mapping[str, Any]]) -> str:
    """Return what a model that read the talk made of a message.

    Args:
        outcome: How its call ended.
        effects: What followed for the message.
    """
    if not engine:
        trouble = _NO_ANSWERS.get(Outcome(outcome), f"failed ({outcome})")
        return (
            f"A model should have read the conversation too, but it {trouble}; nothing was changed."
        )
    if not effects:
        return f"Read as part of the conversation by {engine}, which found no plan in it."
    done = [
        _EFFECTS[each["effect"]].format(card=(each["action"] or "")[:8]).strip() for each in effects
    ]
    return f"Read as part of the conversation by {engine}, which {'; '.join(done)}."


# Why a message was answered or not: the steps it took, as values and in plain words.
#
# Read from the records alone, so that what is told is what was decided. No word of the message is
# needed for it, and none is shown.

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
        score: In [0, 1]; None where none was produced.
        threshold: In [0, 1].
        passed: Whether the score reached it.
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
        sender: Member id, or the name as sent.
        steps: In the order they happened.
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
            stage=gate.stage,
            score=gate.score,
            threshold=gate.threshold,
            passed=bool(gate.passed),
            decision=gate.decision,
        )
        for gate in repository.gates_of(conn, household.id, row.id)
    }
    action = load_action(conn, household.id, row.action_id) if row.action_id else None
    stretch = repository.read_with(conn, household.id, row.chat_id, row.id)
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
            table.household == household.id,
            table.chat_id == row.chat_id,
            table.message_id == row.attribution_source,
        )
    ).first()
    if source is None:
        return ""
    person = person_name(source.sender, household)
    return f" (from {person}, {instant(source.sent_at, household)})"


def _ladder(
    row: Row[Any],
    gates: Mapping[str, GateReading],
    action: PendingAction | None,
    household: Household,
    *,
    answered: str,
) -> Iterator[Step]:
    when = instant(row.sent_at, household)
    sender = person_name(row.sender, household)
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
        yield Step(stage="model", mark=mark, text=consulted(asked))
    if row.unread_parts:
        yield Step(stage="length", mark=Mark.NOTED, text=left_out(row.unread_parts))
    is_clear, step = _extraction(row, gates, household)
    yield step
    if is_clear:
        yield from _brain(row, gates)
        yield _verdict(row, household)
    if action is not None:
        status = status_words(action)
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
    text = talk(stretch.outcome, stretch.engine, effects)
    yield Step(stage="model", mark=Mark.PASSED if effects else Mark.NOTED, text=text)


def _tripwire(row: Row[Any], gates: Mapping[str, GateReading]) -> Iterator[Step]:
    gate = gates.get(Stage.TRIPWIRE.value)
    passed = gate is None or gate.passed
    threshold = gate.threshold if gate else 0.0
    is_queued = row.tier1_decision == "QUEUE"
    numbers = gate_numbers(row.tripwire_confidence, threshold)
    what = "Sounds" if passed else "Does not sound"
    found = families(row.tripwire_patterns)
    rest = "" if is_queued else " It was not processed further."
    yield Step(
        stage="tripwire",
        mark=Mark.PASSED if passed else Mark.NOTED if is_queued else Mark.STOPPED,
        text=f"{what} like a plan ({numbers}): {found}{_from_thread(row)}.{rest}",
    )
    if row.override is not None:
        yield Step(
            stage="override",
            mark=Mark.PASSED,
            text="It may answer an open question, so it was read regardless of its score.",
        )
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
    score = gate_numbers(gate.score, gate.threshold)
    if row.attribution_source and gate.passed:
        owners = [who for who in row.extraction["assigned_to"] if who != "unspecified"]
        takes = f"; {people(owners, household)} takes it" if owners else ""
        text = f"Answers message {row.attribution_source}{answered}{takes} ({score})."
        yield Step(stage="attribution", mark=Mark.PASSED, text=text)
    else:
        text = f"Sounds like an answer, but no open question matches it ({score})."
        yield Step(stage="attribution", mark=Mark.STOPPED, text=text)


def _extraction(
    row: Row[Any], gates: Mapping[str, GateReading], household: Household
) -> tuple[bool, Step]:
    gate = gates.get(Stage.EXTRACTION.value)
    what = understood(row.extraction, household)
    score = gate_numbers(gate.score, gate.threshold) if gate else "no score"
    if row.redline_decision is not None:
        return True, Step(
            stage="extraction", mark=Mark.PASSED, text=f"Understood: {what} ({score})."
        )
    rest = "" if row.action_id else " It was not processed further."
    return False, Step(
        stage="extraction",
        mark=Mark.STOPPED,
        text=f"Not clear enough to act on: {what} ({score}).{rest}",
    )


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
        score = gate_numbers(gate.score, gate.threshold)
        text = f"Checked what is known: {questions} (relevance {score})."
    else:
        score = gate_numbers(gate.score, gate.threshold)
        text = f"Checked what is known ({questions}); nothing relevant ({score})."
    yield Step(stage="brain", mark=Mark.PASSED if gate.passed else Mark.NOTED, text=text)


def _verdict(row: Row[Any], household: Household) -> Step:
    if row.redline_decision == "SPEAK":
        rule = rule_words(row.redline_trigger_rule, row.redline_facts or {}, household)
        text = f"Spoke because {rule}{f': {row.reply}' if row.reply else '.'}"
        return Step(stage="redline", mark=Mark.PASSED, text=text)
    why = silence(row.reason)
    until = ""
    if row.speak_at is not None:
        until = f" If nobody takes it, the group is asked on {instant(row.speak_at, household)}."
    return Step(stage="redline", mark=Mark.STOPPED, text=f"Stayed silent: {why}.{until}")
