"""What stood before and a message is about: the open question it answers, the claim it changes. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from kinkeeper.actions.model import PendingAction
from kinkeeper.core.messages import MessageKind
from kinkeeper.household.model import Household, Role
from kinkeeper.observer.answers.attribution import (
    AttributionOutcome,
    Reply,
    accepts_offers_only,
    are_same_task,
    attribute,
    begins_with_yes,
    completed_by,
    freed,
    frees_somebody,
    goes_back_on,
    hands_over,
    loosened,
    refuser,
    refuses_a_job,
)
from kinkeeper.observer.cards.retraction import (
    claim_corrected,
    claim_given_up,
    claim_taken_over,
    is_left_open,
    is_restated,
    is_same_day,
)
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.extraction.prepared import Part, Prepared
from kinkeeper.observer.model import (
    UNSPECIFIED,
    CoordinationType,
    Extraction,
    OpenQuestion,
    Stance,
    Task,
    extraction_from_record,
)
from kinkeeper.observer.redline.case import names
from kinkeeper.observer.schedule import Schedule, Slot
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants

_PROMISE_HOLDS = timedelta(hours=12)
_TRANSPORT = frozenset({Task.PICKUP, Task.DROPOFF})


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A claim that stood before, and what the message says once it is read together with it.

    Attributes:
        action: The claim, where it is still a proposal.
        slot: The claim, where a person has confirmed it.
        leaving: Who is out of it now.
    """

    extraction: Extraction
    action: PendingAction | None = None
    slot: Slot | None = None
    leaving: tuple[str, ...] = ()


def concerned(
    prepared: Prepared,
    part: Part,
    extraction: Extraction,
    *,
    pending: Sequence[PendingAction],
    schedule: Schedule,
    participants: Participants,
    window: timedelta,
    own_questions: Sequence[OpenQuestion] = (),
) -> Standing:
    """Find the claim that a message gives up, frees somebody of, takes over or corrects.

    Args:
        extraction: What it says; it answers no open question.
        pending: Open proposals, oldest first.
        schedule: The days it names, or the coming week.
        window: How long ago a claim may be that it does not name.
        own_questions: What its sender has asked and nobody has taken, newest first.

    Returns:
        The claim with the extraction filled in from it; the extraction as it was where there is none.
    """
    owned = replace(extraction, assigned_to=part.extraction.assigned_to)
    given = loosened(part.reading, owned)
    since = prepared.sent_at - window
    people = _who_steps_out(prepared, part.reading, extraction, participants.household)
    if people:
        return _stepped_out(
            prepared,
            part.reading,
            extraction,
            given,
            people=people,
            pending=pending,
            schedule=schedule,
            household=participants.household,
            since=since,
        )
    if extraction.stance is Stance.ASKS:
        return _asked_anew(prepared, extraction, pending, own_questions)
    kept = _own_claim_of_today(prepared, extraction, pending)
    if kept is not None:
        return Standing(extraction=replace(kept, entities=extraction.entities, attribution=None))
    action = claim_taken_over(given, pending, since=since) or claim_corrected(
        given, pending, sender=prepared.stored.message.sender, since=since
    )
    others = [m.id for m in participants.household.adults if m.id not in given.owners]
    is_taken_over = given.yields and bool(given.owners) and _says_which(given)
    slot = _care_of(given, schedule, others) if is_taken_over and action is None else None
    found = _standing(extraction, prepared, action, slot)
    if not found.leaving:
        return found
    carried_on = replace(
        completed_by(given, found.extraction), stance=extraction.stance, yields=True
    )
    return replace(found, extraction=carried_on)


def _stepped_out(
    prepared: Prepared,
    reading: Reading,
    extraction: Extraction,
    given: Extraction,
    *,
    people: Collection[str],
    pending: Sequence[PendingAction],
    schedule: Schedule,
    household: Household,
    since: datetime,
) -> Standing:
    """The claim that somebody gives up or is freed of, left open, over, or the other's."""
    is_named = _says_which(given) or goes_back_on(reading)
    if extraction.stance is Stance.DECLINES and not refuses_a_job(reading):
        return Standing(extraction=extraction)
    if not is_named:
        # "No need" right after "shall I bring snacks?" is about the snacks.
        since = max(since, prepared.talked_since or since)
        pending = [action for action in pending if action.created_at >= since]
    action = claim_given_up(given, pending, people=people)
    slot = _care_of(given, schedule, people) if is_named and action is None else None
    if action is None and slot is None and is_left_open(given, pending):
        return Standing(extraction=replace(extraction, is_coordination=False))
    found = _standing(extraction, prepared, action, slot)
    left = _left(found.extraction, extraction, is_over=frees_somebody(reading))
    leaving = tuple(person for person in found.leaving if person in people)
    if leaving and hands_over(reading):
        left = _given_to_the_other(left, leaving, household)
    return replace(found, extraction=left, leaving=leaving) if leaving else found


