"""What is told of events: they are off, go without somebody, at another time, elsewhere, or for good."""

from itertools import product
from typing import Any

import pytest

from kinkeeper.actions.requests.model import ResultStatus
from planning import done, exchange, plan, planned


def event(name: str, title: str, start: str, **more: Any) -> dict[str, Any]:
    """Return an event as the planner knows it."""
    return {
        "id": name,
        "event_id": name,
        "title": title,
        "original_start": start,
        "start": start,
        **more,
    }


WEEKLY = "FREQ=WEEKLY;BYDAY=TH"
AHEAD = {
    "events": [
        event(
            "drums",
            "Leo drum lesson",
            "2026-03-12T16:30:00-05:00",
            end="2026-03-12T17:30:00-05:00",
            who=["leo"],
            responsible=["john"],
            rrule=WEEKLY,
        ),
        event(
            "quiz",
            "Quiz night at the Bakers'",
            "2026-03-14T19:00:00-05:00",
            end="2026-03-14T21:00:00-05:00",
            who=["john", "sarah"],
            responsible=[],
        ),
        event(
            "drums",
            "Leo drum lesson",
            "2026-03-19T16:30:00-05:00",
            end="2026-03-19T17:30:00-05:00",
            who=["leo"],
            responsible=["john"],
            rrule=WEEKLY,
        ),
    ]
}


def told(text: str, **around: Any) -> list[tuple[str, dict[str, Any]]]:
    return planned(text, fetched=AHEAD, **around)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("the drum lesson is cancelled this week", "2026-03-12"),
        ("Leo's got a fever, so no drums tomorrow", "2026-03-12"),
        ("we're giving drums a miss next week", "2026-03-19"),
        ("drums isn't happening on the 19th", "2026-03-19"),
        ("Leo can't make drums tomorrow, he's at his cousin's", "2026-03-12"),
    ],
)
def test_what_does_not_take_place_is_cancelled_that_once(text: str, day: str) -> None:
    ((name, params),) = told(text)

    assert (name, params["event_id"]) == ("calendar.delete_event", "drums")
    assert params["on"].startswith(day)
    assert "scope" not in params


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("I can't do drums tomorrow after all", {"responsible": []}),
        ("drums starts at 5 tomorrow", {"start_time": "2026-03-12T17:00:00-05:00"}),
        ("drums is running 20 minutes late tomorrow", {"shift_minutes": 20}),
        (
            "tomorrow's drum lesson finishes at quarter to six",
            {"end_time": "2026-03-12T17:45:00-05:00"},
        ),
        ("drums is in the school hall tomorrow", {"location": "school hall"}),
        ("Sarah's doing drums tomorrow instead of me", {"responsible": ["sarah"]}),
    ],
)
def test_one_time_of_it_changes_in_just_what_is_told(text: str, changes: dict[str, Any]) -> None:
    ((name, params),) = told(text)

    assert (name, params["event_id"], params["changes"]) == (
        "calendar.update_event",
        "drums",
        changes,
    )
    assert params["on"].startswith("2026-03-12")


def test_who_stays_away_is_taken_out_and_the_others_stay() -> None:
    ((name, params),) = told("Sarah won't be at the quiz night")

    assert (name, params["event_id"]) == ("calendar.update_event", "quiz")
    assert params["changes"] == {"who": ["john"]}


@pytest.mark.parametrize(
    ("text", "on", "start"),
    [
        ("from April drums is on Fridays", "2026-04-01", "2026-04-03T16:30"),
        ("as of next week drums is at 5:15", "2026-03-16", "17:15"),
        ("drums is always at 5 now", "2026-03-11", "17:00"),
    ],
)
def test_for_good_the_series_changes_from_a_day_on(text: str, on: str, start: str) -> None:
    ((name, params),) = told(text)

    assert (name, params["scope"], params["on"]) == ("calendar.update_event", "following", on)
    assert params["changes"]["start_time"].startswith(start)


def test_what_somebody_gives_up_ends_with_a_day() -> None:
    ((name, params),) = told("Leo is giving up drums at the end of May")

    assert (name, params["scope"], params["on"]) == (
        "calendar.delete_event",
        "following",
        "2026-06-01",
    )


def test_several_times_in_a_span_are_one_request() -> None:
    ((name, params),) = told("no drums until the 26th")

    assert (name, params["until"]) == ("calendar.delete_event", "2026-03-25")
    assert params["on"].startswith("2026-03-12")


