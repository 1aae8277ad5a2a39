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
BY_GROWN_UPS = (
    "the elf gets up to something new each evening, John's week on odd dates",
    "elf: bathroom mirror",
    "we never touch the elf at weekends, he stays on the piano",
    *(
        f"{deed} {end}"
        for deed in ("scatter flour by the fire", "leave a tiny note", "stomp on the roof")
        for end in (
            "so the kids believe Santa walked in",
            "so that Mia thinks the tooth fairy came",
            "as if the reindeer had landed",
            "to make it look like the easter bunny was here",
        )
    ),
    *(
        f"{thing} {where}"
        for thing in ("all the letters to Santa are", "Mia's note to the tooth fairy is")
        for where in ("in my desk", "in the filing cabinet", "on top of the wardrobe")
    ),
    "swap over the note to the tooth fairy before Leo wakes up",
    "shake the sleigh bells outside",
    "crumble a carrot for the reindeer",
)
BY_CHILDREN = (
    "the elf is on the bookshelf today",
    "I keep my letter to Santa in my desk",
    "I left a note for the tooth fairy in the box",
)
INNOCENT = (
    "Elf at the cinema",
    "watch Elf together",
    "buy Mia elf slippers",
    "the elf is called Jingle",
    "the inflatable Santa is in the garage",
    "carrots for the easter bunny",
    "oats for the reindeer",
    "post the letters to Santa",
    "visit to the reindeer farm",
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


def test_what_only_grown_ups_do_about_a_figure_gives_it_away_where_no_child_says_it() -> None:
    told = [each for each in BY_GROWN_UPS if not figures_given_away(each, CHILDREN)]
    hidden = [each for each in BY_CHILDREN if figures_given_away(each, CHILDREN, is_childs=True)]
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
        ('put "elf: bathroom mirror" on the calendar friday 9pm', "elf"),
        ("remember I keep all the letters to Santa in the filing cabinet", "filing cabinet"),
        ("remember to leave a tiny note by the bed so Mia thinks the tooth fairy came", "tiny"),
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
