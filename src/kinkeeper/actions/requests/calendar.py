"""Requests about the calendar: what takes place, what shall, and when people have time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.effects.calendar import (
    AddEvent,
    CancelEvent,
    CancelOccurrence,
    SetEventScope,
    event_to_json,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import ActionType
from kinkeeper.actions.requests.bans import banned
from kinkeeper.actions.requests.edits_by_hand import (
    EditEvent,
    audience_after,
    check_rule_of,
    hand_fields,
    interval_after,
    occurrence_named,
)
from kinkeeper.actions.requests.event_edits import (
    Change,
    change_of,
    changed,
    ended_before,
    place_of,
    provenance,
    reach_of,
)
from kinkeeper.actions.requests.event_search import choose, find_occurrence, occurrences_of
from kinkeeper.actions.requests.event_views import (
    CreateEvent,
    DeleteEventOf,
    FindEvent,
    FindFree,
    ListEvents,
    Run,
    Scope,
    UpdateEventOf,
    Wanted,
    details,
    line,
    occurrence_json,
    runs_of,
    shown_lines,
    told,
    when,
)
from kinkeeper.actions.requests.free_time import busy, require_seen, time_of
from kinkeeper.actions.requests.model import Asked, Card, Found, Prepared, RequestKind
from kinkeeper.actions.requests.parameters import (
    Moment,
    SetAudience,
    becomes_seen,
    changed_scope,
    is_private,
    read_moment,
    read_who,
    require_ahead,
    scope_for,
    shifted,
)
from kinkeeper.actions.requests.told_days import told_beside
from kinkeeper.calendar.event_limits import check_event
from kinkeeper.calendar.model import Event, EventKind, EventState, Occurrence
from kinkeeper.calendar.repository import find_event, list_overrides
from kinkeeper.calendar.search import as_busy, private_to
from kinkeeper.core.beside import beside
from kinkeeper.core.errors import ConflictError, DeniedError, InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import Interval, as_utc, local_days, midnight
from kinkeeper.household.viewers import narrowest
from kinkeeper.store.store import Store

_DAY = timedelta(days=1)


def calendar_requests(store: Store, *, usual_length: timedelta) -> tuple[RequestKind, ...]:
    """Return the rows of the table of requests that are about the calendar.

    Args:
        usual_length: Of an event whose end is not said, > 0.
    """
    requests = _CalendarRequests(store, usual_length)
    return (
        RequestKind(
            domain="calendar",
            name="list_events",
            parameters=ListEvents,
            stakes=Stakes.LOW,
            description="List events, by person and by day.",
            progress="Checking your calendar…",
            read=requests.list,
        ),
        _creating(requests),
        RequestKind(
            domain="calendar",
            name="update_event",
            parameters=UpdateEventOf,
            stakes=Stakes.HIGH,
            description="Move or change an event, or say who takes part or is in charge.",
            progress="Looking for the event…",
            prepare=requests.update,
        ),
        RequestKind(
            domain="calendar",
            name="set_audience",
            parameters=SetAudience,
            stakes=Stakes.LOW,
            description="Show an event to the household, or only that the person is busy then.",
            progress="Looking for the event…",
            prepare=requests.set_audience,
        ),
        RequestKind(
            domain="calendar",
            name="delete_event",
            parameters=DeleteEventOf,
            stakes=Stakes.HIGH,
            description="Cancel an event, or one occurrence of it.",
            progress="Looking for the event…",
            prepare=requests.delete,
        ),
        RequestKind(
            domain="calendar",
            name="find_free",
            parameters=FindFree,
            stakes=Stakes.LOW,
            description="Find when people have time.",
            progress="Checking your calendar…",
            read=requests.free,
        ),
    )


def edit_requests(store: Store, *, usual_length: timedelta) -> tuple[RequestKind, ...]:
    """Return the requests about single events that people make by hand, never in words.

    Args:
        usual_length: Of an event whose end is not given, > 0.
    """
    requests = _CalendarRequests(store, usual_length)
    return (
        _creating(requests),
        RequestKind(
            domain="calendar",
            name="edit_event",
            parameters=EditEvent,
            stakes=Stakes.HIGH,
            description="Edit an event.",
            progress="Saving…",
            prepare=requests.edit,
        ),
        RequestKind(
            domain="calendar",
            name="remove_event",
            parameters=FindEvent,
            stakes=Stakes.HIGH,
            description="Delete an event.",
            progress="Deleting…",
            prepare=requests.remove,
        ),
    )


def _creating(requests: "_CalendarRequests") -> RequestKind:
    return RequestKind(
        domain="calendar",
        name="create_event",
        parameters=CreateEvent,
        stakes=Stakes.LOW,
        description="Add a new event to the calendar.",
        progress="Adding to your calendar…",
        prepare=requests.create,
    )


class _CalendarRequests:
    def __init__(self, store: Store, usual_length: timedelta) -> None:
        self._store = store
        self._usual_length = usual_length

    async def list(self, wanted: ListEvents, asked: Asked) -> Found:
        chosen, told = await self._store.read(
            lambda conn: (
                found := choose(conn, wanted, asked),
                told_beside(conn, wanted, found, asked),
            )
        )
        if not chosen.events:
            require_seen(chosen.span, asked)
        is_each = wanted.wanted not in {Wanted.ALL, Wanted.WHETHER}
        runs = (
            [Run(times=(each,)) for each in chosen.events]
            if is_each
            else runs_of(chosen.events, chosen.span, asked)
        )
        items = tuple(each.as_item(asked) for each in runs)
        result = {
            "events": [each.as_json(asked) for each in runs],
            "from": chosen.span.start.isoformat(),
            "to": chosen.span.end.isoformat(),
            "instead": chosen.instead and occurrence_json(chosen.instead, asked),
            "beside": [occurrence_json(each, asked) for each in chosen.beside],
            "meanwhile": [occurrence_json(each, asked) for each in chosen.meanwhile],
            "told": told,
        }
        is_list = wanted.wanted is Wanted.ALL or len(items) > 1
        card = Card(kind="events", title="Calendar", items=items) if is_list else None
        return Found(result=result, card=card)

    async def create(self, wanted: CreateEvent, asked: Asked) -> Prepared:
        event = await beside(lambda: _event(wanted, asked, self._usual_length))
        check_event(event)
        effect = AddEvent.model_validate({"event": event_to_json(event)})
        new = _only(event)
        collisions, bans = await self._store.read(
            lambda conn: (_collisions(conn, new, asked), _bans(conn, new, asked))
        )
        title = event.summary.casefold()
        same = [each for each in collisions if each.event.summary.casefold() == title]
        if same:
            is_there = any(each.is_confirmed for each in same)
            where = "in the calendar" if is_there else "waiting for confirmation"
            raise ConflictError(f"{told(new, asked)} is already {where}")
        prepared = _prepared(new, f"Add {told(new, asked)}", [effect], asked)
        created = replace(prepared, type=ActionType.EVENT_CREATE)
        return _against(_colliding(created, _as_seen_with(new, collisions), asked), bans)

    async def update(self, wanted: UpdateEventOf, asked: Asked) -> Prepared:
        found = await self._store.read(lambda conn: _to_be_changed(conn, wanted, asked))
        cancelled = await self._store.read(lambda conn: _cancelled(conn, found.event))
        change = change_of(
            found,
            wanted.changes,
            wanted.scope,
            asked,
            usual_length=self._usual_length,
            cancelled=cancelled,
        )
        if change.is_time:
            is_day = change.occurrence.event.all_day
            start = Moment(at=change.occurrence.interval.start, is_day=is_day)
            require_ahead(start, asked, "When should it be?")
        return await self._changing(found, change, wanted.scope, asked)

    async def edit(self, wanted: EditEvent, asked: Asked) -> Prepared:
        found = await self._store.read(lambda conn: occurrence_named(conn, wanted, asked))
        cancelled = await self._store.read(lambda conn: _cancelled(conn, found.event))
        changes, scope = wanted.changes, wanted.scope
        interval, is_day = interval_after(found, changes, asked, usual_length=self._usual_length)
        fields = hand_fields(found, changes, scope, asked)
        if is_day != found.event.all_day:
            fields["all_day"] = is_day
        if interval != found.interval or fields:
            change = changed(found, interval, fields, asked, scope=scope, cancelled=cancelled)
            check_rule_of(change.effects)
        else:
            change = Change(effects=(), occurrence=found, is_time=False)
        audience = audience_after(found, changes, scope, asked, after=change.occurrence)
        change = replace(change, effects=(*change.effects, *audience))
        if not change.effects:
            raise InputError(f"{found.event.summary!r} is already like that")
        return await self._changing(found, change, scope, asked)

    async def _changing(
        self, found: Occurrence, change: Change, scope: Scope, asked: Asked
    ) -> Prepared:
        """Prepare a change that is worked out, with what it collides with."""
        collisions, bans = (
            await self._store.read(
                lambda conn: (
                    _collisions(conn, change.occurrence, asked),
                    _bans(conn, change.occurrence, asked),
                )
            )
            if change.is_time
            else ((), [])
        )
        new, verb = change.occurrence, "Move" if change.is_time else "Change"
        to = f" to {when(new, asked)}" if change.is_time else f": {details(new, asked)}"
        summary = f"{verb} {told(found, asked)}{_all_of(found, scope)}{to}"
        collisions = _as_seen_with(found, collisions)
        prepared = _colliding(_prepared(new, summary, change.effects, asked), collisions, asked)
        lines = {"before": line(found, asked), "after": line(new, asked)}
        beside = {"beside": prepared.shown["beside"]} if collisions else {}
        prepared = _against(prepared, bans)
        return replace(
            prepared,
            shown=lines | beside,
            result={**prepared.result, "before": occurrence_json(found, asked)},
        )

    async def set_audience(self, wanted: SetAudience, asked: Asked) -> Prepared:
        if not wanted.private and not asked.member.is_adult:
            raise DeniedError("an adult has to add that to the family's calendar")
        named = await self._store.read(lambda conn: _event_meant(conn, wanted.find_by, asked))
        found = await self._store.read(lambda conn: find_occurrence(conn, named, asked))
        event = found.event
        people = {*event.who, *event.responsible} or {event.provenance.confirmed_by or ""}
        scope = changed_scope(event.scope, wanted, asked, people)
        effect = SetEventScope(event_id=event.id, new_scope=scope)
        after = replace(found, event=replace(event, scope=scope))
        summary = f"{becomes_seen(scope, asked)}: {told(found, asked)}"
        return _prepared(after, summary, [effect], asked)

    async def delete(self, wanted: DeleteEventOf, asked: Asked) -> Prepared:
        found = await self._store.read(lambda conn: find_occurrence(conn, wanted, asked))
        if wanted.until is not None and found.event.rrule is not None:
            several = await self._delete_several(found, wanted.until, asked)
            if several is not None:
                return several
        return _deletion(found, wanted.scope, asked)

    async def remove(self, wanted: FindEvent, asked: Asked) -> Prepared:
        found = await self._store.read(lambda conn: occurrence_named(conn, wanted, asked))
        return _deletion(found, wanted.scope, asked)

    async def _delete_several(
        self, first: Occurrence, until: date, asked: Asked
    ) -> Prepared | None:
        """Prepare to cancel the times of a series from one of them to a day; None where that is only the one."""
        after = midnight(until + _DAY, asked.household.zone)
        if after <= first.interval.start:
            raise InputError("the last day is before the first")
        span = Interval(first.interval.start, after)
        times = await self._store.read(
            lambda conn: occurrences_of(conn, first.event, span, asked.viewer)
        )
        if len(times) == 1:
            return None
        effects = [
            CancelOccurrence.model_validate(
                {"event_id": each.event.id, "original_start": each.original_start}
            )
            for each in times
        ]
        summary = f"Cancel {told(first, asked)} to {when(times[-1], asked)}: {len(times)} times"
        prepared = _prepared(first, summary, effects, asked)
        last = occurrence_json(times[-1], asked)["start"]
        return replace(prepared, result={**prepared.result, "times": len(times), "last": last})

    async def free(self, wanted: FindFree, asked: Asked) -> Found:
        start, end = (
            read_moment(text, asked) for text in (wanted.between.from_, wanted.between.to)
        )
        # A day that is named as the end belongs to it.
        until = midnight(end.at.date() + _DAY, asked.household.zone) if end.is_day else end.at
        if until <= start.at:
            raise InputError("the end is before the start")
        span = Interval(start.at, until)
        return await self._store.read(lambda conn: time_of(conn, wanted, span, asked))


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
    who = (asked.member.id,) if wanted.who is None else read_who(wanted.who, asked)
    responsible = read_who(wanted.responsible, asked)
    scope = scope_for(wanted, asked, text=wanted.summary, whose=(*who, *responsible), is_visit=True)
    event = Event(
        id=stable_id(asked.household.id, "chat", asked.turn_id, asked.number),
        household=asked.household.id,
        kind=EventKind.BREAK if all_day and length > _DAY else EventKind.BOOKING,
        summary=wanted.summary.strip(),
        start=first,
        duration=length,
        all_day=all_day,
        tz=zone.key,
        who=who,
        responsible=responsible,
        place=place_of(wanted.location or "", asked),
        rrule=None if wanted.rrule is None else wanted.rrule.removeprefix("RRULE:"),
        exdates=tuple(
            datetime.combine(each, first.astimezone(zone).time(), zone)
            for each in wanted.except_days
        ),
        provenance=provenance(asked),
    )
    return private_to(event, asked.member.id) if is_private(scope) else replace(event, scope=scope)


def _deletion(found: Occurrence, scope: Scope, asked: Asked) -> Prepared:
    """Prepare that an event, or part of a series, takes place no more."""
    common = {"event_id": found.event.id}
    effect: Effect
    match reach_of(found, scope):
        case Scope.SERIES:
            effect = CancelEvent.model_validate(common)
        case Scope.FOLLOWING:
            effect = ended_before(found)
        case Scope.OCCURRENCE:
            one = {"original_start": found.original_start}
            effect = CancelOccurrence.model_validate(common | one)
    summary = f"Cancel {told(found, asked)}{_all_of(found, scope)}"
    return _prepared(found, summary, [effect], asked)


def _to_be_changed(conn: Connection, wanted: UpdateEventOf, asked: Asked) -> Occurrence:
    """Return the occurrence that is meant: of a recurring event the one on the new day, if it takes place then.

    "Change judo to 6pm on the 29th" is about the judo of that day, and does not move the next one there.
    """
    found = find_occurrence(conn, wanted, asked)
    start = wanted.changes.start_time
    is_named = wanted.on is not None or wanted.event_id is not None
    if start is None or is_named or found.event.rrule is None:
        return found
    day = read_moment(start, asked, around=found.interval.start).at.astimezone(asked.household.zone)
    span = local_days(day.date(), day.date() + timedelta(days=1), asked.household.zone)
    return next(iter(occurrences_of(conn, found.event, span, asked.viewer)), found)


def _event_meant(conn: Connection, words: str, asked: Asked) -> FindEvent:
    """Return how an event is found: by its id where the words are one, else by them."""
    is_id = find_event(conn, asked.viewer, words.strip()) is not None
    return FindEvent(event_id=words.strip()) if is_id else FindEvent(find_by=words)


def _only(event: Event) -> Occurrence:
    """Return an event that is not in the calendar yet as its first occurrence."""
    end = event.start + event.duration if event.all_day else shifted(event.start, event.duration)
    return Occurrence(
        event=event,
        original_start=event.start,
        interval=Interval(event.start, end),
        state=EventState.CONFIRMED,
        responsible=event.responsible,
        place=event.place,
    )


def _collisions(conn: Connection, new: Occurrence, asked: Asked) -> Sequence[Occurrence]:
    """Return what those who take part are busy with at the same time."""
    if new.event.all_day:
        return ()
    people = (*new.event.who, *new.responsible)
    return busy(conn, people, new.interval, asked, ignore=(new.event.id,))


def _as_seen_with(new: Occurrence, others: Sequence[Occurrence]) -> Sequence[Occurrence]:
    """Return occurrences as everybody may see them who may see another: they stand on the same card.

    What is private to one member only says that this one is busy; a surprise that some of them must not see is left out.
    """
    scope = new.event.scope
    return [
        seen
        for each in others
        if (seen := each if narrowest({scope, each.event.scope}) == scope else as_busy(each))
        is not None
    ]


def _cancelled(conn: Connection, event: Event) -> Sequence[datetime]:
    """Return the original starts of occurrences that do not take place."""
    return [
        each.original_start
        for each in list_overrides(conn, event.household, event.id)
        if each.state is EventState.CANCELLED
    ]


def _all_of(occurrence: Occurrence, scope: Scope) -> str:
    if occurrence.event.rrule is None:
        return ""
    further = {
        Scope.SERIES: " and all the others in the series",
        Scope.FOLLOWING: " and all later times of it",
    }
    return further.get(scope, "")


def _prepared(found: Occurrence, summary: str, effects: Sequence[Effect], asked: Asked) -> Prepared:
    return Prepared(
        type=ActionType.SCHEDULE_CHANGE,
        summary=summary,
        effects=tuple(each.frozen() for each in effects),
        shown=shown_lines(found, asked),
        result=occurrence_json(found, asked),
    )


def _colliding(prepared: Prepared, collisions: Sequence[Occurrence], asked: Asked) -> Prepared:
    """Return what was prepared with what it collides with."""
    shown = {"beside": "; ".join(line(each, asked) for each in collisions)} if collisions else {}
    result = {"conflicts": [occurrence_json(each, asked) for each in collisions]}
    return replace(
        prepared, shown={**prepared.shown, **shown}, result={**prepared.result, **result}
    )


def _bans(conn: Connection, new: Occurrence, asked: Asked) -> list[dict[str, Any]]:
    """Return what somebody said that those who take part in an event are not to do then."""
    return banned(conn, new.interval, asked, who=new.event.who, what=new.event.summary)


def _against(prepared: Prepared, bans: Sequence[Mapping[str, Any]]) -> Prepared:
    """Return what was prepared with what was said against it: then a person has to say yes first."""
    if not bans:
        return prepared
    result = {**prepared.result, "told_against": bans}
    return replace(prepared, stakes=Stakes.HIGH, result=result)
