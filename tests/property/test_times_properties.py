"""What holds for any text and any moment."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from kinkeeper.reading.times import read

ZONES = [
    ZoneInfo(name)
    for name in (
        "America/Chicago",
        "Europe/London",
        "Australia/Lord_Howe",
        "Asia/Kolkata",
        "America/St_Johns",
    )
]
WORDS = [
    "tomorrow", "tmrw", "at", "4", "4:30", "pm", "next", "thurs", "week", "the", "15th", "of", "march", "2026", "every", "from",
    "to", "-", "until", "half", "past", "9", "in", "2", "hours", "ago", "noon", "this", "evening", "weekend", "mon", "fri", "&",
    "for", "a", "day", "after", "last", "3/15", "31", "feb", "first", "christmas", "99", "0", "29", "6.30", "1630", "by", ",",
]  # fmt: skip
INVISIBLE = ["\u200b", "\u200e", "\u2060", "\ufeff"]
moments = st.builds(
    lambda minutes, zone: (
        datetime(2020, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    ).astimezone(zone),
    st.integers(0, 60 * 24 * 365 * 10),
    st.sampled_from(ZONES),
)
chats = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


def check(text: str, moment: datetime) -> None:
    end = 0
    for span in read(text, moment):
        assert end <= span.start_char < span.end_char <= len(text)
        assert text[span.start_char : span.end_char] == span.surface
        assert span.begin.astimezone(UTC) <= span.until.astimezone(UTC)
        assert span.begin.tzinfo is moment.tzinfo
        assert span.begin.astimezone(UTC).astimezone(moment.tzinfo).replace(
            tzinfo=None
        ) == span.begin.replace(tzinfo=None)
        end = span.end_char


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60), moments)
def test_any_text_is_read_without_an_error(text: str, moment: datetime):
    check(text, moment)


@settings(max_examples=150, deadline=None)
@given(chats, moments)
def test_any_mix_of_time_words_gives_sound_spans(text: str, moment: datetime):
    check(text, moment)


@settings(max_examples=80, deadline=None)
@given(chats, moments, st.sampled_from(INVISIBLE), st.sampled_from(INVISIBLE))
def test_invisible_characters_around_change_nothing(
    text: str, moment: datetime, before: str, after: str
):
    plain = [(span.surface, span.begin, span.until) for span in read(text, moment)]
    wrapped = [
        (span.surface, span.begin, span.until) for span in read(before + text + after, moment)
    ]

    assert wrapped == plain


@settings(max_examples=50, deadline=None)
@given(moments, st.integers(1, 48))
def test_hours_count_in_real_time(moment: datetime, hours: int):
    span = read(f"in {hours} hours", moment)[0]

    assert span.begin.astimezone(UTC) - moment.astimezone(UTC) == timedelta(hours=hours)


@settings(max_examples=50, deadline=None)
@given(moments)
def test_a_day_is_a_day_of_the_calendar(moment: datetime):
    span = read("tomorrow", moment)[0]

    assert span.begin.date() == moment.date() + timedelta(days=1)
    assert span.until.date() == moment.date() + timedelta(days=2)
