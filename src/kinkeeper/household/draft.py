"""A household file as far as it could be read, and every problem in it, down to ids and words that do not fit."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from kinkeeper.core.errors import Problem
from kinkeeper.household.document import (
    UNREADABLE,
    ContactSection,
    Document,
    EventSection,
    GroupSection,
    HouseholdSection,
    MaintenanceSection,
    MemberSection,
    NamedSection,
    Path,
    Positions,
    Section,
    TimeSection,
)
from kinkeeper.household.model import Role
from kinkeeper.household.name_folding import did_you_mean, fold, nearest

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
        resources=[*reader.tables("resources", NamedSection), *reader.tables("cars", NamedSection)],
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


# What the tables of a household file must be to each other: ids, people, references, words.

Items = Sequence[Item[Any]]

_ADULTS = (Role.PARENT, Role.GUARDIAN, Role.HELPER)


def check(draft: Draft, report: Report) -> None:
    """Note in `report` everything that does not fit together in `draft`."""
    _check_ids(draft, report)
    _check_people(draft, report)
    _check_references(draft, report)
    _check_words(draft, report)


def _named_kinds(draft: Draft) -> tuple[Items, ...]:
    """Everything that people call by name, by kind: people and groups answer to one another's."""
    people: Items = [*draft.members, *draft.groups]
    return people, draft.activities, draft.places, draft.resources, draft.times, draft.contacts


def _check_ids(draft: Draft, report: Report) -> None:
    for items in (*_named_kinds(draft), draft.events, draft.maintenance):
        _check_unique(items, "id", report)
    _check_unique(draft.members, "telegram_id", report)


def _check_unique(items: Items, key: str, report: Report) -> None:
    first: dict[str | int, Path] = {}
    for item in items:
        value = item.raw.get(key)
        if not isinstance(value, str | int) or value == "":
            continue
        path = (*item.path, key)
        if value in first:
            line = report.positions.line(first[value])
            message = f'{key} "{value}" is already used on line {line}; give this one another'
            report.problem(path, message)
        else:
            first[value] = path


def _check_people(draft: Draft, report: Report) -> None:
    if not draft.members:
        message = "the household has no members; add at least one: [[members]] with id, name, role"
        report.problem(("members",), message)
    elif not any(_is_adult(item) for item in draft.members):
        message = "no member is a parent, guardian or helper, so nobody can confirm anything"
        report.warning(draft.members[0].path, message)
    owner = draft.household.owner
    named = [item for item in draft.members if owner and item.raw.get("id") == owner]
    if named and not _is_adult(named[0]):
        message = (
            f'owner: "{owner}" is not an adult in the household; name a parent, guardian or helper'
        )
        report.problem(("household", "owner"), message)


def _is_adult(item: Item[Any]) -> bool:
    """Whether the member is one; a role that could not be read gets the benefit of the doubt."""
    return item.section.role in _ADULTS or item.raw.get("role") != item.section.role


class _Known:
    """The ids that a reference may name."""

    def __init__(self, noun: str, items: Items, report: Report) -> None:
        self.noun = noun
        self.report = report
        self.ids = [item.raw["id"] for item in items if isinstance(item.raw.get("id"), str)]
        self.by_word = {fold(word): item.section.id for item in items for word in _words(item)[1:]}

    def check(self, path: Path, value: object) -> None:
        """Note a `value` that names none of them."""
        if not isinstance(value, str) or value in self.ids:
            return
        meant = self.by_word.get(fold(value))
        hint = f' (did you mean "{meant}"?)' if meant else did_you_mean(value, self.ids)
        known = (
            f"use one of {', '.join(self.ids)}" if self.ids else f"the file has no {self.noun} yet"
        )
        message = f'{_key(path)}: no {self.noun} has the id "{value}"{hint}; {known}'
        self.report.problem(path, message)

    def check_all(self, item: Item[Any], key: str) -> None:
        """Note every element of the list `key` that names none of them."""
        for path, value in _elements(item, key):
            self.check(path, value)


def _check_references(draft: Draft, report: Report) -> None:
    members = _Known("member", draft.members, report)
    activities = _Known("activity", draft.activities, report)
    places = _Known("place", draft.places, report)
    members.check(("household", "owner"), draft.household.owner)
    for group in draft.groups:
        members.check_all(group, "members")
        if group.raw.get("members") == []:
            report.problem((*group.path, "members"), "members: a group needs at least one member")
    children = {item.section.id for item in draft.members if item.section.role is Role.CHILD}
    for event in draft.events:
        members.check_all(event, "who")
        members.check_all(event, "responsible")
        activities.check((*event.path, "activity"), event.section.activity)
        places.check((*event.path, "place"), event.section.place)
        for path, value in _elements(event, "responsible"):
            if value in children:
                report.warning(path, f'responsible: "{value}" is a child')


def _check_words(draft: Draft, report: Report) -> None:
    """Warn where one word stands for two things of a kind: nobody could tell which is meant."""
    for items in _named_kinds(draft):
        owners: dict[str, tuple[str, Path]] = {}
        for item in items:
            for path, word in _words_at(item):
                owner, first = owners.setdefault(fold(word), (item.section.id, path))
                if owner != item.section.id:
                    line = report.positions.line(first)
                    message = (
                        f'"{word}" also means "{owner}" (line {line}); '
                        "messages with this word will not be tied to either"
                    )
                    report.warning(path, message)


def _words(item: Item[Any]) -> list[str]:
    return [word for _, word in _words_at(item)]


def _words_at(item: Item[Any]) -> Iterator[tuple[Path, str]]:
    """Yield the words for one thing (id, name, aliases), each with its place; the id first."""
    yield (*item.path, "id"), item.section.id
    if name := getattr(item.section, "name", ""):
        yield (*item.path, "name"), name
    for path, alias in _elements(item, "aliases"):
        if isinstance(alias, str):
            yield path, alias


def _elements(item: Item[Any], key: str) -> Iterable[tuple[Path, object]]:
    """Return the elements of a list as written, each with its place."""
    value = item.raw.get(key)
    if not isinstance(value, list):
        return []
    return [((*item.path, key, index), element) for index, element in enumerate(value)]


def _key(path: Path) -> str:
    return next(part for part in reversed(path) if isinstance(part, str))
