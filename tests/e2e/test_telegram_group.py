"""What a family says in its group, and what of it the bot hears, keeps and answers; over real HTTP."""

from dataclasses import replace
from pathlib import Path

import pytest

from botapi.chats import Message
from kinkeeper.actions.tables import pending_actions
from kinkeeper.channels.telegram import bot_status
from kinkeeper.messaging.tables import chat_moves, messages, outbox, private_chats
from kinkeeper.observer.tables import feedback, observer_messages, quiet_periods
from kinkeeper.store.schema import metadata
from telegram_family import CLAIMS, CLAIMS_TOO, Family, Stepping, family, run, write_household

ASKS = "Who's picking up Leo Thursday after soccer?"


async def conflict(millers: Family, program: Stepping) -> Message:
    """Let both parents claim one job; return what the bot asks."""
    millers.john.says(millers.group, CLAIMS)
    millers.api.advance(60)
    millers.sarah.says(millers.group, CLAIMS_TOO)
    await program.step()
    return millers.said_by_bot[-1]


def test_chatter_is_heard_and_left_alone(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            millers.john.says(millers.group, "lol the dog ate the remote")
            millers.john.sends(millers.group, "photo", caption="so cute")
            millers.john.sends(millers.group, "voice")
            millers.group.rename("Millers!")
            await program.step()
            assert [row.text for row in program.rows(messages)] == [
                "lol the dog ate the remote",
                "so cute",
            ]
            assert not millers.said_by_bot
            assert {row.sender for row in program.rows(messages)} == {"john"}

    run(scenario)


def test_an_edit_takes_back_what_was_meant_and_a_mere_touch_does_not(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            said = millers.john.says(millers.group, CLAIMS)
            await program.step()
            [action] = program.rows(pending_actions)
            assert action.status == "pending"
            millers.john.edits(said, CLAIMS)  # another link preview, say: the words are the same
            await program.step()
            assert len(program.rows(messages)) == 1
            millers.john.edits(said, "never mind")
            millers.john.edits(said, "Nice weather")  # within the same second
            await program.step()
            assert [row.status for row in program.rows(pending_actions)] == ["withdrawn"]
            assert [row.kind for row in program.rows(messages)] == ["text", "edit", "edit"]

    run(scenario)


def test_a_thumb_takes_a_question_on_and_lets_go_again(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            asked = millers.john.says(millers.group, "Can you pick up Leo Thursday at 4pm?")
            await program.step()
            millers.api.advance(30)
            millers.sarah.reacts(asked, "👍")
            await program.step()
            reaction = program.rows(observer_messages)[-1]
            assert reaction.attribution_source == str(asked.number), reaction.reason
            waiting = [r for r in program.rows(pending_actions) if r.status == "pending"]
            assert waiting
            assert "Sarah" in waiting[-1].summary
            millers.api.advance(30)
            millers.sarah.reacts(asked)
            await program.step()
            still = [r.id for r in program.rows(pending_actions) if r.status == "pending"]
            assert waiting[-1].id not in still

    run(scenario)


def test_an_answer_to_the_bots_question_answers_the_question_behind_it(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            asked = millers.john.says(millers.group, "Who's picking up Leo today after soccer?")
            await program.step()
            for _ in range(3):
                millers.api.advance(600)
                await program.step()
            spoken = millers.said_by_bot
            assert spoken, "the question was not asked aloud"
            millers.sarah.says(millers.group, "I'll do it", reply_to=spoken[-1])
            await program.step()
            heard = program.rows(messages)[-1]
            assert heard.reply_to == str(asked.number)
            assert program.rows(observer_messages)[-1].attribution_source == str(asked.number)

    run(scenario)


def test_forwarded_claims_are_nobodys(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            millers.john.forwards(millers.group, CLAIMS, origin="Sarah")
            await program.step()
            [heard] = program.rows(messages)
            assert heard.sender == "Sarah (forwarded)"
            assert not heard.is_member
            for row in program.rows(pending_actions):
                assert row.extraction["assigned_to"] != ["sarah"]

    run(scenario)


def test_privacy_mode_hides_the_family_from_a_bot_that_governs_nothing(tmp_path: Path) -> None:
    async def scenario(millers: Family, heard: int) -> None:
        async with millers.stepping() as program:
            millers.john.says(millers.group, ASKS)
            await program.step()
            assert len(program.rows(messages)) == heard
            broken = [each for each in program.running.findings() if each.health == "broken"]
            assert bool(broken) == (heard == 0), broken
            if broken:
                assert "privacy mode" in broken[0].found
                assert "administrator" in broken[0].remedy

    for name, admin, privacy, heard in (
        ("hidden", False, True, 0),
        ("open", False, False, 1),
        ("admin", True, True, 1),
    ):
        folder = tmp_path / name
        folder.mkdir()
        with family(folder, admin=admin, privacy=privacy) as millers:
            run(lambda millers=millers, heard=heard: scenario(millers, heard))  # type: ignore[misc]


def test_a_group_that_becomes_a_supergroup_is_the_same_group(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            asked = await conflict(millers, program)
            assert asked.buttons
            old = str(millers.group.id)
            new = str(millers.group.migrate())
            await program.step()
            [move] = program.rows(chat_moves)
            assert (move.old_chat_id, move.new_chat_id) == (old, new)
            millers.john.says(millers.group, "Leo has the dentist Friday at 3pm")
            await program.step()
            assert program.rows(messages)[-1].chat_id == new
            millers.sarah.says(millers.group, "/today")
            await program.step()
            assert program.rows(outbox)[-1].state == "sent"
            assert program.rows(outbox)[-1].chat_id == new

    with family(tmp_path, supergroup=False) as millers:
        run(scenario)


def test_a_move_that_only_sending_finds_out_goes_to_the_new_group(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            millers.john.says(millers.group, CLAIMS)
            millers.api.advance(60)
            millers.sarah.says(millers.group, CLAIMS_TOO)
            await program.hear()
            await program.understand()
            millers.group.migrate()
            millers.bot.updates.pending.clear()
            await program.deliver()
            [asked] = millers.said_by_bot
            assert asked.buttons

    with family(tmp_path, supergroup=False) as millers:
        run(scenario)


def test_of_a_foreign_group_nothing_is_kept_but_its_number(millers: Family) -> None:
    async def scenario() -> None:
        tom = millers.api.user("Tom")
        club = millers.api.group("Club", tom, millers.bot, supergroup=True)
        club.promote(millers.bot)
        async with millers.stepping() as program:
            said = tom.says(club, "SECRET: I'll pick up Leo Thursday at 4pm")
            tom.says(club, "/pending")
            tom.reacts(said, "👍")
            tom.edits(said, "SECRET too")
            await program.step()
            dump = program.houses.store.read_now(
                lambda conn: [
                    str(row)
                    for table in metadata.sorted_tables
                    for row in conn.exec_driver_sql(f'SELECT * FROM "{table.name}"')  # noqa: S608 - names of our own
                ]
            )
            assert "SECRET" not in "".join(dump)
            found = program.houses.store.read_now(
                lambda conn: bot_status.find_strangers(conn, str(millers.bot.id))
            )
            assert {each.chat_id for each in found} == {str(club.id)}
            assert not millers.api.calls("sendMessage")
            remedies = [each.remedy for each in program.running.findings()]
            assert any("`chats`" in remedy for remedy in remedies)

    run(scenario)


def test_two_households_share_a_bot_and_nothing_else(millers: Family) -> None:
    async def scenario() -> None:
        ann, bob = millers.api.user("John"), millers.api.user("Sarah")
        other = millers.api.group("Others", ann, bob, millers.bot, supergroup=True)
        other.promote(millers.bot)
        write_household(millers.folder, "others", other.id, ann, bob)
        async with millers.stepping() as program:
            asked = await conflict(millers, program)
            millers.sarah.reacts(asked, "👀")
            ann.says(other, "/pending")
            await program.step()
            told = [each.text for each in ann.sees(other) if each.receiver is ann.account]
            assert told == ["Nothing is waiting for you."]
            data = asked.button("John")["callback_data"]
            ours = [each for each in ann.sees(other) if each.sender is millers.bot][-1]
            ours.keyboard_by = millers.bot
            press = ann.presses_data(ours, data)
            await program.step()
            assert press.answer is not None
            assert "no longer works" in press.answer["text"]
            assert {row.household for row in program.rows(messages)} == {"miller"}
            assert {r.status for r in program.rows(pending_actions)} <= {"pending", "superseded"}

    run(scenario)


def test_commands_answer_who_asked_and_nobody_else(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            asked = await conflict(millers, program)
            for text in ("/pending", "/today@kinkeeper_bot", "/week", "/help", "/quiet"):
                millers.sarah.says(millers.group, text)
            millers.sarah.says(millers.group, "/why", reply_to=asked)
            millers.sarah.says(millers.group, "why?", reply_to=asked)
            millers.sarah.says(millers.group, "/dance")
            millers.sarah.says(millers.group, "/pending@other_bot")
            await program.step()
            assert millers.said_by_bot == [asked], "the group was told"
            seen = [m for m in millers.sarah.sees(millers.group) if m.receiver is not None]
            texts = [each.text for each in seen]
            assert len(texts) == 7, texts
            assert "Expires" in texts[0]
            assert "Message from Sarah" in texts[-1]
            assert texts[-1] == texts[-2]
            assert not [m for m in millers.john.sees(millers.group) if m.receiver is not None]
            assert seen[0].buttons[-1] == "Not right"
            assert len(program.rows(feedback)) == 1, "one person wondered about one message"
            assert len(program.rows(messages)) == 2, "commands are not observed"
            press = millers.sarah.presses(seen[0], "John")
            await program.step()
            assert press.answer is not None
            assert {row.status for row in program.rows(pending_actions)} >= {"done"}
            assert seen[0].buttons == asked.buttons == ["Undo"]

    run(scenario)


def test_where_nobody_can_be_answered_alone_the_list_has_no_buttons(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            millers.john.says(millers.group, CLAIMS)
            await program.step()
            millers.sarah.says(millers.group, "/pending")
            await program.step()
            [told] = millers.said_by_bot
            assert told.text.startswith("Waiting for approval")
            assert not told.buttons
            millers.sarah.starts(millers.bot)
            await program.step()
            millers.sarah.says(millers.group, "/pending")
            await program.step()
            assert len(millers.said_by_bot) == 1
            card = millers.alone_with(millers.sarah)[-1]
            assert card.buttons == ["Confirm", "Not right"]
            millers.sarah.presses(card, "Confirm")
            await program.step()
            assert [row.status for row in program.rows(pending_actions)] == ["done"]
            assert card.buttons == ["Undo"]

    with family(tmp_path, admin=False, privacy=False) as millers:
        run(scenario)


def test_a_menu_lists_the_commands_and_which_of_them_nobody_sees(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            menu = millers.bot.commands[f"chat:{millers.group.id}", ""]
            assert [each["command"] for each in menu] == [
                "pending",
                "why",
                "today",
                "week",
                "remember",
                "forget",
                "digest",
                "quiet",
                "help",
            ]
            assert [each.get("is_ephemeral", False) for each in menu][:3] == [True, True, False]
            millers.sarah.says(millers.group, "/pending", only_to=millers.bot)
            await program.step()
            assert millers.sarah.sees(millers.group)[-1].text == "Nothing is waiting for you."
            assert not millers.said_by_bot
            millers.group.demote(millers.bot)
            await program.step()
            menu = millers.bot.commands[f"chat:{millers.group.id}", ""]
            assert not any(each.get("is_ephemeral") for each in menu)

    run(scenario)


def test_private_chats_are_for_those_who_are_known(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            tom = millers.api.user("Tom")
            for _ in range(3):
                tom.says(millers.bot, "/pending")
                await program.step()
            [told] = millers.alone_with(tom)
            assert str(tom.id) in told.text
            assert "Leo" not in told.text
            assert [row.household for row in program.rows(outbox)] == [bot_status.NOBODY]
            millers.sarah.starts(millers.bot)
            millers.sarah.says(millers.bot, "I'll pick up Leo Thursday at 4pm")
            await program.step()
            texts = [each.text for each in millers.alone_with(millers.sarah)]
            assert texts[0].startswith("Hello Sarah")
            assert "/pending" in texts[1]
            assert len(texts) == 3, "what is said alone is answered"
            assert not program.rows(messages), "private chats are not observed"
            assert [row.member for row in program.rows(private_chats)] == ["sarah"]
            millers.sarah.blocks(millers.bot)
            await program.step()
            assert not program.rows(private_chats)

    run(scenario)


def test_a_stranger_is_told_once_a_day_and_nothing_of_it_piles_up(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            tom = millers.api.user("Tom")
            for hours, times in ((0, 1), (20, 1), (5, 2)):
                millers.api.advance(3600 * hours)
                tom.says(millers.bot, "hello?")
                await program.step()
                assert len(millers.alone_with(tom)) == times
                assert len(program.rows(outbox)) == 1

    run(scenario)


def test_quiet_is_quiet_until_it_ends(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            millers.sarah.says(millers.group, "/quiet nonsense")
            millers.sarah.says(millers.group, "/quiet 2h")
            await program.step()
            texts = [m.text for m in millers.sarah.sees(millers.group) if m.receiver is not None]
            assert "write 2h" in texts[0]
            assert texts[1].startswith("Quiet until Mon Mar 2 10am")
            assert len(program.rows(quiet_periods)) == 1
            millers.john.says(millers.group, CLAIMS)
            millers.api.advance(60)
            millers.sarah.says(millers.group, CLAIMS_TOO)
            await program.step()
            assert not millers.said_by_bot
            millers.john.says(millers.group, "/quiet off")
            await program.step()
            assert not program.rows(quiet_periods)

    run(scenario)


@pytest.mark.parametrize(
    "text",
    [
        "<b>Leo</b> has the dentist Thursday at 4pm & 5pm <script>alert(1)</script>",
        "*Leo* has the _dentist_ Thursday at 4pm [x](http://evil.example) `rm -rf`",
        "\u202eLeo has the dentist Thursday at 4pm\u202c \u200f שלום",
        "Leo has the dentist Thursday at 4pm " + "🧑‍🧑‍🧒‍🧒" * 500,
    ],
)
def test_texts_that_mean_to_do_harm_are_only_texts(millers: Family, text: str) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            said = millers.john.says(millers.group, text)
            millers.sarah.says(millers.group, "/why", reply_to=said)
            millers.sarah.says(millers.group, "/pending")
            millers.sarah.says(millers.group, f"/quiet {text}"[:4096])
            await program.step()
            assert {row.state for row in program.rows(outbox)} == {"sent"}
            for call in millers.api.calls("sendMessage"):
                assert "parse_mode" not in call.arguments
            shown = [m for m in millers.sarah.sees(millers.group) if m.receiver is not None]
            assert len(shown) == 3
            assert all(len(each.text) <= 4096 for each in shown)

    run(scenario)


def test_answers_that_are_too_long_are_cut(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            from kinkeeper.messaging.outbound import OutboundKind, OutgoingItem, Route  # noqa: PLC0415

            [channel] = program.running.channels["miller"]
            item = OutgoingItem(
                id=1,
                kind=OutboundKind.SEND,
                chat_id=str(millers.group.id),
                route=Route.CHAT,
                audience=None,
                body="🧒" * 5000,
                buttons=(),
                reply_to="9999~7.0",
                target=None,
                answer_to=None,
                is_soundless=True,
            )
            sent = await channel.deliver(item)
            assert millers.said_by_bot[-1].text == "🧒" * 4095 + "…"
            assert millers.said_by_bot[-1].silent
            again = replace(item, kind=OutboundKind.EDIT, target=sent)
            assert await channel.deliver(again) == sent, "an edit that changes nothing is done"

    run(scenario)
