"""What a card is called: the phrase that the family used, within what the household knows."""

import pytest

from kinkeeper.observer.model import TITLE, Entity, Extraction
from kinkeeper.observer.records import extraction_record
from kinkeeper.observer.redline.phrasing import Limits, Phrasing
from kinkeeper.observer.retention import without_surfaces
from miller_words import PARTICIPANTS

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
        is_coordination=True, activity="repair",
        entities=(entity("generic", "plumber", "repair"), entity(TITLE, "boiler repair", "boiler repair")),
    )  # fmt: skip
    left = without_surfaces(extraction_record(said))
    assert left is not None
    assert "boiler" not in str(left)
