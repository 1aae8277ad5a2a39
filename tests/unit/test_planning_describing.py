"""What takes place, by the words around its times: title, people, place, days."""

from itertools import product

import pytest

from planning import plan, planned


def event(text: str) -> dict[str, object]:
    ((name, params),) = planned(text)
    assert name == "calendar.create_event"
    return dict(params)


@pytest.mark.parametrize(
    ("text", "title", "who"),
    [
        ("put Mia down for a riding trial on Saturday at 10", "riding trial", ["mia"]),
        ("sign leo up for chess camp on friday at 9am", "chess camp", ["leo"]),
        ("hearing test for mia tomorrow 2pm", "hearing test", ["mia"]),
        ("leo has a sleepover on friday at 6pm", "sleepover", ["leo"]),
        ("Mia: optician 20 March 15:40", "optician", ["mia"]),
        ("mia needs to be at dress rehearsal at 5 on friday", "dress rehearsal", ["mia"]),
        ("family dinner on sunday at 6pm", "family dinner", ["john", "sarah", "leo", "mia"]),
    ],
)
def test_who_takes_part_is_no_part_of_the_title(text: str, title: str, who: list[str]) -> None:
    found = event(text)

    assert str(found["summary"]).lower() == title
    assert sorted(map(str, found["who"])) == sorted(who)  # type: ignore[call-overload]


def test_what_is_said_beside_it_goes_where_it_belongs() -> None:
    found = event("school concert friday 6pm in the gym, sarah is driving mia, leo wants to come")

    assert (found["summary"], found["location"]) == ("school concert", "the gym")
    assert found["responsible"] == ["sarah"]
    assert sorted(map(str, found["who"])) == ["leo", "mia"]  # type: ignore[call-overload]


def test_a_thing_is_booked_in_under_what_is_done_to_it() -> None:
    assert event("book the cat in for her jabs on monday at 8.30")["summary"] == "cat jabs"


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("birthday party saturday, 2 til 4 at the rink", "2026-03-14T14:00", "2026-03-14T16:00"),
        ("parents meeting thurs 19th 6.30-8", "2026-03-19T18:30", "2026-03-19T20:00"),
        (
            "call with the bank tomorrow 11:15 for 20 minutes",
            "2026-03-12T11:15",
            "2026-03-12T11:35",
        ),
        ("dentist monday at 8.30 until 9", "2026-03-16T08:30", "2026-03-16T09:00"),
    ],
)
def test_both_ends_of_a_time_are_kept(text: str, start: str, end: str) -> None:
    found = event(text)

    assert str(found["start_time"]).startswith(start)
    assert str(found["end_time"]).startswith(end)


@pytest.mark.parametrize(
    ("text", "first", "rule"),
    [
        (
            "yoga mondays at 7pm until 27 april",
            "2026-03-16T19:00",
            "FREQ=WEEKLY;BYDAY=MO;UNTIL=20260427",
        ),
        (
            "every other thursday leo has guitar at 4pm from the 19th",
            "2026-03-19T16:00",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=TH",
        ),
        (
            "book club meeting on the last friday of every month at 8pm",
            "2026-03-27T20:00",
            "FREQ=MONTHLY;BYDAY=-1FR",
        ),
        (
            "swimming lesson saturdays 9:30 to 10:15 for 8 weeks",
            "2026-03-14T09:30",
            "FREQ=WEEKLY;BYDAY=SA;UNTIL=20260508",
        ),
    ],
)
def test_what_recurs_begins_and_ends_as_it_was_said(text: str, first: str, rule: str) -> None:
    found = event(text)

    assert str(found["start_time"]).startswith(first)
    assert found["rrule"] == rule


def test_a_series_keeps_its_end_and_begins_on_the_day_that_was_named() -> None:
    found = event(
        "drum lessons for leo start on saturday 4 april 9.30 to 10.15 every week until june"
    )

    assert (str(found["start_time"])[:16], str(found["end_time"])[:16], found["rrule"]) == (
        "2026-04-04T09:30",
        "2026-04-04T10:15",
        "FREQ=WEEKLY;UNTIL=20260531",
    )


