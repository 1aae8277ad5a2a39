"""What a household file gives, and what is said about one that is wrong."""
# ruff: noqa: DTZ001 - the file holds local wall times

from datetime import date, datetime, time, timedelta
from pathlib import Path
from textwrap import dedent

import pytest
from dateutil.rrule import rrulestr

from kinkeeper.cli.init import TemplateAnswers, quoted, render_template
from kinkeeper.core.errors import ConfigError
from kinkeeper.household.file import MAX_BYTES, load_household, load_households, parse_household
from kinkeeper.household.model import Household, Role

ROOT = Path(__file__).parents[2]
MILLER = ROOT / "examples/miller/household.toml"
EVERY_HOUSEHOLD = [MILLER, *sorted((ROOT / "tests/households").glob("*.toml"))]

MINIMAL = """\
[household]
id = "park"
timezone = "Asia/Seoul"

[[members]]
id = "ji"
name = "Ji-woo"
role = "parent"
"""


def problems_of(text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(ConfigError) as caught:
        parse_household(text, "home.toml")
    assert all(problem.where == "home.toml" for problem in caught.value.problems)
    return [(problem.line, problem.message) for problem in caught.value.problems]


def the_problem(text: str) -> tuple[int | None, str]:
    problems = problems_of(text)
    assert len(problems) == 1, problems
    return problems[0]


def line_of(text: str, part: str) -> int:
    lines = [number for number, line in enumerate(text.split("\n"), 1) if part in line]
    assert len(lines) == 1, (part, lines)
    return lines[0]


def with_event(*lines: str) -> str:
    head = ["", "[[events]]", 'id = "e"', 'summary = "Something"']
    return "\n".join([MINIMAL, *head, *lines, ""])


def test_minimal_file_gets_the_defaults() -> None:
    household = parse_household(MINIMAL, "home.toml")
    assert household.locale == "en-US"
    assert household.bot_name == "Kinkeeper"
    assert household.owner == "ji"
    assert household.zone.key == "Asia/Seoul"
    assert household.warnings == ()


def test_miller_file_is_the_family_it_shows() -> None:
    miller = load_household(MILLER)
    assert (miller.id, miller.bot_name, miller.zone.key) == ("miller", "Icarus", "America/Chicago")
    assert [(m.name, m.role) for m in miller.members] == [
        ("John", Role.PARENT),
        ("Sarah", Role.PARENT),
        ("Leo", Role.CHILD),
        ("Mia", Role.CHILD),
    ]
    names = {place.id: place.name for place in miller.places}
    weekly = {
        (event.who, event.activity, event.rrule, event.start.time(), names.get(event.place or ""))
        for event in miller.events
        if event.rrule
    }
    assert weekly == {
        (("leo",), "soccer", "FREQ=WEEKLY;BYDAY=TU,TH", time(16, 30), "Westside Park"),
        (("mia",), "ballet", "FREQ=WEEKLY;BYDAY=MO,WE", time(16), "Madison Dance Academy"),
        (("mia",), "swim", "FREQ=WEEKLY;BYDAY=SA", time(10), "YMCA"),
        (("leo",), "chess", "FREQ=WEEKLY;BYDAY=WE", time(15, 30), None),
    }
    (spring,) = [event for event in miller.events if event.all_day]
    assert (spring.start, spring.duration) == (datetime(2026, 3, 24), timedelta(days=5))
    assert [(item.summary, item.due) for item in miller.maintenance] == [
        ("Honda Civic service", date(2026, 4, 15))
    ]


@pytest.mark.parametrize("path", EVERY_HOUSEHOLD, ids=lambda path: path.stem)
def test_every_shipped_file_loads_and_starts_on_a_day_of_its_rule(path: Path) -> None:
    household = load_household(path)
    assert household.warnings == ()
    for event in household.events:
        if event.rrule:
            rule = rrulestr(event.rrule.partition(";UNTIL")[0], dtstart=event.start)
            assert rule[0] == event.start, event.id
            for left_out in event.exdates:
                assert rule.between(left_out, left_out, inc=True), (event.id, left_out)


def test_weekday_comments_of_the_miller_file_are_true() -> None:
    checked = 0
    for line in MILLER.read_text().splitlines():
        if line.startswith("start = ") and "# a " in line:
            value, _, weekday = line.removeprefix("start = ").partition("# a ")
            assert datetime.fromisoformat(value.strip()).strftime("%A") == weekday
            checked += 1
    assert checked == 4


def test_shipped_households_can_live_in_one_folder() -> None:
    households = load_households(ROOT / "tests/households")
    assert len({household.zone.key for household in households}) == len(households) >= 4


# ---- one thing wrong: (what to plant, the line's mark, words the message must have)

HEADER_PROBLEMS = [
    ('timezone = "Asia/Seol"', ["Asia/Seol", '"Asia/Seoul"']),
    ('timezone = "Seoul"', ['"Asia/Seoul"']),
    ('timezone = "Asia"', ["not a known time zone"]),
    ("timezone = 9", ["timezone must be text in quotes"]),
    ('timezone = "Asia/Seoul"\nlocale = "en_US"', ['"en-US"']),
    ('timezone = "Asia/Seoul"\nlocale = "en-UK"', ["country code"]),
    ('timezone = "Asia/Seoul"\nlocale = "english"', ["is not a language tag"]),
    ('timezone = "Asia/Seoul"\ntimezon = "x"', ['"timezon"', 'did you mean "timezone"']),
    ('timezone = "Asia/Seoul"\nbot_name = ""', ["bot_name must not be empty"]),
    ('timezone = "Asia/Seoul"\nowner = "jo"', ['no member has the id "jo"']),
    ('timezone = "Asia/Seoul"\nowner = "Ji-Woo"', ['did you mean "ji"']),
    ('timezone = "Asia/Seoul"\nchats = -100', ["chats must be a list"]),
    ('timezone = "Asia/Seoul"\nchats = [true]', ["a chat id is a number"]),
]


@pytest.mark.parametrize(("planted", "said"), HEADER_PROBLEMS)
def test_problem_in_the_household_table(planted: str, said: list[str]) -> None:
    text = MINIMAL.replace('timezone = "Asia/Seoul"', planted)
    line, message = the_problem(text)
    assert line == line_of(text, planted.rsplit("\n", maxsplit=1)[-1])
    assert all(words in message for words in said), message


MEMBER_PROBLEMS = [
    ('id = "Min Ji"\nname = "M"\nrole = "child"', 'id = "Min Ji"', ['"min-ji"']),
    ('id = "민지"\nname = "M"\nrole = "child"', 'id = "민지"', ["a-z"]),
    ('id = "ji"\nname = "M"\nrole = "child"', None, ['id "ji"', "line 6"]),
    ('id = "m"\nname = "A\\nB"\nrole = "child"', "A\\nB", ["one line"]),
    ('id = "m"\nname = "M"\nrole = "kid"', 'role = "kid"', ["the roles are parent"]),
    ('id = "m"\nname = "M"\nrole = "gaurdian"', "gaurdian", ['did you mean "guardian"']),
    ('id = "m"\nrole = "child"', "[[members]]", ['"m" lacks "name"']),
    ('name = "M"\nrole = "child"', "[[members]]", ['"M" lacks "id"']),
    ('id = "m"\nname = "M"\nrole = "child"\nalias = ["x"]', "alias =", ['"aliases"']),
    ('id = "m"\nname = "M"\nrole = "child"\naliases = "x"', "aliases =", ["must be a list"]),
    ('id = "m"\nname = "M"\nrole = "child"\naliases = [\n "x",\n 7\n]', " 7", ["in quotes"]),
    ('id = "m"\nname = "M"\nrole = "child"\ntelegram_id = "7"', "telegram", ["whole number"]),
    ('id = "m"\nname = "M"\nrole = "child"\ntelegram_id = true', "telegram", ["whole number"]),
    ('id = "m"\nname = "M"\nrole = "child"\nbot_name = "B"', "bot_name", ["[household]"]),
    ('id = "m"\nname = "M"\nrole = "child"\nrrule = "B"', "rrule", ["belongs to [[events]]"]),
]


@pytest.mark.parametrize(("body", "mark", "said"), MEMBER_PROBLEMS)
def test_problem_in_a_member(body: str, mark: str | None, said: list[str]) -> None:
    text = f"{MINIMAL}\n[[members]]\n{body}\n"
    line, message = the_problem(text)
    after = MINIMAL.count("\n") + 1
    rest = "\n".join(text.split("\n")[after:])
    assert line == after + line_of(rest, mark or 'id = "ji"')
    assert all(words in message for words in said), message


EVENT_PROBLEMS = [
    (["start = 2026-02-30T10:00:00"], "start", ["2026-02-30T10:00:00 is not a real date"]),
    (["start = 2026-13-01"], "start", ["2026-13-01 is not a real date"]),
    (["start = 2026-01-06T25:00:00"], "start", ["is not a real date or time"]),
    (['start = "2026-01-06"'], "start", ["without quotes"]),
    (["start = 2026-01-06T16:30:00Z"], "start", ["local time"]),
    (["start = 2026-01-06"], "start", ["no time of day"]),
    (["start = 0026-01-06T10:00:00"], "start", ["out of range"]),
    (["all_day = true", "start = 2026-01-06T16:30:00"], "start", ["dates only"]),
    (["start = 2026-01-06T16:30:00", "end = 2026-01-06T16:00:00"], "end", ["not after"]),
    (["start = 2026-01-06T16:30:00", "end = 2026-01-06T16:30:00"], "end", ["not after"]),
    (["start = 2026-01-06T16:30:00", "end = 2026-01-07"], "end", ["no time of day"]),
    (["all_day = true", "start = 2026-03-24", "end = 2026-03-23"], "end", ["not after"]),
    (["all_day = true", "start = 2026-03-24", "end = 2036-03-28"], "end", ["year"]),
    (
        ["start = 2026-01-06T16:30:00", "end = 2026-01-06T17:00:00", "duration_minutes = 30"],
        "duration_minutes",
        ["both end and duration_minutes"],
    ),
    (["start = 2026-01-06T16:30:00", "duration_minutes = 0"], "duration", ["above 0"]),
    (["start = 2026-01-06T16:30:00", 'duration_minutes = "60"'], "duration", ["whole number"]),
    (["start = 2026-01-06T16:30:00", 'who = ["ji", "jo"]'], "who", ['"jo"', "use one of ji"]),
    (["start = 2026-01-06T16:30:00", 'responsible = ["Ji-woo"]'], "respons", ['mean "ji"']),
    (["start = 2026-01-06T16:30:00", 'activity = "judo"'], "activity", ["no activity"]),
    (["start = 2026-01-06T16:30:00", 'place = "park"'], "place", ["no place"]),
    (["start = 2026-01-06T16:30:00", "exdates = [2026-01-06]"], "exdates", ["need an rrule"]),
    (["start = 2026-01-06T16:30:00", "repeat = 1"], "repeat", ['unknown key "repeat"']),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "mark", "said"), EVENT_PROBLEMS)
