"""Wonder at the assistant's own words is counted, once a person and message; other talk is not."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kinkeeper.bootstrap import System
from kinkeeper.messaging import outbox
from kinkeeper.messaging.outbound import Outbound
from kinkeeper.observer.accounts.metrics import load_metrics
from live_household import MONDAY, live_system, said

OURS, ANSWER_ONLY = "bot-1", "bot-2"
Hear = Callable[..., None]


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    with live_system(tmp_path / "family.db") as opened:
        yield opened


@pytest.fixture
def hear(system: System) -> Hear:
    """Submit messages from a chat in which the assistant has said something about the first."""
    intake = system.intake(refuses_chats=False)

    def take_in(*message: object, **more: object) -> None:
        told = said(*message, **more)  # type: ignore[arg-type]
        system.store.write_now(lambda conn: intake.receive(conn, told, now=told.sent_at))

    def speak(key: str, about: str | None) -> None:
        line = Outbound(
            channel="test", chat_id="family", body="Both?", dedupe_key=key, reply_to=about
        )

        def put(conn: object) -> None:
            row, _ = outbox.put(conn, "miller", line, now=MONDAY)  # type: ignore[arg-type]
            outbox.note_arrival(conn, "miller", row, key, now=MONDAY)  # type: ignore[arg-type]

        system.store.write_now(put)

    take_in(1, "sarah", "Leo has the dentist Thursday at 4pm")
    speak(OURS, about="m1")
    speak(ANSWER_ONLY, about=None)
    return take_in


def counted(system: System) -> int:
    zone = system.household.zone
    day = MONDAY.date()
    found = system.store.read_now(
        lambda conn: load_metrics(conn, "miller", zone, first=day, last=day, now=MONDAY)
    )
    return found.feedback.confusion


def test_a_why_to_the_assistants_words_counts_once_a_person(system: System, hear: Hear) -> None:
    assert counted(system) == 0
    hear(2, "john", "why did the bot say that?", reply_to=OURS)
    assert counted(system) == 1
    hear(3, "john", "huh??", reply_to=OURS)
    assert counted(system) == 1
    hear(3, "john", "huh??", reply_to=OURS)  # the same message once more
    hear(4, "sarah", "what does that mean", reply_to=OURS)
    assert counted(system) == 2


def test_other_whys_and_other_answers_do_not_count(system: System, hear: Hear) -> None:
    hear(2, "john", "why did the bot say that?")
    hear(3, "john", "why?", reply_to="m1")
    hear(4, "john", "why?", reply_to=ANSWER_ONLY)
    hear(5, "john", "ok, I'll do it", reply_to=OURS)
    hear(6, "john", "why?", reply_to=OURS, chat="grandparents")
    assert counted(system) == 0
