"""Which open question a reply answers, and what a short answer does to the job. Pure."""

import re
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
from kinkeeper.observer.wording.message_view import Reading, grammar
from kinkeeper.reading.replies import ReplyKind

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
    extraction: Extraction, reply: Reply, questions: Sequence[OpenQuestion], *, threshold: float
) -> AttributionOutcome:
    """Find the open question that a reply answers.

    Args:
        extraction: What the reply says on its own.
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
    """Whether a job is to fetch somebody from what was announced: a thing beside it, after it."""
    return (
        extraction.task is Task.PICKUP
        and told.stance is Stance.STATES
        and told.task in {Task.APPOINTMENT, Task.ATTEND}
    )


def completed_by(extraction: Extraction, job: Extraction) -> Extraction:
    """Fill in what a message leaves open from the job that it is about.

    Args:
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


# What a short answer does to a job: hands it on, frees somebody of it, takes it back, accepts an
# offer. Pure.

_ONLY_TO_OFFERS = frozenset({ReplyKind.HAND, ReplyKind.ACKNOWLEDGE})
_READ_ANEW = frozenset({Stance.STATES, Stance.ACCEPTS})
_QUOTATION = re.compile(r"\"[^\"]+\"|\u201c[^\u201d]+\u201d")
_REFUSING = re.compile(
    r"<adult> (?:(?:just|now|also|really|actually|probably|sadly|unfortunately|said|says|he|she|that) )*"
    r"(?:(?:can|will|could|is|does|may|might|would) not|is (?:sick|ill|away|stuck|busy|working|out of)|has to work)"
)
_SPOKEN_TO = re.compile(r"(?:^|, |[.!] )(?P<adult><adult>)(?= ?,| you| no need| do not| ?[.!]?$)")
_NOT_DONE = re.compile(
    r"(?<!\w)(?:i|we|<adult>|he|she|they) (?:did|was|were|had|has|have|do|does) not(?!\w)(?! (?:think|reckon|believe|feel|see|know|want)(?!\w))"
)
_DOES = re.compile(
    r"<adult>(?= (?:is|has|will|can|shall|could|would|does|got|gets|takes|said|offered)(?= |$))"
)
_WILL = re.compile(
    r"(?:^|[.!?,;] |(?<=so )|(?<=ok )|(?<=then )|(?<=and ))(?:i|we) (?:(?:will|can|could) (?:(?:just|then|probably|easily|happily|also) )*|go |come )"
    r"(?P<verb>[a-z]+)(?P<rest>[^.!?;]*)"
)
_OBJECT = re.compile(
    r"(?:^| )(?:(?:it|him|her|them|that|this|those|one|both)(?!\w)|(?:for|with|there|over|round|down|back|by|home|in|out)(?!\w)|the (?!same))"
)
_AND_DOES = re.compile(
    r"(?<!\w)(?:and|to) (?:go|do|take|get|fetch|bring|drive|come|grab|collect|be there|cover|pick)(?!\w)"
)
_PRESENT = re.compile(
    r" (?:there|here|around|about|home|in|free|over|down|up|round|with (?:him|her|them|you)|at (?:the|<place>|<act>))(?!\w)(?! (?:late|a meeting|bed|town|touch))| ?$"
)
_ANY_WAY = re.compile(
    r"(?<!\w)(?:grab|grabbing|get|getting|have|having|swing by|bring|bringing)(?!\w)"
)
_BRIEF = 10
"""Most words and marks of a refusal that names no job."""

_DROPPING = re.compile(r"(?<!\w)drop")
_GOING_BACK = re.compile(
    r"(?<!\w)(?:after all|any ?more|no longer|(?:has|have|is)? ?c[ao]me up|turns out|let you down|that is me out|(?:hand|give|pass)(?:ing)? [^.]{1,30} (?:back|over) to|back out|pull out|drop out|bail|double booked)(?!\w)"
)


def as_answer(reading: Reading, extraction: Extraction) -> Extraction:
    """Return what a message says, once it is read as the answer that its words make it.

    Returns:
        The extraction; of "ignore me" or "no need" nothing but the stance, of "you take him" and
        "that'd be lovely" an acceptance, which counts only towards an offer.
    """
    reply = reading.reply
    if _only_quotes(reading):
        # What a joke or a message from elsewhere says is nobody's word here.
        return replace(_without_owner(extraction, Stance.STATES), is_coordination=False)
    if reply is None:
        return extraction
    if (reply.kind is ReplyKind.RELEASE and not _calls_off(extraction)) or (
        reply.kind is ReplyKind.WITHDRAW and not _names_something(reading)
    ):
        return _without_owner(extraction, Stance.WITHDRAWS)
    if (
        reply.kind is ReplyKind.HAND
        and not extraction.named_dates
        and not (extraction.owners and _names_something(reading))
        and not reading.asks_for_owner
    ):
        return replace(_without_owner(extraction, Stance.ACCEPTS), task=None, is_coordination=False)
    if reply.kind is ReplyKind.ASSIGN and extraction.stance in _READ_ANEW:
        return replace(extraction, stance=Stance.ASSIGNS, assigned_to=_one_who_does(reading))
    if reply.kind is ReplyKind.ACKNOWLEDGE and reply.is_whole:
        return replace(extraction, stance=Stance.ACCEPTS)
    return extraction