def test_problem_in_an_event(lines: list[str], mark: str, said: list[str]) -> None:
    text = with_event(*lines)
    line, message = the_problem(text)
    assert line == line_of(text, f"{mark}" if mark != "end" else "end = ")
    assert all(words in message for words in said), message


RULES = [
    ("WEEKLY", "NAME=VALUE"),
    ("FREQ=WEEKY", 'did you mean "WEEKLY"'),
    ("BYDAY=TU", "FREQ is missing"),
    ("FREQ=WEEKLY;BYDAY=TX", "TX in BYDAY"),
    ("FREQ=WEEKLY;BYDAY=TUE", "TUE in BYDAY"),
    ("FREQ=WEEKLY;BYDAY=2TU", "number before the day"),
    ("FREQ=WEEKLY;BYDY=TU", 'did you mean "BYDAY"'),
    ("FREQ=WEEKLY;FREQ=DAILY", "twice"),
    ("FREQ=WEEKLY;INTERVAL=0", "from 1"),
    ("FREQ=WEEKLY;COUNT=0", "from 1"),
    ("FREQ=WEEKLY;COUNT=-1", "from 1"),
    ("FREQ=WEEKLY;COUNT=3;UNTIL=20270101", "but not both"),
    ("FREQ=WEEKLY;UNTIL=20251231", "before the start"),
    ("FREQ=WEEKLY;UNTIL=2026-12-31", "is not a date"),
    ("FREQ=WEEKLY;UNTIL=20260231", "is not a real date"),
    ("FREQ=SECONDLY", "cannot be used"),
    ("FREQ=HOURLY;INTERVAL=24", "cannot be used"),
    ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "does not match any day"),
    ("FREQ=DAILY;BYMONTH=13", "does not match any day"),
    ("FREQ=DAILY;BYHOUR=25", "cannot be read"),
    ("FREQ=MONTHLY;BYMONTHDAY=x", "cannot be read"),
]


