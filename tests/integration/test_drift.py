"""Idle thought in a household's own database: told to one person alone, once, and only as long as they want it."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, update

from drift_life import DAY, HOUR, due, living
from kinkeeper.actions.approvals import confirm
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction
from kinkeeper.actions.repository import list_actions
from kinkeeper.background.drift import repository
from kinkeeper.background.drift.cycle import Remark, State
from kinkeeper.background.drift.repository import (
    choose,
    drift_cycles,
    figures,
    latest_cycles,
    purge,
)
from kinkeeper.background.drift.rounds import JITTER, TICK
from kinkeeper.bootstrap.drift import HouseholdWorld
from kinkeeper.conversation.tables import turns
from kinkeeper.conversation.turn_records import Effects
from kinkeeper.core.errors import NotFoundError
from kinkeeper.goals.repository import list_goals
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.messaging.addresses import remember_private_chat
from kinkeeper.messaging.tables import outbox
from kinkeeper.observer.quiet_requests import be_quiet
from kinkeeper.tasks.task_changes import complete_task, update_task
from kinkeeper.web.views.health import with_thought
from kinkeeper.web.workload import workload_record
from live_household import MONDAY, ZONE
from talking import on_a_loop


@on_a_loop
async def test_what_nobody_has_is_told_to_one_person_once(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        await life.write(due())
        await life.live(6 * DAY, tick=timedelta(hours=1))
        [(member, text)] = life.posted()
        assert (member, text) == (
            "john",
            "“Pay the camp deposit” is due on Sat Mar 7, and nobody has it yet.",
        )
        [row] = life.rows()
        assert row.state == State.IGNORED.value
        assert row.evidence == [{"kind": "task", "id": due().id, "words": "Pay the camp deposit"}]
        assert not life.rows(outbox)


@on_a_loop
async def test_of_several_the_household_hears_one_a_day(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        await life.write(
            *(
                due(title, days=9)
                for title in ("Pay the deposit", "Order the photos", "Renew the passports")
            )
        )
        sarahs = due(
            "Return the library books", days=9, scope=person_scope("sarah"), asked_by="sarah"
        )
        await life.write(sarahs)
        for _ in range(5):
            await life.live(DAY, tick=timedelta(minutes=30))
            await life.talk.answer("thanks for telling me")
            await life.talk.answer("thanks for telling me", by="sarah")
        told = [row.told_at.astimezone(ZONE) for row in life.rows() if row.told_at]
        assert len(told) >= 3
        assert len({each.date() for each in told}) == len(told)
        assert all(7 <= each.hour < 22 for each in told)
        assert {row.member for row in life.rows() if "library" in row.text} <= {"sarah"}


@on_a_loop
async def test_nothing_is_thought_where_nobody_lives_or_while_there_is_work(tmp_path: Path) -> None:
    async with living(tmp_path, greeting="") as life:
        await life.write(due())
        await life.live(HOUR)
        assert not life.rows(drift_cycles)
        said = await life.talk.say("hello")
        assert await life.think() is None  # the turn is under way
        await life.talk.heard(said)
        assert await life.think() is not None
        life.talk.later(days=7, minutes=1)
        assert await life.think() is None


@on_a_loop
async def test_what_comes_up_at_night_waits_for_the_morning_and_must_still_hold(
    tmp_path: Path,
) -> None:
    for is_done in (False, True):
        async with living(f"{tmp_path}/{is_done}.sqlite") as life:
            life.talk.clock.advance_to(MONDAY.replace(hour=23))
            await life.write(due())
            await life.live(2 * HOUR)
            [row] = life.rows()
            assert row.state == State.DEFERRED.value
            assert not life.posted()
            if is_done:
                await life.talk.system.store.write(
                    lambda conn: complete_task(
                        conn, "miller", due().id, by="john", change_id="done", at=MONDAY + DAY
                    )
                )
            await life.live(8 * HOUR)
            [row] = life.rows()
            assert row.state == (State.DROPPED if is_done else State.WAITING).value
            assert len(life.posted()) == (not is_done)
            if not is_done:
                local = row.told_at.astimezone(ZONE)
                assert (local.hour, local.minute < 45) == (7, True)


@on_a_loop
async def test_a_remark_that_is_seen_to_counts_and_one_that_is_answered_does(
    tmp_path: Path,
) -> None:
    async with living(tmp_path) as life:
        await life.write(due())
        await life.live(HOUR)
        taken = replace(due(), who=("sarah",))
        await life.talk.system.store.write(
            lambda conn: update_task(conn, taken, change_id="taken", at=life.now)
        )
        await life.live(HOUR)
        assert [row.state for row in life.rows()] == [State.ACTED_ON.value]
        life.talk.later(days=1)
        await life.write(due("Order the school photos", days=8))
        while len(life.posted()) < 2:
            await life.live(TICK, tick=TICK)
        await life.talk.answer("ok, will do")
        await life.live(2 * HOUR)
        states = sorted(row.state for row in life.rows())
        assert states == [State.ACTED_ON.value, State.ANSWERED.value]
        found = life.talk.system.store.read_now(lambda conn: figures(conn, "miller", since=MONDAY))
        assert (found.told, found.taken_up) == (2, 2)
        assert found.cycles["COMMUNICATE"] == found.effects["COMMUNICATE"] == 2


@on_a_loop
async def test_what_it_did_and_what_came_of_it_is_shown_without_words(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        await life.write(due())
        await life.live(2 * HOUR)
        household, since, store = life.talk.system.household, MONDAY, life.talk.system.store
        work = store.read_now(lambda conn: workload_record(conn, household, 2, now=life.now))
        assert work["thoughts"]["COMMUNICATE"] == 1
        assert work["remarks"] == {"waiting": 1}
        found = store.read_now(lambda conn: figures(conn, "miller", since=since))
        shown = with_thought(Effects(decisions=0, shares=[], parts=[]), found)
        assert [(each.name, each.fired, each.had_effect) for each in shown.parts] == [
            ("idle thoughts", sum(work["thoughts"].values()), 1),
            ("remarks made unasked", 1, 0),
            ("questions kept", 0, 0),
        ]
        told = store.read_now(lambda conn: latest_cycles(conn, "miller", limit=50))
        assert "deposit" not in repr(told)
        assert {each["matter"] for each in told} == {"a deadline that nobody has", None}


STOPS = (
    "stop telling me things unasked",
    "Please don't send me these remarks any more",
    "stop sending me such things",
    "turn off the remarks",
    "no more nudges please",
    "only speak when I ask you",
    "stop your unasked messages",
    "don't tell me things I didn't ask for",
    "can you stop giving me those hints",
    "stop the daily observations",
    "please stop messaging me out of the blue",
    "don't bother me with these things again",
)
STARTS = (
    "start the remarks again",
    "turn on the nudges",
    "please resume your observations",
    "tell me what you notice again",
)
OTHERS = (
    "stop telling me about football",
    "stop reminding me of the bins",
    "don't tell me the ending",
    "tell me the plan again",
    "stop",
    "turn off the digest",
    "don't send the mail",
    "no more milk on the list",
    "remind me to send the remarks to school",
    "turn on the heating",
    "send me the list again",
    "what did you notice?",
)


@pytest.mark.parametrize("words", STOPS)
@on_a_loop
async def test_who_says_stop_hears_no_more_until_they_say_start(tmp_path: Path, words: str) -> None:
    async with living(tmp_path) as life:
        await life.write(due(), due("Order the school photos", days=8))
        answer = await life.talk.answer(words)
        assert answer.startswith("From now on I tell you nothing unasked."), answer
        life.talk.later(minutes=40)
        await life.live(3 * HOUR)
        assert not life.posted()
        start = STARTS[len(words) % len(STARTS)]
        answer = await life.talk.answer(start)
        assert answer.startswith("I'll tell you again"), (start, answer)
        life.talk.later(minutes=40)
        await life.live(3 * HOUR)
        assert len(life.posted()) == 1


@on_a_loop
async def test_other_words_leave_the_remarks_as_they_are(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        for number, (words, by) in enumerate(product(OTHERS, ("john", "sarah"))):
            await life.talk.answer(words, by=by, thread_id=f"{by}{number}")
        assert not life.rows(repository.drift_choices)


@on_a_loop
async def test_quiet_for_the_household_holds_for_remarks(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        await life.write(due())
        until = life.now + 3 * HOUR
        await life.talk.system.store.write(
            lambda conn: be_quiet(conn, "miller", until=until, by="sarah", now=life.now)
        )
        await life.live(3 * HOUR - timedelta(minutes=10))
        assert not life.posted()
        await life.live(HOUR)
        assert len(life.posted()) == 1


@on_a_loop
async def test_a_private_chat_gets_it_for_its_person_alone(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        await life.talk.system.store.write(
            lambda conn: remember_private_chat(
                conn, "miller", "telegram", member="john", chat_id="1001", now=life.now
            )
        )
        await life.write(due())
        await life.live(2 * HOUR)
        [row] = life.rows(outbox)
        assert (row.audience, row.chat_id, row.is_soundless) == ("john", "1001", 1)
        assert len(life.posted()) == 1


@on_a_loop
async def test_what_comes_up_day_after_day_becomes_a_proposal_to_one_person(tmp_path: Path) -> None:
    """It waits in the inbox, is told to nobody, comes once, and is a goal once it is approved."""
    async with living(tmp_path) as life:
        store = life.talk.system.store
        await life.talk.answer("add Leo's birthday on March 20 to the calendar", by="sarah")
        life.talk.later(minutes=40)

        def proposed() -> list[PendingAction]:
            whole, every = Viewer.whole("miller"), frozenset(ActionStatus)
            found = store.read_now(
                lambda conn: list_actions(conn, whole, statuses=every, now=life.now)
            )
            return [each for each in found if each.proposal.type is ActionType.GOAL]

        def decide(conn: Connection, action_id: str, by: str) -> None:
            household = life.talk.system.household
            member = household.member(by)
            assert member is not None
            confirm(conn, action_id, member=member, household=household, now=life.now)

        await life.live(20 * HOUR, tick=HOUR)
        assert not proposed()
        await life.live(2 * DAY, tick=HOUR)
        [card] = proposed()
        [person] = {row.member for row in life.rows(drift_cycles) if row.action == "PLAN"}
        assert card.status is ActionStatus.PENDING
        assert card.proposal.origin is Origin.DRIFT
        assert card.proposal.scope == person_scope(person)
        assert "no plan" in card.proposal.request["shown"]["why"]
        assert not life.posted()
        whole = Viewer.whole("miller")
        assert not store.read_now(lambda conn: list_goals(conn, whole))
        other = "sarah" if person == "john" else "john"
        with pytest.raises(NotFoundError):
            store.write_now(lambda conn: decide(conn, card.id, other))
        store.write_now(lambda conn: decide(conn, card.id, person))
        found = store.read_now(lambda conn: list_goals(conn, whole))
        assert [each.member for each in found] == [person]
        await life.live(2 * DAY, tick=HOUR)
        assert len(proposed()) == 1


# Each: what is due and nobody has yet, and questions on which it bears.
BEARS = {
    "Pay the camp deposit": (
        "when is the camp deposit due?",
        "who pays the camp deposit?",
        "is the camp deposit paid?",
        "do we have to pay the deposit for camp?",
    ),
    "Order the school photos": (
        "when are the school photos due?",
        "who orders the school photos?",
        "what about the school photos?",
    ),
}
BEARS_NOT = (
    "when is soccer?",
    "what's on tomorrow?",
    "who is at ballet on Wednesday?",
    "when is the school run?",
    "is there a school trip this week?",
    "when do we order pizza?",
    "when is the football camp?",
    "hello, how are you?",
    "thanks, that is all",
    "we talked about photos and camps all evening",
)
DOES = ("add bread to the shopping list", "add a task: photograph the school fence")


@pytest.mark.parametrize("title", BEARS)
@on_a_loop
async def test_an_answer_mentions_what_came_to_mind_only_where_it_bears_on_it(
    tmp_path: Path, title: str
) -> None:
    """Told once to whose thought it is, named among what was used, and for half an hour."""
    async with living(tmp_path) as life:
        await life.write(due(title, days=10))
        text = f"“{title}” is due on Thu Mar 12, and nobody has it yet."
        life.mention()
        await life.think_of_it()
        for number, question in enumerate((*BEARS_NOT, *DOES)):
            answer = await life.talk.answer(question, thread_id=f"other{number}")
            assert text not in answer, question
        for number, question in enumerate(BEARS[title]):
            hers = await life.talk.answer(question, by="sarah", thread_id=f"s{number}")
            assert text not in hers
            thread = f"t{number}"
            answer = await life.talk.answer(question, thread_id=thread)
            assert answer.count(text) == 1, (question, answer)
            why = await life.talk.answer("what did you use to answer this?", thread_id=thread)
            assert text in why, why
            for again in (thread, f"u{number}"):
                assert text not in await life.talk.answer(question, thread_id=again)
            forget = update(turns).values(used=[])
            await life.talk.system.store.write(
                lambda conn, forget=forget: conn.execute(forget).rowcount
            )
        life.talk.later(minutes=31)
        for number, question in enumerate(BEARS[title]):
            late = await life.talk.answer(question, thread_id=f"late{number}")
            assert text not in late
        # What an answer has mentioned is not told as well.
        assert not life.posted()


@on_a_loop
async def test_what_holds_no_more_or_is_not_wanted_is_mentioned_in_no_answer(
    tmp_path: Path,
) -> None:
    title = "Pay the camp deposit"
    (question, *_) = BEARS[title]
    for is_done, is_off in product((False, True), (False, True)):
        async with living(f"{tmp_path}/{is_done}{is_off}.sqlite") as life:
            life.mention()
            await life.write(due(title, days=10))
            await life.think_of_it()
            store = life.talk.system.store
            if is_done:
                taken = replace(due(title, days=10), who=("sarah",))
                await store.write(
                    lambda conn, taken=taken: update_task(  # type: ignore[misc]
                        conn, taken, change_id="taken", at=life.now
                    )
                )
            if is_off:
                await store.write(
                    lambda conn: choose(conn, "miller", "john", is_on=False, now=life.now)
                )
            answer = await life.talk.answer(question, thread_id="t")
            assert ("nobody has it yet" in answer) is not (is_done or is_off), answer


class Failing(HouseholdWorld):
    """A world in which nobody can be told anything."""

    def tell(self, conn: Connection, member: Member, remark: Remark, *, now: datetime) -> str:
        super().tell(conn, member, remark, now=now)
        raise OSError


@on_a_loop
async def test_after_two_failures_of_three_there_is_a_pause_and_nothing_is_half_told(
    tmp_path: Path,
) -> None:
    async with living(tmp_path) as life:
        await life.write(due(), due("Order the school photos", days=8))
        life.rounds = life.new_rounds(Failing(life.talk.system.household, life.talk.system.store))
        await life.live(7 * HOUR)
        assert [row.state for row in life.rows()] == [State.FAILED.value] * 2
        assert not life.posted()
        life.rounds = life.new_rounds()
        await life.live(3 * HOUR)
        assert len(life.posted()) == 1


@on_a_loop
async def test_a_stored_cycle_is_thought_again_to_the_same(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        await life.write(
            due(), due("Order the school photos", days=13), due("Bin day", days=2, who=("john",))
        )
        await life.live(3 * DAY, tick=timedelta(minutes=50))
        rows = life.rows(drift_cycles)
        assert len({row.action for row in rows}) >= 2
        for row in rows:
            member = life.talk.member(row.member)
            again = life.talk.system.store.read_now(
                lambda conn, row=row, member=member: life.rounds.think(conn, member, row.at)
            ).cycle
            news = None if again.thought is None else again.thought.news
            assert (
                again.seed,
                [*again.seeds],
                dict(again.activated),
                news,
                again.action,
                dict(again.scores),
            ) == (row.seed, row.seeds, row.activated, row.news, row.action, row.scores)


@on_a_loop
async def test_two_processes_tell_it_once(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        await life.write(due())
        await life.think()
        life.talk.later(minutes=5)
        others = [life.new_rounds() for _ in range(4)]
        for _ in range(6):
            await asyncio.gather(*(each.run_once() for each in others))
            life.talk.later(minutes=5)
        assert len(life.posted()) == 1
        assert len(life.rows(drift_cycles)) == 7


@on_a_loop
async def test_words_go_with_time_and_choices_drop_what_waits(tmp_path: Path) -> None:
    async with living(tmp_path) as life:
        life.talk.clock.advance_to(MONDAY.replace(hour=23))
        await life.write(due())
        await life.live(2 * HOUR)
        store = life.talk.system.store
        await store.write(lambda conn: choose(conn, "miller", "john", is_on=False, now=life.now))
        assert [row.state for row in life.rows()] == [State.DROPPED.value]
        assert await store.write(lambda conn: purge(conn, "miller", before=life.now)) == 1
        assert "deposit" not in repr(life.rows()) + repr(life.rows(drift_cycles))


@on_a_loop
async def test_an_idle_household_costs_three_small_reads_a_tick(tmp_path: Path) -> None:
    """At 300 s a tick, a thousandth of a core is 0.3 s of CPU; a read is some tens of microseconds."""
    async with living(tmp_path) as life:
        life.talk.later(days=8)
        counted: list[str] = []
        engine = life.talk.system.store.read_now(lambda conn: conn.engine)
        event.listen(engine, "before_cursor_execute", lambda *args: counted.append(args[2]))
        for _ in range(10):
            assert await life.think() is None
            life.talk.later(seconds=TICK.total_seconds() * (1 - JITTER))
        assert len(counted) <= 10 * 12, counted[:12]
        assert all(each.startswith("SELECT") for each in counted)
