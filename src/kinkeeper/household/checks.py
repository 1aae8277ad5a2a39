"""What the tables of a household file must be to each other: ids, people, references, words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kinkeeper.household.draft import Draft, Item, Report
from kinkeeper.household.model import Role
from kinkeeper.household.name_folding import fold
from kinkeeper.household.positions import Path
from kinkeeper.household.suggestions import did_you_mean

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
