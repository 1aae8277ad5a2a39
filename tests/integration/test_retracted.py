"""What somebody takes back is neither kept nor done, whatever came of it, and the answer says what it was."""

from itertools import product
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.tables import pending_actions
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.calendar.model import EventState
from kinkeeper.calendar.repository import list_events
from kinkeeper.conversation.model import EventName
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.finding.search import Search
from kinkeeper.notes.repository import list_notes
from kinkeeper.reading.corrections import retraction_of
from kinkeeper.tasks.repository import open_tasks
from live_household import MONDAY, live_system
from talking import on_a_loop, talking

SAID = {
    "statement": "The spare zorb is under the blue pot",
    "card": "thinking of adding a zorb run on Friday at 6pm",
    "event": "put a zorb run in the calendar on Friday at 6pm",
    "task": "remind me to buy a zorb at 6pm",
    "line": "add zorb to the shopping list",
    "fact": "remember that the zorb lives in the loft",
}
BACK = (
    "scratch that thought about the zorb",
    "forget I said anything about the zorb",
    "on second thoughts, no",
    "actually, ignore what I just said",
    "I take that back",
    "pretend I never said that",
    "forget I ever mentioned it",
)
BESIDE = "nice weather today, isn't it"


async def left_of(file: Path, *texts: str, reads: bool) -> tuple[list[str], list[str]]:
    """Return what is left of a zorb after messages, and the answers."""
    with live_system(file) as system:
        clock, john = VirtualClock(MONDAY), system.household.member("john")
        assert john is not None
        conversation, answers = system.talk(clock).conversation, list[str]()
        for text in texts:
            said = await conversation.say(john, text, channel="web", thread_id="t")
            async for event in conversation.events(
                john, said.thread_id, after=said.after, turn_id=said.turn_id
            ):
                if event.name is EventName.DONE:
                    answers.append(event.data["text"])
            reading = reading_of(system.household, system.store, clock)
            while reads and await reading.run_once():
                pass
        reading = reading_of(system.household, system.store, clock)
        while await reading.run_once():
            pass
        await conversation.idle()
        await conversation.close()
        viewer = Viewer.of("miller", "john")

        def rows(conn: Connection) -> list[str]:
            waiting = select(pending_actions.c.summary).where(
                pending_actions.c.status == ActionStatus.PENDING.value
            )
            return [
                *conn.execute(waiting).scalars(),
                *(each.narrative for each in list_facts(conn, viewer, now=clock.now(), limit=100)),
                *(str(each["title"]) for each in open_tasks(conn, viewer)),
                *(each.body for each in list_notes(conn, viewer)),
                *(
                    each.summary
                    for each in list_events(conn, viewer)
                    if each.state is EventState.CONFIRMED
                ),
            ]

        found = await system.recall.finder.search(
            Search(viewer=viewer, text="spare zorb under the blue pot", now=clock.now())
        )
        left = [*system.store.read_now(rows), *(each.text for each in found.hits)]
        return [each for each in left if "zorb" in each.lower()], answers


@pytest.mark.parametrize(("kind", "reads"), [*product(SAID, (False,)), ("statement", True)])
@on_a_loop
async def test_what_is_taken_back_leaves_nothing(tmp_path: Path, kind: str, *, reads: bool) -> None:
    before, _ = await left_of(tmp_path / "before.sqlite", SAID[kind], reads=reads)
    assert before
    for number, back in enumerate(BACK):
        left, answers = await left_of(tmp_path / f"{number}.sqlite", SAID[kind], back, reads=reads)
        assert (back, left) == (back, [])
        assert "done nothing" not in answers[-1], answers


@on_a_loop
async def test_the_turn_before_the_last_is_taken_back_by_its_name(tmp_path: Path) -> None:
    for number, kind in enumerate(("statement", "task")):
        left, answers = await left_of(
            tmp_path / f"{number}.sqlite", SAID[kind], BESIDE, BACK[0], reads=True
        )
        assert left == [], answers


@pytest.mark.parametrize("kind", SAID)
@on_a_loop
async def test_what_is_taken_back_in_the_same_breath_is_never_kept(
    tmp_path: Path, kind: str
) -> None:
    for number, behind in enumerate(
        (", actually forget I said that", "... nah dont bother", " nvm", ". ah no, leave it")
    ):
        left, answers = await left_of(
            tmp_path / f"{number}.sqlite", f"{SAID[kind]}{behind}", reads=True
        )
        assert (behind, left) == (behind, [])
        assert "haven't done or saved any of that" in answers[0]


@pytest.mark.parametrize(
    "text",
    [
        "forget the milk",
        "scratch the dentist on Friday",
        "don't forget what I said about the bins, they go out Monday",
        "cancel that dentist appointment on Friday",
        "I changed my mind about the carpet, blue is better",
        "remind me to take that back to the shop",
        "what did I say about the plumber?",
        "ignore the bell, it's broken",
        "drop Leo at soccer",
    ],
)
def test_other_messages_take_nothing_back(text: str) -> None:
    assert retraction_of(text) is None


# What holds more than one thing, or others count on, is not undone as a whole unasked.

THINGS = ("rice", "figs", "candles", "soap", "twine")


@pytest.mark.parametrize("clear", ["clear {}", "empty {}", "take everything off {}"])
@on_a_loop
async def test_a_long_list_is_emptied_with_a_yes_alone(tmp_path: Path, clear: str) -> None:
    asked = clear.format("the shopping list")
    for count in range(2, len(THINGS) + 1):
        async with talking(f"{tmp_path}/{count}.sqlite", Planners(None)) as talk:
            await talk.answer(f"add {', '.join(THINGS[:count])} to the shopping list")
            told = await talk.answer(asked)
            assert told.startswith("Shall I") == (count > 3), told
            await talk.answer("no" if count > 3 else "undo that")
            left = await talk.answer("what's on the shopping list?")
            assert all(each in left for each in THINGS[:count]), left
            if count > 3:
                await talk.answer(asked)
                assert "empty" in await talk.answer("yes")


@pytest.mark.parametrize(
    ("made", "title"),
    [("make a packing list: {}", "packing list"), ("add {} to the shopping list", "shopping list")],
)
@on_a_loop
async def test_of_a_list_only_what_is_named_is_forgotten(
    tmp_path: Path, made: str, title: str
) -> None:
    for thing in THINGS:
        async with talking(f"{tmp_path}/{thing}.sqlite", Planners(None)) as talk:
            await talk.answer(made.format(", ".join(THINGS)))
            told = await talk.answer(f"forget what I said about the {thing}")
            assert "is off" in told, told
            left = await talk.answer(f"what's on the {title}?")
            assert [each for each in THINGS if each in left] == [
                each for each in THINGS if each != thing
            ]


@on_a_loop
async def test_an_event_in_the_calendar_is_not_forgotten_unasked(tmp_path: Path) -> None:
    for thing in ("optician", "recital", "haircut"):
        async with talking(f"{tmp_path}/{thing}.sqlite", Planners(None)) as talk:
            card = await talk.answer(f"Leo's {thing} is on friday at 3pm")
            assert card.startswith("Shall I add"), card
            talk.later(minutes=1)
            await talk.answer("yes")
            told = await talk.answer(f"forget what I said about the {thing}")
            assert told.startswith("Shall I cancel"), told
            await talk.answer("no")
            assert thing in await talk.answer("what's on friday?", thread_id="q")
