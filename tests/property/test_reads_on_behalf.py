"""Whatever function reads tasks, notes, events or actions for somebody: nothing that is private to another comes out."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions import repository as actions
from kinkeeper.actions.effects.calendar import AddEvent
from kinkeeper.actions.effects.notes import AddNote, NoteField
from kinkeeper.actions.effects.tasks import AddTask
from kinkeeper.actions.model import ActionStatus, ActionType, Proposal
from kinkeeper.brain import schedule
from kinkeeper.brain.question import read_question
from kinkeeper.brain.schedule import EventWords
from kinkeeper.calendar import event_rows, search
from kinkeeper.calendar import occurrences as horizon
from kinkeeper.calendar import repository as events
from kinkeeper.calendar.model import Event, EventKind, Provenance, SourceType
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.time import Interval
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_scope
from kinkeeper.notes import repository as notes
from kinkeeper.notes.model import Note
from kinkeeper.store.store import Store
from kinkeeper.tasks import repository as tasks
from kinkeeper.tasks.model import Place, Task

ZONE = ZoneInfo("Europe/London")
NOW = datetime(2026, 5, 4, 8, tzinfo=UTC)
MEMBERS = ("ann", "ben", "cleo", "dov")
ROLES = (Role.PARENT, Role.PARENT, Role.CHILD, Role.OTHER)
FAMILY = Household(
    id="h",
    zone=ZONE,
    locale="en-GB",
    bot_name="Bot",
    owner="ann",
    members=tuple(
        Member(id=each, name=each.title(), role=role)
        for each, role in zip(MEMBERS, ROLES, strict=True)
    ),
)
SPAN = Interval(NOW - timedelta(days=3), NOW + timedelta(days=30))
FAR = Interval(
    NOW - timedelta(days=45), NOW + timedelta(days=20)
)  # begins before what the table of occurrences holds
MODULES = (tasks, notes, events, event_rows, search, search, actions, schedule)


@st.composite
def planted(draw: st.DrawFn) -> dict[str, Any]:
    """Return who may see something, who has to do with it, and when it is."""
    return {
        "scope": draw(st.sampled_from([HOUSEHOLD_SCOPE, *map(person_scope, MEMBERS)])),
        "who": tuple(draw(st.lists(st.sampled_from(MEMBERS), max_size=3, unique=True))),
        "responsible": tuple(draw(st.lists(st.sampled_from(MEMBERS), max_size=2, unique=True))),
        "start": NOW + timedelta(hours=draw(st.integers(-48, 500))),
        "rrule": draw(st.sampled_from([None, "FREQ=DAILY;COUNT=4", "FREQ=WEEKLY"])),
        "kind": draw(st.sampled_from(EventKind)),
        "all_day": draw(st.booleans()),
    }


def word(number: int, scope: str) -> str:
    """Return what tells one row apart from all others, with who may see it."""
    return f"secret{number}of{scope.removeprefix('person:')}x"


def event_of(number: int, plan: Mapping[str, Any]) -> Event:
    text = word(number, plan["scope"])
    start = plan["start"].astimezone(ZONE)
    if plan["all_day"]:
        start = start.replace(hour=0)
    return Event(
        id=f"event-{text}",
        household="h",
        kind=plan["kind"],
        scope=plan["scope"],
        summary=text,
        start=start,
        duration=timedelta(days=1) if plan["all_day"] else timedelta(hours=1),
        tz=ZONE.key,
        who=plan["who"],
        responsible=plan["responsible"],
        place=f"at {text}",
        activity=f"doing-{text}",
        all_day=plan["all_day"],
        rrule=plan["rrule"],
        provenance=source_of(text),
    )


def source_of(text: str) -> Provenance:
    return Provenance(source_type=SourceType.CHAT, source_id=f"from-{text}")


def plant(conn: Connection, plans: list[dict[str, Any]]) -> None:
    horizon.extend_horizon(conn, "h", NOW)
    for number, plan in enumerate(plans):
        text, scope = word(number, plan["scope"]), plan["scope"]
        task = Task(
            id=f"task-{text}",
            household="h",
            scope=scope,
            title=text,
            description=f"about {text}",
            tz=ZONE.key,
            place=Place(channel="web"),
            created_at=NOW,
            who=plan["who"],
            deadline=plan["start"].astimezone(ZONE),
        )
        note = Note(
            id=f"note-{text}", household="h", scope=scope, title=text, body=text, created_at=NOW
        )
        event = event_of(number, plan)
        tasks.put_task(conn, task, at=NOW)
        notes.put_note(conn, note, at=NOW)
        events.insert_event(conn, event)
        for kind, effect in (
            (ActionType.TASK, AddTask(task=task)),
            (ActionType.NOTE, AddNote(note=NoteField.of(note))),
            (ActionType.EVENT_CREATE, AddEvent(event=event)),
        ):
            proposal = Proposal(
                household="h",
                type=kind,
                source_type="CHAT",
                source_id=f"{kind}{number}",
                slot="0",
                chat_id="family",
                extraction={},
                extraction_confidence=1.0,
                summary=text,
                effects=(effect.frozen(),),
                choices=(),
                merge_key=None,
            )
            proposals.propose(conn, proposal, household=FAMILY, now=NOW)


def asked_with(
    plans: list[dict[str, Any]], action_ids: Sequence[str]
) -> Mapping[str, list[dict[str, Any]]]:
    """Return the arguments with which each function is asked, besides connection and viewer."""
    texts = [word(number, plan["scope"]) for number, plan in enumerate(plans)]
    spans = [{"interval": SPAN}, {"interval": FAR}]
    question = read_question(" ".join(["when is", *texts[:3]]), FAMILY, now=NOW)
    return {
        "find_task": [{"task_id": f"task-{each}"} for each in texts],
        "load_task": [{"task_id": f"task-{each}"} for each in texts],
        "list_tasks": [{}],
        "open_tasks": [{}],
        "tasks_lately": [{"since": NOW}],
        "find_note": [{"note_id": f"note-{each}"} for each in texts],
        "load_note": [{"note_id": f"note-{each}"} for each in texts],
        "list_notes": [{}],
        "find_event": [{"event_id": f"event-{each}"} for each in texts],
        "load_event": [{"event_id": f"event-{each}"} for each in texts],
        "events_of_source": [{"provenance": source_of(each)} for each in texts],
        "read_events_of_source": [{"provenance": source_of(each)} for each in texts],
        "list_events": [{"include_cancelled": True}],
        "read_events": [{}, {"ids": [f"event-{each}" for each in texts]}],
        "occurrences_between": [
            {**each, "with_busy": busy, "include_cancelled": True}
            for each in spans
            for busy in (False, True)
        ],
        "activity_occurrences": [
            {**each, "activity": f"doing-{one}"} for each in spans for one in texts
        ],
        "care_between": spans,
        "expand_all": spans,
        "find_conflicts": [{**each, "member": one} for each in spans for one in MEMBERS],
        "open_actions": [{"now": NOW}],
        "open_titles": [{"chat_id": "family", "now": NOW, "limit": 10}],
        "done_of_source": [
            {"source_type": "CHAT", "source_id": f"{kind}{number}"}
            for number in range(len(plans))
            for kind in (ActionType.TASK, ActionType.NOTE, ActionType.EVENT_CREATE)
        ],
        "restorable_actions": [{"now": NOW + timedelta(days=400), "since": NOW}],
        "list_actions": [{"now": NOW, "statuses": frozenset(ActionStatus)}],
        "read_action": [{"action_id": each} for each in action_ids],
        "read_actions": [{"action_ids": action_ids}],
        "find_action": [{"id_or_prefix": each} for each in action_ids],
        "scheduled": [{"words": EventWords(FAMILY), "question": question, "now": NOW}],
        # Rows of the occurrence table are no text: `occurrences_between` and `find_conflicts` pass them on.
        "stored_occurrences": [],
    }


def reading(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the functions of a module that read for somebody."""
    return {
        name: function
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and {"conn", "viewer"} <= inspect.signature(function).parameters.keys()
    }


