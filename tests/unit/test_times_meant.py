"""Which of the times that a message names is when something is: one reading for requests and for the group."""

from datetime import date, datetime, timedelta
from itertools import product

from family_chat import chat
from kinkeeper.reading.times import read
from miller_words import MONDAY, said
from planning import WEDNESDAY, done, exchange, miller, plan, planned

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
    "Friday Night Dinner",
    "Sunday lunch club",
    "Saturday film club",
    "Thursday quiz",
    "Christmas party",
    "Halloween disco",
)
PUT = (
    "put {name} on {day} at 7pm",
    "{name} on {day} 7pm",
    "add {name} to the calendar for {day} at 7pm",
    "put {name} {day} 7pm",
    "{name} is on {day} at 7pm",
)


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


EVERY = {
    "every evening": "FREQ=DAILY",
    "each evening": "FREQ=DAILY",
    "every other evening": "FREQ=DAILY;INTERVAL=2",
    "every tuesday evening": "FREQ=WEEKLY;BYDAY=TU",
    "on saturday evenings": "FREQ=WEEKLY;BYDAY=SA",
    "on weekday evenings": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "every night": "FREQ=DAILY",
    "nightly": "FREQ=DAILY",
    "weekend evenings": "FREQ=WEEKLY;BYDAY=SA,SU",
    "every day in the evening": "FREQ=DAILY",
}


def test_a_bare_hour_belongs_to_the_recurrence_beside_it() -> None:
    wrong = []
    for (every, rule), hour, form in product(
        EVERY.items(),
        ("8", "9", "10", "nine"),
        (
            "remind me at {hour} {every} to feed the cat",
            "tablets at {hour} {every}",
            "lock up at {hour}, {every}",
            "lock up {every} at {hour}",
        ),
    ):
        text = form.format(hour=hour, every=every)
        wanted = f"{(9 if hour == 'nine' else int(hour)) + 12}:00"
        found = [(f"{each.begin:%H:%M}", each.recurrence) for each in read(text, MONDAY)]
        if found != [(wanted, rule)]:
            wrong.append((text, found))
    assert not wrong


def test_a_count_before_a_recurrence_is_no_hour() -> None:
    wrong = []
    for count, every in product(
        ("2", "two", "3"), ("every evening", "each night", "every tuesday")
    ):
        for text in (f"take {count} {every}", f"we swap {count} of them {every}"):
            found = [each.surface for each in read(text, MONDAY)]
            if found != [every]:
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
        "move Friday judo to Thursday",
        "Monday swimming and Thursday judo",
        "judo Monday, ballet on Thursday",
        "gym Monday or Thursday",
        "judo Monday ballet on Thursday",
        "from Monday judo is on Thursday",
        "you do Thursday judo i do ballet on Friday",
        "u do thursday judo we do friday",
    ):
        assert len([each for each in read(text, MONDAY) if each.has_date]) > 1, text


THINGS = ("the swimming gala", "a dentist appointment", "judo", "the school fair")
VALUES = {
    "friday": ("saturday", "2026-03-13"),
    "tuesday": ("monday", "2026-03-17"),
    "the 20th": ("the 3rd", "2026-03-20"),
    "friday at 5": ("friday at 4", "2026-03-13T17:00"),
    "friday at 5pm": ("4pm", "2026-03-13T17:00"),
    "friday at 6": ("5", "2026-03-13T18:00"),
}
CONTRASTS = (
    "on {new} not {old}",
    "on {new}, not {old}",
    "on {new} instead of {old}",
    "on {new} rather than {old}",
    "on {new} and not on {old}",
    "not on {old} but on {new}",
)


def test_a_value_that_is_denied_is_never_taken() -> None:
    wrong, tried = [], 0
    for thing, (new, (old, start)), contrast in product(THINGS, VALUES.items(), CONTRASTS):
        if old.isdigit() and contrast.startswith("not"):
            continue
        tried += 1
        text = f"put {thing} {contrast.format(new=new, old=old)}"
        found = created(text)
        if found is None or found[1] != start or "not" in found[0] or "instead" in found[0]:
            wrong.append((text, found))
        dates, at = said(text).dates, date.fromisoformat(start[:10])
        if len(dates) != 1 or (dates[0].day != at.day and dates[0].weekday() != at.weekday()):
            wrong.append((text, dates))
    assert not wrong
    assert tried > 100


