"""A wish for secrecy holds for what is said right after it in a thread, and for what was said or done right before."""

from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.conversation.model import Exchange, Mode
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.conversation.told_audience import holds_fact, scope_of_told
from kinkeeper.household.file import load_household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, is_hidden_from
from live_household import HOUSEHOLD, MONDAY
from talking import on_a_loop, seen_by, talking

# What is told or asked for, each with a word that nothing else of the household has.
TOLD = (
    "the balloon ride starts at 11",
    "put dinner at Kelmscott in on Friday at 8pm",
    "remind me to get kayaks on Friday",
    "the loan from Everdean is 9000 pounds",
    "the hotel is called Bellarosa",
    "the bailiffs come on Monday at 9am",
    "delivery from Jedburgh on Thursday at 10am",
    "I've ordered a Quagmire coffee machine",
    "flights are at 6am on 3 May",
)
WORDS = (
    "balloon",
    "dinner",
    "kayak",
    "everdean",
    "bellarosa",
    "bailiff",
    "jedburgh",
    "quagmire",
    "flight",
)
BEFORE = (
    "don't tell Sarah any of this",
    "Sarah mustn't know about this",
    "this stays between us",
    "keep this from Sarah",
)
AFTER = (
    "hide that from Sarah would you",
    "oops Sarah shouldn't see that one",
    "Sarah is not to see that",
    "Sarah doesn't need to know that",
    "it's for her birthday so keep schtum",
    "don't show that to Sarah",
    "it's for Sarah's birthday, don't let her know",
    "nobody should see that",
)


async def shown(
    folder: Path, number: int, word: str, *said: str, other: str = "sarah", hours: float = 0
) -> bool:
    async with talking(f"{folder}/{number}.sqlite", Planners(None)) as talk:
        for text in said:
            await talk.answer(text, thread_id="t")
            talk.later(seconds=20, hours=hours)
        return word in await seen_by(talk, other)


@pytest.mark.parametrize("wish", BEFORE)
@on_a_loop
async def test_what_follows_a_wish_is_kept_as_it_asks(tmp_path: Path, wish: str) -> None:
    leaks = [
        text
        for number, (text, word) in enumerate(zip(TOLD, WORDS, strict=True))
        if await shown(tmp_path, number, word, wish, text)
    ]
    assert leaks == [], leaks


@pytest.mark.parametrize("wish", [*AFTER, *map(str.lower, AFTER)])
@on_a_loop
async def test_what_a_wish_follows_is_kept_as_it_asks(tmp_path: Path, wish: str) -> None:
    leaks = [
        text
        for number, (text, word) in enumerate(zip(TOLD, WORDS, strict=True))
        if await shown(tmp_path, number, word, text, wish)
    ]
    assert leaks == [], leaks


@pytest.mark.parametrize("told", ["", "good morning", *TOLD[:3]])
@on_a_loop
async def test_a_wish_is_never_answered_as_an_order_not_to_act(tmp_path: Path, told: str) -> None:
    """ "I won't" and "dropped" would promise secrecy that nobody sees to."""
    for number, wish in enumerate(AFTER + BEFORE):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            if told:
                await talk.answer(told, thread_id="t")
            answer = await talk.answer(wish.lower(), thread_id="t")
            assert not any(
                each in answer for each in ("won't", "dropped", "never mind", "leave it")
            )


