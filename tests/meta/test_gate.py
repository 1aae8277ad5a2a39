"""Every way in asks the gate before anything lasts: proven from the source code and the server's own table of routes.

The gate is `actions.consent.decide`. It is asked where a proposal is requested (`actions.approvals`) and where words of
a session are stored (`actions.session_words`); everything else that writes goes through one of these.
"""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute, iter_route_contexts

from kinkeeper.web import speakers
from source_names import Module, read, sources
from web_server import served

DECIDE = "kinkeeper.actions.consent.decide"
ASKS = {"kinkeeper.actions.approvals", "kinkeeper.actions.session_words"}
# A person's own decision about what is shown to them; each surface identifies who decides.
DECISIONS = tuple(
    f"kinkeeper.actions.approvals.{name}" for name in ("confirm", "resolve", "reject")
)
SURFACES = {
    "kinkeeper.web.api.pending",
    "kinkeeper.web.pages.pending",
    "kinkeeper.observer.button_presses",
    "kinkeeper.cli.card_decision",
    # Presses of a script, in a scratch database.
    "kinkeeper.cli.rehearse",
    # A yes in words, to what was asked in that conversation.
    "kinkeeper.conversation.questions",
    # What somebody does by hand is their decision: `request` has asked the gate before.
    "kinkeeper.actions.requests.request_runner",
    "kinkeeper.actions.setting_right",
    "kinkeeper.actions.calendar_import",
}
# Through what a route that writes reaches the gate.
GATED = (
    "kinkeeper.actions.approvals.",
    "kinkeeper.actions.session_words.keep",
    "kinkeeper.actions.setting_right.",
    "kinkeeper.actions.calendar_import.",
    "kinkeeper.actions.calendar_import.",
    "kinkeeper.actions.requests.request_runner.",
    "kinkeeper.actions.reversal.",
    "kinkeeper.observer.cards.card_corrections.",
    # A turn of a conversation: what it would do is requested, what it tells goes the way of sessions.
    "kinkeeper.web.speakers.conversation_of",
    # What expired waits again; the press is let in as any other.
    "kinkeeper.actions.reversal.",
    # A message of a chat: only ever proposes.
    "kinkeeper.observer.intake.",
)
# Routes that write nothing which anybody is later told as known or planned.
NOTHING_LASTS = {
    "/api/invites": "a way in, by the owner", "/api/keys/{key_id}": "ends a way in", "/api/feeds": "a way to read",
    "/invite/{code}": "logs in", "/logout": "logs out", "/logout/everywhere": "logs out",
    "/api/digest": "when one's own digest comes", "/digest/time": "when one's own digest comes",
    "/digest/remarks": "whether one is told things unasked",
    "/digest/questions": "what one is never told unasked",
    "/api/quiet": "when to be silent", "/api/pending/{action_id}/feedback": "what was wrong with a card",
    "/api/memory/search": "reads", "/why/{message_id:path}": "what was wrong with a message",
    "/replay/{message_id:path}": "decides again in a rehearsal", "/memory/nights/{run_id}/answer": "a night's question",
    "/share": "shows a message that is not sent yet",
    "/people/invite": "a way in, by the owner",
    "/people/keys/{key_id}/end": "ends a way in", "/people/calendar": "a way to read",
    "/pending/{action_id}/restore": "an expired card waits again",
    "/telegram/webhook": "each update goes to the conversation, to a press or to the intake",
    "/mcp": "its writing tools are routes of their own in the test below",
}  # fmt: skip


def naming(wanted: str) -> set[str]:
    return {
        name
        for name, module in sources().items()
        if any(f"{each}.".startswith(f"{wanted}.") for each in module.names)
    }


def deciding(modules: Mapping[str, Module]) -> set[str]:
    """Return the modules that hand a person's decision on."""
    return {
        name
        for name, module in modules.items()
        if any(each in DECISIONS or each == "kinkeeper.actions.approvals" for each in module.names)
    }


def reached(function: Callable[..., Any]) -> set[str]:
    """Return all that a function of the web package names, and what the functions of that package do that it names."""
    found: set[str] = set()
    waiting = [(function.__module__, function.__name__)]
    seen: set[tuple[str, str]] = set()
    while waiting:
        module, name = waiting.pop()
        if (module, name) in seen or module not in modules_of_web():
            continue
        seen.add((module, name))
        names = names_in(module, name)
        found |= names
        waiting += [(each.rpartition(".")[0], each.rpartition(".")[2]) for each in names]
        waiting += [
            (module, each.rpartition(".")[2]) for each in names if each.startswith(f"{module}.")
        ]
    return found