def test_who_is_denied_neither_goes_nor_sees_to_it() -> None:
    wrong = []
    forms = (
        "not {old}, {new} takes Leo to soccer",
        "not {old} but {new} takes Leo to soccer",
        "{new}, not {old}, takes Leo to soccer",
        "{new} takes Leo to soccer instead of {old}",
        "{new} rather than {old} takes Leo to soccer",
        "instead of {old} {new} takes Leo to soccer",
    )
    for form, (old, new) in product(forms, (("Sarah", "John"), ("John", "Sarah"))):
        text = form.format(old=old, new=new)
        asked = [
            params["changes"] for name, params in planned(text) if name.endswith("update_event")
        ]
        by = {*said(text, sender=new.lower()).owners, *said(text, sender=old.lower()).owners}
        if any(old.lower() in each["responsible"] for each in asked) or not by <= {new.lower()}:
            wrong.append((text, asked, by))
    assert not wrong
    [(_, params)] = planned("put dinner with Leo, not Mia, on friday at 7")
    assert params["who"] == ["leo"]
    assert said("dinner with Leo, not Mia, on friday at 7").child == ("leo",)


def test_a_no_that_denies_no_value_leaves_the_times_alone() -> None:
    for text, title in {
        "remind me at 5 not to call Tom": "not to call Tom",
        "remind me at 5 to take 2 not 3 pills": "take 2 not 3 pills",
        "remind me on friday to ask if not saturday then when": None,
    }.items():
        [(name, params)] = planned(text)
        assert name == "task.create", text
        assert title in {params["title"], None}, text
    [(_, params)] = planned("email Sam that the party is on Friday not Saturday")
    assert params["body"] == "The party is on Friday not Saturday."


def test_what_is_told_of_something_known_still_changes_it() -> None:
    for text in (
        "the dentist is on sunday not saturday",
        "the dentist is on the 13th instead of the 12th",
    ):
        assert [name for name, _ in planned(text)] == ["calendar.update_event"], text


PAST_TELLINGS = (
    "we had {thing} on {day}",
    "Leo went to {thing} on {day}",
    "{thing} was on {day}",
    "Mia had {thing} {day}",
    "we saw {thing} on {day} at 4",
    "we were at {thing} on {day}",
)
TO_COME_TELLINGS = (
    "we've got {thing} on {day}",
    "I booked {thing} for {day}",
    "we had better go to {thing} on {day}",
    "I had to move {thing} to {day}",
    "{thing} is on {day}",
    "I thought {thing} was on {day}",
    "{thing} was moved to {day}",
    "I heard we have {thing} on {day}",
    "we were going to {thing} on {day}",
    "was {thing} on {day}?",
    "if {thing} was on {day} we could go",
    "{thing} was on Monday but is on {day}",
)
HAPPENINGS = ("the dentist", "judo", "the school fair", "Mia's party")


def test_what_is_told_as_past_lies_in_the_past_and_makes_nothing() -> None:
    wrong = []
    for form, thing, day in product(PAST_TELLINGS, HAPPENINGS, ("the 24th", "friday", "tuesday")):
        text = form.format(thing=thing, day=day)
        found = said(text)
        is_over = all(each < MONDAY.date() for each in found.dates)
        if not (found.dates and is_over) or found.is_coordination or planned(text):
            wrong.append((text, found.dates, planned(text)))
    assert not wrong


def test_what_is_to_come_or_open_stays_to_come() -> None:
    wrong = []
    for form, thing, day in product(
        TO_COME_TELLINGS, HAPPENINGS, ("the 24th", "friday", "tuesday")
    ):
        text = form.format(thing=thing, day=day)
        last = [each for each in read(text, MONDAY) if each.has_date][-1]
        if last.begin < MONDAY:
            wrong.append((text, last.begin))
    assert not wrong


def test_a_card_is_made_of_no_past_day() -> None:
    for form, thing in product(PAST_TELLINGS, ("ballet", "the dentist")):
        with chat() as miller:
            text = form.format(thing=thing, day="tuesday")
            miller.say("Wed 2026-03-04 18:00", "sarah", text)
            assert miller.pending("Wed 2026-03-04 18:30") == [], text


