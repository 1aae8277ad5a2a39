"""Whom a mail is for, by the household file; and what may stand in that file."""

from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from kinkeeper.core.errors import ConfigError, InputError
from kinkeeper.household.file import parse_household
from kinkeeper.household.model import Contact, Group, Household, Member, Role
from kinkeeper.mail.lookup import Found, find_recipients
from kinkeeper.mail.model import Address, Mail, one_line

INES = Member(id="ines", name="Ines", role=Role.PARENT, aliases=("mum",), email="ines@home.example")
OMAR = Member(id="omar", name="Omar", role=Role.PARENT, aliases=("dad",), email="omar@home.example")
TARA = Member(id="tara", name="Tara", role=Role.CHILD)
FAMILY = Household(
    id="vienna",
    zone=ZoneInfo("Europe/Vienna"),
    locale="en-GB",
    bot_name="Kin",
    owner="ines",
    members=(INES, OMAR, TARA),
    groups=(
        Group(id="grown-ups", aliases=("the parents",), members=("ines", "omar")),
        Group(id="kids", aliases=(), members=("tara",)),
    ),
    contacts=(
        Contact(id="school", name="The school office", emails=("office@school.example",)),
        Contact(id="ana-r", name="Ána Ruiz", emails=("ana@a.example",), aliases=("my sister",)),
        Contact(id="ana-b", name="Ana Brandt", emails=("brandt@b.example",)),
        Contact(id="team", name="The whole team", emails=("a@t.example", "b@t.example")),
        Contact(id="fish-and-co", name="Fish and Co", emails=("shop@fish.example",)),
    ),
)


def found(to: str | list[str]) -> tuple[Found, ...]:
    return find_recipients(FAMILY, INES, to)


def addresses(to: str | list[str]) -> list[str]:
    return [each.address for one in found(to) for each in one.addresses]


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("omar", ["omar@home.example"]),
        ("Dad", ["omar@home.example"]),
        ("me", ["ines@home.example"]),
        ("the school office", ["office@school.example"]),
        ("school office", ["office@school.example"]),
        ("ruiz", ["ana@a.example"]),
        ("ana ruiz", ["ana@a.example"]),
        ("my sister", ["ana@a.example"]),
        ("the whole team", ["a@t.example", "b@t.example"]),
        ("whole team", ["a@t.example", "b@t.example"]),
        ("the parents", ["ines@home.example", "omar@home.example"]),
        ("grown ups", ["ines@home.example", "omar@home.example"]),
        ("everyone", ["omar@home.example"]),
        ("the family", ["omar@home.example"]),
        ("dad and the school office", ["omar@home.example", "office@school.example"]),
        (
            "dad, my sister, and the team",
            ["omar@home.example", "ana@a.example", "a@t.example", "b@t.example"],
        ),
        ("fish and co", ["shop@fish.example"]),
        ("bob@work.example", ["bob@work.example"]),
        ("Bob <bob@work.example>; dad", ["bob@work.example", "omar@home.example"]),
        ('"Ruiz, Ana" <ana@x.example>', ["ana@x.example"]),
        (["dad", "bob@work.example"], ["omar@home.example", "bob@work.example"]),
    ],
)
def test_names_become_addresses(to: str | list[str], expected: list[str]) -> None:
    assert addresses(to) == expected
    assert all(each.is_known for each in found(to))


@pytest.mark.parametrize(
    ("to", "missing"), [("tara", ("Tara",)), ("kids", ("Tara",)), ("the kids", ("Tara",))]
)
def test_who_is_meant_may_have_no_address(to: str, missing: tuple[str, ...]) -> None:
    (only,) = found(to)
    assert (only.addresses, only.missing) == ((), missing)


def test_two_of_one_name_are_asked_about() -> None:
    (only,) = found("Ana")
    assert not only.is_known
    assert set(only.options) == {"Ána Ruiz", "Ana Brandt"}


@pytest.mark.parametrize("name", ["Bob", "the plumber", "team b", "anab", "x and y"])
def test_nobody_is_guessed(name: str) -> None:
    assert not any(each.is_known or each.options for each in found(name))


def test_nothing_is_nobody() -> None:
    assert found(" , ; ") == ()


@pytest.mark.parametrize("text", ["bob@", "@work", "a@b@c.de", "<>", "bob@work", "Bob <bob>"])
def test_what_looks_like_an_address_must_be_one(text: str) -> None:
    with pytest.raises(InputError):
        found(text)


FILE = """
[household]
id = "home"
timezone = "Europe/Vienna"

[[members]]
id = "ines"
name = "Ines"
role = "parent"
email = "ines@home.example"

[[contacts]]
id = "school"
name = "The school"
aliases = ["office"]
email = ["a@school.example", "b@school.example"]
"""


def test_the_file_names_addresses() -> None:
    family = parse_household(FILE, "home.toml")
    assert family.members[0].email == "ines@home.example"
    (contact,) = family.contacts
    assert contact.emails == ("a@school.example", "b@school.example")
    assert contact.aliases == ("office",)


@pytest.mark.parametrize(
    ("before", "after", "line", "said"),
    [
        ('"ines@home.example"', '"ines at home"', 10, "a mail address is needed"),
        ('"ines@home.example"', "7", 10, "a mail address is needed"),
        (
            '["a@school.example", "b@school.example"]',
            '["a@school.example", "b"]',
            16,
            "a mail address",
        ),
        ('["a@school.example", "b@school.example"]', "[]", 16, "at least one"),
        ('email = ["a@school.example", "b@school.example"]', "", 12, 'lacks "email"'),
        ('aliases = ["office"]', 'role = "parent"', 15, "belongs to [[members]]"),
        ("[[contacts]]", "[[contact]]", 12, "contacts"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_line(
    before: str, after: str, line: int, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_household(FILE.replace(before, after), "home.toml")
    problem = caught.value.problems[0]
    assert problem.line == line
    assert said in problem.message


@pytest.mark.parametrize(
    "fields",
    [
        {"subject": "a\r\nBcc: x@y.example"},
        {"subject": "a\u2028b"},
        {"from_name": "Ines\nX: y"},
        {"in_reply_to": "<a@b>\r\nX: y"},
        {"in_reply_to": "a@b"},
        {"references": ("<a@b> <c@d>",)},
        {"unaddressed": ("Bob\n",)},
        {"to": ({"address": "a@b.example\r\nX: y"},)},
        {"to": ({"address": "a@b.example", "name": "A\nB"},)},
        {"cc": ()},
    ],
)
def test_no_line_break_gets_into_a_header(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Mail.model_validate({"subject": "s", "body": "b", **fields})


def test_a_text_becomes_one_line() -> None:
    assert one_line(" a\r\n\tb\u2029c\x00 d ") == "a b c d"


def test_an_address_is_shown_whatever_the_name() -> None:
    address = Address(address="mallory@evil.example", name="omar@home.example")
    assert "<mallory@evil.example>" in address.shown
