"""What somebody tells of their own affairs with a day is offered to them alone: nobody else sees the card, nor the event."""

from datetime import timedelta
from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.actions.expected import expected_between
from kinkeeper.actions.repository import open_actions
from kinkeeper.calendar.repository import list_events
from kinkeeper.conversation.model import Plan, PlannedAction
from kinkeeper.conversation.planning.audience_wishes import own_matters
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.core.time import local_days
from kinkeeper.household.viewers import Viewer, viewer_for
from kinkeeper.tasks.repository import open_tasks
from live_household import HOUSEHOLD
from planning import context
from talking import Talking, on_a_loop, talking

OWN = (
    "My salary goes up to 52k in January",
    "My therapy is on Tuesday at 4",
    "I have a scan at the hospital on Friday at 9",
    "My loan is due on the 14th",
    "My biopsy is on Thursday at 8",
    "I have an interview with another firm on Wednesday at 2pm",
    "my smear test is on the 12th at 9.30",
    "marriage counselling every Tuesday at 6",
    "vasectomy consult on Tuesday at 4",
    "put my psychiatrist appointment on Friday at 3 in the calendar",
    "AA meeting on Monday at 7pm",
    "therapist on Tuesday at 1pm",
    "IVF scan on Wednesday at 8.15am",
    "urologist on Monday at 4.30pm",
    "rehab intake on Monday at 8am",
    "job interview on Monday at 2pm",
    "counselling on Thursday at 5pm",
    "date with Saffron on Thursday at 7pm",
    "grief group on Thursday at 6pm",
    "gynae appointment on the 10th at 11am",
    "disciplinary meeting on Friday at 9am",
    "remind me to get the morning-after pill tomorrow at 9am",
    "remind me to pick up condoms on Friday",
    "fasting bloods on Wednesday at 7.10am",
    "liver clinic on Thursday at 3pm",
    "mole check on Monday at 9am",
)
HOUSE = (
    "The plumber comes on Tuesday at 9",
    "Parents evening is on Thursday at 6",
    "I'm on call on Saturday",
    "Dentist for Leo on Friday at 4",
    "my parents come on Sunday at 3",
    "we have a barbecue on Saturday at 3",
    "put the gas inspection on Friday at 3 in the calendar",
    "dentist on Tuesday at 3pm",
    "school interview for Leo on Monday at 2pm",
    "choir on Thursday at 5pm",
    "remind me to get bread on Friday",
)


async def seen_by(talk: Talking, other: str) -> list[str]:
    """Return the titles that somebody else of the household sees: waiting, in the calendar, as a task."""
    viewer, now = Viewer.of(talk.system.household.id, other), talk.clock.now()
    cards = await talk.system.store.read(lambda conn: open_actions(conn, viewer, now=now))
    events = await talk.system.store.read(lambda conn: list_events(conn, viewer))
    tasks = await talk.system.store.read(lambda conn: open_tasks(conn, viewer))
    known = {each.summary for each in talk.system.household.events}
    titles = [each.proposal.summary for each in cards] + [str(each) for each in tasks]
    return [*titles, *(each.summary for each in events if each.summary not in known)]


@pytest.mark.parametrize("other", ["sarah", "leo"])
@on_a_loop
async def test_own_affairs_are_shown_to_nobody_else(tmp_path: Path, other: str) -> None:
    shown = []
    for number, text in enumerate(OWN):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            before = await seen_by(talk, other)
            await talk.answer(text, thread_id="t")
            shown += [(text, each) for each in await seen_by(talk, other) if each not in before]
    assert shown == []


BODY = ("condoms", "a pregnancy test", "the morning-after pill", "my antidepressants")
WAYS = (
    "remind me to get {} on Friday at 4pm",
    "remind me to get {}",
    "buy {} tomorrow 5pm",
    "get {} on friday at 9am",
    "put get {} on Friday at 3 in the calendar",
    "I have to fetch {} on Thursday at 4",
)
CARE = (
    "STI check friday 9am",
    "I have therapy on Friday at 4",
    "smear test on the 12th at 9.30",
    "gynae tomorrow at 5pm",
)
OF_CHILDREN = (
    "dentist friday at 4",
    "I have a dentist appointment on friday at 4",
    "my maths test is on thursday at 9",
    "sleepover at Rosa's on friday at 6",
    "put the chess final on Friday at 9 in the calendar",
)


