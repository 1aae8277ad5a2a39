"""Lanes lose nothing: every entry stands once with each of its people, overlaps apart, clock changes and all."""

from datetime import UTC, datetime, timedelta
from itertools import combinations
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.core.time import Interval
from kinkeeper.web.views.lanes import HOUSEHOLD, Entry, Lanes, Look, lay_out

PEOPLE = ("ana", "bo", "cy")
ZONES = ("America/Chicago", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")
DAY = timedelta(hours=24)
# Around the clock changes of both hemispheres, and an ordinary night.
STARTS = (
    datetime(2026, 3, 7, 22, tzinfo=UTC),
    datetime(2026, 3, 28, 20, tzinfo=UTC),
    datetime(2026, 10, 24, 23, tzinfo=UTC),
    datetime(2026, 11, 1, 0, tzinfo=UTC),
    datetime(2026, 6, 3, 17, 11, tzinfo=UTC),
)


@st.composite
def entries(draw: st.DrawFn, start: datetime) -> Entry:
    begin = start + timedelta(minutes=draw(st.integers(-600, 1800)))
    length = timedelta(minutes=draw(st.sampled_from((0, 1, 15, 60, 61, 300, 1800))))
    people = tuple(draw(st.lists(st.sampled_from((*PEOPLE, "guest")), max_size=4)))
    return Entry(
        key=draw(st.uuids()).hex,
        title=draw(st.text(max_size=30)),
        span=Interval(begin, begin + length),
        people=people,
        busy=people[:2],
        look=draw(st.sampled_from(Look)),
    )


@st.composite
def layouts(draw: st.DrawFn) -> tuple[list[Entry], Lanes]:
    start = draw(st.sampled_from(STARTS))
    found = draw(st.lists(entries(start), max_size=12))
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    span = Interval(start, start + DAY)
    return found, lay_out(found, people=PEOPLE, span=span, zone=zone, every=6)


def _is_shown(entry: Entry, lanes: Lanes) -> bool:
    end = max(entry.span.end, entry.span.start + timedelta(microseconds=1))
    if entry.span.start == entry.span.end:
        end = entry.span.start + timedelta(minutes=15)
    return entry.span.start < lanes.span.end and end > lanes.span.start


@given(layouts())
def test_every_entry_stands_exactly_once_in_the_lane_of_each_of_its_people(
    layout: tuple[list[Entry], Lanes],
):
    found, lanes = layout
    for entry in found:
        stands = [
            lane.person
            for lane in lanes.lanes
            for block in lane.blocks
            if block.entry.key == entry.key
        ]
        wanted = set(entry.people or (HOUSEHOLD,)) if _is_shown(entry, lanes) else set()
        assert sorted(stands) == sorted(wanted)


@given(layouts())
def test_blocks_of_one_row_never_overlap(layout: tuple[list[Entry], Lanes]):
    _, lanes = layout
    for lane in lanes.lanes:
        assert all(0 <= block.row < lane.rows for block in lane.blocks)
        for first, second in combinations(lane.blocks, 2):
            if first.row == second.row:
                assert first.x + first.width <= second.x + 0.001


@given(layouts())
def test_blocks_stay_within_the_stretch(layout: tuple[list[Entry], Lanes]):
    _, lanes = layout
    for lane in lanes.lanes:
        for block in lane.blocks:
            assert 0 <= block.x <= 100
            assert 0 <= block.width <= 100.001 - block.x
            assert block.width - 0.001 <= block.room


@given(layouts())
def test_no_overlap_of_a_busy_person_is_lost(layout: tuple[list[Entry], Lanes]):
    found, lanes = layout
    reported = {(c.person, frozenset((c.first.key, c.second.key))) for c in lanes.clashes}
    for first, second in combinations(found, 2):
        if not (_is_shown(first, lanes) and _is_shown(second, lanes)):
            continue
        if Look.GAP in {first.look, second.look} or not first.span.overlaps(second.span):
            continue
        for person in set(first.busy) & set(second.busy):
            assert (person, frozenset((first.key, second.key))) in reported


@given(layouts())
def test_hours_are_local_and_in_order(layout: tuple[list[Entry], Lanes]):
    _, lanes = layout
    places = [tick.x for tick in lanes.ticks]
    assert places == sorted(set(places))
    assert all(tick.at.hour % 6 == 0 and tick.at.minute == 0 for tick in lanes.ticks)
