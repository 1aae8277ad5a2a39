"""What the household's rows show is told to the one person it is for, in words that name it, and nothing else is."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from drift_samples import DAY, HOUSE, NOW, WEEK, all_seen, event, listed, task, times, told, weekly
from kinkeeper.background.drift.cycle import TOLD_FROM
from kinkeeper.background.drift.model import CURIOUS, Matter
from kinkeeper.calendar.model import Change, EventKind, EventState, Override, Waiting
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_scope, surprise_scope
from kinkeeper.tasks.model import TaskStatus

ALONE = replace(
    HOUSE, members=tuple(each for each in HOUSE.members if each.id not in {"tom", "lena"})
)
Rows = dict[str, Any]


def without(days: int, **fields: Any) -> list[Any]:
    """Return a weekly pickup that nobody has on the one day that lies so many days ahead."""
    start = NOW + days * DAY
    plain = {
        "kind": EventKind.CARE,
        "task": "pickup",
        "activity": "judo",
        "who": ("ella",),
        "responsible": ("amara",),
    }
    care = weekly("Ella pickup", start - 4 * WEEK, **{**plain, **fields})
    return times(care, Override(event_id=care.id, original_start=start, responsible=()))


def running(
    summary: str,
    *,
    person: str = "",
    shift: timedelta | None = None,
    times_: int = 3,
    **fields: Any,
) -> list[Any]:
    """Return a weekly series whose last occurrences were somebody else's, or at another time."""
    first = NOW - 5 * WEEK + 2 * DAY
    series = weekly(summary, first, **{"responsible": ("amara",), "who": ("kofi",), **fields})
    days = [first + (4 - back) * WEEK for back in range(times_)]
    changed = [
        Override(
            event_id=series.id,
            original_start=day,
            responsible=(person,) if person else None,
            start=None if shift is None else day + shift,
        )
        for day in days
    ]
    return times(series, *changed)


def matters(seen: Any) -> set[Matter]:
    return {each.matter for each in seen}


