"""Which open question a reply answers, and what it inherits from it. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from kinkeeper.core.gates import ConfidenceType, GateDecision, GateResult, Stage
from kinkeeper.observer.model import (
    OF_READERS_ALONE,
    OWN_WORDS,
    TITLE,
    UNSPECIFIED,
    Attribution,
    Entity,
    Extraction,
    OpenQuestion,
    Stance,
    Task,
)

MATCHED = 0.85
UNMATCHED = 0.3
_ANSWERS = frozenset({Stance.CLAIMS, Stance.ACCEPTS, Stance.DECLINES, Stance.ASSIGNS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A message as far as attribution looks at it.

    Attributes:
        sender: Member id, or the name as sent.
        is_assignable: Whether the sender may be given a job (a known adult).
        answers: Message id it explicitly replies or reacts to, if any.
        is_reaction: Whether it is a reaction; those answer their target alone.
        only_offers: Whether it accepts nothing but an offer ("that'd be great", "you do it then").
        talked_since: When somebody else last asked anything; a bare yes does not reach past that.
    """

    sender: str
    is_assignable: bool
    answers: str | None
    is_reaction: bool
    only_offers: bool = False
    talked_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionOutcome:
    """What attribution found.

    Attributes:
        extraction: With the inherited fields, where a question matched.
        question: Question that is answered, if any.
        gate: Its gate result; None where the message is no reply.
    """

    extraction: Extraction
    question: OpenQuestion | None
    gate: GateResult | None


def attribute(
    extraction: Extraction,
    reply: Reply,
    questions: Sequence[OpenQuestion],
    *,
    threshold: float,
) -> AttributionOutcome:
    """Find the open question that a reply answers.

    Args:
        extraction: What the reply says on its own.
        reply: Who replied, to what, when.
        questions: Open questions of the chat, newest first, still answerable when it was sent.
        threshold: Gate threshold in [0, 1].

    Returns:
        The extraction with assignee and inherited fields, the question, and the gate's result.
    """
    if extraction.stance not in _ANSWERS:
        return AttributionOutcome(extraction=extraction, question=None, gate=None)
    question = _matching(extraction, reply, questions)
    if question is None:
        if extraction.is_coordination or extraction.stance is Stance.ASSIGNS:
            return AttributionOutcome(extraction=extraction, question=None, gate=None)
        if reply.only_offers:
            return AttributionOutcome(extraction=extraction, question=None, gate=None)
        unmatched = replace(
            extraction,
            assigned_to=(UNSPECIFIED,),
            attribution=Attribution(source_message_id=None, confidence=UNMATCHED),
        )
        return AttributionOutcome(
            extraction=unmatched, question=None, gate=_gate(UNMATCHED, threshold)
        )
    if threshold > MATCHED:
        return AttributionOutcome(
            extraction=extraction, question=None, gate=_gate(MATCHED, threshold)
        )
    return AttributionOutcome(
        extraction=_inherit(extraction, reply, question),
        question=question,
        gate=_gate(MATCHED, threshold),
    )


def _gate(score: float, threshold: float) -> GateResult:
    return GateResult(
        stage=Stage.ATTRIBUTION,
        confidence_type=ConfidenceType.ATTRIBUTION_SCORE,
        score=score,
        threshold=threshold,
        decision=GateDecision.PROCEED if score >= threshold else GateDecision.DROP,
    )


def _matching(
    extraction: Extraction, reply: Reply, questions: Sequence[OpenQuestion]
) -> OpenQuestion | None:
    if reply.answers is not None:
        targeted = [q for q in questions if q.message_id == reply.answers]
        if targeted:
            return targeted[0] if _may_answer(extraction, reply, targeted[0]) else None
        if reply.is_reaction or extraction.stance is Stance.ACCEPTS:
            return None
    if reply.is_reaction:
        return None
    for question in questions:
        if _is_past_other_talk(extraction, reply, question):
            return None
        if (
            _may_answer(extraction, reply, question)
            and are_compatible(extraction, question.extraction)
            and not _is_another_matter(extraction, question.extraction)
        ):
            return question
    return None


def _is_another_matter(extraction: Extraction, told: Extraction) -> bool:
    """Whether what arranges a day or place of its own says nothing about what was merely announced."""
    if told.stance is not Stance.STATES or not extraction.is_coordination:
        return False
    if extraction.named_dates and told.dates and not set(extraction.dates) & set(told.dates):
        return True
    is_elsewhere = extraction.location is not None and extraction.location != told.location
    return is_elsewhere and bool(extraction.times) and extraction.activity is None


def _is_past_other_talk(extraction: Extraction, reply: Reply, question: OpenQuestion) -> bool:
    """Whether a yes that says nothing of the job would skip what somebody has asked since."""
    if extraction.stance is not Stance.ACCEPTS or is_specific(extraction):
        return False
    return reply.talked_since is not None and question.asked_at < reply.talked_since


def is_specific(extraction: Extraction) -> bool:
    """Whether an answer says anything of the job: whom, what or when."""
    return bool(extraction.child) or names_job(extraction)


def names_job(extraction: Extraction) -> bool:
    """Whether an answer says what is to be done or when, not only whom it is for."""
    return bool(extraction.activity or extraction.task or extraction.dates)


