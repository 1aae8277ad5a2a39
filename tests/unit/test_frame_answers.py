"""What the trained reader sees as an answer: only what is meant."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from evals.coordination import household_of
from kinkeeper.arrangements import Heard
from kinkeeper.observer.extraction.frame_extraction import answer_in, seen_in
from kinkeeper.observer.model import Stance
from kinkeeper.observer.wording.participants import compile_participants
from kinkeeper.reading import Act, Frame, Modality, Predicate, Target
from kinkeeper.reading.model import Clause

FAMILY = compile_participants(household_of({"adult": [{"id": "ann", "words": ["Ann"]}]}))
TEXT = "sure, and i'll fly there"
OFFER = Frame(
    clause=Clause(0, len(TEXT)),
    act=Act.OFFER,
    predicate=Predicate.PICKUP,
    modality=Modality.PLAIN,
    is_negated=False,
    is_secret=False,
    target=Target(said=0, p=0.9),
    plan=0.9,
    p=0.9,
)


def answer(frame: Frame) -> tuple[Stance, str] | None:
    heard = Heard(
        message_id="m2",
        speaker="ann",
        text=TEXT,
        sent_at=datetime(2026, 3, 4, tzinfo=UTC),
        frames=(frame,),
        before=("m1",),
    )
    return answer_in(seen_in(heard, FAMILY))


def test_an_offer_answers_what_it_is_linked_to() -> None:
    assert answer(OFFER) == (Stance.CLAIMS, "m1")


@pytest.mark.parametrize(
    "frame",
    [
        replace(OFFER, modality=Modality.JOKE),
        replace(OFFER, modality=Modality.HYPOTHETICAL),
        replace(OFFER, is_negated=True),
    ],
)
def test_what_is_not_meant_answers_nothing(frame: Frame) -> None:
    assert answer(frame) is None