def shown() -> Iterator[tuple[Matter, Rows, tuple[str, ...]]]:
    """Yield rows, what they show, and words that must stand in what is said."""
    for days in (3, 6, 9, 13):
        yield (
            Matter.OWNER_MISSING,
            {"occurrences": without(days)},
            ("Ella", "judo", "usually Amara"),
        )
        lessons = without(days, kind=EventKind.BOOKING, task=None, place="dojo")
        yield Matter.OWNER_MISSING, {"occurrences": lessons}, ("“Ella pickup”", "usually Amara")
    never = weekly(
        "Ella dropoff", NOW - 2 * WEEK + 3 * DAY, kind=EventKind.CARE, task="dropoff", who=("ella",)
    )
    yield Matter.OWNER_MISSING, {"occurrences": times(never)}, ("Ella", "on Thursdays")
    for days, (whose, subject) in product(
        (3, 9, 16, 20), (("Kofi", "kofi"), ("Ella", "ella"), ("Grandpa", "grandfath"))
    ):
        day = NOW + days * DAY
        said = told(f"{whose}'s birthday is on {day.day} {day:%B}", subject)
        yield (
            Matter.BIRTHDAY,
            {"facts": [said]},
            (f"{whose}’s birthday", f"{day.day} {day:%b}", "no plan"),
        )
        yearly = event(f"{whose}'s birthday", day.replace(hour=0), all_day=True, duration=DAY)
        yield Matter.BIRTHDAY, {"occurrences": times(yearly)}, (f"{whose}’s birthday", "no plan")
    for title, days in product(("Renew the passports", "Pay the deposit", "Car tax"), (1, 5, 12)):
        due = task(title, deadline=NOW + days * DAY)
        yield Matter.DEADLINE, {"tasks": [due]}, (f"“{title}”", "nobody has it")
        on = times(event(title, NOW + days * DAY, kind=EventKind.DEADLINE))
        yield Matter.DEADLINE, {"occurrences": on}, (f"“{title}”", "nobody has it")
    for summary, count in product(("Judo run", "School run", "Piano"), (3, 4)):
        yield (
            Matter.HABIT,
            {"occurrences": running(summary, person="tom", times_=count)},
            (f"“{summary}”", "Tom", f"{count} times"),
        )
        later = running(summary, shift=timedelta(minutes=30), times_=count)
        yield Matter.HABIT, {"occurrences": later}, (f"“{summary}”", "10:30", "10:00")
        other = running(summary, shift=DAY, times_=count)
        yield Matter.HABIT, {"occurrences": other}, (f"“{summary}”", "Thursday", "Wednesday")
    for title, (moved, days) in product(
        ("Fix the gutter", "Book the eye test"), ((2, 3), (3, 3), (1, -2), (2, -5))
    ):
        slips = task(title, deadline=NOW + days * DAY, who=("tom",))
        yield (
            Matter.SLIPPING,
            {"tasks": [slips], "put_off": {slips.id: moved}},
            (f"“{title}”", "put off", "due"),
        )
    for limit, dish in (
        ("Kofi is allergic to peanuts", "Satay night"),
        ("Kofi has a nut allergy", "Picnic with walnut bread"),
        ("Kofi is allergic to shellfish", "Dinner: prawn curry"),
        ("Kofi is coeliac", "Pizza party"),
        ("Kofi is vegetarian", "Roast chicken dinner"),
        ("Kofi is lactose intolerant", "Fondue night"),
    ):
        yield (
            Matter.FOOD,
            {"facts": [told(limit, "kofi")], "occurrences": times(event(dish, NOW + 2 * DAY))},
            (f"“{dish}”", limit),
        )
        menu = listed("Dinner menu", "Soup", dish)
        yield (
            Matter.FOOD,
            {"facts": [told(limit, "kofi")], "notes": [menu]},
            (f"“{dish}”", "“Dinner menu”", limit),
        )
    for limit, line in (
        ("Ella is allergic to peanuts", "peanut butter"),
        ("Ella is allergic to nuts", "2 bags of cashews"),
        ("Ella is allergic to sesame", "tahini"),
        ("Ella has a shellfish allergy", "frozen prawns"),
    ):
        rows = {"facts": [told(limit, "ella")], "notes": [listed("Shopping list", "bread", line)]}
        yield Matter.FOOD, rows, (f"“{line}”", "“Shopping list”", limit)
    for title, weekday in product(("Bins out", "Pack the swim bag"), range(3)):
        asked = [task(title, remind_at=NOW + weekday * DAY + back * WEEK) for back in (-2, -1, 0)]
        yield Matter.BY_HAND, {"tasks": asked}, (f"“{title}”", "3 ", "every ")
    for words in ("I'm really worried about the interview", "I feel exhausted"):
        yield (
            Matter.FEELING,
            {"facts": [told(words, "amara", said_at=NOW - 3 * DAY)]},
            (words, "How is it now?"),
        )


SHOWN = [*shown()]


@pytest.mark.parametrize("number", range(len(SHOWN)))
def test_what_rows_show_is_told_to_one_adult_and_names_what_it_rests_on(number: int) -> None:
    matter, rows, words = SHOWN[number]
    found = all_seen(**rows)
    assert [each.matter for each in found] == [matter], found
    [told_] = found
    assert all(each in told_.text for each in words), told_.text
    assert told_.person in {"amara", "tom"}
    assert told_.evidence
    assert told_.until > NOW
    assert told_.about


