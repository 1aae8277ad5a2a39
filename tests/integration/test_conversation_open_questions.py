"""What waits for a yes in a thread: once for each thing, and a yes only for what the person just saw."""

from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.repository import open_actions
from kinkeeper.actions.requests.email import email_requests
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from talking import Script, Talking, on_a_loop, talking, wants


async def waiting(talk: Talking) -> list[PendingAction]:
    def read(conn: Connection) -> list[PendingAction]:
        return list(
            open_actions(conn, Viewer.whole(talk.system.household.id), now=talk.clock.now())
        )

    return await talk.system.store.read(read)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("cancel choir practice", "cancel choir practice"),
        ("cancel choir practice", "please cancel the choir practice"),
        ("move choir practice to 8pm", "move choir practice to 8pm"),
        ("move choir practice to 8pm", "move choir practice to 9pm"),
    ],
)
@on_a_loop
async def test_the_same_thing_waits_once(tmp_path: Path, first: str, again: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("put choir practice in on Friday at 7pm")
        await talk.answer(first)
        await talk.answer(again)

        (action,) = await waiting(talk)
        assert action.status is ActionStatus.PENDING

        await talk.answer("yes")
        assert not await waiting(talk)


@on_a_loop
async def test_what_was_asked_of_other_things_waits_on(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("put choir practice in on Friday at 7pm")
        await talk.answer("put chess club in on Thursday at 7pm")
        await talk.answer("cancel choir practice")
        await talk.answer("cancel chess club")

        assert len(await waiting(talk)) == 2


@on_a_loop
async def test_a_yes_after_something_that_could_not_be_done_is_asked_about(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("put choir practice in on Friday at 7pm")
        await talk.answer("cancel choir practice")
        await talk.answer("cancel the tango evening")

        answer = await talk.answer("yes")

        assert "choir practice" in answer
        assert len(await waiting(talk)) == 1

        await talk.answer("yes, the choir practice")
        assert not await waiting(talk)


@on_a_loop
async def test_an_edit_that_asks_for_something_else_leaves_what_waits(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("put choir practice in on Friday at 7pm")
        await talk.answer("cancel choir practice")
        await talk.answer("add a chess club meeting on Thursday at 6pm")

        (action,) = await waiting(talk)
        assert "choir" in action.proposal.summary


@on_a_loop
async def test_a_mail_is_decided_by_the_adult_who_asked_for_it(tmp_path: Path) -> None:
    letter = wants(
        "email", "send_email", to="coach@club.example", subject="Late", body="We are late."
    )
    mail = email_requests(None, can_send=True)
    async with talking(tmp_path, Script({"write": (letter,)}), further=mail) as talk:
        await talk.answer("write", by="john")
        (action,) = await waiting(talk)

        def press(member: str, conn: Connection) -> Outcome:
            return approvals.confirm(
                conn,
                action.id,
                member=talk.member(member),
                household=talk.system.household,
                now=talk.clock.now(),
            ).outcome

        store = talk.system.store
        assert await store.write(lambda conn: press("sarah", conn)) is Outcome.DENIED
        assert [each.id for each in await waiting(talk)] == [action.id]
        assert await store.write(lambda conn: press("john", conn)) is not Outcome.DENIED


@on_a_loop
async def test_a_mail_that_a_child_asks_for_is_decided_by_any_adult(tmp_path: Path) -> None:
    letter = wants(
        "email", "send_email", to="coach@club.example", subject="Late", body="We are late."
    )
    mail = email_requests(None, can_send=True)
    async with talking(tmp_path, Script({"write": (letter,)}), further=mail) as talk:
        await talk.answer("write", by="leo")
        (action,) = await waiting(talk)

        receipt = await talk.system.store.write(
            lambda conn: approvals.reject(
                conn,
                action.id,
                member=talk.member("sarah"),
                household=talk.system.household,
                now=talk.clock.now(),
            )
        )
        assert receipt.is_change


@pytest.mark.parametrize("text", ["scratch that", "oops, wrong one", "no, that's not done yet"])
@on_a_loop
async def test_what_was_ticked_off_by_mistake_is_open_again(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("add polish the brass to my to-do list")
        await talk.answer("polish the brass is done")
        talk.later(seconds=5)

        await talk.answer(text)

        assert "polish the brass" in await talk.answer("what's on my to-do list?")


CALLED_OFF = ("cancel mia swimming on saturday", "cancel leo chess on wednesday")
NOES = ("no!", "no", "nope", "no thanks", "nah")


@pytest.mark.parametrize("first", [0, 1])
@on_a_loop
async def test_a_plain_no_is_to_what_was_asked_last(tmp_path: Path, first: int) -> None:
    names = ("swimming", "chess")
    for number, no in enumerate((*NOES, "no leave it", "no, don't")):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            await talk.answer(CALLED_OFF[first], thread_id="t")
            await talk.answer(CALLED_OFF[1 - first], thread_id="t")
            talk.later(seconds=20)
            await talk.answer(no, thread_id="t")
            (action,) = await waiting(talk)
            assert names[first] in action.proposal.summary.lower(), no


@pytest.mark.parametrize(
    "between", ["add milk to the list", "put dentist in on friday at 4pm", "what's on friday?"]
)
@on_a_loop
async def test_a_plain_no_chooses_among_nothing_that_was_asked_before(
    tmp_path: Path, between: str
) -> None:
    for number, no in enumerate(NOES):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            for text in (*CALLED_OFF, between):
                await talk.answer(text, thread_id="t")
                talk.later(seconds=20)
            told = await talk.answer(no, thread_id="t")
            assert not any(each in told.lower() for each in ("swimming", "chess")), (no, told)
            assert len(await waiting(talk)) == 2, (no, told)


@pytest.mark.parametrize(
    ("no", "left"),
    [("no to the chess", ["swimming"]), ("no to the swimming", ["chess"]), ("no to all", [])],
)
@on_a_loop
async def test_a_no_that_names_something_is_to_that(
    tmp_path: Path, no: str, left: list[str]
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for text in (*CALLED_OFF, "what's on friday?"):
            await talk.answer(text, thread_id="t")
            talk.later(seconds=20)
        await talk.answer(no, thread_id="t")
        found = [each.proposal.summary.lower() for each in await waiting(talk)]
        assert len(found) == len(left), found
        assert all(name in each for name, each in zip(left, found, strict=True))


@pytest.mark.parametrize("edit", ["no, tuesday", "make it 5", "actually thursday at 6"])
@on_a_loop
async def test_an_edit_is_of_what_was_done_last_and_of_no_earlier_question(
    tmp_path: Path, edit: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for text in (CALLED_OFF[0], "put dentist in on friday at 4pm", edit):
            await talk.answer(text, thread_id="t")
            talk.later(seconds=20)
        found = [each.proposal.summary.lower() for each in await waiting(talk)]
        assert [("cancel" in each, "dentist" in each) for each in found] == [
            (True, False),
            (False, True),
        ]


BETWEEN = (
    "is granny coming on sunday?",
    "does Leo like olives?",
    "I think John drank my coffee",
    "i'm wrecked",
    "what's on friday?",
    "Mia has a new bike",
    "when is ballet?",
)
PLEASANT = ("thanks", "haha", "good morning")


@pytest.mark.parametrize("between", [*BETWEEN, *PLEASANT])
@on_a_loop
async def test_an_answer_is_to_what_was_asked_last_or_names_its_thing(
    tmp_path: Path, between: str
) -> None:
    is_pleasant = between in PLEASANT
    answers = {
        "yes": is_pleasant,
        "yep": is_pleasant,
        "sure": is_pleasant,
        "no": is_pleasant,
        "nope": is_pleasant,
        "yes, cancel the swimming": True,
        "no to the swimming": True,
    }
    if not is_pleasant:
        answers |= dict.fromkeys(
            ("no he doesn't", "no, it was Mia", "no more late nights", "no not yet"), False
        )
    for number, (text, decides) in enumerate(answers.items()):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            for said in (CALLED_OFF[0], between):
                await talk.answer(said, thread_id="t")
                talk.later(seconds=20)
            told = await talk.answer(text, thread_id="t")
            assert bool(await waiting(talk)) is not decides, (text, told)
            if not decides and text in {"yes", "no"}:
                assert "swimming" in told.lower()
                talk.later(seconds=20)
                await talk.answer(text, thread_id="t")
                assert not await waiting(talk), text