@cache
def modules_of_web() -> Mapping[str, Module]:
    return {name: module for name, module in sources().items() if name.startswith("kinkeeper.web")}


@cache
def names_in(module: str, name: str) -> frozenset[str]:
    """Return the full names that a function of a module's top level names, its own module's functions among them."""
    source = modules_of_web()[module]
    functions = {
        each.name: each
        for each in ast.parse(source.code).body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    function = functions.get(name)
    if function is None:
        return frozenset()
    inside = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    last = function.end_lineno or function.lineno
    named = {each for line, each in source.named if function.lineno <= line <= last}
    return frozenset(named | {f"{module}.{each}" for each in inside & functions.keys()})


def ungated(endpoints: Mapping[str, Callable[..., Any]]) -> set[str]:
    """Return the paths of routes that write and reach no gate."""
    return {
        path
        for path, function in endpoints.items()
        if path not in NOTHING_LASTS
        and not any(each.startswith(GATED) for each in reached(function))
    }


def writing_routes(app: FastAPI) -> Iterator[tuple[str, Callable[..., Any]]]:
    for each in iter_route_contexts(app.routes):
        route = each.original_route
        if not set(each.methods or ()) - {"GET", "HEAD", "OPTIONS"}:
            continue
        endpoint = route.endpoint
        if not isinstance(route, APIRoute):
            # A plain route wraps its handler.
            endpoint = next(
                cell.cell_contents
                for name, cell in zip(
                    endpoint.__code__.co_freevars, endpoint.__closure__, strict=True
                )
                if name == "endpoint"
            )
        yield str(each.path), endpoint


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    with served(Path(tmp_path_factory.mktemp("gate"))) as serving:
        yield serving.app


def test_only_requests_and_sessions_ask_the_gate_and_both_do() -> None:
    assert naming(DECIDE) == ASKS


def test_people_decide_only_on_the_surfaces_that_identify_them() -> None:
    found = deciding(sources())
    requesting = {
        name
        for name in found
        if not any(each in sources()[name].names for each in DECISIONS)
        and "kinkeeper.actions.approvals.request" in sources()[name].names
    }
    assert found - requesting == SURFACES


def test_every_route_that_writes_asks_the_gate(app: FastAPI) -> None:
    found = dict(writing_routes(app))
    assert len(found) > 40
    assert ungated(found) == set()
    assert NOTHING_LASTS.keys() <= found.keys() | {"/telegram/webhook"}


def test_what_programs_models_may_call_asks_the_gate() -> None:
    from kinkeeper.web.mcp_server import TOOLS  # noqa: PLC0415

    writing = {each.name: each.run for each in TOOLS if not each.is_reading}
    assert set(writing) == {"remember", "add_goal", "change_goal"}
    assert ungated(writing) == set()


@pytest.mark.parametrize(
    "body",
    [
        "return await house_of(request, person).store.write(lambda conn: insert_episodes(conn, []))",
        "from kinkeeper.memory.sessions import take_in\n    take_in(None, None, None)",
        "return None",
    ],
)
def test_a_planted_route_that_asks_nobody_is_found(
    body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = textwrap.dedent("""
        from kinkeeper.memory.episodes import insert_episodes
        from kinkeeper.web.access.door import Reader, house_of

        async def sly(request, person):
            {body}
    """).format(body=body)
    module = ModuleType("kinkeeper.web.sly")
    exec(compile(code, "sly.py", "exec"), module.__dict__)  # noqa: S102 - the test's own words
    monkeypatch.setitem(sys.modules, module.__name__, module)
    known = {**modules_of_web(), module.__name__: read(module.__name__, code)}
    names_in.cache_clear()
    monkeypatch.setattr(sys.modules[__name__], "modules_of_web", lambda: known)
    router = APIRouter()
    router.post("/api/sly")(module.sly)
    planted = FastAPI()
    planted.include_router(router)
    assert "/api/sly" in ungated(dict(writing_routes(planted)))


def test_a_route_is_followed_through_the_functions_it_calls() -> None:
    found = reached(speakers.done_by_hand)
    assert "kinkeeper.actions.requests.request_runner.perform_by_hand" in found
    assert inspect.iscoroutinefunction(speakers.done_by_hand)


def test_a_planted_surface_that_decides_is_found() -> None:
    code = (
        "from kinkeeper.actions import approvals\ndef run(conn):\n    approvals.confirm(conn, '1')"
    )
    planted = {"kinkeeper.web.api.sly": read("kinkeeper.web.api.sly", code)}
    assert deciding(planted) == {"kinkeeper.web.api.sly"}
