"""Which of the times that a message names is when something is: one reading for requests and for the group."""

from datetime import date, timedelta
from itertools import product

from kinkeeper.reading.times import read
from miller_words import MONDAY, said
from planning import WEDNESDAY, planned

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def next_day(weekday: str, after: date) -> date:
    """Return the first day of a name that is not before another."""
    return after + timedelta(days=(DAYS.index(weekday) - after.weekday()) % 7)


def created(text: str) -> tuple[str, str] | None:
    """Return title and start of the one event that a request makes, if it does."""
    match planned(text):
        case [("calendar.create_event", params)]:
            return params["summary"], (params["start_time"] or "")[:16]
    return None


NAMES = (
    "Friday Night Dinner", "Sunday lunch club", "Saturday film club", "Thursday quiz", "Christmas party",
    "Halloween disco",
)  # fmt: skip
PUT = ("put {name} on {day} at 7pm", "{name} on {day} 7pm", "add {name} to the calendar for {day} at 7pm",
       "put {name} {day} 7pm", "{name} is on {day} at 7pm")  # fmt: skip


def test_a_day_in_a_name_is_not_when_the_thing_is() -> None:
    wrong = []
    for name, form, day in product(NAMES, PUT, ("monday", "tuesday", "wednesday")):
        text = form.format(name=name, day=day)
        found = created(text), said(text).dates
        at = next_day(day, WEDNESDAY.date()).isoformat()
        if found != ((name, f"{at}T19:00"), (next_day(day, MONDAY.date()),)):
            wrong.append((text, found))
    assert not wrong


def test_an_hour_in_a_name_is_not_when_the_thing_is() -> None:
    wrong = []
    for name, form in product(
        ("5 o'clock club", "4pm swimming", "6 o'clock tea"),
        ("put {name} on friday at 3", "{name} is at 3 on friday", "add {name} at 3 on friday"),
    ):
        text = form.format(name=name)
        found = created(text), [f"{each:%H:%M}" for each in said(text).times]
        if found != ((name, "2026-03-13T15:00"), ["15:00"]):
            wrong.append((text, found))
    assert not wrong


TOLD_BY_ITS_DAY = {
    "put Friday dinner in the calendar at 7": ("dinner", "2026-03-13T19:00"),
    "put dinner on friday at 7": ("dinner", "2026-03-13T19:00"),
    "put judo friday at 5": ("judo", "2026-03-13T17:00"),
    "put Friday judo at 5 in the calendar": ("judo", "2026-03-13T17:00"),
}


def test_a_day_that_nothing_else_contradicts_still_counts() -> None:
    assert {text: created(text) for text in TOLD_BY_ITS_DAY} == TOLD_BY_ITS_DAY


def test_what_is_moved_or_listed_keeps_both_days() -> None:
    for text in (
        "move Friday judo to Thursday", "Monday swimming and Thursday judo", "judo Monday, ballet on Thursday",
        "gym Monday or Thursday", "judo Monday ballet on Thursday",
        "from Monday judo is on Thursday",
    ):  # fmt: skip
        assert len([each for each in read(text, MONDAY) if each.has_date]) > 1, text
