"""Events as objects of a calendar server: what is written reads back as the same, whatever else stands there."""

from dataclasses import replace
from datetime import UTC, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from icalendar import Calendar
from test_calendar_ics import HOME, days_later, events, lines, members

from kinkeeper.calendar.model import Event, EventState, Override, Provenance, SourceType
from kinkeeper.calendar.recurrence import original_starts
from kinkeeper.connectors.caldav.objects import Entry, read, written
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import Interval
from kinkeeper.household.model import Household

HOUSE = Household(id="h", zone=HOME, locale="en-GB", bot_name="Bot", owner="ann")


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    event: Event = draw(events())
    begin = event.start.astimezone(UTC)
    window = Interval(begin - timedelta(days=60), begin + timedelta(days=300))
    starts = list(original_starts(event, window))
    chosen = draw(st.lists(st.sampled_from(starts), max_size=3, unique=True)) if starts else []
    overrides = tuple(
        Override(
            event_id=event.id,
            original_start=start,
            start=draw(st.none() | st.just(days_later(start, 3, event.tz))),
            duration=draw(st.none() | st.just(timedelta(days=1))),
            state=draw(st.none() | st.just(EventState.CANCELLED)),
            responsible=draw(st.none() | members),
            place=draw(st.none() | lines),
        )
        for start in sorted(chosen)
    )
    return Entry(event=event, overrides=overrides)


def with_notes(data: bytes, note: str) -> bytes:
    """Return an object to which another program added a note and a reminder."""
    calendar = Calendar.from_ical(data)
    for component in calendar.walk("VEVENT"):
        component.add("description", note)
        component.add("x-phone-colour", "teal")
    return bytes(calendar.to_ical())


@settings(max_examples=25)
@given(entry=entries())
def test_what_is_written_reads_back_as_the_same(entry: Entry):
    back = read(written(entry, name="Family", places={}), HOUSE)
    assert back.shared() == entry.shared()
    assert back.completed(entry).shared() == entry.shared()
    assert back.completed(entry).event.who == entry.event.who


@settings(max_examples=25)
@given(
    entry=entries(),
    scope=st.sampled_from(["person:ann", "person:bob", "except:,ann,", "household"]),
)
def test_no_change_on_the_server_moves_what_is_private_here(entry: Entry, scope: str):
    ours = replace(entry, event=replace(entry.event, scope=scope))
    there = read(written(ours, name="Family", places={}), HOUSE)
    assert (there.scope == "household") == (scope == "household")
    assert there.completed(ours).scope == scope


@settings(max_examples=25)
@given(entry=entries(), note=lines, title=lines)
def test_writing_over_an_object_keeps_what_is_theirs(entry: Entry, note: str, title: str):
    there = with_notes(written(entry, name="Family", places={}), note)
    changed = replace(entry, event=replace(entry.event, summary=title))
    over = written(changed, name="Family", places={}, over=there)
    assert read(over, HOUSE).shared() == changed.shared()
    whole = next(
        each for each in Calendar.from_ical(over).walk("VEVENT") if "RECURRENCE-ID" not in each
    )
    assert (str(whole["DESCRIPTION"]), str(whole["X-PHONE-COLOUR"])) == (note, "teal")


@settings(max_examples=40)
@given(data=st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_no_bytes_are_more_than_an_object_that_is_left_out(data: bytes):
    try:
        read(b"BEGIN:VCALENDAR\r\n" + data, HOUSE)
    except InputError:
        return


@settings(max_examples=25)
@given(entry=entries())
def test_who_is_in_charge_is_ours_alone(entry: Entry):
    other = replace(entry, event=replace(entry.event, responsible=("somebody",)))
    assert other.shared() == entry.shared()
    assert entry.event.responsible == ("somebody",) or other.fingerprint() != entry.fingerprint()


@settings(max_examples=25)
@given(entry=entries(), uid=members)
def test_what_came_in_a_file_is_known_again_on_the_server(entry: Entry, uid: tuple[str, ...]):
    """An import gives an event an id of its own; its UID still says that it is the server's."""
    source = Provenance(source_type=SourceType.ICS, source_id=f"{'-'.join(uid)}@school")
    imported = replace(entry, event=replace(entry.event, provenance=source))
    assert read(written(imported, name="Family", places={}), HOUSE).id == imported.foreign_id
    assert read(written(entry, name="Family", places={}), HOUSE).id == entry.foreign_id == entry.id
