"""The words of one household: what its file names, and what every family says.

Plain values for the readers of text; how a word is found in a message is theirs to decide.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from kinkeeper.household.model import Group, Household, Member, Named, Role
from kinkeeper.household.name_folding import fold, in_words, normalize

# Words that families use whatever their household file says, read from `generic_words.toml`.


@dataclass(frozen=True, slots=True, kw_only=True)
class GenericActivity:
    """Something families do that no household file needs to define.

    Attributes:
        name: Canonical name.
        category: session, pursuit, health, school, care, social or errand. A session is what one
            does with an activity ("practice"); a pursuit is an activity of its own ("chess").
        words: What people write for it, the canonical name first; plurals included.
        forms: Ordinary words that stand for it only where a household names the activity.
        minutes: How long it usually takes, > 0.
        is_appointment: Whether it is arranged for one person with somebody outside the family.
        is_occasion: Whether it is a special occasion of an activity, not its usual series.
    """

    name: str
    category: str
    words: tuple[str, ...]
    forms: tuple[str, ...]
    minutes: int
    is_appointment: bool
    is_occasion: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleWords:
    """Words for people that name nobody.

    Attributes:
        by_count: Words for all children of a household with that many.
        some: Words for some of the children.
        titles: First words of a name that do not name the person.
        function_words: Words too common for a name without its accents to be taken for one.
    """

    all_children: tuple[str, ...]
    by_count: dict[int, tuple[str, ...]]
    some: tuple[str, ...]
    titles: frozenset[str]
    function_words: frozenset[str]


@cache
def generic_activities() -> tuple[GenericActivity, ...]:
    """Return the generic activities in file order; no word stands for two of them."""
    return tuple(
        GenericActivity(
            name=name,
            category=category,
            words=_with_plurals((name, *entry["words"]), category),
            forms=tuple(entry.get("forms", ())),
            minutes=entry["minutes"],
            is_appointment=entry.get("appointment", False),
            is_occasion=entry.get("occasion", False),
        )
        for category, entries in _data()["activities"].items()
        for name, entry in entries.items()
    )


@cache
def people_words() -> PeopleWords:
    """Return the words for people that name nobody."""
    people = _data()["people"]
    return PeopleWords(
        all_children=tuple(people["all_children"]),
        by_count={int(count): tuple(words) for count, words in people["by_count"].items()},
        some=tuple(people["some"]["words"]),
        titles=frozenset(people["titles"]["words"]),
        function_words=frozenset(people["function_words"]["words"]),
    )


def _with_plurals(words: tuple[str, ...], category: str) -> tuple[str, ...]:
    """Return `words` and their plurals; what one pursues ("chess", "soccer") has none."""
    if category == "pursuit":
        return with_phrase_plurals(words)
    return tuple(dict.fromkeys([*words, *(plural(word) for word in words)]))


def with_phrase_plurals(words: Iterable[str]) -> tuple[str, ...]:
    """Return `words` and the plurals of those that end in a session's name ("chess lesson")."""
    heads = _data()["activities"]["session"]
    plurals = [plural(word) for word in words if word.split()[-1:] and word.split()[-1] in heads]
    return tuple(dict.fromkeys([*words, *plurals]))


