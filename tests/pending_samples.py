"""Households, events and proposals that tests of pending actions build on."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.actions.effects.calendar import AddEvent
from kinkeeper.actions.model import ActionType, Choice, Proposal
from kinkeeper.calendar.model import Event, EventKind, Provenance, SourceType
from kinkeeper.calendar.repository import list_events
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.household.viewers import Viewer

NOW = datetime(2026, 5, 11, 9, 0, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Vienna")

PARENT = Member(id="ines", name="Ines", role=Role.PARENT)
GUARDIAN = Member(id="omar", name="Omar", role=Role.GUARDIAN)
HELPER = Member(id="bea", name="Bea", role=Role.HELPER)
CHILD = Member(id="tara", name="Tara", role=Role.CHILD)
FRIEND = Member(id="lou", name="Lou", role=Role.OTHER)


def household(household_id: str = "vienna") -> Household:
    return Household(
        id=household_id,
        zone=ZONE,
        locale="en-GB",
        bot_name="Kin",
        owner=PARENT.id,
        members=(PARENT, GUARDIAN, HELPER, CHILD, FRIEND),
    )


FAMILY = household()
EXPIRES = datetime(2026, 5, 15, tzinfo=ZONE)
"""When the sample proposal expires: its checkup is on the day before."""


def event(name: str = "checkup", *, household_id: str = FAMILY.id, **fields: Any) -> Event:
    plain = Event(
        id=stable_id(household_id, "sample", name),
        household=household_id,
        kind=EventKind.BOOKING,
        summary=f"Tara {name}",
        start=datetime(2026, 5, 14, 16, 0, tzinfo=ZONE),
        duration=timedelta(minutes=45),
        tz=ZONE.key,
        who=(CHILD.id,),
        provenance=Provenance(source_type=SourceType.OBSERVER, source_id=name),
    )
    return replace(plain, **fields)


def weekly(name: str = "judo", *, household_id: str = FAMILY.id) -> Event:
    return event(name, household_id=household_id, rrule="FREQ=WEEKLY;BYDAY=TH")


def adding(*events: Event) -> tuple[Mapping[str, Any], ...]:
    return tuple(AddEvent(event=each).frozen() for each in events)


def choice(label: str, *events: Event) -> Choice:
    return Choice(label=label, effects=adding(*events), result=f"{label} it is.")


def proposal(source_id: str = "m1", **fields: Any) -> Proposal:
    household_id = fields.get("household", FAMILY.id)
    plain = Proposal(
        household=household_id,
        type=ActionType.EVENT_CREATE,
        source_type="OBSERVER",
        source_id=source_id,
        slot="0",
        chat_id="chat-1",
        extraction={
            "assigned_to": [PARENT.id],
            "child": [CHILD.id],
            "activity": None,
            "dates": ["2026-05-14"],
            "times": ["16:00"],
        },
        extraction_confidence=0.9,
        summary=f"Tara checkup, Thu 14 May 16:00 ({source_id})",
        effects=adding(event(source_id, household_id=household_id)),
        choices=(),
        merge_key=None,
    )
    return replace(plain, **fields)


def summaries(conn: Connection, household_id: str = FAMILY.id) -> list[str]:
    return sorted(each.summary for each in list_events(conn, Viewer.whole(household_id)))
