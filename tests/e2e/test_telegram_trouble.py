"""What goes wrong between the program and Telegram, and what comes of it: nothing lost, nothing doubled."""

import asyncio
import socket
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from botapi.clients import bare_client
from kinkeeper.actions.tables import pending_actions
from kinkeeper.bootstrap.telegram import telegram_findings
from kinkeeper.channels.telegram.bot import TAKEN_OVER, WebhookAddress
from kinkeeper.channels.telegram.connection import open_bot
from kinkeeper.channels.telegram.outbound import TelegramChannel
from kinkeeper.core.errors import UnavailableError
from kinkeeper.messaging.outbound import NotSentError, OutboundKind, OutgoingItem, Route
from kinkeeper.messaging.tables import failed_updates, messages, outbox
from kinkeeper.settings.model import Settings
from telegram_family import CLAIMS, CLAIMS_TOO, Family, Stepping, family, run


async def clash(millers: Family, program: Stepping) -> None:
    """Let something be due to be said that nobody asked for."""
    millers.john.says(millers.group, CLAIMS)
    millers.api.advance(60)
    millers.sarah.says(millers.group, CLAIMS_TOO)
    await program.hear()
    await program.understand()


def states(program: Stepping) -> list[str]:
    """Return where everything stands that is not for one person alone."""
    return [row.state for row in program.rows(outbox) if row.audience is None]


def test_told_to_wait_it_waits_and_sends_once(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            await clash(millers, program)
            millers.api.faults.too_many("sendMessage", retry_after=30)
            await program.deliver()
            assert states(program) == ["queued"]
            millers.api.advance(29)
            await program.deliver()
            assert not millers.said_by_bot
            millers.api.advance(2)
            await program.deliver()
            assert len(millers.said_by_bot) == 1
            assert states(program) == ["sent"]

    run(scenario)


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        ("internal_error", 0),
        ("bad_gateway", 0),
        ("drop_before", 0),
        ("drop_after", 1),
        ("garble", 1),
    ],
)
def test_what_nobody_asked_for_is_never_said_twice(millers: Family, fault: str, shown: int) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            await clash(millers, program)
            getattr(millers.api.faults, fault)("sendMessage")
            await program.deliver()
            millers.api.advance(3600)
            await program.deliver()
            assert len(millers.said_by_bot) == shown
            assert states(program) == ["unknown"]

    run(scenario)


@pytest.mark.parametrize(("fault", "shown"), [("internal_error", 1), ("drop_after", 2)])
def test_what_was_asked_for_is_sent_once_more_and_says_so(
    millers: Family, fault: str, shown: int
) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            millers.sarah.says(millers.bot, "/pending")
            await program.hear()
            getattr(millers.api.faults, fault)("sendMessage")
            await program.deliver()
            texts = [each.text for each in millers.alone_with(millers.sarah)]
            assert len(texts) == shown
            assert texts[-1] == "Nothing is waiting for you. (sent again)"

    run(scenario)


def test_a_press_that_was_sent_without_our_knowing_still_counts(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            await clash(millers, program)
            millers.api.faults.drop_after("sendMessage")
            await program.deliver()
            [asked] = millers.said_by_bot
            press = millers.sarah.presses(asked, "Sarah")
            await program.step()
            assert press.answer is not None
            assert asked.buttons == ["Undo"]
            assert "done" in {row.status for row in program.rows(pending_actions)}

    run(scenario)


def test_where_telegram_cannot_be_reached_nothing_was_sent() -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unheard.getsockname()[1]}"

        async def scenario() -> None:
            item = OutgoingItem(
                id=1,
                kind=OutboundKind.SEND,
                chat_id="-5",
                route=Route.CHAT,
                audience=None,
                body="x",
                buttons=(),
                reply_to=None,
                target=None,
                answer_to=None,
                is_soundless=False,
            )
            async with open_bot("1:A", api_url=address) as bot:
                channel = TelegramChannel(bot, None)
                with pytest.raises(NotSentError):
                    await channel.deliver(item)

        run(scenario)


