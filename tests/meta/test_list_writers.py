"""Tasks and notes change through the executor alone: proven from the source code.

A function of these packages writes if it calls SQLAlchemy's insert, update or delete, or another function of
the package that writes; so do all of the modules of revocable changes. What is said of a task, and when next,
follows from it and is no change of anybody's.
"""

from functools import cache

import pytest

from source_names import Modules, read, sources, writers

ADAPTERS = {
    "kinkeeper.tasks": "kinkeeper.actions.effects.tasks",
    "kinkeeper.notes": "kinkeeper.actions.effects.notes",
}

# The tables themselves, and the modules of revocable changes.
GUARDED = {
    "kinkeeper.tasks": (
        "kinkeeper.tasks.repository.tasks",
        "kinkeeper.tasks.repository.task_reminders",
        "kinkeeper.tasks.task_changes",
    ),
    "kinkeeper.notes": ("kinkeeper.notes.repository.notes", "kinkeeper.notes.note_changes"),
}


@cache
def list_writers(package: str) -> frozenset[str]:
    return writers(sources(), package)


def offences(modules: Modules) -> list[str]:
    """Return "module:line name" of everything that changes a task or a note past the executor."""
    found = []
    for package, adapter in ADAPTERS.items():
        for name, module in modules.items():
            if f"{name}.".startswith(f"{package}.") or name == adapter:
                continue
            for line, each in module.named:
                is_guarded = any(f"{each}.".startswith(f"{kept}.") for kept in GUARDED[package])
                if is_guarded or each in list_writers(package):
                    found.append(f"{name}:{line} {each}")
    return sorted(set(found))


def test_nobody_changes_tasks_and_notes_past_the_executor() -> None:
    assert offences(sources()) == []


def test_the_writers_are_found_by_what_they_do() -> None:
    assert {
        f"kinkeeper.tasks.repository.{name}" for name in ("put_task", "remove_task", "set_reminder")
    } <= list_writers("kinkeeper.tasks")
    assert "kinkeeper.tasks.repository.list_tasks" not in list_writers("kinkeeper.tasks")
    assert "kinkeeper.notes.repository.remove_note" in list_writers("kinkeeper.notes")


@pytest.mark.parametrize(
    "code",
    [
        "from kinkeeper.tasks.task_changes import add_task",
        "from kinkeeper.notes import note_changes",
        "from kinkeeper.tasks import repository\nrepository.put_task",
        "from kinkeeper.notes.repository import notes",
        "import kinkeeper.notes.repository as r\nr.put_note",
        "def late():\n    from kinkeeper.tasks.repository import remove_task",
    ],
)
def test_a_way_past_the_executor_is_noticed(code: str) -> None:
    assert offences({"kinkeeper.web.sly": read("kinkeeper.web.sly", code)})


@pytest.mark.parametrize(
    ("names", "allowed"),
    [
        (
            ("add_goal", "move_goal", "undo_change", "allow_page", "take_back_page"),
            {"kinkeeper.actions.effects.goals"},
        ),
        (("put_goal",), {"kinkeeper.background.goal_work"}),
    ],
)
def test_goals_are_taken_on_and_stopped_by_the_executor_alone(
    names: tuple[str, ...], allowed: set[str]
) -> None:
    """How far the work on one has come is written by that work, and by nobody else."""
    wanted = {f"kinkeeper.goals.repository.{name}" for name in names}
    found = {
        name
        for name, module in sources().items()
        if any(wanted & {each, f"kinkeeper.goals.{each}"} for each in module.names)
    }
    assert found - {"kinkeeper.goals.repository"} == allowed
