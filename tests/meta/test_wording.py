"""Text that people read is plain English: no page, message, error, help text or guide uses a phrase that was retired."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "kinkeeper"
GUIDES = ("README.md", "docs/operations.md")

RETIRED = re.compile(
    r"\bwait(?:s|ing)? for (?:a|your|an adult's|a person's) yes\b|\bawaits? a yes\b|\bneeds? (?:a|your) yes\b"
    r"|\b(?:have|has) to say yes\b|(?<!there )\bis no (?!longer\b|more\b|use\b)|\bnames no\b|\bis told\b(?! (?:not )?to\b| their\b)|\bwhat is to be done\b"
    r"|\bcannot be asked\b|\bput it right\b|\blapses\b|\bthat is so already\b"
    r"|\b(?:must be|not|either) a text\b(?! file)|\bnot (?:a single|one) member\b|\bname (?:it|one) with\b|\bthis program knows\b"
    r"|\bcare of memory\b|\bnights? of memory\b|\bis spoken of\b|\bthere is: |\bsince the start\b|\bat the first call\b|\bof whole days\b",
    re.IGNORECASE,
)
"""What nobody should write again; the plain words are "approval", "is not a ...", "I couldn't read ...", "expires", "edit"."""

PATTERN = re.compile(r"\(\?[:!<=P]|\\[bws]|\[a-z\]|\|")
"""Reads text instead of being read by people: a regular expression or a list of alternatives."""


def _docstrings(tree: ast.AST) -> set[int]:
    """Return the ids of nodes that only document."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def literals(path: Path) -> Iterator[str]:
    """Yield the strings of a module that may be shown to somebody.

    Args:
        path: Of a Python file.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = _docstrings(tree)
    texts = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in skipped
    )
    yield from (
        node.value
        for node in texts
        if isinstance(node.value, str) and not PATTERN.search(node.value)
    )


def _visible(template: str) -> str:
    return re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}|<[^>]*>", " ", template, flags=re.DOTALL)


def _replies(path: Path) -> Iterator[str]:
    for kind in tomllib.loads(path.read_text(encoding="utf-8"))["kind"]:
        yield from kind["replies"]


def shown() -> Iterator[tuple[str, str]]:
    """Yield where a text is, relative to the repository, and the text."""
    for path in sorted(SOURCE.rglob("*.py")):
        if not {"evaluation", "benchmarks", "language"} & set(path.relative_to(SOURCE).parts):
            yield from ((str(path.relative_to(ROOT)), text) for text in literals(path))
    for path in sorted((SOURCE / "web" / "templates").rglob("*.html")):
        yield str(path.relative_to(ROOT)), _visible(path.read_text(encoding="utf-8"))
    catalogue = SOURCE / "conversation" / "answering" / "data" / "talk.toml"
    yield from ((str(catalogue.relative_to(ROOT)), text) for text in _replies(catalogue))
    for name in GUIDES:
        yield name, (ROOT / name).read_text(encoding="utf-8")


def test_no_text_that_people_read_uses_a_retired_phrase() -> None:
    found = [
        f"{where}: …{' '.join(text[max(0, hit.start() - 40) : hit.end() + 30].split())}…"
        for where, text in shown()
        for hit in RETIRED.finditer(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "It waits for a yes.",
        "'guest' is no role",
        "'banana' names no time",
        "An adult has to say yes before that.",
        '"at" must be a text',
        "'Zed' is not a single member of the household",
        "name one with --db",
        "There is: milk.",
    ],
)
def test_a_retired_phrase_is_found(text: str) -> None:
    assert RETIRED.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "There is no task 'bins'",
        "It is no longer kept",
        "Waiting for approval: bins",
        "it is not a date",
        "not a text file",
    ],
)
def test_a_plain_sentence_is_left_alone(text: str) -> None:
    assert not RETIRED.search(text)
