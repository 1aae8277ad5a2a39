"""A household's rows as idle thought looks at them, for its tests."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from kinkeeper.background.drift.model import LOOK_AHEAD, LOOK_BACK, Observation, Snapshot
from kinkeeper.background.drift.observations import observed
from kinkeeper.calendar.model import Event, EventKind, Occurrence, Override, Provenance, SourceType
from kinkeeper.calendar.recurrence import expand
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import Interval
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.household.viewers import viewer_for
from kinkeeper.memory.model import Fact
from kinkeeper.notes.model import Note
from kinkeeper.tasks.model import Place, Task
from memory_samples import fact

ZONE = ZoneInfo("Europe/London")
NOW = datetime(2026, 3, 2, 10, tzinfo=ZONE)
"""A Monday."""
DAY, WEEK = timedelta(days=1), timedelta(days=7)
HOUSE = Household(
    id="vienna",
    zone=ZONE,
    locale="en-GB",
    bot_name="Kin",
    owner="amara",
    members=(
        Member(id="amara", name="Amara", role=Role.PARENT),
        Member(id="tom", name="Tom", role=Role.PARENT),
        Member(id="lena", name="Lena", role=Role.HELPER),
        Member(id="kofi", name="Kofi", role=Role.CHILD),
        Member(id="ella", name="Ella", role=Role.CHILD),
        Member(id="gran", name="Gran", role=Role.OTHER),
    ),
)


def event(summary: str, start: datetime = NOW, **fields: Any) -> Event:
    plain = Event(
        id=stable_id("vienna", summary, start),
        household="vienna",
        kind=EventKind.BOOKING,
        summary=summary,
        start=start,
        duration=timedelta(hours=1),
        tz=ZONE.key,
        provenance=Provenance(source_type=SourceType.CHAT, source_id=summary),
    )
    return replace(plain, **fields)


def weekly(summary: str, start: datetime, **fields: Any) -> Event:
    return event(summary, start, rrule="FREQ=WEEKLY", **fields)


def times(of: Event, *changed: Override) -> list[Occurrence]:
    """Return an event's occurrences as far as idle thought looks."""
    return list(expand(of, changed, Interval(NOW - LOOK_BACK, NOW + LOOK_AHEAD)))


def task(title: str, **fields: Any) -> Task:
    plain = Task(
        id=stable_id("vienna", title, fields.get("deadline")),
        household="vienna",
        title=title,
        tz=ZONE.key,
        place=Place(channel="web"),
        created_at=NOW - DAY,
        asked_by="amara",
    )
    return replace(plain, **fields)


def listed(title: str, *lines: str, **fields: Any) -> Note:
    body = "\n".join(f"- {each}" for each in lines)
    plain = Note(
        id=stable_id("vienna", title),
        household="vienna",
        title=title,
        body=body,
        created_at=NOW,
        made_by="tom",
    )
    return replace(plain, **fields)


def told(narrative: str, subject: str, speaker: str = "amara", **fields: Any) -> Fact:
    return fact(
        narrative,
        subject=subject,
        speaker=speaker,
        narrative=narrative,
        said_at=fields.pop("said_at", NOW - 9 * DAY),
        **fields,
    )


def snapshot_of(member: str, house: Household = HOUSE, **rows: Any) -> Snapshot:
    """Return what a member sees of rows."""
    found = house.member(member)
    assert found is not None
    now = rows.pop("now", NOW)
    viewer = viewer_for(house, found, now=now)
    occurrences: Sequence[Occurrence] = rows.pop("occurrences", ())
    kept = {
        name: [each for each in rows.pop(name, ()) if viewer.sees(each.scope)]
        for name in ("tasks", "notes", "facts")
    }
    return Snapshot(
        household=house,
        member=found,
        now=now,
        **kept,
        **rows,
        occurrences=[each for each in occurrences if viewer.sees_event(each.event.scope)],
    )


def seen_by(member: str, house: Household = HOUSE, **rows: Any) -> list[Observation]:
    """Return what is observed for a member of rows as far as they may see them."""
    return observed(snapshot_of(member, house, **rows))


def all_seen(house: Household = HOUSE, *, of: Iterable[str] = (), **rows: Any) -> list[Observation]:
    """Return what is observed for every member."""
    members = of or [each.id for each in house.members]
    return [each for member in members for each in seen_by(member, house, **rows)]
