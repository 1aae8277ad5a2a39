"""Which statements may bear on each other, how they do, and by which digests they find each other. Pure."""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations, product

from kinkeeper.language.dictionary import first_names, word_ranks
from kinkeeper.language.text import unaccented
from kinkeeper.memory.model import Ruling, Statement
from kinkeeper.memory.statements.canonical_words import canon_of, lexicon, words_of
from kinkeeper.memory.statements.comparison import carried, is_number, wording_of
from kinkeeper.memory.statements.names import kin
from kinkeeper.memory.statements.relation import relate, relate_readings
from kinkeeper.memory.statements.statement_reader import Reading, read_statement

ME = "me"
"""Whom a reading is about where the speaker speaks of themselves."""

_ALL = "we"
_OF_ONE = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.IGNORECASE)
_OF_ALL = re.compile(r"\b(?:we|us|our|ours|ourselves|the)\b", re.IGNORECASE)


def subject_of(
    text: str,
    *,
    speaker: str | None,
    people: Mapping[str, str],
    guardians: Mapping[str, Collection[str]] | None = None,
) -> tuple[str, str | None]:
    """Return whom a sentence is about, whoever says it, and which attribute of them it tells.

    Args:
        speaker: Who says it, if known.
        people: Member ids by folded name or alias.
        guardians: By member id of a child, who is "mum" or "dad" to it where a member is called so.

    Returns:
        The subject: a member id or name, or words of what only this speaker calls so; and the slot,
        None where the sentence names none.
    """
    readings = read_statement(text)
    if not readings:
        return voice_of(speaker), None
    parents = frozenset((guardians or {}).get(speaker or "", ()))
    subject = _named(readings[0], speaker=speaker, people=people, parents=parents)
    return subject, readings[0].slot or None


def own_voice(text: str, speaker: str | None) -> str:
    """Return who says a sentence, where it means something else from another's mouth; else "".

    Args:
        speaker: Who says it, if known.
    """
    return voice_of(speaker) if speaker and _OF_ONE.search(text) else ""


def relate_statements(older: Statement, newer: Statement) -> Ruling:
    """Tell by their words how a statement relates to an older one of the same scope.

    Args:
        older: Comes first in the order of what holds.
        newer: Comes after it.
    """
    # Of two sentences of one message, the later one is newer.
    is_one_turn = older.episode_id == newer.episode_id
    times = (None, None) if is_one_turn else (older.held_from, newer.held_from)
    if is_one_voice(older, newer):
        related = relate(older.text, newer.text, old_at=times[0], new_at=times[1])
    else:
        related = relate_readings(
            _readings(older), _readings(newer), old_at=times[0], new_at=times[1]
        )
    return Ruling(related.relation.value)


def is_one_voice(one: Statement, other: Statement) -> bool:
    """Whether the words of both mean the same people: said by one speaker, or by both for all."""
    if voice_of(one.speaker) == voice_of(other.speaker):
        return True
    return is_shared(one.text) and is_shared(other.text)


def bears_on(older: Statement, newer: Statement) -> bool:
    """Whether two statements that share a key belong to one strand.

    Args:
        older: Comes first in the order of what holds.
        newer: Comes after it.
    """
    if newer.is_retraction or older.is_retraction:
        return True
    return bool(newer.corrects) or relate_statements(older, newer) is not Ruling.OTHER


def _readings(statement: Statement) -> list[Reading]:
    """Return what a statement says, each subject told so that any speaker would mean the same."""
    own = tuple(own_voice(statement.text, statement.speaker).split())
    return [
        replace(reading, subject=_subject_in(statement, reading), words=(*own, *reading.words))
        for reading in read_statement(statement.text)
    ]


def subjects_in(statement: Statement, reading: Reading, text: str) -> list[str]:
    """Return whom a reading is about: also all of them, where it speaks for more than oneself.

    Args:
        text: The words it was read from.
    """
    subject = _subject_in(statement, reading)
    return [subject, _ALL] if reading.subject == ME and is_shared(text) else [subject]


def is_of_speaker(text: str) -> bool:
    """Whether a sentence or question speaks of whoever says it, and not for others: "my birthday"."""
    return _OF_ONE.search(text) is not None


def is_shared(text: str) -> bool:
    """Whether a sentence speaks for more than its speaker: "our car", "the dentist"."""
    return _OF_ALL.search(text) is not None and _OF_ONE.search(text) is None


