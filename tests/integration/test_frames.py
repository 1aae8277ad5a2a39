"""Tier 2 has the frames of a message, and knows which messages and cards they point to."""

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import select

from family_chat import Chat, chat
from kinkeeper.models.repository import model_fallbacks
from kinkeeper.observer.extraction import prepared
from kinkeeper.observer.extraction.prepared import Prepared
from kinkeeper.observer.settling.settlement import Settlement


@pytest.fixture
def miller() -> Iterator[Chat]:
    with chat() as found:
        yield found


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[Prepared]:
    """Everything that is settled from now on."""
    found: list[Prepared] = []
    settle: Callable[..., object] = Settlement.settle

    def seen(self: Settlement, conn: object, prepared: Prepared, **rest: object) -> object:
        found.append(prepared)
        return settle(self, conn, prepared, **rest)

    monkeypatch.setattr(Settlement, "settle", seen)
    return found


def test_frames_come_with_what_was_said_and_what_is_open(
    miller: Chat, heard: list[Prepared]
) -> None:
    miller.say("Tue 2026-03-03 09:00", "sarah", "an old one, too old to be read along")
    miller.say("Wed 2026-03-04 18:00", "sarah", "who can pick up Leo from soccer tomorrow?", id="q")
    miller.say("Wed 2026-03-04 18:02", "mia", "what is for dinner", id="d")
    miller.say("Wed 2026-03-04 18:05", "john", "I can pick up Leo tomorrow", id="a")
    last = heard[-1].heard
    assert heard[-1].is_heard
    assert (last.message_id, last.speaker) == ("a", "john")
    assert list(last.before) == ["q", "d"]
    assert len(last.items) == 1
    assert last.frames[-1].clause.end == len(last.text)


def test_an_edit_is_read_in_the_talk_before_what_it_edits(
    miller: Chat, heard: list[Prepared]
) -> None:
    miller.say("Wed 2026-03-04 18:00", "sarah", "morning all", id="m")
    miller.say("Wed 2026-03-04 18:02", "sarah", "Leo has the dentist Friday at 3", id="a")
    miller.say(
        "Wed 2026-03-04 18:09", "sarah", "Leo has the dentist Friday at 4", kind="edit", target="a"
    )
    assert list(heard[-1].heard.before) == ["m"]
    assert heard[-1].heard.sent_at == miller.at("Wed 2026-03-04 18:02")


def test_a_reaction_has_no_frames(miller: Chat, heard: list[Prepared]) -> None:
    miller.say("Wed 2026-03-04 18:00", "sarah", "who can pick up Leo tomorrow?", id="q")
    miller.say("Wed 2026-03-04 18:02", "john", "👍", kind="reaction", target="q")
    assert heard[-1].heard.frames == ()


def test_a_failure_of_the_reader_costs_no_message_and_is_counted(
    miller: Chat, heard: list[Prepared], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError

    monkeypatch.setattr(prepared, "shipped_reader", broken)
    line = miller.say("Wed 2026-03-04 18:00", "sarah", "Leo has the dentist Friday at 3")
    assert line["action"]
    assert heard[-1].heard.frames, "the linear heads read"
    monkeypatch.setattr(prepared, "_without_encoder", broken)
    line = miller.say("Wed 2026-03-04 19:00", "sarah", "Mia has the doctor Friday at 5")
    assert line["action"]
    assert heard[-1].heard.frames == ()
    stages = miller.store.read_now(
        lambda conn: conn.execute(select(model_fallbacks.c.stage)).scalars().all()
    )
    assert stages == [prepared.STAGE, prepared.STAGE]
