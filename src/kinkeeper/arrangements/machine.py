"""What a message makes of the arrangements: the state machine, act by act. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Final

from kinkeeper.arrangements.draft import (
    Draft,
    best_of,
    follow,
    freed,
    is_job,
    linked,
    standing,
    with_details,
)
from kinkeeper.arrangements.frame_grounding import grounding_of
from kinkeeper.arrangements.model import (
    JOBS,
    NEWS,
    Absence,
    Arrangement,
    Change,
    ChangeKind,
    Folded,
    Heard,
    State,
    Status,
    Told,
    When,
)
from kinkeeper.household.model import Household
from kinkeeper.reading.model import Act, Modality, Predicate

# What is told: plans, absences, cancellations, changes, corrections, and what is done.

_UNSURE: Final = frozenset({Modality.REPORTED, Modality.QUOTED, Modality.CONDITIONAL})
"""What outsiders are said to have said, or what depends on something, is agreed once the household takes it up."""
_ASIDE: Final = frozenset(
    {
        None,
        Predicate.LOOK_UP,
        Predicate.FACT,
        Predicate.FORGET,
        Predicate.PREFERENCE,
        Predicate.SETTINGS,
        Predicate.OTHER,
    }
)
"""Predicates that make no plan by themselves."""


def state(told: Told, draft: Draft) -> None:
    """Tell a plan, a fact, an absence or news."""
    if told.predicate is Predicate.ABSENCE:
        _tell_absence(told, draft)
    elif told.predicate is Predicate.CANCEL:
        cancel(told, draft)
    elif told.predicate in {Predicate.MOVE, Predicate.CHANGE}:
        tell_change(told, draft)
    elif told.predicate in _ASIDE:
        _tell_aside(told, draft)
    elif told.is_negated:
        _tell_refusal(told, draft)
    else:
        _tell_plan(told, draft)


def concerning(told: Told) -> Told:
    """Return an event with whom it concerns: those its words name, or the child who tells of it."""
    if told.who_for or is_job(told):
        return told
    is_own = told.is_from_child and told.modality is not Modality.QUOTED
    is_own = is_own or (told.is_of_speaker and told.modality not in _UNSURE)
    own = (told.speaker,) if is_own else ()
    return replace(told, who_for=told.whose or told.called or own)


def _tell_refusal(told: Told, draft: Draft) -> None:
    """Free a job of somebody who is said not to do it."""
    target = draft.target(told)
    if target is not None and {*told.who_does} & {*target.who_does}:
        draft.put(freed(target, {*told.who_does}, Status.PROPOSED), told)
    elif target is None and is_job(told) and told.who_does and told.when.days:
        draft.open(told)


def _tell_plan(told: Told, draft: Draft) -> None:
    target = draft.target(told)
    if target is not None and _is_more_of(told, target):
        draft.put(_with_owner(with_details(target, told), told), told)
        return
    told = concerning(told)
    status = Status.PROPOSED if told.modality in _UNSURE else Status.AGREED
    if is_job(told):
        status = Status.OWNED if told.who_does else Status.PROPOSED
    draft.open(told, who_does=told.who_does if is_job(told) else (), status=status)


def _is_more_of(told: Told, target: Arrangement) -> bool:
    """Tell whether a plan that is told is the one it seems to answer, not another beside it."""
    if target.is_job != is_job(told):
        return False
    is_other = bool(told.stems and target.stems) and not told.stems & target.stems
    return not (is_other and (is_job(told) or not told.when.meets(target.when)))


def _with_owner(known: Arrangement, told: Told) -> Arrangement:
    if not told.who_does or not known.is_job:
        is_taken_up = known.status is Status.PROPOSED and not known.is_job
        return replace(known, status=Status.AGREED) if is_taken_up else known
    return replace(known, who_does=told.who_does, settled=told.who_does, status=Status.OWNED)


def _tell_aside(told: Told, draft: Draft) -> None:
    """Let an answer to a question, or a lasting fact, fill in what an arrangement leaves open."""
    target = draft.target(told) if told.answers or told.item else None
    if target is not None and (told.when or told.where or told.who_does):
        draft.put(_with_owner(with_details(target, told), told), told)


def _tell_absence(told: Told, draft: Draft) -> None:
    people = told.who_for or told.who_does or (told.speaker,)
    new = [
        Absence(
            id=f"{told.id}.{number}",
            person=person,
            when=told.when,
            what=told.what,
            where=told.where,
            is_over=told.is_negated,
            evidence=(told.message,),
            p=told.p,
        )
        for number, person in enumerate(people)
    ]
    draft.state = replace(draft.state, absences=(*draft.state.absences, *new))


def cancel(told: Told, draft: Draft) -> None:
    """Call something off with the jobs for it, or say that it is not off."""
    target = draft.target(told)
    if target is not None and not told.may_change(target):
        return
    if told.is_negated:
        if target is not None:
            draft.put(replace(target, status=standing(target)), told)
        return
    if target is None:
        draft.open(concerning(replace(told, predicate=Predicate.EVENT)), status=Status.OFF)
        return
    draft.put(replace(target, status=Status.OFF), told)
    for job in [*draft.state.jobs_for(target)]:
        if job.status.is_open:
            draft.put(replace(job, status=Status.OFF), told)


def tell_change(told: Told, draft: Draft) -> None:
    """Tell another time, place or detail of something."""
    target = draft.target(told)
    if target is not None and not told.may_change(target):
        return
    is_move = told.predicate is Predicate.MOVE
    status = Status.MOVED if is_move else Status.AGREED
    if target is None:
        draft.open(concerning(replace(told, predicate=Predicate.EVENT)), status=status)
        return
    known = with_details(target, told)
    if told.who_does and target.is_job:
        known = replace(known, who_does=told.who_does, settled=told.who_does)
    if is_move or not target.status.is_open:
        known = replace(known, status=status)
    follow(target, draft.put(known, told), told, draft)


def amend_absence(told: Told, draft: Draft) -> None:
    """Mend or take back an absence that the same person told."""
    absences = tuple(
        replace(
            each,
            when=each.when.amended(told.when, was=told.was),
            is_over=each.is_over or told.act is Act.WITHDRAW or told.is_negated,
            evidence=(*each.evidence, told.message),
            p=min(each.p, told.p),
        )
        if told.answers in each.evidence and each.person in {told.speaker, *told.who_for}
        else each
        for each in draft.state.absences
    )
    draft.state = replace(draft.state, absences=absences)


def correct(told: Told, draft: Draft) -> None:
    """Mend a detail of something said."""
    if told.predicate is Predicate.ABSENCE:
        amend_absence(told, draft)
        return
    target = draft.target(told)
    if target is None:
        if told.answers is None and (told.stems or told.who_for) and told.when:
            who = told.who_does or ((told.speaker,) if is_job(told) else ())
            draft.open(told, who_does=who, status=Status.OWNED if who else Status.AGREED)
        return
    known = with_details(target, told)
    if told.who_for:
        known = replace(known, who_for=told.who_for)
    follow(target, draft.put(_with_owner(known, told), told), told, draft)


def report_done(told: Told, draft: Draft) -> None:
    """Say that something is done."""
    if told.is_negated:
        return
    if told.predicate is Predicate.CANCEL:
        cancel(told, draft)
        return
    if told.predicate in {Predicate.MOVE, Predicate.CHANGE}:
        tell_change(told, draft)
        return
    target = draft.target(told)
    who = told.who_does or (told.speaker,)
    if target is not None and target.is_job:
        known = replace(target, who_does=target.who_does or who, status=Status.DONE)
        draft.put(replace(known, when=_done_on(told, known, draft)), told)
    elif is_job(told):
        when = replace(told.when, days=told.when.days or told.said_days)
        draft.open(replace(told, when=when), who_does=who, status=Status.DONE)


def _done_on(told: Told, target: Arrangement, draft: Draft) -> When:
    """Return the time of a job that is done: its own day, that of its event once it has come, else the day on which it is told."""
    days = target.when.days or draft.state.whole(target).when.days
    if (not target.when.days and days[:1] > told.said_days) or not days:
        days = told.when.days or told.said_days
    return replace(target.when, days=days)


# Who has a job: asked for, offered, assigned, promised, accepted, declined, given back.

_TAKES = frozenset({Act.OFFER, Act.ASSIGN, Act.PROMISE})
_WANTS = frozenset({Act.ASK, Act.REQUEST, Act.STATE})
_SUGGESTS = frozenset({Act.ASK, Act.REQUEST, Act.OFFER})
_SURE: Final = 0.5
"""Chance from which a job counts as asked for again."""


def ask(told: Told, draft: Draft) -> None:
    """Ask who does something, or somebody to do it; another time that is only asked for waits for an answer."""
    if told.is_negated or (not is_job(told) and told.predicate is not Predicate.EVENT):
        return
    told = _concerning(told)
    target = draft.target(told)
    called = told.called if told.act is Act.REQUEST else ()
    asked = tuple(each for each in told.who_does or called if each != told.speaker)
    if target is not None and _is_same(told, target, draft):
        known = replace(with_details(target, told), asked=asked or target.asked)
        status = target.status if target.status.is_open else Status.PROPOSED
        draft.put(replace(known, status=status), told)
    else:
        draft.open(told, asked=asked)


def _concerning(told: Told) -> Told:
    """Return what is asked for with whom it concerns, where no slot tells: whom it names, else who asks for themselves."""
    if told.who_for or told.is_for_others or told.is_for_addressee or not _is_ride(told):
        return told
    called = tuple(each for each in told.called if each not in told.who_does)
    own = (told.speaker,) if told.is_of_speaker else ()
    return replace(told, who_for=(called if told.act is Act.ASK else ()) or own)


def _is_ride(told: Told) -> bool:
    """Tell whether a clause is about being with a person."""
    return told.predicate in {Predicate.PICKUP, Predicate.DROPOFF, Predicate.COVER}


def _is_same(told: Told, target: Arrangement, draft: Draft) -> bool:
    """Tell whether a clause about a job speaks of the one it seems to answer, not of another beside it."""
    if not target.is_job:
        return not is_job(told)
    whole = draft.state.whole(target)
    if told.who_for and whole.who_for and not {*told.who_for} & {*whole.who_for}:
        return False
    is_taken = bool(whole.who_does) and told.speaker not in whole.who_does
    if is_taken and (
        told.act is Act.PROMISE or not told.when.meets(whole.when) or _follows(told, whole)
    ):
        return False
    if not whole.who_does and told.act in _TAKES and _is_asked(draft.answered(told)):
        return True
    if told.predicate is None or told.predicate is target.predicate:
        return not (told.stems and target.stems) or bool(told.stems & target.stems)
    return told.act in _TAKES and (not told.stems or bool(told.stems & whole.stems))


def _is_asked(said: Sequence[Told]) -> bool:
    """Tell whether a message asked for one thing, so that whoever takes something in answer takes that."""
    asked = [each for each in said if each.act in _WANTS and is_job(each)]
    return len(asked) == 1


def _follows(told: Told, whole: Arrangement) -> bool:
    """Tell whether a clause speaks of the time after what somebody else has taken."""
    return bool(told.when.start and whole.when.end and told.when.start >= whole.when.end)


def _part(told: Told, target: Arrangement, draft: Draft) -> Arrangement:
    """Return the arrangement itself, or the part of it that a clause takes: one child of two, one day of several."""
    whole = draft.state.whole(target)
    people, days = {*told.who_for} & {*whole.who_for}, {*told.when.days} & {*whole.when.days}
    rest = replace(target)
    if people and len(people) < len(whole.who_for):
        rest = replace(rest, who_for=tuple(e for e in whole.who_for if e not in people))
        target = replace(target, who_for=told.who_for)
    if days and len(days) < len(whole.when.days):
        left = tuple(each for each in whole.when.days if each not in days)
        rest = replace(rest, when=replace(rest.when, days=left))
        target = replace(target, when=replace(target.when, days=tuple(sorted(days))))
    if (rest.who_for, rest.when) == (target.who_for, target.when) or target.who_does:
        return target
    draft.put(rest, told)
    return replace(target, id=told.id)


def offer(told: Told, draft: Draft) -> None:
    """Take a job, or say that one could: what others agreed to stays, what depends on something is no more than proposed."""
    if told.is_negated or told.predicate in NEWS:
        return
    who = told.who_does or (told.speaker,)
    is_sure = told.modality is not Modality.CONDITIONAL
    target = draft.target(told)
    if target is not None and target.is_job and _is_same(told, target, draft):
        target = _part(told, target, draft)
        owners = target.who_does if target.who_does and not is_sure else (*target.who_does, *who)
        known = replace(with_details(target, told), who_does=tuple(dict.fromkeys(owners)))
        status = Status.OWNED if is_sure or target.settled else Status.PROPOSED
        draft.put(replace(known, status=_kept(target, status)), told)
    elif told.stems or told.when or told.who_for or draft.about(told) or draft.answered(told):
        _open_offer(told, draft, who=who, is_sure=is_sure and bool(draft.answered(told)))


def _open_offer(told: Told, draft: Draft, *, who: tuple[str, ...], is_sure: bool) -> None:
    if told.predicate in JOBS or told.predicate is None:
        draft.open(told, who_does=who, status=Status.OWNED if is_sure else Status.PROPOSED)
    elif told.predicate is Predicate.EVENT:
        draft.open(told, status=Status.PROPOSED)


def _kept(target: Arrangement, status: Status) -> Status:
    return Status.MOVED if target.status is Status.MOVED else status


def assign(told: Told, draft: Draft) -> None:
    """Give a job to somebody."""
    if told.is_negated:
        return
    who = told.who_does or told.called
    target = draft.target(told)
    if target is not None and target.is_job and _is_same(told, target, draft):
        target = _part(told, target, draft)
        known = replace(with_details(target, told), who_does=who or target.who_does, asked=who)
        draft.put(replace(known, status=standing(known)), told)
    elif told.predicate in JOBS:
        draft.open(told, who_does=who, asked=who, status=Status.OWNED if who else Status.PROPOSED)


def promise(told: Told, draft: Draft) -> None:
    """Commit oneself to what was one's own already."""
    if told.is_negated:
        return
    who = told.who_does or (told.speaker,)
    is_sure = told.modality is not Modality.CONDITIONAL
    status = Status.OWNED if is_sure else Status.PROPOSED
    target = draft.target(told)
    if target is not None and target.is_job and _is_same(told, target, draft):
        known = replace(with_details(target, told), who_does=who, settled=who if is_sure else ())
        draft.put(replace(known, status=_kept(target, status)), told)
    elif is_job(told) and (told.stems or told.who_for):
        draft.open(told, who_does=who, status=status)


