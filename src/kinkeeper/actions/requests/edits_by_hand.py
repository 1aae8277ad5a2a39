"""What a person wants to be different about an event that they edit by hand, checked field by field."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from pydantic import Field
from sqlalchemy import Connection

from kinkeeper.actions.effects.calendar import AddEvent, SetEventScope, UpdateEvent
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.requests.event_edits import fields_changed, reach_of
from kinkeeper.actions.requests.event_search import find_occurrence
from kinkeeper.actions.requests.event_views import EventChanges, FindEvent, Scope
from kinkeeper.actions.requests.model import Asked
from kinkeeper.actions.requests.parameters import (
    Moment,
    SetAudience,
    changed_scope,
    is_private,
    read_moment,
    shifted,
)
from kinkeeper.calendar.event_limits import check_event
from kinkeeper.calendar.event_version import version_of
from kinkeeper.calendar.model import EventState, Occurrence
from kinkeeper.calendar.repository import find_override, load_event
from kinkeeper.calendar.search import times_of
from kinkeeper.core.errors import (
    DeniedError,
    FieldError,
    InputError,
    NotFoundError,
    OutdatedError,
    UnclearError,
)
from kinkeeper.core.time import Interval, midnight

_DAY = timedelta(days=1)
_INSTANT = timedelta(seconds=1)


class HandChanges(EventChanges):
    """What is to be different; what is left out stays as it is."""

    rrule: str | None = Field(
        default=None, description="RFC 5545 rule without prefix; empty if it no longer repeats"
    )
    private: bool | None = Field(
        default=None, description="whether only the person editing may see it"
    )


class EditEvent(FindEvent):
    """One event and what is to be different about it; `on` is the original start of the occurrence."""

    changes: HandChanges


@contextmanager
def of_field(name: str) -> Iterator[None]:
    """Say of which field an error is.

    Raises:
        FieldError: What was raised inside, with the name.
    """
    try:
        yield
    except FieldError:
        raise
    except (InputError, UnclearError, DeniedError) as error:
        raise FieldError(name, str(error)) from error


def occurrence_named(conn: Connection, wanted: FindEvent, asked: Asked) -> Occurrence:
    """Return the occurrence with an original start, of an event that is named by its id.

    Args:
        wanted: Without `on`, the next occurrence is meant; what does not repeat has only one, wherever it was moved.

    Raises:
        NotFoundError: There is no such occurrence, or it does not take place.
    """
    if wanted.on is None or wanted.event_id is None:
        return find_occurrence(conn, wanted, asked)
    event = load_event(conn, asked.viewer, wanted.event_id)
    start = event.start if event.rrule is None else read_moment(wanted.on, asked).at
    override = find_override(conn, event.household, event.id, start)
    near = [start, *([override.start] if override and override.start else [])]
    window = Interval(min(near), max(near) + _INSTANT)
    for each in times_of(event, [override] if override else [], window, asked.viewer):
        if each.original_start == start and each.state is EventState.CONFIRMED:
            return each
    raise NotFoundError(f"{event.summary!r} isn't on then")


def require_version(conn: Connection, wanted: FindEvent, version: str, asked: Asked) -> None:
    """Refuse to change an event that is not any more as the person saw it.

    Raises:
        OutdatedError: It has changed.
    """
    event = load_event(conn, asked.viewer, wanted.event_id or "")
    if version_of(conn, event) != version:
        raise OutdatedError(
            f"Somebody changed {event.summary!r} while you were editing it. Look at it again, then save."
        )


def interval_after(
    occurrence: Occurrence, changes: HandChanges, asked: Asked, *, usual_length: timedelta
) -> tuple[Interval, bool]:
    """Return when an occurrence takes place then, and whether it takes whole days.

    Args:
        usual_length: How long something takes that took whole days and gets a time of day.

    Raises:
        FieldError: A time cannot be read, has passed, or the end is not after the start.
    """
    event, zone = occurrence.event, asked.household.zone
    begins, ends = (
        each.astimezone(zone) for each in (occurrence.interval.start, occurrence.interval.end)
    )
    if changes.start_time is None and changes.end_time is None:
        return occurrence.interval, event.all_day
    start = Moment(at=begins, is_day=event.all_day)
    if changes.start_time is not None:
        with of_field("start"):
            start = read_moment(changes.start_time, asked)
    if start.is_day:
        length = (ends.date() - begins.date()).days if event.all_day else 1
        after = start.at.date() + length * _DAY
        if changes.end_time is not None:
            with of_field("end"):
                after = read_moment(changes.end_time, asked).at.date() + _DAY
        interval = _checked(midnight(start.at.date(), zone), midnight(after, zone))
    else:
        end = shifted(start.at, usual_length if event.all_day else occurrence.interval.duration)
        if changes.end_time is not None:
            with of_field("end"):
                end = read_moment(changes.end_time, asked, around=start.at).at
        interval = _checked(start.at, end)
    if interval.start != occurrence.interval.start:
        _require_ahead(interval, asked)
    return interval, start.is_day


def hand_fields(
    occurrence: Occurrence, changes: HandChanges, scope: Scope, asked: Asked
) -> dict[str, Any]:
    """Return the fields of the event, besides its time and who may see it, that would differ.

    Raises:
        FieldError: Somebody is not known, or the rule cannot be followed.
    """
    with of_field("who"):
        fields = fields_changed(occurrence, changes, asked)
    if changes.rrule is None:
        return fields
    rule = changes.rrule.removeprefix("RRULE:") or None
    if rule != occurrence.event.rrule:
        if reach_of(occurrence, scope) is Scope.OCCURRENCE:
            raise FieldError(
                "rrule", "To change how it repeats, choose “This and later ones” or “All of them”."
            )
        fields["rrule"] = rule
    return fields


def audience_after(
    occurrence: Occurrence, changes: HandChanges, scope: Scope, asked: Asked, *, after: Occurrence
) -> tuple[Effect, ...]:
    """Return the effect that changes who may see an event; none where that stays as it is.

    Args:
        after: The occurrence with everything else that changes.

    Raises:
        FieldError: They may not change it, or not for a part of a series.
    """
    event = occurrence.event
    is_wanted = changes.private is not None
    if not is_wanted or changes.private == is_private(event.scope):
        return ()
    with of_field("private"):
        if reach_of(occurrence, scope) is not Scope.SERIES:
            raise InputError("To change who can see it, choose “All of them”.")
        if not changes.private and not asked.member.is_adult:
            raise DeniedError("An adult has to add that to the family's calendar.")
        people = {*after.event.who, *after.responsible} or {event.provenance.confirmed_by or ""}
        wanted = SetAudience(find_by=event.id, private=bool(changes.private))
        new_scope = changed_scope(event.scope, wanted, asked, people)
    return (SetEventScope(event_id=event.id, new_scope=new_scope),)


def check_rule_of(effects: Iterable[Effect]) -> None:
    """Refuse a rule that cannot be followed.

    Raises:
        FieldError: It gives nothing, or too much.
    """
    with of_field("rrule"):
        for each in effects:
            if isinstance(each, AddEvent | UpdateEvent):
                check_event(each.event)


def _checked(start: datetime, end: datetime) -> Interval:
    if end <= start:
        raise FieldError("end", "The end has to be after the start.")
    return Interval(start, end)


def _require_ahead(interval: Interval, asked: Asked) -> None:
    if interval.end <= asked.now:
        raise FieldError("start", "That time has passed. Choose a later one.")
