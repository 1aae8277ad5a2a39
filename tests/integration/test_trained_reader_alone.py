"""What only the trained reader sees becomes a card that waits for a person, and is no ground to speak."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from family_chat import Chat, Line, chat
from kinkeeper.observer.extraction import prepared
from kinkeeper.observer.settling import message_reader
from kinkeeper.reading import (
    Act,
    Clause,
    Context,
    Frame,
    Modality,
    Predicate,
    Reading,
    Slot,
    SlotName,
    Utterance,
)

NOW = "Wed 2026-03-04 10:05"
SWEEP = "he does the flues for us thursday 3pm, the sooty fella"
CHARITY = "and the van takes the old sofa friday"
SLOTS = {
    SlotName.WHAT: ("the sooty fella", "the old sofa", "Leo dentist"),
    SlotName.WHEN: ("thursday 3pm", "friday", "Thursday 4pm"),
    SlotName.WHO_FOR: ("Leo",),
}


@dataclass
class Sighted:
    """A reader that sees a plan in each clause between full stops.

    Attributes:
        changed: Fields in which its frames differ from those of a plain plan.
        said: Part of the messages in which it sees one.
        has_encoder: Whether it read with the encoder, as the gate for speech asks.
    """

    changed: dict[str, object]
    said: str = ""
    has_encoder: bool = True

    def read(self, utterance: Utterance, context: Context) -> Reading:
        text, found, start = utterance.text, list[Frame](), 0
        for sentence in text.split(". ") if self.said in text else ():
            clause = Clause(start, start + len(sentence))
            found.append(replace(_frame(text, clause), **self.changed))  # type: ignore[arg-type]
            start = clause.end + 2
        return Reading(frames=tuple(found), engine="test")


def _frame(text: str, clause: Clause) -> Frame:
    slots = [
        Slot(name=name, start=at, end=at + len(words), p=0.9)
        for name, choices in SLOTS.items()
        for words in choices
        if (at := text.find(words, clause.start, clause.end)) >= 0
    ]
    return Frame(
        clause=clause,
        act=Act.STATE,
        predicate=Predicate.EVENT,
        modality=Modality.PLAIN,
        is_negated=False,
        is_secret=False,
        plan=0.95,
        p=0.9,
        slots=tuple(sorted(slots, key=lambda each: each.start)),
    )


@pytest.fixture
def miller() -> Iterator[Chat]:
    with chat(tripwire_threshold=0.0) as found:
        yield found


@pytest.fixture
def sighted(monkeypatch: pytest.MonkeyPatch) -> Sighted:
    reader = Sighted({})
    monkeypatch.setattr(prepared, "shipped_reader", lambda: reader)
    return reader


def say(miller: Chat, text: str) -> Line:
    return miller.say("Wed 2026-03-04 10:00", "sarah", text)


def test_it_becomes_a_card_that_waits_and_says_who_saw_it(miller: Chat, sighted: Sighted) -> None:
    line = say(miller, SWEEP)
    assert line["redline_decision"] == "SILENT"
    assert line["reason"] == "reader_alone"
    assert line["extraction"]["extractor"] == "trained"
    [card] = miller.pending(NOW)
    said = card.proposal.extraction
    assert said["dates"] == ["2026-03-05"]
    assert said["times"] == ["15:00"]
    assert "Sooty fella" in card.proposal.summary
    assert not miller.events()
    assert not miller.spoken()
    miller.confirm(NOW, "sarah", card.id)
    assert len(miller.events()) == 1


def test_several_plans_of_one_message_are_several_cards(miller: Chat, sighted: Sighted) -> None:
    say(miller, f"{SWEEP}. {CHARITY}")
    assert sorted(each.proposal.extraction["dates"] for each in miller.pending(NOW)) == [
        ["2026-03-05"],
        ["2026-03-06"],
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"modality": Modality.JOKE},
        {"modality": Modality.PAST},
        {"modality": Modality.HYPOTHETICAL},
        {"modality": Modality.CONDITIONAL},
        {"is_negated": True},
        {"act": Act.NONE},
        {"act": Act.ACCEPT},
        {"predicate": Predicate.ABSENCE},
        {"slots": ()},
        {"plan": 0.5},
    ],
    ids=str,
)
def test_what_is_no_plan_opens_nothing(
    miller: Chat, sighted: Sighted, changed: dict[str, object]
) -> None:
    sighted.changed = changed
    say(miller, SWEEP)
    assert miller.pending(NOW) == []


def test_the_rules_stay_in_charge_of_what_they_read(miller: Chat, sighted: Sighted) -> None:
    line = say(miller, "Leo dentist Thursday 4pm")
    assert line["extraction"]["extractor"] == "rules"
    assert len(miller.pending(NOW)) == 1


@pytest.mark.parametrize(("extractor", "decision"), [("trained", "SILENT"), ("rules", "SPEAK")])
def test_a_later_conflict_with_it_alone_is_no_ground_to_speak(
    miller: Chat, sighted: Sighted, monkeypatch: pytest.MonkeyPatch, extractor: str, decision: str
) -> None:
    sighted.said = SWEEP
    sighted.changed = {"act": Act.OFFER, "predicate": Predicate.TASK}
    plans_in = message_reader.plans_in
    monkeypatch.setattr(
        message_reader,
        "plans_in",
        lambda *given: [replace(each, extractor=extractor) for each in plans_in(*given)],
    )
    say(miller, SWEEP)
    line = say(miller, "I'll pick up Mia from school Thursday at 3pm")
    assert line["redline_decision"] == decision


def test_deciding_it_again_comes_to_the_same(miller: Chat, sighted: Sighted) -> None:
    say(miller, SWEEP)
    rows = miller.decisions()
    proof = asyncio.run(miller.system.prover().prove(rows[-1]["id"]))
    assert proof.is_same, proof.differences