def _asked_anew(
    prepared: Prepared,
    extraction: Extraction,
    pending: Sequence[PendingAction],
    own_questions: Sequence[OpenQuestion],
) -> Standing:
    """Whoever has a job and asks somebody to do it is out of it; what they leave unsaid is as it was."""
    sender = prepared.stored.message.sender
    is_offer = extraction.addressee == sender
    if is_offer:
        return Standing(extraction=extraction)
    if not _says_which(extraction):
        return _handed_back(prepared, extraction, pending)
    action = None
    if extraction.seeks_owner:
        action = claim_given_up(extraction, pending, people={sender})
    if action is not None:
        job = extraction_from_record(action.proposal.extraction)
        if job.owners == (sender,) and is_restated(extraction, job):
            return Standing(
                extraction=completed_by(extraction, job), action=action, leaving=(sender,)
            )
    if extraction.child or extraction.activity:
        return Standing(extraction=extraction)
    asked = next((q for q in own_questions if is_same_day(extraction, q.extraction)), None)
    return Standing(extraction=completed_by(extraction, asked.extraction) if asked else extraction)


def _own_claim_of_today(
    prepared: Prepared, extraction: Extraction, pending: Sequence[PendingAction]
) -> Extraction | None:
    """The job that its owner is at just now ("leaving to get Ben", "got him"), which is no second one."""
    sender, today = prepared.stored.message.sender, prepared.sent_at.date()
    if extraction.stance is not Stance.CLAIMS or extraction.owners != (sender,):
        return None
    if extraction.dates or extraction.times or extraction.yields or extraction.task is None:
        return None
    jobs = (extraction_from_record(action.proposal.extraction) for action in reversed(pending))
    return next(
        (
            job
            for job in jobs
            if job.owners == (sender,)
            and today in job.dates
            and _is_at_it(extraction, job)
            and extraction.activity in {None, job.activity}
            and (not names(extraction, "child", "group") or set(extraction.child) <= set(job.child))
        ),
        None,
    )


def _is_at_it(extraction: Extraction, job: Extraction) -> bool:
    """Whether what somebody does just now can be their job: who is to bring a pet fetches it first."""
    is_of_nobody = not names(extraction, "child", "group")
    return job.task == extraction.task or (
        is_of_nobody and {job.task, extraction.task} <= _TRANSPORT
    )


def _handed_back(
    prepared: Prepared, extraction: Extraction, pending: Sequence[PendingAction]
) -> Standing:
    """Whoever asks another to do "it" instead, and has a job, means the last one they took."""
    sender = prepared.stored.message.sender
    since = prepared.sent_at - _PROMISE_HOLDS
    if not extraction.yields or extraction.stance is not Stance.ASKS:
        return Standing(extraction=extraction)
    recent = [action for action in pending if action.created_at >= since]
    action = claim_given_up(extraction, recent, people={sender})
    if action is None:
        return Standing(extraction=extraction)
    job = extraction_from_record(action.proposal.extraction)
    given = replace(extraction, yields=False)
    return Standing(extraction=completed_by(given, job), action=action, leaving=(sender,))


def may_mean_unnamed(reading: Reading, extraction: Extraction) -> bool:
    """Whether a message may concern a claim whose day and subject it does not name."""
    is_out = extraction.stance in {Stance.DECLINES, Stance.WITHDRAWS, Stance.ASSIGNS}
    return is_out or extraction.yields or hands_over(reading)


def _standing(
    extraction: Extraction, prepared: Prepared, action: PendingAction | None, slot: Slot | None
) -> Standing:
    """The claim found, with what it said; what the message says where none was."""
    if action is not None:
        job = extraction_from_record(action.proposal.extraction)
    elif slot is not None:
        job = _job_of_care(slot, prepared.sent_at)
    else:
        return Standing(extraction=extraction)
    return Standing(extraction=job, action=action, slot=slot, leaving=job.owners)


def _who_steps_out(
    prepared: Prepared, reading: Reading, extraction: Extraction, household: Household
) -> Collection[str]:
    """Return who may be out of a job by this message; of several, whoever has one."""
    sender = prepared.stored.message.sender
    if extraction.stance is Stance.DECLINES:
        return {refuser(reading, sender)}
    if extraction.stance is Stance.WITHDRAWS and frees_somebody(reading):
        named = freed(reading)
        return {named} if named else {adult.id for adult in household.adults} - {sender}
    if extraction.stance is Stance.ACCEPTS and hands_over(reading):
        return {sender}
    return set()