@pytest.mark.parametrize(
    "text",
    [
        "drums might be off tomorrow",
        "if it snows there's no drums tomorrow",
        "was drums cancelled?",
        "I think Sarah can't do the quiz",
        "drums was great",
        "I wish drums was at 6",
        "Leo's off tomorrow",
    ],
)
def test_what_is_not_so_changes_nothing(text: str) -> None:
    requests = {name for name, _ in told(text)}

    assert not requests & {"calendar.update_event", "calendar.delete_event"}


def test_of_two_that_are_meant_one_is_asked_for() -> None:
    both = [
        *AHEAD["events"],
        event("drums2", "Emma drum lesson", "2026-03-12T18:00:00-05:00", who=["emma"]),
    ]

    asked = plan("drums is off tomorrow", fetched={"events": both})
    hers = planned("Emma's drum lesson is off tomorrow", fetched={"events": both})

    assert not asked.actions
    assert "Leo drum lesson" in str(asked.clarification)
    assert "Emma drum lesson" in str(asked.clarification)
    assert [params["event_id"] for _, params in hers] == ["drums2"]


@pytest.mark.parametrize(
    ("text", "day", "hour"),
    [
        ("add supper with Ana friday, no saturday at 7pm", "2026-03-14", "19:00"),
        ("add haircut on monday at 3pm, sorry I meant 4pm", "2026-03-16", "16:00"),
        ("add choir on friday at 6pm, actually thursday", "2026-03-12", "18:00"),
    ],
)
def test_a_time_put_right_in_the_same_breath_counts(text: str, day: str, hour: str) -> None:
    ((name, params),) = planned(text)

    assert name == "calendar.create_event"
    assert params["start_time"].startswith(f"{day}T{hour}")
    assert not {"no", "sorry", "actually", "meant"} & set(params["summary"].lower().split())


SETTING_RIGHT = [
    ", sorry {}",
    " (no wait, {})",
    "... no {}",
    ". correction: {}",
    " - make that {}",
    ". no, {}",
    ", i mean {}",
    ". edit: {}",
    ", oops, {}",
]
RIGHT_TIMES = [
    ("in an hour", "2 hours", "11T11:05"), ("in 10 minutes", "15", "11T09:20"),
    ("in half an hour", "20 mins", "11T09:25"), ("in 2 days", "3 days", "14"),
    ("tomorrow at 9", "10", "12T10:00"), ("at 3", "half 3", "11T15:30"), ("at 8pm", "9pm", "11T21:00"),
    ("on thursday", "friday", "13"), ("on thursday at 5", "friday", "13T17:00"),
    ("on friday", "the 20th", "20"), ("tomorrow at 5", "6 on friday", "13T18:00"),
]  # fmt: skip


def test_a_time_set_right_anywhere_in_the_message_counts() -> None:
    wrong = []
    places = ["remind me {old}{right} to stir the glue", "remind me {old} to stir the glue{right}"]
    for place, sign, (old, new, at) in product(places, SETTING_RIGHT, RIGHT_TIMES):
        right = sign.format(new)
        text = place.format(old=old, right=right if place[-1] == "}" or "." not in sign else "")
        if right not in text:
            continue
        found = [params for _, params in planned(text)]
        is_right = len(found) == 1 and found[0]["deadline"].startswith(f"2026-03-{at}")
        if not is_right or found[0]["title"] != "stir the glue":
            wrong.append((text, found))
    assert not wrong


def test_whoever_is_named_last_is_meant_where_a_name_is_set_right() -> None:
    signs = [" - sorry, {} -", " (i mean {})", ", no wait, {},", ", sorry, {},", " or rather {}"]
    texts = [f"remind Leo{sign.format('Sarah')} to lock the coop at 9pm" for sign in signs]
    texts += [
        f"remind Leo to lock the coop at 9pm{end}" for end in (", sorry Sarah", ". I mean Sarah")
    ]
    for text in texts:
        ((_, params),) = planned(text)
        assert (params["who"], params["title"], params["deadline"][11:13]) == (
            "sarah",
            "lock the coop",
            "21",
        ), text


def test_what_sets_nothing_right_stays_in_the_title() -> None:
    expected = {
        "remind me to say sorry at 5": ("say sorry", "11T17"),
        "remind me at 5 that bus no 9 is late": ("bus no 9 is late", "11T17"),
        "remind me on friday about the party on saturday": ("the party on saturday", "13"),
        "remind me at 5 to get no more than 3 tins": ("get no more than 3 tins", "11T17"),
        "remind me at 5 to tell Leo and Sarah that we wait": (
            "tell Leo and Sarah that we wait",
            "11T17",
        ),
        "remind me at 6 to make it to the bank": ("make it to the bank", "11T18"),
    }
    for text, (title, at) in expected.items():
        ((_, params),) = planned(text)
        assert params["title"] == title
        assert params["deadline"].startswith(f"2026-03-{at}"), text


