"""Which statements may bear on each other, and how they do: the words of one speaker beside another's. Pure."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from kinkeeper.language.dictionary import first_names
from kinkeeper.language.text_folding import unaccented
from kinkeeper.memory.model import Statement
from kinkeeper.memory.rulings import Ruling
from kinkeeper.memory.statements.canonical_words import words_of
from kinkeeper.memory.statements.kin import kin
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
        return voice_of(speaker), None
    parents = frozenset((guardians or {}).get(speaker or "", ()))
    subject = _named(readings[0], speaker=speaker, people=people, parents=parents)
    return subject, readings[0].slot or None


def own_voice(text: str, speaker: str | None) -> str:
    """Return who says a sentence, where it means something else from another's mouth; else "".

    Args:
        text: A sentence.
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
    """Whether the words of both mean the same people: said by one speaker, or by both for all.

    Args:
        one: Any.
        other: Any.
    """
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
        statement: Whose it is.
        reading: One of its clauses.
        text: The words it was read from.
    """
    subject = _subject_in(statement, reading)
    return [subject, _ALL] if reading.subject == ME and is_shared(text) else [subject]


def is_of_speaker(text: str) -> bool:
    """Whether a sentence or question speaks of whoever says it, and not for others: "my birthday".

    Args:
        text: Any.
    """
    return _OF_ONE.search(text) is not None


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