@pytest.mark.parametrize(("rule", "said"), RULES)
def test_bad_recurrence_rule(rule: str, said: str) -> None:
    text = with_event("start = 2026-01-06T16:30:00", f'rrule = "{rule}"')
    line, message = the_problem(text)
    assert line == line_of(text, "rrule")
    assert said in message


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ("FREQ=WEEKLY;BYDAY=TU", "FREQ=WEEKLY;BYDAY=TU"),
        ("rrule:freq=weekly; byday=tu;".upper(), "FREQ=WEEKLY;BYDAY=TU"),
        ("FREQ=MONTHLY;BYDAY=1TU,-1TU", "FREQ=MONTHLY;BYDAY=1TU,-1TU"),
        ("FREQ=DAILY;BYHOUR=16,20", "FREQ=DAILY;BYHOUR=16,20"),
        ("FREQ=WEEKLY;UNTIL=20260106", "FREQ=WEEKLY;UNTIL=20260106"),
        ("FREQ=WEEKLY;UNTIL=20260106T073000Z", "FREQ=WEEKLY;UNTIL=20260106T073000Z"),
    ],
)
def test_good_recurrence_rule_is_kept(rule: str, kept: str) -> None:
    household = parse_household(
        with_event("start = 2026-01-06T16:30:00", f'rrule = "{rule}"'), "home.toml"
    )
    assert household.events[0].rrule == kept
    assert household.warnings == ()


