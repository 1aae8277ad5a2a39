"""What a message is about in its own words: occasions, errands, letters; and what is none of these."""

from datetime import date, time
from functools import partial

import pytest

from growth import cpu_seconds, takes_too_long
from kinkeeper.observer.extraction.rules_extractor import extract
from kinkeeper.observer.model import OWN_WORDS, Stance, Task
from kinkeeper.observer.wording.free_topics import own_words_of
from kinkeeper.observer.wording.message_parts import segments
from miller_words import PARTICIPANTS, read, said


@pytest.mark.parametrize(
    ("text", "name", "day"),
    [
        ("quilting bee is thursday 4pm", "quilting bee", 5),
        ("chimney man coming between 2 and 4 on Wednesday", "chimney man", 4),
        ("the soapbox derby starts saturday at 10", "soapbox derby", 7),
        ("Leo has hat day on Friday", "hat day", 6),
        ("beekeeping taster at Grandpa's on Sunday, 5pm", "beekeeping taster", 8),
        ("they want the van back Friday at 8am", "they want the van", 6),
        ("all fine. next one Friday 10.30am", "next one", 6),
        ("harbour garage can fit us in Friday at 9.30am", "harbour garage", 6),
        ("he's coming back Friday at 10 with the pump", "he's coming", 6),
        ("soapbox derby friday is 9.15 at the hill", "soapbox derby", 6),
        ("bonfire saturday at 7, who's coming?", "bonfire", 7),
        ("gas fitter is booked for Friday morning", "gas fitter", 6),
        ("the loft man is coming Friday at 10 and I'm at work", "loft man", 6),
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
        ("who's walking the whippet tonight", "walking the whippet", 2),
        ("whose turn is it for the recycling", "recycling", 2),
        ("who is on dishes tonight", "dishes", 2),
        ("John don't forget to collect the pram by 5", "collect the pram", 2),
        ("anyone taking the whippet out tonight", "taking the whippet out", 2),
        (
            "could you pop to the bakery for rolls on your way home",
            "pop to the bakery for rolls",
            2,
        ),
    ],
)
def test_what_somebody_is_wanted_for_is_an_errand(text: str, name: str, day: int):
    extraction = said(text)
    assert (extraction.task, extraction.activity) == (Task.OTHER, name)
    assert extraction.dates == (date(2026, 3, day),)
    assert not extraction.owners


def test_what_the_sender_will_do_on_a_day_is_theirs():
    extraction = said("I'll sign the slip tonight")
    assert (extraction.task, extraction.activity) == (Task.OTHER, "sign the slip")
    assert extraction.owners == ("sarah",)


def test_children_with_hours_under_one_heading_are_an_item_each():
    parts = segments(read("Parents evening Thursday: Leo 4.40, Mia 6.10"))
    items = [extract(part, sender=None, participants=PARTICIPANTS) for part in parts]
    assert [(item.child, item.times) for item in items] == [
        (("leo",), (time(16, 40),)),
        (("mia",), (time(18, 10),)),
    ]
    assert {item.dates for item in items} == {(date(2026, 3, 5),)}


@pytest.mark.parametrize(
    "text",
    [
        "who's coming tonight",
        "who's on the phone",
        "who is winning the match tonight",
        "remember to breathe",
        "I'll wear the blue dress tonight",
        "I'll take the sausages off now",
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
    work = partial(own_words_of, reading, Stance.ASKS, is_child=False)
    assert not takes_too_long(partial(cpu_seconds, work), 1.0)
