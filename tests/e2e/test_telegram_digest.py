"""The daily digest in a private Telegram chat: who gets it, its buttons, and choosing its time."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from botapi import Person
from botapi.chats import Message
from kinkeeper.actions import proposals
from kinkeeper.actions.tables import pending_actions
from kinkeeper.bootstrap.digests import digest_rounds
from kinkeeper.digest.repository import digest_times, digests
from pending_samples import adding, event, proposal
from telegram_family import Family, Stepping, family, run


@pytest.fixture
def millers(tmp_path: Path) -> Iterator[Family]:
    with family(tmp_path) as found:
        yield found


def plan(program: Stepping, number: int) -> None:
    """Let a plan for one of the coming days wait."""
    now, household = program.family.clock.now(), program.system.household
    made = event(
        f"e{number}",
        household_id=household.id,
        start=(now + timedelta(days=3 + number)).replace(microsecond=0),
    )
    wanted = proposal(
        f"p{number}",
        household=household.id,
        summary=f"Plan number {number}",
        extraction={},
        effects=adding(made),
    )
    program.system.store.write_now(
        lambda conn: proposals.propose(conn, wanted, household=household, now=now)
    )


async def at_six(program: Stepping) -> None:
    """Let it be six in the evening, and send what is due."""
    local = program.family.clock.now().astimezone(program.system.household.zone)
    six = local.replace(hour=18, minute=0, second=0, microsecond=0)
    wait = six - local if six > local else six - local + timedelta(days=1)
    program.family.api.advance(wait.total_seconds())
    system = program.system
    await digest_rounds(
        system.settings, system.household, system.store, program.family.clock
    ).run_once()
    await program.deliver()


async def asks(program: Stepping, person: Person, text: str) -> Message:
    """Say something to the bot in private, and return its last words."""
    person.says(program.family.bot, text)
    await program.step()
    return program.family.alone_with(person)[-1]


def test_who_opened_a_private_chat_gets_it_there_with_buttons_and_the_group_hears_nothing(
    millers: Family,
) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            millers.john.starts(millers.bot)
            await program.step()
            for number in range(5):
                plan(program, number)
            before, group = len(millers.alone_with(millers.john)), len(millers.said_by_bot)
            await at_six(program)
            digest, *cards = millers.alone_with(millers.john)[before:]
            assert digest.text.startswith(
                "5 plans are waiting for your OK:\n• Plan number 0 (until the end of "
            )
            assert not digest.buttons
            assert [card.text for card in cards] == [f"Plan number {number}" for number in range(3)]
            press = millers.john.presses(cards[0], "Confirm")
            await program.step()
            assert press.answer is not None
            assert press.answer["text"].startswith("Done: Plan number 0")
            assert [row.status for row in program.rows(pending_actions)].count("done") == 1
            assert millers.alone_with(millers.sarah) == []
            assert len(millers.said_by_bot) == group
            assert {row.member for row in program.rows(digests)} >= {"john", "sarah"}

    run(scenario)


def test_one_a_day_through_restarts_and_nothing_where_nothing_waits(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            millers.john.starts(millers.bot)
            await program.step()
            before = len(millers.alone_with(millers.john))
            await at_six(program)
            assert len(millers.alone_with(millers.john)) == before
            plan(program, 9)
            await at_six(program)
        async with millers.stepping() as program:
            system = program.system
            for _ in range(3):
                rounds = digest_rounds(
                    system.settings, system.household, system.store, millers.clock
                )
                await rounds.run_once()
                await program.deliver()
            texts = [each.text for each in millers.alone_with(millers.john)[before:]]
            assert [text.splitlines()[0] for text in texts] == [
                "1 plan is waiting for your OK:",
                "Plan number 9",
            ]

    run(scenario)


def test_the_time_is_chosen_in_private_and_off_is_one(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            told = await asks(program, millers.john, "/digest 7:30pm")
            assert told.text == "You'll get your digest every day at 19:30."
            told = await asks(program, millers.john, "/digest soonish")
            assert "is not a time of day" in told.text
            plan(program, 1)
            told = await asks(program, millers.john, "/digest")
            assert told.text.startswith("1 plan is waiting for your OK:")
            assert [(row.member, row.at) for row in program.rows(digest_times)] == [
                ("john", "19:30")
            ]
            await asks(program, millers.john, "/digest off")
            before = len(millers.alone_with(millers.john))
            await at_six(program)
            await at_six(program)
            assert len(millers.alone_with(millers.john)) == before

    run(scenario)
