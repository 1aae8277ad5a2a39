"""What is private is kept so in one place: proven from the source code.

Rows with a scope are read by their own packages' reading functions, which take on whose behalf. Who reads
for nobody's eyes says so with `Viewer.whole`; the modules that may are listed here, with why.
"""

import ast
from pathlib import Path

import kinkeeper

ROOT = Path(kinkeeper.__file__).parent

# Which modules may name a table with a scope, and so write a query of their own about it.
READERS = {
    "kinkeeper.tasks.tables": {"tasks/repository.py"},
    "kinkeeper.notes.tables": {"notes/repository.py"},
    "kinkeeper.calendar.tables": {
        "calendar/repository.py", "calendar/rows.py", "calendar/search.py",
        "calendar/occurrences.py", "calendar/journal.py",
        # Counts and takes back changes by their ids; shows none.
        "observer/rewinding.py", "benchmarks/calendar.py",
    },
    "kinkeeper.actions.tables": {
        "actions/repository.py", "actions/writing.py", "actions/audience.py", "actions/purging.py", "actions/journal.py",
        "actions/press_tokens.py",
        # Counts, instants and states; no words.
        "observer/metrics.py", "observer/feedback.py", "observer/trace.py", "observer/rewinding.py",
        "web/live.py", "benchmarks/serving/soak.py",
        # Of open actions that were read for somebody: which messages they rest on.
        "web/pages/records.py",
    },
}  # fmt: skip
WHOLE = {
    # They write, and must find what they write over.
    "actions/effects/calendar.py", "actions/effects/notes.py", "actions/effects/tasks.py",
    "actions/importing.py", "calendar/changes.py", "calendar/occurrences.py",
    "calendar/repository.py", "calendar/seeds.py", "calendar/undo.py", "notes/changes.py",
    "tasks/changes.py",
    # Reads others' private events to tell that they are busy, and nothing else of them.
    "calendar/search.py",
    # Says reminders to those whose they are.
    "tasks/reminders.py",
    # Leaves out what is private here, but for what came from there.
    "connectors/caldav/events.py", "connectors/caldav/todos.py",
    # Counts.
    "observer/metrics.py",
    # Everything, for whoever may read the database file.
    "cli/exporting.py", "cli/calendar_view.py",
}  # fmt: skip


def modules() -> list[tuple[str, ast.Module]]:
    return [
        (path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(ROOT.rglob("*.py"))
        if "migrations" not in path.parts
    ]


def importing(table: str) -> set[str]:
    return {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if (isinstance(node, ast.ImportFrom) and node.module == table)
        or (isinstance(node, ast.Import) and any(each.name == table for each in node.names))
    }


def calling(attribute: str, of: str) -> set[str]:
    return {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.value, ast.Name)
        and node.value.id == of
    }


def test_rows_with_a_scope_are_read_in_their_own_packages() -> None:
    for table, allowed in READERS.items():
        schema_only = {"store/schema.py", "bootstrap/system.py"}
        assert importing(table) - schema_only <= allowed, table


def test_only_those_read_for_nobody_who_show_nothing() -> None:
    assert calling("whole", "Viewer") == WHOLE


def test_people_are_shown_actions_that_were_read_for_them() -> None:
    """`load_action` is for those who carry actions out; pages and commands use `read_action`."""
    found = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module == "kinkeeper.actions.repository"
        and any(each.name == "load_action" for each in node.names)
    }
    shown = {name for name in found if name.startswith(("web/", "cli/", "channels/"))}
    # A question about an action goes to the person who asked for it, in their own thread.
    assert shown <= {"channels/telegram/conversing.py"}