def test_an_hour_told_behind_a_day_is_offered_with_it() -> None:
    things = ["the scan", "surgery", "an eye test"]
    told = ["be there at {}", "she has to be there at {}", "it starts at {}"]
    for thing, hour, said in product(things, [("6.45", "06:45"), ("9", "09:00")], told):
        found = plan(f"{thing} on the 17th, {said.format(hour[0])}")
        assert all(each.is_offer for each in found.actions), (thing, said)
        starts = [each.params["start_time"] for each in found.actions]
        assert starts in ([], [f"2026-03-17T{hour[1]}:00-05:00"]), (thing, said)
    kept = {
        "the scan on the 17th, Leo was ill": "2026-03-17",
        "scan on the 17th at 4, be there at 3.45": "2026-03-17T16",
    }
    for text, start in kept.items():
        assert all(each["start_time"].startswith(start) for _, each in planned(text)), text


def test_a_weekday_of_named_days_is_one_of_them() -> None:
    days = {"tues": 24, "wednesday": 25, "fri": 27}
    for day, number in days.items():
        found = [
            each
            for _, each in planned(f"half term 23-27 march, optician on the {day} of it at 10")
            if "start_time" in each
        ]
        assert [each["start_time"][:13] for each in found] == [f"2026-03-{number}T10"], day
    found = [
        each for _, each in planned("add the optician on friday at 10, we hear more of it then")
    ]
    assert all(each["start_time"].startswith("2026-03-13") for each in found)


def test_until_when_somebody_is_busy_is_no_beginning() -> None:
    assert not planned("Leo is at the skate park until 7pm")


def test_a_change_that_waits_is_for_every_time_where_that_is_said() -> None:
    before = {"id": "drums", "original_start": "2026-03-12T16:30:00-05:00"}
    waiting = done(
        "calendar.update_event",
        status=ResultStatus.AWAITING,
        params={"find_by": "drums", "changes": {"start_time": "17:00"}},
        id="drums",
        title="Leo drum lesson",
        start="2026-03-12T17:00:00-05:00",
        rrule=WEEKLY,
        before=before,
    )
    history = [exchange("move drums to 5", waiting)]

    for said, scope in (
        ("every week", "series"),
        ("for good", "series"),
        ("from then on", "following"),
    ):
        ((name, params),) = planned(said, history=history)
        assert (name, params["scope"], params["changes"]) == (
            "calendar.update_event",
            scope,
            {"start_time": "17:00"},
        )
        assert (params["event_id"], params["on"]) == ("drums", before["original_start"])


LIST = exchange(
    "add milk, white rolls and soap to the shopping list",
    done("notes.append", params={"title": "Shopping list", "body": "milk\nwhite rolls\nsoap"}),
)


@pytest.mark.parametrize(
    ("text", "line", "new"),
    [
        ("make the milk 3 pints", "milk", "3 pints of milk"),
        ("make the soap two", "soap", "two soap"),
        ("swap the soap for shower gel", "soap", "shower gel"),
        ("brown instead of white", "white rolls", "brown rolls"),
        ("make it two bottles of milk", "milk", "two bottles of milk"),
    ],
)
def test_a_line_becomes_another(text: str, line: str, new: str) -> None:
    assert planned(text, history=[LIST]) == [
        ("notes.change_line", {"title": "Shopping list", "line": line, "new": new})
    ]


@pytest.mark.parametrize(
    "text", ["cross everything off", "got it all", "we've bought the lot", "clear the list"]
)
def test_a_list_that_is_done_with_is_emptied(text: str) -> None:
    assert planned(text, history=[LIST]) == [("notes.clear", {"title": "Shopping list"})]


@pytest.mark.parametrize(
    ("text", "on", "start"),
    [
        ("drum lesson has been moved from Thursday to Wednesday", "2026-03-12", "2026-03-11T16:30"),
        ("drum lesson is moved from Thursday to Friday at 5", "2026-03-12", "2026-03-13T17:00"),
        ("quiz night got moved from Saturday to Sunday", "2026-03-14", "2026-03-15T19:00"),
    ],
)
def test_the_old_day_beside_the_new_one_is_neither_a_range_nor_a_beginning(
    text: str, on: str, start: str
) -> None:
    ((name, params),) = [
        each for each in planned(text, fetched=AHEAD) if each[0] != "calendar.list_events"
    ]

    assert (name, params["on"][:10]) == ("calendar.update_event", on)
    assert params["changes"]["start_time"][:16] == start
    assert params.get("scope") != "following"