def _subject_in(statement: Statement, reading: Reading) -> str:
    main = read_statement(statement.text)
    if main and reading.subject == main[0].subject:
        return statement.subject
    return _named(reading, speaker=statement.speaker, people={})


def _named(
    reading: Reading,
    *,
    speaker: str | None,
    people: Mapping[str, str],
    parents: Collection[str] = frozenset(),
) -> str:
    subject = reading.subject
    if subject == ME:
        return voice_of(speaker)
    if member := _member(subject, people, parents):
        return member
    is_name = any(
        word in reading.names or word in first_names()
        for part in subject.split("/")
        for word in part.split()
    )
    return subject if is_name or speaker is None else f"{voice_of(speaker)}/{subject}"


def _member(subject: str, people: Mapping[str, str], parents: Collection[str]) -> str | None:
    """Return the member whose name a reading calls so: in stems, as all of its words."""
    called = {
        member
        for name, member in people.items()
        # "Mum" is somebody else for every speaker, whoever has it as an alias, but for her own children.
        if (name not in kin() or member in parents)
        and " ".join(word.canon for word in words_of(unaccented(name))) == subject
    }
    return called.pop() if len(called) == 1 else None


def voice_of(speaker: str | None) -> str:
    """Return what stands for whoever says "I".

    Args:
        speaker: Who says it, if known.
    """
    return ME if speaker is None else speaker.casefold()


# By which digests statements that may bear on each other find each other. Pure.
#
# Most sentences tell something plainly: such two bear on each other only where they say the same,
# or fill the same slot of somebody, so they meet by exactly that. What is told as news, as over, as
# so again or in another's place may bear on whatever shares its rarest words. So a statement is
# found by more than it looks under, and what it finds does not grow with all that was ever said of
# a person or a thing.

_RAREST = 3
_RAREST_OF_ONE = 3
_COMMON = frozenset(map(canon_of, ("favourite", "best", "people")))
_BYTES = 8
_WHEN = frozenset(("when", "routine"))
_NEWS_CUES = frozenset(("over", "solved", "changed", "instead", "now", "since"))
_PLAIN, _NEWS = "plain", "news"

_DOES = "does"

_Parts = tuple[str, ...]


