"""Only the executor's package changes the event graph for people: proven from the source code.

A function of `kinkeeper.calendar` writes if it calls SQLAlchemy's insert, update or delete, or
another function of that package that writes. No module outside may import such a function, the
modules of revocable changes and of their undoing, or a table of the graph.
"""

import ast
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

import kinkeeper
from kinkeeper.core.errors import InvariantError
from kinkeeper.observer.rewinding import Then, rewind
from kinkeeper.store.store import Store

SOURCE = Path(kinkeeper.__file__).parent
GRAPH = "kinkeeper.calendar"
# Packages whose writers are guarded; memory's by tests of their own.
GUARDED = (f"{GRAPH}.", "kinkeeper.memory.")
CHANGES = "kinkeeper.calendar.changes"
UNDO = "kinkeeper.calendar.undo"
TABLES = "kinkeeper.calendar.tables"
STATEMENTS = frozenset({"insert", "update", "delete"})
# The household file is its owner's own word, and derived rows follow from what is already written.
OWN_UPKEEP = frozenset({f"{GRAPH}.seeds.sync_seeds", f"{GRAPH}.occurrences.extend_horizon"})
# Where effects become changes; nothing else in the executor's package may.
ADAPTER = "kinkeeper.actions.effects.calendar"

# Takes records back to decide a message again; nothing of it is kept.
REWINDING = "kinkeeper.observer.rewinding"

Trees = Mapping[str, ast.Module]