def silent_days_and_tasks() -> Iterator[tuple[str, Rows]]:
    """Yield rows beside which nothing is to be said, and why."""
    for days in (0, 1, 15, 20):
        yield "tomorrow is the digest's, three weeks are far", {"occurrences": without(days)}
    waiting = without(6)
    asked = [
        replace(each, waiting=(Waiting(action_id="a", change=Change.ASSIGN, claimed_by=("tom",)),))
        for each in waiting
    ]
    yield "somebody has offered", {"occurrences": asked}
    off = [replace(each, state=EventState.CANCELLED) for each in waiting]
    yield "it is cancelled", {"occurrences": off}
    once = event("Kofi dropoff", NOW + 5 * DAY, kind=EventKind.CARE, task="dropoff", who=("kofi",))
    yield "it does not recur", {"occurrences": times(once)}
    yield (
        "nobody takes children to it",
        {"occurrences": times(weekly("Kofi chess", NOW - 3 * WEEK, who=("kofi",)))},
    )
    yield "one adult has all", {"house": ALONE, "occurrences": without(6)}
    day = NOW + 9 * DAY
    birthday = told(f"Kofi's birthday is on {day.day} {day:%B}", "kofi")
    for plan in (
        "Kofi's birthday party",
        "Birthday party",
        "Buy a present for Kofi",
        "Kofi birthday cake",
    ):
        yield "there is a plan", {"facts": [birthday], "occurrences": times(event(plan, day + DAY))}
        yield "there is a plan", {"facts": [birthday], "tasks": [task(plan, who=("tom",))]}
        yield "there is a plan", {"facts": [birthday], "notes": [listed("To do", plan)]}
    for words in (
        "Kofi's birthday is in June",
        "Kofi's birthday was on 12 February",
        "Kofi hates his birthday",
    ):
        yield "not these weeks", {"facts": [told(words, "kofi")]}
    yield "somebody has it", {"tasks": [task("Pay the deposit", deadline=NOW + DAY, who=("tom",))]}
    yield "it is far", {"tasks": [task("Pay the deposit", deadline=NOW + 20 * DAY)]}
    yield (
        "it is done",
        {"tasks": [task("Pay the deposit", deadline=NOW + DAY, status=TaskStatus.DONE)]},
    )
    yield "it has no time", {"tasks": [task("Pay the deposit")]}
    yield (
        "one adult has all",
        {"house": ALONE, "tasks": [task("Pay the deposit", deadline=NOW + DAY)]},
    )
    due = times(event("Car service", NOW + 5 * DAY, kind=EventKind.DEADLINE))
    yield (
        "a task is somebody's",
        {"occurrences": due, "tasks": [task("The car service", who=("tom",))]},
    )
    for count in (1, 2):
        yield "not often enough", {"occurrences": running("Judo run", person="tom", times_=count)}
        yield "not often enough", {"occurrences": running("Judo run", shift=DAY, times_=count)}
    yield "as the calendar says", {"occurrences": running("Judo run", person="amara", times_=4)}
    kept = task("Fix the gutter", deadline=NOW + DAY, who=("tom",))
    yield "put off once", {"tasks": [kept], "put_off": {kept.id: 1}}
    late = replace(kept, deadline=NOW - 4 * DAY)
    yield "overdue, never put off", {"tasks": [late]}


def silent_food_and_words() -> Iterator[tuple[str, Rows]]:
    """Yield the same of food, of what is asked for, and of feelings."""
    peanut, shop = told("Kofi is allergic to peanuts", "kofi"), "Shopping list"
    for line in ("peanut-free bars", "bars without peanuts", "almonds", "coconut milk", "butter"):
        yield "none in it", {"facts": [peanut], "notes": [listed(shop, line)]}
    yield "no food", {"facts": [peanut], "notes": [listed("Garage", "peanut butter jar lids")]}
    yield (
        "no meal",
        {
            "facts": [told("Kofi is vegetarian", "kofi")],
            "occurrences": times(event("Visit the fish market", NOW + DAY)),
        },
    )
    yield (
        "bought for others",
        {"facts": [told("Kofi is vegetarian", "kofi")], "notes": [listed(shop, "chicken", "ham")]},
    )
    yield (
        "bought for others",
        {"facts": [told("Kofi is lactose intolerant", "kofi")], "notes": [listed(shop, "milk")]},
    )
    for words in (
        "Kofi is not allergic to peanuts",
        "Kofi loves peanuts",
        "Kofi is allergic to cats",
        "Kofi is no longer allergic to peanuts",
    ):
        yield (
            "no limit of that",
            {"facts": [told(words, "kofi")], "notes": [listed(shop, "peanut butter")]},
        )
    others = times(event("Satay night", NOW + DAY, who=("tom", "ella")))
    yield "does not eat there", {"facts": [peanut], "occurrences": others}
    twice = [task("Bins out", remind_at=NOW + back * WEEK) for back in (-1, 0)]
    yield "twice only", {"tasks": twice}
    yield (
        "not by week",
        {"tasks": [task("Bins out", remind_at=NOW + days * DAY) for days in (-9, -6, 0)]},
    )
    yield (
        "repeats already",
        {
            "tasks": [
                task("Bins out", remind_at=NOW + back * WEEK, rrule="FREQ=WEEKLY")
                for back in (-2, -1, 0)
            ]
        },
    )
    for age in (0, 1, 6, 20):
        yield (
            "too soon or too late",
            {"facts": [told("I feel exhausted", "amara", said_at=NOW - age * DAY)]},
        )
    yield "another's feelings", {"facts": [told("Kofi is worried", "kofi", said_at=NOW - 3 * DAY)]}
    yield "good news", {"facts": [told("I like the new office", "amara", said_at=NOW - 3 * DAY)]}


