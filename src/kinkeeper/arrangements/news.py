"""What is told: plans, absences, cancellations, changes, corrections, and what is done."""

from dataclasses import replace
from typing import Final

from kinkeeper.arrangements.draft import Draft, follow, freed, is_job, standing, with_details
from kinkeeper.arrangements.model import Absence, Arrangement, Status, Told, When
from kinkeeper.reading.model import Act, Modality, Predicate

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
            id=f"{told.id}.{number}", person=person, when=told.when, what=told.what,
            where=told.where, is_over=told.is_negated, evidence=(told.message,), p=told.p,
        )
        for number, person in enumerate(people)
    ]  # fmt: skip
    draft.state = replace(draft.state, absences=(*draft.state.absences, *new))


def cancel(told: Told, draft: Draft) -> None:
    """Call something off with the jobs for it, or say that it is not off."""
    target = draft.target(told)
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
            each, when=each.when.amended(told.when, was=told.was),
            is_over=each.is_over or told.act is Act.WITHDRAW or told.is_negated,
            evidence=(*each.evidence, told.message), p=min(each.p, told.p),
        )
        if told.answers in each.evidence and each.person in {told.speaker, *told.who_for}
        else each
        for each in draft.state.absences
    )  # fmt: skip
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
