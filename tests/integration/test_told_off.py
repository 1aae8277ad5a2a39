"""What is told to be off, or put elsewhere, gets a card for just the times that are meant, and is no plain yes until that is decided."""

from datetime import date
from pathlib import Path

import pytest

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.planning.planners import Planners
from live_household import HOUSEHOLD
from talking import Talking, on_a_loop, talking

EVENTS = """
[[events]]
id = "recital"
summary = "Harp recital"
who = ["mia"]
start = 2026-03-25T18:00:00
[[events]]
id = "checkup"
summary = "Dental checkup"
who = ["leo"]
start = 2026-03-11T09:00:00
"""
ONE = {"harp recital": date(2026, 3, 25), "dental checkup": date(2026, 3, 11)}
OFF = (
    "the {it} is cancelled altogether",
    "the {it} has been called off completely",
    "the {it} fell through",
    "they've cancelled the {it} entirely",
    "the {it} isn't happening",
    "the {it} is postponed, no new date yet",
    "we've called off the {it}",
    "the {it} has fallen through, sadly",
)
SERIES = {"ballet": (date(2026, 3, 18), "the 18th"), "soccer": (date(2026, 3, 26), "26 march")}
ON_DAYS = (
    "there is no {it} on {day}, the coach is away",
    "{it} isn't on on {day}",
    "{it} is off on {day}",
    "no {it} on {day}",
    "the school is shut on {day} so no {it}",
    "the hall is closed on {day}, so {it} is off",
    "no {it}, the hall is shut on {day}",
    "skip {it} on {day}",
)
IN_SPANS = (
    "{it} is off in the week of the 16th",
    "skip {it} the week of the 16th",
    "cancel {it} from the 16th to the 21st of march",
    "there's no {it} from the 16th to the 21st of march",
)
FOR_GOOD = ("{it} is off for good", "{it} is cancelled altogether", "there's no more {it}")
MOVED = ("the {it} is now on {day}", "the {it} is on {day} now", "the {it} was moved to {day}")
NOTHING = (
    "is the {it} cancelled?",
    "what if the {it} is off?",
    "the {it} might be cancelled",
    "the {it} isn't cancelled",
    "the {it} was off last week",
)


@pytest.fixture
def household(tmp_path: Path) -> Path:
    file = tmp_path / "household.toml"
    file.write_text(HOUSEHOLD.read_text(encoding="utf-8") + EVENTS, encoding="utf-8")
    return file


async def waiting(talk: Talking, text: str) -> list[ActionResult]:
    """Return what a message leaves waiting for a yes."""
    await talk.answer(text, thread_id="t")
    [turn] = await talk.conversation.history(talk.john, "t", last=1)
    return [each for each in turn.results if each.status is ResultStatus.AWAITING]


def days(results: list[ActionResult]) -> list[str]:
    """Return the first and last day of the only request to cancel something."""
    [found] = results
    assert found.action == "delete_event"
    last = found.result.get("last") or found.result["start"]
    return [str(found.result["start"])[:10], str(last)[:10]]


@pytest.mark.parametrize("form", OFF)
@on_a_loop
async def test_what_takes_place_once_gets_a_card_and_is_no_plain_yes(
    tmp_path: Path, household: Path, form: str
) -> None:
    for it, day in ONE.items():
        async with talking(f"{tmp_path}/{it}.sqlite", Planners(None), household=household) as talk:
            assert days(await waiting(talk, form.format(it=it))) == [day.isoformat()] * 2
            told = await talk.answer(f"is the {it} still on?", by="sarah", thread_id="s")
            assert "may be cancelled" in told, told
            assert not told.startswith("Yes"), told


@pytest.mark.parametrize("form", ON_DAYS)
@on_a_loop
async def test_of_a_series_the_day_that_is_named_is_off(
    tmp_path: Path, household: Path, form: str
) -> None:
    for it, (day, said) in SERIES.items():
        async with talking(f"{tmp_path}/{it}.sqlite", Planners(None), household=household) as talk:
            text = form.format(it=it, day=said)
            assert days(await waiting(talk, text)) == [day.isoformat()] * 2, text
            told = await talk.answer(f"is {it} on on {said}?", by="sarah", thread_id="s")
            assert "may be cancelled" in told, told


@pytest.mark.parametrize("form", IN_SPANS)
@on_a_loop
async def test_of_a_series_all_times_in_a_span_are_off(
    tmp_path: Path, household: Path, form: str
) -> None:
    for it, both in {"ballet": ("16", "18"), "soccer": ("17", "19")}.items():
        async with talking(f"{tmp_path}/{it}.sqlite", Planners(None), household=household) as talk:
            found = days(await waiting(talk, form.format(it=it)))
            assert found == [f"2026-03-{each}" for each in both]


@pytest.mark.parametrize("form", FOR_GOOD)
@on_a_loop
async def test_a_series_that_is_off_for_good_may_be_cancelled_from_now_on(
    tmp_path: Path, household: Path, form: str
) -> None:
    async with talking(tmp_path, Planners(None), household=household) as talk:
        [found] = await waiting(talk, form.format(it="ballet"))
        assert (found.action, found.params["scope"]) == ("delete_event", "following")
        told = await talk.answer("is ballet still on?", by="sarah", thread_id="s")
        assert "may be cancelled" in told, told


@pytest.mark.parametrize("form", MOVED)
@on_a_loop
async def test_the_time_next_to_a_new_day_is_put_there(
    tmp_path: Path, household: Path, form: str
) -> None:
    cases = {"harp recital": "26 march", "dental checkup": "the 12th", "swimming": "22 march"}
    for it, day in cases.items():
        async with talking(f"{tmp_path}/{it}.sqlite", Planners(None), household=household) as talk:
            [found] = await waiting(talk, form.format(it=it, day=day))
            number = "".join(each for each in day if each.isdigit())
            assert found.action == "update_event"
            assert str(found.result["start"]).startswith(f"2026-03-{number}"), found
            before = {"swimming": date(2026, 3, 21), **ONE}[it]
            assert form is not MOVED[0] or str(found.result["before"]["start"])[:10] == str(before)


@on_a_loop
async def test_of_what_stands_nowhere_the_news_are_kept(tmp_path: Path, household: Path) -> None:
    for number, form in enumerate(OFF[:6]):
        async with talking(
            f"{tmp_path}/{number}.sqlite", Planners(None), household=household
        ) as talk:
            told = await talk.answer(form.format(it="spelling concert"), thread_id="t")
            assert "calendar" in told or "Saved" in told, told
            talk.later(seconds=20)
            told = await talk.answer("what do you know about the spelling concert?", thread_id="t")
            assert "spelling concert" in told, told


@pytest.mark.parametrize("form", NOTHING)
@on_a_loop
async def test_what_is_asked_doubted_or_over_cancels_nothing(
    tmp_path: Path, household: Path, form: str
) -> None:
    async with talking(tmp_path, Planners(None), household=household) as talk:
        for it in ONE:
            assert not await waiting(talk, form.format(it=it))
