"""What a message is about in its own words: occasions, errands, letters; and what is none of these."""

from datetime import date, time
from time import process_time

import pytest

from kinkeeper.observer.model import OWN_WORDS, Stance, Task
from kinkeeper.observer.own_words import own_words_of
from miller_words import read, said


@pytest.mark.parametrize(
    ("text", "name", "day"),
    [
        ("quilting bee is thursday 4pm", "quilting bee", 5),
        ("chimney man coming between 2 and 4 on Wednesday", "chimney man", 4),
        ("the soapbox derby starts saturday at 10", "soapbox derby", 7),
        ("Leo has hat day on Friday", "hat day", 6),
        ("beekeeping taster at Grandpa's on Sunday, 5pm", "beekeeping taster", 8),
        ("they want the van back Friday at 8am", "they want the van", 6),
    ],
)
def test_a_thing_with_a_day_is_an_event_under_its_own_words(text: str, name: str, day: int):
    extraction = said(text)
    assert extraction.is_coordination
    assert (extraction.activity or "").startswith(name)
    assert extraction.dates == (date(2026, 3, day),)
    assert any(entity.type == OWN_WORDS for entity in extraction.entities)


@pytest.mark.parametrize(
    ("text", "name", "day"),
    [
        ("can someone water the ferns", "water the ferns", 2),
        ("could anybody bring in the washing before it rains", "bring in the washing", 2),
        ("John can you mow the verge on Saturday", "mow the verge", 7),
        ("will somebody feed the gecko Tuesday night, I'm away", "feed the gecko", 3),
    ],
)
def test_what_somebody_is_wanted_for_is_an_errand(text: str, name: str, day: int):
    extraction = said(text)
    assert (extraction.task, extraction.activity) == (Task.OTHER, name)
    assert extraction.dates == (date(2026, 3, day),)
    assert not extraction.owners


@pytest.mark.parametrize(
    "text",
    [
        "rain since 4am",
        "freezing this morning",
        "landed in Denver, back at 9",
        "can you tell me the score tomorrow",
        "can someone explain this meme",
        "subs due Friday",
        "maybe quilting thursday at 4pm",
        "was the quilting bee on thursday at 4pm good",
        "who won last night",
    ],
)
def test_talk_of_days_and_hours_is_none(text: str):
    assert not any(entity.type == OWN_WORDS for entity in said(text).entities)


def test_a_letter_is_about_its_first_day_to_come_and_not_about_its_deadlines():
    extraction = said(
        "Dear families,\nplease return the form by Wednesday. Grade 3 will be visiting the aquarium on "
        "Thursday 12 March. Buses leave at 8.45am and will be back at about 3pm.\nKind regards, the office"
    )
    assert extraction.dates == (date(2026, 3, 12),)
    assert extraction.times == (time(8, 45),)
    assert "aquarium" in (extraction.activity or "")


@pytest.mark.parametrize(
    "text",
    [
        "and " * 800,
        "letter from a " * 250,
        "text from mum in " * 200 + "friday 5pm",
        "can somebody please just go and " * 100,
        "lorem ipsum dolor " * 200 + "friday at 5",
    ],
)
def test_no_text_takes_long(text: str):
    reading = read(text)
    began = process_time()
    own_words_of(reading, Stance.ASKS, is_child=False)
    assert process_time() - began < 1