def accept(told: Told, draft: Draft) -> None:
    """Agree: to an offer, which gives the job to who offered; to a request, which takes it; to news."""
    said = draft.answered(told)
    for suggested in said:
        if suggested.predicate in NEWS and suggested.act in _SUGGESTS and not suggested.is_negated:
            tell_change(replace(suggested, message=told.message), draft)
    answered = _may_be_accepted(told, linked(told, draft.state), draft)
    if not answered:
        _accept_supposition(told, said, draft)
        return
    for each in _settled_by(told, answered, _offerers(said), draft):
        draft.put(_accepted(each, told, said) if each.status.is_open else each, told)


def _may_be_accepted(
    told: Told, answered: Sequence[Arrangement], draft: Draft
) -> Sequence[Arrangement]:
    """Return what an assent can be about: what the message answered opened itself, if anything, and no job that its speaker refused since it was asked."""
    own = [each for each in answered if each.id.startswith(f"{told.answers}:")]
    if own and not (told.stems or told.who_for):
        answered = own
    return [each for each in answered if not _was_refused(told, each, draft)]


def _was_refused(told: Told, target: Arrangement, draft: Draft) -> bool:
    """Tell whether the speaker refused a job, and nobody surely asked for it since."""
    if not target.is_job or told.stems or told.who_for:
        return False
    refused = False
    for each in chain.from_iterable(draft.state.recent.values()):
        if each.speaker == told.speaker:
            is_meant = each.item == target.id or each.answers in target.evidence
            refused = refused or (each.act is Act.DECLINE and is_meant)
        elif each.message in target.evidence and each.act in _WANTS and each.p >= _SURE:
            refused = False
    return refused


