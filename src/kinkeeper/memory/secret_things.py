"""What a secret is about, and whether other words speak of the same thing, whoever says them and wherever. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from kinkeeper.household.model import Household
from kinkeeper.language.dictionary import first_names, word_ranks
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.statements.canonical_words import canon_of, lexicon
from kinkeeper.memory.statements.care import people_in
from kinkeeper.memory.statements.discretion import concerns_others, speaks_of_health
from kinkeeper.memory.statements.names import names_in, person_canons
from kinkeeper.memory.statements.secrecy import (
    asked_to,
    is_for_all,
    is_handling,
    secrecy_of,
    topics_of,
    without_frame,
)
from kinkeeper.memory.statements.sentences import LONGEST_MESSAGE
from kinkeeper.reading.coreference import Thing, things_in

_RARE = 5_000
"""Rank from which one word tells what is meant, whoever is named with it."""
_PLAIN = 300
"""Rank from which the noun alone tells a thing from others: "house" and "car" do not."""


_Words = tuple[tuple[str, ...], bool]


@dataclass(frozen=True, slots=True)
class About:
    """What a text is about.

    Attributes:
        things: The stems of each, the noun last; and whether it is only now spoken of.
        first: Those of them that it says first, before it says for whom, where or when.
        plain: Those of their stems that alone tell nothing: "house", "car".
        telling: Stems of which one alone tells what is meant: rare words and names.
        said: Stems of all its words.
        people: Ids of the members whom it is about.
        asked: Ids of those who are only to see to it.
        is_open: Whether it is for all to know; what only a telling word ties to a secret is kept all the same.
        is_health: Whether it is for all to know because of somebody's health: that is tied to no secret.
    """

    things: tuple[_Words, ...]
    first: tuple[_Words, ...]
    plain: frozenset[str]
    telling: frozenset[str]
    said: frozenset[str]
    people: frozenset[str]
    asked: frozenset[str]
    is_open: bool
    is_health: bool


@lru_cache(maxsize=2048)
def about(text: str, household: Household) -> About:
    """Return what a text is about, without its wish for secrecy: what it says first, and whatever it names.

    Args:
        text: A message or a title, verbatim.
    """
    text = text[:LONGEST_MESSAGE]
    wish = secrecy_of(text, household, None)
    first, whole = topics_of(without_frame(wish.rest if wish is not None and wish.rest else text))
    names, people = names_in(text), household.members_by_word

    def is_apart(word: str, is_led: bool) -> bool:  # noqa: FBT001 - asked by `things_in`
        canon = canon_of(word)
        is_verb = canon in lexicon().verbs or (word.endswith("ed") and stems(word) != [word])
        return not stems(word) or _is_time(word) or (is_verb and not is_led)

    def things(of: str) -> list[Thing]:
        found = things_in(of, people=people, is_apart=is_apart)
        return [each for each in found if person_canons().isdisjoint(map(canon_of, each.words))]

    every = things(whole)
    named = things(first) or every
    telling = {
        word
        for each in named
        for word in each.words
        if _rank(word) >= _RARE or canon_of(word) in names
    }
    is_open = is_for_all(text, household)
    asked = asked_to(text, household)
    return About(
        things=tuple(map(_stemmed, every)),
        first=tuple(map(_stemmed, named)),
        plain=frozenset(_stem(w) for each in every for w in each.words if _rank(w) < _PLAIN),
        telling=frozenset(map(_stem, telling - first_names())),
        said=frozenset(stems(text)),
        people=people_in(text, household) - asked,
        asked=asked,
        is_open=is_open,
        is_health=is_open and (speaks_of_health(text) or concerns_others(text)),
    )


def same_things(said: About, secret: About, *, hidden: Collection[str]) -> frozenset[str]:
    """Return the stems by which a text speaks of what a secret is about; none where it speaks of something else.

    What is said of somebody else is about it only where a rare word or a name says so.

    Args:
        hidden: Ids of those from whom the secret is kept.
    """
    if said.is_health:
        return frozenset()
    found = said.said & secret.telling
    is_others = bool(said.people) and said.people.isdisjoint(secret.people.union(hidden))
    if found or is_others or said.is_open:
        return found
    is_theirs = not said.people.isdisjoint(hidden)
    return frozenset(
        stem
        for (ours, is_new), (theirs, _) in product(said.things, secret.first)
        if is_theirs or not is_new
        for stem in _shared(ours, theirs, said.plain, is_theirs=is_theirs)
    )


def _shared(
    ours: Sequence[str], theirs: Sequence[str], plain: frozenset[str], *, is_theirs: bool
) -> frozenset[str]:
    """Return the stems by which two things are one: "the kit" and "the drum kit", but no "football kit"; none where they are two.

    Args:
        plain: Stems that tell no thing from others.
        is_theirs: Whether it is said to be a thing of somebody's from whom that thing is kept.
    """
    shared, is_kind = {*ours} & {*theirs}, ours[-1] == theirs[-1]
    is_part, are_many = shared in ({*ours}, {*theirs}), len(shared) > 1
    is_one = is_part and (are_many or (is_kind and not shared <= plain))
    is_same = is_one or (is_kind and (is_theirs or are_many))
    return frozenset(shared if is_same else ())


def _stemmed(thing: Thing) -> _Words:
    """Return the stems of a thing, without what is done with it: of "the bike delivery" it is the bike."""
    words = [each for each in thing.words if not is_handling(each)] or thing.words
    return tuple(map(_stem, words)), thing.is_new


def _is_time(word: str) -> bool:
    return canon_of(word) in lexicon().times or not word.isalpha()


def _rank(word: str) -> int:
    return word_ranks().get(word, _RARE)


def _stem(word: str) -> str:
    return stems(word)[-1]
