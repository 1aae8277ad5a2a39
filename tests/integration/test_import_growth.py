"""What a calendar file costs grows with what it holds, and what it may hold is limited."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from time import thread_time
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection

from growth import DOUBLINGS, cpu_seconds, grows_too_fast, takes_too_long
from kinkeeper.actions.calendar_import import Import
from kinkeeper.actions.event_files import EventFile, read_events
from kinkeeper.calendar.event_limits import MOST_OCCURRENCES, ImportLimit
from kinkeeper.calendar.occurrences import extend_horizon
from kinkeeper.calendar.repository import list_events
from kinkeeper.connectors.caldav.incoming_changes import Asking, Incoming
from kinkeeper.connectors.caldav.kinds import Events
from kinkeeper.connectors.caldav.wire import Version
from kinkeeper.core.errors import InputError, UnavailableError
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import RehearsedError, Store, rehearsed

NOW = datetime(2026, 5, 4, 8, tzinfo=UTC)
ANN = Member(id="ann", name="Ann", role=Role.PARENT)
FAMILY = Household(
    id="h",
    zone=ZoneInfo("Africa/Nairobi"),
    locale="en-KE",
    bot_name="Bot",
    owner="ann",
    members=(ANN,),
)
LONGEST_STEP_SECONDS = 1.0
LONGEST_REFUSAL_SECONDS = 5.0


def event(number: int, *lines: str, start: str = "20260506") -> str:
    of = [f"UID:{number}@x", f"DTSTART:{start}T{number % 24:02d}0000Z", "SUMMARY:Choir", *lines]
    return "\r\n".join(["BEGIN:VEVENT", *of, "END:VEVENT", ""])


def singles(count: int) -> str:
    return "".join(event(number) for number in range(count))


def series(rule: str, start: str = "20000101") -> Callable[[int], str]:
    return lambda count: "".join(event(n, f"RRULE:{rule}", start=start) for n in range(count))


def days(count: int) -> list[str]:
    return [f"{datetime(2026, 5, 6) + timedelta(days=n):%Y%m%d}" for n in range(count)]  # noqa: DTZ001


def left_out(count: int) -> str:
    dates = ",".join(f"{day}T000000Z" for day in days(count))
    return event(0, "RRULE:FREQ=DAILY", f"EXDATE:{dates}")


def moved(count: int) -> str:
    changes = [
        event(24, f"RECURRENCE-ID:{day}T000000Z", start=day).replace(
            "T000000Z\r\nSUM", "T013000Z\r\nSUM"
        )
        for day in days(count)
    ]
    return event(0, "RRULE:FREQ=DAILY").replace("UID:0@", "UID:24@") + "".join(changes)


def file(body: str) -> list[bytes]:
    return f"BEGIN:VCALENDAR\r\n{body}END:VCALENDAR\r\n".encode().splitlines(keepends=True)


def read(body: str) -> EventFile:
    return read_events(file(body), FAMILY, ImportLimit(NOW))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(str(tmp_path_factory.mktemp("growth") / "family.sqlite")) as opened:
        yield opened


def cost(store: Store, body: str) -> tuple[float, float]:
    """Import into an empty calendar; returns the CPU seconds of all of it, and of the longest step."""
    steps: list[float] = []

    def work(conn: Connection) -> int:
        extend_horizon(conn, "h", NOW)
        importing = Import(
            id="i", household=FAMILY, member=ANN, now=NOW, name="a file", found=found
        )
        write = (partial(importing.write, conn, step) for step in importing.steps())
        steps.extend(map(cpu_seconds, write))
        return len(list_events(conn, Viewer.of("h", "ann")))

    begun = thread_time()
    found = read(body)
    reading = thread_time() - begun
    with pytest.raises(RehearsedError) as ended:
        store.write_now(rehearsed(work))
    assert ended.value.result == len(found.events) > 0
    return reading + sum(steps), max(steps)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (singles, 50),
        (series("FREQ=DAILY"), 3),
        (series("FREQ=WEEKLY;BYDAY=MO,TH"), 10),
        (series("FREQ=MONTHLY;BYDAY=-1FR", "16000101"), 15),
        (series("FREQ=YEARLY", "19040229"), 25),
        (series("FREQ=DAILY;COUNT=1000"), 3),
        (left_out, 100),
        (moved, 75),
    ],
)
def test_eight_times_as_much_costs_no_more_than_eight_times(
    store: Store, body: Callable[[int], str], count: int
) -> None:
    assert not grows_too_fast(lambda size: cost(store, body(size))[0], count)
    largest = body(2**DOUBLINGS * count)
    assert not takes_too_long(lambda: cost(store, largest)[1], LONGEST_STEP_SECONDS)


@pytest.mark.parametrize(
    "body",
    [
        series("FREQ=DAILY")(1999),
        series("FREQ=DAILY;COUNT=10000")(50),
        singles(10_001),
        series("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24")(1001),
        series("FREQ=DAILY;BYHOUR=1,2,3,4,5,6,7,8,9,10,11,12")(20),
    ],
)
def test_too_much_is_refused_soon_with_the_place_and_what_to_do(body: str) -> None:
    def refused() -> None:
        with pytest.raises(
            InputError,
            match=r"line \d+: there are more than .* up to this point\. Nothing was imported",
        ):
            read(body)

    assert not takes_too_long(partial(cpu_seconds, refused), LONGEST_REFUSAL_SECONDS)


def test_reading_ends_when_nobody_waits() -> None:
    asked = iter([False, False, True])
    limit = ImportLimit(NOW, is_stopped=lambda: next(asked))
    with pytest.raises(UnavailableError, match="stopped"):
        read_events(file(singles(3)), FAMILY, limit)


def test_too_many_left_out_dates_cost_only_their_event() -> None:
    found = read(left_out(2001) + event(5))
    assert [each.provenance.source_id for each in found.events] == ["5@x"]
    assert "2,000" in found.lines[-1]["error"]


def test_a_hostile_calendar_server_s_calendar_is_left_out_where_it_is_too_much() -> None:
    incoming = Incoming(
        household="h", kinds=(Events(FAMILY),), asking=Asking(household=FAMILY, calendar="theirs")
    )
    versions = {
        f"{number}.ics": Version(
            etag="1", data=b"".join(file(event(number, "RRULE:FREQ=DAILY", start="20000101")))
        )
        for number in range(300)
    }
    found = incoming.read(versions, NOW)
    taken = [each for each in found.values() if each.problem is None]
    assert sum(each.rows for each in taken) <= MOST_OCCURRENCES
    left = [each.problem or "" for each in found.values() if each.theirs is None]
    assert len(taken) + len(left) == len(versions) > len(taken) > 0
    assert all("left out here" in each for each in left)