@pytest.mark.parametrize(
    "text",
    [
        "I should also like you to put the fair on the calendar; it is on Friday at half past six in the evening",
        "put the fair on the calendar. It's on Friday at 6:30pm.",
    ],
)
def test_when_it_is_may_follow_in_a_sentence_of_its_own(text: str) -> None:
    ((name, params),) = planned(text)

    assert (name, params["summary"]) == ("calendar.create_event", "fair")
    assert params["start_time"].startswith("2026-03-13T18:30")


@pytest.mark.parametrize(
    "text", ["bin day is Wednesday", "no man not the 5th", "no mate that's it"]
)
def test_a_noun_or_a_vocative_cancels_nothing(text: str) -> None:
    assert "calendar.delete_event" not in [name for name, _ in planned(text)]


def test_two_events_that_change_places_take_each_others_time() -> None:
    one, two = told("we're swapping drums and quiz night this week")

    assert one[1]["event_id"] == "drums"
    assert one[1]["changes"] == {"start_time": "2026-03-14T19:00:00-05:00"}
    assert two[1]["event_id"] == "quiz"
    assert two[1]["changes"] == {"start_time": "2026-03-12T16:30:00-05:00"}


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("Sarah does drums from now on", {"responsible": ["sarah"]}),
        ("Leo has drums on Fridays instead from next week", {"start_time": "2026-03-20T16:30:00"}),
    ],
)
def test_what_is_so_from_now_on_is_told_of_the_series(text: str, changes: dict[str, Any]) -> None:
    ((name, params),) = told(text)

    assert (name, params["event_id"]) == ("calendar.update_event", "drums")
    assert params["scope"] == "following"
    assert params["changes"] == changes


@pytest.mark.parametrize(
    "text", ["Leo isn't doing drums any more", "Leo has given up drums", "Leo gave up drums"]
)
def test_what_somebody_does_no_more_ends(text: str) -> None:
    ((name, params),) = told(text)

    assert (name, params["event_id"]) == ("calendar.delete_event", "drums")
    assert (params["scope"], params["on"]) == ("following", "2026-03-11")


def test_not_any_more_of_one_day_is_of_that_day() -> None:
    ((name, params),) = told("Leo can't make drums tomorrow any more")

    assert name == "calendar.delete_event"
    assert "scope" not in params


def test_what_recurs_is_off_until_it_is_on_again_and_what_does_not_is_put_off() -> None:
    ((off, series),) = told("drums isn't on again till the 26th")
    ((moved, single),) = told("quiz night is not happening till the 21st")

    assert (off, series["until"]) == ("calendar.delete_event", "2026-03-25")
    assert (moved, single["changes"]["start_time"][:16]) == (
        "calendar.update_event",
        "2026-03-21T19:00",
    )


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("drums finishes half an hour early tomorrow", "2026-03-12T17:00:00-05:00"),
        ("drums ends 15 minutes late tomorrow", "2026-03-12T17:45:00-05:00"),
    ],
)
def test_an_end_is_put_by_a_length(text: str, end: str) -> None:
    ((_, params),) = told(text)

    assert params["changes"] == {"end_time": end}


@pytest.mark.parametrize(
    "text",
    [
        "John can't take Leo to drums tomorrow, Sarah will",
        "John can't take Leo tomorrow, Sarah's taking him",
    ],
)
def test_who_steps_in_is_in_charge(text: str) -> None:
    ((_, params),) = told(text)

    assert params["changes"] == {"responsible": ["sarah"]}


def test_a_remark_behind_a_comma_is_no_news_of_its_own() -> None:
    ((name, params),) = told("Leo's out of drums tomorrow, sprained wrist")

    assert (name, params["event_id"]) == ("calendar.delete_event", "drums")


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("from April drums is on Fridays at 5 instead of Thursdays", "2026-04-03T17:00"),
        ("drums moves to Fridays at 5:45pm from April on", "2026-04-03T17:45"),
        ("Leo has drums on Saturdays at 10 instead from next week", "2026-03-21T10:00"),
    ],
)
def test_a_series_on_another_weekday_takes_the_hour_told_with_it(text: str, start: str) -> None:
    ((_, params),) = told(text)

    assert (params["event_id"], params["scope"]) == ("drums", "following")
    assert params["changes"]["start_time"].startswith(start)


