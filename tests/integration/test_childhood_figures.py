"""What gives Santa, the tooth fairy and others away is kept from the children who believe in them, and nothing else is."""

from pathlib import Path

import pytest

from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.reading.childhood_figures import figures_given_away, knowing_in
from talking import on_a_loop, seen_by, talking

CHILDREN = frozenset({"leo", "mia"})
GIVES_AWAY = (
    "remind me to put the tooth money under Mia's pillow tonight",
    "swap Leo's tooth for a pound",
    "be the tooth fairy",
    "glitter for the tooth fairy letter",
    "hide the elf in the kitchen",
    "the elf needs a new spot tonight",
    "new props for elf on the shelf",
    "fill the stockings on Christmas Eve",
    "pick up the Santa suit",
    "eat the carrot we left for the reindeer",
    "write the letter back from Santa",
    "Grandpa plays Santa this year",
    "the Santa presents are in the garage",
    "the kids don't know yet that Santa isn't real",
    "hide the easter eggs in the garden",
    "make easter bunny footprints with flour",
    "fill the kids' boots for St Nicholas",
    "chocolate in the shoes for Sinterklaas",
    "swap the dummies for a toy from the dummy fairy: pacifier fairy letter",
)
INNOCENT = (
    "Santa run on Sunday at 10 in the park",
    "Leo is an elf in the school play",
    "write the letter to Santa with Mia",
    "Mia lost a tooth",
    "remind Mia to put her tooth under the pillow",
    "breakfast with Santa on Saturday",
    "Easter egg hunt on Sunday",
    "milk and cookies for Santa",
    "put Elf the musical on Friday at 7pm in the calendar",
    "secret santa at the office",
    "St Nicholas church service",
    "hang up the stockings with the kids",
    "Mia wants to tell Santa what she wants",
    "buy winter boots for Mia",
    "wash the pillow cases",
    "sew Leo's elf costume",
)
KNOWING = {
    "Leo knows about Santa": True,
    "Leo doesn't believe in Santa anymore": True,
    "we told Leo about Santa": True,
    "Leo already knows there's no Santa": True,
    "Leo still believes in Santa": False,
    "Leo doesn't know about Santa": False,
    "does Leo know about Santa?": None,
    "Leo must not find out about Santa": None,
    "I think Leo knows about Santa": None,
}


def test_what_grown_ups_do_in_a_figures_name_gives_it_away_and_nothing_else() -> None:
    told = [each for each in GIVES_AWAY if not figures_given_away(each, CHILDREN)]
    hidden = [each for each in INNOCENT if figures_given_away(each, CHILDREN)]
    assert (told, hidden) == ([], [])


def test_who_knows_is_heard_only_where_it_is_said() -> None:
    heard = {
        text: next((each.is_known for each in knowing_in(text, CHILDREN)), None) for text in KNOWING
    }
    assert heard == KNOWING


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("remind me to put the tooth money under Mia's pillow tonight", "pillow"),
        ("add elf on the shelf outfits to the shopping list", "elf"),
        ("put pick up the Santa suit on Friday at 3pm in the calendar", "santa suit"),
        ("Grandpa plays Santa this year", "grandpa"),
    ],
)
@on_a_loop
async def test_no_child_sees_what_gives_a_figure_away(tmp_path: Path, text: str, word: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(text, thread_id="a")
        for child in ("leo", "mia"):
            assert word not in await seen_by(talk, child)
        assert word in await seen_by(talk, "sarah")


@pytest.mark.parametrize("last", [True, False])
@on_a_loop
async def test_a_child_of_whom_an_adult_says_that_they_know_sees_it(
    tmp_path: Path, last: bool
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("Leo knows about Santa", thread_id="a")
        if not last:
            await talk.answer("Leo still believes in Santa after all", thread_id="a")
        text = "put pick up the Santa suit on Friday at 3pm in the calendar"
        await talk.answer(text, by="sarah", thread_id="b")
        assert ("santa suit" in await seen_by(talk, "leo")) is last
        assert "santa suit" not in await seen_by(talk, "mia")