@on_a_loop
async def test_what_is_said_long_after_a_wish_is_the_households(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for number, text in enumerate(TOLD[1:3]):
            await talk.answer(BEFORE[0], thread_id=str(number))
            talk.later(hours=3)
            await talk.answer(text, thread_id=str(number))
        seen = await seen_by(talk, "sarah")
        assert all(word in seen for word in WORDS[1:3])


PRESENTS = (
    "the {} is Leo's present",
    "{} is leos present",
    "remind me to order the {} for Leo's birthday",
    "I've bought Leo a {} for his birthday",
    "we're getting Leo a {}, he mustn't know",
)
THINGS = ("telescope", "scooter", "kayak")
OF_THE_THING = (
    ("remind me to fetch the {} for leo", "{}"),
    ("remind me to charge the {} on friday", "{}"),
    ("add batteries for the {} to the list", "batteries"),
    ("put {} delivery on friday at 9 in the calendar", "{} delivery"),
    ("the {} is in the shed", "shed"),
)
POINTING_BACK = (
    ("remind me to wrap it up in foil", "foil"),
    ("add ribbons for it to the list", "ribbons"),
    ("remind me to pay the zorban for the present", "zorban"),
    ("remind me to buy foil for that", "foil"),
    ("remind me to clear out the cupboard for the surprise", "cupboard"),
)
APART = (
    ("add zorban to the shopping list", "zorban"),
    ("put dentist for mia on friday at 3 in the calendar", "dentist"),
    ("remind me to return the library book", "library"),
    ("remind me to pack quince for the kids", "quince"),
    ("put Mia's quinceanera party on sunday at 2 in the calendar", "quinceanera"),
    ("remind me to mow the lawn", "lawn"),
)


@pytest.mark.parametrize("hours", [0, 5])
@on_a_loop
async def test_what_is_asked_about_the_thing_of_a_secret_is_kept_too(
    tmp_path: Path, hours: int
) -> None:
    leaks = []
    for number, (present, thing) in enumerate(combined(PRESENTS, THINGS)):
        for place, (text, word) in enumerate(OF_THE_THING):
            said = present.format(thing), text.format(thing)
            at = number * len(OF_THE_THING) + place
            if await shown(tmp_path, at, word.format(thing), *said, other="leo", hours=hours):
                leaks.append(said)
    assert leaks == []


OF_AN_OCCASION = (
    "remind Sarah on friday to collect Mia's {} from the shop, its her present",
    "pick up Mia's {}, it's for her birthday",
    "remind me to hide mia's {} before she gets home",
    "get mia's {} out of the loft on xmas eve, from santa",
    "add {} to the shopping list, its mias present",
    "add {} to the shopping list for mia's stocking",
    "add {} to the list, stocking fillers",
    "the {} is in the loft, its for mias birthday",
    "mia's getting a {} from father christmas",
    "note: {} is mia's birthday present",
    "mia's {} comes on thursday at 10, its her xmas present",
    "remember that the {} is for Mia, from santa",
)


@on_a_loop
async def test_a_thing_for_an_occasion_is_kept_from_whom_it_is_for(tmp_path: Path) -> None:
    leaks, lost = [], []
    for number, (form, thing) in enumerate(combined(OF_AN_OCCASION, THINGS)):
        text = form.format(thing)
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            await talk.answer(text, thread_id="t")
            leaks += [text] if thing in await seen_by(talk, "mia") else []
            lost += [] if thing in await seen_by(talk, "sarah") else [text]
    assert (leaks, lost) == ([], [])


@on_a_loop
async def test_what_points_back_at_a_secret_is_kept_too(tmp_path: Path) -> None:
    leaks = [
        (present, text)
        for number, (present, (text, word)) in enumerate(combined(PRESENTS, POINTING_BACK))
        if await shown(tmp_path, number, word, present.format("kayak"), text, other="leo")
    ]
    assert leaks == []


@on_a_loop
async def test_what_has_nothing_to_do_with_a_secret_stays_the_households(tmp_path: Path) -> None:
    hidden = [
        (present, text)
        for number, (present, (text, word)) in enumerate(combined(PRESENTS[:3], APART))
        if not await shown(tmp_path, number, word, present.format("kayak"), text, other="leo")
    ]
    assert hidden == []


@on_a_loop
async def test_what_follows_what_is_secret_of_a_journey_is_kept_and_said_to_be(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("book Crete for Sarah's 40th, she mustn't know", thread_id="t")
        for text in (
            "add sun cream for it to the list",
            "put the deposit on my list",
            "remind me to pay the deposit for the trip",
            "remind me to get a cat sitter for Crete",
        ):
            talk.later(seconds=20)
            assert "Only you can see that" in await talk.answer(text, thread_id="t"), text
        await talk.answer("add zorban to the list", thread_id="t")
        seen = await seen_by(talk, "sarah")
        assert "zorban" in seen
        assert not {"crete", "cream", "deposit", "sitter"} & {*seen.replace("\n", " ").split()}
        told = await talk.answer("what's on the list?", thread_id="t")
        assert "zorban" in told
        assert "un cream" in told


SECRETS = (
    "I bought Sarah a bracelet for her birthday",
    "I've ordered Sarah a telescope, it's a surprise",
    "don't tell Sarah but I crashed the boat",
    "we're planning a surprise party for Sarah, she mustn't know",
    "Sarah mustn't know that I sold the piano",
)
WITH_NEWS = (
    "Leo took his cetirizine at 9",
    "I gave Mia the antibiotic drops at noon, she cried",
    "the dog had her flea tablet yesterday",
    "Leo is allergic to wasps",
    "Mia's inhaler is in the red pouch",
    "Mia mustn't eat cashews, the doctor rang",
    "no plasters for Leo, they give him a rash",
    "the kids aren't allowed in the pool when it's raining",
    "Leo can't play football till his wrist heals, he has to rest it",
    "everyone should know that the lift is broken",
    "the stairs are wet, everybody must know",
    "the stove is broken, don't touch it",
    "I'm picking up Mia at 4",
    "Grandma is fetching Leo on Tuesday",
    "Leo's new teacher is Ms Harrow",
    "the code for the gym is 4417",
    "bottles go out on Thursday, leave them by the gate",
    "Mia has violin on Saturday at 2",
)
GOING_ON = (
    "it comes on Friday at 9",
    "it's in the attic",
    "they cost 300 dollars",
    "that is paid for",
    "she'll love it",
    "I hid it behind the boiler",
    "arrives on Monday",
    "hidden under the stairs",
    "the receipt is in the drawer",
    "so excited about it",
    "it stays at Grandma's until May",
)
HIDING = ("this stays between us", "don't tell Sarah any of this", "keep this from Sarah")


def audience_after(text: str, *before: str) -> str:
    """Return who may recall what John tells after other words of his."""
    household = load_household(HOUSEHOLD)
    john = household.member("john")
    assert john is not None
    history = [Exchange(text=each, answer="Okay.", at=MONDAY, mode=Mode.RESPOND) for each in before]
    return scope_of_told(text, household, john, now=MONDAY, history=history)


def test_ordinary_news_after_a_secret_is_for_whom_it_is_without_one() -> None:
    wrong = [
        (secret, *between, text)
        for secret, text, between in combined(SECRETS, WITH_NEWS, ((), ("thanks",)))
        if audience_after(text, secret, *between) != audience_after(text)
    ]
    assert wrong == []
    assert {audience_after(each) for each in WITH_NEWS} >= {HOUSEHOLD_SCOPE}


def test_what_goes_on_with_a_secret_is_kept_as_it_is() -> None:
    betweens = ((), ("thanks",), ("it was dear", "ok great"))
    shown = [
        (secret, *between, text)
        for secret, text, between in combined(SECRETS, GOING_ON, betweens)
        if holds_fact(text, load_household(HOUSEHOLD), now=MONDAY)
        if not is_hidden_from(audience_after(text, secret, *between), "sarah")
    ]
    assert shown == []


def test_news_ends_what_goes_on_with_a_secret() -> None:
    for secret, news in combined(SECRETS, WITH_NEWS[:5]):
        for text in ("it's in the attic", "they cost 300 dollars"):
            assert audience_after(text, secret, news) == HOUSEHOLD_SCOPE


def test_a_wish_that_comes_first_is_about_what_is_told_next() -> None:
    for wish, text in combined(HIDING, WITH_NEWS[:5]):
        for before in ((), ("good morning",)):
            assert is_hidden_from(audience_after(text, *before, wish), "sarah"), (wish, text)
            assert audience_after(text, *before, wish, "thanks") == HOUSEHOLD_SCOPE, (wish, text)
    for wish in HIDING:
        assert is_hidden_from(audience_after("the loan is 900", "hi", wish, "thanks"), "sarah")


def test_a_wish_that_follows_news_is_about_that() -> None:
    for news, text in combined(("I sold the piano", "I bought a boat"), WITH_NEWS):
        assert audience_after(text, news, "don't tell Sarah") == audience_after(text), text
        assert is_hidden_from(
            audience_after("it's in the attic", news, "don't tell Sarah"), "sarah"
        )
        if "everyone" not in text:
            wish = "don't tell Sarah any of this"
            assert is_hidden_from(audience_after(text, news, wish), "sarah"), text


OWN = (
    ("Therapy with Dr Flanagan on Monday at 8am", "flanagan"),
    ("remind me to fetch the Zorban pills on Friday, just for me", "zorban"),
    ("note that my locker word is Icarus, just for me", "icarus"),
    ("put a meeting with Crispin in on Friday at 9pm, just for me", "crispin"),
)
FROM_MIA = (
    "don't tell Mia",
    "Mia mustn't know about that",
    "hide that from Mia",
    "that's a surprise for Mia",
    "we're surprising Mia with a cruise, dont tell her",
    "a surprise trip for Mia, not a word to her",
)


@pytest.mark.parametrize("wish", FROM_MIA)
@on_a_loop
async def test_a_wish_to_keep_something_from_one_shows_it_to_nobody_else(
    tmp_path: Path, wish: str
) -> None:
    wrong = [
        (own, other)
        for number, ((own, word), other) in enumerate(combined(OWN, ("sarah", "leo", "mia")))
        if await shown(tmp_path, number, word, own, wish, other=other)
    ]
    assert not wrong


@pytest.mark.parametrize("news", FROM_MIA[4:])
@on_a_loop
async def test_a_surprise_that_is_named_is_kept_itself(tmp_path: Path, news: str) -> None:
    word = "cruise" if "cruise" in news else "trip"
    said = ("put dinner at Kelmscott in on Friday at 8pm", news)
    assert not await shown(tmp_path, 0, word, *said, other="mia")
    assert await shown(tmp_path, 1, word, *said, other="sarah")


NOT_TO_BE_MENTIONED = (
    "never mention the {} to Leo",
    "lets not bring up the {} with Leo",
    "nobody breathe a word of the {} to Leo",
    "try not to talk about the {} near Leo",
    "can we not mention the {} to the kids yet",
    "say nothing about the {} to Leo",
    "don't talk to Leo about the {}",
)
OF_A_DAY = (
    ", it comes on Friday at 9",
    " - 8th May 10am",
    ". We fetch it on Saturday",
    ", the man is here on Monday at 8",
)


@pytest.mark.parametrize("wish", NOT_TO_BE_MENTIONED)
@on_a_loop
async def test_what_is_not_to_be_mentioned_to_one_is_kept_for_the_others(
    tmp_path: Path, wish: str
) -> None:
    for number, news in enumerate(OF_A_DAY):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            told = await talk.answer(f"{wish.format('kazoo')}{news}", thread_id="t")
            assert "I won't" not in told
            assert "Leo" in told, told
            assert "kazoo" not in await seen_by(talk, "leo")
            assert "kazoo" in await seen_by(talk, "sarah")
            for asked in (
                "what do you know about the kazoo?",
                "what is not to be mentioned to me?",
            ):
                talk.later(seconds=20)
                assert "kazoo" not in (
                    await talk.answer(asked, by="leo", thread_id="l")
                ).lower().replace(asked, "")