def _accepted(target: Arrangement, told: Told, said: Sequence[Told]) -> Arrangement:
    """Return an arrangement as an acceptance of what a message said leaves it."""
    known = with_details(target, told)
    if target.is_job:
        offerers = _offerers(said)
        agreed = tuple(e for e in target.who_does if e in {*offerers, *target.settled})
        is_wanted = any(each.act in _WANTS and each.speaker != told.speaker for each in said)
        is_taken = not offerers and not target.who_does
        is_taken = is_taken and (is_wanted or told.speaker != target.asked_by)
        who = agreed or target.who_does or ((told.speaker,) if is_taken else ())
        known = replace(known, who_does=who, settled=who)
    return replace(known, status=standing(known))


def _offerers(said: Sequence[Told]) -> set[str]:
    """Return who offered or promised something in a message."""
    offered = [each for each in said if each.act in {Act.OFFER, Act.PROMISE}]
    return {person for each in offered for person in each.who_does or (each.speaker,)}


def _settled_by(
    told: Told, answered: Sequence[Arrangement], offerers: set[str], draft: Draft
) -> Sequence[Arrangement]:
    """Return what an acceptance settles: all offers of a message, else what fits best."""
    if offerers and not (told.stems or told.who_for):
        own = [each for each in answered if each.is_job and offerers & {*each.who_does}]
        if own:
            return own
    best = best_of(told, answered, draft.state)
    return [best] if best else []


