"""Which slot a clause fills, with which value: the slots of the data file, and how well each sentence fits."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kinkeeper.language.dictionary import first_names
from kinkeeper.memory.statements.canonical_words import canon_of, lexicon
from kinkeeper.memory.statements.slots import ACT, NOUN, SUBJECT, Slot, SlotFrame, slots
from kinkeeper.memory.statements.subjects import ME, Told

_LONGEST_NOUN = 3
# What is used for something tells its slot better than a noun that is used for it.
_FOR_USE = 1.5
# "X is in Y" says so little that any other sentence is the better reading.
_OF_PLACES_AND_TIMES = -3.0
_CLOCK = re.compile(r"\d{1,2}(?::\d\d|[ap]m|h)")


def _canons(words: str) -> frozenset[str]:
    return frozenset(canon_of(word) for word in words.split())


_GENERIC_TOPICS = _canons(
    "app project system service site website product backend code software it thing data favourite main"
)
_NOBODY = _canons(
    "anyone anybody anything someone somebody something nobody it there any that this them him her ever everyone"
)
# What stands before a name that tells where a thing is, with whom, or what of its own is meant.
_FARING = _canons("with at in on by behind near under beside outside until from its")
_STOPS = _canons(
    "because since although though while which who where when if but until after before instead rather than"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """A slot as a clause fills it.

    Attributes:
        told: The clause.
        slot: What it fills.
        value: Canonical words.
        topic: Canonical words of what it is about besides the subject.
        kind: Canonical noun, where the slot's nouns are different things.
        weight: How well it fits, to compare fillings of one clause.
        is_known: Whether the slot is of the data file.
        is_negation_used: Whether the clause means so only because it is negated.
    """

    told: Told
    slot: Slot
    value: tuple[str, ...]
    topic: frozenset[str] = frozenset()
    kind: frozenset[str] = frozenset()
    weight: float = 0.0
    is_known: bool = True
    is_negation_used: bool = False


def fillings_of(told: Told) -> Iterator[Filling]:
    """Yield every way in which a clause fills a slot of the data file.

    Args:
        told: The clause, as told of one subject.
    """
    for frame, slot, match in _matches(told):
        filling = _filled(told, frame, slot, match, noun=(), bonus=0.0)
        if filling is not None:
            yield filling
    for noun, frame, slot, match in _noun_matches(told):
        filling = _filled(told, frame, slot, match, noun=noun, bonus=0.0)
        if filling is not None:
            yield filling
    for act, frame, slot, match in _act_matches(told):
        filling = _filled(told, frame, slot, match, noun=act, bonus=_FOR_USE)
        if filling is not None:
            yield filling


_Match = tuple[SlotFrame, Slot, re.Match[str]]
_NounMatch = tuple[Sequence[str], SlotFrame, Slot, re.Match[str]]


def _matches(told: Told) -> Iterator[_Match]:
    known, sentence = slots(), told.sentence
    for word in dict.fromkeys(told.words):
        for frame in known.by_anchor.get(word, ()):
            if (match := frame.pattern.fullmatch(sentence)) is None or frame.slot is None:
                continue
            if told.is_negative or not frame.needs_negation:
                yield frame, frame.slot, match
        if word in known.kinds:
            for frame in known.kind_frames:
                if match := frame.pattern.fullmatch(sentence):
                    yield frame, known.kinds[word], match


def _noun_matches(told: Told) -> Iterator[_NounMatch]:
    for marked, noun, slot in _marked(told.words, NOUN, slots().nouns):
        for frame in slots().noun_frames:
            if not frame.is_for_people and slot.is_person:
                continue
            if match := frame.pattern.fullmatch(marked):
                yield noun, frame, slot, match


def _act_matches(told: Told) -> Iterator[_NounMatch]:
    for marked, act, slot in _marked(told.words, ACT, slots().acts):
        for frame in slots().act_frames:
            if match := frame.pattern.fullmatch(marked):
                yield act, frame, slot, match


def _marked(
    words: Sequence[str], mark: str, named: Mapping[str, Slot]
) -> Iterator[tuple[str, Sequence[str], Slot]]:
    """Yield sentences with a mark in place of words that name a slot: the sentence, the words, the slot."""
    start = 0
    while start < len(words):
        ends = range(min(start + _LONGEST_NOUN, len(words)), start, -1)
        end = next((end for end in ends if " ".join(words[start:end]) in named), None)
        if end is not None:
            noun = words[start:end]
            yield " ".join((*words[:start], mark, *words[end:], "")), noun, named[" ".join(noun)]
        start = end or start + 1


def _filled(
    told: Told,
    frame: SlotFrame,
    slot: Slot,
    match: re.Match[str],
    *,
    noun: Sequence[str],
    bonus: float,
) -> Filling | None:
    groups = match.groupdict(default="")
    raw = groups.get("v", "").split()
    value = value_of(raw)
    topic = frozenset(groups.get("t", "").split()) - lexicon().light - _GENERIC_TOPICS
    topic -= {SUBJECT, NOUN, ACT}
    if not _is_named_rightly(raw, value, slot, told, has_noun=bool(noun)):
        return None
    if not _has_fitting_digits(value, slot) or not _has_fitting_time(value, topic, slot):
        return None
    weight = frame.weight + len(noun) + bonus - 0.01 * len(value) - 0.1 * len(topic)
    weight += 1.0 + (frame.slot is not None) + 0.2 * bool(slot.has_digits)
    weight += 0.7 * (slot.is_person and bool(noun)) + 0.5 * (told.subject != ME)
    weight += _OF_PLACES_AND_TIMES * (slot.is_when is not None)
    return Filling(
        told=told, slot=slot, value=value, topic=topic, weight=weight,
        kind=frozenset(noun) if slot.is_apart else frozenset(), is_negation_used=frame.needs_negation,
    )  # fmt: skip


def value_of(words: Sequence[str]) -> tuple[str, ...]:
    """Return what a value says, up to where another clause begins.

    Args:
        words: Canonical words.
    """
    end = next(
        (at for at, word in enumerate(words) if at and (word in _STOPS or word == SUBJECT)),
        len(words),
    )
    dropped = lexicon().light | _NOBODY | {SUBJECT, NOUN, ACT}
    return tuple(word for word in words[:end] if word not in dropped and word[0].isalnum())


def _is_named_rightly(
    raw: Sequence[str], value: Sequence[str], slot: Slot, told: Told, *, has_noun: bool
) -> bool:
    """Whether a person's value is a name, and a thing's one, too ("our car is a Volvo", not "is red")."""
    names = told.clause.names
    if slot.is_person:
        return not value or value[0] in names or value[0] in first_names()
    if slot.is_thing and raw and has_noun:
        is_numbered = any(sign.isdigit() or sign == "@" for sign in raw[0])
        return is_numbered or _is_called(raw, names)
    return True


def _is_called(raw: Sequence[str], names: Collection[str]) -> bool:
    """Whether a thing is told as what a name calls it, not as how it fares ("is insured with Aviva", "is due its NCT")."""
    first = next((place for place, word in enumerate(raw) if word in names), None)
    return first is not None and _FARING.isdisjoint(raw[1:first])


def _has_fitting_digits(value: Sequence[str], slot: Slot) -> bool:
    if slot.is_number:
        return all(word.isdigit() for word in value)
    has_digits = any(sign.isdigit() for word in value for sign in word)
    return slot.has_digits is None or not value or slot.has_digits == has_digits


def _has_fitting_time(value: Sequence[str], topic: frozenset[str], slot: Slot) -> bool:
    """Whether what is told of a topic is its time, or is no time, as the slot wants."""
    if slot.is_when is None:
        return True
    return bool(topic) and len(topic) <= _LONGEST_NOUN and _is_time(value) == slot.is_when


def _is_time(value: Sequence[str]) -> bool:
    known = lexicon()
    named = known.times - known.units
    return any(word in named or _CLOCK.fullmatch(word) for word in value) and all(
        word in known.times or word[0].isdigit() for word in value
    )
