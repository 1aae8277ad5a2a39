"""TOML text to plain data with line numbers; what cannot be read is told in plain words."""

import re
import tomllib
from dataclasses import dataclass
from typing import Any

from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.household.positions import Positions, locate

# Stands in the data where the text had an impossible date, so that the rest can still be read.
UNREADABLE = "(unreadable)"

_PLACE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")
_DATE_LIKE = re.compile(r"\d[\w:./+-]*[:./-][\w:./+-]*(?: \d[\w:.+-]*)?")
_STATEMENT = re.compile(r"\s*(?:[\w-]+\s*=|\[)")
_MOST_REPAIRS = 20
_BEGINS_HERE = "that begins here"
_ADVICE = (
    ("Invalid value", 'this is not a value; text needs quotes: role = "parent"'),
    ("Invalid initial character", 'a key is missing here; write: key = "value"'),
    ("Invalid statement", 'this is neither a [table] nor a key; write: key = "value"'),
    ("Expected '='", 'a key needs "=" and a value: name = "Ada"'),
    ("Expected newline", "one setting per line: there is something after the value"),
    ("Expected ']'", "a table header needs its closing bracket: [household] or [[members]]"),
    ("Unclosed array", 'a list that begins here is never closed with "]"'),
    ("Unclosed inline table", 'a "{" that begins here is never closed with "}"'),
    ("Unterminated", "text that begins here has no closing quote"),
    ('Expected "\'"', "text that begins here has no closing quote"),
    ("Expected '\"", "text that begins here has no closing quote"),
    ("Illegal character '\\n'", "text that begins here has no closing quote"),
    ("Found invalid character '\\n'", "text that begins here has no closing quote"),
    ("Unescaped", 'write a backslash inside "..." twice: \\\\'),
    ("Invalid hex value", "\\u needs 4 hexadecimal digits after it, \\U needs 8"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A TOML text that was read.

    Attributes:
        data: As the parser gives it; `UNREADABLE` in place of impossible dates.
        positions: Where everything stands.
        problems: The impossible dates.
    """

    data: dict[str, Any]
    positions: Positions
    problems: tuple[Problem, ...]


def read_document(text: str, where: str) -> Document:
    """Read a TOML text.

    Args:
        text: The whole text.
        where: Name of the file, for messages.

    Raises:
        ConfigError: The text is not TOML.
    """
    text = text.replace("\r\n", "\n")
    problems: list[Problem] = []
    try:
        data, text = _parse(text, where, problems)
        positions = locate(text)
    except RecursionError as error:
        message = "values are nested too deeply; a household file needs two levels"
        raise ConfigError([*problems, Problem(where=where, line=None, message=message)]) from error
    return Document(data=data, positions=positions, problems=tuple(problems))


def _parse(text: str, where: str, problems: list[Problem]) -> tuple[dict[str, Any], str]:
    """Return the data, and the text without the impossible dates, which go to `problems`."""
    while True:
        try:
            return tomllib.loads(text), text
        except tomllib.TOMLDecodeError as error:
            repaired = _without_bad_date(text, str(error), where)
            if repaired is None or len(problems) == _MOST_REPAIRS:
                problems.append(_syntax_problem(text, str(error), where))
                raise ConfigError(problems) from error
            text, problem = repaired
            problems.append(problem)


def _without_bad_date(text: str, error: str, where: str) -> tuple[str, Problem] | None:
    """Return the text without the impossible date or time that the parser stopped at, if any."""
    place = _PLACE.search(error)
    if place is None or place[1] is None:
        return None
    line, column = int(place[1]), int(place[2]) - 1
    lines = text.split("\n")
    content = lines[line - 1]
    for match in _DATE_LIKE.finditer(content):
        is_value = content[: match.start()].rstrip().endswith(("=", "[", ","))
        if is_value and match.start() <= column <= match.end():
            break
    else:
        return None
    lines[line - 1] = f'{content[: match.start()]}"{UNREADABLE}"{content[match.end() :]}'
    message = (
        f"{match.group()} is not a real date or time; "
        "write 2026-03-24 (year-month-day), 16:30:00, or both as 2026-03-24T16:30:00"
    )
    return "\n".join(lines), Problem(where=where, line=line, message=message)


def _syntax_problem(text: str, error: str, where: str) -> Problem:
    """Return what is wrong with a text that the parser refuses, and where."""
    place = _PLACE.search(error)
    reason = error[: place.start()] if place else error
    if reason.startswith(("Cannot overwrite", "Cannot declare", "Cannot mutate", "Duplicate")):
        repeated = _repeated_problem(text, where)
        if repeated is not None:
            return repeated
    advice = next((words for start, words in _ADVICE if reason.startswith(start)), reason)
    line = int(place[1]) if place and place[1] else text.count("\n") + 1
    lines = text.split("\n")
    begun = locate("\n".join(lines[:line])).last_line
    # The parser tells where it gave up, which may be far below what was never closed.
    if begun < line and _STATEMENT.match(lines[line - 1]):
        advice = f"a list or text {_BEGINS_HERE} is never closed"
    if _BEGINS_HERE in advice:
        line = begun
    return Problem(where=where, line=line, message=f"this is not valid TOML: {advice}")


def _repeated_problem(text: str, where: str) -> Problem | None:
    repeated = locate(text).repeated
    if not repeated:
        return None
    path, first, second = repeated[0]
    name = ".".join(str(part) for part in path)
    message = f'"{name}" is already set on line {first}; keep one of the two'
    if len(path) == 1:
        message = f"[{name}] is already on line {first}; for several, write each as [[{name}]]"
    return Problem(where=where, line=second, message=message)