def test_what_lasts_until_a_day_begins_today() -> None:
    (found,) = plan("we're away until friday").actions

    assert (found.params["start_time"], found.params["end_time"]) == ("2026-03-11", "2026-03-13")


def test_several_days_are_several_events() -> None:
    found = planned("hockey match for leo on the 20th and the 27th of march at 4pm")

    assert [str(params["start_time"])[:16] for _, params in found] == [
        "2026-03-20T16:00",
        "2026-03-27T16:00",
    ]


@pytest.mark.parametrize(
    ("text", "title", "start", "end"),
    [
        (
            "john is away for work monday to wednesday",
            "John away for work",
            "2026-03-16",
            "2026-03-18",
        ),
        (
            "we're at my cousin's from the 20th to the 22nd",
            "At my cousin's",
            "2026-03-20",
            "2026-03-22",
        ),
        ("ski trip 3-10 april", "ski trip", "2026-04-03", "2026-04-10"),
    ],
)
def test_days_that_are_only_told_of_are_offered(
    text: str, title: str, start: str, end: str
) -> None:
    (found,) = plan(text).actions

    assert (found.params["summary"], found.params["start_time"]) == (title, start)
    assert found.params["end_time"] == end
    assert found.is_offer or title == "ski trip"


@pytest.mark.parametrize(
    "text",
    [
        "the weather on friday",
        "i was thinking of you tomorrow",
        "what a day today",
        "thanks for all your help this week",
        "give me the news for tomorrow",
    ],
)
def test_talk_with_a_day_in_it_is_not_offered(text: str) -> None:
    assert plan(text).actions == ()


@pytest.mark.parametrize("text", ["choir is off on friday", "no choir this friday"])
def test_what_does_not_take_place_is_cancelled(text: str) -> None:
    ((name, params),) = planned(text)

    assert (name, params["find_by"], params["on"]) == (
        "calendar.delete_event",
        "choir",
        "2026-03-13",
    )


def test_who_is_off_cancels_nothing() -> None:
    assert all(each.action != "delete_event" for each in plan("john is off on friday").actions)


def test_a_time_that_was_not_read_whole_is_asked_for() -> None:
    found = plan("put swimming gala on saturday, 2:75 in the calendar")

    assert found.actions == ()
    assert found.partial is not None
    assert found.partial["missing"] == "start_time"


@pytest.mark.parametrize(
    ("text", "title", "deadline"),
    [
        ("i need to ring the vet before friday", "ring the vet", "2026-03-13"),
        ("we have to return the library books by monday", "return the library books", "2026-03-16"),
        ("water the tomatoes tomorrow evening", "water the tomatoes", "2026-03-12T18:00"),
    ],
)
def test_what_has_to_be_done_is_offered_as_a_task(text: str, title: str, deadline: str) -> None:
    (found,) = plan(text).actions

    assert (found.action, found.params["title"], found.is_offer) == ("create", title, True)
    assert str(found.params["deadline"]).startswith(deadline)


def test_a_reminder_at_two_times_is_two_reminders() -> None:
    found = planned("remind me tomorrow evening and on friday morning about the permission slip")

    assert [str(params["deadline"])[:13] for _, params in found] == [
        "2026-03-12T18",
        "2026-03-13T08",
    ]


def test_how_often_a_day_is_asked_for_and_not_left_out() -> None:
    found = plan("remind me to take my pills twice a day")

    assert (found.actions, found.partial and found.partial["missing"]) == ((), "deadline")