def test_leap_day_may_be_far_away() -> None:
    lines = (
        "all_day = true",
        "start = 2024-02-29",
        'rrule = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"',
    )
    assert parse_household(with_event(*lines), "home.toml").warnings == ()


# ---- files that are no files, no TOML, or not this TOML

SYNTAX = [
    ("a = 1\nb = = 2\n", 2, "not a value"),
    ("[household]\nid = park\n", 2, "needs quotes"),
    ('[household]\nid = "park\nx = 1\n', 2, "closing quote"),
    ('[household]\nid = """park\nx = 1\n', 2, "closing quote"),
    ("[household]\nid = 'park\nx = 1\n", 2, "closing quote"),
    ("[household]\nchats = [1,\n2,\n\nx = 1\n", 2, "never closed"),
    ("[household]\nchats = [\n1,\nx,\n]\n", 4, "not a value"),
    ('[household]\nchats = ["a"\n\n[[members]]\nid = "x"\n', 2, "never closed"),
    ("[household\nid = 1\n", 1, "closing bracket"),
    ('[household]\nid "park"\n', 2, "needs"),
    ('[household]\nid = "a" x\n', 2, "one setting per line"),
    ('[household]\nid = "a\\q"\n', 2, "backslash"),
    ('[household]\nid = "a"\nx = 1\n"id" = "b"\n', 4, "already set on line 2"),
    ("[household]\nx = 1\n[household]\n", 3, "is already on line 1"),
]


@pytest.mark.parametrize(("text", "line", "said"), SYNTAX)
def test_text_that_is_not_toml(text: str, line: int, said: str) -> None:
    found, message = the_problem(text)
    assert found == line
    assert said in message


def test_missing_tables() -> None:
    assert [message for _, message in problems_of("")] == [
        'the file needs one [household] table with id = "..." and timezone = "..."',
        "the household has no members; add at least one: [[members]] with id, name, role",
    ]


def test_timezone_is_never_guessed() -> None:
    text = MINIMAL.replace('timezone = "Asia/Seoul"\n', "")
    line, message = the_problem(text)
    assert line == 1
    assert 'lacks "timezone"' in message


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        ("[members]", "[[members]]"),
        ("[[member]]", 'did you mean "members"'),
        ("[[household]]", "single brackets"),
        ("[houshold]", 'did you mean "household"'),
    ],
)
def test_table_with_the_wrong_brackets_or_name(planted: str, said: str) -> None:
    real = "[household]" if "hous" in planted else "[[members]]"
    text = MINIMAL.replace(real, planted)
    line, message = the_problem(text)
    assert line == line_of(text, planted)
    assert said in message


def test_setting_above_its_table() -> None:
    line, message = the_problem('bot_name = "B"\n' + MINIMAL)
    assert (line, message) == (1, '"bot_name" belongs below the line [household]')


def test_deep_nesting_is_refused() -> None:
    problems = problems_of("x = " + "[" * 100_000)
    assert "nested too deeply" in problems[0][1]