@pytest.mark.parametrize(
    ("text", "on", "start"),
    [
        ("move drums to 5.30 from now on", "2026-03-11", "17:30"),
        ("push drums back to 5.30 for good starting this week", "2026-03-09", "17:30"),
        ("can you change drums to 5.30 as of next week", "2026-03-16", "17:30"),
        ("move drums to Fridays at 5 from April", "2026-03-30", "2026-04-03T17:00"),
    ],
)
def test_what_is_to_be_moved_from_a_day_on_is_the_series(text: str, on: str, start: str) -> None:
    ((name, params),) = told(text)

    assert (name, params["event_id"]) == ("calendar.update_event", "drums")
    assert (params["scope"], params["on"]) == ("following", on)
    assert params["changes"]["start_time"].startswith(start)


@pytest.mark.parametrize("text", ["move drums to 5.30", "push drums to Friday at 5"])
def test_what_is_to_be_moved_without_a_day_from_which_on_is_one_time(text: str) -> None:
    ((name, params),) = told(text)

    assert name == "calendar.update_event"
    assert "scope" not in params


FROM_WHEN_ON = {
    "from april on": "2026-04-01",
    "from april onwards": "2026-04-01",
    "from april": "2026-04-01",
    "from 1 april": "2026-04-01",
    "from next week": "2026-03-16",
    "from next week on": "2026-03-16",
    "starting next week": "2026-03-16",
    "from the 20th": "2026-03-20",
}
AT_ANOTHER_HOUR = (
    "drums is at 5 {since}",
    "{since} drums is at 5",
    "Leo's drums are at 5 {since}",
    "drums starts at 5 {since}",
    "the drum lesson is at 5pm {since}",
    "drums moves to 5 {since}",
)


def test_another_hour_from_some_day_on_moves_the_series_from_that_day() -> None:
    wrong = []
    for form, (since, first) in product(AT_ANOTHER_HOUR, FROM_WHEN_ON.items()):
        text = form.format(since=since)
        if text.startswith("from the 20th"):
            continue  # not read as a day at the beginning
        found = [(name, params) for name, params in told(text) if name != "calendar.list_events"]
        wanted = {
            "event_id": "drums",
            "on": first,
            "scope": "following",
            "changes": {"start_time": "17:00"},
        }
        if found != [("calendar.update_event", wanted)]:
            wrong.append((text, found))
    assert not wrong


def test_something_new_from_some_day_on_asks_how_often_it_is() -> None:
    wrong = []
    for form, since in product(
        ("piano is at 5 {since}", "{since} Leo has piano at 5", "put piano at 5 {since}"),
        ("from april on", "from next week", "from 1 april"),
    ):
        text = form.format(since=since)
        found = plan(text, fetched=AHEAD)
        if found.actions or "On which days is" not in (found.clarification or ""):
            wrong.append((text, found))
    assert not wrong


LATER = (
    "drums {verb} half an hour later {when}",
    "drums on thursday {verb} half an hour later {when}",
    "thursday's drums {verb} half an hour later {when}",
    "the drum lesson {verb} half an hour later {when}",
)


def test_so_much_later_this_week_moves_that_one_time() -> None:
    wrong = []
    for form, verb, (when, day) in product(
        LATER,
        ("is", "starts"),
        {"this week": "12", "this thursday": "12", "on thursday": "12", "next week": "19"}.items(),
    ):
        text = form.format(verb=verb, when=when)
        if "thursday" in form and when != "this week":
            continue
        found = told(text)
        if [(name, params["changes"]) for name, params in found] != [
            ("calendar.update_event", {"shift_minutes": 30})
        ] or not found[0][1]["on"].startswith(f"2026-03-{day}"):
            wrong.append((text, found))
    assert not wrong


UNABLE = (
    "I can't do drums on thursday",
    "I can't take Leo to drums tomorrow",
    "Leo can't do drums tomorrow",
    "Leo can't make drums on thursday",
    "John can't do drums next week",
    "Leo won't be at drums tomorrow",
)
KEPT_BY = (
    "I've got the dentist at 3",
    "i've a doctors appointment at 2.30",
    "he's got a party at 4",
    "we're at gran's from 3",
    "she has a meeting until 6",
    "I'm working till 7",
)


def test_what_keeps_somebody_away_at_its_own_time_is_no_part_of_the_news() -> None:
    wrong = []
    for news, reason in product(UNABLE, KEPT_BY):
        wanted = [each for each in told(news) if each[0].startswith("calendar.")]
        for text in {news, news.removeprefix("I ")}:
            found = [each for each in told(f"{text}, {reason}") if each[0].startswith("calendar.")]
            if not wanted or found != wanted:
                wrong.append((f"{text}, {reason}", found, wanted))
    assert not wrong
