"""What a child is not to do for a while is known to the whole family, cancels nothing, and stands in the way of questions and plans."""

from pathlib import Path

import pytest

from kinkeeper.conversation.planning.planners import Planners
from talking import Talking, on_a_loop, talking

# Said on Monday 2 March by Sarah; what is asked or planned by John is within, and beyond the last day.
BANS = (
    ("Mia can't dance for a fortnight, says the GP", "ballet", "Wednesday", "the 18th"),
    ("nurse says Mia isn't to do ballet until the 10th", "ballet", "Wednesday", "the 18th"),
    ("no ballet for Mia for eight days", "ballet", "Wednesday", "the 18th"),
    ("Mia is excused from ballet until the 12th, sore knee", "ballet", "Wednesday", "the 18th"),
    ("Mia has to miss swimming for the next ten days", "swimming", "Saturday", "the 21st"),
    ("keep Mia out of swimming until the 12th", "swimming", "Saturday", "the 21st"),
    ("the hospital says no water for Mia until the 15th", "swimming", "Saturday", "the 21st"),
    ("Leo shouldn't do any sports for a week", "soccer", "Thursday", "the 12th"),
    ("Leo is off sport until Friday", "soccer", "Thursday", "the 12th"),
    (
        "Leo's banned from soccer this week, he was rude to the coach",
        "soccer",
        "Thursday",
        "the 12th",
    ),
    ("physio wants Leo to avoid exercise for five days", "soccer", "Thursday", "the 12th"),
    ("Leo can play soccer again on the 10th", "soccer", "Thursday", "the 12th"),
    ("Leo is fit for soccer from the 9th", "soccer", "Thursday", "the 12th"),
    ("Mia may go back to swimming on the 16th", "swimming", "Saturday", "the 21st"),
)
OPEN = (
    "Mia mustn't swim till the stitches are out",
    "no swimming for Mia until further notice",
    "Mia isn't allowed to swim for now",
    "Mia should stay out of swimming until her ear has healed",
)
OVER = (
    "Mia can swim again",
    "Mia's been cleared for swimming",
    "Mia is allowed to swim again",
    "Mia is back at swimming",
)
MAY = (
    "can {who} do {it} on {day}?",
    "is {who} allowed at {it} on {day}?",
    "is it ok for {who} to go to {it} on {day}?",
)
NO_BANS = (
    "Mia can't find her swimming costume",
    "no swimming on Saturday",
    "can Mia skip swimming this week?",
    "remind me that Mia can't swim until the 12th",
    "Sarah can't do tennis until Friday",
)


def who_of(told: str) -> str:
    return "Leo" if "Leo" in told else "Mia"


async def cancelled(talk: Talking) -> bool:
    """Whether the last message of Sarah asked to take something out of the calendar, or put something in."""
    [turn] = await talk.conversation.history(talk.member("sarah"), "s", last=1)
    return any(each.action in {"delete_event", "create_event"} for each in turn.results)


@pytest.mark.parametrize(("told", "what", "within", "beyond"), BANS, ids=[each[0] for each in BANS])
@on_a_loop
async def test_the_other_adult_is_told_of_a_ban_until_it_ends(
    tmp_path: Path, told: str, what: str, within: str, beyond: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        said = await talk.answer(told, by="sarah", thread_id="s")
        assert "everyone at home" in said
        assert not await cancelled(talk), said
        for may in MAY:
            talk.later(minutes=1)
            asked = may.format(who=who_of(told), it=what, day=within)
            assert f"Sarah said today: “{told}" in await talk.answer(asked), asked
            later = await talk.answer(may.format(who=who_of(told), it=what, day=beyond))
            assert "Sarah said" not in later, later


@on_a_loop
async def test_a_plan_against_a_ban_is_asked_about_with_its_words(tmp_path: Path) -> None:
    for number, (told, what, within, beyond) in enumerate(BANS):
        place = tmp_path / str(number)
        place.mkdir()
        async with talking(place, Planners(None)) as talk:
            await talk.answer(told, by="sarah")
            plan = f"put {who_of(told)} down for {what} camp on {{}} at 7pm"
            against = await talk.answer(plan.format(within))
            free = await talk.answer(plan.format(beyond))

        assert against.startswith(f"Sarah said today: “{told}”. Shall I add"), against
        assert "Shall I" not in free, (told, free)


@on_a_loop
async def test_what_has_no_last_day_stands_until_it_is_over(tmp_path: Path) -> None:
    for number, (told, over) in enumerate(zip(OPEN, OVER, strict=True)):
        place = tmp_path / str(number)
        place.mkdir()
        async with talking(place, Planners(None)) as talk:
            await talk.answer(told, by="sarah")
            asked = "can Mia go swimming on the 28th?"
            assert told in await talk.answer(asked), told
            talk.later(minutes=1)
            await talk.answer(over, by="sarah")
            talk.later(minutes=1)
            answer = await talk.answer(asked)
            assert "Sarah said" not in answer, (over, answer)


@on_a_loop
async def test_a_ban_without_a_name_is_of_the_child_named_before_it(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("Mia has hurt her wrist", by="sarah", thread_id="s")
        talk.later(minutes=1)
        said = await talk.answer("no swimming for two weeks", by="sarah", thread_id="s")
        assert "everyone at home" in said
        assert "Sarah said" in await talk.answer("can Mia swim on Saturday?")
        assert "Sarah said" not in await talk.answer("can Leo swim on Saturday?")


@on_a_loop
async def test_a_ban_of_nobody_known_is_asked_about(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        assert (await talk.answer("no swimming for two weeks")).startswith("Who is that for?")
        assert "said" not in await talk.answer("can Mia swim on Saturday?", by="sarah")


@on_a_loop
async def test_what_is_no_ban_stands_in_nobodys_way(tmp_path: Path) -> None:
    for number, told in enumerate(NO_BANS):
        place = tmp_path / str(number)
        place.mkdir()
        async with talking(place, Planners(None)) as talk:
            await talk.answer(told, by="sarah")
            plan = await talk.answer("put Mia down for swimming camp on Thursday at 7pm")

        assert "Shall I" not in plan, (told, plan)