READING = {name: function for module in MODULES for name, function in reading(module).items()}


def outputs(
    conn: Connection, viewer: Viewer, asked: Mapping[str, list[dict[str, Any]]]
) -> list[tuple[str, str]]:
    found = []
    for name, function in READING.items():
        for arguments in asked[name]:
            try:
                found.append((name, repr(function(conn, viewer, **arguments))))
            except NotFoundError:
                found.append((name, ""))
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = Store.open(str(tmp_path_factory.mktemp("private") / "family.sqlite"))
    yield made
    made.close()


def viewers() -> list[tuple[str | None, Viewer]]:
    found: list[tuple[str | None, Viewer]] = [(None, Viewer.of("h"))]
    found += [(each, Viewer.of("h", each)) for each in MEMBERS]
    return [*found, ("dov", Viewer.guest(FAMILY, "dov", now=NOW))]


class _TakenBackError(Exception):
    """Ends a transaction of which nothing is to stay."""


@pytest.mark.slow
@settings(deadline=None)
@given(plans=st.lists(planted(), min_size=1, max_size=3))
def test_nothing_private_comes_out_for_others(store: Store, plans: list[dict[str, Any]]) -> None:
    def story(conn: Connection) -> None:
        plant(conn, plans)
        every = actions.list_actions(
            conn, Viewer.whole("h"), now=NOW, statuses=frozenset(ActionStatus)
        )
        asked = asked_with(plans, [each.id for each in every])
        for member, viewer in viewers():
            told = outputs(conn, viewer, asked)
            for number, plan in enumerate(plans):
                text, scope = word(number, plan["scope"]), plan["scope"]
                if scope in {HOUSEHOLD_SCOPE, person_scope(member or "")}:
                    continue
                leaks = [name for name, out in told if text in out]
                assert not leaks, (member, scope, leaks)
            if member is not None:
                own = [
                    word(n, p["scope"])
                    for n, p in enumerate(plans)
                    if p["scope"] == person_scope(member)
                ]
                assert all(any(text in out for _, out in told) for text in own)
        raise _TakenBackError

    with pytest.raises(_TakenBackError):
        store.write_now(story)


def test_every_reading_function_is_asked() -> None:
    assert READING.keys() >= {"list_tasks", "list_notes", "occurrences_between", "open_actions"}
    assert READING.keys() == asked_with([], []).keys(), "say how what is new here is asked"
