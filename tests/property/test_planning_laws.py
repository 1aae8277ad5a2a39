"""Laws of planning that hold for any text."""

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from kinkeeper.actions.requests.event_views import (
    CreateEvent,
    FindEvent,
    FindFree,
    ListEvents,
    UpdateEventOf,
)
from kinkeeper.actions.requests.tasks import CreateTask, FindTask, ListTasks, UpdateTaskOf
from planning import plan, planned

PARAMETERS: dict[str, type[BaseModel]] = {
    "calendar.create_event": CreateEvent,
    "calendar.delete_event": FindEvent,
    "calendar.update_event": UpdateEventOf,
    "calendar.list_events": ListEvents,
    "calendar.find_free": FindFree,
    "task.create": CreateTask,
    "task.complete": FindTask,
    "task.delete": FindTask,
    "task.update": UpdateTaskOf,
    "task.list": ListTasks,
}
WORDS = st.sampled_from(
    [
        "remind",
        "me",
        "to",
        "call",
        "mom",
        "tomorrow",
        "at",
        "5",
        "on",
        "friday",
        "cancel",
        "the",
        "dentist",
        "move",
        "soccer",
        "email",
        "Bob",
        "that",
        "i'm",
        "late",
        "add",
        "milk",
        "and",
        "eggs",
        "shopping",
        "list",
        "what's",
        "my",
        "calendar",
        "when",
        "is",
        "Leo's",
        "next",
        "meeting",
        "with",
        "every",
        "sunday",
        "in",
        "20",
        "minutes",
        "it",
        "that",
        "the",
        "second",
        "one",
        "same",
        "time",
        "make",
        "don't",
        "should",
        "if",
        "said",
        "please",
        "an",
        "hour",
        "free",
        "find",
        "note",
        "remember",
        "3pm",
        "next",
        "week",
        "who",
        "all",
    ]
)
TALK = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)


@given(text=st.text(max_size=300) | TALK)
@settings(max_examples=150, deadline=None)
def test_any_text_is_planned_without_an_error(text: str) -> None:
    found = plan(text)

    assert (found.partial is None) or found.clarification


@given(text=TALK)
@settings(max_examples=300, deadline=None)
def test_every_planned_request_has_parameters_of_its_kind(text: str) -> None:
    for name, params in planned(text):
        if name in PARAMETERS:
            PARAMETERS[name].model_validate(params)


@given(text=TALK)
@settings(max_examples=150, deadline=None)
@example(text="what did Tom say about judo?")
def test_what_is_quoted_is_never_a_request(text: str) -> None:
    assert planned(f'She wrote "{text}"') == []
    assert planned(f"the letter says: {text}") == []


@given(text=TALK)
@settings(max_examples=100, deadline=None)
def test_no_mail_goes_to_somebody_who_was_not_named(text: str) -> None:
    for name, params in planned(text):
        if name.startswith("email.") and "to" in params:
            assert _words(params["to"]) <= _words(text)


def _words(said: Any) -> set[str]:
    joined = " ".join(said) if isinstance(said, list) else said
    return set(joined.lower().replace(",", " ").split())
