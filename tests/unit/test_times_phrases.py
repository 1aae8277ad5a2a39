"""What families type, read from a Tuesday morning, each with what a person would take it to mean."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from kinkeeper.reading.times import read

CHICAGO = ZoneInfo("America/Chicago")
TUESDAY = datetime(2026, 3, 3, 9, 0, tzinfo=CHICAGO)

POINTS = [
    ("tmrw 4", "2026-03-04T16:00"),
    ("can u get her 2moro at 3?", "2026-03-04T15:00"),
    ("tml 5 at the pool", "2026-03-04T17:00"),
    ("2mrw 10am", "2026-03-04T10:00"),
    ("tonite at 8", "2026-03-03T20:00"),
    ("dinner tonight 7pm", "2026-03-03T19:00"),
    ("thurs 2:15", "2026-03-05T14:15"),
    ("Thursady 6", "2026-03-05T18:00"),
    ("next thurs at 4", "2026-03-12T16:00"),
    ("this sat 10am works", "2026-03-07T10:00"),
    ("the 15th at 10", "2026-03-15T10:00"),
    ("recital is 15 mar", "2026-03-15T00:00"),
    ("March 3rd next year?", "2027-03-03T00:00"),
    ("swim meet 3/15", "2026-03-15T00:00"),
    ("dentist moved to 04/02/2026", "2026-04-02T00:00"),
    ("half 3 ok?", "2026-03-03T15:30"),
    ("quarter to 5", "2026-03-03T16:45"),
    ("ten past 4", "2026-03-03T16:10"),
    ("half past nine", "2026-03-03T09:30"),
    ("about 4ish", "2026-03-03T16:00"),
    ("around noon", "2026-03-03T12:00"),
    ("see you at midnight", "2026-03-04T00:00"),
    ("in 20 min", "2026-03-03T09:20"),
    ("back in an hour and a half", "2026-03-03T10:30"),
    ("in 3 hrs", "2026-03-03T12:00"),
    ("2 hours ago", "2026-03-03T07:00"),
    ("two weeks from sat", "2026-03-21T00:00"),
    ("a week on thursday", "2026-03-12T00:00"),
    ("fri week", "2026-03-13T00:00"),
    ("day after tomorrow at 6", "2026-03-05T18:00"),
    ("yesterday was fun", "2026-03-02T00:00"),
    ("saw him last friday", "2026-02-27T00:00"),
    ("at 1630 sharp", "2026-03-03T16:30"),
    ("at 16h30", "2026-03-03T16:30"),
    ("4.30pm pick up", "2026-03-03T16:30"),
    ("be there 5p", "2026-03-03T17:00"),
    ("8 in the morning", "2026-03-04T08:00"),
    ("seven thirty tonight", "2026-03-03T19:30"),
    ("at 11 please", "2026-03-03T11:00"),
    ("pickup at 3", "2026-03-03T15:00"),
    ("need you by 5", "2026-03-03T17:00"),
    ("home before 3 pls", "2026-03-03T15:00"),
    ("she stays until 6", "2026-03-03T18:00"),
    ("breakfast at 7 then", "2026-03-04T07:00"),
    ("school run at 8 tmrw", "2026-03-04T08:00"),
    ("2026-05-01 it is", "2026-05-01T00:00"),
    ("meeting 2026-05-01T14:00", "2026-05-01T14:00"),
    ("christmas at nana's", "2026-12-25T00:00"),
    ("thanksgiving with the smiths", "2026-11-26T00:00"),
    ("first monday of april", "2026-04-06T00:00"),
    ("last friday of the month", "2026-03-27T00:00"),
    ("wed at 5 o'clock", "2026-03-04T17:00"),
    ("sat eve", "2026-03-07T18:00"),
    ("this evening", "2026-03-03T18:00"),
    ("thurs morning", "2026-03-05T08:00"),
    ("3 days after tomorrow", "2026-03-07T00:00"),
    ("monday the 9th", "2026-03-09T00:00"),
    ("Fri 13 March 2026 at 7.30pm", "2026-03-13T19:30"),
    ("on the twenty first", "2026-03-21T00:00"),
    ("tuesday at 8am", "2026-03-10T08:00"),
    ("tuesday at 4", "2026-03-03T16:00"),
    ("SAT 9AM!!", "2026-03-07T09:00"),
    ("diwali 2026", "2026-11-08T00:00"),
    ("easter sunday", "2026-04-05T00:00"),
]

RANGES = [
    ("3-4:30", "2026-03-03T15:00", "2026-03-03T16:30"),
    ("practice tmrw 3-5", "2026-03-04T15:00", "2026-03-04T17:00"),
    ("from 3 to 5", "2026-03-03T15:00", "2026-03-03T17:00"),
    ("between 9 and 11 on saturday", "2026-03-07T09:00", "2026-03-07T11:00"),
    ("saturday 10-4", "2026-03-07T10:00", "2026-03-07T16:00"),
    ("11-1pm fri", "2026-03-06T11:00", "2026-03-06T13:00"),
    ("thurs 5 to 6:30pm", "2026-03-05T17:00", "2026-03-05T18:30"),
    ("camp june 8-12", "2026-06-08T00:00", "2026-06-13T00:00"),
    ("away from the 10th to the 14th", "2026-03-10T00:00", "2026-03-15T00:00"),
    ("this weekend", "2026-03-07T00:00", "2026-03-09T00:00"),
    ("next weekend", "2026-03-14T00:00", "2026-03-16T00:00"),
    ("next wk", "2026-03-09T00:00", "2026-03-16T00:00"),
    ("wk of the 12th", "2026-03-09T00:00", "2026-03-16T00:00"),
    ("next month", "2026-04-01T00:00", "2026-05-01T00:00"),
    ("for 2 hours", "2026-03-03T09:00", "2026-03-03T11:00"),
    ("takes 45 mins", "2026-03-03T09:00", "2026-03-03T09:45"),
    ("tomorrow at 3 for 2 hours", "2026-03-04T15:00", "2026-03-04T17:00"),
    ("this arvo", "2026-03-03T12:00", "2026-03-03T18:00"),
    ("fri to sun", "2026-03-06T00:00", "2026-03-09T00:00"),
    ("10pm-1am saturday", "2026-03-07T22:00", "2026-03-08T01:00"),
]

RECURRING = [
    ("every tues & thurs at 4", "FREQ=WEEKLY;BYDAY=TU,TH", "2026-03-03T16:00"),
    ("weekdays at 8am", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "2026-03-04T08:00"),
    ("every other friday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", "2026-03-06T00:00"),
    ("mon-fri", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "2026-03-03T00:00"),
    ("piano on wednesdays 5pm", "FREQ=WEEKLY;BYDAY=WE", "2026-03-04T17:00"),
    ("every first monday of the month", "FREQ=MONTHLY;BYDAY=1MO", "2026-04-06T00:00"),
    ("every 2 weeks", "FREQ=WEEKLY;INTERVAL=2", "2026-03-03T00:00"),
    ("every weekend", "FREQ=WEEKLY;BYDAY=SA,SU", "2026-03-07T00:00"),
    ("every morning", "FREQ=DAILY", "2026-03-03T08:00"),
]

SILENT = [
    "he sat down",
    "the dog sat on my homework",
    "march on",
    "may I ask why?",
    "May the force be with you",
    "wed love to come",
    "second one is nicer",
    "the sun is out",
    "2 kids and a dog",
    "got 4 tickets",
    "we won 3-2",
    "final score 2-1",
    "it was $15",
    "room 12",
    "call 555-1234",
    "call me on 0412 345 678",
    "at 10 Downing Street",
    "24/7",
    "version 2.3.1",
    "leo is 5",
    "mia turned 7",
    "good morning all",
    "good night!",
    "thanks a million",
    "lol ok",
    "april can you help",
    "50% off",
    "at 6.45 percent",
    "need 3 eggs",
    "see page 12",
    "https://example.org/2024/05/06",
    "one of them by one",
    "bus 12",
    "10/10 would recommend",
]


def wall(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M")


@pytest.mark.parametrize(("text", "begin"), POINTS)
def test_reads_a_point(text: str, begin: str):
    spans = read(text, TUESDAY)

    assert wall(spans[0].begin) == begin


@pytest.mark.parametrize(("text", "begin", "until"), RANGES)
def test_reads_both_ends(text: str, begin: str, until: str):
    span = read(text, TUESDAY)[0]

    assert (wall(span.begin), wall(span.until)) == (begin, until)


@pytest.mark.parametrize(("text", "rule", "begin"), RECURRING)
def test_reads_what_comes_again(text: str, rule: str, begin: str):
    span = read(text, TUESDAY)[0]

    assert (span.recurrence, wall(span.begin)) == (rule, begin)


@pytest.mark.parametrize("text", SILENT)
def test_keeps_silent(text: str):
    assert read(text, TUESDAY) == ()


@pytest.mark.parametrize(
    ("text", "begin", "rule"),
    [
        ("tuesdays at 7pm until easter", "2026-03-03T19:00", "FREQ=WEEKLY;BYDAY=TU;UNTIL=20260405"),
        ("every monday from 16 march at 5", "2026-03-16T17:00", "FREQ=WEEKLY;BYDAY=MO"),
        ("daily at 10am for 10 days", "2026-03-03T10:00", "FREQ=DAILY;UNTIL=20260312"),
        ("fridays in may at 6pm", "2026-05-01T18:00", "FREQ=WEEKLY;BYDAY=FR;UNTIL=20260531"),
        (
            "thursdays 9:30 to 10:15 for 3 weeks",
            "2026-03-05T09:30",
            "FREQ=WEEKLY;BYDAY=TH;UNTIL=20260325",
        ),
        ("first monday of every month at 6", "2026-04-06T18:00", "FREQ=MONTHLY;BYDAY=1MO"),
        ("every weekday at 10.45", "2026-03-03T10:45", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
    ],
)
def test_what_recurs_has_its_first_and_last_day(text: str, begin: str, rule: str) -> None:
    (span,) = read(text, TUESDAY)

    assert span.begin.isoformat().startswith(begin)
    assert span.recurrence == rule


@pytest.mark.parametrize(
    ("text", "begin", "until"),
    [
        ("party on the 21st 10 til 12", "2026-03-21T10:00", "2026-03-21T12:00"),
        ("party on the 21st, 2-4", "2026-03-21T14:00", "2026-03-21T16:00"),
        ("gala 28th 9 to 1", "2026-03-28T09:00", "2026-03-28T13:00"),
    ],
)
def test_hours_right_behind_a_day_of_the_month_are_on_it(text: str, begin: str, until: str):
    (span,) = read(text, TUESDAY)

    assert (wall(span.begin), wall(span.until)) == (begin, until)


@pytest.mark.parametrize("text", ["sat, 2 til 4", "sat 2 until 4", "sat, 2-4", "sat from 2 till 4"])
def test_two_hours_of_a_day_are_its_ends(text: str) -> None:
    spans = read(text, TUESDAY)

    assert (spans[-1].begin.hour, spans[-1].until.hour) == (14, 16)


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("dentist at 8", 8),
        ("dinner at 8", 20),
        ("dentist at 5", 17),
        ("every weekday at 7.45", 7),
        ("every weekday at 5", 17),
        ("fridays at 7", 19),
    ],
)
def test_offices_open_and_working_days_begin_in_the_morning(text: str, hour: int) -> None:
    (span,) = read(text, TUESDAY)

    assert span.begin.hour == hour


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("gran needs dropping at the mosque at 5", 17),
        ("dropping him at 7", 7),
        ("drop off at 6.30", 6),
        ("school run at 8", 8),
        ("wake me at 5", 5),
    ],
)
def test_nobody_sets_out_at_five_on_the_rounds_of_the_morning(text: str, hour: int) -> None:
    assert read(text, TUESDAY)[0].begin.hour == hour
