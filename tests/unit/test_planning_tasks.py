"""Reminders as hurried, dictating and foreign people ask for them."""

from itertools import product

import pytest

from planning import done, exchange, plan, planned


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Please to remind me tomorrow to feed the tortoise", "feed the tortoise"),
        ("Remind to me on each Friday at 7 the bins", "bins"),
        ("give me a nudge at 5 so I can fetch the twins", "fetch the twins"),
        ("give us a shout at noon about the rehearsal tickets", "rehearsal tickets"),
        ("jog my memory on Friday about the boat licence", "boat licence"),
        ("need to remember: gym shoes on Thursday", "gym shoes"),
        ("reminder to self: descale the kettle", "descale the kettle"),
        ("bung a reminder in for tomorrow at 6, ring the piano tuner", "ring the piano tuner"),
        ("put 'grease the chain' on my jobs list", "grease the chain"),
        ("rmd me 2 ring Auntie tmrw", "ring Auntie"),
        ("remind me too water the ferns tonite", "water the ferns"),
        ("see to it that we don't run out of oats", "not to run out of oats"),
        ("make sure we don't forget the inhaler", "inhaler"),
    ],
)
def test_one_task(text: str, title: str) -> None:
    ((name, params),) = planned(text)

    assert name == "task.create"
    assert params["title"].removeprefix("the ") == title


@pytest.mark.parametrize(
    ("text", "who"),
    [("ask Sarah to order the cake", "sarah"), ("tell Leo to feed the cat tonight", "leo")],
)
def test_a_task_for_somebody_else(text: str, who: str) -> None:
    (((name, params)),) = planned(text)

    assert (name, params["who"]) == ("task.create", who)


def test_what_somebody_is_said_to_have_to_do_is_offered() -> None:
    (action,) = plan("Sarah needs to return the library books by Friday").actions

    assert (action.domain, action.is_offer, action.params["who"]) == ("task", True, "sarah")


@pytest.mark.parametrize(
    "text", ["tell Leo I love him", "ask Sarah whether she is free", "tell me a joke"]
)
def test_what_is_only_to_be_said_is_no_task(text: str) -> None:
    assert not [each for each in planned(text) if each[0] == "task.create"]


def test_an_hour_before_what_stands_in_the_calendar() -> None:
    fetched = {
        "events": [{"event_id": "r", "title": "Mia recital", "start": "2026-03-20T17:00:00-05:00"}]
    }

    assert planned("remind me an hour before the recital", fetched=fetched) == [
        ("task.create", {"title": "Mia recital", "deadline": "2026-03-20T16:00:00-05:00"})
    ]


def test_before_what_nobody_knows_of_is_asked_about() -> None:
    found = plan("remind me two hours before the regatta")

    assert found.partial is not None
    assert found.partial["missing"] == "deadline"


def test_room_that_was_found_is_taken() -> None:
    room = {"start": "2026-03-13T14:00:00-05:00", "end": "2026-03-13T17:00:00-05:00"}
    found = exchange(
        "when am I free on Friday", done("calendar.find_free", params={"duration": 30}, free=[room])
    )

    ((name, params),) = planned("pencil in an eye test then", history=[found])
    assert (name, params["summary"], params["start_time"]) == (
        "calendar.create_event",
        "eye test",
        "2026-03-13T14:00:00-05:00",
    )
    asked = plan("put it in", history=[found])
    assert asked.partial is not None
    assert asked.partial["missing"] == "summary"


@pytest.mark.parametrize(
    "text",
    [
        "remind me to take the tablets every morning at eight and every evening at eight",
        "remind me to take the tablets every day at 8am and 8pm",
    ],
)
def test_each_of_two_hours_a_day_recurs_and_leaves_no_joint_in_the_title(text: str) -> None:
    asked = [params for _, params in planned(text)]

    assert [each["title"] for each in asked] == ["take the tablets"] * 2
    assert [each["deadline"][11:16] for each in asked] == ["08:00", "20:00"]
    assert {each["rrule"] for each in asked} == {"FREQ=DAILY"}


@pytest.mark.parametrize("words", ["both", "all of them", "each of those", "these"])
def test_words_that_only_point_are_nothing_to_be_reminded_of(words: str) -> None:
    assert planned(f"remind me of {words}") == []


def test_now_is_no_day_on_which_tasks_are_due() -> None:
    assert planned("which reminders have I got set at present?") == [("task.list", {})]


