"""What a yes means when it is said in passing: it never hits what it does not speak of."""

from collections.abc import Sequence
from pathlib import Path

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import load_action
from kinkeeper.conversation.planning.planners import Planners
from talking import Talking, on_a_loop, talking


async def _states(talk: Talking) -> Sequence[ActionStatus]:
    """Return how everything that was asked for stands, the oldest first."""
    turns = await talk.conversation.history(talk.john, "one", last=20)
    ids = [each.action_id for turn in turns for each in turn.results if each.action_id]
    household, store = talk.system.household.id, talk.system.store
    return [
        store.read_now(lambda conn, id_=id_: load_action(conn, household, id_)).status
        for id_ in dict.fromkeys(ids)
    ]


@on_a_loop
async def test_a_yes_that_speaks_of_sending_moves_no_event(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("move soccer on Tuesday to 6", thread_id="one")

        answer = await talk.answer("That is lovely, please do send it.", thread_id="one")

        assert await _states(talk) == [ActionStatus.PENDING], answer


@on_a_loop
async def test_leaving_it_as_it_is_is_a_no(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("move soccer on Tuesday to 6", thread_id="one")

        await talk.answer("Oh no, on second thoughts please leave it as it is.", thread_id="one")

        assert await _states(talk) == [ActionStatus.REJECTED]


@on_a_loop
async def test_both_of_three_is_asked_about(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("move soccer on Tuesday to 6", thread_id="one")
        await talk.answer(
            "move soccer on Thursday to 6 and cancel ballet on Wednesday", thread_id="one"
        )

        answer = await talk.answer("yes both", thread_id="one")

        assert await _states(talk) == [ActionStatus.PENDING] * 3
        assert "Which one" in answer


@on_a_loop
async def test_what_awaits_a_yes_outlives_a_request_for_something_else(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("what's on Tuesday?", thread_id="one")
        await talk.answer("remind me to call the plumber tomorrow at 8", thread_id="one")
        await talk.answer("delete the reminder about the plumber", thread_id="one")
        await talk.answer("move soccer on Tuesday to 6", thread_id="one")

        assert ActionStatus.SUPERSEDED not in await _states(talk)


@on_a_loop
async def test_a_reminder_that_is_not_wanted_is_taken_away_and_not_only_promised(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("remind me to call the plumber tomorrow at 8", thread_id="one")

        answer = await talk.answer("don't remind me about the plumber", thread_id="one")

        assert answer.startswith("Shall I delete")


@on_a_loop
async def test_nobody_is_told_an_identity(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("what's on Wednesday evening or afternoon?", thread_id="one")
        await talk.answer("when is soccer on Tuesday?", thread_id="one")

        answer = await talk.answer("move it to 4:30", thread_id="one")

        assert "already like that" in answer
        assert answer.count("-") < len("four")


@on_a_loop
async def test_a_correction_that_was_not_understood_is_not_called_good_to_know(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("dentist on Friday at 11, put it in the calendar", thread_id="one")

        answer = await talk.answer(
            "Actually it is not with Leo but with both of them.", thread_id="one"
        )

        assert "done nothing" in answer or "changed nothing" in answer


@on_a_loop
async def test_a_reminder_before_something_waits_until_that_is_booked(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        answer = await talk.answer(
            "schedule a dentist visit for Leo on Friday at 11 and remind me an hour before",
            thread_id="one",
        )

        assert await _states(talk) == [ActionStatus.DONE] * 2
        assert "10am" in answer
