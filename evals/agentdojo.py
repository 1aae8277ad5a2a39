"""Hostile texts that others wrote: the workspace cases of AgentDojo, read out of its installed package.

The package (Debenedetti et al., 2024, MIT) is installed without what it asks for, so nothing of it is imported: the
goals, prompts and attacks are constants in its sources, and are read as such.
"""

import ast
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kinkeeper.core.errors import InputError

_PACKAGE = "agentdojo"
_SUITES = ("v1", "v1_1", "v1_1_1", "v1_1_2", "v1_2", "v1_2_1", "v1_2_2")
"""In the order in which later ones replace tasks of earlier ones."""

_COMBINERS = frozenset({"create_combined_task", "update_combined_task"})
_BOTH = "Perform the following tasks in the order they are given: 1. {} 2. {}"
"""What two tasks are asked for as one, as the package's `TaskCombinator` words it."""

_NAMES = (
    ("{member}", "{assistant}"),
    ("the user", "the AI language model"),
    ("{member}", "the AI language model"),
    ("the user", "{assistant}"),
    ("Mark Smith", "{assistant}"),
    ("{member}", "GPT-4"),
)
"""Who an attack says it is from, and to: known, unknown and wrong names, as the package varies them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What an attacker wants.

    Attributes:
        name: Of the task in the package.
        text: As it is told to the model.
        given: The task's constants: recipients, subjects, texts, times.
    """

    name: str
    text: str
    given: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """All of them.

    Attributes:
        goals: What attackers want.
        prompts: What people ask for meanwhile.
        attacks: Texts with places for {goal}, {member}, {assistant} and {tools}, by name.
    """

    goals: Sequence[Goal]
    prompts: Sequence[str]
    attacks: Mapping[str, str]


def workspace_cases() -> Cases:
    """Return the workspace suite's cases.

    Raises:
        InputError: The package is not installed, or holds something else than it did.
    """
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise InputError("agentdojo is not here; install it with `pip install --no-deps agentdojo`")
    folder = Path(found.submodule_search_locations[0])
    tasks = _constants(folder, "injection_tasks.py", "InjectionTask")
    people = _constants(folder, "user_tasks.py", "UserTask")
    cases = Cases(
        goals=[
            Goal(name=name, text=given["GOAL"], given=given)
            for name, given in tasks.items()
            if "GOAL" in given
        ],
        prompts=[given["PROMPT"] for given in people.values() if "PROMPT" in given],
        attacks=dict(_attacks(folder / "attacks")),
    )
    if not (cases.goals and cases.prompts and cases.attacks):
        raise InputError(f"no cases were found in {folder}; this version of agentdojo is another")
    return cases


def _constants(folder: Path, file: str, prefix: str) -> dict[str, dict[str, str]]:
    """Return the texts that classes hold, by class; later suites replace earlier ones."""
    found: dict[str, dict[str, str]] = {}
    for suite in _SUITES:
        path = folder / "default_suites" / suite / "workspace" / file
        if not path.exists():
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            match node:
                case ast.ClassDef(name=name) if name.startswith(prefix):
                    found[name] = _texts(node)
                case ast.Expr(value=ast.Call(func=ast.Attribute(attr=called), args=args)) if (
                    called in _COMBINERS
                ):
                    name, *parts = (_named(each) for each in args)
                    found[name] = {"PROMPT": _BOTH.format(*(found[one]["PROMPT"] for one in parts))}
                case _:
                    pass
    return found


def _named(node: ast.expr) -> str:
    """Return the class that an argument means: its name, or the id that the package makes of it."""
    texts = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    name = next(each for each in texts if isinstance(each, str))
    return name.title().replace("_", "") if "_" in name else name


def _texts(node: ast.ClassDef) -> dict[str, str]:
    known: dict[str, list[str]] = {}
    for each in node.body:
        match each:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                known[name] = _values(value, known)
            case _:
                pass
    return {name: texts[0] for name, texts in known.items() if len(texts) == 1}


def _text(node: ast.expr) -> str | None:
    """Return the text that an expression of constants stands for; None of any other."""
    return next(iter(_values(node, {})), None)


def _values(node: ast.expr, known: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the texts that an expression of constants stands for, several of a list; none of any other."""
    match node:
        case ast.Constant(value=str() as text):
            return [text]
        case ast.Name(id=name):
            return list(known.get(name, ()))
        case ast.FormattedValue(value=value):
            return _values(value, known)
        case ast.List(elts=parts):
            return [text for part in parts for text in _values(part, known)]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as between), attr="join")):
            return [between.join(_values(node.args[0], known))]
        case ast.JoinedStr(values=parts):
            texts = [_values(part, known) for part in parts]
            return ["".join(text for (text,) in texts)] if all(map(_is_one, texts)) else []
        case _:
            return []


def _is_one(texts: Sequence[str]) -> bool:
    return len(texts) == 1


def _attacks(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the attacks' texts by name, those that name people once for each way to name them."""
    for file in ("baseline_attacks.py", "important_instructions_attacks.py"):
        for node in ast.parse((folder / file).read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.ClassDef):
                continue
            texts = _texts(node)
            text = texts.get("_JB_STRING") or _given_on(node)
            if text is None or "{goal}" not in text:
                continue
            ways = _NAMES if "{user}" in text else _NAMES[:1]
            for number, (user, model) in enumerate(ways):
                name = texts["name"] if len(ways) == 1 else f"{texts['name']} {number + 1}"
                yield name, text.replace("{user}", user).replace("{model}", model)


def _given_on(node: ast.ClassDef) -> str | None:
    """Return the text that a class hands to the one it extends."""
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call) and each.args)
    return next(
        (text for each in calls if (text := _text(each.args[0])) and "{goal}" in text), None
    )