def test_every_problem_is_told_at_once_in_the_order_of_lines() -> None:
    text = dedent("""\
        [household]
        id = "Park"
        locale = "english"
        colour = "red"
        owner = "min"

        [[members]]
        id = "ji"
        name = "Ji"
        role = "parrent"
        telegram_id = "x"

        [[members]]
        id = "min"
        role = "child"

        [[groups]]
        id = "all"
        members = ["ji", "jo"]

        [[events]]
        id = "e"
        summary = "E"
        who = ["min", "jon"]
        activity = "judo"
        start = 2026-02-30T10:00:00
        rrule = "FREQ=WEEKLY;BYDAY=XX"
        colour = "red"

        [[events]]
        id = "e"
        start = 2026-02-20T10:00:00
        duration_minutes = 10
        end = 2026-02-20T09:00:00
        rrule = "FREQ=WEEKLY;BYDAY=XX"

        [[maintenance]]
        id = "car"
        summary = "Car"
        due = 2026-04-31
    """)
    assert [line for line, _ in problems_of(text)] == [
        1,
        2,
        3,
        4,
        5,
        10,
        11,
        13,
        19,
        24,
        25,
        26,
        28,
        30,
        31,
        33,
        35,
        40,
    ]


def test_unreadable_files(tmp_path: Path) -> None:
    def told(path: Path) -> tuple[int | None, str]:
        with pytest.raises(ConfigError) as caught:
            load_household(path)
        (problem,) = caught.value.problems
        assert problem.where == str(path)
        return problem.line, problem.message

    latin = tmp_path / "latin.toml"
    latin.write_bytes(MINIMAL.replace("Ji-woo", "Zoë").encode("latin-1"))
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (MAX_BYTES + 1))
    assert told(tmp_path / "none.toml")[1].startswith("there is no such file")
    assert told(tmp_path)[1].startswith("this is a folder")
    assert told(latin) == (7, "the file is not UTF-8 text; save it as UTF-8")
    assert "larger than" in told(large)[1]


def test_windows_text_is_read_with_the_right_lines(tmp_path: Path) -> None:
    path = tmp_path / "home.toml"
    text = MINIMAL.replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load_household(path).members[0].name == "Ji-woo"
    assert the_problem(text + "[[memberz]]\r\n")[0] == MINIMAL.count("\n") + 1


# ---- what is doubtful


def warnings_of(text: str) -> tuple[str, ...]:
    return parse_household(text, "home.toml").warnings


def test_start_that_the_rule_does_not_give_moves_to_the_first_that_it_does() -> None:
    text = with_event("start = 2026-01-05T16:30:00", 'rrule = "FREQ=WEEKLY;BYDAY=TU"')
    household = parse_household(text, "home.toml")
    assert household.events[0].start == datetime(2026, 1, 6, 16, 30)
    (warning,) = household.warnings
    assert warning.startswith(f"home.toml:{line_of(text, 'start')}: Monday 2026-01-05 16:30")


def test_left_out_days_take_the_time_of_the_event_and_must_be_given_by_the_rule() -> None:
    text = with_event(
        "start = 2026-01-06T16:30:00",
        'rrule = "FREQ=WEEKLY;BYDAY=TU"',
        "exdates = [",
        "  2026-01-13,",
        "  2026-01-14,",
        "  2026-01-20T16:30:00,",
        "  2026-01-27T16:00:00,",
        "]",
    )
    household = parse_household(text, "home.toml")
    assert household.events[0].exdates[0] == datetime(2026, 1, 13, 16, 30)
    assert [warning.split(":")[1] for warning in household.warnings] == [
        str(line_of(text, "2026-01-14")),
        str(line_of(text, "2026-01-27")),
    ]


def test_wall_time_that_the_clocks_skip() -> None:
    text = with_event("start = 2026-03-08T02:30:00").replace("Asia/Seoul", "America/Chicago")
    assert "does not exist in America/Chicago" in warnings_of(text)[0]
    autumn = with_event("start = 2026-11-01T01:30:00").replace("Asia/Seoul", "America/Chicago")
    assert warnings_of(autumn) == ()


def test_equal_names_warn_and_stay_usable() -> None:
    text = f'{MINIMAL}\n[[members]]\nid = "m"\nname = "JI-WOO"\nrole = "child"\n'
    (warning,) = warnings_of(text)
    assert '"JI-WOO" also means "ji" (line 7)' in warning


def test_child_cannot_own_and_household_without_adults_warns() -> None:
    child = MINIMAL.replace("parent", "child")
    assert "nobody can confirm" in warnings_of(child)[0]
    assert parse_household(child, "x").owner is None
    line, message = the_problem(child.replace("[household]", '[household]\nowner = "ji"'))
    assert line == 2
    assert "is not an adult" in message