OFTEN = {
    "every other week": 2,
    "every two weeks": 2,
    "fortnightly": 2,
    "every 3 weeks": 3,
    "every second week": 2,
}
BEGINNINGS = {"starting next week": "16", "from next week": "16", "": ""}
SERIES = (
    "put choir practice in the calendar {often} on mondays at 4 {since}",
    "{often} put choir practice on mondays at 4 {since}",
    "put choir practice on mondays at 4 {often} {since}",
)


def test_how_often_and_on_which_days_are_one_rule() -> None:
    wrong = []
    for form, (often, weeks), (since, day) in product(SERIES, OFTEN.items(), BEGINNINGS.items()):
        text = form.format(often=often, since=since)
        [(_, params)] = planned(text)
        rule = f"FREQ=WEEKLY;INTERVAL={weeks};BYDAY=MO"
        if (params["rrule"], params["start_time"][:13]) != (rule, f"2026-03-{day or 16}T16"):
            wrong.append((text, params))
    assert not wrong


SERIES_MADE = {
    "FREQ=WEEKLY;BYDAY=TU": "FREQ=WEEKLY;BYDAY=MO",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU": "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO",
    "FREQ=WEEKLY;BYDAY=TU,MO": "FREQ=WEEKLY;BYDAY=MO,SU",
    "FREQ=DAILY": "FREQ=DAILY",
    "FREQ=WEEKLY;BYDAY=TU;UNTIL=20260630": "FREQ=WEEKLY;BYDAY=MO;UNTIL=20260630",
    "FREQ=MONTHLY;BYDAY=2TU": None,
    "FREQ=YEARLY": None,
}
EARLY = {
    "remind me the night before at 8": (1, "T20:00"),
    "remind me the evening before": (1, "T18:00"),
    "remind me the day before at noon": (1, "T12:00"),
    "remind me an hour before": (0, "T06:00"),
    "remind me about it the night before at 9": (1, "T21:00"),
}


def test_a_reminder_of_a_series_that_was_made_comes_with_each_of_its_times() -> None:
    wrong = []
    for (rule, day_before), (text, (days, clock)) in product(SERIES_MADE.items(), EARLY.items()):
        made = done(
            "calendar.create_event",
            id="e",
            event_id="e",
            title="bins",
            rrule=rule,
            start="2026-03-17T07:00:00-05:00",
            end="2026-03-17T08:00:00-05:00",
        )
        found = plan(text, history=[exchange("bins every tuesday at 7am", made)])
        wanted = day_before if days else rule
        if wanted is None:
            if found.actions or found.clarification is None:
                wrong.append((text, rule, found))
            continue
        (made_of,) = found.actions
        said = made_of.params["rrule"], made_of.params["deadline"][:16]
        if said != (wanted, f"2026-03-{17 - days}{clock}"):
            wrong.append((text, rule, said))
    assert not wrong


def test_a_reminder_of_what_takes_place_once_comes_once() -> None:
    for text in EARLY:
        made = done(
            "calendar.create_event",
            id="e",
            event_id="e",
            title="bins",
            start="2026-03-17T07:00:00-05:00",
            end="2026-03-17T08:00:00-05:00",
        )
        ((_, params),) = planned(text, history=[exchange("bins on tuesday at 7am", made)])
        assert params.get("rrule") is None, text


@pytest.mark.parametrize(
    "text",
    [
        "remind me the night before yoga at 8",
        "remind me the evening before yoga",
        "remind me the night before yoga to pack",
        "remind me the day before yoga at noon",
        "remind me the morning before yoga",
    ],
)
def test_before_what_is_not_known_is_asked_and_never_tonight(text: str) -> None:
    found = plan(text)

    assert not found.actions
    assert found.clarification


