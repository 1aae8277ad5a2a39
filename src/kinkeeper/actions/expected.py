"""What is expected to take place: the calendar, with what open proposals would change marked on it.

This is the one reader of the days for whatever answers or shows something. What is proposed stands
beside what is confirmed and is marked as not confirmed; nothing confirmed is left out because a
proposal would cancel or move it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from kinkeeper.actions.authority import is_told_by_another
from kinkeeper.actions.effects.calendar import (
    AddEvent,
    AssignOccurrence,
    CancelEvent,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.registry import read_effects
from kinkeeper.actions.repository import list_actions, open_actions
from kinkeeper.calendar.model import Change, Event, EventState, Occurrence, Waiting
from kinkeeper.calendar.recurrence import in_utc, share_time
from kinkeeper.calendar.repository import find_event, list_overrides
from kinkeeper.calendar.search import by_start, occurrences_between, times_of
from kinkeeper.core.time import Interval, as_utc
from kinkeeper.household.viewers import Viewer

_Key = tuple[str, datetime]


def expected_between(
    conn: Connection,
    viewer: Viewer,
    interval: Interval,
    *,
    now: datetime,
    member: str | None = None,
    with_busy: bool = False,
) -> list[Occurrence]:
    """Return what takes place in an interval and what open proposals would change about it, by start.

    Args:
        viewer: On whose behalf: proposals that they may not read do not count.
        interval: Span of interest; what only touches it is not returned.
        now: Aware; proposals that expired by then do not count.
        member: Only what this member takes part in, is in charge of, claims or was asked to do.
        with_busy: Whether others' private events are wanted as times at which they are busy.
    """
    confirmed = occurrences_between(conn, viewer, interval, with_busy=with_busy)
    found = with_proposals(conn, viewer, confirmed, interval, now=now)
    return [each for each in found if member is None or member in people_of(each)]


def with_proposals(
    conn: Connection,
    viewer: Viewer,
    confirmed: Iterable[Occurrence],
    interval: Interval,
    *,
    now: datetime,
) -> list[Occurrence]:
    """Return occurrences with the open proposals about them, and what proposals would add, by start.

    Args:
        viewer: On whose behalf: proposals that they may not read do not count.
        interval: What is proposed outside of it is left out.
        now: Aware; proposals that expired by then do not count.
    """
    days = _Days(conn, viewer, in_utc(interval), {_key(each): each for each in confirmed})
    for action in open_actions(conn, viewer, now=now):
        if viewer.sees_unconfirmed or not is_told_by_another(action, viewer.member):
            days.lay_over(action)
    return sorted([*days.confirmed.values(), *days.proposed.values()], key=by_start)


def given_to(
    conn: Connection, viewer: Viewer, member: str, *, since: datetime, now: datetime
) -> list[str]:
    """Return the ids of the events that requests of late put, or would put, a member in charge of, the latest first.

    Args:
        since: Aware; only what was asked for from then on.
    """
    found = list_actions(conn, viewer, statuses=_GIVING, now=now, since=since)
    effects = (
        each
        for one in reversed(found)
        if one.proposal.type.is_about_calendar and one.undone_at is None
        for each in _read(one, one.proposal.effects)
    )
    return [
        each.event_id if isinstance(each, AssignOccurrence) else each.event.id
        for each in effects
        if isinstance(each, AddEvent | UpdateEvent | AssignOccurrence) and member in _people([each])
    ]


def told_once(found: Sequence[Occurrence]) -> list[Occurrence]:
    """Return occurrences without those that would only move one that stands among them, which tells of it itself.

    Args:
        found: As `with_proposals` returns them.
    """
    told = {
        (each.event.id, waiting.action_id, waiting.moved_to)
        for each in found
        if each.is_confirmed
        for waiting in each.waiting
        if waiting.moved_to is not None
    }
    return [
        each
        for each in found
        if each.is_confirmed
        or all((each.event.id, one.action_id, one.moved_to) not in told for one in each.waiting)
    ]


def people_of(occurrence: Occurrence) -> frozenset[str]:
    """Return the members an occurrence concerns: taking part, in charge, claiming it, or asked to do it."""
    waiting = (member for each in occurrence.waiting for member in (*each.claimed_by, *each.asked))
    return frozenset((*occurrence.event.who, *occurrence.responsible, *waiting))


@dataclass(slots=True)
class _Days:
    """The occurrences of an interval, and what proposals do to them.

    Attributes:
        interval: In UTC.
        confirmed: By event id and original start.
        proposed: What only proposals would put there, by what it is; each once, however many propose it.
    """

    conn: Connection
    viewer: Viewer
    interval: Interval
    confirmed: dict[_Key, Occurrence]
    proposed: dict[object, Occurrence] = field(default_factory=dict)

    def lay_over(self, action: PendingAction) -> None:
        """Mark what one proposal would change."""
        for effect, waiting in _changes(action):
            match effect:
                case AddEvent():
                    self._add(effect.event, waiting)
                case AssignOccurrence():
                    is_left = not effect.responsible
                    self._mark(waiting, effect.event_id, effect.original_start, is_left=is_left)
                case CancelOccurrence():
                    self._mark(waiting, effect.event_id, effect.original_start)
                case MoveOccurrence():
                    self._move(effect, waiting)
                case CancelEvent():
                    self._mark(waiting, effect.event_id)
                case UpdateEvent():
                    self._update(effect.event, waiting)
                case _:
                    pass

    def _mark(
        self,
        waiting: Waiting,
        event_id: str,
        original_start: datetime | None = None,
        *,
        is_left: bool = False,
    ) -> None:
        """Mark one occurrence of an event, or all of them.

        Args:
            is_left: Whether nobody would be in charge of it.
        """
        for key, each in self.confirmed.items():
            if key[0] == event_id and original_start in {None, key[1]}:
                marked = replace(waiting, leaves=each.responsible) if is_left else waiting
                self.confirmed[key] = replace(each, waiting=(*each.waiting, marked))

    def _add(self, event: Event, waiting: Waiting) -> None:
        if self.viewer.sees_event(event.scope):
            for each in times_of(event, (), self.interval, self.viewer):
                self._propose(each, waiting)

    def _propose(self, occurrence: Occurrence, waiting: Waiting) -> None:
        event = occurrence.event
        key = (
            event.kind,
            event.summary,
            event.task,
            event.who,
            occurrence.responsible,
            occurrence.interval,
        )
        if occurrence.state is EventState.CONFIRMED and key not in self.proposed:
            self.proposed[key] = replace(occurrence, waiting=(waiting,), is_confirmed=False)

    def _move(self, effect: MoveOccurrence, waiting: Waiting) -> None:
        event = find_event(self.conn, self.viewer, effect.event_id)
        if event is None:
            return
        length = event.duration if effect.new_duration is None else effect.new_duration
        start = as_utc(effect.new_start)
        key = effect.event_id, as_utc(effect.original_start)
        now = self.confirmed.get(key) or _single(event, key[1])
        moved = replace(now, interval=Interval(start, start + length))
        self._put_elsewhere(now, moved, waiting)

    def _put_elsewhere(self, now: Occurrence, moved: Occurrence, waiting: Waiting) -> None:
        """Mark an occurrence that a proposal moves, and propose it where it would be."""
        waiting = replace(waiting, moved_to=moved.interval, moved_from=now.interval)
        self._mark(waiting, *_key(now))
        if share_time(moved.interval, self.interval):
            self._propose(moved, waiting)

    def _update(self, event: Event, waiting: Waiting) -> None:
        """Mark what a new version of an event leaves in its place, and propose what it puts elsewhere."""
        stands = find_event(self.conn, self.viewer, event.id)
        if stands is None or not self.viewer.sees_event(event.scope):
            return
        waiting = replace(waiting, claimed_by=event.responsible)
        if stands.rrule or event.rrule:
            overrides = list_overrides(self.conn, event.household, event.id)
            before = [each for key, each in self.confirmed.items() if key[0] == event.id]
            after = times_of(event, overrides, self.interval, self.viewer)
        else:
            single = _single(stands, stands.start)
            before = [self.confirmed.get(_key(single), single)]
            after = [_single(event, event.start)]
        stay = {each.interval.start for each in before} & {each.interval.start for each in after}
        gone, new = (
            [each for each in times if each.interval.start not in stay] for times in (before, after)
        )
        pairs = [*zip(gone, new, strict=True)] if len(gone) == len(new) else []
        for now, moved in pairs:
            self._put_elsewhere(now, moved, waiting)
        ends = replace(waiting, change=Change.CANCEL, claimed_by=())
        is_end = bool(gone) and not new
        for each in before:
            if is_end and each in gone:
                self._mark(ends, *_key(each))
            elif not is_end and (not pairs or each not in gone):
                self._mark(waiting, *_key(each), is_left=not event.responsible)
        for each in () if pairs else new:
            self._propose(each, waiting)


def _changes(action: PendingAction) -> Iterator[tuple[Effect, Waiting]]:
    """Yield what a proposal would do if everything in it were wanted, each with who claims it or was asked.

    Choices may differ only in who is in charge. That is one job: claimed by all of them where the proposal
    answers a conflict, else without an owner, and all of them were asked.
    """
    proposal = action.proposal
    every = [effect for each in proposal.choices for effect in _read(action, each.effects)]
    asked = () if proposal.conflict_key else _people(every)
    if proposal.effects or not every:
        for effect in _read(action, proposal.effects):
            yield effect, _waiting(action, effect, asked)
        return
    jobs: defaultdict[object, list[Effect]] = defaultdict(list)
    for effect in every:
        jobs[_without_owner(effect)].append(effect)
    for first, *others in jobs.values():
        people = _people([first, *others])
        if len(people) <= 1:
            yield first, _waiting(action, first, asked)
        else:
            claimed = people if proposal.conflict_key else ()
            yield (
                _unowned(first),
                replace(_waiting(action, first, asked), claimed_by=claimed, asked=asked),
            )


def _waiting(action: PendingAction, effect: Effect, asked: tuple[str, ...]) -> Waiting:
    claimed = _people([effect]) if isinstance(effect, AddEvent | AssignOccurrence) else ()
    return Waiting(
        action_id=action.id,
        change=_CHANGES.get(type(effect), Change.UPDATE),
        claimed_by=claimed,
        asked=() if claimed else asked,
        said=_called(action),
    )


def _called(action: PendingAction) -> tuple[str, ...]:
    """Return what people called the thing a proposal is about, in the messages it comes from."""
    found = action.proposal.extraction.get("extracted_entities") or ()
    return tuple(each["surface"] for each in found if each["type"] in _THINGS and each["surface"])


_GIVING: Final = frozenset({ActionStatus.PENDING, ActionStatus.DONE})

_JOBS: Final = frozenset({"pickup", "dropoff", "cover"})
"""Tasks that are a word for what is to be done; "attend" is none."""

_THINGS: Final = frozenset({"activity", "generic", "own_words"})
"""Kinds of words in an extraction that say what something is, and not when, where or whose."""


_CHANGES: Mapping[type[Effect], Change] = {
    AddEvent: Change.ADD,
    AssignOccurrence: Change.ASSIGN,
    CancelEvent: Change.CANCEL,
    CancelOccurrence: Change.CANCEL,
    MoveOccurrence: Change.MOVE,
}


def _read(action: PendingAction, effects: Sequence[Mapping[str, Any]]) -> Sequence[Effect]:
    return read_effects(action.proposal.household, effects)


def _people(effects: Iterable[Effect]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for effect in effects:
        match effect:
            case AddEvent() | UpdateEvent():
                found |= dict.fromkeys(effect.event.responsible)
            case AssignOccurrence():
                found |= dict.fromkeys(effect.responsible)
            case _:
                pass
    return tuple(found)


def _unowned(effect: Effect) -> Effect:
    """Return a job without its owner, whom its summary names, too."""
    if not isinstance(effect, AddEvent):
        return effect
    event = effect.event
    task = event.task if event.task in _JOBS else None
    words = " ".join(part for part in (event.activity, task) if part)
    unowned = replace(event, responsible=(), summary=words or event.summary)
    return effect.model_copy(update={"event": unowned})


def _without_owner(effect: Effect) -> object:
    match effect:
        case AddEvent():
            event = effect.event
            return event.kind, event.task, event.who, event.start, event.duration, event.place
        case AssignOccurrence():
            return effect.event_id, effect.original_start
        case _:
            return effect.model_dump_json()


def _single(event: Event, original_start: datetime) -> Occurrence:
    return Occurrence(
        event=event,
        original_start=original_start,
        state=EventState.CONFIRMED,
        interval=Interval(original_start, original_start + event.duration),
        responsible=event.responsible,
        place=event.place,
    )


def _key(occurrence: Occurrence) -> _Key:
    return occurrence.event.id, as_utc(occurrence.original_start)
