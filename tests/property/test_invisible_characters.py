"""Characters that nobody sees, or that reorder a line, stay in no title, place or name, whichever way they come."""

import json
import sys
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from icalendar import Calendar, Todo
from icalendar import Event as Component

from kinkeeper.actions.effects.calendar import AddEvent, event_to_json
from kinkeeper.actions.event_files import read_events
from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.calendar.event_records import event_of_record
from kinkeeper.calendar.event_rows import event_from_row, event_row
from kinkeeper.calendar.model import Event, EventKind, Override, Provenance, SourceType
from kinkeeper.connectors.caldav import objects
from kinkeeper.connectors.caldav.kinds import Todos
from kinkeeper.core.errors import ConfigError, InputError
from kinkeeper.household.file import parse_household
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.notes.model import checked_body, checked_title
from kinkeeper.tasks.model import Place, Task
from kinkeeper.tasks.turns import checked

NOW = datetime(2026, 5, 4, 8, tzinfo=UTC)
ZONE = ZoneInfo("Asia/Kolkata")
FAMILY = Household(
    id="h",
    zone=ZONE,
    locale="en-IN",
    bot_name="Bot",
    owner="asha",
    members=(Member(id="asha", name="Asha", role=Role.PARENT),),
)
REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
HIDDEN = [
    chr(point)
    for point in range(sys.maxunicode + 1)
    if unicodedata.category(chr(point)) in {"Cc", "Zl", "Zp"}
    or unicodedata.bidirectional(chr(point)) in REORDERING
]
words = st.lists(
    st.one_of(st.sampled_from(HIDDEN), st.sampled_from("Pottery 8 ATTENDEE:mailto:x")),
    min_size=1,
    max_size=12,
).map(lambda signs: f"A{''.join(signs)}b")


def event(text: str) -> Event:
    return Event(
        id="e",
        household="h",
        kind=EventKind.BOOKING,
        summary=text,
        place=text,
        activity=text,
        task=text,
        start=NOW.astimezone(ZONE),
        duration=timedelta(hours=1),
        tz=ZONE.key,
        provenance=Provenance(source_type=SourceType.CHAT, source_id="x"),
    )


def texts(found: Event) -> list[str]:
    return [each or "" for each in (found.summary, found.place, found.activity, found.task)]


def object_of(kind: type[Component] | type[Todo], text: str) -> bytes:
    component = kind()
    component.add("uid", "one@elsewhere")
    for name in ("summary", "location", "description"):
        component.add(name, text)
    component.add("dtstart", NOW)
    calendar = Calendar()
    calendar.add_component(component)
    return bytes(calendar.to_ical())


def from_effect(text: str) -> list[str]:
    """A page, a model, a tool, a chat: what they want is frozen as an effect."""
    record = event_to_json(event("plain")) | {"summary": text, "place": text}
    return texts(AddEvent.model_validate({"event": record}).event)


def from_database(text: str) -> list[str]:
    row = event_row(event("plain")) | {"summary": text, "place": text}
    return texts(event_from_row(row))


def from_record(text: str) -> list[str]:
    record = {"summary": text, "location": text, "start": "2026-05-06"}
    return texts(event_of_record(record, FAMILY, key="k", source=SourceType.WEB))


def from_file(text: str) -> list[str]:
    lines = object_of(Component, text).splitlines(keepends=True)
    return [
        each
        for found in read_events(lines, FAMILY, ImportLimit(NOW)).events
        for each in texts(found)
    ]


def from_json_lines(text: str) -> list[str]:
    line = json.dumps({"summary": text, "location": text, "start": "2026-05-06"}).encode()
    return [
        each
        for found in read_events([line], FAMILY, ImportLimit(NOW)).events
        for each in texts(found)
    ]


def from_calendar_server(text: str) -> list[str]:
    found = objects.read(object_of(Component, text), FAMILY)
    task = Todos(FAMILY).read(object_of(Todo, text)).task
    return [*texts(found.event), task.title]


def from_occurrence(text: str) -> list[str]:
    return [Override(event_id="e", original_start=NOW, place=text).place or ""]


def from_task(text: str) -> list[str]:
    task = Task(
        id="t", household="h", title=text, tz=ZONE.key, place=Place(channel="web"), created_at=NOW
    )
    return [checked(task).title]


def from_note(text: str) -> list[str]:
    return [checked_title(text), *checked_body(text).split("\n")]


WAYS = (
    event,
    from_effect,
    from_database,
    from_record,
    from_file,
    from_json_lines,
    from_calendar_server,
    from_occurrence,
    from_task,
    from_note,
)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=60, deadline=None)
@given(text=words)
def test_nothing_invisible_stays(way: Callable[[str], list[str] | Event], text: str) -> None:
    found = way(text)
    kept = texts(found) if isinstance(found, Event) else found
    assert any(each.startswith("A") for each in kept)
    assert not [sign for each in kept for sign in each if sign in HIDDEN]
    assert all(len(each.splitlines()) <= 1 for each in kept)


@pytest.mark.parametrize("sign", HIDDEN)
def test_every_one_of_them_goes_and_everything_else_stays(sign: str) -> None:
    assert sign not in event(f"Judo{sign}club").summary
    said = "Größe 8 · 柔道 👨‍👩‍👧 ‘quoted’ नृत्य"
    assert event(said).summary == said


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u2028", "\x85", "\x1b"])
def test_a_household_file_with_such_a_name_is_refused(sign: str) -> None:
    name = json.dumps(f"As{sign}ha")
    text = f"""[household]
id = "h"
timezone = "Asia/Kolkata"
[[members]]
id = "asha"
name = {name}
role = "parent"
"""
    with pytest.raises(ConfigError):
        parse_household(text, "household.toml")
    parse_household(text.replace(name, '"Asha"'), "household.toml")


def test_a_title_that_says_nothing_is_refused_or_named() -> None:
    assert event("\u202e").summary == "(untitled)"
    with pytest.raises(InputError):
        event_of_record(
            {"summary": "\u202e", "start": "2026-05-06"}, FAMILY, key="k", source=SourceType.WEB
        )