WHOM = {
    "everyone": ["john", "sarah", "leo", "mia"], "everybody": ["john", "sarah", "leo", "mia"],
    "all of us": ["john", "sarah", "leo", "mia"], "us all": ["john", "sarah", "leo", "mia"],
    "the whole family": ["john", "sarah", "leo", "mia"], "both of us": ["john", "sarah"],
    "us both": ["john", "sarah"], "us two": ["john", "sarah"], "the two of us": ["john", "sarah"],
    "me and Sarah both": ["john", "sarah"], "Sarah and me both": ["john", "sarah"], "both kids": ["leo", "mia"],
    "both": ["leo", "mia"], "Leo and Mia both": ["leo", "mia"], "me and Leo both": ["john", "leo"],
    "me and Sarah": ["john", "sarah"], "Leo and Mia": ["leo", "mia"], "Leo, Mia and me": ["john", "leo", "mia"],
    "Leo": "leo", "me": None, "us": None,
}  # fmt: skip
DEEDS = (
    "remind {whom} to be quiet on sunday morning",
    "remind {whom} on sunday to tidy up",
    "remind {whom} to tidy up",
    "remind {whom} at 5 to feed the cat",
    "remind {whom} about the barbecue on friday at 3",
    "remind {whom} every monday at 7 to put the bins out",
)


def test_whoever_is_to_be_reminded_is_reminded() -> None:
    wrong = []
    for (whom, who), deed in product(WHOM.items(), DEEDS):
        text = deed.format(whom=whom)
        found = [(name, params.get("who")) for name, params in planned(text)]
        if found != [("task.create", who)]:
            wrong.append((text, found))
    assert not wrong


@pytest.mark.parametrize(
    "text",
    [
        "remind me to tell everyone to be quiet",
        "remind me to bring cake for everyone on friday",
        "remind me to thank all of us",
        "remind me that everybody comes on friday",
    ],
)
def test_who_is_only_named_in_what_is_to_be_done_is_not_reminded(text: str) -> None:
    ((_, params),) = planned(text)

    assert params.get("who") is None


@pytest.mark.parametrize("deed", ["pay Ann", "water the ferns", "ring Sarah about the key"])
def test_a_reminder_at_a_time_that_never_comes_is_asked_about(deed: str) -> None:
    wrong = []
    for when in (
        "on 31 april",
        "on the 30th of feb",
        "at 25:00",
        "at half 26",
        "on the 31st of june",
        "when Ann writes",
        "when I am back",
        "when the bus is here",
        "as soon as it rings",
        "as soon as the post is here",
        "once Ann is in",
    ):
        found = plan(f"remind me {when} to {deed}")
        known = (found.partial or {}).get("params", {})
        if found.actions or not found.clarification or known != {"title": deed}:
            wrong.append((when, found.actions, found.partial))
    assert not wrong


@pytest.mark.parametrize(
    "text",
    [
        "remind me to pay Ann",
        "remind me please call Ann to say hi",
        "remind me the bins need to go out",
        "remind me Sarah needs to sign the form",
        "remind me about the letter to Ann",
        "remind me to ask Ann to call back",
    ],
)
def test_a_reminder_of_a_deed_or_fact_without_a_time_is_put_on_the_list(text: str) -> None:
    assert [name for name, _ in planned(text)] == ["task.create"]


TOLD = (
    ("the recycling goes out on friday", "the recycling goes out"),
    ("the window cleaner's van is here on friday", "the window cleaner's van is here"),
    ("blue bins go out friday", "blue bins go out"),
)
JOINED = (", ", ". ", " and ", "; ", ", and ")
EVES = {
    "night before": "2026-03-12T18:00:00-05:00",
    "the night before": "2026-03-12T18:00:00-05:00",
    "evening before": "2026-03-12T18:00:00-05:00",
    "day before": "2026-03-12",
    "the day before": "2026-03-12",
    "night before at 8": "2026-03-12T20:00:00-05:00",
}


def test_the_eve_of_what_is_told_is_when_to_remind_of_it() -> None:
    for (told, title), joint, (eve, deadline) in product(TOLD, JOINED, EVES.items()):
        text = f"{told}{joint}remind me {eve}"
        assert ("task.create", {"title": title, "deadline": deadline}) in planned(text), text


@pytest.mark.parametrize("lead", ["", "the bins go out, ", "add swim kit to the packing list, "])
def test_the_eve_of_nothing_known_is_asked_about_and_no_task(lead: str) -> None:
    for eve in EVES:
        made = plan(f"{lead}remind me {eve}")
        assert not [each for each in made.actions if each.domain == "task"]
        assert made.clarification is not None or made.actions, eve


