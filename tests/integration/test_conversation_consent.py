"""What a message decides about open questions: exactly what it means, once, and nothing that it does not speak of."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.action_retention import purge_extractions
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.repository import list_actions
from kinkeeper.actions.requests.email import email_requests
from kinkeeper.actions.requests.model import ActionResult, Asked
from kinkeeper.conversation import questions
from kinkeeper.conversation.model import EventName, Plan, PlanningContext
from kinkeeper.conversation.questions import Verb
from kinkeeper.conversation.stages import Limits
from kinkeeper.conversation.taking_back import take_back
from kinkeeper.conversation.turns import last_turns
from kinkeeper.household.viewers import Viewer
from kinkeeper.tasks.repository import list_tasks
from talking import Script, Talking, on_a_loop, talking, wants

SCRIPT = {
    "milk": (wants("task", "create", title="buy milk"),),
    "eggs": (wants("task", "create", title="buy eggs"),),
    "no milk": (wants("task", "delete", find_by="buy milk"),),
    "no milk and eggs": (
        wants("task", "delete", find_by="buy milk"),
        wants("task", "delete", find_by="buy eggs"),
    ),
}
BOTH = ["buy eggs", "buy milk"]


def tasks(held: Talking) -> list[str]:
    household = held.system.household.id
    return sorted(
        task.title
        for task in held.system.store.read_now(
            lambda conn: list_tasks(conn, Viewer.whole(household))
        )
    )


def waiting(held: Talking) -> list[PendingAction]:
    household, now = held.system.household.id, held.clock.now()
    found = held.system.store.read_now(
        lambda conn: list_actions(
            conn, Viewer.whole(household), statuses=(ActionStatus.PENDING,), now=now
        )
    )
    return sorted(found, key=lambda action: action.proposal.slot)


async def thread_of(held: Talking) -> str:
    return (await held.conversation.threads(held.john))[0].id


def asked(held: Talking, thread: str, at: datetime) -> Asked:
    return Asked(
        household=held.system.household,
        member=held.john,
        now=at,
        channel="web",
        thread_id=thread,
        turn_id="one that breaks off",
    )


async def with_both_open(held: Talking) -> None:
    await held.answer("milk")
    await held.answer("eggs")
    await held.answer("no milk and eggs")


@pytest.mark.parametrize(
    "text",
    [
        "what about the milk?",
        "what is the first one?",
        "not the first one",
        "I have two kids",
        "remind me at 2 to feed the cat",
        "drop the first",
        "all good, thanks",
        "that's all",
        "everything is fine",
        "the milk and the eggs?",
        "who wrote buy milk",
        "don't do the first",
    ],
)
@on_a_loop
async def test_what_does_more_than_choose_runs_nothing(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await with_both_open(held)
        assert "1." in await held.answer("yes")
        await held.answer(text)
        assert tasks(held) == BOTH


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("the second one", ["buy milk"]),
        ("1", ["buy eggs"]),
        ("the eggs please", ["buy milk"]),
        ("yes, the first", ["buy eggs"]),
        ("both", []),
        ("yes, all of them", []),
    ],
)
@on_a_loop
async def test_what_only_chooses_runs_what_it_names(
    tmp_path: Path, text: str, left: list[str]
) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await with_both_open(held)
        await held.answer("yes")
        await held.answer(text)
        assert tasks(held) == left


@pytest.mark.parametrize("text", ["all good", "everything is fine, go ahead", "yes, that's all"])
@on_a_loop
async def test_a_friendly_all_is_no_yes_to_all(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await with_both_open(held)
        await held.answer(text)
        assert tasks(held) == BOTH


@on_a_loop
async def test_places_stay_where_they_were_shown_when_a_button_was_quicker(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await with_both_open(held)
        await held.answer("yes")
        first = waiting(held)[0]
        await held.system.store.write(
            lambda conn: approvals.confirm(
                conn,
                first.id,
                member=held.john,
                household=held.system.household,
                now=held.clock.now(),
            )
        )
        assert tasks(held) == ["buy eggs"]
        held.later(seconds=5)
        await held.answer("the first one")
        assert tasks(held) == ["buy eggs"]


@pytest.mark.parametrize("text", ["the first one", "yes, the first one"])
@on_a_loop
async def test_a_message_that_is_worked_on_again_decides_the_same(
    tmp_path: Path, text: str
) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await with_both_open(held)
        await held.answer("yes")
        held.later(seconds=5)
        thread, household, at = await thread_of(held), held.system.household.id, held.clock.now()

        def decided(conn: Connection) -> list[ActionResult]:
            earlier = last_turns(conn, household, thread, last=20)
            found = questions.find_open(conn, household, earlier, now=at)
            meant = questions.meant_by(text, Verb.CONFIRM, found)
            assert meant is not None
            return questions.decide(conn, meant, asked(held, thread, at))

        once = await held.system.store.write(decided)
        again = await held.system.store.write(decided)
        assert [each.action_id for each in again] == [each.action_id for each in once]
        assert tasks(held) == ["buy eggs"]


@on_a_loop
async def test_a_yes_sent_before_the_question_was_there_is_asked_about(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await held.answer("milk")
        await held.answer("no milk")
        thread, household = await thread_of(held), held.system.household.id
        before = held.clock.now() - timedelta(seconds=1)
        found = held.system.store.read_now(
            lambda conn: questions.find_open(
                conn, household, last_turns(conn, household, thread, last=20), now=before
            )
        )
        meant = questions.meant_by("yes", Verb.CONFIRM, found)
        assert meant is not None
        assert not meant.actions
        assert meant.question is not None


@on_a_loop
async def test_taking_back_again_after_a_crash_takes_back_one_thing(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await held.answer("milk")
        held.later(seconds=5)
        await held.answer("eggs")
        held.later(seconds=5)
        thread, household, at = await thread_of(held), held.system.household.id, held.clock.now()

        def back(conn: Connection) -> None:
            take_back(conn, last_turns(conn, household, thread, last=20), asked(held, thread, at))

        await held.system.store.write(back)
        await held.system.store.write(back)
        assert tasks(held) == ["buy milk"]


@on_a_loop
async def test_what_a_button_did_last_is_what_is_taken_back(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await held.answer("milk")
        await held.answer("no milk")
        await held.answer("eggs")
        held.later(seconds=5)
        (deletion,) = waiting(held)
        await held.system.store.write(
            lambda conn: approvals.confirm(
                conn,
                deletion.id,
                member=held.john,
                household=held.system.household,
                now=held.clock.now(),
            )
        )
        assert tasks(held) == ["buy eggs"]
        held.later(seconds=5)
        await held.answer("undo that")
        assert tasks(held) == BOTH


@on_a_loop
async def test_somebody_elses_yes_decides_nothing_of_mine(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await held.answer("milk")
        heard = await held.heard(await held.say("no milk"))
        assert EventName.CONFIRM in [event.name for event in heard]
        await held.answer("yes", by="sarah")
        assert tasks(held) == ["buy milk"]


@on_a_loop
async def test_a_child_is_told_at_once_that_an_adult_has_to_say_yes(tmp_path: Path) -> None:
    async with talking(tmp_path, Script(SCRIPT)) as held:
        await held.answer("milk")
        await held.answer("eggs")
        await held.answer("no milk and eggs", by="leo")
        assert "adult" in await held.answer("yes", by="leo")
        assert tasks(held) == BOTH


@on_a_loop
async def test_what_cannot_be_seen_is_not_asked_for(tmp_path: Path) -> None:
    hidden = {"title": "buy\u202e \x1b[31mmilk\u200b"}
    async with talking(tmp_path, Script({"milk": (wants("task", "create", **hidden),)})) as held:
        said = await held.say("milk")
        await held.heard(said)
        (turn,) = await held.conversation.history(held.john, said.thread_id)
        assert turn.results[0].params == {"title": "buy [31mmilk"}


@on_a_loop
async def test_dictated_notes_leave_the_list_of_actions_with_their_turn(tmp_path: Path) -> None:
    note = wants("notes", "create", title="wombat", body="periwinkle")
    async with talking(tmp_path, Script({"note it": (note,)})) as held:
        await held.answer("note it")
        household, now = held.system.household.id, held.clock.now()

        def kept(conn: Connection) -> str:
            return str(
                list_actions(conn, Viewer.whole(household), statuses=tuple(ActionStatus), now=now)
            )

        assert "periwinkle" in held.system.store.read_now(kept)
        later = now + timedelta(days=31)
        await held.system.store.write(
            lambda conn: purge_extractions(conn, household, created_before=later, now=later)
        )
        assert "periwinkle" not in held.system.store.read_now(kept)
        assert "wombat" not in held.system.store.read_now(kept)


@on_a_loop
async def test_what_cannot_be_taken_back_is_not_told_as_failed(tmp_path: Path) -> None:
    script = Script(
        {**SCRIPT, "write": (wants("email", "send_email", to="a@b.example", body="hi"),)}
    )
    mail = email_requests(None, can_send=True)
    soon = Limits(outside=timedelta(milliseconds=20), tools=timedelta(milliseconds=50))
    async with talking(tmp_path, script, further=mail, limits=soon) as held:
        await held.answer("milk")
        held.later(seconds=5)
        await held.answer("write")
        await held.answer("yes")
        held.later(seconds=5)
        told = await held.answer("undo that")
        assert "in progress" in told
        assert not [each for each in ("could not", "couldn't") if each in told.casefold()]
        assert tasks(held) == ["buy milk"]


@on_a_loop
async def test_what_was_moved_as_a_whole_is_found_where_it_is_now(tmp_path: Path) -> None:
    def cancel(context: PlanningContext) -> Plan:
        if context.results:
            return Plan()
        moved = context.history[-1].results[0].result
        where = {"event_id": moved["event_id"], "on": moved["original_start"]}
        return Plan(actions=(wants("calendar", "delete_event", **where),))

    script = Script(
        {
            "dinner": (
                wants(
                    "calendar",
                    "create_event",
                    summary="Dinner with Ada",
                    start_time="2026-03-06T19:00:00-06:00",
                ),
            ),
            "move it to saturday": (
                wants(
                    "calendar",
                    "update_event",
                    find_by="Dinner with Ada",
                    changes={"start_time": "2026-03-07T19:00:00-06:00"},
                ),
            ),
            "cancel it": cancel,
        }
    )
    async with talking(tmp_path, script) as held:
        await held.answer("dinner")
        await held.answer("move it to saturday")
        await held.answer("yes")
        assert "Shall I cancel “Dinner with Ada”" in await held.answer("cancel it")
