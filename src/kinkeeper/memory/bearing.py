"""Which statements may bear on each other, and how they do: the words of one speaker beside another's. Pure."""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from kinkeeper.language.dictionary import first_names, word_ranks
from kinkeeper.language.folding import unaccented
from kinkeeper.memory.model import Statement
from kinkeeper.memory.rulings import Ruling
from kinkeeper.memory.statements.freely import carried, is_number
from kinkeeper.memory.statements.kin import kin
from kinkeeper.memory.statements.reading import Reading, read_statement
from kinkeeper.memory.statements.relation import relate, relate_readings
from kinkeeper.memory.statements.words import canon_of, lexicon, words_of

ME = "me"
"""Whom a reading is about where the speaker speaks of themselves."""

_ALL = "we"
_OF_ONE = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.IGNORECASE)
_OF_ALL = re.compile(r"\b(?:we|us|our|ours|ourselves|the)\b", re.IGNORECASE)
_RAREST = 3
_RAREST_OF_ONE = 2
_COMMON = frozenset(map(canon_of, ("favourite", "best", "people")))
_KEY_BYTES = 8


def subject_of(
    text: str,
    *,
    speaker: str | None,
    people: Mapping[str, str],
    guardians: Mapping[str, Collection[str]] | None = None,
) -> tuple[str, str | None]:
    """Return whom a sentence is about, whoever says it, and which attribute of them it tells.

    Args:
        text: A sentence.
        speaker: Who says it, if known.
        people: Member ids by folded name or alias.
        guardians: By member id of a child, who is "mum" or "dad" to it where a member is called so.

    Returns:
        The subject: a member id or name, or words of what only this speaker calls so; and the slot,
        None where the sentence names none.
    """
    readings = read_statement(text)
    if not readings:
        return _voice(speaker), None
    parents = frozenset((guardians or {}).get(speaker or "", ()))
    subject = _named(readings[0], speaker=speaker, people=people, parents=parents)
    return subject, readings[0].slot or None


def keys_of(statement: Statement) -> frozenset[str]:
    """Return digests such that statements that may bear on each other share one.

    What fills a slot that holds one value bears on all else in it; anything else of somebody on what
    shares one of its rarest words, and of whomever on what shares two. Rarity is that of the language, so that it does not depend on
    what else is remembered.

    Args:
        statement: Its words, and those it says hold no more, count.
    """
    texts = [statement.text, statement.corrects or ""]
    if statement.is_retraction and statement.corrects:
        texts = [statement.corrects]
    return frozenset(
        hashlib.blake2b("\x1f".join(parts).encode(), digest_size=_KEY_BYTES).hexdigest()
        for text in texts
        for reading in carried(read_statement(text))
        for subject in _subjects(statement, reading, text)
        for parts in _parts(reading, subject)
    )


def own_voice(text: str, speaker: str | None) -> str:
    """Return who says a sentence, where it means something else from another's mouth; else "".

    Args:
        text: A sentence.
        speaker: Who says it, if known.
    """
    return _voice(speaker) if speaker and _OF_ONE.search(text) else ""


def relate_statements(older: Statement, newer: Statement) -> Ruling:
    """Tell by their words how a statement relates to an older one of the same scope.

    Args:
        older: Comes first in the order of what holds.
        newer: Comes after it.
    """
    # Of two sentences of one message, the later one is newer.
    is_one_turn = older.episode_id == newer.episode_id
    times = (None, None) if is_one_turn else (older.held_from, newer.held_from)
    is_one_voice = _voice(older.speaker) == _voice(newer.speaker)
    if is_one_voice or (is_shared(older.text) and is_shared(newer.text)):
        related = relate(older.text, newer.text, old_at=times[0], new_at=times[1])
    else:
        related = relate_readings(
            _readings(older), _readings(newer), old_at=times[0], new_at=times[1]
        )
    return Ruling(related.relation.value)


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
    return [
        replace(reading, subject=_subject_in(statement, reading))
        for reading in read_statement(statement.text)
    ]


def _subjects(statement: Statement, reading: Reading, text: str) -> list[str]:
    """Return whom a reading is about: also all of them, where it speaks for more than oneself."""
    subject = _subject_in(statement, reading)
    return [subject, _ALL] if reading.subject == ME and is_shared(text) else [subject]


def is_shared(text: str) -> bool:
    """Whether a sentence speaks for more than its speaker: "our car", "the dentist".

    Args:
        text: A sentence.
    """
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
        return _voice(speaker)
    if member := _member(subject, people, parents):
        return member
    is_name = any(
        word in reading.names or word in first_names()
        for part in subject.split("/")
        for word in part.split()
    )
    return subject if is_name or speaker is None else f"{_voice(speaker)}/{subject}"


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


def _voice(speaker: str | None) -> str:
    """Return what stands for whoever says "I"."""
    return ME if speaker is None else speaker.casefold()


def _parts(reading: Reading, subject: str) -> Iterator[tuple[str, ...]]:
    if reading.slot and (reading.is_single or not reading.value):
        yield subject, reading.slot
    named = {*reading.subject.replace("/", " ").split()}
    yield from ((subject, word) for word in _rarest({*reading.words} - named)[:_RAREST_OF_ONE])
    # Whoever is named counts among the words: "they put Mum in room 9" is of Mum, too.
    whose = subject if reading.subject == ME else ""
    yield from ((whose, *sorted(pair)) for pair in combinations(_rarest({*reading.words}), 2))


def _rarest(words: set[str]) -> list[str]:
    """Return the rarest words: of numbers, times and verbs, which others share, only where nothing else is left."""
    ranks, known = word_ranks(), lexicon()
    unknown, common = len(ranks), known.verbs | known.times | known.bland | _COMMON
    telling = {word for word in words if not is_number(word) and word not in common}
    return sorted(telling or words, key=lambda word: (-ranks.get(word, unknown), word))[:_RAREST]