SILENT = [*silent_days_and_tasks(), *silent_food_and_words()]


@pytest.mark.parametrize("number", range(len(SILENT)))
def test_nothing_is_said_of_what_is_in_order(number: int) -> None:
    why, rows = SILENT[number]
    house: Household = rows.get("house", HOUSE)
    found = all_seen(house, **{name: value for name, value in rows.items() if name != "house"})
    assert not found, f"{why}: {found}"


def test_two_birthdays_are_told_in_one_sentence() -> None:
    days = {"kofi": NOW + 8 * DAY, "gran": NOW + 12 * DAY}
    facts = [
        told(f"{name.title()}'s birthday is on {day.day} {day:%B}", name)
        for name, day in days.items()
    ]
    both, *each = all_seen(facts=facts)
    assert len(each) == len(both.evidence) == len(days)
    assert (
        both.text
        == "Kofi’s birthday is on Tue 10 Mar and Gran’s on Sat 14 Mar, and I see no plan for them yet."
    )


@pytest.mark.parametrize(("whose", "teller"), [("amara", "tom"), ("tom", "amara")])
def test_nobody_hears_of_their_own_birthday(whose: str, teller: str) -> None:
    day = NOW + 8 * DAY
    facts = [told(f"{whose.title()}'s birthday is on {day.day} {day:%B}", whose, speaker=whose)]
    assert [each.person for each in all_seen(facts=facts)] == [teller]


PRIVATE = (
    person_scope("amara"),
    person_scope("tom"),
    surprise_scope(["tom"]),
    surprise_scope(["amara", "kofi"]),
)


@pytest.mark.parametrize("scope", PRIVATE)
@pytest.mark.parametrize("number", range(len(SHOWN)))
def test_what_is_private_reaches_only_who_may_see_all_of_it(number: int, scope: str) -> None:
    _, rows, _ = SHOWN[number]
    hidden = {
        name: [
            replace(each, event=replace(each.event, scope=scope))
            if name == "occurrences"
            else replace(each, scope=scope)
            for each in found
        ]
        if name != "put_off"
        else found
        for name, found in rows.items()
    }
    allowed = {
        "person:amara": {"amara"},
        "person:tom": {"tom"},
        "except:,tom,": {"amara"},
        "except:,amara,kofi,": {"tom"},
    }
    assert {each.person for each in all_seen(**hidden)} <= allowed[scope]


def test_a_limit_is_told_to_who_may_know_it_and_does_not_have_it() -> None:
    notes = [listed("Shopping list", "peanut butter")]
    for subject, scope, tellable in (
        ("amara", person_scope("amara"), []),
        ("amara", HOUSEHOLD_SCOPE, ["tom"]),
        ("tom", HOUSEHOLD_SCOPE, ["amara"]),
        ("kofi", person_scope("amara"), ["amara"]),
        ("kofi", surprise_scope(["amara"]), ["tom"]),
        ("kofi", HOUSEHOLD_SCOPE, ["tom"]),
    ):
        limit = told(f"{subject.title()} is allergic to peanuts", subject, scope=scope)
        assert [each.person for each in all_seen(facts=[limit], notes=notes)] == tellable


