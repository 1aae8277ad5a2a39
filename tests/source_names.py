"""What the program's modules name, read from their source once: who may reach what is proven with it."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import kinkeeper

SOURCE = Path(kinkeeper.__file__).parent
STATEMENTS = frozenset({"sqlalchemy.insert", "sqlalchemy.update", "sqlalchemy.delete"})


@dataclass(frozen=True, slots=True)
class Module:
    """What one module names; its tree is not kept, as it would be looked through for garbage ever after.

    Attributes:
        code: Its text.
        named: Line and full name of everything imported, reached through an import, said in a string
            (importlib.import_module and the like), or made at its own top level.
        made: First and last line of each function and value that its top level makes, by name.
    """

    code: str
    named: tuple[tuple[int, str], ...]
    made: Mapping[str, tuple[int, int]]

    @property
    def names(self) -> set[str]:
        return {name for _, name in self.named}

    def reached_by(self, made: str) -> set[str]:
        """Return what a function or value names."""
        first, last = self.made[made]
        return {name for line, name in self.named if first <= line <= last}


Modules = Mapping[str, Module]


@cache
def sources() -> Modules:
    """Return every module of the program by its full name."""
    return {
        (name := _module_name(path)): read(name, path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def read(name: str, code: str) -> Module:
    """Return what a module of that full name and text names."""
    tree = ast.parse(code)
    made = {each: _lines(node) for node in tree.body for each in _made(node)}
    bound = {each: f"{name}.{each}" for each in made}
    nodes = list(ast.walk(tree))
    for node in nodes:
        bound |= dict(_bindings(node))
    return Module(
        code=code, named=tuple(found for node in nodes for found in _named(node, bound)), made=made
    )


def writers(modules: Modules, package: str) -> frozenset[str]:
    """Return the full names of a package's functions and statements that write, directly or through another."""
    calls = {
        f"{name}.{made}": module.reached_by(made)
        for name, module in modules.items()
        if name.startswith(f"{package}.")
        for made in module.made
    }
    found: set[str] = set()
    while more := {name for name, to in calls.items() if to & (found | STATEMENTS)} - found:
        found |= more
    return frozenset(found)


def _module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _made(node: ast.stmt) -> Iterator[str]:
    """Yield the names of the function or values that a statement of the top level makes."""
    if isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (each.id for each in targets if isinstance(each, ast.Name))


def _lines(node: ast.stmt) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)]), node.end_lineno or node.lineno


def _bindings(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield what each imported name stands for, wherever in the module it is imported."""
    if isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"
    elif isinstance(node, ast.Import):
        for alias in node.names:
            whole = alias.name if alias.asname else alias.name.split(".")[0]
            yield alias.asname or whole, whole


def _named(node: ast.AST, bound: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.ImportFrom) and node.module:
        yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from ((node.lineno, alias.name) for alias in node.names)
    elif isinstance(node, ast.Name | ast.Attribute):
        first, _, rest = (_dotted(node) or "").partition(".")
        if first in bound:
            yield node.lineno, f"{bound[first]}.{rest}".rstrip(".")
    elif isinstance(node, ast.Constant) and str(node.value).startswith("kinkeeper."):
        yield node.lineno, str(node.value)


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return None if before is None else f"{before}.{node.attr}"
    return None
