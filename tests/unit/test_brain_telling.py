"""How questions are read, and how what is known is told."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kinkeeper.brain.answer_text import (
    NOTHING_KNOWN,
    answer_of,
    dated,
    event_sentence,
    known_events,
    quote,
    statement,
    sureness_of,
    times_of,
)
from kinkeeper.brain.model import Source, SourceKind, Sureness
from kinkeeper.brain.question import read_question
from kinkeeper.brain.recollection import bearing
from kinkeeper.brain.schedule import EventWords, Scheduled
from kinkeeper.calendar.model import (
    Event,
    EventKind,
    EventState,
    Occurrence,
    Provenance,
    SourceType,
)
from kinkeeper.core.time import Interval
from kinkeeper.household.file import load_household
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.finding.visible_results import Hit, HitKind

ROOT = Path(__file__).parents[2]
MILLER = load_household(ROOT / "examples/miller/household.toml")
ZONE = MILLER.zone
NOW = datetime(2026, 3, 10, 12, tzinfo=ZONE)  # a Tuesday


def booked(**more: object) -> Event:
    values = {
        "id": "e1",
        "household": "miller",
        "kind": EventKind.BOOKING,
        "summary": "Piano recital",
        "start": datetime(2026, 3, 12, 18, tzinfo=ZONE),
        "duration": timedelta(hours=1),
        "tz": "America/Chicago",
        "who": ("mia",),
        "place": "school",
        "provenance": Provenance(source_type=SourceType.WEB, source_id="1"),
    }
    return Event(**{**values, **more})  # type: ignore[arg-type]  # values differ in type


def found(event: Event, *days: int, responsible: tuple[str, ...] = ()) -> Scheduled:
    times = [
        Occurrence(
            event=event,
            original_start=event.start + timedelta(days=day),
            interval=Interval(
                event.start + timedelta(days=day),
                event.start + timedelta(days=day) + event.duration,
            ),
            state=EventState.CONFIRMED,
            responsible=responsible,
            place=event.place,
        )
        for day in days
    ]
    return Scheduled(event=event, times=times, relevance=0.9)


def hit(text: str, *, relevance: float = 0.9) -> Hit:
    return Hit(
        id="h",
        kind=HitKind.FACT,
        text=text,
        category=None,
        confidence=0.8,
        at=NOW,
        created_at=NOW,
        speaker=None,
        session=None,
        scope="household",
        provenance=(),
        relevance=relevance,
    )


def source(text: str, at: datetime = NOW) -> Source:
    return Source(id="f", kind=SourceKind.FACT, text=text, sentence=text, relevance=0.9, at=at)


def test_a_question_is_about_its_words_without_times_and_aspects() -> None:
    read = read_question("When does Leo's soccer practice start on Thursday?", MILLER, now=NOW)
    assert dict(read.weights) == {"leo": 0.5, "soccer": 1.0}
    assert read.names == {"leo"}
    assert read.period is not None
    assert read.period.start == datetime(2026, 3, 12, tzinfo=ZONE)


def test_a_question_about_a_day_alone_has_nothing_but_the_day() -> None:
    read = read_question("What's on tomorrow?", MILLER, now=NOW)
    assert (dict(read.weights), read.coverage(["soccer"])) == ({}, 0.0)
    assert read.period is not None


def test_an_event_is_asked_for_by_nicknames_groups_places_and_activities() -> None:
    clarke = load_household(ROOT / "tests/households/okafor-bennett.toml")
    words = EventWords(clarke).of(
        booked(who=("will",), responsible=("tom",), activity="footy", place="queens-park")
    )
    assert words >= {"lad", "dad", "afl", "oval", "piano", "recit"}


@pytest.mark.parametrize(
    ("text", "bears"),
    [
        ("Leo is allergic to peanuts.", True),
        ("Leo is afraid of dogs.", False),
        ("Sarah is allergic to peanuts.", False),
    ],
)
def test_what_speaks_of_somebody_or_something_else_does_not_bear(text: str, bears: bool) -> None:
    question = read_question("What is Leo allergic to?", MILLER, now=NOW)
    assert (bearing(question, hit(text), speaker="") >= 0.5) is bears


def test_what_somebody_says_of_themselves_bears_on_them() -> None:
    question = read_question("What is Leo allergic to?", MILLER, now=NOW)
    said = hit("I am allergic to peanuts")
    assert bearing(question, said, speaker="leo") >= 0.5 > bearing(question, said, speaker="mia")


def test_an_event_is_told_with_its_times_place_and_who_is_in_charge() -> None:
    told = event_sentence(found(booked(), 0, 7, responsible=("john", "sarah")), MILLER)
    assert told == (
        "Piano recital: Thursday 12 March 2026 at 6pm, at School; again on Thursday 19 March 2026 at 6pm; "
        "John and Sarah are in charge."
    )


def test_days_are_told_without_a_time() -> None:
    start = datetime(2026, 3, 24, tzinfo=ZONE)
    off = booked(start=start, duration=timedelta(days=5), all_day=True, place=None)
    told = event_sentence(found(off, 0), MILLER)
    assert told == "Piano recital: Tuesday 24 March 2026 to Saturday 28 March 2026."


def test_what_was_said_is_quoted_with_its_day_there() -> None:
    late = datetime(2026, 3, 11, 3, tzinfo=UTC)
    told = quote("it  leaks\nagain", speaker=None, said_at=late, zone=ZoneInfo("America/Chicago"))
    assert told == "On Tuesday 10 March 2026 somebody said: “it leaks again”"


def test_of_two_memories_the_newer_is_told_first_and_the_older_with_its_day() -> None:
    older = replace(
        source("Jo is the plumber."),
        kind=SourceKind.FACT,
        text="Jo is the plumber",
        speaker="Ada",
        at=datetime(2025, 2, 6, 12, tzinfo=UTC),
    )
    newer = replace(older, sentence="Kit is the plumber.", at=datetime(2026, 1, 9, 12, tzinfo=UTC))
    expected = "Kit is the plumber. On Thursday 6 February 2025 Ada said: “Jo is the plumber”"
    zone = ZoneInfo("America/Chicago")
    for both in ([older, newer], [newer, older]):
        assert answer_of(dated(both, zone)) == expected
    assert answer_of(dated([older], zone)) == "Jo is the plumber."
    event = replace(newer, kind=SourceKind.EVENT, sentence="Plumber: Friday.")
    assert answer_of(dated([event, older], zone)).startswith("Plumber: Friday. On Thursday")


def test_an_answer_has_two_sentences_at_most_and_invents_none() -> None:
    assert answer_of([source("One."), source("Two."), source("Three.")]) == "One. Two."
    assert answer_of([]) == NOTHING_KNOWN
    assert statement("no end", speaker=None) == "no end."


def test_a_sentence_about_oneself_is_told_with_its_speaker() -> None:
    assert statement("I work as a vet", speaker="Sarah") == "Sarah: “I work as a vet.”"
    assert statement("Leo plays chess.", speaker="Sarah") == "Leo plays chess."


@pytest.mark.parametrize(
    ("relevance", "word"),
    [(0.8, Sureness.HIGH), (0.79, Sureness.MEDIUM), (0.5, Sureness.MEDIUM), (0.49, Sureness.LOW)],
)
def test_a_relevance_in_a_word(relevance: float, word: Sureness) -> None:
    assert sureness_of(relevance) is word


def test_times_are_those_of_the_question_the_events_and_what_was_said() -> None:
    weekly = booked(rrule="FREQ=WEEKLY;BYDAY=TH")
    events = known_events([found(weekly, 0)], MILLER, Viewer.of(MILLER.id))
    question = read_question("what is on 12 March?", MILLER, now=NOW)
    said = source("The dentist is tomorrow at 3pm", at=NOW - timedelta(days=1))
    times = times_of(question.spans, events, [said], MILLER)
    assert [(each.type, each.value) for each in times] == [
        ("date", "2026-03-12"),
        ("datetime", "2026-03-12T18:00:00-05:00"),
        ("recurring", "FREQ=WEEKLY;BYDAY=TH"),
        ("datetime", "2026-03-10T15:00:00-05:00"),
    ]