def plural(word: str) -> str:
    """Return the English plural of a word or phrase; what ends in -s or -ing has none here."""
    if not word.isascii() or word.endswith(("s", "ing")):
        return f"{word}es" if word.endswith("ss") else word
    if word.endswith(("x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


@cache
def _data() -> dict[str, Any]:
    text = files("kinkeeper.household").joinpath("generic_words.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


class WordKind(StrEnum):
    """What a word stands for."""

    CHILD = "child"
    ADULT = "adult"
    ACTIVITY = "activity"
    GENERIC_ACTIVITY = "generic_activity"
    PLACE = "place"
    GROUP = "group"
    RESOURCE = "resource"
    NAMED_TIME = "named_time"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One thing, with the words for it.

    Attributes:
        kind: What it is. Adults are all members who are no children.
        id: Id from the file; of a generic activity its canonical name; of a group that the file
            does not define a name beginning with "*".
        words: Case-folded, single spaces, plain apostrophes; with accents and, where Latin letters
            carry some, also without; hyphenated ones also with spaces. The most usual one first.
    """

    kind: str
    id: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """All words of one household.

    Attributes:
        words: Everything that has a word, people first.
        generic: The generic activities that the household's own leave over.
        groups: Members of each group id; none where nobody can tell.
    """

    words: tuple[Word, ...]
    generic: tuple[GenericActivity, ...]
    groups: Mapping[str, tuple[str, ...]]
    _meanings: Mapping[str, tuple[Word, ...]] = field(repr=False)

    def of_kind(self, kind: WordKind) -> tuple[Word, ...]:
        """Return the entries of one kind."""
        return tuple(word for word in self.words if word.kind == kind)

    def meanings(self, word: str) -> tuple[Word, ...]:
        """Return everything that `word` may stand for; several mean that it is ambiguous."""
        return self._meanings.get(normalize(word)) or self._meanings.get(fold(word), ())

    def members_of(self, kind: str, entry_id: str) -> tuple[str, ...]:
        """Return the member ids that an entry stands for.

        Returns:
            The person alone, the members of a group, or none for everything else and for groups
            of which nobody can tell who is meant.
        """
        if kind in {WordKind.CHILD, WordKind.ADULT}:
            return (entry_id,)
        return self.groups.get(entry_id, ()) if kind == WordKind.GROUP else ()

    def generic_activity(self, name: str) -> GenericActivity | None:
        """Return the generic activity with that canonical name, if the household has it."""
        return next((one for one in self.generic if one.name == name), None)


def compile_vocabulary(household: Household) -> Vocabulary:
    """Return all words of `household`.

    What the file says goes before what every family says: a generic word that the file uses for
    something of its own stands for that alone.
    """
    people = _people(household)
    groups, members = _groups(household, _claimed(people))
    activities = _activities(household.activities)
    generic = _left_over(_claimed([*people, *groups, *activities]))
    words = (
        *people,
        *groups,
        *activities,
        *(Word(kind=WordKind.GENERIC_ACTIVITY, id=one.name, words=one.words) for one in generic),
        *_named(WordKind.PLACE, household.places),
        *_named(WordKind.RESOURCE, household.resources),
        *(
            Word(
                kind=WordKind.NAMED_TIME, id=one.id, words=_spellings([*_id(one.id), *one.aliases])
            )
            for one in household.times
        ),
        *(
            Word(
                kind=WordKind.MAINTENANCE, id=one.id, words=_spellings([one.summary, *_id(one.id)])
            )
            for one in household.maintenance
        ),
    )
    return Vocabulary(words=words, generic=generic, groups=members, _meanings=_index(words))


def _people(household: Household) -> list[Word]:
    firsts = Counter(fold(_first_name(member)) for member in household.members)
    return [
        Word(
            kind=WordKind.CHILD if member.role is Role.CHILD else WordKind.ADULT,
            id=member.id,
            words=_spellings(
                [
                    member.name,
                    *([_first_name(member)] if firsts[fold(_first_name(member))] == 1 else []),
                    *member.aliases,
                    *_id(member.id),
                ]
            ),
        )
        for member in household.members
    ]


def _first_name(member: Member) -> str:
    """Return the word of a name that people use alone."""
    first, *rest = member.name.split()
    return member.name if rest and fold(first).strip(".") in people_words().titles else first


def _groups(
    household: Household, taken: frozenset[str]
) -> tuple[list[Word], dict[str, tuple[str, ...]]]:
    """Return the groups of the file and the ones every family has, and who is in them."""
    entries = [
        Word(kind=WordKind.GROUP, id=group.id, words=_spellings(_group_words(group)))
        for group in household.groups
    ]
    members = {group.id: group.members for group in household.groups}
    taken |= _claimed(entries)
    children = tuple(child.id for child in household.children)
    generic = people_words()
    rest: list[tuple[str, Iterable[str], tuple[str, ...]]] = [
        ("*children", generic.all_children, children),
        *(
            (f"*{count}", words, children if len(children) == count else ())
            for count, words in generic.by_count.items()
            if len(children) == count or count == 1
        ),
        *((f"*{word}", [word], ()) for word in generic.some),
    ]
    for entry_id, words, meant in rest:
        free = tuple(word for word in words if not {fold(word), _bare(word)} & taken)
        if free:
            entries.append(Word(kind=WordKind.GROUP, id=entry_id, words=free))
            members[entry_id] = meant
    return entries, members


def _group_words(group: Group) -> list[str]:
    """Return a group's words, each with and without its article."""
    words = [*group.aliases, *_id(group.id)]
    return [*words, *(_bare(word) for word in words)]


def _bare(word: str) -> str:
    return normalize(word).removeprefix("the ")


def _activities(activities: Sequence[Named]) -> list[Word]:
    """Return the household's activities, each with the other forms of what families call it."""
    own = {one.id: [one.name, *one.aliases, *_id(one.id)] for one in activities}
    claimed = Counter(fold(word) for words in own.values() for word in set(map(fold, words)))
    entries = []
    for activity_id, words in own.items():
        mine = set(map(fold, words))
        more = [
            word
            for one in generic_activities()
            if one.category == "pursuit" and mine & {*one.words, *one.forms}
            for word in (*one.words, *one.forms)
            if word not in claimed
        ]
        entries.append(
            Word(
                kind=WordKind.ACTIVITY,
                id=activity_id,
                words=_spellings(with_phrase_plurals([*map(normalize, words), *more])),
            )
        )
    return entries


def _left_over(taken: frozenset[str]) -> tuple[GenericActivity, ...]:
    """Return the generic activities without the words that the household uses itself."""
    left = []
    for one in generic_activities():
        words = tuple(word for word in one.words if fold(word) not in taken)
        if one.name in taken and one.category == "pursuit":
            continue
        if words:
            left.append(
                GenericActivity(
                    name=one.name,
                    category=one.category,
                    words=words,
                    forms=one.forms,
                    minutes=one.minutes,
                    is_appointment=one.is_appointment,
                    is_occasion=one.is_occasion,
                )
            )
    return tuple(left)


def _named(kind: WordKind, things: Sequence[Named]) -> list[Word]:
    return [
        Word(kind=kind, id=one.id, words=_spellings([one.name, *one.aliases, *_id(one.id)]))
        for one in things
    ]


def _id(slug: str) -> tuple[str, ...]:
    return (in_words(slug), slug)


def _spellings(words: Iterable[str]) -> tuple[str, ...]:
    """Return every spelling of `words` in comparable form, each once."""
    return tuple(dict.fromkeys(form for word in words for form in _forms(normalize(word)) if form))


def _forms(word: str) -> Iterator[str]:
    """Yield a word as it is, without Latin accents, and with spaces for hyphens."""
    yield word
    # A mother called "me" with an accent must not be found in every "me".
    if fold(word) not in people_words().function_words:
        yield fold(word)
    if "-" in word:
        yield fold(word).replace("-", " ")


def _claimed(entries: Iterable[Word]) -> frozenset[str]:
    return frozenset(fold(word) for entry in entries for word in entry.words)


def _index(entries: Iterable[Word]) -> dict[str, tuple[Word, ...]]:
    index: dict[str, tuple[Word, ...]] = {}
    for entry in entries:
        for word in entry.words:
            index[word] = (*index.get(word, ()), entry)
    return index
