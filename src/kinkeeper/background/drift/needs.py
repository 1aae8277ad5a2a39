"""What tasks, lists and facts show: deadlines, what slips, what is asked for by hand, food, and how somebody is. Pure."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from kinkeeper.background.drift.model import (
    A_WEEK,
    LOOK_BACK,
    RUNNING,
    TWO_WEEKS,
    Evidence,
    Matter,
    Observation,
    Snapshot,
    about,
    of_event,
    of_fact,
    of_task,
    quoted,
)
from kinkeeper.brain.answer_text import statement
from kinkeeper.calendar.model import EventKind
from kinkeeper.core.time import A_DAY
from kinkeeper.language.name_match import telling_stems
from kinkeeper.language.text import shorten
from kinkeeper.memory.context.session_facts import name_of
from kinkeeper.memory.model import Fact
from kinkeeper.memory.statements.statement_reader import read_statement
from kinkeeper.notes.model import entries
from kinkeeper.reading.occasions import (
    foods_in,
    foods_ruled_out,
    is_food_list,
    is_meal,
    is_menu,
    is_staple,
)
from kinkeeper.reading.times import time_text
from kinkeeper.tasks.model import Task

_SLIPS = 2
_LONGEST_FEELING = 120
_ASK_AFTER, _ASK_UNTIL = timedelta(days=2), timedelta(days=5)
_LIMITS = frozenset({"allergy", "condition", "diet"})
_ALLERGY, _DIET, _FEELING = "allergy", "diet", "feeling"

# Deadlines and tasks.


def deadlines(snapshot: Snapshot) -> Iterator[Observation]:
    """See what is due in two weeks and is nobody's in particular."""
    if len(snapshot.household.adults) < 2:  # noqa: PLR2004 - see above
        return
    taken = [telling_stems(task.title) for task in snapshot.tasks if task.who]
    for task in snapshot.open_tasks:
        if task.deadline is not None and not task.who and not task.rrule:
            person = snapshot.person_for([task.scope], task.asked_by)
            yield from _due(snapshot, task.deadline, person, of_task(task))
    for each in snapshot.ahead:
        event = each.event
        is_free = (
            not each.responsible and not event.who and telling_stems(event.summary) not in taken
        )
        if event.kind is EventKind.DEADLINE and is_free:
            person = snapshot.person_for([event.scope])
            yield from _due(snapshot, each.interval.start, person, of_event(each))


def _due(
    snapshot: Snapshot, at: datetime, person: str | None, evidence: Evidence
) -> Iterator[Observation]:
    left = at - snapshot.now
    if person is None or not timedelta() < left <= TWO_WEEKS:
        return
    yield Observation(
        matter=Matter.DEADLINE,
        key=f"deadline:{evidence.id}:{at:%Y-%m-%d}",
        person=person,
        until=at,
        text=f"{quoted(evidence.words)} is due {snapshot.on(at)}, and nobody has it yet.",
        score=0.85 if left <= A_WEEK else 0.7,
        evidence=(evidence,),
        once=frozenset({evidence.id}),
        about=about(snapshot, evidence.words),
    )


def slipping(snapshot: Snapshot) -> Iterator[Observation]:
    """See tasks that were put off again and again, or are overdue after they were put off."""
    for task in snapshot.open_tasks:
        moved = snapshot.put_off.get(task.id, 0)
        is_overdue = task.deadline is not None and task.deadline + A_DAY <= snapshot.now
        slips = moved + is_overdue
        if slips < _SLIPS or task.rrule or task.deadline is None:
            continue
        person = snapshot.person_for([task.scope], *task.who, task.asked_by)
        if person is None:
            continue
        times = "twice" if moved == _SLIPS else "once" if moved == 1 else f"{moved} times"
        rest = f"{'was' if is_overdue else 'is now'} due {snapshot.on(task.deadline)}"
        yield Observation(
            matter=Matter.SLIPPING,
            key=f"slipping:{task.id}:{slips}",
            person=person,
            text=f"{quoted(task.title)} has been put off {times} and {rest}. Is it still wanted?",
            score=min(0.7 + 0.05 * (slips - _SLIPS), 0.8),
            until=max(task.deadline, snapshot.now) + TWO_WEEKS,
            evidence=(of_task(task),),
            once=frozenset({task.id}),
            about=about(snapshot, task.title, people=task.who),
            goal=task.title,
        )


def by_hand(snapshot: Snapshot) -> Iterator[Observation]:
    """See what somebody asked for three times on the same weekday, a week or so apart, each time anew."""
    alike = defaultdict[tuple[str, str | None], list[Task]](list)
    for task in snapshot.tasks:
        if task.turn is not None and task.created_at > snapshot.now - LOOK_BACK:
            alike[" ".join(task.title.casefold().split()), task.asked_by].append(task)
    for (_, asked_by), found in alike.items():
        tasks = sorted(found, key=lambda each: each.turn or snapshot.now)
        turns = [each.turn for each in tasks if each.turn is not None]
        gaps = {(later.date() - earlier.date()).days for earlier, later in pairwise(turns)}
        if len(turns) < RUNNING or gaps != {A_WEEK.days} or any(each.rrule for each in tasks):
            continue
        last = tasks[-1]
        person = snapshot.person_for([each.scope for each in tasks], asked_by)
        if person != asked_by or person is None:
            continue
        day = time_text.WEEKDAYS[turns[-1].weekday()]
        yield Observation(
            matter=Matter.BY_HAND,
            key=f"by hand:{last.title.casefold()}:{person}",
            person=person,
            text=f"You have asked for {quoted(last.title)} {len(turns)} {day}s running. "
            f"If you say “every {day}” with it, it comes by itself.",
            score=0.7,
            until=turns[-1] + TWO_WEEKS,
            evidence=tuple(map(of_task, tasks)),
            about=about(snapshot, last.title),
        )


