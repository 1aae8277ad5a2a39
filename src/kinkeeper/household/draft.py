"""A household file as far as it could be read, with every problem met on the way."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from kinkeeper.core.errors import Problem
from kinkeeper.household.document import UNREADABLE, Document
from kinkeeper.household.positions import Path, Positions
from kinkeeper.household.sections import (
    ContactSection,
    EventSection,
    GroupSection,
    HouseholdSection,
    MaintenanceSection,
    MemberSection,
    NamedSection,
    Section,
    TimeSection,
)
from kinkeeper.household.suggestions import did_you_mean, nearest

AnySection = TypeVar("AnySection", bound=Section)

# The second word for the same table is there because families have cars, not resources.
_TABLES: dict[str, type[Section]] = {
    "members": MemberSection,
    "activities": NamedSection,
    "places": NamedSection,
    "resources": NamedSection,
    "cars": NamedSection,
    "groups": GroupSection,
    "times": TimeSection,
    "events": EventSection,
    "maintenance": MaintenanceSection,
    "contacts": ContactSection,
}
_NAMES = ("household", *_TABLES)
_EXAMPLES = {
    "id": 'id = "a-short-name"',
    "name": 'name = "Ada"',
    "role": 'role = "parent"',
    "timezone": 'timezone = "America/Chicago"',
    "summary": 'summary = "Leo soccer practice"',
    "start": "start = 2026-01-06T16:30:00",
    "due": "due = 2026-04-15",
    "members": 'members = ["leo", "max"]',
    "email": 'email = "name@example.org"',
}
_WHOLE_NUMBER = "{key} must be a whole number above 0, without quotes and of a sensible size: 60"
_WORDS = {
    "string_type": '{key} must be text in quotes: "..."',
    "list_type": '{key} must be a list: ["...", "..."]',
    "bool_type": "{key} must be true or false, without quotes",
    "int_type": _WHOLE_NUMBER,
    "greater_than": _WHOLE_NUMBER,
    "less_than_equal": _WHOLE_NUMBER,
    "string_too_short": "{key} must not be empty",
    "string_too_long": "{key} is too long; at most {max_length} characters",
}


@dataclass(slots=True)
class Report:
    """Collects what is wrong or doubtful in one file.

    Attributes:
        where: Name of the file.
        positions: Where everything stands in it.
        problems: What makes the file unusable.
        warnings: What is probably not meant, yet usable.
    """

    where: str
    positions: Positions
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def problem(self, path: Path, message: str) -> None:
        """Note what makes the file unusable, at the line of `path`."""
        self.problems.append(self._at(path, message))

    def warning(self, path: Path, message: str) -> None:
        """Note what is doubtful, at the line of `path`."""
        self.warnings.append(self._at(path, message))

    def _at(self, path: Path, message: str) -> Problem:
        return Problem(where=self.where, line=self.positions.line(path), message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(Generic[AnySection]):
    """One table of the file.

    Attributes:
        path: Where it stands.
        raw: As the parser gave it.
        section: As far as its fields were good.
    """

    path: Path
    raw: dict[str, Any]
    section: AnySection


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Every table of the file, in file order."""

    household: HouseholdSection
    members: list[Item[MemberSection]]
    activities: list[Item[NamedSection]]
    places: list[Item[NamedSection]]
    resources: list[Item[NamedSection]]
    groups: list[Item[GroupSection]]
    times: list[Item[TimeSection]]
    events: list[Item[EventSection]]
    maintenance: list[Item[MaintenanceSection]]
    contacts: list[Item[ContactSection]]


def read_draft(document: Document, report: Report) -> Draft:
    """Return every table of `document`, noting unknown, missing and bad keys in `report`."""
    reader = _Reader(document.data, report)
    return Draft(
        household=reader.household(),
        members=reader.tables("members", MemberSection),
        activities=reader.tables("activities", NamedSection),
        places=reader.tables("places", NamedSection),
        resources=[
            *reader.tables("resources", NamedSection),
            *reader.tables("cars", NamedSection),
        ],
        groups=reader.tables("groups", GroupSection),
        times=reader.tables("times", TimeSection),
        events=reader.tables("events", EventSection),
        maintenance=reader.tables("maintenance", MaintenanceSection),
        contacts=reader.tables("contacts", ContactSection),
    )


