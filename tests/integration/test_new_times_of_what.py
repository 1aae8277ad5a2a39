"""A new time is of the thing of the last turn that has a time of its kind; where two have one, it is asked which."""

from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.planning.planners import Planners
from talking import on_a_loop, talking

EVENTS = ("dentist for mia weds 4pm", "put quiz night in on friday at 7pm")
TIMELESS = (
    "remind me to bring the referral letter",
    "add milk to the list",
    "remind sarah to wash the kit",
)
NEW = (
    "actually make that thursday",
    "sorry, make it monday",
    "no, tuesday",
    "make it sunday instead",
    "no, thursday 8am",
    "oh no i meant saturday",
    "make that an hour later",
    "at 5",
    "no, half past",
    "wait, sunday",
)
TIMED = ("remind me on saturday at 10 to fetch the cake", "remind me on monday at 9 to ring gran")
NAMED = (("the {}", "calendar"), ("the reminder", "task"), ("the event", "calendar"))


async def last_of(folder: Path, number: int, *said: str) -> tuple[list[ActionResult], str]:
    async with talking(f"{folder}/{number}.sqlite", Planners(None)) as talk:
        told = ""
        for text in said:
            told = await talk.answer(text, thread_id="t")
            talk.later(seconds=20)
        [turn] = await talk.conversation.history(talk.john, "t", last=1)
        return [*turn.results], told


def moves(results: list[ActionResult]) -> list[str]:
    return [each.domain for each in results if "changes" in each.params]


@pytest.mark.parametrize("other", TIMELESS)
@on_a_loop
async def test_a_new_time_is_of_the_event_and_of_nothing_without_one(
    tmp_path: Path, other: str
) -> None:
    wrong = [
        (event, new, results, told)
        for number, (event, new) in enumerate(combined(EVENTS, NEW))
        for results, told in [await last_of(tmp_path, number, f"{event} and {other}", new)]
        if moves(results) != ["calendar"]
    ]
    assert wrong == []


@on_a_loop
async def test_of_two_with_a_time_it_is_asked_which_and_the_answer_decides(tmp_path: Path) -> None:
    wrong, titles = [], ("dentist", "quiz night")
    for number, (at, reminder, new) in enumerate(combined((0, 1), TIMED, NEW[:3])):
        for place, (which, domain) in enumerate(NAMED):
            first, name = f"{EVENTS[at]} and {reminder}", 3 * number + place
            asked, told = await last_of(tmp_path, 1000 + name, first, new)
            results, _ = await last_of(tmp_path, name, first, new, which.format(titles[at]))
            if asked or not told.startswith("Which one do you mean") or moves(results) != [domain]:
                wrong.append((first, new, which, told, results))
    assert wrong == []


@on_a_loop
async def test_what_is_named_or_alone_gets_the_new_time(tmp_path: Path) -> None:
    said = [
        *((each, new) for each, new in combined((TIMELESS[0], TIMELESS[2]), NEW[:5])),
        *((f"{event} and {TIMELESS[0]}", "move the reminder to friday") for event in EVENTS),
    ]
    wrong = [
        (first, new, results, told)
        for number, (first, new) in enumerate(said)
        for results, told in [await last_of(tmp_path, number, first, new)]
        if moves(results) != ["task"]
    ]
    assert wrong == []
