"""What a card is called: the phrase that the family used, within what the household knows."""

import pytest

from kinkeeper.observer.extraction.frame_extraction import called
from kinkeeper.observer.model import TITLE, Entity, Extraction, extraction_record
from kinkeeper.observer.redline.phrase_templates import Limits, Phrasing
from kinkeeper.observer.upkeep import without_surfaces
from kinkeeper.reading import Act, Frame, Modality, Predicate, Slot, SlotName
from kinkeeper.reading.model import Clause
from miller_words import PARTICIPANTS, read, said

PHRASING = Phrasing(participants=PARTICIPANTS, limits=Limits())


def entity(kind: str, surface: str, value: str) -> Entity:
    return Entity(type=kind, surface=surface, start=0, end=len(surface), value=value)


@pytest.mark.parametrize(
    ("activity", "entities", "title"),
    [
        ("dentist", (), "dentist"),
        ("repair", (entity("generic", "Plumber", "repair"),), "plumber"),
        ("repair", (entity("generic", "plubmer", "repair"),), "repair"),
        ("repair", (entity(TITLE, "the boiler repair", "boiler repair"),), "boiler repair"),
        ("soccer", (entity(TITLE, "our soccer", "our soccer"),), "soccer"),
        ("oil man", (), "oil man"),
    ],
)
def test_a_title_is_the_familys_word_for_it(
    activity: str, entities: tuple[Entity, ...], title: str
) -> None:
    said = Extraction(is_coordination=True, activity=activity, entities=entities)
    assert PHRASING.title(said) == title


def test_a_purged_title_is_the_general_word_again() -> None:
    said = Extraction(
        is_coordination=True,
        activity="repair",
        entities=(
            entity("generic", "plumber", "repair"),
            entity(TITLE, "boiler repair", "boiler repair"),
        ),
    )
    left = without_surfaces(extraction_record(said))
    assert left is not None
    assert "boiler" not in str(left)


def seen(text: str, words: str, predicate: Predicate, name: SlotName = SlotName.WHAT) -> Frame:
    start = text.index(words)
    slot = Slot(name=name, start=start, end=start + len(words), p=0.9)
    return Frame(
        clause=Clause(0, len(text)),
        act=Act.STATE,
        predicate=predicate,
        modality=Modality.PLAIN,
        is_negated=False,
        is_secret=False,
        slots=(slot,),
        plan=0.9,
        p=0.9,
    )


@pytest.mark.parametrize(
    ("text", "words", "predicate", "title"),
    [
        ("Leo's eye appointment is Thursday at 9", "eye", Predicate.EVENT, "eye appointment"),
        (
            "Who takes Leo to the brass concert on Friday?",
            "brass",
            Predicate.DROPOFF,
            "brass concert",
        ),
        ("Can you take Mia to Hillview tomorrow?", "Hillview", Predicate.DROPOFF, "Hillview"),
        ("I can collect Mia's parcel tomorrow", "parcel", Predicate.PICKUP, ""),
        ("Leo has to ring the plumber on Friday", "ring", Predicate.TASK, "plumber"),
        ("Can you take Leo to that thing on Friday?", "thing", Predicate.DROPOFF, ""),
        ("Leo has soccer trials on Thursday", "soccer trials", Predicate.EVENT, "soccer"),
    ],
)
def test_a_card_is_called_by_the_phrase_of_its_slot(
    text: str, words: str, predicate: Predicate, title: str
) -> None:
    extraction = called(said(text), [seen(text, words, predicate)], read(text), PARTICIPANTS)
    assert PHRASING.title(extraction) == title


def test_a_way_is_told_with_where_it_leads() -> None:
    text = "Can you take Mia to the Hillview station tomorrow?"
    frames = [seen(text, "Hillview station", Predicate.DROPOFF, SlotName.WHERE)]
    assert PHRASING.summary(called(said(text), frames, read(text), PARTICIPANTS)).startswith(
        "Take Mia to the Hillview station on"
    )


def test_what_has_the_childs_name_in_it_is_not_given_it_again() -> None:
    extraction = Extraction(is_coordination=True, child=("mia",), activity="mia's gala")
    assert PHRASING.summary(extraction) == "Mia's gala"
