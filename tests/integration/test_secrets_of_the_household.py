"""What names a thing that is kept from somebody is kept from them, whoever says it, in whichever chat, and whatever it becomes."""

from itertools import count, product
from pathlib import Path

import pytest
from sqlalchemy import Connection

from family_chat import chat
from growth import LEAST_SECONDS, cpu_seconds
from kinkeeper.actions.written_audience import known_scope
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import is_hidden_from
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.model import Episode, Origin
from talking import Talking, on_a_loop, seen_by, talking

THINGS = ("telescope", "kitten", "drum kit", "phone case", "ukulele")
SECRETS = (
    "we've ordered a {} for Leo's birthday",
    "I bought Leo a {} for christmas, it's at aunt Berta's",
    "the {} comes on the 9th, Leo mustn't know",
)
# What is said days later, by whom, with a word that nothing else has.
NAMED_AGAIN = (
    ("sarah", "remind me to fetch the {} on friday at 5", "{}"),
    ("sarah", "remind John to hide the {} on thursday at 8pm", "{}"),
    ("mia", "add quince ribbon for the {} to the shopping list", "quince"),
    ("sarah", "put {} delivery zorban in the calendar on wednesday at 11", "zorban"),
    ("mia", "remind me to help with the {} on sunday at 9", "{}"),
    ("john", "the {} came today, it's in the gazebo", "gazebo"),
    ("sarah", "the {} is behind the water butt", "butt"),
)
# What nobody but the teller knows of, as it is kept from an adult, and what the teller asks for days later.
ALONE = (
    "Sarah mustn't find out: the {} for her 50th comes on thursday",
    "I ordered a {}, don't let Sarah know",
)
BY_THE_TELLER = (
    ("john", "put {} zorban in the calendar on friday at 2pm", "zorban"),
    ("john", "remind Mia to sign for the {} on thursday at 10", "{}"),
    ("john", "add quince foil for the {} to the shopping list", "quince"),
)
# What stays as it is said: of other things, of others, for all to know, and by whom it is kept from.
APART = (
    ("sarah", "add quince jam to the shopping list", "quince"),
    ("john", "put Leo's dentist in the calendar on friday at 3pm", "dentist"),
    ("sarah", "remind Leo to wash his football kit on saturday at 10", "football"),
    ("mia", "put Mia's zorban recital in the calendar on tuesday at 4", "zorban"),
    ("sarah", "remind me to oil the table on saturday at 11", "oil"),
    ("john", "Leo is allergic to kitten fur", "allergic"),
    ("sarah", "Leo had his antibiotics at 8", "antibiotics"),
    ("leo", "remind me to read about the {} on saturday at 9", "{}"),
    ("leo", "add {} magazine to the shopping list", "magazine"),
)


# What asks for something secret, and what names nothing of it: words that ask, places, times, common words, other people.
ASKED_IN_SECRET = (
    "remind me friday at 5pm to collect Leo's birthday present",
    "remind me saturday at 10 to hide the {} from Leo",
    "remind me monday at 1pm to order the {}, Leo must not know",
    "add Leo's birthday present to the shopping list",
    "Saturday is Leo's surprise breakfast in Quay Hall, don't tell him",
)
EVERYDAY = (
    ("sarah", "remind me tomorrow at 3pm to book the chimney sweep", "chimney"),
    ("john", "remind Leo tomorrow at 9 to check the tank", "tank"),
    ("sarah", "add flour to the shopping list", "flour"),
    ("john", "remind everyone tomorrow at 8 to wash the windows", "windows"),
    ("sarah", "put Leo's breakfast club in the calendar on wednesday at 7:45", "breakfast club"),
    ("john", "put tennis in Quay Hall in the calendar on tuesday at 6pm", "tennis"),
)


@pytest.mark.parametrize("secret", ASKED_IN_SECRET)
@on_a_loop
async def test_what_asks_for_a_secret_names_none_and_what_is_kept_hides_no_more(
    tmp_path: Path, secret: str
) -> None:
    for thing in THINGS[:2]:
        async with talking(f"{tmp_path}/{thing}.sqlite", Planners(None)) as talk:
            for number, (by, text, _) in enumerate(EVERYDAY):
                await told_later(talk, number, by, text, secret.format(thing))
            seen = await seen_by(talk, "leo")
            assert not [word for _, _, word in EVERYDAY if word not in seen]


async def told_later(talk: Talking, number: int, by: str, text: str, secret: str) -> str:
    """Return what is answered to words of another day in a chat of their own; what is offered gets its yes."""
    if not number:
        told = await talk.answer(secret, by="john", thread_id="secret")
        talk.later(seconds=20)
        if "Shall I" in told:
            await talk.answer("no", by="john", thread_id="secret")
    talk.later(hours=26)
    thread = f"{by}-{number}"
    told = await talk.answer(text, by=by, thread_id=thread)
    if "Shall I" in told:
        talk.later(seconds=20)
        told += await talk.answer("yes", by=by, thread_id=thread)
    return told


