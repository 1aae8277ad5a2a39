"""All that a household has at one moment, for exports; and what changed between two moments, for rehearsals."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.effects.calendar import event_to_json
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.repository import list_actions
from kinkeeper.actions.requests.goals import goal_json
from kinkeeper.actions.requests.notes import note_json
from kinkeeper.actions.requests.tasks import task_json
from kinkeeper.bootstrap.system import System
from kinkeeper.calendar.repository import list_events
from kinkeeper.core.time import Clock
from kinkeeper.goals.repository import list_goals
from kinkeeper.household.viewers import Viewer
from kinkeeper.mail.model import Draft, list_drafts
from kinkeeper.memory.memory_export import Exported, exported_records
from kinkeeper.notes.repository import list_notes
from kinkeeper.tasks.repository import list_tasks

Records = Mapping[str, Mapping[str, Any]]
"""Public records by id."""

State = Mapping[str, Records]
"""Records by kind: events, tasks, goals, lists, notes, memory, mail and cards."""

KINDS = ("events", "tasks", "goals", "lists", "notes", "memory", "mail", "cards")
_ENTRY = "- "


def state_of(system: System, clock: Clock) -> State:
    """Return all that the household has now, whoever may see it. Blocks."""
    return system.store.read_now(lambda conn: _read(conn, system, clock))


def changes_between(before: State, after: State) -> dict[str, dict[str, list[Any]]]:
    """Return what was added, changed and removed of each kind; kinds without changes are left out."""
    found = {}
    for kind in KINDS:
        old, new = before[kind], after[kind]
        changes = {
            "added": [new[each] for each in new if each not in old],
            "changed": [new[each] for each in new if each in old and new[each] != old[each]],
            "removed": [old[each] for each in old if each not in new],
        }
        if any(changes.values()):
            found[kind] = changes
    return found


def public_records(
    conn: Connection, system: System, *, now: datetime
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return all facts, actions, tasks, goals, notes and drafts of mails in their public form, everybody's own ones too.

    Args:
        now: Tells which actions still wait.
    """
    household = system.household
    whole = Viewer.whole(household.id)
    actions = list_actions(conn, whole, statuses=frozenset(ActionStatus), now=now)
    return {
        "facts": [*exported_records(conn, household.id, Exported.FACTS, names=household.names)],
        "actions": [action_record(each) for each in actions],
        "tasks": [task_json(each) for each in list_tasks(conn, whole)],
        "goals": [goal_json(each, household.zone) for each in list_goals(conn, whole)],
        "notes": [note_json(each) for each in list_notes(conn, whole)],
        "drafts": [_draft_json(each) for each in list_drafts(conn, household.id)],
    }


def _draft_json(draft: Draft) -> dict[str, Any]:
    return draft.mail.model_dump(mode="json") | {
        "id": draft.id,
        "written_by": draft.written_by,
        "written_at": draft.written_at.isoformat(),
    }


def _read(conn: Connection, system: System, clock: Clock) -> State:
    records = public_records(conn, system, now=clock.now())
    events = list_events(conn, Viewer.whole(system.household.id))
    notes = records["notes"]
    return {
        "events": _by_id(map(event_to_json, events)),
        "tasks": _by_id(records["tasks"]),
        "goals": _by_id(records["goals"]),
        "lists": _by_id(each for each in notes if each["body"].startswith(_ENTRY)),
        "notes": _by_id(each for each in notes if not each["body"].startswith(_ENTRY)),
        "memory": _by_id(records["facts"]),
        "mail": _by_id(records["drafts"]),
        "cards": _by_id(records["actions"]),
    }


def _by_id(records: Iterable[Mapping[str, Any]]) -> Records:
    return {each["id"]: each for each in records}