HALVES = {
    "dinner": 12,
    "drinks": 12,
    "the cinema": 12,
    "a concert": 12,
    "the pub quiz": 12,
    "breakfast": 0,
    "the dentist": 0,
    "a work meeting": 0,
    "the school trip": 0,
}


def test_a_bare_hour_is_in_the_half_of_the_day_that_the_thing_belongs_to() -> None:
    wrong = []
    for (thing, half), hour, form in product(
        HALVES.items(),
        (8, 9, 10),
        (
            "put {thing} on saturday at {hour}",
            "{thing} saturday at {hour}",
            "{thing} on saturday, at {hour}",
        ),
    ):
        text = form.format(thing=thing, hour=hour)
        found, at = created(text), f"{hour + half:02}:00"
        if found is not None and not (found[1].endswith(at) and found[1].startswith("2026-03-14")):
            wrong.append((text, found))
        if [f"{each:%H:%M}" for each in said(text).times] != [at]:
            wrong.append((text, said(text).times))
    assert not wrong


def test_an_hour_stays_what_is_said_or_near_to_what_is_usual() -> None:
    for text, at in {
        "put dinner on saturday at 9am": "09:00",
        "put drinks on saturday at 10 in the morning": "10:00",
        "put party on saturday at 8": "20:00",
        "put judo on saturday at 10": "10:00",
        "put soccer on saturday at 5": "17:00",
        "put the 8pm film on saturday at 9pm": "21:00",
    }.items():
        assert (created(text) or ("", ""))[1].endswith(at), text


def test_an_hour_of_today_that_has_passed_is_the_other_one() -> None:
    assert created("put a call with Sam today at 9") == ("call with Sam", "2026-03-11T21:00")
    assert created("put a call with Sam today at 10") == ("call with Sam", "2026-03-11T10:00")


NAMED_DAYS = {
    "christmas": date(2026, 12, 25),
    "christmas eve": date(2026, 12, 24),
    "xmas eve": date(2026, 12, 24),
    "chrismas eve": date(2026, 12, 24),
    "chirstmas day": date(2026, 12, 25),
    "boxing day": date(2026, 12, 26),
    "new year's eve": date(2026, 12, 31),
    "easter": date(2026, 4, 5),
    "easter monday": date(2026, 4, 6),
    "halloween": date(2026, 10, 31),
    "the 24th of june": date(2026, 6, 24),
    "24 june": date(2026, 6, 24),
}
OFFSETS = {
    "2 days before": -2,
    "two days before": -2,
    "the day before": -1,
    "3 days after": 3,
    "a week before": -7,
    "2 weeks before": -14,
    "a fortnight before": -14,
    "1 day after": 1,
    "the day after": 1,
    "a week after": 7,
}


EARLY = [
    "hygienist",
    "mammogram",
    "endoscopy",
    "shuttle to the ship",
    "Nana's eye test",
    "Leo's jab",
    "ferry",
]
LATE = ["badminton", "Sarah's recital", "bingo", "Leo's scouts", "pizza night", "pottery class"]
OPEN = ["Zorban", "catch up with Crispin", "the Shetlarks", "school meeting"]
MINUTES = [("6.40", "06:40", "18:40"), ("7:15", "07:15", "19:15"), ("8.05", "08:05", "20:05")]
ON_A_DAY = [
    "put {} in the calendar on friday at {}",
    "put {} in the diary for the 20th at {}",
    "schedule {} on monday {}",
]


def test_minutes_at_six_to_eight_are_of_the_half_that_the_thing_belongs_to_or_asked_about() -> None:
    wrong = []
    for form, (clock, early, late) in product(ON_A_DAY, MINUTES):
        for things, right in ((EARLY, early), (LATE, late)):
            for text in (form.format(thing, clock) for thing in things):
                found = created(text)
                if found is None or found[1][11:] != right:
                    wrong.append((text, found, right))
        for text in (form.format(thing, clock) for thing in OPEN):
            asked = plan(text)
            before = exchange(text, partial=asked.partial)
            halves = ["morning", "in the evening please", "the evening one", f"{clock}am", late]
            found = [planned(half, history=[before]) for half in halves]
            starts = [each["start_time"][11:16] for steps in found for _, each in steps]
            is_asked = not asked.actions and early in (asked.clarification or "")
            if not is_asked or starts != [early, late, late, early, late]:
                wrong.append((text, asked, starts))
    assert not wrong


