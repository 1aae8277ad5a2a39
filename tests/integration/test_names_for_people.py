"""Ids of people, places and of the household itself stay out of what people read."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kinkeeper.brain.answer_text import event_sentence, known_events
from kinkeeper.brain.schedule import Scheduled
from kinkeeper.calendar.model import (
    Event,
    EventKind,
    EventState,
    Occurrence,
    Provenance,
    SourceType,
)
from kinkeeper.cli.init import TemplateAnswers, render_template
from kinkeeper.core.time import Interval
from kinkeeper.household.file import parse_household
from kinkeeper.household.viewers import Viewer
from planning import WEDNESDAY

_FILE = """\
[household]
id = "h1"
name = "The O’Brien-Okafors"
timezone = "Europe/Dublin"

[[members]]
id = "m1"
name = "Zoë"
role = "parent"

[[members]]
id = "m2"
name = "Tariq"
role = "child"

[[places]]
id = "p1"
name = "Quarry Lane Pool"

[[events]]
id = "e1"
summary = "Swim club"
who = ["m2"]
responsible = ["m1"]
place = "p1"
start = 2026-03-05T17:00:00
"""
_IDS = ("h1", "m1", "m2", "p1")


def test_what_is_known_of_an_event_names_people_and_places() -> None:
    household = parse_household(_FILE, "home.toml")
    start = WEDNESDAY.replace(tzinfo=household.zone) + timedelta(days=1)
    event = Event(
        id="x",
        household="h1",
        kind=EventKind.BOOKING,
        summary="Swim club",
        start=start,
        duration=timedelta(hours=1),
        tz="Europe/Dublin",
        who=("m2",),
        place="p1",
        provenance=Provenance(source_type=SourceType.WEB, source_id="1"),
    )
    time = Occurrence(
        event=event,
        original_start=start,
        interval=Interval(start, start + timedelta(hours=1)),
        responsible=("m1",),
        place="p1",
        state=EventState.CONFIRMED,
    )
    found = Scheduled(event=event, times=(time,), relevance=0.9)
    (known,) = known_events([found], household, Viewer.of("h1"))
    told = event_sentence(found, household)
    assert known.location == "Quarry Lane Pool"
    assert "Zoë" in told
    assert "Quarry Lane Pool" in told
    assert not any(each in told for each in _IDS)


@pytest.mark.parametrize(
    ("name", "title"), [("Zoë & Co", "Zoë & Co"), ("李家", "李家"), (None, "Zoe Co")]
)
def test_the_household_is_called_by_the_name_in_its_file(name: str | None, title: str) -> None:
    household = parse_household(
        _FILE.replace('"h1"', '"zoe-co"').replace('name = "The O’Brien-Okafors"\n', ""), "h.toml"
    )
    assert replace(household, name=name or "").title == title


def test_init_keeps_the_name_as_typed() -> None:
    answers = TemplateAnswers(
        household="The O’Brien-Okafors", timezone="Europe/Dublin", adults=["Zoë"]
    )
    household = parse_household(render_template(answers), "home.toml")
    assert (household.id, household.title) == ("the-obrien-okafors", "The O’Brien-Okafors")
