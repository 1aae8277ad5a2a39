"""Only the executor's package changes the event graph for people: proven from the source code.

A function of `kinkeeper.calendar` writes if it calls SQLAlchemy's insert, update or delete, uses a
statement kept beside it that does, or calls another function of that package that writes. No module outside may import such a function, the
modules of revocable changes and of their undoing, or a table of the graph.
"""

import ast
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from kinkeeper.core.errors import InvariantError
from kinkeeper.observer.accounts.rewind import Then, rewind
from kinkeeper.store.store import Store
from source_names import Module, Modules, read, sources, writers

GRAPH = "kinkeeper.calendar"
CHANGES = "kinkeeper.calendar.event_changes"
TABLES = "kinkeeper.calendar.tables"
# The household file is its owner's own word, and derived rows follow from what is already written.
OWN_UPKEEP = frozenset({f"{GRAPH}.seeds.sync_seeds", f"{GRAPH}.occurrences.extend_horizon"})
# Where effects become changes; nothing else in the executor's package may.
ADAPTER = "kinkeeper.actions.effects.calendar"

# Takes records back to decide a message again; nothing of it is kept.
REWINDING = "kinkeeper.observer.accounts.rewind"
PLANTED = "kinkeeper.observer.planted"


@cache
def graph_writers() -> frozenset[str]:
    return writers(sources(), GRAPH)


def runs_only_where_it_is_undone(name: str, module: Module) -> bool:
    """Whether the module's only public function first refuses any transaction that could be kept."""
    if name != REWINDING:
        return False
    public = [
        node
        for node in ast.parse(module.code).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    return (
        "kinkeeper.store.store.require_rehearsal" in module.names
        and "require_rehearsal" not in module.made
        and [ast.unparse(node.body[1]).partition("(")[0] for node in public]
        == ["require_rehearsal"]
    )


def offences(modules: Modules) -> list[str]:
    """Return "module:line name" of everything that reaches past the executor."""
    forbidden = graph_writers() - OWN_UPKEEP
    found = []
    for name, module in modules.items():
        if f"{name}.".startswith(f"{GRAPH}.") or name == ADAPTER:
            continue
        if runs_only_where_it_is_undone(name, module):
            continue
        for line, each in module.named:
            is_change = f"{each}.".startswith(f"{CHANGES}.")
            is_table = each.startswith(f"{TABLES}.")
            if is_change or is_table or each in forbidden:
                found.append(f"{name}:{line} {each}")
    return sorted(set(found))


def test_nobody_writes_the_event_graph_past_the_executor() -> None:
    assert offences(sources()) == []


def test_the_writers_are_found_by_what_they_do() -> None:
    found = graph_writers()
    assert {
        f"{CHANGES}.add_event",
        f"{CHANGES}.undo_change",
        f"{GRAPH}.repository.insert_event",
        f"{GRAPH}.repository.delete_override",
        f"{GRAPH}.seeds.sync_seeds",
    } <= found
    assert f"{GRAPH}.repository.load_event" not in found
    assert f"{GRAPH}.repository.list_events" not in found


@pytest.mark.parametrize(
    "code",
    [
        "from kinkeeper.calendar.event_changes import add_event",
        "from kinkeeper.calendar import event_changes",
        "import kinkeeper.calendar.event_changes",
        "import kinkeeper.calendar.event_changes as harmless",
        "def late():\n    from kinkeeper.calendar.event_changes import undo_change as harmless",
        "import importlib\nimportlib.import_module('kinkeeper.calendar.event_changes')",
        "from kinkeeper.calendar.repository import insert_event",
        "from kinkeeper.calendar import repository as r\nr.replace_event",
        "import kinkeeper\nkinkeeper.calendar.repository.delete_event",
        "from kinkeeper.calendar.tables import events",
        "from kinkeeper.calendar import tables\ntables.events",
        "from kinkeeper.calendar.event_changes import record",
    ],
)
@pytest.mark.parametrize("module", ["kinkeeper.observer.planted", "kinkeeper.actions.planted"])
def test_a_planted_offender_is_found(module: str, code: str) -> None:
    found = offences({module: read(module, code)})
    assert found
    assert all(offence.startswith(f"{module}:") for offence in found)


@pytest.mark.parametrize(
    "code",
    [
        "from kinkeeper.calendar.repository import load_event, list_events",
        "from kinkeeper.calendar.model import Event",
        "from kinkeeper.calendar.seeds import sync_seeds",
        "from kinkeeper.calendar import tables",
    ],
)
def test_reading_is_allowed(code: str) -> None:
    assert offences({PLANTED: read(PLANTED, code)}) == []


def callers(target: str) -> set[str]:
    return {name for name, module in sources().items() if target in module.names}


def test_only_a_decision_reaches_the_executor() -> None:
    assert callers("kinkeeper.actions.executor.execute") == {"kinkeeper.actions.approvals"}


def test_only_the_executors_package_moves_an_action_on() -> None:
    moving = callers("kinkeeper.actions.action_writes.advance")
    assert all(module.startswith("kinkeeper.actions.") for module in moving)
    assert len(moving) > 1


def test_taking_records_back_is_refused_where_it_would_be_kept(tmp_path: Path) -> None:
    then = Then(row_id=1, heard_at=datetime.now(UTC), decided_at=datetime.now(UTC))
    with (
        Store.open(str(tmp_path / "family.sqlite")) as store,
        pytest.raises(InvariantError, match="rehearse"),
    ):
        store.write_now(lambda conn: rewind(conn, "vienna", then))


@pytest.mark.parametrize(
    "code",
    [
        "from kinkeeper.calendar.event_changes import undo_change\ndef rewind(conn):\n    'x'\n    undo_change(conn)",
        (
            "from kinkeeper.calendar.event_changes import undo_change\nfrom kinkeeper.store.store import require_rehearsal\n"
            "def rewind(conn):\n    'x'\n    require_rehearsal(conn)\ndef other(conn):\n    'x'\n    undo_change(conn)"
        ),
    ],
)
def test_taking_records_back_past_the_refusal_is_found(code: str) -> None:
    assert offences({REWINDING: read(REWINDING, code)})
