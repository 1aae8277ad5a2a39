"""Conventions that every caller relies on: locale, halves of the day, named times, the printed record."""

from datetime import datetime, time
from zoneinfo import ZoneInfo

import pytest

from kinkeeper.reading.times import NamedTimeWords, read, to_record

CHICAGO = ZoneInfo("America/Chicago")
LONDON = ZoneInfo("Europe/London")
TUESDAY = datetime(2026, 3, 3, 9, 0, tzinfo=CHICAGO)
SUNDAY = datetime(2026, 3, 8, 9, 0, tzinfo=LONDON)
AFTER_SCHOOL = NamedTimeWords(id="after-school", words=("after school",), start=time(15, 15))


def test_next_weekday_follows_the_week_start_of_the_locale():
    american = read("next thursday", SUNDAY, locale="en-US")[0]
    british = read("next thursday", SUNDAY, locale="en-GB")[0]

    assert (american.begin.day, british.begin.day) == (19, 12)


def test_this_weekday_is_the_coming_one():
    assert read("this thursday", TUESDAY)[0].begin.day == 5


def test_bare_weekday_is_today_while_its_time_lies_ahead():
    days = [read(text, TUESDAY)[0].begin.day for text in ("tuesday 5pm", "tuesday 8am")]

    assert days == [3, 10]


@pytest.mark.parametrize(("locale", "month"), [("en-US", 3), ("en-GB", 4)])
def test_numeric_dates_follow_the_locale(locale: str, month: int):
    assert (
        read("on 3/4", datetime(2026, 1, 1, tzinfo=CHICAGO), locale=locale)[0].begin.month == month
    )


def test_named_time_of_the_household():
    span = read("get mia after school tmrw", TUESDAY, named_times=[AFTER_SCHOOL])[0]

    assert (span.named, span.begin.strftime("%d %H:%M")) == ("after-school", "04 15:15")


def test_words_of_a_named_time_mean_nothing_to_others():
    assert read("get mia after school", TUESDAY) == ()


@pytest.mark.parametrize(("usual", "hour"), [(time(7, 30), 7), (time(18, 0), 19), (None, 19)])
def test_usual_hour_decides_the_half_of_the_day(usual: time | None, hour: int):
    span = read("thurs at 7", TUESDAY, usual_hour=usual)[0]

    assert span.begin.hour == hour


@pytest.mark.parametrize(
    ("text", "known"),
    [("at 4", False), ("at 4pm", True), ("at 16:00", True), ("4 this evening", True)],
)
def test_says_whether_the_half_is_known(text: str, known: bool):
    assert read(text, TUESDAY)[0].is_meridiem_known is known


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("by 5", "by"),
        ("before friday", "before"),
        ("until 6", "until"),
        ("after 3pm", "after"),
        ("at 5", None),
    ],
)
def test_bounds(text: str, bound: str | None):
    assert read(text, TUESDAY)[0].bound == bound


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("friday morning until 12", 12),
        ("friday morning by 11", 11),
        ("friday 12 in the morning", 0),
    ],
)
def test_a_morning_lasts_until_noon(text: str, hour: int):
    assert read(text, TUESDAY)[0].begin.hour == hour


@pytest.mark.parametrize(
    ("text", "begin"),
    [
        ("pottery on sunday at 15", "08 15"),
        ("the 9th at 20", "09 20"),
        ("am i free on friday at 5?", "06 17"),
        ("i am at the vet on friday at 5", "06 17"),
        ("i'm up at 6 am on friday, work at 7", "06 06"),
    ],
)
def test_an_hour_after_at(text: str, begin: str):
    assert read(text, TUESDAY)[0].begin.strftime("%d %H") == begin


@pytest.mark.parametrize(
    ("text", "hour", "days"),
    [
        ("works nights on thursdays", 20, ("TH",)),
        ("evenings on tuesdays and fridays", 18, ("TU", "FR")),
        ("mornings on weekdays", 8, ("MO", "TU", "WE", "TH", "FR")),
    ],
)
def test_a_part_of_the_day_with_its_weekdays(text: str, hour: int, days: tuple[str, ...]):
    (span,) = read(text, TUESDAY)

    assert span.begin.hour == hour
    assert span.recurrence is not None
    assert set(span.recurrence.rpartition("BYDAY=")[2].split(",")) == set(days)


def test_list_of_days_gives_a_span_each():
    assert [span.begin.day for span in read("25th & 26th", TUESDAY)] == [25, 26]


def test_list_shares_what_one_member_says():
    texts = ("next tues or wed", "25th and 26th of april")

    assert [[span.begin.strftime("%m-%d") for span in read(text, TUESDAY)] for text in texts] == [
        ["03-10", "03-11"],
        ["04-25", "04-26"],
    ]


def test_alternative_hours():
    assert [span.begin.hour for span in read("at 4 or 5?", TUESDAY)] == [16, 17]


def test_record_has_iso_times_with_offset_and_exclusive_end():
    record = to_record(read("the 15th", TUESDAY)[0])

    assert record == {
        "surface": "the 15th",
        "kind": "date",
        "start": "2026-03-15T00:00:00-05:00",
        "end": "2026-03-16T00:00:00-05:00",
        "grain": "day",
    }


def test_record_of_a_recurrence_carries_its_rule():
    assert to_record(read("every friday", TUESDAY)[0])["recurrence"] == "FREQ=WEEKLY;BYDAY=FR"


def test_time_that_the_clocks_skip_moves_forward():
    span = read("march 8 at 2:30am", TUESDAY)[0]

    assert span.begin.isoformat() == "2026-03-08T03:30:00-05:00"


def test_time_that_comes_twice_is_the_first():
    span = read("november 1 at 1:30am", TUESDAY)[0]

    assert span.begin.isoformat() == "2026-11-01T01:30:00-05:00"


def test_hours_count_in_real_time_across_the_change():
    late = datetime(2026, 3, 8, 1, 0, tzinfo=CHICAGO)

    assert read("in 2 hours", late)[0].begin.isoformat() == "2026-03-08T04:00:00-05:00"


def test_offsets_point_into_the_text():
    text = "ok 👍 then — see you   thurs 2:15, bye"
    span = read(text, TUESDAY)[0]

    assert text[span.start_char : span.end_char] == span.surface == "thurs 2:15"


def test_long_text_is_read_up_to_the_cap():
    assert read("x" * 5000 + " tomorrow", TUESDAY) == ()


@pytest.mark.parametrize(
    "unit",
    [
        "1 ",
        "3-",
        "day after ",
        "a week from ",
        "every ",
        "12:",
        "next ",
        "half past ",
        "from 3 to ",
    ],
)
def test_hostile_repetition_ends_quickly(unit: str):
    for span in read(unit * 2000, TUESDAY):
        assert span.begin <= span.until


def test_small_hours_of_tonight_are_of_the_next_day():
    begins = [read(text, TUESDAY)[0].begin for text in ("tonight at 1 am", "tonight at 11pm")]

    assert [(each.day, each.hour) for each in begins] == [(4, 1), (3, 23)]