def _accept_supposition(told: Told, said: Sequence[Told], draft: Draft) -> None:
    """Open what was only supposed and is now agreed to."""
    for each in said:
        if each.modality is Modality.HYPOTHETICAL and each.predicate in JOBS | {Predicate.EVENT}:
            who = (each.who_does or (each.speaker,)) if each.act is Act.OFFER else ()
            new = draft.open(each, who_does=who, status=Status.PROPOSED)
            draft.put(new, told)


def decline(told: Told, draft: Draft) -> None:
    """Refuse: an offer of somebody else, or what one was given oneself."""
    target = draft.target(told)
    if target is None or not target.status.is_open:
        return
    if told.who_for and target.who_for and not {*told.who_for} & {*target.who_for}:
        return
    said = draft.answered(told)
    if told.speaker in target.who_for and len(target.who_for) > 1:
        rest = tuple(each for each in target.who_for if each != told.speaker)
        draft.put(replace(target, who_for=rest), told)
        return
    leaving = (_offerers(said) - {told.speaker} or {told.speaker}) & {*target.who_does}
    if leaving:
        was_offered = target.id in {each.id for each in said if each.act is Act.OFFER}
        draft.put(freed(target, leaving, Status.OFF if was_offered else Status.PROPOSED), told)


def withdraw(told: Told, draft: Draft) -> None:
    """Take back what one offered, asked or said."""
    if told.predicate is Predicate.ABSENCE:
        amend_absence(told, draft)
        return
    target = draft.target(told)
    if target is None:
        if is_job(told) and told.answers is None:
            draft.open(told, status=Status.OFF)
        return
    if _takes_back_cancellation(told, draft):
        draft.put(replace(target, status=standing(target)), told)
    elif told.speaker in target.who_does:
        target = _days_left(told, target, draft)
        was_offered = target.asked_by == told.speaker and not target.settled
        status = Status.OFF if was_offered else Status.PROPOSED
        draft.put(freed(target, {told.speaker}, status), told)
    elif target.asked_by == told.speaker:
        was_asked = any(each.act in {Act.ASK, Act.REQUEST} for each in draft.answered(told))
        takes_it = was_asked and told.speaker in told.who_does and target.is_job
        who = (told.speaker,) if takes_it and target.status.is_open else ()
        status = Status.OWNED if who else Status.OFF
        draft.put(replace(target, who_does=who, settled=who, status=status), told)


