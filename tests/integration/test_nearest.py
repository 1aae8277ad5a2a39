"""Which open thing a message names, and that nothing is offered which a person, a day or its other words rule out."""

from itertools import permutations, product
from pathlib import Path

import pytest

from kinkeeper.actions.requests.model import Asked
from kinkeeper.conversation.model import Branch, Mode, Nearest, PlanningContext, Triage, TurnType
from kinkeeper.conversation.nearest import seek
from kinkeeper.core.time import VirtualClock
from live_household import MONDAY, live_system, said
from talking import on_a_loop

CHILDREN = ("Leo", "Mia")
NOUNS = ("recital", "regatta")
OPEN = (
    "put {who}'s zorbing {noun} in the calendar on March 14 at 3pm",
    "remind me to iron {who}'s zorbing {noun} by March 14",
    "add zorbing {noun} for {who} to the shopping list",
    "the glibber {noun} for {who} is on March 14 at 3",
)
CONTRADICTING = (
    "I think {other} has a {noun} on March 14",
    "{other} was talking about the zorbing {noun}",
    "{other}'s {noun} looks iffy",
)
BESIDE = (
    "{who} said the zorbing was fun",
    "somebody mentioned glibber again",
    "we had to iron all day",
    "March 14 looks busy",
)
NAMING = (
    "{who}'s {noun} looks iffy",
    "no idea about the {noun}",
    "the {noun} on March 14 is a pain",
)


async def nearest(
    file: Path, opening: tuple[str, ...], texts: list[str], *, overheard: str = ""
) -> list[Nearest | None]:
    """Return what each text names where the opening messages were said before."""
    with live_system(file) as system:
        household, clock = system.household, VirtualClock(MONDAY)
        if overheard:
            replay = system.replay(MONDAY)
            async for _ in replay.feed(said(1, "sarah", overheard)):
                pass
        conversation = system.talk(clock).conversation
        john = household.member("john")
        assert john is not None
        for number, text in enumerate(opening):
            thread = f"t{number}"
            await conversation.say(john, text, channel="web", thread_id=thread)
            await conversation.idle()
        await conversation.close()
        asked = Asked(
            household=household, member=john, now=MONDAY, channel="web", thread_id="t", turn_id="u"
        )
        triage = Triage(type=TurnType.CHAT, branch=Branch.RESPOND, mode=Mode.RESPOND)
        return [
            system.store.read_now(
                lambda conn, text=text: getattr(
                    seek(conn, PlanningContext(asked=asked, text=text, triage=triage)), "near", None
                )
            )
            for text in texts
        ]


def filled(patterns: tuple[str, ...], who: str, other: str, noun: str) -> list[str]:
    return [each.format(who=who, other=other, noun=noun) for each in patterns]


@pytest.mark.parametrize(
    ("opening", "noun", "people"), list(product(OPEN, NOUNS, permutations(CHILDREN)))
)
@on_a_loop
async def test_what_is_offered_fits(
    tmp_path: Path, opening: str, noun: str, people: tuple[str, str]
) -> None:
    who, other = people
    ruled_out = filled((*CONTRADICTING, *BESIDE), who, other, noun)
    fitting = filled(NAMING, who, other, noun)
    found = await nearest(
        tmp_path / "k.sqlite", (opening.format(who=who, noun=noun),), [*ruled_out, *fitting]
    )
    offered = dict(zip([*ruled_out, *fitting], found, strict=True))
    assert {text: near for text in ruled_out if (near := offered[text])} == {}
    assert [text for text in fitting if noun not in getattr(offered[text], "title", "")] == []


@on_a_loop
async def test_a_card_of_the_group_is_offered_too(tmp_path: Path) -> None:
    texts = ["the recital looks iffy", "Leo's recital looks iffy", "the gala looks iffy"]
    overheard = "Mia has a recital on Thursday at 5pm"
    found = await nearest(tmp_path / "k.sqlite", (), texts, overheard=overheard)
    assert ["recital" in getattr(each, "title", "").lower() for each in found] == [
        True,
        False,
        False,
    ]
