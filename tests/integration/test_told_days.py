"""What was told of a day is kept, and quoted to whoever asks about that day in other words."""

from pathlib import Path

import pytest

from kinkeeper.conversation.planning.planners import Planners
from talking import on_a_loop, talking

DAYS = ("on friday", "on the 20th")

TOLD = (
    ("Leo needs a shoebox {day}", "what does Leo need {day}?"),
    ("Leo needs a shoebox {day}", "does Leo need anything {day}?"),
    ("Leo needs odd socks for school {day}", "what does Leo need {day}?"),
    ("Leo needs a packed lunch {day}", "does Leo need anything {day}?"),
    ("Mia has no school {day}, the teachers have training", "does Mia have school {day}?"),
    ("the heating engineer said he'd come between 8 and 12 {day}", "when is the engineer coming?"),
    ("the heating engineer said he'd come between 8 and 12 {day}", "is the engineer coming {day}?"),
    ("the heating engineer said he'd come between 8 and 12 {day}", "what's on {day}?"),
    ("they switch the water off {day}", "is there anything {day}?"),
    ("Mia is getting a lift home with Ida's mum {day}", "who collects Mia {day}?"),
    ("I'll get Leo from school every day this week, not {day}", "who collects Leo {day}?"),
    ("they need a cushion at school {day}", "anything special at school {day}?"),
)
UNTOLD = (
    ("Leo needs a shoebox {day}", "what does Mia need {day}?"),
    ("Leo needs a shoebox {day}", "does Leo need anything on the 27th?"),
    ("does Leo need a shoebox {day}?", "does Leo need anything {day}?"),
    ("Leo needs a shoebox {day}, doesn't he?", "does Leo need anything {day}?"),
    ("remind me {day} at 9 to find a shoebox for Leo", "does Leo need anything {day}?"),
    ("the heating engineer said he'd come between 8 and 12 {day}", "is Sarah home {day}?"),
)


@on_a_loop
async def test_what_was_told_of_a_day_is_quoted_to_who_asks_about_it(tmp_path: Path) -> None:
    for number, (told, asked) in enumerate(TOLD):
        for day in DAYS:
            async with talking(f"{tmp_path}/{number}{day}.sqlite", Planners(None)) as talk:
                said = told.format(day=day)
                kept = await talk.answer(said, by="sarah", thread_id="told")
                assert "Saved for everyone at home" in kept, (said, kept)
                talk.later(minutes=1)
                answer = await talk.answer(asked.format(day=day), thread_id="asked")
                assert f"Sarah said today: “{said}”" in answer, (said, asked, answer)
                assert not answer.startswith(("No,", "Nobody", "I don't know")), answer


@pytest.mark.parametrize(("told", "asked"), UNTOLD)
@on_a_loop
async def test_what_is_of_others_of_other_days_or_no_statement_is_not_quoted(
    tmp_path: Path, told: str, asked: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for day in DAYS:
            await talk.answer(told.format(day=day), by="sarah", thread_id=f"told {day}")
            talk.later(minutes=1)
            assert "said" not in await talk.answer(asked.format(day=day), thread_id=day)


@on_a_loop
async def test_what_a_child_tells_of_a_day_waits_for_an_adult_and_is_theirs_till_then(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for day in DAYS:
            said = f"they do a fire drill {day}"
            kept = await talk.answer(said, by="leo", thread_id=f"leo {day}")
            assert "once an adult approves it" in kept, kept
            talk.later(minutes=1)
            asked = f"is there anything {day}?"
            assert said not in await talk.answer(asked, thread_id=f"john {day}")
            assert said in await talk.answer(asked, by="leo", thread_id=f"own {day}")


@on_a_loop
async def test_what_was_told_stands_beside_the_calendar(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("put Leo's optician in the calendar on friday at 3pm", thread_id="a")
        await talk.answer("yes", thread_id="a")
        await talk.answer("Leo needs a shoebox on friday", by="sarah", thread_id="b")
        talk.later(minutes=1)
        told = await talk.answer("what does Leo need on friday?", thread_id="c")
        assert "optician" in told, told
        assert "shoebox" in told, told
        own = await talk.answer("when is Leo's optician?", thread_id="d")
        assert "shoebox" not in own, own


@on_a_loop
async def test_a_secret_about_a_day_is_quoted_to_nobody_it_is_kept_from(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        said = "don't tell John but the piano movers come on friday"
        await talk.answer(said, by="sarah", thread_id="s")
        talk.later(minutes=1)
        for asked in (
            "what's on friday?",
            "is there anything on friday?",
            "are the movers coming on friday?",
        ):
            told = await talk.answer(asked, thread_id=asked)
            assert "movers come" not in told, told