def _days_left(told: Told, target: Arrangement, draft: Draft) -> Arrangement:
    """Return what is given back: of several days those that are named, while the others stay with who has them."""
    whole = draft.state.whole(target)
    days = {*told.when.days} & {*whole.when.days}
    if not days or len(days) == len(whole.when.days):
        return target
    rest = tuple(each for each in whole.when.days if each not in days)
    draft.put(replace(target, when=replace(target.when, days=rest)), told)
    return replace(target, id=told.id, when=replace(target.when, days=tuple(sorted(days))))


def _takes_back_cancellation(told: Told, draft: Draft) -> bool:
    said = draft.answered(told)
    return told.predicate is Predicate.CANCEL or any(
        each.predicate is Predicate.CANCEL for each in said
    )


# What each act does to the arrangements.

_UNTRUE: Final = frozenset({Modality.JOKE, Modality.PAST, Modality.HYPOTHETICAL})

_EFFECTS: Final[Mapping[Act, Callable[[Told, Draft], None]]] = {
    Act.STATE: state,
    Act.CORRECT: correct,
    Act.REPORT_DONE: report_done,
    Act.ASK: ask,
    Act.REQUEST: ask,
    Act.OFFER: offer,
    Act.ASSIGN: assign,
    Act.PROMISE: promise,
    Act.ACCEPT: accept,
    Act.DECLINE: decline,
    Act.WITHDRAW: withdraw,
}