def test_children_and_guests_are_told_nothing() -> None:
    for _, rows, _ in SHOWN:
        assert not all_seen(of=("kofi", "ella", "gran"), **rows)


# What nobody wrote down.


def lesson(name: str = "Kofi judo", **fields: Any) -> list[Any]:
    """Return a weekly lesson without a place."""
    plain = {"activity": "judo", "who": ("kofi",), "responsible": ("amara",)}
    return times(event(name, NOW + 2 * DAY, **{"rrule": "FREQ=WEEKLY", **plain, **fields}))


def visit(name: str = "Ella dentist", days: int = 9, **fields: Any) -> list[Any]:
    """Return a plan that is down for a whole day."""
    start = (NOW + days * DAY).replace(hour=0)
    plain = {"activity": "dentist", "who": ("ella",), "all_day": True, "duration": DAY}
    return times(event(name, start, **{**plain, **fields}))


GAPS: tuple[tuple[Rows, Matter], ...] = (
    ({"occurrences": lesson()}, Matter.PLACE),
    ({"occurrences": lesson("Swimming")}, Matter.PLACE),
    ({"occurrences": lesson(), "facts": [told("Kofi is tired", "kofi")]}, Matter.PLACE),
    ({"occurrences": lesson(), "notes": [listed("Shopping list", "milk")]}, Matter.PLACE),
    ({"occurrences": visit()}, Matter.HOUR),
    ({"occurrences": visit("Optician", who=("tom",))}, Matter.HOUR),
)
SPOKEN_OF = {"occurrences": visit(), "facts": [told("Kofi went to the dentist", "kofi")]}
NO_GAPS: tuple[Rows, ...] = (
    {"occurrences": lesson(place="dojo")},
    {"occurrences": lesson(activity=None)},
    {"occurrences": lesson(kind=EventKind.CARE)},
    {"occurrences": lesson(kind=EventKind.BREAK)},
    {"occurrences": lesson(who=())},
    {"occurrences": lesson(state=EventState.CANCELLED)},
    {"occurrences": lesson(rrule="FREQ=WEEKLY;COUNT=1")},
    {"occurrences": lesson(), "facts": [told("Judo is at the town hall", "kofi")]},
    {"occurrences": lesson(), "notes": [listed("Places", "judo: town hall, side door")]},
    {"occurrences": visit(all_day=False)},
    {"occurrences": visit(duration=3 * DAY)},
    {"occurrences": visit(activity=None)},
    {"occurrences": visit("Ella's birthday")},
    {"occurrences": visit(days=1)},
    {"occurrences": visit(), "notes": [listed("Letters", "dentist at 3")]},
)


def gaps(rows: Rows) -> list[Any]:
    return [each for each in all_seen(**rows) if each.matter in CURIOUS]


def test_what_nobody_wrote_down_is_a_question_to_one_adult() -> None:
    wrong = [
        number
        for number, (rows, matter) in enumerate(GAPS)
        if [each.matter for each in gaps(rows)] != [matter]
    ]
    assert not wrong
    # Rather no question than one too many.
    assert not gaps(SPOKEN_OF)
    for rows, _ in GAPS:
        [found] = gaps(rows)
        assert "? Say “" in found.text
        assert found.score < TOLD_FROM
        assert found.person in {"amara", "tom"}


def test_what_is_written_somewhere_is_not_asked() -> None:
    assert not [number for number, rows in enumerate(NO_GAPS) if gaps(rows)]


def test_a_private_gap_is_asked_of_who_may_see_it_alone() -> None:
    hidden = {
        "amara": {"person:tom", "except:,amara,kofi,"},
        "tom": {"person:amara", "except:,tom,"},
    }
    for make, scope in product(
        (lesson, visit), ("person:amara", "person:tom", "except:,tom,", "except:,amara,kofi,")
    ):
        found = gaps({"occurrences": make(scope=scope)})
        assert len(found) == 1, (make, scope)
        assert all(scope not in hidden[each.person] for each in found)
