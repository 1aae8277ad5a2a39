"""The tables of a household file, field by field: names, types, and what is required.

Each table is read on its own and as far as possible: a bad field falls back to its default here
and to a problem there, so that the checks after it still see the rest of the table.
"""

import re
import unicodedata
from datetime import date, datetime, time
from typing import Annotated, ClassVar

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
