"""Package reading is to be the only one that knows English: what others still know of it may only shrink."""

import ast
from collections.abc import Iterator
from pathlib import Path

import kinkeeper

SOURCE = Path(kinkeeper.__file__).parent
READING = "reading"
OF_FORMATS = frozenset(
    {"channels", "cli", "connectors", "core", "models", "settings", "store", "web"}
)
"""Packages whose patterns read protocols, files and commands, not what people write."""

MOST_PATTERNS = 519
MOST_TABLE_LINES = 3808
COMPILERS = frozenset({"re.compile", "regex.compile"})


def files(ending: str) -> Iterator[Path]:
    """Yield the files of all packages that read what people write, but of `reading`."""
    for path in sorted(SOURCE.rglob(f"*{ending}")):
        package = path.relative_to(SOURCE).parts[0]
        if package not in OF_FORMATS | {READING}:
            yield path


def patterns(path: Path) -> int:
    """Return how many patterns a module compiles."""
    code = path.read_text(encoding="utf-8")
    if "compile(" not in code:
        return 0
    return sum(
        isinstance(node, ast.Call) and ast.unparse(node.func) in COMPILERS
        for node in ast.walk(ast.parse(code))
    )


def table_lines(path: Path) -> int:
    """Return how many lines of a word table say something."""
    lines = map(str.strip, path.read_text(encoding="utf-8").splitlines())
    return sum(bool(line) and not line.startswith("#") for line in lines)


def test_patterns_outside_reading_only_become_fewer() -> None:
    found = sum(map(patterns, files(".py")))
    assert found <= MOST_PATTERNS, "a new pattern belongs to package reading"
    assert found == MOST_PATTERNS, f"patterns went: set MOST_PATTERNS to {found}"


def test_word_tables_outside_reading_only_become_shorter() -> None:
    found = sum(map(table_lines, files(".toml")))
    assert found <= MOST_TABLE_LINES, "a new word belongs to a table of package reading"
    assert found == MOST_TABLE_LINES, f"words went: set MOST_TABLE_LINES to {found}"
