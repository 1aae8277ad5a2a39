"""What a statement says: whom it is about, which slot it fills with which value, and how it is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from kinkeeper.memory.statements.canonical_words import lexicon
from kinkeeper.memory.statements.clauses import clauses_of
from kinkeeper.memory.statements.free_slots import favourite_of, own_words_of, trade_of
from kinkeeper.memory.statements.kin import kin_canons
from kinkeeper.memory.statements.slot_filler import Filling, fillings_of
from kinkeeper.memory.statements.slots import SUBJECT, Slot, slots
from kinkeeper.memory.statements.statement_frames import Framing
from kinkeeper.memory.statements.subjects import ME, Told, told_of

LONGEST_STATEMENT = 500
"""Characters of a statement that are read."""

_MOST_CLAUSES = 12
_KEPT = 65_536
_BY = "by"
_WHEN = "when"
_OTHER_SIDE = {"like": "dislike", "dislike": "like"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one clause of a statement says.

    Attributes:
        subject: Whom it is about: "me", or canonical words of a person; a slash for "my son's teacher".
        slot: Key of what is told, of the data file where it is known there; else the words themselves.
        is_known: Whether the slot is of the data file.
        is_single: Whether a new value takes the old one's place.
        topic: Canonical words of what it is about besides the subject.
        value: Canonical words of the value; empty where none is given.
        words: Canonical words of all that is said, the subject's too, without the light ones.
        names: Those of them that are names.
        is_negative: Whether it says that something is not so.
        is_retraction: Whether it says that something is so no more.
        is_change: Whether it is told as news.
        is_past: Whether it tells of former times.
        is_hypothetical: Whether it is made up, wished or only likely.
        replaced: Canonical words of what it is told instead of.
        succeeded: Canonical names of whose place it says is taken by somebody else.
        is_added: Whether it is told as something on top.
        is_again: Whether it is told as so again.
        is_able: Whether it is told as possible or allowed now.
        is_passive: Whether it tells by whom something is done.
        is_fixed: Whether the slot never changes.
        family: Key of the more general slot that this one belongs to.
        is_exact: Whether different topics stand side by side, also where one names none.
        category: Of the slot; empty where it is not known.
        side: "like" or "dislike" for a taste; else empty.
    """

    subject: str
    slot: str
    is_known: bool
    is_single: bool
    topic: frozenset[str]
    value: tuple[str, ...]
    words: tuple[str, ...]
    names: frozenset[str]
    is_negative: bool
    is_retraction: bool
    is_change: bool
    is_past: bool
    is_hypothetical: bool
    replaced: frozenset[str] = frozenset()
    succeeded: frozenset[str] = frozenset()
    is_added: bool = False
    is_again: bool = False
    is_able: bool = False
    is_passive: bool = False
    is_fixed: bool = False
    family: str = ""
    is_exact: bool = False
    category: str = ""
    side: str = ""


@lru_cache(maxsize=_KEPT)
def read_statement(text: str) -> tuple[Reading, ...]:
    """Return what a statement says, a reading for each of its first 12 clauses.

    Args:
        text: A sentence, or a few; beyond 500 characters it is not read.
    """
    told = (told_of(clause) for clause in clauses_of(text[:LONGEST_STATEMENT])[:_MOST_CLAUSES])
    return tuple(_read(each) for each in told if each)


def _read(readings: Sequence[Told]) -> Reading:
    """Return the best reading of a clause that may be told of several people."""
    if best := next(filter(None, map(favourite_of, readings)), None):
        return _reading(best)
    found = [filling for told in readings for filling in fillings_of(told)]
    if found:
        return _reading(max(found, key=lambda filling: filling.weight))
    trade = next(filter(None, map(trade_of, readings)), None)
    return _reading(trade or own_words_of(readings[0]))


def _reading(filled: Filling) -> Reading:
    told, clause, slot = filled.told, filled.told.clause, filled.slot
    subject, topic = _person_of_topic(told.subject, filled.topic, clause.names)
    if slot.name == "name" and subject != ME:
        subject, slot, topic = _named_person(subject, slot, topic)
    if _WHEN in (slot.name, slot.family):
        topic, kind = _activity(topic | filled.kind), frozenset[str]()
    else:
        kind = filled.kind
    dropped = lexicon().light | {SUBJECT}
    named = () if told.subject == ME else told.subject.replace("/", " ").split()
    said = [word for word in told.words if word not in dropped and word[0].isalnum()]
    is_negative = told.is_negative and not filled.is_negation_used
    if slot.side and is_negative:
        slot, is_negative = slots().by_name[_OTHER_SIDE[slot.side]], False
    return Reading(
        subject=subject, slot=slot.name, is_known=filled.is_known, is_single=slot.is_single,
        topic=topic | kind, value=filled.value, words=(*named, *said), names=clause.names,
        replaced=clause.replaced, succeeded=clause.succeeded,
        is_negative=is_negative,
        is_retraction=clause.is_ended or Framing.RETRACTION in clause.framings,
        is_change=clause.is_new or Framing.CHANGE in clause.framings,
        is_past=told.is_former or Framing.PAST in clause.framings or (clause.is_past and not told.is_event),
        is_hypothetical=clause.is_modal or Framing.HYPOTHETICAL in clause.framings,
        is_added=clause.is_added, is_again=clause.is_again, is_able=clause.is_able, is_passive=_BY in told.words, is_fixed=slot.is_fixed, family=slot.family or slot.name,
        is_exact=slot.is_exact, category=slot.category if filled.is_known else "", side=slot.side,
    )  # fmt: skip


def _activity(topic: frozenset[str]) -> frozenset[str]:
    """Return what an activity is, without the words that only say that it is one."""
    return topic - lexicon().activities or topic


def _named_person(
    subject: str, slot: Slot, topic: frozenset[str]
) -> tuple[str, Slot, frozenset[str]]:
    """Return "my sister's name" as the sister of whoever has her."""
    owner, _, person = subject.rpartition("/")
    words = person.split()
    known = slots().nouns.get(words[-1]) if words else None
    if known is None or not known.is_person:
        return subject, slot, topic
    return owner or ME, known, topic | frozenset(words if known.is_apart else words[:-1])


def _person_of_topic(
    subject: str, topic: frozenset[str], names: frozenset[str]
) -> tuple[str, frozenset[str]]:
    """Return whom a statement is about where its topic is a person ("bedtime for the twins")."""
    people = frozenset(word for word in topic if word in names or word in kin_canons())
    if subject != ME or not people:
        return subject, topic
    return " ".join(sorted(people)), topic - people
