"""Whatever a household file looks like, its problems are told at their lines and nothing crashes."""

import tomllib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr
from hypothesis import given, settings
from hypothesis import strategies as st

from kinkeeper.cli.init import TemplateAnswers, quoted, render_template
from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.household.document import Path as TomlPath
from kinkeeper.household.document import locate
from kinkeeper.household.file import parse_household
from kinkeeper.household.model import read_recurrence
from kinkeeper.household.name_folding import fold, slugify
from kinkeeper.household.vocabulary import compile_vocabulary

MILLER = (Path(__file__).parents[2] / "examples/miller/household.toml").read_text(encoding="utf-8")
EXAMPLES = settings(max_examples=60, deadline=None)

# ---- lines of any TOML: a writer that knows where it put everything

BARE = st.sampled_from(
    [
        "1",
        "-7",
        "true",
        "1.5e3",
        "0x1F",
        "inf",
        "2026-01-06",
        "2026-01-06 16:30:00",
        "16:30:00",
        "2026-01-06T16:30:00Z",
    ]
)
STRINGS = st.sampled_from(
    [
        '"plain"',
        '"# no comment"',
        r'"esc \" ] } = \\"',
        "'lit \\'",
        '""',
        "''",
        '"[x]"',
        '"日本"',
        '"""one"""',
        '"""two\nlines # [x]\n"q" \\""" ""\n"""',
        "'''\na = 1\n[b]\n'''",
        '""""q""""',
        '"""a\\\n   b"""',
    ]
)
GAPS = st.sampled_from(["", " ", "\n", "\n\n", " # c ] } , = \" '''\n", "\n  # [x]\n\t"])
FILLERS = st.sampled_from(["", "\n", "# comment\n", '# key = "x" """\n', "  \t\n", "#\n\n"])
KEYS = st.sampled_from(["a", "b-c", "d_1", "9", '"q k"', "'l.k'", '"e\\u0301"', "true"])


@dataclass
class Writer:
    """Text under way, and the line of every path in it."""

    text: str = ""
    lines: dict[TomlPath, int] = field(default_factory=dict)

    def mark(self, path: TomlPath) -> None:
        self.lines[path] = self.text.count("\n") + 1


def plain(key: str) -> str:
    (name,) = tomllib.loads(f"{key} = 1")
    return name


@st.composite
def documents(draw: st.DrawFn) -> Writer:
    writer = Writer()
    write_pairs(draw, writer, ())
    for number in range(draw(st.integers(0, 4))):
        writer.text += draw(FILLERS)
        name = f"t{number}"
        if draw(st.booleans()):
            writer.mark((name,))
            for index in range(draw(st.integers(1, 3))):
                writer.mark((name, index))
                if index == 0:
                    writer.mark((name,))
                writer.text += draw(st.sampled_from([f"[[{name}]]", f"[[ {name} ]] # [x]"])) + "\n"
                write_pairs(draw, writer, (name, index))
                if draw(st.booleans()):
                    writer.mark((name, index, "sub"))
                    writer.text += f"[{name}.sub]\n"
                    write_pairs(draw, writer, (name, index, "sub"))
        else:
            writer.mark((name,))
            writer.mark((name, "in"))
            writer.text += draw(st.sampled_from([f"[{name}.in]", f' [ "{name}" . in ]'])) + "\n"
            write_pairs(draw, writer, (name, "in"))
    return writer


def write_pairs(draw: st.DrawFn, writer: Writer, table: TomlPath) -> None:
    for key in draw(st.lists(KEYS, unique=True, max_size=4)):
        writer.text += draw(FILLERS)
        path = (*table, plain(key))
        writer.mark(path)
        if draw(st.booleans()):
            writer.text += key
        else:
            path = (*path, "x")
            writer.mark(path)
            writer.text += draw(st.sampled_from([f"{key}.x", f' {key} . "x"']))
        writer.text += draw(st.sampled_from(["=", " = "]))
        write_value(draw, writer, path, depth=2)
        writer.text += draw(st.sampled_from(["\n", " # [c] = '\n"]))