HOURS = [
    ("at 8, 2 and 8", [8, 14, 20]), ("at 7, 1 and 7", [7, 13, 19]), ("at 9 and 9", [9, 21]),
    ("at 8 and at 4", [8, 16]), ("at 8 and 20", [8, 20]), ("at 10, 2, 6 and 10", [10, 14, 18, 22]),
    ("at 6 & 6", [6, 18]), ("at 8am, 1 and 6pm", [8, 13, 18]), ("at 4 and 6", [16, 18]),
    ("morning and night", [8, 20]), ("at breakfast and at bedtime", [7, 20]),
]  # fmt: skip
AGAIN = [
    ("", None),
    (" every day", "FREQ=DAILY"),
    (" every day until friday", "FREQ=DAILY;UNTIL=20260313"),
    (" until friday", "FREQ=DAILY;UNTIL=20260313"),
]
ABOUT_SEVERAL = [
    ("remind me to feed the tortoise {}", "feed the tortoise"),
    ("remind me {} to feed the tortoise", "feed the tortoise"),
    ("remind Leo to give the cat its drops {}", "give the cat its drops"),
    ("set reminders for the ointment {}", "the ointment"),
    ("the ferret gets its syrup {}, remind me", "the ferret gets its syrup"),
    ("the ferret's syrup, one spoon {}, remind me", "the ferret's syrup, one spoon"),
]


def test_each_hour_that_is_named_is_a_reminder() -> None:
    wrong = []
    for (form, title), (hours, expected), (series, rule) in product(ABOUT_SEVERAL, HOURS, AGAIN):
        text = form.format(hours + series)
        found = [params for _, params in planned(text)]
        named = {each["title"] for each in found}
        at = [int(each["deadline"][11:13]) for each in found]
        if (at, named, {each.get("rrule") for each in found}) != (expected, {title}, {rule}):
            wrong.append((text, found))
    assert not wrong


def test_how_many_at_a_time_stays_with_each_hour() -> None:
    doses = product(["one", "2", "3"], ["one", "2"])
    parts = [("at breakfast", "at bedtime", [7, 20]), ("in the morning", "at night", [8, 20])]
    for (first, last), (begin, end, hours) in product(doses, parts):
        told = f"give Leo {first} {begin} and {last} {end}"
        found = [params for _, params in planned(f"remind me to {told}")]
        assert [(each["title"], int(each["deadline"][11:13])) for each in found] == [
            (told, hour) for hour in hours
        ]


def test_how_often_a_day_goes_with_the_hours_or_is_asked_about() -> None:
    wrong = []
    often = ["3x a day", "3 times a day", "three times daily", "thrice a day"]
    ends = [("", "FREQ=DAILY"), (" for 7 days", "FREQ=DAILY;UNTIL=20260317")]
    for said, (end, rule) in product(often, ends):
        told = planned(f"Mia needs her syrup {said}{end}, remind me 8, 2 and 8")
        asked = plan(f"remind me to do the compress {said}{end}")
        before = exchange("remind me", partial=asked.partial)
        answered = planned("8, 2 and 8", history=[before])
        for steps in (told, answered):
            at = [(int(each["deadline"][11:13]), each["rrule"]) for _, each in steps]
            if asked.actions or at != [(8, rule), (14, rule), (20, rule)]:
                wrong.append((said, end, asked, steps))
    assert not wrong


def test_what_comes_again_within_a_day_is_asked_about() -> None:
    often = ["every 2 hours", "every six hours", "every hour", "every 30 minutes"]
    for form, said in product(["remind me {} to turn the cast", "remind me to turn it {}"], often):
        asked = plan(form.format(said))
        assert (asked.actions, "set times" in (asked.clarification or "")) == ((), True), said


def test_numbers_that_are_no_hours_stay_in_the_title() -> None:
    expected = {
        "remind me at 4 to get milk and 6 eggs": ("get milk and 6 eggs", "16"),
        "remind me at 4 to pick up Leo and Mia": ("pick up Leo and Mia", "16"),
        "remind me every evening at 8 to lock the shed": ("lock the shed", "20"),
        "remind me at 10 to send 2 or 3 parcels": ("send 2 or 3 parcels", "10"),
    }
    found = {text: planned(text) for text in expected}
    assert {
        text: (each["title"], each["deadline"][11:13]) for text, ((_, each),) in found.items()
    } == expected
    assert not planned("remind me at 5 and 6 eggs"), "nobody can tell whether 6 is an hour"