@cache
def sources() -> dict[str, ast.Module]:
    return {
        module_name(path): ast.parse(path.read_text(encoding="utf-8"), str(path))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def bindings(tree: ast.Module) -> dict[str, str]:
    """Return what each imported name stands for, wherever in the module it is imported."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.split(".")[0]
                bound[alias.asname or whole] = whole
    return bound


def dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return None if before is None else f"{before}.{node.attr}"
    return None


def references(tree: ast.AST, bound: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yield the full name of everything imported or reached through an import, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.Name | ast.Attribute):
            name = dotted(node) or ""
            first, _, rest = name.partition(".")
            if first in bound:
                yield node.lineno, f"{bound[first]}.{rest}".rstrip(".")
        elif isinstance(node, ast.Constant) and str(node.value).startswith(GUARDED):
            yield node.lineno, str(node.value)  # importlib.import_module and the like


def writers(trees: Trees, package: str = GRAPH) -> set[str]:
    """Return the full names of a package's functions that write, directly or through another."""
    calls: dict[str, set[str]] = {}
    for module, tree in trees.items():
        if not module.startswith(f"{package}."):
            continue
        bound = bindings(tree)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                bound.setdefault(node.name, f"{module}.{node.name}")
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                reached = {name for _, name in references(node, bound)}
                calls[f"{module}.{node.name}"] = reached
    found: set[str] = set()
    statements = {f"sqlalchemy.{name}" for name in STATEMENTS}
    while more := {name for name, to in calls.items() if to & (found | statements)} - found:
        found |= more
    return found


@cache
def graph_writers() -> frozenset[str]:
    return frozenset(writers(sources()))


def fills_a_database_of_its_own(module: str, tree: ast.Module) -> bool:
    """Whether this measures on a throwaway database and cannot open the household's."""
    if not module.startswith("kinkeeper.benchmarks."):
        return False
    names = {name for _, name in references(tree, bindings(tree))}
    opens_stores = any(name.startswith("kinkeeper.store.store") for name in names)
    return "tempfile.TemporaryDirectory" in names and not opens_stores


def runs_only_where_it_is_undone(module: str, tree: ast.Module) -> bool:
    """Whether the module's only public function first refuses any transaction that could be kept."""
    if module != REWINDING:
        return False
    public = [
        node for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]  # fmt: skip
    first = [next(iter(references(node.body[1], bindings(tree))), None) for node in public]
    return [name for _, name in filter(None, first)] == [
        "kinkeeper.store.rehearsal.require_rehearsal"
    ]


def offences(trees: Trees) -> list[str]:
    """Return "module:line name" of everything that reaches past the executor."""
    forbidden = graph_writers() - OWN_UPKEEP
    found = []
    for module, tree in trees.items():
        if f"{module}.".startswith(f"{GRAPH}.") or module == ADAPTER:
            continue
        if fills_a_database_of_its_own(module, tree) or runs_only_where_it_is_undone(module, tree):
            continue
        for line, name in references(tree, bindings(tree)):
            is_change = any(f"{name}.".startswith(f"{each}.") for each in (CHANGES, UNDO))
            is_table = name.startswith(f"{TABLES}.")
            if is_change or is_table or name in forbidden:
                found.append(f"{module}:{line} {name}")
    return sorted(set(found))


def test_nobody_writes_the_event_graph_past_the_executor() -> None:
    assert offences(sources()) == []


def test_the_writers_are_found_by_what_they_do() -> None:
    found = graph_writers()
    assert {
        f"{CHANGES}.add_event",
        f"{UNDO}.undo_change",
        f"{GRAPH}.repository.insert_event",
        f"{GRAPH}.repository.delete_override",
        f"{GRAPH}.seeds.sync_seeds",
    } <= found
    assert f"{GRAPH}.repository.load_event" not in found
    assert f"{GRAPH}.repository.list_events" not in found


@pytest.mark.parametrize(
    "code",
    [
        "from kinkeeper.calendar.changes import add_event",
        "from kinkeeper.calendar import changes",
        "from kinkeeper.calendar import undo",
        "import kinkeeper.calendar.changes",
        "import kinkeeper.calendar.changes as harmless",
        "def late():\n    from kinkeeper.calendar.undo import undo_change as harmless",
        "import importlib\nimportlib.import_module('kinkeeper.calendar.changes')",
        "from kinkeeper.calendar.repository import insert_event",
        "from kinkeeper.calendar import repository as r\nr.replace_event",
        "import kinkeeper\nkinkeeper.calendar.repository.delete_event",
        "from kinkeeper.calendar.tables import events",
        "from kinkeeper.calendar import tables\ntables.events",
        "from kinkeeper.calendar.journal import record",
    ],
)
@pytest.mark.parametrize("module", ["kinkeeper.observer.planted", "kinkeeper.actions.planted"])
def test_a_planted_offender_is_found(module: str, code: str) -> None:
    found = offences({module: ast.parse(code)})
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
    assert offences({"kinkeeper.observer.planted": ast.parse(code)}) == []


@pytest.mark.parametrize(
    ("module", "opening", "is_allowed"),
    [
        ("kinkeeper.benchmarks.planted", "from tempfile import TemporaryDirectory", True),
        ("kinkeeper.benchmarks.planted", "import tempfile\ntempfile.TemporaryDirectory", True),
        ("kinkeeper.benchmarks.planted", "", False),
        (
            "kinkeeper.benchmarks.planted",
            "from tempfile import TemporaryDirectory\nfrom kinkeeper.store.store import Store",
            False,
        ),
        ("kinkeeper.observer.planted", "from tempfile import TemporaryDirectory", False),
        ("kinkeeper.calendars", "from tempfile import TemporaryDirectory", False),
    ],
)
def test_a_benchmark_writes_only_where_it_throws_away(
    module: str, opening: str, is_allowed: bool
) -> None:
    code = f"{opening}\nfrom kinkeeper.calendar.repository import insert_event"
    assert (offences({module: ast.parse(code)}) == []) is is_allowed


def callers(trees: Trees, target: str) -> set[str]:
    return {
        module
        for module, tree in trees.items()
        if any(name == target for _, name in references(tree, bindings(tree)))
    }


def test_only_a_decision_reaches_the_executor() -> None:
    assert callers(sources(), "kinkeeper.actions.executor.execute") == {
        "kinkeeper.actions.approvals"
    }


def test_only_the_executors_package_moves_an_action_on() -> None:
    moving = callers(sources(), "kinkeeper.actions.repository.advance")
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
        "from kinkeeper.calendar.undo import undo_change\ndef rewind(conn):\n    'x'\n    undo_change(conn)",
        (
            "from kinkeeper.calendar.undo import undo_change\nfrom kinkeeper.store.rehearsal import require_rehearsal\n"
            "def rewind(conn):\n    'x'\n    require_rehearsal(conn)\ndef other(conn):\n    'x'\n    undo_change(conn)"
        ),
    ],
)
def test_taking_records_back_past_the_refusal_is_found(code: str) -> None:
    assert offences({REWINDING: ast.parse(code)})