@pytest.mark.parametrize("by", ["leo", "nana"])
@on_a_loop
async def test_what_is_of_a_childs_body_is_theirs_with_a_day_and_without(
    tmp_path: Path, by: str
) -> None:
    file = tmp_path / "household.toml"
    guest = '\n[[members]]\nid = "nana"\nname = "Nana"\nrole = "other"\n'
    file.write_text(HOUSEHOLD.read_text(encoding="utf-8") + guest, encoding="utf-8")
    said = [*(way.format(thing) for way, thing in combined(WAYS, BODY)), *CARE]
    shown, kept = [], 0
    for number, text in enumerate(said):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None), household=file) as talk:
            before = await seen_by(talk, "sarah"), await seen_by(talk, by)
            await talk.answer(text, thread_id="t", by=by)
            shown += [
                (text, each) for each in await seen_by(talk, "sarah") if each not in before[0]
            ]
            kept += len(await seen_by(talk, by)) > len(before[1])
    assert shown == []
    assert kept > len(said) * 3 // 4


@on_a_loop
async def test_what_is_of_a_childs_days_waits_for_an_adult(tmp_path: Path) -> None:
    hidden = []
    for number, text in enumerate(OF_CHILDREN):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            before = await seen_by(talk, "sarah")
            await talk.answer(text, thread_id="t", by="leo")
            hidden += [] if len(await seen_by(talk, "sarah")) > len(before) else [text]
    assert hidden == []


OTHERS = (
    "visit Tom in rehab",
    "drop Nan at rehab",
    "pick up ben's prescription",
    "collect mum's biopsy results",
    "take Dad to chemo",
    "get Leo to physio",
    "pick up antibiotics for Mia",
    "run Kezia to therapy",
)


@on_a_loop
async def test_what_is_to_be_done_for_anothers_health_is_the_houses(tmp_path: Path) -> None:
    wrong = []
    for number, (deed, wish) in enumerate(combined(OTHERS, ("", ", just for me"))):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            before = await seen_by(talk, "sarah")
            await talk.answer(f"remind me to {deed}{wish}", thread_id="t")
            is_shown = len(await seen_by(talk, "sarah")) > len(before)
            wrong += [] if is_shown == (not wish) else [deed + wish]
    assert wrong == []


@on_a_loop
async def test_plans_of_the_house_are_shown_to_the_others(tmp_path: Path) -> None:
    hidden = []
    for number, text in enumerate(HOUSE):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            before = await seen_by(talk, "sarah")
            await talk.answer(text, thread_id="t")
            hidden += [] if len(await seen_by(talk, "sarah")) > len(before) else [text]
    assert hidden == []


@on_a_loop
async def test_children_see_nothing_that_an_adult_has_not_confirmed(tmp_path: Path) -> None:
    seen = {}
    async with talking(f"{tmp_path}/x.sqlite", Planners(None)) as talk:
        household, now = talk.system.household, talk.clock.now()
        await talk.answer("The zorb man comes on Friday at 9", thread_id="t")
        week = local_days(now.date(), now.date() + timedelta(days=7), household.zone)
        for name in ("john", "sarah", "leo"):
            viewer = viewer_for(household, talk.member(name), now=now)
            found = await talk.system.store.read(
                lambda conn, viewer=viewer: expected_between(conn, viewer, week, now=now)
            )
            seen[name] = any("zorb" in each.event.summary for each in found)
    assert seen == {"john": True, "sarah": True, "leo": False}


@pytest.mark.parametrize(
    ("who", "is_own"),
    [("me", True), (["I"], True), (["John"], True), (["Sarah"], False), (["Bob"], False)],
)
def test_words_for_oneself_make_it_ones_own_matter(who: object, is_own: bool) -> None:
    asked = context("My therapy is on Tuesday at 4").asked
    planned = PlannedAction(domain="calendar", action="create_event", params={"who": who})
    assert bool(own_matters(Plan(actions=(planned,)), asked)) is is_own
