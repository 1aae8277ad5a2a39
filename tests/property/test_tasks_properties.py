"""Tasks of any kind: what is changed is taken back exactly, and what repeats keeps its hour."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from unicodedata import normalize
from zoneinfo import ZoneInfo

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kinkeeper.actions.requests.free_time import free_times
from kinkeeper.core.errors import ConflictError
from kinkeeper.core.time import Interval, as_utc
from kinkeeper.household.viewers import Viewer
from kinkeeper.notes.model import appended, entries
from kinkeeper.store.store import Store
from kinkeeper.tasks import task_changes
from kinkeeper.tasks.model import Place, Priority, Task, TaskStatus
from kinkeeper.tasks.repository import find_task, last_told, next_due, task_of, task_row
from kinkeeper.tasks.turns import begun, checked, completed, due_reminders, next_reminder

ZONES = [
    ZoneInfo(name) for name in ("America/Chicago", "Europe/Vienna", "Australia/Lord_Howe", "UTC")
]
RULES = [
    "FREQ=DAILY",
    "FREQ=DAILY;INTERVAL=3",
    "FREQ=WEEKLY;BYDAY=MO,FR",
    "FREQ=WEEKLY;INTERVAL=2",
    "FREQ=MONTHLY;BYMONTHDAY=31",
    "FREQ=DAILY;COUNT=5",
    "FREQ=YEARLY",
]
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=30)
START = datetime(2026, 1, 1)  # noqa: DTZ001 - wall time


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    zone = draw(st.sampled_from(ZONES))
    wall = START + timedelta(minutes=draw(st.integers(0, 600_000)))
    deadline = draw(st.sampled_from([None, wall.replace(tzinfo=zone)]))
    lead = timedelta(minutes=draw(st.integers(0, 3000)))
    remind_at = draw(st.sampled_from([None, (wall - lead).replace(tzinfo=zone)]))
    rule = draw(st.sampled_from([None, *RULES])) if deadline or remind_at else None
    return begun(
        Task(
            id="t",
            household="h",
            title="x" + draw(TEXT),
            description=draw(TEXT),
            tz=zone.key,
            place=Place(channel="web", thread_id=draw(st.sampled_from([None, "th"]))),
            created_at=START.replace(tzinfo=zone),
            priority=draw(st.sampled_from(Priority)),
            deadline=deadline,
            remind_at=remind_at,
            rrule=rule,
            who=draw(st.sampled_from([(), ("a",), ("a", "b")])),
        )
    )


@contextmanager
def opened() -> Iterator[Store]:
    with TemporaryDirectory() as folder, Store.open(str(Path(folder) / "t.db")) as store:
        yield store


@given(task=tasks())
def test_a_row_gives_back_its_task(task: Task) -> None:
    again = task_of(task_row(task))
    assert again == task
    assert task_row(again) == task_row(task)
    kept = checked(task)
    assert checked(kept) == kept


@given(task=tasks(), done=st.integers(0, 6))
def test_turns_go_forward_by_the_clock_on_the_wall_and_end_where_the_rule_does(
    task: Task, done: int
) -> None:
    told = None
    for _ in range(done):
        before = task
        if task.status is TaskStatus.DONE:
            break
        task = completed(task, told_at=told, at=START.replace(tzinfo=ZoneInfo(task.tz)), by="a")
        if task.status is TaskStatus.OPEN:
            assert before.turn is not None
            assert task.turn is not None
            assert as_utc(task.turn) > as_utc(before.turn)
            if task.rrule and "MONTH" not in task.rrule and "YEAR" not in task.rrule:
                assert (
                    task.turn.replace(tzinfo=None).time() == before.turn.replace(tzinfo=None).time()
                )
            told = next_reminder(task, told_at=told)
    if task.rrule and "COUNT=5" in task.rrule:
        assert done == 0


@given(task=tasks(), steps=st.lists(st.integers(1, 40), max_size=8))
def test_every_reminder_is_due_once_whenever_one_looks(task: Task, steps: list[int]) -> None:
    now = (task.turn or task.created_at) - timedelta(days=3)
    end = now + timedelta(days=sum(steps))
    at_once = due_reminders(task, told_at=None, now=end)
    told, heard = None, []
    for step in steps:
        now += timedelta(days=step)
        due = due_reminders(task, told_at=told, now=now)
        heard += due
        told = due[-1] if due else told
    assert tuple(heard) == at_once
    assert [as_utc(each) for each in heard] == sorted({as_utc(each) for each in heard})


@settings(max_examples=25, deadline=None)
@given(first=tasks(), second=tasks(), order=st.permutations([0, 1, 2]))
def test_changes_are_taken_back_in_reverse_and_in_no_other_order(
    first: Task, second: Task, order: list[int]
) -> None:
    at = datetime(2026, 1, 1, tzinfo=ZONES[0])
    second = replace(second, title=f"{first.title}!")
    with opened() as store:
        states = []
        for number, change in enumerate(
            (
                lambda conn: task_changes.add_task(conn, first, change_id="0", at=at),
                lambda conn: task_changes.update_task(conn, second, change_id="1", at=at),
                lambda conn: task_changes.delete_task(conn, "h", "t", change_id="2", at=at),
            )
        ):
            states.append(store.read_now(lambda conn: find_task(conn, Viewer.whole("h"), "t")))
            store.write_now(change)
            assert number < 3
        expected = 2
        for number in order:
            if number == expected:
                store.write_now(
                    lambda conn, n=number: task_changes.undo_change(conn, "h", str(n), at=at)
                )
                assert (
                    store.read_now(lambda conn: find_task(conn, Viewer.whole("h"), "t"))
                    == states[number]
                )
                task = states[number]
                told = store.read_now(lambda conn: last_told(conn, "h", "t"))
                due = None if task is None else next_reminder(task, told_at=told)
                found = store.read_now(lambda conn: next_due(conn, "h"))
                assert found == (None if due is None else as_utc(due))
                expected -= 1
            else:
                try:
                    store.write_now(
                        lambda conn, n=number: task_changes.undo_change(conn, "h", str(n), at=at)
                    )
                except ConflictError:
                    continue
                raise AssertionError("an older change was taken back below a newer one")


SPANS = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 30)).map(
        lambda pair: Interval(
            datetime(2026, 1, 5, tzinfo=ZONES[0]) + timedelta(hours=pair[0]),
            datetime(2026, 1, 5, tzinfo=ZONES[0]) + timedelta(hours=sum(pair)),
        )
    ),
    max_size=8,
)


@given(busy=SPANS, hours=st.integers(1, 120), minutes=st.integers(15, 300))
def test_what_is_free_collides_with_nothing_and_is_long_enough(
    busy: list[Interval], hours: int, minutes: int
) -> None:
    start = datetime(2026, 1, 5, tzinfo=ZONES[0])
    span = Interval(start, start + timedelta(hours=hours))
    length = timedelta(minutes=minutes)
    free = free_times(span, busy, length=length, now=start, zone=ZONES[0])
    for gap in free:
        assert span.start <= gap.start < gap.end <= span.end
        assert gap.duration >= length
        assert not any(
            each.start < gap.end and gap.start < each.end for each in busy if each.duration
        )
    if not busy and hours < 24:  # of a whole day only the hours in which people are up
        assert [(gap.start, gap.end) for gap in free] == (
            [(span.start, span.end)] if span.duration >= length else []
        )


@given(lines=st.lists(TEXT, max_size=6))
@example(["0\t0", "0\t0"])
@example(["[x] milk", "[x] milk"])
@example(["Milk\nmilk"])
@example(["cr\u00e8me", "cre\u0300me"])
def test_a_list_holds_what_was_added_each_once(lines: list[str]) -> None:
    body = ""
    for line in lines:
        body = appended(body, line)
    held = [normalize("NFC", each.casefold()) for each in entries(body)]
    assert len(held) == len(set(held))
    assert appended(body, "\n".join(lines)) == body
