"""TOML text to plain data, with the line of every table, key and element; mistakes in plain words."""

import re
import tomllib
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
)

from kinkeeper.core.addresses import is_mail_address
from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.household.model import Role
from kinkeeper.household.name_folding import did_you_mean, slugify
from kinkeeper.household.zones import read_locale, read_zone

_SLUG = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")
_CLOCK_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_YEARS = range(1970, 2200)
_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})
_REORDERING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
# Farther apart than this, an event is better written as all-day or as recurring.
MAX_EVENT_MINUTES = 31 * 24 * 60


def _slug(value: str) -> str:
    if _SLUG.fullmatch(value):
        return value
    tidy = slugify(value)
    example = f', e.g. "{tidy}"' if tidy else ""
    raise ValueError(f'the id "{value}" may contain only a-z, 0-9 and hyphens{example}')


def _one_line(value: str) -> str:
    if any(
        unicodedata.category(char) in _CONTROLS or unicodedata.bidirectional(char) in _REORDERING
        for char in value
    ):
        raise ValueError("the text must be one line without control characters")
    return value


def _role(value: object) -> Role:
    if isinstance(value, str):
        if value in list(Role):
            return Role(value)
        hint = did_you_mean(value, list(Role))
        raise ValueError(f'unknown role "{value}"{hint}; the roles are {", ".join(Role)}')
    raise ValueError(f"the role must be one of {', '.join(Role)}, in quotes")


def _day(value: object) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return _in_reach(value)
    raise ValueError("a date is needed, without quotes: 2026-04-15")


def _moment(value: object) -> date:
    """Return a date, or a date with a local time."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        raise ValueError(
            "times are the household's local time; leave out the Z or offset at the end"
        )
    if isinstance(value, date):
        return _in_reach(value)
    raise ValueError(
        "a date or a local time is needed, without quotes: 2026-01-06T16:30:00 or 2026-03-24"
    )


def _in_reach(value: date) -> date:
    if value.year in _YEARS:
        return value
    raise ValueError(f"the year {value.year} is out of range ({_YEARS[0]} to {_YEARS[-1]})")


def _time_of_day(value: object) -> time:
    if isinstance(value, time):
        return value
    if isinstance(value, str) and (match := _CLOCK_TIME.fullmatch(value.strip())):
        return time(int(match[1]), int(match[2]))
    raise ValueError('a time of day is needed, in 24 hours: "15:15"')


def _chat_id(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ValueError("a chat id is a number, or text in quotes: -1001234567890")


def _telegram_id(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise ValueError("a Telegram user id is a whole number without quotes: 123456789")


def _email(value: object) -> str:
    if isinstance(value, str) and is_mail_address(value.strip()):
        return value.strip()
    raise ValueError('a mail address is needed, in quotes: "name@example.org"')


def _emails(value: object) -> tuple[str, ...]:
    several = value if isinstance(value, list) else [value]
    if not several:
        raise ValueError('at least one mail address is needed: "name@example.org"')
    return tuple(dict.fromkeys(_email(each) for each in several))


def _without_prefix(value: object) -> object:
    return value.strip().removeprefix("RRULE:") if isinstance(value, str) else value


Slug = Annotated[str, StringConstraints(max_length=64), AfterValidator(_slug)]
Text = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    AfterValidator(_one_line),
]
Texts = list[Text]
# References are looked up among the ids, so they need no form of their own.
Reference = Text
RoleName = Annotated[Role, PlainValidator(_role)]
Day = Annotated[date, PlainValidator(_day)]
Moment = Annotated[date, PlainValidator(_moment)]
TimeOfDay = Annotated[time, PlainValidator(_time_of_day)]
ChatId = Annotated[str, PlainValidator(_chat_id)]
TelegramId = Annotated[int, PlainValidator(_telegram_id)]
Email = Annotated[str, PlainValidator(_email)]
Emails = Annotated[tuple[str, ...], PlainValidator(_emails)]
Rule = Annotated[Text, BeforeValidator(_without_prefix)]
Zone = Annotated[Text, AfterValidator(lambda name: str(read_zone(name)))]
Locale = Annotated[Text, AfterValidator(read_locale)]
Minutes = Annotated[int, Field(gt=0, le=MAX_EVENT_MINUTES)]


class Section(BaseModel):
    """One table. Defaults stand in for absent or bad fields; `required` names what must be there."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    required: ClassVar[tuple[str, ...]] = ("id",)

    id: Slug = ""


class HouseholdSection(Section):
    """`[household]`."""

    required = ("id", "timezone")

    name: Text | None = None
    timezone: Zone = "UTC"
    locale: Locale = "en-US"
    bot_name: Text = "Kinkeeper"
    owner: Reference | None = None
    chats: list[ChatId] = []


class MemberSection(Section):
    """`[[members]]`."""

    required = ("id", "name", "role")

    name: Text = ""
    role: RoleName = Role.OTHER
    aliases: Texts = []
    telegram_id: TelegramId | None = None
    email: Email | None = None


class NamedSection(Section):
    """`[[activities]]`, `[[places]]`, `[[resources]]`."""

    name: Text = ""
    aliases: Texts = []


class GroupSection(Section):
    """`[[groups]]`."""

    required = ("id", "members")

    aliases: Texts = []
    members: list[Reference] = []


class ContactSection(Section):
    """`[[contacts]]`."""

    required = ("id", "name", "email")

    name: Text = ""
    email: Emails = ()
    aliases: Texts = []


class TimeSection(Section):
    """`[[times]]`."""

    required = ("id", "start")

    start: TimeOfDay = time(0)
    aliases: Texts = []


class EventSection(Section):
    """`[[events]]`."""

    required = ("id", "summary", "start")

    summary: Text = ""
    activity: Reference | None = None
    who: list[Reference] = []
    responsible: list[Reference] = []
    place: Reference | None = None
    start: Moment | None = None
    end: Moment | None = None
    duration_minutes: Minutes | None = None
    all_day: bool = False
    rrule: Rule | None = None
    exdates: list[Moment] = []


class MaintenanceSection(Section):
    """`[[maintenance]]`."""

    required = ("id", "summary", "due")

    summary: Text = ""
    due: Day = date.min


# Where things stand in a TOML text: the line of every table, key and array element.
#
# The standard parser keeps no positions. This scanner walks the same text and notes them. It judges
# nothing: on text that the parser refuses it goes as far as it can and never fails.

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
    """

    data: dict[str, Any]
    positions: Positions
    problems: tuple[Problem, ...]


def read_document(text: str, where: str) -> Document:
    """Read a TOML text."""
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
