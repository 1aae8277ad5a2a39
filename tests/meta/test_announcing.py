"""No way out of an action can forget the messages that carry its buttons: proven from the source code."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import kinkeeper
from kinkeeper.actions.button_removal import UNDER_WAY
from kinkeeper.actions.model import TRANSITIONS, Cause

_WORDS = re.compile(r"\w+")
SOURCE = Path(kinkeeper.__file__).parent
MOVES = "actions/action_writes.py"
PURGES = "actions/action_retention.py"
AUDIENCE = "actions/repository.py"
FUNCTION = "advance"
STATEMENT = "_advancing"  # what it runs, put together once
# Works in a transaction that is always undone: it asks what would have been decided, and keeps nothing.
UNDONE = ("observer/accounts/rewind.py", "_rewind_actions")


@cache
def modules() -> list[tuple[str, ast.Module]]:
    # Whoever journals or writes these rows must name the functions or the table of this package.
    return [
        (path.relative_to(SOURCE).as_posix(), ast.parse(text))
        for path in sorted(SOURCE.rglob("*.py"))
        if {"record_transition", "pending_actions"}
        & set(_WORDS.findall(text := path.read_text("utf-8")))
    ]


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def calls(node: ast.AST, name: str) -> list[ast.Call]:
    return [
        each
        for each in ast.walk(node)
        if isinstance(each, ast.Call)
        and name in {getattr(each.func, "id", None), getattr(each.func, "attr", None)}
    ]


def sets_status_of_actions(call: ast.Call) -> bool:
    return any(getattr(each, "id", None) == "pending_actions" for each in call.args)


def test_one_function_moves_an_action_on_and_it_announces_what_it_journaled() -> None:
    journaling = {
        (name, function.name)
        for name, tree in modules()
        for function in functions(tree)
        if calls(function, "record_transition")
    }
    assert journaling == {(MOVES, FUNCTION), ("actions/proposals.py", "propose")}
    (advance,) = [
        function
        for name, tree in modules()
        if name == MOVES
        for function in functions(tree)
        if function.name == FUNCTION
    ]
    (journaled,), (announced,) = calls(advance, "record_transition"), calls(advance, "announce")
    assert journaled.lineno < announced.lineno
    last = advance.body[-2:]
    assert calls(last[0], "announce"), "nothing may return between the journal and the announcement"
    assert isinstance(last[1], ast.Return)


def writes(node: ast.AST) -> list[ast.Call]:
    return [call for call in calls(node, "update") if sets_status_of_actions(call)]


def test_nothing_else_writes_to_the_row_of_an_action_but_what_purges_it() -> None:
    writing = {
        (name, function.name)
        for name, tree in modules()
        for function in functions(tree)
        if writes(function)
    }
    purging = {
        (PURGES, "purge_extractions"),
        (PURGES, "drop_payload"),
        (PURGES, "_drop_evidence"),
        (AUDIENCE, "narrow_scope"),
        (AUDIENCE, "open_scope"),
    }
    assert writing - {UNDONE} == {
        (MOVES, STATEMENT),
        (MOVES, "extend"),
        (MOVES, "refreeze"),
        (MOVES, "note_confidence"),
        *purging,
    }
    for name, tree in modules():
        inside = [call for function in functions(tree) for call in writes(function)]
        assert len(writes(tree)) == len(inside), f"{name} keeps such a statement for anybody"
    running = {
        (name, function.name)
        for name, tree in modules()
        for function in functions(tree)
        if calls(function, STATEMENT)
    }
    assert running == {(MOVES, FUNCTION)}


@pytest.mark.parametrize("cause", set(Cause) - {Cause.PROPOSE, Cause.RESTORE}, ids=str)
def test_every_cause_leads_to_an_end_that_is_announced_or_is_a_step_on_the_way(
    cause: Cause,
) -> None:
    (after,) = {end for (_, by), end in TRANSITIONS.items() if by is cause}
    steps = {Cause.CONFIRM, Cause.SAID, Cause.EXECUTE}
    assert (after in UNDER_WAY) == (cause in steps)
