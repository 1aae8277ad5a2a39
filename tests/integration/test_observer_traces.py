"""The trace of a message is that of the message that was meant."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from kinkeeper.bootstrap import System
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.observer.accounts.traces import load_trace
from live_household import MONDAY, live_system


def test_a_number_of_a_chat_is_never_taken_for_anything_else(tmp_path: Path):
    with live_system(tmp_path / "family.sqlite") as system:
        intake = system.intake(refuses_chats=False)
        for number, message_id in enumerate(["17", "170"]):
            message = InboundMessage(
                channel="telegram",
                chat_id="family",
                message_id=message_id,
                sender="sarah",
                text="hello there",
                sent_at=MONDAY + timedelta(minutes=number),
            )
            system.store.write_now(lambda conn, m=message: intake.receive(conn, m, now=m.sent_at))

        def found(wanted: str, *, is_exact: bool) -> str:
            return system.store.read_now(
                lambda conn: (
                    load_trace(
                        conn, system.household, wanted, chat_id="family", is_exact=is_exact
                    ).message_id
                )
            )

        assert found("17", is_exact=True) == "17"
        assert found("2", is_exact=False) == "170"  # a row's own id, as a person may type it
        for other in ("2", "1"):
            with pytest.raises(NotFoundError):
                found(other, is_exact=True)


async def heard(system: System, message: InboundMessage) -> None:
    """Take a message in and understand it."""
    async for _ in system.replay(MONDAY).feed(message):
        pass


@pytest.mark.parametrize(
    ("jobs", "told"), [(12, None), (13, "its last part was"), (15, "its last 3 parts were")]
)
def test_parts_of_a_message_that_were_not_read_are_told(
    tmp_path: Path, jobs: int, told: str | None
) -> None:
    days = (MONDAY + timedelta(days=number) for number in range(1, jobs + 1))
    text = " ".join(f"I'll take Leo to soccer on {day:%B} {day.day} at 4pm." for day in days)
    message = InboundMessage(
        channel="http", chat_id="family", message_id="m1", sender="sarah", text=text, sent_at=MONDAY
    )
    with live_system(tmp_path / "family.sqlite") as system:
        asyncio.run(heard(system, message))
        trace = system.store.read_now(
            lambda conn: load_trace(conn, system.household, "m1", is_exact=True)
        )
    left_out = [step.text for step in trace.steps if "left out" in step.text]
    if told is None:
        assert not left_out
    else:
        [line] = left_out
        assert told in line