class _Side(Enum):
    """Under which name who names a topic meets who names none: each looks for what the other is found by."""

    FOUND = "some topic"
    SEEKING = "no topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Digests of one statement; they hold no words.

    Attributes:
        stored: Those it is found by.
        asked: Those it looks under. Of two statements that may bear on each other each finds the other.
        every: Those under which all is found that shares its rarest words.
    """

    stored: frozenset[str]
    asked: frozenset[str]
    every: frozenset[str]


def keys_of(statement: Statement) -> Keys:
    """Return the digests by which a statement meets others.

    Rarity is that of the language, so that keys depend on nothing else that is remembered.

    Args:
        statement: Its words, and those it says hold no more, count.
    """
    texts = [statement.text, statement.corrects or ""]
    if statement.is_retraction and statement.corrects:
        texts = [statement.corrects]
    told = [
        (reading, subjects_in(statement, reading, text))
        for text in texts
        for reading in carried(read_statement(text))
    ]
    of_words = [
        parts for reading, subjects in told for each in subjects for parts in _words(reading, each)
    ]
    voice = voice_of(statement.speaker)
    of_whom = [
        (reading, who)
        for reading, subjects in told
        for each in subjects
        for who in _called(each, voice)
    ]
    exact = _digests(parts for reading, _ in told for parts in _exact(reading))
    filled, sought = (
        _digests(parts for reading, who in of_whom for parts in _of_slots(reading, who, side))
        for side in _Side
    )
    plain, news = (_digests((kind, *parts) for parts in of_words) for kind in (_PLAIN, _NEWS))
    is_news = (
        bool(statement.corrects)
        or statement.is_retraction
        or _is_news(told)
        or any(not _NEWS_CUES.isdisjoint(wording_of(text).cues) for text in texts if text)
    )
    return Keys(
        stored=exact | filled | (news if is_news else plain),
        asked=exact | sought | news | (plain if is_news else frozenset()),
        every=exact | sought | news | plain,
    )


def _is_news(told: Iterable[tuple[Reading, Sequence[str]]]) -> bool:
    """Whether it may bear on what it shares neither a slot nor all of its words with."""
    return any(
        reading.is_change
        or reading.is_retraction
        or reading.replaced
        or reading.is_again
        or reading.is_able
        for reading, _ in told
    )


def _digests(found: Iterable[_Parts]) -> frozenset[str]:
    return frozenset(
        hashlib.blake2b("\x1f".join(parts).encode(), digest_size=_BYTES).hexdigest()
        for parts in found
    )


def _called(subject: str, voice: str) -> Iterator[str]:
    """Yield what a subject shares with whatever may be the same one: a word of each of its parts ("mum", "mum ida").

    Where the first part tells who calls it so, others may mean the same by the rest.
    """
    ways = {subject, subject.removeprefix(f"{voice}/")}
    for way in sorted(ways):
        yield from map("/".join, product(*(part.split() or [""] for part in way.split("/"))))


def _exact(reading: Reading) -> Iterator[_Parts]:
    """Yield what two plain readings share that say the same in whatever words of it count."""
    known = lexicon()
    words = {*reading.words}
    yield "words", *sorted(words - known.bland - known.permitted or words)


def _of_slots(reading: Reading, who: str, side: _Side) -> Iterator[_Parts]:
    """Yield what two plain readings share that tell of one slot of somebody, or give them the same value.

    Follows `statements.relation`, which tells more than "other" of two plain readings in these cases alone, and where
    they say the same.

    Args:
        who: Word of whom it is about.
        side: Whether it is to be found by this, or looks under it.
    """
    if reading.side:
        yield from (("taste", who, part) for part in _split(reading.value))
    if reading.value:
        yield "value", who, *sorted(_split(reading.value))
    family = reading.family or reading.slot
    topics = [*_topics(reading, side)]
    yield from (
        ("of value", who, family, part, *topic) for part in _telling(reading) for topic in topics
    )
    if reading.is_single or reading.is_fixed or not reading.value or family in _WHEN:
        yield from (("slot", who, family, *topic) for topic in topics)


def _topics(reading: Reading, side: _Side) -> Iterator[_Parts]:
    """Yield a word of its topic that two share which tell of the same, unless one of them names none."""
    if reading.is_exact and reading.topic:
        yield (*sorted(reading.topic),)
    elif told := reading.topic - {reading.slot, reading.family}:
        yield from ((word,) for word in (*told, side.value))
    else:
        yield from ((each.value,) for each in _Side)


def _telling(reading: Reading) -> set[str]:
    """Return words of a value of which another of the same slot shares one, where it is told in more detail or other numbers."""
    if reading.is_known or not reading.value:
        return _split(reading.value)
    numbers = {word for word in reading.value if is_number(word)}
    return {*_split(reading.value[-1:]), *(_split(reading.value) - numbers if numbers else ())}


def _split(value: Sequence[str]) -> set[str]:
    return {part for word in value for part in word.split(":")}


def _words(reading: Reading, subject: str) -> Iterator[_Parts]:
    """Yield what news shares with whatever it may be about: a slot, a rare word of somebody, two of whomever."""
    if reading.slot and (reading.is_single or not reading.value):
        yield subject, reading.slot
    named = {*reading.subject.replace("/", " ").split()}
    yield from ((subject, word) for word in _rarest({*reading.words} - named)[:_RAREST_OF_ONE])
    if reading.subject != ME:
        known = lexicon()
        # By a verb that ends something only two ends would meet.
        does = {*reading.words} & (
            known.verbs - known.weak_verbs - known.bland - known.ending_verbs
        )
        yield from ((subject, _DOES, word) for word in does)
    # Whoever is named counts among the words: "they put Mum in room 9" and "I took it over from Mum" are of Mum, too.
    for pair in combinations(_rarest({*reading.words}), 2):
        is_of_speaker = reading.subject == ME and reading.names.isdisjoint(pair)
        yield (subject if is_of_speaker else "", *sorted(pair))


def _rarest(words: set[str]) -> list[str]:
    """Return the rarest words: of numbers, times and verbs, which others share, only where nothing else is left."""
    ranks, known = word_ranks(), lexicon()
    unknown, common = len(ranks), known.verbs | known.times | known.bland | _COMMON
    telling = {word for word in words if not is_number(word) and word not in common}
    return sorted(telling or words, key=lambda word: (-ranks.get(word, unknown), word))[:_RAREST]
