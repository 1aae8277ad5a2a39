"""Times that are said by others, places in what was shown, and jobs that are taken."""

from typing import Any

import pytest

from planning import done, exchange, planned

SWIM = exchange(
    "add swim gala on 18 April at 9",
    done(
        "calendar.create_event",
        id="e1",
        event_id="e1",
        title="swim gala",
        who=["john"],
        start="2026-04-18T09:00:00-05:00",
        end="2026-04-18T11:00:00-05:00",
        params={"summary": "swim gala"},
    ),
)
OVEN = exchange(
    "remind me to clean the oven on Friday at 7am",
    done("task.create", id="t1", title="clean the oven", deadline="2026-03-13T07:00:00-05:00"),
)
CHORES = exchange(
    "what's on my list",
    done(
        "task.list",
        tasks=[
            {"id": "a", "title": "hang the mirror", "status": "open"},
            {"id": "b", "title": "bleed the radiators", "status": "open"},
            {"id": "c", "title": "wash the curtains", "status": "open"},
        ],
    ),
)
LIST = exchange(
    "show me the shopping list",
    done(
        "notes.list",
        params={"title": "Shopping list"},
        notes=[{"title": "Shopping list", "entries": ["leeks", "brown rice", "foil", "olive oil"]}],
    ),
)


def changes_of(text: str, *history: Any) -> dict[str, Any]:
    (((name, params)),) = planned(text, history=history)
    assert name in {"calendar.update_event", "task.update"}
    return {
        field: value.removesuffix("-05:00") if isinstance(value, str) else value
        for field, value in params["changes"].items()
    }


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("two hours later", {"start_time": "2026-04-18T11:00:00"}),
        ("half an hour earlier please", {"start_time": "2026-04-18T08:30:00"}),
        ("three days later than that", {"start_time": "2026-04-21T09:00:00"}),
        ("the week after instead", {"start_time": "2026-04-25T09:00:00"}),
        ("make it the day before", {"start_time": "2026-04-17T09:00:00"}),
        ("move it to the following day", {"start_time": "2026-04-19T09:00:00"}),
        ("a month later", {"start_time": "2026-05-18T09:00:00"}),
        ("make that the 6th", {"start_time": "2026-04-06T09:00:00"}),
        ("make it Friday", {"start_time": "2026-04-17T09:00:00"}),
        ("not Saturday, Sunday", {"start_time": "2026-04-19T09:00:00"}),
        ("make it 20 minutes longer", {"end_time": "2026-04-18T11:20:00"}),
        ("an hour shorter", {"end_time": "2026-04-18T10:00:00"}),
        ("it lasts three hours", {"end_time": "2026-04-18T12:00:00"}),
        ("it's 90 minutes long", {"end_time": "2026-04-18T10:30:00"}),
        ("it ends at 12", {"end_time": "2026-04-18T12:00:00"}),
        ("add Sarah to it", {"who": ["john", "sarah"]}),
        ("call it county gala", {"summary": "county gala"}),
        ("at Leo's school instead", {"location": "Leo's school"}),
        ("I'll take it", {"responsible": ["john"]}),
        ("leave that to me", {"responsible": ["john"]}),
    ],
)
def test_what_was_made_is_changed_by_what_it_is(text: str, changes: dict[str, Any]) -> None:
    assert changes_of(text, SWIM) == changes


@pytest.mark.parametrize(
    ("text", "deadline"),
    [
        ("an hour later", "2026-03-13T08:00:00"),
        ("sorry, 6", "2026-03-13T06:00:00"),
        ("actually 8", "2026-03-13T08:00:00"),
        ("the day after", "2026-03-14T07:00:00"),
        ("no, a week later", "2026-03-20T07:00:00"),
    ],
)
def test_a_reminder_is_changed_by_when_it_is(text: str, deadline: str) -> None:
    assert changes_of(text, OVEN) == {"deadline": deadline}


def test_a_day_of_its_month_that_has_passed_is_the_next_such_day() -> None:
    assert changes_of("make that the 6th", OVEN) == {"deadline": "2026-04-06T07:00:00"}


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("the second one's done", ["b"]),
        ("done with the first two", ["a", "b"]),
        ("tick off the last two", ["b", "c"]),
        ("I've done the first and the third", ["a", "c"]),
        ("the last one is done", ["c"]),
    ],
)
def test_places_in_a_list_of_tasks(text: str, tasks: list[str]) -> None:
    assert [(name, params["find_by"]) for name, params in planned(text, history=[CHORES])] == [
        ("task.complete", each) for each in tasks
    ]


def test_the_same_is_done_with_another() -> None:
    ticked = exchange(
        "the second one's done",
        done("task.complete", id="b", title="bleed the radiators", status="done"),
    )

    assert planned("and the last one", history=[CHORES, ticked]) == [
        ("task.complete", {"find_by": "c"})
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("scrap the leeks", ["leeks"]),
        ("remove the second one", ["brown rice"]),
        ("take the last one off", ["olive oil"]),
        ("got the foil", ["foil"]),
        ("I've bought the leeks and the rice", ["leeks", "brown rice"]),
        ("foil is in the trolley", ["foil"]),
        ("drop the first two", ["leeks", "brown rice"]),
    ],
)
def test_lines_of_a_list_that_was_read_out(text: str, lines: list[str]) -> None:
    assert planned(text, history=[LIST]) == [
        ("notes.remove_line", {"title": "Shopping list", "line": each}) for each in lines
    ]


@pytest.mark.parametrize("text", ["got the joke", "I've found a plumber", "drop the children off"])
def test_what_stands_on_no_list_is_taken_off_none(text: str) -> None:
    assert not [name for name, _ in planned(text, history=[LIST]) if name.startswith("notes.")]


def test_days_are_listed_by_those_listed_before() -> None:
    week = exchange(
        "what's on next week",
        done("calendar.list_events", params={"from": "2026-03-16", "days_ahead": 7}, events=[]),
    )

    ((_, params),) = planned("and the week after?", history=[week])

    assert (params["from"], params["days_ahead"]) == ("2026-03-23", 7)