def test_a_week_that_is_left_out_of_single_days_is_asked_about() -> None:
    days = ["thursday", "on thursday at 5pm", "thurs and fri 5pm"]
    forms = ["remind me {}{} to oil the gate", "remind me to oil the gate {}{}"]
    for form, day, left_out in product(forms, days, [", not this week", ", except this week"]):
        asked = plan(form.format(day, f"{left_out}," if form.endswith("gate") else left_out))
        assert not asked.actions, (day, left_out)
        assert asked.partial is not None
        assert asked.partial["params"] == {"title": "oil the gate"}, (form, day, left_out)
    kept = {
        "remind me on monday to oil the gate, not this week": ["2026-03-16"],
        "remind me next week to oil the gate, not this week": ["2026-03-16"],
        "remind me thurs and fri at 5pm to oil the gate": ["2026-03-12", "2026-03-13"],
    }
    for text, on in kept.items():
        assert [each["deadline"][:10] for _, each in planned(text)] == on, text


def test_what_is_moved_on_its_day_has_its_new_hour_or_day() -> None:
    forms = [
        "move hockey on {} to {}",
        "push the recital on {} to {}",
        "please change hockey on {} to {}",
    ]
    old = {"the 18th": "2026-03-18", "friday": "2026-03-13", "the 20th": "2026-03-20"}
    for form, (said, day), (new, hour) in product(
        forms, old.items(), [("6", 18), ("5.30", 17), ("7pm", 19), ("10", 10)]
    ):
        ((_, params),) = planned(form.format(said, new))
        at = f"{params['changes']['start_time']}"
        assert (params["on"], at[-14:-12] if "T" in at else at[:2]) == (day, f"{hour}"), (said, new)
    for new, day in {"the 25th": "2026-03-25", "thursday": "2026-03-19"}.items():
        ((_, params),) = planned(f"move hockey on the 18th to {new}")
        assert (params["on"], params["changes"]["start_time"]) == ("2026-03-18", day)


def test_what_starts_in_a_week_goes_on_after_it() -> None:
    for verb, days in product(["starts", "begins"], ["mondays 9:30", "every tuesday at 5"]):
        found = planned(f"put karate in the calendar, it {verb} next week, {days}")
        found += planned(f"Leo's karate {verb} the week after next, {days}")
        rules = [each["rrule"] for _, each in found if each.get("rrule")]
        assert rules, (verb, days)
        assert not [each for each in rules if "UNTIL" in each], (verb, days)
    ((_, params),) = planned("remind me every day next week at 5 to oil the gate")
    assert "UNTIL" in params["rrule"]


def test_what_is_told_before_remind_me_is_what_to_be_reminded_of() -> None:
    events = [
        {
            "event_id": name,
            "series_id": name,
            "title": f"Mia {name}",
            "who": ["mia"],
            "start": f"2026-03-{day}T16:00:00-05:00",
            "original_start": f"2026-03-{day}T16:00:00-05:00",
            "rrule": "FREQ=WEEKLY",
            "recurring": True,
        }
        for name, day in (("ballet", 12), ("fencing", 14))
    ]
    for often, told in product(
        ["every day", "3x a day for a week"], ["needs her gel", "has her eye drops"]
    ):
        text = f"Mia {told} {often}, remind me at 8, 2 and 8"
        found = planned(text, fetched={"events": events})
        assert [(name, each["title"]) for name, each in found] == [
            ("task.create", f"Mia {told}")
        ] * 3


def test_each_of_the_days_that_are_listed_has_each_of_the_hours() -> None:
    days = {
        "thurs and fri": [12, 13],
        "thurs, fri and sat": [12, 13, 14],
        "the 20th and the 22nd": [20, 22],
    }
    hours = {" at 8 and 6": [8, 18], " at 8, 2 and 8": [8, 14, 20], " at 5": [17], "": [None]}
    forms = ["remind me on {} to oil the gate", "remind me to oil the gate on {}"]
    for form, (said, on), (clock, at) in product(forms, days.items(), hours.items()):
        found = [each for _, each in planned(form.format(said + clock))]
        if len(on) * len(at) > 8:
            assert not found, "more than are made at once are asked about"
            continue
        starts = [(int(each["deadline"][8:10]), each["deadline"][11:13]) for each in found]
        assert starts == [(day, "" if hour is None else f"{hour:02}") for day in on for hour in at]
        assert {each["title"] for each in found} == {"oil the gate"}, (form, said, clock)
    for form in ("remind me {} to take the drops", "remind me to take the drops {}"):
        found = [each for _, each in planned(form.format("at breakfast, lunch and dinner"))]
        assert [each["deadline"][11:13] for each in found] == ["07", "12", "18"]
    ((_, params),) = planned("remind me to buy breakfast, lunch and dinner for friday")
    assert params["title"].startswith("buy breakfast, lunch and dinner")