class _Reader:
    """Reads the tables of one file."""

    def __init__(self, data: dict[str, Any], report: Report) -> None:
        self.data = data
        self.report = report
        self.keys = {name: name for name in _NAMES if name in data}
        for key, value in data.items():
            if key not in _NAMES:
                report.problem((key,), _unknown_table(key))
                # A misspelt table is read all the same, or everything it defines would be missed.
                if (meant := nearest(key, _NAMES)) and isinstance(value, dict | list):
                    self.keys.setdefault(meant, key)

    def household(self) -> HouseholdSection:
        key = self.keys.get("household", "household")
        raw = self.data.get(key)
        if isinstance(raw, dict):
            return self.section((key,), raw, HouseholdSection)
        if isinstance(raw, list) and raw and isinstance(raw[0], dict):
            self.report.problem(
                (key,), "there is only one household: write [household] in single brackets"
            )
            return self.section((key, 0), raw[0], HouseholdSection)
        message = 'the file needs one [household] table with id = "..." and timezone = "..."'
        self.report.problem(("household",), message)
        return HouseholdSection()

    def tables(self, kind: str, section: type[AnySection]) -> list[Item[AnySection]]:
        key = self.keys.get(kind, kind)
        raws = self.data.get(key, [])
        places: list[tuple[Path, Any]] = [((key,), raws)]
        if isinstance(raws, list):
            places = [((key, index), raw) for index, raw in enumerate(raws)]
        tables = [(path, raw) for path, raw in places if isinstance(raw, dict)]
        if not isinstance(raws, list) or len(tables) < len(places):
            message = f"write each of the {kind} as a table of its own: [[{kind}]]"
            self.report.problem((key,), message)
        return [
            Item(path=path, raw=raw, section=self.section(path, raw, section))
            for path, raw in tables
        ]

    def section(self, path: Path, raw: dict[str, Any], section: type[AnySection]) -> AnySection:
        for key in section.required:
            if key not in raw:
                message = f'{_title(path, raw)} lacks "{key}"; add e.g. {_EXAMPLES[key]}'
                self.report.problem(path, message)
        try:
            return section.model_validate(raw)
        except ValidationError as error:
            errors = error.errors(include_url=False)
        for one in errors:
            if one["input"] != UNREADABLE:
                self.report.problem((*path, *one["loc"]), _in_words(one, path, section))
        return section.model_validate(_pruned(raw, [one["loc"] for one in errors]))


def _pruned(raw: dict[str, Any], bad: Iterable[tuple[int | str, ...]]) -> dict[str, Any]:
    """Return `raw` without the keys and list elements at the `bad` places."""
    keys = {place[0] for place in bad if len(place) == 1}
    elements = {place[:2] for place in bad if len(place) > 1}
    return {
        key: [one for index, one in enumerate(value) if (key, index) not in elements]
        if isinstance(value, list)
        else value
        for key, value in raw.items()
        if key not in keys
    }


def _in_words(error: ErrorDetails, path: Path, section: type[Section]) -> str:
    """Return what is wrong with one field and how to mend it."""
    key = str(error["loc"][0])
    if error["type"] == "extra_forbidden":
        return _unknown_key(key, path, section)
    if error["type"] == "value_error":
        return f"{key}: {error['ctx']['error']}"
    template = _WORDS.get(error["type"], "{key}: {reason}")
    subject = f"each item of {key}" if len(error["loc"]) > 1 else key
    return template.format(key=subject, reason=error["msg"], **error.get("ctx", {}))


def _unknown_table(key: str) -> str:
    if key in HouseholdSection.model_fields:
        return f'"{key}" belongs below the line [household]'
    hint = did_you_mean(key, _NAMES)
    return (
        f'"{key}" does not belong in a household file{hint}; it can have [household] and '
        + ", ".join(f"[[{name}]]" for name in _TABLES if name != "cars")
    )


def _unknown_key(key: str, path: Path, section: type[Section]) -> str:
    known = list(section.model_fields)
    table = f"[{path[0]}]" if len(path) == 1 else f"[[{path[0]}]]"
    homes = [name for name, other in _TABLES.items() if key in other.model_fields]
    if key in HouseholdSection.model_fields:
        hint = "; it belongs to [household], above the first [[...]]"
    elif len(homes) == 1:
        hint = f"; it belongs to [[{homes[0]}]]"
    else:
        hint = did_you_mean(key, known)
    return f'unknown key "{key}" in {table}{hint}; known keys are {", ".join(known)}'


def _title(path: Path, raw: dict[str, Any]) -> str:
    if len(path) == 1:
        return f"[{path[0]}]"
    name = raw.get("id") or raw.get("name") or raw.get("summary")
    return f'[[{path[0]}]] "{name}"' if isinstance(name, str) else f"this [[{path[0]}]]"