def _may_answer(extraction: Extraction, reply: Reply, question: OpenQuestion) -> bool:
    asked = question.extraction
    if reply.only_offers and not (asked.addressee == question.asker != reply.sender):
        return False
    if extraction.stance is Stance.ASSIGNS or extraction.stance is Stance.DECLINES:
        return extraction.stance is Stance.ASSIGNS or reply.sender != question.asker
    if not _may_be_given(reply, asked) and asked.addressee != question.asker:
        return False
    if extraction.stance is Stance.ACCEPTS:
        if reply.sender == question.asker or asked.stance is not Stance.ASKS:
            return False
        return asked.addressee in {None, reply.sender, question.asker}
    return True


def takes_up_by_name(extraction: Extraction, asked: Extraction, *, today: date) -> bool:
    """Return whether a message takes on, or gives away, a job that was asked for long before and is still to be done.

    Args:
        extraction: What the message says: the activity, or the child and what is to be done for them.
        asked: The job.
        today: Local.
    """
    if extraction.stance not in {Stance.CLAIMS, Stance.ASSIGNS} or not asked.dates:
        return False
    is_over = max(asked.dates) < today
    is_activity = extraction.activity is not None and extraction.activity == asked.activity
    is_child = bool(set(extraction.child) & set(asked.child)) and extraction.task == asked.task
    return not is_over and (is_activity or is_child) and are_compatible(extraction, asked)


def _may_be_given(reply: Reply, asked: Extraction) -> bool:
    """Whether a job can be the sender's: a grown-up's always, a child's if it was asked to, or an errand about the house."""
    return reply.is_assignable or asked.addressee == reply.sender or asked.task is Task.OTHER


def are_compatible(one: Extraction, other: Extraction) -> bool:
    """Whether two extractions can be about the same arrangement: nothing that both name differs."""
    if one.named_dates and other.named_dates and not set(one.dates) & set(other.dates):
        return False
    if one.activity and other.activity and one.activity != other.activity:
        return False
    if one.child and other.child and not set(one.child) & set(other.child):
        return False
    return are_same_task(one.task, other.task)


def are_same_task(one: Task | None, other: Task | None) -> bool:
    """Whether two tasks can be the same job; only pickup and dropoff exclude one another."""
    return {one, other} != {Task.PICKUP, Task.DROPOFF}


def fetches_from(extraction: Extraction, told: Extraction) -> bool:
    """Whether a job is to fetch somebody from what was announced: a thing beside it, after it.

    Args:
        extraction: The job.
        told: What it answers.
    """
    return (
        extraction.task is Task.PICKUP
        and told.stance is Stance.STATES
        and told.task in {Task.APPOINTMENT, Task.ATTEND}
    )


def completed_by(extraction: Extraction, job: Extraction) -> Extraction:
    """Fill in what a message leaves open from the job that it is about.

    Args:
        extraction: What the message says.
        job: What was asked for, or what stood before.
    """
    if fetches_from(extraction, job) and job.task is Task.APPOINTMENT:
        # When an appointment begins says nothing about when somebody is fetched from it.
        job = replace(job, times=(), time_ranges=())
    merged = replace(
        extraction,
        is_coordination=True,
        coordination_type=extraction.coordination_type or job.coordination_type,
        task=extraction.task or job.task,
        dates=extraction.named_dates or job.dates or extraction.dates,
        is_day_implied=extraction.is_day_implied and not job.dates,
        times=extraction.times or job.times,
        time_ranges=extraction.time_ranges or (() if extraction.times else job.time_ranges),
        child=extraction.child or job.child,
        activity=extraction.activity or job.activity,
        location=extraction.location or job.location,
        action_required=extraction.action_required or job.action_required,
        entities=(*extraction.entities, *_title(extraction, job)),
        extractor=job.extractor if job.extractor in OF_READERS_ALONE else extraction.extractor,
    )
    return replace(merged, confidence=max(extraction.confidence, _confidence(merged)))


def _title(extraction: Extraction, job: Extraction) -> Iterator[Entity]:
    """Yield what the job was called, where the message has no words for it: words from elsewhere, which go when its own do."""
    if extraction.activity is None and not any(e.type == TITLE for e in extraction.entities):
        for each in job.entities:
            if each.type in {OWN_WORDS, TITLE}:
                yield replace(each, type=TITLE, start=0, end=0)


def _inherit(extraction: Extraction, reply: Reply, question: OpenQuestion) -> Extraction:
    job = question.extraction
    if job.child and set(job.child) < set(extraction.child) and not names_job(extraction):
        # "Both" may mean two jobs as well as two children.
        extraction = replace(extraction, child=job.child)
    merged = completed_by(extraction, job)
    if job.is_in_own_words and merged.task is None:
        # Who says "I'll be in" after "the sweep comes at 2" sees to it; it is not theirs.
        merged = replace(merged, task=Task.OTHER)
    return replace(
        merged,
        assigned_to=_assignee(extraction, reply, question),
        attribution=Attribution(source_message_id=question.message_id, confidence=MATCHED),
    )


def _assignee(extraction: Extraction, reply: Reply, question: OpenQuestion) -> tuple[str, ...]:
    asked = question.extraction
    match extraction.stance:
        case Stance.DECLINES:
            return (UNSPECIFIED,)
        case Stance.ASSIGNS:
            return extraction.assigned_to
        case Stance.ACCEPTS if asked.addressee == question.asker:
            return (question.asker,)
        case _:
            return (reply.sender,) if _may_be_given(reply, asked) else (UNSPECIFIED,)


def _confidence(extraction: Extraction) -> float:
    score = 0.55 + 0.10 * bool(extraction.child) + 0.10 * bool(extraction.dates or extraction.times)
    score += 0.10 * bool(extraction.task or extraction.activity)
    return round(min(score, 0.95), 2)
