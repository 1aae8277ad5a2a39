"""What takes two messages: an offer about what is over, the choice of one of several, a change of what was just made."""

from pathlib import Path

from combinations import combined
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.conversation.turn_records import effects
from live_household import MONDAY
from talking import Talking, on_a_loop, talking

OVER = (
    ("add batteries to the shopping list", "gran picked up the batteries", "off “Shopping list”"),
    ("remind me to wax the skis on Friday", "skis look great, waxed them", "marked as done"),
    ("add pine nuts to the shopping list", "dad came home with pine nuts", "off “Shopping list”"),
    (
        "add birdseed to the shopping list",
        "the birdseed is no longer needed",
        "off “Shopping list”",
    ),
    (
        "remind me to descale the kettle on Friday",
        "the kettle was descaled by gran",
        "marked as done",
    ),
)
STATED = ("the tent pegs are blue", "skis are expensive", "we love the ski lodge", "what a day")
SEVERAL = (
    ("remind me to pay the {} club fees on Friday", "mark the club fees as done", "marked as done"),
    ("add {} thread to the shopping list", "take thread off the list", "is off"),
)
CHOICES = ("the {} one", "{}", "{} please")
LEADS = ("wait it's", "sorry, I mean", "hang on, it's at")
MADE = (
    ("put chess club in the calendar on Thursday at 4pm", "3 not 4", "from 3pm"),
    ("put chess club in the calendar on Thursday at 4pm", "not 4, 5", "from 5pm"),
    ("remind me to oil the gate on Thursday at 6pm", "7 not 6", "at 7pm"),
    ("Leo has a swim gala on Saturday at 9", "10 not 9", "from 10am"),
)
WHOSE = ("actually make it {}'s", "no, {}", "actually that's {}'s job", "sorry, I meant {}")
BANS = ("no swimming until the stitches are out", "no trampoline until the cast comes off")
NAMES = ("{}", "for {}", "it's {}", "that's {}", "sorry, I mean {}")


async def _said(talk: Talking, thread: str, *texts: str) -> str:
    """Say some messages in a conversation of their own; return the last answer."""
    return [await talk.answer(each, thread_id=thread) for each in texts][-1]


@on_a_loop
async def test_what_is_over_is_asked_about_and_ended_with_a_yes(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for number, (made, over, ended) in enumerate(OVER):
            asked = await _said(talk, f"a{number}", made, over)
            assert asked.startswith("Shall I"), over
            assert ended in await talk.answer("yes", thread_id=f"a{number}"), over
        for number, text in enumerate(STATED):
            assert "Shall I" not in await _said(talk, f"b{number}", text), text
        parts = await talk.system.store.read(
            lambda conn: effects(conn, talk.system.household.id, since=MONDAY).parts
        )
        counted = {each.name: (each.fired, each.had_effect) for each in parts}
        fired, had_effect = counted["questions whether something is over"]
        assert fired == had_effect > 0


@on_a_loop
async def test_the_option_that_is_chosen_is_carried_out(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for number, ((make, ask, done), choice) in enumerate(combined(SEVERAL, CHOICES)):
            thread = f"c{number}"
            await _said(talk, thread, make.format("lilac"), make.format("mint"))
            assert "Which" in await talk.answer(ask, thread_id=thread), ask
            answer = await talk.answer(choice.format("mint"), thread_id=thread)
            assert done in answer, (ask, choice)
            assert "mint" in answer.lower(), (ask, choice)
            await talk.answer("undo that", thread_id=thread)
            await _said(talk, thread, "undo that", "undo that")


@on_a_loop
async def test_an_hour_set_right_changes_what_was_just_made(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for number, ((made, hours, told), lead) in enumerate(combined(MADE, LEADS)):
            answer = await _said(talk, f"d{number}", made, f"{lead} {hours}")
            assert told in answer, (made, lead, hours)
            await _said(talk, f"d{number}", "no", "undo that")


@on_a_loop
async def test_a_name_alone_says_whose_it_is(tmp_path: Path) -> None:
    made = "remind me to oil the gate on Thursday at 6pm"
    async with talking(tmp_path, Planners(None)) as talk:
        for number, (text, who) in enumerate(combined(WHOSE, ("Leo", "Sarah"))):
            answer = await _said(talk, f"e{number}", made, text.format(who))
            assert f"now for {who}" in answer, text
        for number, (ban, name) in enumerate(combined(BANS, NAMES)):
            asked = await _said(talk, f"f{number}", ban)
            assert asked.startswith("Who is that for?"), ban
            answer = await talk.answer(name.format("Mia"), thread_id=f"f{number}")
            assert answer.startswith("Saved for everyone at home"), (ban, name)
