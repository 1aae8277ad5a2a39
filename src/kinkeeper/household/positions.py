"""Where things stand in a TOML text: the line of every table, key and array element.

The standard parser keeps no positions. This scanner walks the same text and notes them. It judges
nothing: on text that the parser refuses it goes as far as it can and never fails.
"""

import re
import tomllib
from bisect import bisect_left
from dataclasses import dataclass

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_LONG_STRING = re.compile(
    r'"""(?:\\[\s\S]|[^\\])*?"{3,5}(?!")'
    r"|'''[\s\S]*?'{3,5}(?!')"
)
_STRING = re.compile(r"""\"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
_BARE_KEY = re.compile(r"[^\s.=\[\]{}\"',#]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")
_REST_OF_LINE = re.compile(r"[^\n]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Lines of a text, 1-based.

    Attributes:
        lines: Line of each path that the text names; array elements count from 0.
        repeated: What is defined twice: (path, line of the first, line of the second).
        last_line: Line on which the last statement begins.
    """

    lines: dict[Path, int]
    repeated: tuple[tuple[Path, int, int], ...]
    last_line: int

    def line(self, path: Path) -> int:
        """Return the line of `path`, or of the nearest part of it that stands in the text."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return 1


def locate(text: str) -> Positions:
    """Return where each table, key and array element of a TOML text stands.

    Raises:
        RecursionError: Values are nested hundreds of levels deep, as for the parser itself.
    """
    scanner = _Scanner(text)
    scanner.scan()
    return Positions(
        lines=scanner.lines, repeated=tuple(scanner.repeated), last_line=scanner.last_line
    )


class _Scanner:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.newlines = [match.start() for match in re.finditer("\n", text)]
        self.lines: dict[Path, int] = {}
        self.repeated: list[tuple[Path, int, int]] = []
        self.last_line = 1
        self.defined: set[Path] = set()
        self.array_sizes: dict[Path, int] = {}
        self.table: Path = ()

    def scan(self) -> None:
        self.skip(_BLANK)
        while self.at < len(self.text):
            before = self.at
            self.last_line = self.line()
            if self.text[self.at] == "[":
                self.header()
            else:
                self.pair(self.table)
                self.skip(_REST_OF_LINE)
            self.skip(_BLANK)
            self.at = max(self.at, before + 1)

    def header(self) -> None:
        line = self.line()
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        keys = self.keys()
        self.skip(_REST_OF_LINE)
        parent = self.inside(keys[:-1], line)
        table = (*parent, *keys[-1:])
        if is_array:
            size = self.array_sizes.get(table, 0)
            self.array_sizes[table] = size + 1
            self.lines.setdefault(table, line)
            table = (*table, size)
        self.define(table, line)
        self.table = table

    def pair(self, table: Path) -> None:
        """Read `key = value` and note both under `table`."""
        line = self.line()
        path = table
        for key in self.keys():
            path = (*path, key)
            self.lines.setdefault(path, line)
        self.define(path, line)
        if self.text.startswith("=", self.at):
            self.at += 1
            self.skip(_SPACE)
            self.value(path)

    def value(self, path: Path) -> None:
        opening = self.text[self.at : self.at + 1]
        if opening in {'"', "'"}:
            self.string()
        elif opening == "[":
            self.array(path)
        elif opening == "{":
            self.inline_table(path)
        else:
            self.skip(_BARE_VALUE)

    def array(self, path: Path) -> None:
        self.at += 1
        index = 0
        while self.more("]"):
            self.lines[*path, index] = self.line()
            before = self.at
            self.value((*path, index))
            if self.at == before:  # broken text: give up on this array
                return
            index += 1

    def inline_table(self, path: Path) -> None:
        self.at += 1
        while self.more("}"):
            before = self.at
            self.pair(path)
            if self.at == before:
                return

    def more(self, closing: str) -> bool:
        """Step over commas and blanks; whether another element follows before `closing`."""
        self.skip(_BLANK)
        while self.text.startswith(",", self.at):
            self.at += 1
            self.skip(_BLANK)
        if self.text.startswith(closing, self.at):
            self.at += 1
            return False
        return self.at < len(self.text)

    def keys(self) -> tuple[str, ...]:
        """Read a key, dotted or not, with the blanks around it."""
        keys: list[str] = []
        while True:
            self.skip(_SPACE)
            if self.text[self.at : self.at + 1] in {'"', "'"}:
                keys.append(_unquote(self.string()))
            elif match := _BARE_KEY.match(self.text, self.at):
                self.at = match.end()
                keys.append(match.group())
            self.skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return tuple(keys)
            self.at += 1

    def string(self) -> str:
        is_long = self.text.startswith(('"""', "'''"), self.at)
        match = (_LONG_STRING if is_long else _STRING).match(self.text, self.at)
        if match is None:  # never closed: nothing after it can be told apart
            start, self.at = self.at, len(self.text)
            return self.text[start:]
        self.at = match.end()
        return match.group()

    def inside(self, keys: tuple[str, ...], line: int) -> Path:
        """Return the path that `keys` mean here: of an array of tables, its last table."""
        path: Path = ()
        for key in keys:
            path = (*path, key)
            self.lines.setdefault(path, line)
            if path in self.array_sizes:
                path = (*path, self.array_sizes[path] - 1)
        return path

    def define(self, path: Path, line: int) -> None:
        if path in self.defined:
            self.repeated.append((path, self.lines[path], line))
        else:
            self.defined.add(path)
            self.lines[path] = line

    def skip(self, pattern: re.Pattern[str]) -> None:
        if match := pattern.match(self.text, self.at):
            self.at = match.end()

    def line(self) -> int:
        return bisect_left(self.newlines, self.at) + 1


def _unquote(token: str) -> str:
    try:
        key = tomllib.loads(f"key = {token}")["key"]
    except tomllib.TOMLDecodeError:
        return token
    return str(key)
