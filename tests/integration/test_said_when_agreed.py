"""The group is spoken to where both readers and the state of the chat agree: a table for each rule, a row a class."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from family_chat import Chat, chat
from kinkeeper.observer.extraction import prepared
from kinkeeper.reading import Frame, Modality, SlotName
from kinkeeper.reading.trained import TrainedReader
from scripted_frames import frame, read_as

FIRST = "I can pick up Leo from soccer tomorrow"
SECOND = "I'll pick up Leo from soccer tomorrow"
ASKED = "who can pick up Leo from soccer tomorrow?"
ANSWER = "the usual, as ever, and so on"
OFFER = frame(FIRST, "offer.pickup")
CLASHES: dict[str, tuple[Frame | None, Frame | None, bool]] = {
    "both take it": (OFFER, frame(SECOND, "offer.pickup"), True),
    "the trained reader read neither": (None, None, True),
    "the first only asked": (frame(FIRST, "ask.pickup"), frame(SECOND, "offer.pickup"), False),
    "the first refused": (frame(FIRST, "decline.pickup"), frame(SECOND, "offer.pickup"), False),
    "the second asks": (OFFER, frame(SECOND, "ask.pickup"), False),
    "the second depends on something": (
        OFFER,
        frame(SECOND, "offer.pickup", modality=Modality.CONDITIONAL),
        False,
    ),
    "the second jokes": (OFFER, frame(SECOND, "offer.pickup", modality=Modality.JOKE), False),
    "the second says nothing of a plan": (OFFER, frame(SECOND, "none", p=0.1), False),
}
ANSWERS: dict[str, tuple[str, Frame | None, bool]] = {
    "nobody answers": ("john", None, True),
    "somebody takes it": ("john", frame(ANSWER, "offer.pickup", answers=0, p=0.3), False),
    "a child cannot take it": ("leo", frame(ANSWER, "offer.pickup", answers=0, p=0.3), True),
    "it is off": ("john", frame(ANSWER, "state.cancel", answers=0, p=0.3), False),
    "somebody refuses": ("john", frame(ANSWER, "decline.pickup", answers=0, p=0.3), True),
}  # fmt: skip


@pytest.fixture
def miller() -> Iterator[Chat]:
    with chat(tripwire_threshold=0.01) as found:
        yield found


def rules_said(miller: Chat) -> list[str]:
    """Return the rules that have spoken."""
    return [each["body"] for each in miller.spoken() if not each["is_soundless"]]


@pytest.mark.parametrize("name", CLASHES)
def test_two_claims_clash_where_both_are_claims(
    name: str, miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, is_said = CLASHES[name]
    read_as(monkeypatch, {t: f for t, f in ((FIRST, first), (SECOND, second)) if f})
    miller.say("Wed 2026-03-04 18:00", "john", FIRST)
    line = miller.say("Wed 2026-03-04 18:05", "sarah", SECOND)
    assert bool(rules_said(miller)) is is_said
    assert line["reason"] == ("resource_conflict" if is_said else "not_agreed")


@pytest.mark.parametrize("name", ANSWERS)
def test_nobody_is_asked_for_a_job_that_the_chat_has_settled(
    name: str, miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, answer, is_asked = ANSWERS[name]
    read_as(monkeypatch, {ANSWER: answer} if answer else {})
    miller.say("Wed 2026-03-04 18:00", "sarah", ASKED, id="q")
    miller.say("Wed 2026-03-04 18:02", who, ANSWER)
    miller.until("Wed 2026-03-04 19:00")
    assert bool(rules_said(miller)) is is_asked


AWAY = "Krakow on Thursday"
IS_AWAY = frame(AWAY, "state.absence", named={SlotName.WHEN: "on Thursday"})
ABSENCES: dict[str, tuple[str, Frame | None, set[str]]] = {
    "nobody is away": (AWAY, None, {"John", "Sarah"}),
    "one is away that day": (AWAY, IS_AWAY, {"Sarah"}),
    "away on another day": ("Krakow on Friday", IS_AWAY, {"John", "Sarah"}),
    "too unsure": (AWAY, replace(IS_AWAY, p=0.3), {"John", "Sarah"}),
    "it may be a joke": (AWAY, replace(IS_AWAY, modality=Modality.JOKE), {"John", "Sarah"}),
}


@pytest.mark.parametrize("name", ABSENCES)
def test_who_is_away_is_not_offered_a_job(
    name: str, miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, away, offered = ABSENCES[name]
    read_as(monkeypatch, {text: away} if away else {})
    miller.say("Tue 2026-03-03 18:00", "john", text)
    miller.say("Tue 2026-03-03 18:05", "sarah", "who can pick up Leo from soccer on Thursday?")
    cards = miller.pending("Tue 2026-03-03 18:06")
    assert offered in [{each.label for each in card.proposal.choices} for card in cards]


def test_who_said_to_be_away_since_claims_nothing(
    miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_as(monkeypatch, {AWAY: IS_AWAY})
    miller.say("Tue 2026-03-03 18:00", "john", "I can pick up Leo from soccer on Thursday")
    miller.say("Tue 2026-03-03 18:05", "john", AWAY)
    miller.say("Tue 2026-03-03 18:10", "sarah", "I'll pick up Leo from soccer on Thursday")
    assert rules_said(miller) == []


def test_two_appointments_at_one_hour_clash(miller: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    read_as(monkeypatch, {})
    miller.say("Wed 2026-03-04 18:00", "sarah", "Leo has a haircut on Saturday at 11")
    line = miller.say("Wed 2026-03-04 18:05", "john", "Leo has the dentist on Saturday at 11")
    assert line["reason"] == "temporal_conflict"


def test_without_the_encoder_two_claims_of_the_rules_clash(
    miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = TrainedReader(with_encoder=False)
    monkeypatch.setattr(prepared, "shipped_reader", lambda: reader)
    miller.say("Tue 2026-03-03 07:30", "john", "I can get the kids from school Friday")
    line = miller.say("Tue 2026-03-03 07:48", "sarah", "I'll pick up the kids on Friday")
    assert line["reason"] == "resource_conflict"