def test_minutes_whose_half_of_the_day_is_said_or_plain_are_asked_about_by_nobody() -> None:
    expected = {
        "add Zorban on friday at 7.15pm": "19:15",
        "add Zorban on friday at 07:15": "07:15",
        "add Zorban on friday morning at 7.15": "07:15",
        "add Zorban on friday evening at 7.15": "19:15",
        "add Zorban on friday at 5.40": "17:40",
        "add Zorban on friday at 9.20": "09:20",
        "add Zorban on friday at 7": "19:00",
        "add Zorban today at 7.15": "19:15",
        "add the hygienist on friday at 6": "18:00",
        "add Zorban on friday 7.30 to 9": "19:30",
    }
    found = {text: created(text) for text in expected}
    assert {text: each and each[1][11:] for text, each in found.items()} == expected
    ((_, reminder),) = planned("remind me on friday at 7.15 to ring Nana")
    assert reminder["deadline"][11:16] == "19:15"


def test_a_reminder_so_long_before_a_named_day_is_on_that_day() -> None:
    wrong = []
    for (offset, days), (name, day), form in product(
        OFFSETS.items(),
        NAMED_DAYS.items(),
        ("remind me {when} to collect the turkey", "remind me to collect the turkey {when}"),
    ):
        text = form.format(when=f"{offset} {name}")
        [(_, params)] = planned(text)
        found = params["title"], (params["deadline"] or "")[:10]
        if found != ("collect the turkey", (day + timedelta(days=days)).isoformat()):
            wrong.append((text, found))
    assert not wrong


COUNTED = {
    "the {weekday}": 1,
    "{weekday}": 1,
    "the last {weekday}": 1,
    "the second {weekday}": 2,
    "two {weekday}s": 2,
}


def test_a_weekday_beside_a_named_day_is_counted_from_there() -> None:
    wrong = []
    for (counted, number), weekday, way, (name, day) in product(
        COUNTED.items(), DAYS, ("before", "after"), NAMED_DAYS.items()
    ):
        step = -1 if way == "before" else 1
        at = day + timedelta(days=step)
        while at.weekday() != DAYS.index(weekday):
            at += timedelta(days=step)
        at += timedelta(weeks=step * (number - 1))
        text = f"{counted.format(weekday=weekday)} {way} {name} at 3pm"
        found = [(each.begin.date(), f"{each.begin:%H}") for each in read(text, MONDAY)]
        if found != [(at, "15")]:
            wrong.append((text, found, at))
    assert not wrong


PARTS_BESIDE = {
    "the night before": (-1, 20),
    "the evening before": (-1, 18),
    "the morning after": (1, 8),
    "the afternoon before": (-1, 12),
}


def test_a_part_of_the_day_before_a_named_day_is_of_that_day() -> None:
    wrong = []
    for (part, (days, hour)), (name, day), clock in product(
        PARTS_BESIDE.items(), NAMED_DAYS.items(), ("", " at 8", " at 9")
    ):
        text = f"bake {part} {name}{clock}"
        at = day + timedelta(days=days)
        said = int(clock[-1]) + (0 if "morning" in part else 12) if clock else hour
        found = [(each.begin.date(), each.begin.hour) for each in read(text, MONDAY)]
        if found != [(at, said)]:
            wrong.append((text, found, at, said))
    assert not wrong


WEEKS_ON = {
    "{day} week": 1,
    "a week on {day}": 1,
    "{day} fortnight": 2,
    "a fortnight on {day}": 2,
    "two weeks on {day}": 2,
    "3 weeks on {day}": 3,
    "a fortnight from {day}": 2,
    "two weeks from {day}": 2,
}
WEEKS_FROM = {
    "{day} week": 1,
    "a week {day}": 1,
    "a fortnight {day}": 2,
    "{day} fortnight": 2,
    "2 weeks {day}": 2,
    "three weeks {day}": 3,
}