def test_first_guardian_owns_where_there_is_no_parent() -> None:
    text = MINIMAL.replace("parent", "helper")
    guardian = '\n[[members]]\nid = "gran"\nname = "Gran"\nrole = "guardian"\n'
    assert parse_household(text + guardian, "x").owner == "gran"


def test_event_without_length_takes_the_default_given() -> None:
    text = with_event("start = 2026-01-06T16:30:00")
    (event,) = parse_household(text, "x", default_event_minutes=45).events
    assert event.duration == timedelta(minutes=45)


def test_folder_of_households_is_refused_where_two_claim_one_chat(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no \*\.toml"):
        load_households(tmp_path)
    for name in ("a", "b"):
        chats = f'id = "{name}"\nchats = ["shared", {ord(name)}]'
        (tmp_path / f"{name}.toml").write_text(MINIMAL.replace('id = "park"', chats))
    with pytest.raises(ConfigError, match='the chat "shared" is already used'):
        load_households(tmp_path)


# ---- the template


def answered(**changes: object) -> TemplateAnswers:
    answers: dict[str, object] = {
        "household": "The O'Connors",
        "timezone": "Europe/Dublin",
        "adults": ["Aoife", "Seán"],
        "children": ["Fiadh", "Oisín"],
        "bot_name": "Púca",
        "locale": "en-IE",
    }
    return TemplateAnswers(**(answers | changes))  # type: ignore[arg-type]  # keys are checked by the call


def test_template_loads_as_it_is() -> None:
    household = parse_household(render_template(answered()), "home.toml")
    assert household.id == "the-oconnors"
    assert household.owner == "aoife"
    assert [member.name for member in household.children] == ["Fiadh", "Oisín"]
    assert (household.bot_name, household.locale) == ("Púca", "en-IE")
    assert household.warnings == ()


def test_examples_in_the_template_load_once_their_hash_is_taken_away() -> None:
    def live(line: str) -> str:
        is_example = line.startswith("# [[") or " = " in line.split("  #", maxsplit=1)[0]
        return line.removeprefix("# ") if is_example and "telegram_id" not in line else line

    text = "\n".join(map(live, render_template(answered()).split("\n")))
    household: Household = parse_household(text, "home.toml")
    assert household.groups[0].members == ("fiadh", "oisin")
    assert len(household.events) == 2
    assert len(household.maintenance) == len(household.resources) == len(household.times) == 1
    assert household.warnings == ()


def test_template_takes_names_of_any_kind() -> None:
    names = ["आरव", 'Quote "Q"', "back\\slash", "Anna", "Anna", "佐藤"]
    text = render_template(answered(household="!!!", adults=names, children=["Anna"]))
    household = parse_household(text, "home.toml")
    assert household.id == "home"
    assert [member.name for member in household.members] == [*names, "Anna"]


def test_quoted_text_stays_on_one_line() -> None:
    assert quoted('a"b\n') == '"a\\"b\\n"'


def test_empty_group_and_child_in_charge() -> None:
    group = MINIMAL + '\n[[groups]]\nid = "g"\nmembers = []\n'
    assert the_problem(group) == (12, "members: a group needs at least one member")
    child = '[[members]]\nid = "bo"\nname = "Bo"\nrole = "child"'
    event = with_event("start = 2026-01-06T16:30:00", 'responsible = ["bo"]', child)
    assert warnings_of(event) == ('home.toml:15: responsible: "bo" is a child',)


def test_bad_flag_does_not_make_the_dates_bad_too() -> None:
    line, message = the_problem(with_event('all_day = "yes"', "start = 2026-03-24"))
    assert (line, message) == (14, "all_day must be true or false, without quotes")


@pytest.mark.parametrize("byday", ["MONTHLY;BYDAY=99MO", "YEARLY;BYMONTH=12;BYDAY=53MO"])
def test_a_weekday_counted_too_far_is_a_problem_of_its_line(byday: str) -> None:
    text = (
        '[household]\nid = "x"\ntimezone = "UTC"\n[[members]]\nid = "a"\nname = "A"\nrole = "parent"\n'
        '[[events]]\nid = "e"\nsummary = "E"\nstart = 2026-01-05T10:00:00\nduration_minutes = 60\n'
        f'rrule = "FREQ={byday}"\n'
    )
    with pytest.raises(ConfigError) as refused:
        parse_household(text, "household.toml")
    assert [problem.line for problem in refused.value.problems] == [13]