def accepts_offers_only(reading: Reading) -> bool:
    """Whether an acceptance is one only of what somebody offered to do: "you take him", "that'd be great"."""
    return reading.reply is not None and reading.reply.kind in _ONLY_TO_OFFERS


def begins_with_yes(reading: Reading, *, to_offer: bool) -> bool:
    """Return whether a message begins with a yes and goes on to something else.

    Args:
        reading: The message, or a part of it.
        to_offer: Whether it would answer an offer, to which "would you?" and thanks are a yes as well.
    """
    reply = reading.reply
    if reply is None or reply.is_whole:
        return False
    return reply.kind is ReplyKind.ACCEPT or (to_offer and reply.kind is ReplyKind.ACKNOWLEDGE)


def hands_over(reading: Reading) -> bool:
    """Whether the sender leaves a job to the person spoken to."""
    return reading.reply is not None and reading.reply.kind is ReplyKind.HAND


def frees_somebody(reading: Reading) -> bool:
    """Whether the sender frees another of a job that is not needed any more."""
    return reading.reply is not None and reading.reply.kind is ReplyKind.RELEASE


def loosened(reading: Reading, extraction: Extraction) -> Extraction:
    """Return what a message says if it answers something open, which takes less than if it stood alone.

    The task is left open where the verb tells not which way ("i'll bring her" also answers a pickup), and whoever
    says that they will do whatever it is takes it on ("i'll shift it", "i'll come for you").
    """
    if extraction.stance in _READ_ANEW and not extraction.is_coordination and _does_it(reading):
        return replace(extraction, stance=Stance.CLAIMS)
    is_open = extraction.activity is None and extraction.location is None
    is_vague = is_open and (
        (extraction.task is Task.DROPOFF and not _DROPPING.search(reading.skeleton))
        or (extraction.task is Task.PICKUP and _ANY_WAY.search(reading.skeleton) is not None)
    )
    return replace(extraction, task=None) if is_vague else extraction


def refuser(reading: Reading, sender: str) -> str:
    """Return who steps back: the adult of whom it is said ("John can't make it"), else the sender."""
    match = _REFUSING.search(reading.skeleton)
    person = reading.mention_at(match.start()) if match else None
    return person.id if person else sender


def goes_back_on(reading: Reading) -> bool:
    """Whether the words themselves say that something promised does not hold: "can't after all"."""
    return _GOING_BACK.search(reading.skeleton) is not None


def refuses_a_job(reading: Reading) -> bool:
    """Whether a refusal can be the stepping back from a job: it is brief, or says so, or names the job or its day.

    What was not done ("i didn't drop them") and a "no" in a long story are neither.
    """
    if goes_back_on(reading):
        return True
    if _NOT_DONE.search(reading.skeleton):
        return False
    return _names_something(reading) or len(reading.symbols) <= _BRIEF


def freed(reading: Reading) -> str | None:
    """Return the adult that a message frees of a job, if it is said to one by name."""
    match = _SPOKEN_TO.search(reading.skeleton)
    person = reading.mention_at(match.start("adult")) if match else None
    return person.id if person else None


def _does_it(reading: Reading) -> bool:
    """Whether the sender says that they will do something to it, them or "the ...", whatever the verb."""
    if reading.is_question or reading.of_kind("activity", "generic"):
        return False
    match = _WILL.search(reading.skeleton)
    if match is None or match["verb"] in grammar().no_deeds:
        return False
    if match["verb"] == "be":
        return _PRESENT.match(match["rest"]) is not None
    return (_OBJECT.search(match["rest"]) or _AND_DOES.search(match["rest"])) is not None


def _one_who_does(reading: Reading) -> tuple[str, ...]:
    """The adult of whom it is said that they do it, not the one it is said to ("never mind Ann, Ben has it")."""
    match = _DOES.search(reading.skeleton)
    person = reading.mention_at(match.start()) if match else None
    named = [person] if person else reading.of_kind("adult")[:1]
    return tuple(mention.id for mention in named)


def _calls_off(extraction: Extraction) -> bool:
    """Whether it says that the thing itself does not take place: "no need, choir is off"."""
    return extraction.task is Task.CANCEL and extraction.activity is not None


def _only_quotes(reading: Reading) -> bool:
    """Whether there are words around a quotation, and all that could be arranged stands inside it."""
    quotations = [match.span() for match in _QUOTATION.finditer(reading.text)]
    outside = _QUOTATION.sub(" ", reading.text)
    if not quotations or not re.search(r"\w", outside):
        return False
    named = [(m.start, m.end) for m in reading.mentions] + [
        (span.start_char, span.end_char) for span in reading.spans
    ]
    return bool(named) and all(
        any(start <= first and last <= end for start, end in quotations) for first, last in named
    )


def _names_something(reading: Reading) -> bool:
    return bool(reading.spans or reading.of_kind("child", "group", "activity", "generic"))


def _without_owner(extraction: Extraction, stance: Stance) -> Extraction:
    return replace(
        extraction, stance=stance, assigned_to=(UNSPECIFIED,), addressee=None, yields=False
    )