FIRST = {
    "remind me to descale the kettle tomorrow": ("descale the kettle", "2026-03-12"),
    "remind me on saturday to descale the kettle": ("descale the kettle", "2026-03-14"),
    "don't let me forget to mend the fence tomorrow": ("mend the fence", "2026-03-12"),
    "can you remind me tomorrow at 8am to mend the fence": ("mend the fence", "2026-03-12T08:00"),
    "set a reminder for tomorrow to mend the fence": ("mend the fence", "2026-03-12"),
}
BETWEEN = (". and ", " and ", ", ", ". ", " and also ", " & ", "; ", ", oh and ")
TOLD_BEHIND = {
    "Leo has choir on sunday at 11am": "2026-03-15T11:00",
    "Mia's got choir on friday at 4pm": "2026-03-13T16:00",
    "choir is on friday at 6pm": "2026-03-13T18:00",
    "there's a choir concert on sunday at 3pm": "2026-03-15T15:00",
    "we have choir on monday at 5pm": "2026-03-16T17:00",
    "the choir bus leaves on sunday at 9am": "2026-03-15T09:00",
    "choir friday 3pm": "2026-03-13T15:00",
}


def test_what_is_told_behind_a_reminder_of_another_time_is_no_part_of_it() -> None:
    wrong = []
    for (first, (title, at)), joint, (told, start) in product(
        FIRST.items(), BETWEEN, TOLD_BEHIND.items()
    ):
        found = plan(f"{first}{joint}{told}").actions
        match [(each.action, each.params) for each in found]:
            case [("create", task), ("create_event", event)]:
                is_theirs = (task["title"], task["deadline"][: len(at)]) == (title, at)
                if is_theirs and event["start_time"].startswith(start) and found[1].is_offer:
                    continue
        wrong.append(f"{first}{joint}{told}")
    assert not wrong


def test_what_nobody_understands_behind_a_reminder_is_named() -> None:
    for first, joint in product(FIRST, BETWEEN):
        found = plan(f"{first}{joint}Leo needs his kit on friday")
        assert [each.action for each in found.actions] == ["create"], (first, joint)
        assert found.unread == ("Leo needs his kit on friday",), (first, joint)


ONE_REMINDER = {
    "remind me that Leo has choir on friday at 6pm": "Leo has choir",
    "remind me to pack Leo's bag tomorrow and check the boots": "pack Leo's bag and check the boots",
    "remind me to buy milk tomorrow and eggs": "buy milk and eggs",
    "remind me to call mom and dad tomorrow at 5": "call mom and dad",
    "remind me on friday at 6 to tell Ann that the fair is on sunday": "tell Ann that the fair is on sunday",
    "remind me tomorrow about the fair on sunday": "the fair on sunday",
    "remind me tomorrow to ask whether the train is on time": "ask whether the train is on time",
    "remind me to bake on friday because Leo has choir on sunday at 3": "bake",
}
IN_DOUBT = {
    "remind me to pay Ann tomorrow and Bob on friday": "pay Ann and Bob on friday",
    "remind me to tell Ann tomorrow that the fair is on sunday": "tell Ann that the fair is on sunday",
    "remind me to buy milk tomorrow and eggs on friday": "buy milk and eggs on friday",
}


def test_one_reminder_stays_one_and_is_asked_about_where_days_may_be_of_either_part() -> None:
    for text, title in {**ONE_REMINDER, **IN_DOUBT}.items():
        [step] = plan(text).actions
        assert (step.params["title"], step.is_offer) == (title, text in IN_DOUBT), text
    titles = [
        each.params["title"]
        for each in plan("remind me to pay rent at 9 and ring mum at 5").actions
    ]
    assert titles == ["pay rent", "ring mum"]
    text = "remind me to get cash tomorrow and put the fair on saturday at 11 in the calendar"
    assert [each.action for each in plan(text).actions] == ["create", "create_event"]