def _says_which(extraction: Extraction) -> bool:
    return bool(extraction.named_dates or extraction.child or extraction.activity)


def _left(job: Extraction, extraction: Extraction, *, is_over: bool) -> Extraction:
    """The job that somebody leaves: open, unless it is over."""
    return replace(
        job,
        stance=Stance.WITHDRAWS if is_over else Stance.DECLINES,
        assigned_to=(UNSPECIFIED,),
        addressee=None,
        entities=extraction.entities,
        attribution=None,
        yields=False,
        brain_queries=extraction.brain_queries,
    )


def _given_to_the_other(
    job: Extraction, leaving: Sequence[str], household: Household
) -> Extraction:
    """The job of somebody who says "you take her then": the only other adult's, else open."""
    others = [adult.id for adult in household.adults if adult.id not in leaving]
    if len(others) != 1:
        return job
    return replace(job, stance=Stance.ASSIGNS, assigned_to=(others[0],), yields=True)


def _care_of(extraction: Extraction, schedule: Schedule, people: Collection[str]) -> Slot | None:
    """The confirmed care of one of these people that is meant, if it can only be one."""
    days = extraction.named_dates or sorted({slot.day for slot in schedule.slots})
    found = [
        slot
        for slot in schedule.claimed(days)
        if slot.event_id is not None
        and slot.action_id is None
        and any(person in people for person in slot.responsible)
        and are_same_task(extraction.task, Task(slot.task) if slot.task else None)
        and (not extraction.child or not slot.who or set(extraction.child) & set(slot.who))
        and extraction.activity in {None, slot.activity}
    ]
    return found[0] if len(found) == 1 else None


def _job_of_care(slot: Slot, sent_at: datetime) -> Extraction:
    """What a confirmed care says, in the form of a message."""
    task = Task(slot.task) if slot.task else None
    start = slot.interval.start.astimezone(sent_at.tzinfo).time() if slot.interval else None
    kind = CoordinationType.TRANSPORT if task in _TRANSPORT else CoordinationType.CARE_COVERAGE
    return Extraction(
        is_coordination=True,
        coordination_type=kind,
        task=task,
        dates=(slot.day,),
        times=(start,) if start else (),
        child=slot.who,
        activity=slot.activity,
        assigned_to=slot.responsible,
        confidence=0.85,
    )


# Which open question a part of a message answers. Pure.


def attribute_part(
    prepared: Prepared, part: Part, asked: Sequence[OpenQuestion], config: ObserverConfig
) -> AttributionOutcome:
    """Return which of these questions a part of a message answers, if any; what sets right answers none."""
    if part.corrects:
        return AttributionOutcome(extraction=part.extraction, question=None, gate=None)
    message, member = prepared.stored.message, prepared.member
    is_reaction = message.kind is MessageKind.REACTION
    given = loosened(part.reading, part.extraction)
    pointed_at = message.target if is_reaction else message.reply_to
    if given.stance is Stance.ACCEPTS:
        # A yes is for none that its sender has refused, unless it points at that one.
        asked = [q for q in asked if q.message_id not in prepared.refused - {pointed_at}]
    if asked and _says_yes(part.reading, asked[0], sender=message.sender):
        # Whatever follows it ("Yes I can. Does Ben come with us?"), it is the answer.
        given = Extraction(is_coordination=False, stance=Stance.ACCEPTS)
    reply = Reply(
        sender=message.sender,
        is_assignable=member is not None and member.role is not Role.CHILD,
        answers=pointed_at if is_reaction else pointed_at or part.answers,
        is_reaction=is_reaction,
        only_offers=given.stance is Stance.ACCEPTS and accepts_offers_only(part.reading),
        talked_since=prepared.talked_since,
    )
    outcome = attribute(given, reply, asked, threshold=config.attribution_threshold)
    if outcome.question is None and given is not part.extraction:
        return attribute(part.extraction, reply, (), threshold=config.attribution_threshold)
    return outcome


def _says_yes(reading: Reading, question: OpenQuestion, *, sender: str) -> bool:
    """Whether the one who was asked, or to whom something was offered, begins with a yes."""
    addressee = question.extraction.addressee
    is_offer = addressee == question.asker != sender
    return (is_offer or addressee == sender) and begins_with_yes(reading, to_offer=is_offer)