def test_an_update_that_was_committed_and_not_acknowledged_is_not_done_twice(
    millers: Family,
) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            await clash(millers, program)
            await program.deliver()
            millers.john.says(millers.group, "/quiet 1h")
            millers.sarah.presses(millers.said_by_bot[-1], "Sarah")
            given = [each.as_json() for each in millers.bot.updates.pending]
            for each in given:
                await program.running._polling._reception.take_in(each, is_in_order=True)
            done = [len(program.rows(table)) for table in (messages, outbox, pending_actions)]
            assert millers.bot.updates.pending, "not acknowledged"
        async with millers.stepping() as again:
            # Something new, or Telegram would let the question for more wait its full time.
            millers.john.says(millers.group, "lol")
            await again.step()
            assert not millers.bot.updates.pending
            for each in given:  # as a webhook may, long after
                await again.running._polling._reception.take_in(each, is_in_order=False)
            await again.deliver()
            counts = [len(again.rows(t)) for t in (messages, outbox, pending_actions)]
            assert counts == [done[0] + 1, *done[1:]]
            assert set(states(again)) == {"sent"}

    run(scenario)


def test_what_could_not_be_stored_is_not_acknowledged(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            reception = program.running._polling._reception
            name, reception._identity.username = reception._identity.username, None
            for number in range(3):
                millers.john.says(millers.group, f"line {number}")
            with pytest.raises(UnavailableError):
                await program.running._polling._round()
            assert program.running._polling._place is None
            waiting = [each.body.get("text") for each in millers.bot.updates.pending]
            assert waiting[-3:] == ["line 0", "line 1", "line 2"]
            reception._identity.username = name
            await program.step()
            assert [row.text for row in program.rows(messages)] == ["line 0", "line 1", "line 2"]

    run(scenario)


def test_what_our_code_fails_on_is_kept_and_stops_nothing(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            millers.john.says(millers.group, "line")
            await program.step()
            twisted = millers.api.updates_of(millers.bot, "message")[-1]
            twisted = {**twisted, "message": {**twisted["message"], "text": "another line"}}
            twisted["update_id"] += 100
            unread = {"update_id": 9, "message": {"chat": twisted["message"]["chat"]}}
            reception = program.running._polling._reception
            assert (await reception.take_in(twisted, is_in_order=True)).update_id
            assert (await reception.take_in(unread, is_in_order=True)).update_id == 9
            kept = program.rows(failed_updates)
            assert [row.error for row in kept] == ["ConflictError", "cannot be read"]
            assert "another line" in kept[0].content

    run(scenario)


def test_an_answer_that_telegram_takes_no_more_is_let_go(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            await clash(millers, program)
            await program.deliver()
            [asked] = millers.said_by_bot
            press = millers.sarah.presses(asked, "Sarah")
            await program.hear()
            millers.api.advance(151)
            await program.deliver()
            assert press.answer is None
            assert asked.buttons == ["Undo"], "what was pressed counts"
            assert "dropped" in states(program)
            late = millers.john.presses(asked, "Undo")
            millers.api.faults.answer(
                "answerCallbackQuery",
                status=400,
                body='{"ok":false,"error_code":400,"description":"Bad Request: query is too old"}',
            )
            await program.step()
            assert late.answer is None
            assert not asked.buttons

    run(scenario)


def test_who_cannot_be_shown_it_alone_in_the_group_gets_it_in_private(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            millers.sarah.starts(millers.bot)
            await program.step()
            before = len(millers.alone_with(millers.sarah))
            millers.sarah.says(millers.group, "/pending")
            await program.hear()
            millers.group.demote(millers.bot)  # and we have not heard of it yet
            await program.deliver()
            assert not millers.said_by_bot
            assert len(millers.alone_with(millers.sarah)) == before + 1

    run(scenario)


def test_two_households_programs_on_one_bot_are_told_apart_and_it_goes_on(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            polling = program.running._polling
            polling._presence.ready.set()
            await program.hear()
            running = asyncio.ensure_future(polling.run())
            try:
                await millers.api.until(lambda: millers.bot.updates.waiting, what="a poll")
                with bare_client(millers.api, millers.bot) as other:
                    await asyncio.to_thread(other.call, "getUpdates", timeout=0)
                await millers.api.until(
                    lambda: polling.trouble == TAKEN_OVER or millers.bot.updates.polls > 2,
                    what="the conflict",
                )
                millers.john.says(millers.group, "still heard")
                await millers.api.settled(millers.bot)
                assert program.rows(messages)[-1].text == "still heard"
                assert polling.trouble is None
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    run(scenario)


def test_errors_of_polling_pass(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            await program.hear()
            faults = millers.api.faults
            faults.internal_error("getUpdates")
            faults.too_many("getUpdates", retry_after=1)
            faults.drop_before("getUpdates")
            faults.drop_after("getUpdates")
            faults.garble("getUpdates")
            millers.john.says(millers.group, "heard")
            running = asyncio.ensure_future(program.running._polling.run())
            try:
                await millers.api.settled(millers.bot, within=20)
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
            assert [row.text for row in program.rows(messages)] == ["heard"]

    run(scenario)


def test_a_webhook_is_set_with_its_secret_and_takes_only_what_is_genuine(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.stepping() as program:
            from kinkeeper.channels.telegram.bot import Running  # noqa: PLC0415

            presence = program.running._presence
            async with open_bot(millers.bot.token, api_url=millers.api.url) as bot:
                address = WebhookAddress(url="http://127.0.0.1:9/x", secret="s" * 20)
                posted = Running(
                    bot,
                    program.houses.store,
                    presence._families,
                    number=str(millers.bot.id),
                    clock=millers.clock,
                    address=address,
                    ladder=(0.01,),
                )
                assert posted._polling.run not in posted.tasks
                assert posted.webhook is not None
                with pytest.raises(UnavailableError):
                    await posted.webhook.receive(b'{"update_id": 1}')
                await posted._presence._until_done()
                assert millers.bot.updates.webhook.secret_token == "s" * 20
                assert "message_reaction" in millers.bot.updates.allowed
                assert posted.webhook.is_genuine("s" * 20)
                for wrong in (None, "", "s" * 19, "ä", "s" * 21):
                    assert not posted.webhook.is_genuine(wrong)
                for body in (b"", b"{", b"\xff", b"[" * 100_000, b"7", b'{"update_id": {}}'):
                    await posted.webhook.receive(body)
            await program.running._presence._bot.delete_webhook()

    run(scenario)


def test_doctor_says_what_is_missing_and_how_to_mend_it(tmp_path: Path) -> None:
    def findings(url: str, token: str) -> dict[str, str]:
        settings = Settings.model_validate({"telegram_bot_token": token, "telegram_api_url": url})
        found = telegram_findings(settings, households, database)
        return {f"{each.check}: {each.found}": each.remedy for each in found}

    with family(tmp_path, admin=False) as millers:
        with millers.open() as houses:
            households = [system.household for system in houses.systems]
            database = make_url(f"sqlite:///{millers.folder / 'family.sqlite'}")
        told = findings(millers.api.url, millers.bot.token)
        hidden = next(remedy for found, remedy in told.items() if "privacy mode" in found)
        assert "administrator" in hidden
        assert any("sarah cannot be reached privately" in found for found in told)
        assert "TELEGRAM_BOT_TOKEN" in str(findings(millers.api.url, "1:A"))
        url = millers.api.url
    offline = findings(url, millers.bot.token)
    assert len(offline) == 1
    assert "online" in str(offline)
