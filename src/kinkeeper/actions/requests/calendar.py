"""Requests about the calendar: what takes place, what shall, and when people have time."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.effects.calendar import AddEvent, CancelEvent, CancelOccurrence
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.effects.events import event_to_json
from kinkeeper.actions.model import ActionType
from kinkeeper.actions.requests.calendar_parameters import (
    CreateEvent,
    FindEvent,
    FindFree,
    ListEvents,
    Scope,
    UpdateEventOf,
)
from kinkeeper.actions.requests.event_changing import change_of, place_of, provenance
from kinkeeper.actions.requests.event_finding import find_occurrence, matching
from kinkeeper.actions.requests.event_telling import (
    details,
    item,
    line,
    occurrence_json,
    shown_lines,
    told,
    when,
)
from kinkeeper.actions.requests.free_time import free_times
from kinkeeper.actions.requests.model import Asked, Card, Found, Prepared, RequestKind
from kinkeeper.actions.requests.moments import (
    Moment,
    read_moment,
    require_ahead,
    said_span,
    shifted,
)
from kinkeeper.actions.requests.people import read_who
from kinkeeper.calendar.conflicts import find_conflicts
from kinkeeper.calendar.model import Event, EventKind, EventState, Occurrence
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.calendar.validity import check_event
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import Interval, as_utc, midnight
from kinkeeper.store.store import Store

_DAY = timedelta(days=1)


def calendar_requests(store: Store, *, usual_length: timedelta) -> tuple[RequestKind, ...]:
    """Return the rows of the table of requests that are about the calendar.

    Args:
        store: Of the household.
        usual_length: Of an event whose end is not said, > 0.
    """
    requests = _CalendarRequests(store, usual_length)
    return (
        RequestKind(
            domain="calendar", name="list_events", parameters=ListEvents, stakes=Stakes.LOW,
            description="List what takes place: whose events, on which days.",
            progress="Checking your calendar…", read=requests.list,
        ),
        RequestKind(
            domain="calendar", name="create_event", parameters=CreateEvent, stakes=Stakes.LOW,
            description="Put a new event into the calendar.",
            progress="Adding to your calendar…", prepare=requests.create,
        ),
        RequestKind(
            domain="calendar", name="update_event", parameters=UpdateEventOf, stakes=Stakes.HIGH,
            description="Move or change an event, or say who takes part or is in charge.",
            progress="Looking for the event…", prepare=requests.update,
        ),
        RequestKind(
            domain="calendar", name="delete_event", parameters=FindEvent, stakes=Stakes.HIGH,
            description="Cancel an event, or one time of it.", progress="Looking for the event…",
            prepare=requests.delete,
        ),
        RequestKind(
            domain="calendar", name="find_free", parameters=FindFree, stakes=Stakes.LOW,
            description="Find when people have time.", progress="Checking your calendar…",
            read=requests.free,
        ),
    )  # fmt: skip


class _CalendarRequests:
    def __init__(self, store: Store, usual_length: timedelta) -> None:
        self._store = store
        self._usual_length = usual_length

    async def list(self, wanted: ListEvents, asked: Asked) -> Found:
        span, members = _span(wanted, asked), read_who(wanted.who, asked)
        found = await self._store.read(
            lambda conn: occurrences_between(conn, asked.household.id, span)
        )
        if members:
            found = [each for each in found if _takes_part(each, members)]
        if wanted.query is not None:
            found = matching(wanted.query, found, asked)
        card = Card(
            kind="events", title="Calendar", items=tuple(item(each, asked) for each in found)
        )
        result = {
            "events": [occurrence_json(each, asked) for each in found],
            "from": span.start.isoformat(), "to": span.end.isoformat(),
        }  # fmt: skip
        return Found(result=result, card=card)

    async def create(self, wanted: CreateEvent, asked: Asked) -> Prepared:
        event = _event(wanted, asked, self._usual_length)
        check_event(event)
        effect = AddEvent.model_validate({"event": event_to_json(event)})
        new = _only(event)
        collisions = await self._store.read(lambda conn: _collisions(conn, new, asked))
        if any(each.event.summary.casefold() == event.summary.casefold() for each in collisions):
            raise ConflictError(f"{told(new, asked)} is in the calendar already")
        prepared = _prepared(new, f"Add {told(new, asked)}", [effect], asked)
        return _colliding(replace(prepared, type=ActionType.EVENT_CREATE), collisions, asked)

    async def update(self, wanted: UpdateEventOf, asked: Asked) -> Prepared:
        found = await self._store.read(lambda conn: find_occurrence(conn, wanted, asked))
        change = change_of(found, wanted.changes, wanted.scope, asked)
        if change.is_time:
            start = Moment(at=change.occurrence.interval.start, is_day=found.event.all_day)
            require_ahead(start, asked, "When should it be?")
        collisions = (
            await self._store.read(lambda conn: _collisions(conn, change.occurrence, asked))
            if change.is_time else []
        )  # fmt: skip
        new, verb = change.occurrence, "Move" if change.is_time else "Change"
        to = f" to {when(new, asked)}" if change.is_time else f": {details(new, asked)}"
        summary = f"{verb} {told(found, asked)}{_all_of(found, wanted.scope)}{to}"
        prepared = _colliding(_prepared(new, summary, change.effects, asked), collisions, asked)
        lines = {"before": line(found, asked), "after": line(new, asked)}
        beside = {"beside": prepared.shown["beside"]} if collisions else {}
        return replace(
            prepared, shown=lines | beside,
            result={**prepared.result, "before": occurrence_json(found, asked)},
        )  # fmt: skip

    async def delete(self, wanted: FindEvent, asked: Asked) -> Prepared:
        found = await self._store.read(lambda conn: find_occurrence(conn, wanted, asked))
        is_whole = found.event.rrule is None or wanted.scope is Scope.SERIES
        common = {"event_id": found.event.id}
        effect = (
            CancelEvent.model_validate(common) if is_whole
            else CancelOccurrence.model_validate(common | {"original_start": found.original_start})
        )  # fmt: skip
        summary = f"Cancel {told(found, asked)}{_all_of(found, wanted.scope)}"
        return _prepared(found, summary, [effect], asked)

    async def free(self, wanted: FindFree, asked: Asked) -> Found:
        start, end = (
            read_moment(text, asked) for text in (wanted.between.from_, wanted.between.to)
        )
        # A day that is named as the end belongs to it.
        until = midnight(end.at.date() + _DAY, asked.household.zone) if end.is_day else end.at
        if until <= start.at:
            raise InputError("the time to look at ends before it begins")
        span = Interval(start.at, until)
        members = read_who(wanted.who, asked) or (asked.member.id,)
        busy = await self._store.read(lambda conn: _busy(conn, members, span, asked))
        spans = free_times(
            span, [each.interval for each in busy], length=timedelta(minutes=wanted.duration),
            now=asked.now, zone=asked.household.zone,
        )  # fmt: skip
        free = [_span_json(each, asked) for each in spans]
        items = [{"text": said_span(each.start, each.end, asked)} for each in spans]
        result = {
            "is_free": not busy, "free": free, "who": list(members),
            "busy": [occurrence_json(each, asked) for each in busy],
        }  # fmt: skip
        return Found(result=result, card=Card(kind="free", title="Free", items=tuple(items)))


def _span(wanted: ListEvents, asked: Asked) -> Interval:
    """Return the days to list: whole ones from the first that is named, or what is left of today and more."""
    zone = asked.household.zone
    if wanted.from_ is None:
        today = asked.now.astimezone(zone).date()
        return Interval(asked.now, midnight(today + (wanted.days_ahead + 1) * _DAY, zone))
    first = read_moment(wanted.from_, asked).at.astimezone(zone).date()
    last = first + max(wanted.days_ahead, 1) * _DAY
    # Whoever asks for this week wants what is left of it; the past is told where only it is asked for.
    today = asked.now.astimezone(zone).date()
    return Interval(
        midnight(max(first, today) if last > today else first, zone), midnight(last, zone)
    )


def _event(wanted: CreateEvent, asked: Asked, usual_length: timedelta) -> Event:
    zone = asked.household.zone
    start = read_moment(wanted.start_time, asked)
    require_ahead(start, asked, "When should it be?")
    end = None if wanted.end_time is None else read_moment(wanted.end_time, asked, around=start.at)
    all_day = wanted.all_day or start.is_day
    first = midnight(start.at.date(), zone) if all_day else start.at
    if all_day:
        last = first.date() if end is None else end.at.date()
        length = (last - first.date()) + _DAY
    else:
        length = usual_length if end is None else as_utc(end.at) - as_utc(first)
    if length <= timedelta():
        raise InputError("the event would end before it begins")
    return Event(
        id=stable_id(asked.household.id, "chat", asked.turn_id, asked.number),
        household=asked.household.id,
        kind=EventKind.BREAK if all_day and length > _DAY else EventKind.BOOKING,
        summary=wanted.summary.strip(), start=first, duration=length, all_day=all_day, tz=zone.key,
        who=(asked.member.id,) if wanted.who is None else read_who(wanted.who, asked),
        responsible=read_who(wanted.responsible, asked),
        place=place_of(wanted.location or "", asked),
        rrule=None if wanted.rrule is None else wanted.rrule.removeprefix("RRULE:"),
        provenance=provenance(asked),
    )  # fmt: skip


def _only(event: Event) -> Occurrence:
    """Return an event that is not in the calendar yet as its first occurrence."""
    end = event.start + event.duration if event.all_day else shifted(event.start, event.duration)
    return Occurrence(
        event=event, original_start=event.start, interval=Interval(event.start, end),
        state=EventState.CONFIRMED, responsible=event.responsible, place=event.place,
    )  # fmt: skip


def _collisions(conn: Connection, new: Occurrence, asked: Asked) -> Sequence[Occurrence]:
    """Return what those who take part are busy with at the same time."""
    if new.event.all_day:
        return ()
    people = (*new.event.who, *new.responsible)
    return _busy(conn, people, new.interval, asked, ignore=(new.event.id,))


def _busy(
    conn: Connection,
    members: Sequence[str],
    span: Interval,
    asked: Asked,
    *,
    ignore: Sequence[str] = (),
) -> Sequence[Occurrence]:
    found = {
        (each.event.id, each.original_start): each
        for member in members
        for each in find_conflicts(
            conn, asked.household.id, member=member, interval=span, ignore_events=ignore
        )
    }
    return sorted(found.values(), key=_by_start)


def _by_start(occurrence: Occurrence) -> datetime:
    return occurrence.interval.start


def _takes_part(occurrence: Occurrence, members: Sequence[str]) -> bool:
    return bool({*occurrence.event.who, *occurrence.responsible} & set(members))


def _span_json(span: Interval, asked: Asked) -> dict[str, str]:
    zone = asked.household.zone
    return {
        "start": span.start.astimezone(zone).isoformat(),
        "end": span.end.astimezone(zone).isoformat(),
    }


def _all_of(occurrence: Occurrence, scope: Scope) -> str:
    is_series = occurrence.event.rrule is not None and scope is Scope.SERIES
    return " and all other times of it" if is_series else ""


def _prepared(found: Occurrence, summary: str, effects: Sequence[Effect], asked: Asked) -> Prepared:
    return Prepared(
        type=ActionType.SCHEDULE_CHANGE, summary=summary,
        effects=tuple(each.frozen() for each in effects), shown=shown_lines(found, asked),
        result=occurrence_json(found, asked),
    )  # fmt: skip


def _colliding(prepared: Prepared, collisions: Sequence[Occurrence], asked: Asked) -> Prepared:
    """Return what was prepared with what it collides with."""
    shown = {"beside": "; ".join(line(each, asked) for each in collisions)} if collisions else {}
    result = {"conflicts": [occurrence_json(each, asked) for each in collisions]}
    return replace(
        prepared, shown={**prepared.shown, **shown}, result={**prepared.result, **result}
    )
