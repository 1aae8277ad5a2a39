"""What goes on for ever, or where nobody awaits it, counts what goes wrong and goes on."""

import ast
from collections.abc import Iterator
from pathlib import Path

import kinkeeper

SOURCE = Path(kinkeeper.__file__).parent
GUARDS = frozenset({"surviving", "count_failure", "repeat"})
# What an endless loop or a stray task is written with: most modules need not be read for them.
SIGNS = ("while True", "create_task", "ensure_future")
AWAITED = frozenset({"cli/chat.py", "store/store.py", "web/live.py"})
"""Whose tasks are awaited where they are made."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        text = path.read_text(encoding="utf-8")
        if any(sign in text for sign in SIGNS):
            yield name, ast.parse(text)


def calls(tree: ast.AST) -> Iterator[tuple[ast.expr | None, str]]:
    """Yield what is called: on what, and its name."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=holder, attr=name)):
                yield holder, name
            case ast.Call(func=ast.Name(id=name)):
                yield None, name
            case _:
                pass


def has_endless_loop(tree: ast.Module) -> bool:
    """Whether an asynchronous function only ever ends by being cancelled."""
    loops = (
        loop
        for function in ast.walk(tree)
        if isinstance(function, ast.AsyncFunctionDef)
        for loop in ast.walk(function)
        if isinstance(loop, ast.While) and ast.unparse(loop.test) == "True"
    )
    return any(
        not any(isinstance(each, ast.Return | ast.Break) for each in ast.walk(loop))
        for loop in loops
    )


def makes_stray_tasks(tree: ast.Module) -> bool:
    """Whether it makes tasks outside a group, whose errors nobody need hear of."""
    return any(
        name == "ensure_future"
        or (name == "create_task" and holder is not None and "loop" in ast.unparse(holder))
        for holder, name in calls(tree)
    )


def test_what_nobody_awaits_survives_and_is_counted() -> None:
    found = dict(modules())
    endless = {name for name, tree in found.items() if has_endless_loop(tree)}
    stray = {name for name, tree in found.items() if makes_stray_tasks(tree)}
    assert {"tasks/reminders.py", "memory/context/prefetch.py"} <= endless
    assert {"conversation/events.py", *AWAITED} <= stray
    guarded = {
        name
        for name, tree in found.items()
        if GUARDS & {called for holder, called in calls(tree) if holder is None}
    }
    assert not (endless | stray) - guarded - AWAITED, "use observability.failures.surviving"