TWO_DEEDS = [
    ("oil the gate", "feed the tortoise"),
    ("ask about the key", "wash up"),
    ("ring Ann", "do the ferns"),
]
TWICE = [
    ("at 5pm", "at 6.30", ["2026-03-11T17:00", "2026-03-11T18:30"]),
    ("at 6pm", "at 9", ["2026-03-11T18:00", "2026-03-11T21:00"]),
    ("tomorrow at 2pm", "at 8", ["2026-03-12T14:00", "2026-03-12T20:00"]),
    ("tomorrow at 7am", "at 9", ["2026-03-12T07:00", "2026-03-12T09:00"]),
    ("on friday", "on sunday", ["2026-03-13", "2026-03-15"]),
    ("tomorrow at 5pm", "on friday at 8am", ["2026-03-12T17:00", "2026-03-13T08:00"]),
]  # fmt: skip
TWO_REMINDERS = [
    ("remind me {one} to {a}{joint}{other} to {b}", ""),
    ("remind me to {a} {one}{joint}to {b} {other}", ""),
    ("remind me {one} about the jam{joint}{other} about the tea", "the jam|the tea"),
    ("remind me about the jam {one}{joint}about the tea {other}", "the jam|the tea"),
    ("remind me {one} to {a}{joint}again {other}", "{a}|{a}"),
    ("remind Leo {one} to {a}{joint}Mia {other} to {b}", ""),
    ("remind Leo and Mia {one} to {a}{joint}me {other} to {b}", ""),
    ("set a reminder {one} to {a}{joint}{other} to {b}", ""),
]


def test_what_follows_a_reminder_at_a_time_of_its_own_is_a_second_one() -> None:
    wrong = []
    for (form, titles), (a, b), (one, other, at), joint in product(
        TWO_REMINDERS, TWO_DEEDS, TWICE, (" and ", ", ", ", and ", " and then ")
    ):
        if a.startswith("ask") and form.startswith("remind me to"):
            continue  # what is asked may be all that follows
        text = form.format(one=one, other=other, a=a, b=b, joint=joint)
        found = plan(text).actions
        named = [each.params["title"] for each in found]
        due = [each.params["deadline"][: len(day)] for each, day in zip(found, at, strict=False)]
        if (named, due) != ((titles or f"{a}|{b}").format(a=a).split("|"), at):
            wrong.append((text, found))
    assert not wrong
    whose = plan("remind Leo at 5pm to sweep, Mia at 6pm to mop, and me at 7pm to check").actions
    assert [each.params.get("who") for each in whose] == ["leo", "mia", None]
    often = plan("remind me every day at 5pm to sweep and at 6 to mop").actions
    assert [each.params["rrule"] for each in often] == ["FREQ=DAILY"] * 2
    late, early = plan("remind me on friday at 2pm to sweep and at 10am to mop").actions
    assert (late.is_offer, early.is_offer) == (False, True), "it may be of another day"
    night, morning = planned("remind me at 10pm to sweep and at 7am to mop")
    assert (night[1]["deadline"][:13], morning[1]["deadline"][:13]) == (
        "2026-03-11T22",
        "2026-03-12T07",
    )


def test_an_hour_within_what_is_to_be_done_stays_there_and_is_asked_about_behind_a_joint() -> None:
    one = {
        "remind me at 5pm to take the bus at 6.40pm": "take the bus at 6.40pm",
        "remind me at 5 to book the court for 8": "book the court for 8",
        "remind me at 5pm that judo starts at 6": "judo starts at 6",
        "remind me at 7 to call mom and dad": "call mom and dad",
        "remind me at 7 to call mom and to oil the gate": "call mom and to oil the gate",
        "remind me at 5 to ring Ann at work and Bob": "ring Ann at work and Bob",
    }
    doubtful = {
        "remind me at 5pm to oil the gate and to mop it at 6.30pm": "oil the gate and to mop it at 6.30pm",
        "remind me at 6 to put the pie in, and at 7.30 the peas": "put the pie in, and at 7.30 the peas",
    }
    for text, title in {**one, **doubtful}.items():
        [step] = plan(text).actions
        assert (step.params["title"], step.is_offer) == (title, text in doubtful), text
        assert step.params["deadline"][11:13] in {"17", "18", "19"}, text
    for text in (
        "remind me tomorrow evening and on friday morning about the jam",
        "wake me at 7 and again at 8",
    ):
        assert len({each["title"] for _, each in planned(text)}) == 1, text
        assert len(planned(text)) == 2, text