def apply(told: Told, draft: Draft) -> None:
    """Let one clause open, amend or close arrangements; jokes, stories and suppositions do nothing."""
    if told.modality in _UNTRUE or told.act not in _EFFECTS:
        return
    told = draft.linked_to_talk(told)
    if told.is_for_addressee and (said := draft.answered(told)):
        told = replace(told, who_for=(said[0].speaker,))
    if told.is_for_others and told.predicate in JOBS and not told.who_for:
        told = replace(told, likely_for=draft.last_named(told) or told.likely_for)
    if told.is_weekday and told.predicate not in NEWS and told.act is not Act.CORRECT:
        known = [draft.state.whole(each).when for each in linked(told, draft.state)]
        for each in known:
            told = replace(told, when=told.when.in_week_of(each))
    _EFFECTS[told.act](told, draft)


_REMEMBERED: Final = 256
"""Messages whose clauses are kept to be answered, and which are known as read."""


def fold(state: State, heard: Heard, household: Household, now: datetime) -> Folded:
    """Return the state after one message, and what it changed. A message that was read already changes nothing.

    Args:
        state: Before it.
        heard: The message with its frames.
        now: Aware; arrangements long past are not spoken of by messages without a link.
    """
    if heard.message_id in state.recent:
        return Folded(state=state, changes=())
    draft = Draft(state, now.astimezone(household.zone))
    said = grounding_of(household).told(heard)
    for number, told in enumerate(said):
        draft.state = _remembering(draft.state, heard.message_id, said[:number])
        apply(told, draft)
    after = _remembering(draft.state, heard.message_id, said)
    return Folded(state=after, changes=_changes(state, after, draft.sureness))


def _remembering(state: State, message_id: str, said: tuple[Told, ...]) -> State:
    recent = {**state.recent, message_id: said}
    for each in list(recent)[: len(recent) - _REMEMBERED]:
        del recent[each]
    return replace(state, recent=recent)


def _changes(before: State, after: State, sureness: Mapping[str, float]) -> tuple[Change, ...]:
    known = {each.id: each for each in before.arrangements}
    found = []
    for each in after.arrangements:
        old = known.get(each.id)
        if old == each:
            continue
        was_open = old is None or old.status.is_open
        kind = (
            ChangeKind.OPENED
            if old is None
            else ChangeKind.CLOSED
            if was_open and not each.status.is_open
            else ChangeKind.AMENDED
        )
        found.append(Change(kind=kind, before=old, after=each, p=sureness[each.id]))
    return tuple(found)