@pytest.mark.parametrize("thing", THINGS)
@on_a_loop
async def test_what_names_a_secret_is_as_secret_whoever_says_it(tmp_path: Path, thing: str) -> None:
    leaks, silent = [], []
    for place, secret in enumerate(SECRETS):
        async with talking(f"{tmp_path}/{place}.sqlite", Planners(None)) as talk:
            for number, (by, form, word) in enumerate(NAMED_AGAIN):
                text = form.format(thing)
                told = await told_later(talk, number, by, text, secret.format(thing))
                if word.format(thing) in await seen_by(talk, "leo"):
                    leaks.append((secret, text, told))
                if "Leo" not in told and "adult" not in told:
                    silent.append((secret, text, told))
    assert leaks == []
    assert silent == [], "who may know it hears from whom it is kept"


@on_a_loop
async def test_what_the_teller_alone_knows_stays_kept_from_whom_they_named(tmp_path: Path) -> None:
    leaks = []
    for place, (secret, thing) in enumerate(product(ALONE, THINGS)):
        async with talking(f"{tmp_path}/{place}.sqlite", Planners(None)) as talk:
            for number, (by, form, word) in enumerate(BY_THE_TELLER):
                text = form.format(thing)
                told = await told_later(talk, number, by, text, secret.format(thing))
                if word.format(thing) in await seen_by(talk, "sarah"):
                    leaks.append((secret, text, told))
    assert leaks == []


@pytest.mark.parametrize("thing", THINGS)
@on_a_loop
async def test_what_is_said_of_other_things_stays_as_it_is_said(tmp_path: Path, thing: str) -> None:
    hidden, hints = [], []
    async with talking(tmp_path, Planners(None)) as talk:
        for number, (by, form, word) in enumerate(APART):
            text, secret = form.format(thing), SECRETS[0].format(thing)
            told = await told_later(talk, number, by, text, secret)
            if word.format(thing) not in await seen_by(talk, "leo"):
                hidden.append((text, told))
            if "see that" in told or "except" in told:
                hints.append((text, told))
    assert hidden == []
    assert hints == []


IN_GROUP = (
    "nobody tell Leo, but the {} is being delivered on thursday at 3",
    "Leo can't know this: {} delivery thursday at 3",
    "the {} for Leo comes thursday at 3, don't let him find out",
)
OFFERS = (
    "i'll be in for the {} on thursday",
    "i can collect the {} on thursday at 5",
    "i'll wait in for the {} on thursday at 3",
)
OF_OTHERS = (
    "i'll take Leo to the dentist on thursday at 4",
    "Mia has ballet on thursday at 5",
    "i can collect Mia from chess on thursday at 5",
)


@pytest.mark.parametrize("thing", ["trampoline", "bike", "kitten", "phone case"])
def test_what_somebody_offers_about_a_secret_of_the_group_is_kept_too(thing: str) -> None:
    wrong, made = [], 0
    for secret, (text, is_kept) in product(
        IN_GROUP, [*((each, True) for each in OFFERS), *((each, False) for each in OF_OTHERS)]
    ):
        with chat("miller", tripwire_threshold=0.01) as miller:
            miller.say("Mon 2026-03-02 09:00", "sarah", secret.format(thing))
            before = {each.id for each in miller.actions()}
            miller.say("Mon 2026-03-02 12:00", "john", text.format(thing))
            new = [each for each in miller.actions() if each.id not in before]
            made += len(new)
            wrong += [
                (secret, text, each.proposal.summary)
                for each in new
                if is_hidden_from(each.proposal.scope, "leo") is not is_kept
            ]
    assert wrong == []
    assert made >= len(IN_GROUP) * len(OF_OTHERS)


@on_a_loop
async def test_what_is_kept_from_somebody_costs_the_same_however_much_is_remembered(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("I bought Leo a telescope for his birthday")
        home, now, number = talk.system.household, talk.clock.now(), count()
        store, texts = talk.system.store, ("the boiler hums", "Mia likes figs", "milk is out")

        def told(conn: Connection, more: int) -> None:
            new = [
                Episode(
                    household=home.id,
                    id=str(next(number)),
                    text=f"{texts[each % 3]} {each}",
                    said_at=now,
                    origin=Origin.SAID,
                )
                for each in range(more)
            ]
            insert_episodes(conn, new, at=now, is_read=True)

        def look(conn: Connection) -> str:
            return known_scope(conn, home, talk.john, "put shelf on friday at 3", now=now)

        def cost(size: int) -> float:
            store.write_now(lambda conn: told(conn, size - next(number)))
            return min(cpu_seconds(lambda: store.read_now(look), in_threads=True) for _ in range(5))

        small, large = cost(3_000), cost(24_000)
        assert large < max(2 * small, LEAST_SECONDS)