def test_weeks_on_from_a_day_are_counted_from_there() -> None:
    wrong, today = [], MONDAY.date()
    tried = [
        (form.format(day=day), next_day(day, today + timedelta(days=1)) + timedelta(weeks=weeks))
        for (form, weeks), day in product(WEEKS_ON.items(), DAYS[1:])  # today is a Monday
    ] + [
        (form.format(day=day), today + timedelta(days=days, weeks=weeks))
        for (form, weeks), (days, day) in product(
            WEEKS_FROM.items(), enumerate(("today", "tomorrow"))
        )
    ]
    for when, at in tried:
        for text in (f"{when} to ring school", f"dentist {when} at 4pm"):
            found = [each.begin.date() for each in read(text, MONDAY)]
            if found != [at]:
                wrong.append((text, found, at))
    assert not wrong


BESIDE_AND_APART = {
    "away for two weeks on friday": [("two weeks", False), ("friday", True)],
    "monday before tuesday": [("monday", True), ("before tuesday", True)],
    "friday after school": [("friday", True)],
    "friday after lunch": [("friday after lunch", True)],
    "mondays before easter": [("mondays before easter", False)],
    "a fortnight in france from friday": [("a fortnight", False), ("from friday", True)],
}


def test_lengths_and_days_that_only_stand_side_by_side_stay_apart() -> None:
    found = {
        text: [(each.surface, each.has_date) for each in read(text, MONDAY)]
        for text in BESIDE_AND_APART
    }
    assert found == BESIDE_AND_APART
    for text, title in {
        "remind me 2 call mum on friday": "call mum",
        "remind me 2 buy milk": "buy milk",
        "remind me 2 sort the mondays out": "sort the mondays out",
    }.items():
        assert [params["title"] for _, params in planned(text)] == [title], text


BEFORE_CHRISTMAS = datetime.fromisoformat("2026-11-29T08:00+00:00")
HOLIDAYS = ("christmas", "christmas day", "new year", "new years day", "christmas eve")
BESIDE = {
    "on the 17th": "2026-12-17",
    "the 17th": "2026-12-17",
    "on thursday the 17th": "2026-12-17",
    "on the 17th of december": "2026-12-17",
    "on 17 december": "2026-12-17",
    "thurs 17th": "2026-12-17",
    "tomorrow": "2026-11-30",
    "on wednesday": "2026-12-02",
    "on 17/12": "2026-12-17",
}
SIDES = {
    ("on the 20th", "before"): "2026-12-20",
    ("the 20th", "before"): "2026-12-20",
    ("on the 6th", "after"): "2027-01-06",
    ("on wednesday the 6th", "after"): "2027-01-06",
    ("the 4th", "after the"): "2027-01-04",
    ("on the 2nd", "over"): "2027-01-02",
    ("on the 28th", "over"): "2026-12-28",
    ("on the 30th", "after"): "2026-12-30",
}


def read_locally(text: str) -> list[tuple[str, str | None]]:
    """Return the days of a text of November with what bounds them, and hours without a day."""
    found = read(text, BEFORE_CHRISTMAS, locale="en-IE")
    return [
        (each.begin.date().isoformat() if each.has_date else f"{each.begin:%H:%M}", each.bound)
        for each in found
    ]


def test_a_holiday_beside_a_day_is_not_the_day() -> None:
    wrong, tried = [], 0
    forms = (
        "hurling finishes up {day} {side} {holiday}",
        "the office closes {day}, {side} {holiday}",
        "{side} {holiday} {day} we are off",
        "choir sings {day} {side} {holiday} at 5pm",
    )
    sided = [(day, side, at) for (day, side), at in SIDES.items()]
    named = [(day, side, at) for (day, at), side in product(BESIDE.items(), ("for", "over"))]
    for (day, side, at), holiday, form in product(sided + named, HOLIDAYS, forms):
        if at == "2026-12-30" and "new year" in holiday:
            continue  # "the 30th after new year" is in January
        tried += 1
        text = form.format(day=day, side=side, holiday=holiday)
        days = [each for each, _ in read_locally(text) if ":" not in each]
        if days != [at] or ("at 5pm" in text and "17:00" not in dict(read_locally(text))):
            wrong.append((text, read_locally(text)))
    assert not wrong
    assert tried > 400


