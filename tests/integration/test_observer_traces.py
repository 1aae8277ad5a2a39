"""The trace of a message is that of the message that was meant."""

from datetime import timedelta
from pathlib import Path

import pytest

from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.observer.trace import load_trace
from live_household import MONDAY, live_system


def test_a_number_of_a_chat_is_never_taken_for_anything_else(tmp_path: Path):
    with live_system(tmp_path / "family.sqlite") as system:
        intake = system.intake(refuses_chats=False)
        for number, message_id in enumerate(["17", "170"]):
            message = InboundMessage(
                channel="telegram", chat_id="family", message_id=message_id, sender="sarah",
                text="hello there", sent_at=MONDAY + timedelta(minutes=number),
            )  # fmt: skip
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
