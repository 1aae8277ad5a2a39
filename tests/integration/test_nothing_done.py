"""What is said where nothing was done: never a mere courtesy to what named a time, a deed, a wish or an open thing."""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.bootstrap import open_system
from kinkeeper.conversation.passing_on import Shown
from kinkeeper.conversation.turn import Turn
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Role
from kinkeeper.settings.model import Settings
from kinkeeper.settings.models import EmbedderChoice
from planning import ROOT
from talking import on_a_loop

HOUSEHOLDS = sorted((ROOT / "tests" / "households").glob("*.toml"))
NOW = datetime.fromisoformat("2026-03-11T09:05")
HOLLOW = re.compile(
    r"(?:i see|good to know|thanks for telling me|noted|okay|all right)\W*", re.IGNORECASE
)
NAMING = (
    "the coach scrapped {it} on Friday",
    "giving {it} a miss tomorrow",
    "{who} forgot the kit for {it}",
    "we might skip {it} next week",
    "gran paid for {it} this morning",
    "somebody ought to fetch {who} from {it}",
    "{who} would love to try zorbing",
    "the plumber came and went",
    "looking forward to Saturday",
    "the fribble is due on the 20th",
    "ordered a telescope for {who}",
    "{who} picked up the batteries",
    "the {it} thing is sorted",
    "the whatsit is done",
    'my sister said "put the car in for service"',
)
BEYOND = (
    "translate good night into Welsh",
    "summarise this: the dog ate it",
    "how many days until the 24th?",
    "book us a table for Friday at 7",
    "set up a weekly meal plan",
    "order two pizzas for tonight",
    "write a poem about {it}",
    "calculate 12 times 9",
    "turn on the lights",
)


async def turns(
    path: Path, folder: Path, threads: Sequence[Sequence[str]], *, is_program: bool = False
) -> list[Turn]:
    """Say each sequence of messages in a conversation of its own; return the last turn of each."""
    home = load_household(path)
    begins = NOW.replace(tzinfo=home.zone)
    with open_system(
        Settings(embedder=EmbedderChoice.HASHING),
        household_file=path,
        database=str(folder / f"{home.id}-{is_program}.sqlite"),
        now=begins,
    ) as system:
        conversation = system.talk(VirtualClock(begins)).conversation
        member, last = system.household.adults[0], []
        for number, texts in enumerate(threads):
            for text in texts:
                if is_program:
                    shown = Shown(place=f"p{number}", said=[text], answered="", is_named=True)
                    said = await conversation.pass_on(member, shown)
                else:
                    said = await conversation.say(
                        member, text, channel="web", thread_id=f"{home.id}-{number}"
                    )
                await conversation.idle()
            last += await conversation.history(member, said.thread_id, last=1)
        await conversation.close()
    return last


def filled(path: Path, patterns: Sequence[str]) -> list[list[str]]:
    home = load_household(path)
    child = next(each.name for each in home.members if each.role is Role.CHILD)
    return [
        [pattern.format(it=it.name, who=child)]
        for pattern, it in combined(patterns, home.activities[:2])
    ]


@pytest.mark.parametrize("path", HOUSEHOLDS, ids=lambda each: each.stem)
@on_a_loop
async def test_what_names_something_is_never_answered_hollowly(path: Path, tmp_path: Path) -> None:
    found = await turns(path, tmp_path, filled(path, NAMING))
    hollow = [(each.text, each.answer) for each in found if HOLLOW.fullmatch(each.answer or "")]
    assert not hollow
    written = [each for turn in found for each in turn.results if each.status is ResultStatus.DONE]
    assert not [each for each in written if each.action_id]


@pytest.mark.parametrize("path", HOUSEHOLDS[:2], ids=lambda each: each.stem)
@on_a_loop
async def test_what_lies_beyond_it_is_declined(path: Path, tmp_path: Path) -> None:
    found = await turns(path, tmp_path, filled(path, BEYOND))
    taken = [
        (each.text, each.answer)
        for each in found
        if each.results or not (each.answer or "").startswith("I can't do that.")
    ]
    assert not taken


@on_a_loop
async def test_the_nearest_open_thing_is_named(tmp_path: Path) -> None:
    threads = (
        ["add batteries to the shopping list", "gran picked up the batteries"],
        ["remind me to pay the hockey fees on Friday", "hockey fees went out this morning"],
        ["the glibber parade is on Saturday at 3", "the parade looks iffy"],
    )
    found = await turns(HOUSEHOLDS[0], tmp_path, threads)
    answers = [each.answer or "" for each in found]
    assert [
        any(word in answer for word in ("batteries", "hockey", "parade")) for answer in answers
    ] == [True] * 3
    assert "still waiting for approval" in answers[2]


@on_a_loop
async def test_hesitating_leaves_a_plan_open(tmp_path: Path) -> None:
    hesitating = ("hmm", "hold on", "hmm wait", "hmm not sure yet", "one sec", "let me think")
    plans = [
        f"the {name} parade is on Saturday at 3"
        for name in ("bim", "dov", "gax", "lup", "rez", "tof")
    ]
    found = await turns(
        HOUSEHOLDS[0], tmp_path, [[*said, "yes"] for said in zip(plans, hesitating, strict=True)]
    )
    assert {status_of(each) for each in found} == {ResultStatus.DONE}
    refusing = ("no", "never mind", "forget it", "no thanks", "leave it", "cancel that")
    found = await turns(HOUSEHOLDS[1], tmp_path, [*map(list, zip(plans, refusing, strict=True))])
    assert {status_of(each) for each in found} == {ResultStatus.CANCELLED}


@on_a_loop
async def test_a_proposal_that_is_set_right_is_replaced(tmp_path: Path) -> None:
    threads = (
        ["the glibber parade is on Saturday at 3", "push it back an hour", "yes"],
        ["the zorb gathering is on Sunday at 10", "no, the 22nd", "yes"],
    )
    found = await turns(HOUSEHOLDS[0], tmp_path, threads)
    assert [status_of(each) for each in found] == [ResultStatus.DONE] * len(threads)


def status_of(turn: Turn) -> ResultStatus | None:
    return turn.results[0].status if turn.results else None


@on_a_loop
async def test_programs_are_understood_as_people_are_and_asked_first(tmp_path: Path) -> None:
    path = HOUSEHOLDS[0]
    texts = filled(
        path,
        (
            *NAMING,
            "remind me to ring the bank tomorrow at 9",
            "add milk to my list",
            "put glibber for {it} on Friday at 7",
        ),
    )
    said = await turns(path, tmp_path, texts)
    passed_on = await turns(path, tmp_path, texts, is_program=True)
    for person, program in zip(said, passed_on, strict=True):
        wanted = [(each.domain, each.action, each.params) for each in person.results]
        assert [(each.domain, each.action, each.params) for each in program.results] == wanted
        assert not any(
            each.action_id and each.status is ResultStatus.DONE for each in program.results
        )