HOLIDAYS_ALONE = {
    "on christmas eve at 5": [("2026-12-24", None)],
    "the friday before christmas": [("2026-12-18", None)],
    "2 days before christmas eve": [("2026-12-22", None)],
    "the day after christmas": [("2026-12-26", None)],
    "home for christmas": [("2026-12-25", None)],
    "before christmas": [("2026-12-25", "before")],
    "bus at 5 for christmas": [("2026-12-25", None)],
    "friday christmas day": [("2026-12-25", None)],
    "swimming on the 20th, back after christmas": [("2026-12-20", None), ("2026-12-25", "after")],
    "off the 18th until after christmas": [("2026-12-18", None), ("2026-12-25", "after")],
    "either the 20th or after christmas": [("2026-12-20", None), ("2026-12-25", "after")],
    "the weekend before christmas": [("2026-12-19", None)],
    "the 20th and christmas": [("2026-12-20", None), ("2026-12-25", None)],
    "off from the 22nd to the 2nd over christmas": [("2026-12-22", None)],
    "order the goose for christmas on friday": [("2026-12-04", None)],
}


def test_a_holiday_that_is_the_day_stays_it() -> None:
    assert {text: read_locally(text) for text in HOLIDAYS_ALONE} == HOLIDAYS_ALONE


def test_a_weekday_and_a_date_that_do_not_agree_are_unsure_and_near() -> None:
    today, wrong, unsure = BEFORE_CHRISTMAS.date(), [], 0
    ahead = [today + timedelta(days=each) for each in range(100)]
    forms = (
        "{name} the {day}{suffix}",
        "dentist on {name} {day}{suffix} at 3pm",
        "{short} {day}{suffix}",
    )
    for number, name, form in product(range(1, 31), DAYS, forms):
        suffix = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}.get(number, "th")
        text = form.format(name=name, short=name[:3], day=number, suffix=suffix)
        [found] = read(text, BEFORE_CHRISTMAS, locale="en-IE")
        near = [each for each in ahead if each.day == number]
        soon = [each for each in near if (each - today).days <= 40]
        fits = [each for each in soon if each.weekday() == DAYS.index(name)]
        at, other = found.begin.date(), found.other_day
        unsure += not fits
        is_named = other is not None and other.weekday() == DAYS.index(name) and other >= today
        if at != (fits or near)[0] or is_named == bool(fits):
            wrong.append((text, at, other))
    assert not wrong
    assert unsure > 300


def test_a_weekday_and_a_named_month_that_do_not_agree_are_unsure() -> None:
    wrong = []
    for day, name, form in product(
        (date(2026, 12, 7), date(2026, 12, 31), date(2027, 1, 4), date(2027, 2, 12)),
        DAYS,
        (
            "{name} {day:%-d} {day:%b}",
            "{name} the {day:%-d}th of {day:%B}",
            "GP {name} {day:%B} {day:%-d} at 11am",
            "{name} {day:%-d} {day:%B} {day:%Y}",
        ),
    ):
        text = form.format(name=name, day=day).replace("31th", "31st")
        [found] = read(text, BEFORE_CHRISTMAS, locale="en-IE")
        is_sure = day.weekday() == DAYS.index(name)
        if (found.begin.date(), found.other_day is None) != (day, is_sure):
            wrong.append((text, found.begin.date(), found.other_day))
    assert not wrong


def test_a_card_has_a_day_that_is_near_where_weekday_and_date_do_not_agree() -> None:
    for name, number in product(("monday", "tuesday", "wednesday", "sunday"), (12, 13, 14)):
        text = f"Leo has a dentist appointment on {name} the {number}th at 3"
        assert said(text).dates == (date(2026, 3, number),), text


SUNDAY = datetime(2026, 3, 8, 11, 54, tzinfo=WEDNESDAY.replace(tzinfo=miller().zone).tzinfo)


