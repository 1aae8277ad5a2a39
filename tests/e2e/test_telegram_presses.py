"""Presses on buttons in a real group: what each may do, and that nothing else does it."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import update

from botapi import Person
from botapi.chats import Message
from kinkeeper.actions import proposals
from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.model import Proposal
from kinkeeper.actions.registry import EFFECTS
from kinkeeper.actions.tables import pending_actions, press_refusals
from kinkeeper.calendar.tables import events
from kinkeeper.messaging import outbox
from kinkeeper.messaging.outbound import Button, Outbound, Verb
from kinkeeper.messaging.tables import messages
from kinkeeper.messaging.tables import outbox as outbox_rows
from pending_samples import choice, event, proposal
from telegram_family import Family, Stepping, run

HOUSEHOLD = "miller"


def question(number: int, millers: Family) -> Proposal:
    """Return a proposal with two ways, each of which writes an event of its own."""
    ways = tuple(
        choice(name, event(f"{number} {name}", household_id=HOUSEHOLD))
        for name in ("John", "Sarah")
    )
    return proposal(
        f"q{number}",
        household=HOUSEHOLD,
        chat_id=str(millers.group.id),
        effects=(),
        choices=ways,
        summary=f"Who picks up Leo, time {number}?",
    )


async def ask(program: Stepping, *numbers: int) -> list[Message]:
    """Put questions into the group; return them as they stand there."""
    millers = program.family

    def put(conn: Any) -> None:
        now = millers.clock.now()
        for number in numbers:
            action = proposals.propose(
                conn,
                question(number, millers),
                household=program.houses.systems[0].household,
                now=now,
            ).action
            line = Outbound(
                channel="telegram",
                chat_id=str(millers.group.id),
                body=action.proposal.summary,
                dedupe_key=f"ask:{number}",
                action_id=action.id,
                buttons=tuple(
                    Button(label=each.label, verb=Verb.CHOOSE, choice=each.label)
                    for each in action.proposal.choices
                ),
            )
            outbox.put(conn, HOUSEHOLD, line, now=now)

    program.houses.store.write_now(put)
    await program.deliver()
    return millers.said_by_bot[-len(numbers) :]


async def told(program: Stepping, person: Person, message: Message, label: str) -> str:
    """Press a button and return what the app shows."""
    press = person.presses(message, label)
    await program.step()
    assert press.answer is not None, "the press was left waiting"
    return str(press.answer["text"])


def by_number(program: Stepping) -> dict[str, Any]:
    return {row.source_id: row for row in program.rows(pending_actions)}


def written(program: Stepping) -> list[str]:
    return sorted(r.summary for r in program.rows(events) if r.summary.startswith("Tara"))


def refusals(program: Stepping) -> list[str]:
    return [row.reason for row in program.rows(press_refusals)]


def test_a_press_decides_what_it_stands_under_and_any_number_may_be_open(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            first, second, third = await ask(program, 1, 2, 3)
            assert await told(program, millers.john, second, "Sarah") == "Sarah it is."
            assert {key: row.status for key, row in by_number(program).items()} == {
                "q1": "pending",
                "q2": "done",
                "q3": "pending",
            }
            assert written(program) == ["Tara 2 Sarah"]
            assert (second.text, second.buttons) == ("Sarah it is.", ["Undo"])
            assert first.buttons == third.buttons == ["John", "Sarah"]
            millers.john.says(millers.group, "lol what a day")
            await program.step()
            assert len(program.rows(messages)) == 1, "what is open blocks no talk"

    run(scenario)


def test_the_first_person_decides_and_the_second_is_told_so(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            [asked] = await ask(program, 1)
            late = asked.button("John")["callback_data"]
            await told(program, millers.sarah, asked, "Sarah")
            press = millers.john.presses_data(asked, late)
            await program.step()
            assert press.answer is not None
            assert "Sarah" in press.answer["text"]
            assert written(program) == ["Tara 1 Sarah"]
            assert asked.buttons == ["Undo"]
            assert refusals(program)

    run(scenario)


def test_the_same_press_twice_is_one_and_says_the_same(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            [asked] = await ask(program, 1)
            data = asked.button("John")["callback_data"]
            presses = [millers.john.presses_data(asked, data) for _ in range(3)]
            await program.step()
            assert {str((each.answer or {}).get("text")) for each in presses} == {"John it is."}
            assert written(program) == ["Tara 1 John"]

    run(scenario)


def test_an_answer_that_comes_too_late_finds_that_it_ran_out(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            [asked] = await ask(program, 1)
            data = asked.button("John")["callback_data"]
            millers.api.advance(75 * 86_400)
            press = millers.john.presses_data(asked, data)
            await program.step()
            assert press.answer is not None
            assert "expired" in press.answer["text"].lower()
            assert by_number(program)["q1"].status == "expired", "running out is no no"
            assert asked.text.startswith("Expired")
            assert asked.buttons == ["Restore"]
            assert not written(program)

    run(scenario)


def test_what_ran_out_is_brought_back_by_a_press_and_can_be_decided_then(millers: Family) -> None:
    def shown_to_john() -> Message:
        """Return the last that he sees in the group, also what nobody else does."""
        return [each for each in millers.john.sees(millers.group) if each.sender is millers.bot][-1]

    async def scenario() -> None:
        async with millers.stepping() as program:
            millers.john.starts(millers.bot)
            await program.step()
            [asked] = await ask(program, 1)
            millers.api.advance(75 * 86_400)
            await program.step()
            assert asked.buttons == ["Restore"]
            again = "Waiting for approval again: Who picks up Leo, time 1?"
            assert await told(program, millers.john, asked, "Restore") == again
            card = shown_to_john()
            assert (card.text, card.buttons[:2]) == ("Who picks up Leo, time 1?", ["John", "Sarah"])
            # Pressed again, it is the same plan, and no second card.
            assert await told(program, millers.john, asked, "Restore") == again
            assert shown_to_john() is card
            assert await told(program, millers.john, card, "John") == "John it is."
            assert written(program) == ["Tara 1 John"]

    run(scenario)


def test_what_is_forged_foreign_or_stale_changes_nothing_and_is_counted(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            first, second = await ask(program, 1, 2)
            data = first.button("John")["callback_data"]
            tom = millers.api.user("Tom")
            millers.group.add(tom)
            tried = [
                millers.john.presses_data(first, "k1:" + "A" * 32),
                millers.john.presses_data(first, "yes"),
                millers.john.presses_data(second, data),
                tom.presses_data(first, data),
            ]
            await program.step()
            assert refusals(program) == ["forged", "forged", "foreign_message", "foreign_member"]
            assert all("nothing was changed" in (each.answer or {})["text"] for each in tried)
            program.houses.store.write_now(
                lambda conn: conn.execute(
                    update(pending_actions)
                    .where(pending_actions.c.source_id == "q1")
                    .values(payload_hash="0" * 64)
                )
            )
            stale = millers.john.presses_data(first, data)
            await program.step()
            assert "shown something else" in (stale.answer or {})["text"]
            assert not written(program)
            assert {row.status for row in program.rows(pending_actions)} == {"pending"}

    run(scenario)


def test_a_child_may_look_and_not_decide(millers: Family) -> None:
    async def scenario() -> None:
        leo = millers.api.user("Leo")
        millers.group.add(leo)
        file = millers.folder / "households" / "miller.toml"
        text = file.read_text().replace('name = "Leo"', f'name = "Leo"\ntelegram_id = {leo.id}', 1)
        file.write_text(text)
        async with millers.stepping() as program:
            [asked] = await ask(program, 1)
            assert "adult" in await told(program, leo, asked, "John")
            leo.says(millers.group, "/pending")
            leo.says(millers.group, "/quiet 2h")
            await program.step()
            seen = [m for m in leo.sees(millers.group) if m.receiver is leo.account]
            assert not seen[0].buttons
            assert "adult" in seen[1].text
            assert not written(program)

    run(scenario)


def test_words_decide_nothing(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            [asked] = await ask(program, 1)
            for text in ("yes", "approve", "Confirm", "John", "👍"):
                millers.john.says(millers.group, text, reply_to=asked)
            millers.john.reacts(asked, "👍")
            await program.step()
            assert by_number(program)["q1"].status == "pending"
            assert not written(program)
            assert millers.said_by_bot == [asked], "nothing is claimed to be done"

    run(scenario)


def test_buttons_are_short_plain_and_secret(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            [asked] = await ask(program, 1)
            datas = [asked.button(label)["callback_data"] for label in asked.buttons]
            assert len(set(datas)) == 2
            for data in datas:
                assert len(data.encode()) <= 64
                assert "q1" not in data
            stored = [str(row) for table in (outbox_rows,) for row in program.rows(table)]
            assert not any(data in row for data in datas for row in stored)

    run(scenario)


def test_undo_takes_back_once(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            [asked] = await ask(program, 1)
            await told(program, millers.john, asked, "John")
            undo = asked.button("Undo")["callback_data"]
            assert (await told(program, millers.sarah, asked, "Undo")).startswith("Undone")
            assert asked.text.startswith("Undone")
            assert not asked.buttons
            again = millers.john.presses_data(asked, undo)
            await program.step()
            assert again.answer is not None
            assert by_number(program)["q1"].undone_by == "sarah"

    run(scenario)


def test_not_right_asks_why_only_who_said_so(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            await ask(program, 1)
            millers.sarah.says(millers.group, "/pending")
            await program.step()
            card = millers.sarah.sees(millers.group)[-1]
            assert card.receiver is millers.sarah.account
            await told(program, millers.sarah, card, "Not right")
            assert by_number(program)["q1"].status == "rejected"
            assert "Wrong day" in card.buttons
            [asked] = millers.said_by_bot
            assert not asked.buttons
            assert "noted" in await told(program, millers.sarah, card, "Wrong day")

    run(scenario)


def test_what_is_dangerous_is_decided_where_all_of_it_is_seen(millers: Family) -> None:
    high = [name for name, kind in EFFECTS.items() if kind.stakes is Stakes.HIGH]
    assert high, "no effect is dangerous: this test is idle"

    async def scenario() -> None:
        async with millers.stepping() as program:
            risky = proposal("r1", household=HOUSEHOLD, chat_id=str(millers.group.id))
            program.houses.store.write_now(
                lambda conn: proposals.propose(
                    conn,
                    risky,
                    household=program.houses.systems[0].household,
                    now=millers.clock.now(),
                )
            )
            program.houses.store.write_now(
                lambda conn: conn.execute(
                    update(pending_actions).values(effects=[{"effect": high[0]}])
                )
            )
            millers.sarah.says(millers.group, "/pending")
            await program.step()
            assert millers.sarah.sees(millers.group)[-1].buttons == ["Not right"]

    run(scenario)


@pytest.mark.slow
def test_eight_presses_race_for_each_of_two_hundred_questions(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            asked = await ask(program, *range(1, 201))
            for message in asked:
                for person in (millers.john, millers.sarah):
                    for label in ("John", "Sarah"):
                        data = message.button(label)["callback_data"]
                        person.presses_data(message, data)
                        person.presses_data(message, data)
            presses = millers.api.updates_of(millers.bot, "callback_query")
            count = len(presses)
            assert count == 1600
            reception = program.running._polling._reception
            for first in range(0, len(presses), 8):
                race = [
                    reception.take_in(each, is_in_order=False)
                    for each in presses[first : first + 8]
                ]
                await asyncio.gather(*race)
            assert len(written(program)) == 200
            assert {row.status for row in program.rows(pending_actions)} == {"done"}
            assert len(program.rows(outbox_rows, kind="notice")) == 1600

    run(scenario, within=300)


def test_a_hundred_presses_at_two_servers_decide_each_card_once(millers: Family) -> None:
    """Both ways of four cards at once by both parents, forged ones among them, taken in by two servers that poll."""

    async def scenario() -> None:
        async with millers.stepping() as one, millers.stepping() as two:
            asked = await ask(one, 1, 2, 3, 4)
            data = [
                [card.button(way)["callback_data"] for way in ("John", "Sarah")] for card in asked
            ]
            presses = [
                person.presses_data(asked[number % 4], data[number % 4][number // 4 % 2])
                for number in range(50)
                for person in (millers.john, millers.sarah)
            ]
            forged = [millers.john.presses_data(asked[n % 4], f"k1:{n:032}") for n in range(10)]
            asked[0].text = "Press here for a prize"
            await asyncio.gather(one.hear(), two.hear())
            await asyncio.gather(one.step(), two.step())
            assert all(press.answer is not None for press in (*presses, *forged))
            assert {row.status for row in one.rows(pending_actions)} == {"done"}
            assert [each.split()[1] for each in written(one)] == ["1", "2", "3", "4"]
            assert refusals(one).count("forged") >= len(forged)

    run(scenario)
