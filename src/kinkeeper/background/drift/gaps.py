"""What the calendar leaves open and nothing that its person may see answers: where an activity is, when a plan begins. Pure."""

from collections import defaultdict
from collections.abc import Iterator

from kinkeeper.background.drift.model import Matter, Observation, Snapshot, about, of_event, quoted
from kinkeeper.calendar.model import EventKind, Occurrence
from kinkeeper.core.time import A_DAY
from kinkeeper.language.name_match import telling_stems
from kinkeeper.notes.model import entries
from kinkeeper.reading.occasions import is_birthday

_SCORE = 0.55
"""Too little to be told at once: it is asked only after it was kept and has stood the test of days."""
_OFTEN = 2


def places_unknown(snapshot: Snapshot) -> Iterator[Observation]:
    """See activities that recur and have no place."""
    series = defaultdict[str, list[Occurrence]](list)
    for each in sorted(snapshot.ahead, key=lambda each: each.interval.start):
        event = each.event
        if event.rrule and event.place is None and _is_booked(each) and not event.all_day:
            series[event.id].append(each)
    for found in series.values():
        event = found[0].event
        if len(found) >= _OFTEN:
            text = (
                f"{quoted(event.summary)} is in the calendar again and again, without a place. "
                f"Where is it? Say “{event.summary} is always at …”."
            )
            yield from _asked(snapshot, found[0], Matter.PLACE, text=text, last=found[-1])


def hours_unknown(snapshot: Snapshot) -> Iterator[Observation]:
    """See single plans for an activity that are down for a whole day."""
    for each in snapshot.ahead:
        event = each.event
        is_one_day = event.all_day and event.duration <= A_DAY and not event.rrule
        if is_one_day and _is_booked(each):
            day = snapshot.on(each.interval.start)
            text = (
                f"{quoted(event.summary)} is in the calendar {day}, without a time. "
                f"When does it begin? Say “{event.summary} is at …”."
            )
            yield from _asked(snapshot, each, Matter.HOUR, text=text, last=each)


def _is_booked(occurrence: Occurrence) -> bool:
    """Whether it is settled, somebody takes part, and it is an activity that the household has a word for."""
    event = occurrence.event
    is_activity = event.activity is not None and event.task is None
    is_plan = event.kind is EventKind.BOOKING and is_activity and bool(event.who)
    return is_plan and occurrence.is_confirmed and not is_birthday(event.summary)


def _asked(
    snapshot: Snapshot, occurrence: Occurrence, matter: Matter, *, text: str, last: Occurrence
) -> Iterator[Observation]:
    event = occurrence.event
    person = snapshot.person_for([event.scope], *event.responsible, *event.who)
    # What an open proposal is about to change is not asked meanwhile.
    if person is None or occurrence.waiting or _is_spoken_of(snapshot, occurrence):
        return
    yield Observation(
        matter=matter,
        # The day is left out: the same gap is the same question, whenever it is looked at.
        key=f"{matter.name.lower()}:{event.id}",
        person=person,
        text=text,
        score=_SCORE,
        until=last.interval.start - A_DAY,
        evidence=(of_event(occurrence),),
        once=frozenset({event.id}),
        about=about(snapshot, event.summary, people=event.who),
    )


def _is_spoken_of(snapshot: Snapshot, occurrence: Occurrence) -> bool:
    """Whether a fact or a line of a list speaks of it: what its person wrote down already is not asked."""
    names = telling_stems(" ".join(snapshot.household.names.values()))
    stems = telling_stems(occurrence.event.summary) - names
    lines = (line for note in snapshot.notes for line in (note.title, *entries(note.body)))
    texts = (*(fact.narrative for fact in snapshot.facts), *lines)
    return not stems or any(stems <= telling_stems(text) for text in texts)