def test_until_the_day_that_today_is_lasts_until_its_next() -> None:
    again = ["every day at 7", "every evening", "daily at 9", "at 8 and 8"]
    ends = ["till sunday", "until sunday", "til sun", "until the 15th", "until next sunday"]
    for said_, end in product(again, ends):
        found = {
            each.recurrence or f"FREQ=DAILY;UNTIL={each.begin:%Y%m%d}"
            for each in read(f"feed the ferret {said_} {end}", SUNDAY)
            if each.recurrence or each.bound
        }
        assert found == {"FREQ=DAILY;UNTIL=20260315"}, (said_, end, found)
    ((monday,)) = read("every day until monday", SUNDAY)
    assert monday.recurrence == "FREQ=DAILY;UNTIL=20260309"


def test_a_weekday_some_weeks_ahead_is_the_one_that_lies_nearest() -> None:
    forms = ["in {} on {}", "in {} {}", "on {1} in {0}", "{1} in {0}"]
    counts = [("2 weeks", 2), ("three weeks", 3), ("6 weeks", 6)]
    for form, (count, weeks), day in product(forms, counts, DAYS):
        (found,) = read(f"the boiler man comes {form.format(count, day)}", SUNDAY)
        there = SUNDAY.date() + timedelta(weeks=weeks)
        assert DAYS[found.begin.weekday()] == day
        assert abs(found.begin.date() - there) <= timedelta(days=3), found.surface
    assert len(read("in an hour on monday", SUNDAY)) == 2


INTERVALS = {
    "every 2 weeks": 2,
    "every two weeks": 2,
    "every other week": 2,
    "every couple of weeks": 2,
    "every 2nd week": 2,
    "every fortnight": 2,
    "biweekly": 2,
    "every three weeks": 3,
    "every third week": 3,
    "every 6 weeks": 6,
    "every week": 1,
    "weekly": 1,
}
RECURRING = (
    ("remind me {often} on {day} at 6pm to air the attic", "deadline"),
    ("{often} on {day} at 6pm remind me to air the attic", "deadline"),
    ("remind me on {day} at 6pm {often} to air the attic", "deadline"),
    ("put whist in the calendar {often} on {day} at 6pm", "start_time"),
    ("add whist to the calendar {often} on {day} at 6pm", "start_time"),
)


def test_what_comes_every_few_weeks_on_a_day_keeps_that_day() -> None:
    wrong = []
    today = WEDNESDAY.date()
    for (often, weeks), day, (form, key) in product(INTERVALS.items(), DAYS, RECURRING):
        text = form.format(often=often, day=day)
        [(_, params)] = planned(text)
        rule = dict(part.split("=") for part in str(params.get("rrule")).split(";") if part)
        said = {"FREQ": "WEEKLY", "INTERVAL": str(weeks), "BYDAY": day[:2].upper()}
        first = f"{next_day(day, today)}T18:00"
        if {"INTERVAL": "1", **rule} != said or not str(params.get(key)).startswith(first):
            wrong.append((text, params))
    assert not wrong


def test_what_begins_in_a_month_does_not_end_with_it() -> None:
    verbs = ("start in", "starts in", "begins in", "begin in")
    forms = (
        "Mia's whist lessons {verb} may, {day}s 4pm",
        "put whist in the calendar, it {verb} may, {day}s at 4pm",
    )
    for form, verb, day in product(forms, verbs, DAYS):
        [(_, params)] = planned(form.format(verb=verb, day=day))
        assert params["rrule"] == f"FREQ=WEEKLY;BYDAY={day[:2].upper()}", (form, verb, day)
        assert params["start_time"].startswith(str(next_day(day, date(2026, 5, 1))))


ALSO_RECURRING = {
    "every 2nd friday": "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR",
    "every 2nd friday of the month": "FREQ=MONTHLY;BYDAY=2FR",
    "every first friday": "FREQ=MONTHLY;BYDAY=1FR",
    "every 2 weeks": "FREQ=WEEKLY;INTERVAL=2",
    "every 2 days": "FREQ=DAILY;INTERVAL=2",
    "every 2 weeks on tuesday and friday": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,FR",
    "every 2 weeks on friday until june": "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;UNTIL=20260531",
    "every month on the 5th": "FREQ=MONTHLY",
    "every friday in may": "FREQ=WEEKLY;BYDAY=FR;UNTIL=20260531",
    "every 2 months on friday": None,  # which Friday nobody can tell
}


