"""What recurs leaves out what is named as an exception, of whatever kind, and is asked about where nobody can tell what that is."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from kinkeeper.calendar.search import occurrences_between
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import Viewer
from kinkeeper.tasks.repository import open_tasks
from talking import Talking, on_a_loop, talking

Days = Callable[[date], bool]
OFTEN: tuple[tuple[str, Days], ...] = (
    ("every tuesday at 7pm", lambda day: day.weekday() == 1),
    ("tuesdays at 7pm", lambda day: day.weekday() == 1),
    ("every day at 7pm", lambda _: True),
    ("every tuesday and thursday at 7pm", lambda day: day.weekday() in {1, 3}),
)
LEAVING_OUT = (
    "except",
    "except for",
    "except on",
    "apart from",
    "but not on",
    "excluding",
    "other than",
)
LEFT_OUT: tuple[tuple[str, Days], ...] = (
    ("14 april", lambda day: day == date(2026, 4, 14)),
    ("the 17th", lambda day: day == date(2026, 3, 17)),
    ("17 march and 14 april", lambda day: day in {date(2026, 3, 17), date(2026, 4, 14)}),
    ("august", lambda day: day.month == 8),
    ("june and july", lambda day: day.month in {6, 7}),
    ("from 10 april to 5 may", lambda day: date(2026, 4, 10) <= day <= date(2026, 5, 5)),
    ("the week of the 20th of april", lambda day: date(2026, 4, 20) <= day <= date(2026, 4, 26)),
)
NO_DAYS = (
    "school holidays",
    "the first tuesday of the month",
    "the easter break",
    "friday 1 may",
    "when it rains",
)
ADDING = ("add {it} {often} {without}", "{it} {often}, {without}", "put {it} in {often} {without}")
CALLED = ("yoga", "pottery", "choir", "gymnastics", "drama", "tennis", "karate")
LATER = date(2027, 3, 1)


async def taking_place(talk: Talking, title: str) -> list[date]:
    """Return the days on which something is in the calendar within a year."""
    span = Interval(talk.clock.now(), talk.clock.now() + timedelta(days=400))
    viewer = Viewer.of(talk.system.household.id, "john")
    found = await talk.system.store.read(lambda conn: occurrences_between(conn, viewer, span))
    days = [
        each.interval.start.astimezone(talk.system.household.zone).date()
        for each in found
        if each.event.summary == title
    ]
    return [each for each in days if each < LATER]


@pytest.mark.parametrize("leaving", LEAVING_OUT)
@pytest.mark.parametrize(("often", "is_on"), OFTEN)
@on_a_loop
async def test_a_series_takes_place_on_all_days_but_those_left_out(
    tmp_path: Path, leaving: str, often: str, is_on: Days
) -> None:
    wrong = []
    async with talking(tmp_path, Planners(None)) as talk:
        first = talk.clock.now().date()
        days = [first + timedelta(days=past) for past in range((LATER - first).days)]
        for number, (title, (words, is_out)) in enumerate(zip(CALLED, LEFT_OUT, strict=True)):
            form = ADDING[(number + len(often)) % len(ADDING)]
            text = form.format(it=title, often=often, without=f"{leaving} {words}")
            told = await talk.answer(text, thread_id=f"{number}")
            if told.startswith("Shall I"):
                await talk.answer("yes", thread_id=f"{number}")
            expected = [each for each in days if is_on(each) and not is_out(each)]
            if await taking_place(talk, title) != expected:
                wrong.append((text, told))
    assert not wrong


@pytest.mark.parametrize("leaving", LEAVING_OUT)
@on_a_loop
async def test_what_nobody_can_tell_is_asked_about(tmp_path: Path, leaving: str) -> None:
    wrong = []
    async with talking(tmp_path, Planners(None)) as talk:
        viewer = Viewer.of(talk.system.household.id, "john")
        for number, words in enumerate(NO_DAYS):
            title = CALLED[number]
            text = f"add {title} every tuesday at 7pm {leaving} {words}"
            told = await talk.answer(text, thread_id=f"{number}")
            if await taking_place(talk, title) or not told.endswith("?") or "Shall I" in told:
                wrong.append((text, told))
        text = f"remind me every tuesday at 7pm to water the ferns {leaving} the 17th"
        told = await talk.answer(text, thread_id="task")
        tasks = await talk.system.store.read(lambda conn: open_tasks(conn, viewer))
        wrong += [(text, told)] if [each for each in tasks if "ferns" in each.title] else []
    assert not wrong


SO = (
    ("add pottery every tuesday at 7pm, and call Ana except on Fridays", None),
    ("add pottery on tuesday 10 march, not the 17th, at 7pm", [date(2026, 3, 10)]),
    ("put pottery on the 12th at 7pm, not at 8", [date(2026, 3, 12)]),
)


@pytest.mark.parametrize(("text", "days"), SO)
@on_a_loop
async def test_what_does_not_recur_is_set_right_as_before(
    tmp_path: Path, text: str, days: list[date] | None
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        told = await talk.answer(text, thread_id="t")
        if told.startswith("Shall I"):
            await talk.answer("yes", thread_id="t")
        found = await taking_place(talk, "pottery")
        assert days is None or found == days, told
