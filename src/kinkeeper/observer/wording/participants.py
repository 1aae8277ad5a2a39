"""The words of one household, ready for reading, and which of them are private."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import time, timedelta

from kinkeeper.household.model import Household, Member, Role
from kinkeeper.household.name_folding import fold
from kinkeeper.household.vocabulary import Vocabulary, Word, WordKind, compile_vocabulary
from kinkeeper.language.lexicon import Lexicon, Mention, Term
from kinkeeper.reading.asked import care_words
from kinkeeper.reading.times import NamedTimeWords

# The words of a household that tell who somebody is or where: they do not leave in questions to
# memory. Pure.

_LONG_ENOUGH_TO_HIDE = 3


def private_words(vocabulary: Vocabulary) -> frozenset[str]:
    """Return the single words that name people and places.

    A place's word that every family has for an activity ("soccer" of "soccer field") tells no place.
    """
    people = {*_of_kind(vocabulary, WordKind.CHILD), *_of_kind(vocabulary, WordKind.ADULT)}
    places = {*_of_kind(vocabulary, WordKind.PLACE)}
    return frozenset(people | (places - {*_of_kind(vocabulary, WordKind.GENERIC_ACTIVITY)}))


def without_private(text: str, private: frozenset[str]) -> str:
    """Return a text without the words that tell who or where, nor words joined to one.

    Args:
        text: Of the household's vocabulary ("leo-swim at elm park").
        private: What `private_words` returned.

    Returns:
        What is left, folded ("swim at"); perhaps nothing.
    """
    return " ".join(word for word in _words(text) if not _tells(word, private))


def _tells(word: str, private: frozenset[str]) -> bool:
    return word in private or any(
        len(each) >= _LONG_ENOUGH_TO_HIDE and each in word for each in private
    )


def _of_kind(vocabulary: Vocabulary, kind: WordKind) -> Iterator[str]:
    for entry in vocabulary.of_kind(kind):
        for spelling in (entry.id, *entry.words):
            yield from _words(spelling)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", fold(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Participants:
    """A household compiled for reading its chat.

    Attributes:
        vocabulary: Its words and the generic ones.
        lexicon: The same, to be found in text.
        named_times: Times of day that it names.
        usual_hours: Local start of each activity, from its recurring events.
        private_words: Single words that name its people and places.
    """

    household: Household
    vocabulary: Vocabulary
    lexicon: Lexicon
    named_times: Sequence[NamedTimeWords]
    usual_hours: Mapping[str, time]
    private_words: frozenset[str]

    def children_of(self, mentions: Sequence[Mention]) -> tuple[str, ...]:
        """Return ids of the children that mentions denote, groups expanded, in household order."""
        named = {
            member
            for mention in mentions
            for member in self.vocabulary.members_of(mention.kind, mention.id)
        }
        return tuple(child.id for child in self.household.children if child.id in named)

    def is_occasion(self, activity: str | None) -> bool:
        """Whether a word names a special occasion (a match, a recital), not the weekly series."""
        generic = self.vocabulary.generic_activity(activity) if activity else None
        return generic is not None and generic.is_occasion

    def is_session(self, activity: str | None) -> bool:
        """Whether a word only says that an activity takes place ("practice"), not which."""
        generic = self.vocabulary.generic_activity(activity) if activity else None
        return generic is not None and generic.category == "session"

    def is_care(self, activity: str | None) -> bool:
        """Whether a word names somebody's looking after the children (a sitter, daycare)."""
        generic = self.vocabulary.generic_activity(activity) if activity else None
        return generic is not None and generic.category == "care"

    def is_appointment(self, activity: str | None) -> bool:
        """Whether a word names what is arranged for one person outside the family (the dentist)."""
        generic = self.vocabulary.generic_activity(activity) if activity else None
        return generic is not None and generic.is_appointment

    def usual_length(self, activity: str | None) -> timedelta | None:
        """Return how long a generic activity usually takes, if the word says so."""
        generic = self.vocabulary.generic_activity(activity) if activity else None
        return timedelta(minutes=generic.minutes) if generic else None

    def name(self, member_id: str) -> str:
        """Return a member's display name; the id itself for somebody unknown."""
        member = self.household.member(member_id)
        return member.name if member else member_id

    def parents(self) -> Sequence[Member]:
        """Return those offered as buttons when an owner is missing: parents, else all adults."""
        parents = [m for m in self.household.members if m.role in {Role.PARENT, Role.GUARDIAN}]
        return parents or list(self.household.adults)


def compile_participants(household: Household) -> Participants:
    """Compile a household for reading its chat."""
    vocabulary = compile_vocabulary(household)
    return Participants(
        household=household,
        vocabulary=vocabulary,
        lexicon=Lexicon(
            (Term(_lexicon_kind(word), word.id, word.words) for word in vocabulary.words),
            care_words(),
        ),
        named_times=tuple(
            NamedTimeWords(
                id=named.id, words=(named.id.replace("-", " "), *named.aliases), start=named.start
            )
            for named in household.times
        ),
        usual_hours=household.usual_hours,
        private_words=private_words(vocabulary),
    )


def _lexicon_kind(word: Word) -> str:
    """A generic word stands for itself: unlike a household's own activity it has no other forms."""
    return "generic" if word.kind == WordKind.GENERIC_ACTIVITY else word.kind