def test_how_often_something_comes_is_as_it_was_said() -> None:
    for often, rule in ALSO_RECURRING.items():
        found = plan(f"remind me {often} to air the attic")
        rules = [each.params.get("rrule") for each in found.actions]
        assert rules == ([rule] if rule else []), often
        assert bool(found.clarification) is (rule is None), often


CALLED_OFF = ("cancel ballet on {day}", "skip chess on {day}", "drop swimming on {day}")
JOINTS = (", and ", ". ", " and ", " & ", "; ", ", ", ". also ")
PUT_IN_PLACE = (
    "book choir at 6pm",
    "add choir at 6pm instead",
    "put choir in at 6pm",
    "schedule choir instead at 6pm",
)
AHEAD = ("thursday", "saturday", "tuesday")


def test_what_is_put_in_the_place_of_something_is_on_its_day() -> None:
    wrong = []
    today = WEDNESDAY.date()
    for off, joint, put, day in product(CALLED_OFF, JOINTS, PUT_IN_PLACE, AHEAD):
        text = f"{off.format(day=day)}{joint}{put}"
        start = f"{next_day(day, today)}T18:00"
        match plan(text).actions:
            case [first, second] if first.action == "delete_event" and not second.is_offer:
                if second.params["start_time"].startswith(start):
                    continue
        wrong.append(text)
    assert not wrong


ASKED = done("calendar.list_events", params={"from": "2026-03-13", "days_ahead": 1}, events=[])
OFF = done("calendar.delete_event", params={"find_by": "ballet", "on": "2026-03-13"})
LONG_ASKED = done("calendar.list_events", params={"from": "2026-03-13", "days_ahead": 7}, events=[])
FREE = done(
    "calendar.find_free",
    params={"between": {"from": "2026-03-13T00:00:00-05:00", "to": "2026-03-14T00:00:00-05:00"}},
)
WAS_OFF = done("calendar.delete_event", params={"find_by": "ballet", "on": "2026-03-10"})


def test_what_is_added_at_an_hour_after_a_day_was_spoken_of_is_of_that_day() -> None:
    for last, put in product((ASKED, OFF, FREE), PUT_IN_PLACE):
        [step] = plan(put, history=[exchange("and on friday?", last)]).actions
        assert step.params["start_time"].startswith("2026-03-13T18:00"), put
        assert step.is_offer is ("instead" not in put), put
    said = "Mia has ballet on friday. {put}"
    for put in PUT_IN_PLACE:
        *_, step = plan(said.format(put=put)).actions
        assert step.params["start_time"].startswith("2026-03-13T18:00"), put
        assert step.is_offer is ("instead" not in put), put


def test_an_hour_is_todays_where_no_other_day_was_spoken_of() -> None:
    today, other = "2026-03-11T18:00", exchange("thanks")
    for put in PUT_IN_PLACE:
        for before in (
            (),
            (exchange("x", LONG_ASKED),),
            (exchange("x", WAS_OFF),),
            (exchange("x", ASKED), other),
        ):
            [step] = plan(put, history=before).actions
            assert step.params["start_time"].startswith(today), (put, before)
            assert not step.is_offer
        [step] = plan(f"{put} tomorrow", history=[exchange("x", ASKED)]).actions
        assert step.params["start_time"].startswith("2026-03-12T18:00")
        *_, step = plan(f"cancel ballet on friday and {put} today").actions
        assert step.params["start_time"].startswith(today)
    text = "cancel ballet on friday and remind me at 6pm to call Bob"
    assert planned(text)[1][1]["deadline"].startswith(today)
    *_, step = plan("cancel ballet every friday and book choir at 6pm").actions
    assert step.is_offer
    *_, step = plan("cancel ballet on friday and chess on saturday, and add choir at 6pm").actions
    assert step.is_offer


def test_an_ordinal_behind_a_weekday_that_counts_a_thing_is_no_day() -> None:
    counted = product(
        ("friday", "Tuesday"),
        ("second", "third", "first", "fourth"),
        ("period", "lesson", "session"),
    )
    for day, ordinal, noun in counted:
        text = f"test {day} {ordinal} {noun}"
        (found,) = read(text, MONDAY)
        assert found.surface.lower() == day.lower(), text