@pytest.mark.parametrize(
    "text",
    [
        "robotics camp for leo 13th to 17th april, 9 to 3",
        "robotics camp for leo 13 to 17 april from 9 till 3",
        "robotics camp for leo from 13 to 17 april, 9 till 3",
    ],
)
def test_several_days_at_the_same_hours_recur_daily(text: str) -> None:
    found = event(text)

    assert (found["start_time"], found["end_time"], found["rrule"]) == (
        "2026-04-13T09:00:00-05:00",
        "2026-04-13T15:00:00-05:00",
        "FREQ=DAILY;UNTIL=20260417",
    )


def test_days_with_an_hour_at_each_end_are_one_event() -> None:
    found = event("put camping friday 6pm to sunday 3pm in the calendar")

    assert str(found["end_time"]).startswith("2026-03-15T15:00")
    assert "rrule" not in found


@pytest.mark.parametrize(
    "text",
    [
        "haircut for leo thursday at 3 and for mia at 3:30",
        "mia has a recital at 4 and leo has a match at 5 on friday",
    ],
)
def test_two_hours_are_not_made_one_event(text: str) -> None:
    found = plan(text)

    assert not found.actions
    assert found.clarification is not None


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("mia has violin mondays at 4 and thursdays at 5", ["16T16:00", "12T17:00"]),
        ("add eye drops at 8am and 8pm every day", ["12T08:00", "11T20:00"]),
    ],
)
def test_what_recurs_at_two_times_is_two_events(text: str, days: list[str]) -> None:
    found = [params for _, params in planned(text)]

    assert [str(each["start_time"])[8:16] for each in found] == days
    assert all("rrule" in each for each in found)


@pytest.mark.parametrize(
    ("text", "title", "start"),
    [
        ("match on saturday at 10, meet at 9:15", "match, meet at 9:15", "10:00"),
        ("concert on friday at 7, doors 6:30", "concert, doors 6:30", "19:00"),
    ],
)
def test_the_hour_of_a_part_stays_in_the_title(text: str, title: str, start: str) -> None:
    found = event(text)

    assert found["summary"] == title
    assert str(found["start_time"])[11:16] == start


@pytest.mark.parametrize(
    ("text", "title", "end"),
    [
        ("class trip on the 19th at 9am, back by 6", "class trip", "2026-03-19T18:00"),
        ("leo's party saturday at 3, finishes at 5", "leo's party", "2026-03-14T17:00"),
    ],
)
def test_when_somebody_is_back_is_the_end(text: str, title: str, end: str) -> None:
    found = event(text)

    assert found["summary"] == title
    assert str(found["end_time"]).startswith(end)


def test_an_end_without_a_beginning_stays_beside_the_title() -> None:
    (found,) = plan("half day for leo on friday, home by 12").actions

    assert found.params["start_time"] == "2026-03-13"
    assert "home by 12" in found.params["summary"]


PARENTS = {"mom": "sarah", "mommy": "sarah", "dad": "john", "daddy": "john"}
OF_PARENTS = (
    "lunch with {owner} {word} on friday at 1pm",
    "put lunch with {owner} {word} in the calendar on friday at 1pm",
    "dentist for {owner} {word} on friday at 1pm",
)
OWNERS = {"my": False, "Lily's": False, "the teacher's": False, "Leo's": True, "": True}


def test_a_parent_of_somebody_else_is_nobody_of_the_household() -> None:
    wrong = []
    for form, (word, parent), (owner, is_ours) in product(
        OF_PARENTS, PARENTS.items(), OWNERS.items()
    ):
        text = " ".join(form.format(owner=owner, word=word).split())
        who = {each for action in plan(text).actions for each in action.params.get("who") or ()}
        if (parent in who) is not is_ours:
            wrong.append((text, who))
    assert not wrong


def test_ones_own_parent_is_called_ones_own_for_the_others() -> None:
    for word in PARENTS:
        (action,) = plan(f"my {word}'s birthday is on the 19th of may").actions
        assert action.params["summary"] == f"John's {word}'s birthday"
        assert "sarah" not in action.params["who"]