def write_value(draw: st.DrawFn, writer: Writer, path: TomlPath, depth: int) -> None:
    kind = draw(st.integers(0, 3 if depth else 1))
    if kind == 0:
        writer.text += draw(BARE)
    elif kind == 1:
        writer.text += draw(STRINGS)
    elif kind == 2:
        writer.text += "["
        for index in range(draw(st.integers(0, 3))):
            writer.text += draw(GAPS)
            writer.mark((*path, index))
            write_value(draw, writer, (*path, index), depth - 1)
            writer.text += draw(GAPS) + ","
        writer.text += draw(GAPS) + "]"
    else:
        writer.text += "{"
        for number, key in enumerate(draw(st.lists(KEYS, unique=True, max_size=3))):
            writer.text += ", " if number else " "
            writer.mark((*path, plain(key)))
            writer.text += f"{key} = "
            write_value(draw, writer, (*path, plain(key)), depth - 1)
        writer.text += " }"


def paths_of(data: object, path: TomlPath = ()) -> set[TomlPath]:
    found = {path} if path else set()
    if isinstance(data, dict):
        for key, value in data.items():
            found |= paths_of(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            found |= paths_of(value, (*path, index))
    return found


@EXAMPLES
@given(documents())
def test_every_path_that_the_parser_sees_has_its_line(writer: Writer) -> None:
    data = tomllib.loads(writer.text)
    positions = locate(writer.text)
    assert positions.lines == writer.lines
    assert set(positions.lines) == paths_of(data)
    assert positions.repeated == ()


@EXAMPLES
@given(st.text(alphabet="[]{}=,.\"'#\\\n ab1", max_size=60))
def test_scanner_ends_on_any_text(text: str) -> None:
    last = text.count("\n") + 1
    positions = locate(text)
    assert all(1 <= line <= last for line in positions.lines.values())


# ---- one error planted in a household of any shape

PLANTED: list[tuple[str, str, str]] = [
    # (table, line to plant, words of the message)
    ("household", "colour = 1", '"colour"'),
    ("household", "[[pets]]", '"pets"'),
    ("member", "nickname = 'x'", '"nickname"'),
    ("member", "telegram_id = '5'", "whole number"),
    ("member", "telegram_id = 1979-02-30", "not a real date"),
    ("member", "aliases = 7", "must be a list"),
    ("member", 'aliases = ["ok", 3]', "in quotes"),
    ("event", 'who = ["nobody-there"]', '"nobody-there"'),
    ("event", 'activity = "nothing-there"', '"nothing-there"'),
    ("event", 'place = "nowhere-there"', '"nowhere-there"'),
    ("event", 'rrule = "FREQ=WEEKLY;BYDAY=ZZ"', "ZZ"),
    ("event", "end = 2026-02-31T10:00:00", "not a real date"),
    ("event", "end = 2025-12-31T10:00:00", "not after"),
    ("event", "exdates = [2026-01-06]", "need an rrule"),
    ("event", "duration_minutes = -5", "above 0"),
]


def outcome(text: str) -> tuple[Problem, ...]:
    """Return the problems of a text; of one without any, its words must compile."""
    try:
        household = parse_household(text, "home.toml")
    except ConfigError as error:
        return error.problems
    compile_vocabulary(household)
    return ()


def tables(count: int) -> list[tuple[str, list[str]]]:
    members = [
        ("member", ["[[members]]", f'id = "m{n}"', f'name = "N{n}"', 'role = "parent"'])
        for n in range(count)
    ]
    events = [
        ("event", ["[[events]]", f'id = "e{n}"', 'summary = "S"', "start = 2026-01-06T09:30:00"])
        for n in range(count)
    ]
    household = ["[household]", 'id = "h"', 'timezone = "Europe/Paris"']
    return [("household", household), *members, *events]


@EXAMPLES
@given(st.data())
def test_planted_error_is_told_at_its_line_and_alone(data: st.DataObject) -> None:
    kind, planted, said = data.draw(st.sampled_from(PLANTED))
    order = data.draw(st.permutations(tables(data.draw(st.integers(1, 3)))))
    targets = [index for index, (table, _) in enumerate(order) if table == kind]
    target = data.draw(st.sampled_from(targets))
    text, line = "", 0
    for index, (_, rows) in enumerate(order):
        head, *keys = rows
        shuffled = data.draw(st.permutations(keys))
        if index == target:
            is_table = planted.startswith("[[")
            place = len(keys) if is_table else data.draw(st.integers(0, len(keys)))
            shuffled = [*shuffled[:place], planted, *shuffled[place:]]
        for row in [head, *shuffled]:
            text += data.draw(FILLERS)
            if row == planted:
                line = text.count("\n") + 1
            text += f"{row}\n"
    (problem,) = outcome(text)
    assert problem.line == line
    assert said in problem.message


@EXAMPLES
@given(st.data())
def test_unclosed_text_is_told_where_it_begins(data: st.DataObject) -> None:
    rows = MILLER.split("\n")
    quoting = [number for number, row in enumerate(rows) if row.endswith('"') and row[0] != "#"]
    number = data.draw(st.sampled_from(quoting))
    rows[number] = rows[number][:-1]
    assert [problem.line for problem in outcome("\n".join(rows))] == [number + 1]


@EXAMPLES
@given(
    st.integers(0, len(MILLER)),
    st.integers(0, 40),
    st.text(alphabet="[]{}=,.\"'#\\\n 09-:TZéa\x00", max_size=8),
)
def test_damaged_file_loads_or_is_refused(start: int, length: int, instead: str) -> None:
    text = MILLER[:start] + instead + MILLER[start + length :]
    last = text.count("\n") + 1
    assert all(1 <= (problem.line or 1) <= last for problem in outcome(text))


# ---- rules, names, templates


@EXAMPLES
@given(
    st.datetimes(datetime(1990, 1, 1), datetime(2050, 1, 1)),  # noqa: DTZ001 - local wall time
    st.sampled_from(
        [
            "FREQ=WEEKLY;BYDAY=TU,TH",
            "FREQ=MONTHLY;BYDAY=-1FR",
            "FREQ=DAILY;INTERVAL=3",
            "FREQ=MONTHLY;BYMONTHDAY=31",
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
            "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU,MO",
            "FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO",
        ]
    ),
)
def test_first_occurrence_is_the_one_a_plain_walk_finds(start: datetime, rule: str) -> None:
    start = start.replace(microsecond=0)
    found = read_recurrence(rule, start, ZoneInfo("UTC"))
    assert found.first == next(iter(rrulestr(rule, dtstart=start)))
    assert found.gives(found.first)
    assert not found.gives(found.first + timedelta(minutes=1))


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30).filter(str.strip)


@EXAMPLES
@given(st.lists(NAMES, min_size=1, max_size=3), st.lists(NAMES, max_size=3), NAMES)
def test_template_loads_whatever_the_names(
    adults: list[str], children: list[str], bot: str
) -> None:
    text = render_template(
        TemplateAnswers(
            household=bot, timezone="Asia/Tokyo", adults=adults, children=children, bot_name=bot
        )
    )
    household = parse_household(text, "home.toml")
    assert [member.name for member in household.members] == [
        name.strip() for name in (*adults, *children)
    ]
    assert household.bot_name == bot.strip()
    compile_vocabulary(household)


@EXAMPLES
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_quoted_text_comes_back(text: str) -> None:
    assert tomllib.loads(f"key = {quoted(text)}") == {"key": text}


@EXAMPLES
@given(st.text())
def test_folding_is_stable_and_slugs_are_slugs(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert slugify(slugify(text)) == slugify(text)
    assert set(slugify(text)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