# Food.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Food:
    """Something to eat that is planned or wanted.

    Attributes:
        name: How a sentence calls it.
        title: Its own words.
        families: What is in it.
        eaters: Member ids of those who eat it; empty where all do.
        until: When it is over.
    """

    name: str
    families: frozenset[str]
    eaters: frozenset[str]
    scope: str
    made_by: str | None
    until: datetime
    evidence: Evidence
    score: float


def food_limits(snapshot: Snapshot) -> Iterator[Observation]:
    """See what is to be eaten or bought that somebody of the household must not or does not eat."""
    foods = [*_meals(snapshot), *_lines(snapshot)]
    for fact in snapshot.facts if foods else ():
        limit = _limit_of(fact)
        ruled_out = foods_ruled_out(fact.narrative) if limit is not None else frozenset()
        for food in foods if ruled_out else ():
            is_theirs = (
                not food.eaters
                or fact.subject in food.eaters
                or fact.subject not in snapshot.household.names
            )
            bears = food.families & ruled_out
            if bears and is_theirs and (limit == _ALLERGY or food.score > _BOUGHT):
                yield from _beside(snapshot, fact, food, is_allergy=limit != _DIET)


_BOUGHT, _EATEN = 0.75, 0.9


def _beside(
    snapshot: Snapshot, fact: Fact, food: _Food, *, is_allergy: bool
) -> Iterator[Observation]:
    # Nobody needs to be told of their own limits.
    person = snapshot.person_for([fact.scope, food.scope], food.made_by, but=[fact.subject])
    if person is None:
        return
    speaker = name_of(fact.speaker, snapshot.household.names)
    limit = statement(fact.narrative, speaker=speaker)
    is_quoted = speaker is not None and limit.startswith(f"{speaker}: ")
    limit = f"{speaker} said {limit.removeprefix(f'{speaker}: ')}" if is_quoted else limit
    is_often = not is_allergy or food.score == _BOUGHT
    yield Observation(
        matter=Matter.FOOD,
        key=f"food:{fact.id}:{food.evidence.id}:{food.evidence.words}",
        person=person,
        text=f"{food.name}. Just so nobody forgets: {limit}",
        score=food.score if is_allergy else min(food.score, 0.75),
        until=food.until,
        evidence=(food.evidence, of_fact(fact)),
        once=frozenset({fact.id}) if is_often else frozenset(),
        about=about(snapshot, food.evidence.words, people=[fact.subject]),
    )


def _limit_of(fact: Fact) -> str | None:
    """Return which family of limits a fact tells of; None where it tells none, or that there is none."""
    for each in read_statement(fact.narrative):
        is_no_more = each.is_past or each.is_retraction or each.is_hypothetical or each.is_negative
        if each.is_known and each.family in _LIMITS and not is_no_more:
            return each.family
    return None


def _meals(snapshot: Snapshot) -> Iterator[_Food]:
    for each in snapshot.ahead:
        event = each.event
        families = foods_in(event.summary) if is_meal(event.summary) else frozenset()
        if families and each.interval.start - snapshot.now <= TWO_WEEKS:
            yield _Food(
                name=f"{quoted(event.summary)} is planned for {snapshot.day(each.interval.start)}",
                families=families,
                eaters=frozenset(event.who),
                scope=event.scope,
                made_by=event.provenance.confirmed_by,
                until=each.interval.start,
                evidence=of_event(each),
                score=_EATEN,
            )


def _lines(snapshot: Snapshot) -> Iterator[_Food]:
    for note in snapshot.notes:
        is_eaten = is_menu(note.title)
        if not is_eaten and not is_food_list(note.title):
            continue
        for line in entries(note.body):
            families = foods_in(line)
            if not is_eaten:
                families = frozenset(each for each in families if not is_staple(each))
            if families:
                yield _Food(
                    name=f"{quoted(line)} is on the list {quoted(note.title)}",
                    families=families,
                    eaters=frozenset(),
                    scope=note.scope,
                    made_by=note.made_by,
                    until=snapshot.now + A_WEEK,
                    evidence=Evidence(kind="note", id=note.id, words=line),
                    score=_EATEN if is_eaten else _BOUGHT,
                )


# What somebody told of themselves.


def feelings(snapshot: Snapshot) -> Iterator[Observation]:
    """See what weighed on the person themselves some days ago, in their own words."""
    for fact in snapshot.facts:
        age = snapshot.now - fact.said_at
        is_own = fact.subject == snapshot.member.id == fact.speaker
        if not is_own or not _ASK_AFTER <= age <= _ASK_UNTIL:
            continue
        if any(
            each.slot == _FEELING and not each.is_negative and not each.is_past
            for each in read_statement(fact.narrative)
        ):
            said = shorten(fact.narrative.rstrip("."), _LONGEST_FEELING)
            yield Observation(
                matter=Matter.FEELING,
                key=f"feeling:{fact.id}",
                person=snapshot.member.id,
                text=f"On {snapshot.day(fact.said_at)} you said “{said}”. How is it now?",
                score=0.7,
                until=fact.said_at + _ASK_UNTIL,
                evidence=(of_fact(fact),),
                about=about(snapshot, fact.narrative),
            )
