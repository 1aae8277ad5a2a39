"""What a statement says: whom it is about, which slot it fills with which value, and how it is told."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kinkeeper.language.dictionary import first_names
from kinkeeper.memory.statements.clauses import clauses_of
from kinkeeper.memory.statements.framing import Framing
from kinkeeper.memory.statements.slots import ACT, NOUN, SUBJECT, Slot, SlotFrame, slots
from kinkeeper.memory.statements.subjects import ME, Told, kin, told_of
from kinkeeper.memory.statements.words import canon_of, lexicon, words_of

_KEPT = 65_536
_LONGEST_NOUN = 3


def _canons(words: str) -> frozenset[str]:
    return frozenset(canon_of(word) for word in words.split())


_GENERIC_TOPICS = _canons(
    "app project system service site website product backend code software it thing data favourite main"
)
_NOBODY = _canons(
    "anyone anybody anything someone somebody something nobody it there any that this them him her ever everyone"
)
_STOPS = _canons(
    "because since although though while which who where when if but until after before instead rather than"
) | {SUBJECT}
_REPLACED = re.compile(
    r"(?:instead of|rather than|in place of|replacing|and not|, not|(?:switch|chang|mov|swapp|upgrad)\w* (?:over )?from) (.+)"
)
_TRADE_ENDINGS = (
    "ologist",
    "grapher",
    "therapist",
    "ician",
    "eer",
    "keeper",
    "worker",
    "smith",
    "maker",
    "manager",
    "engineer",
    "designer",
)


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
        is_added: Whether it is told as something on top.
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
    is_added: bool = False
    is_passive: bool = False
    is_fixed: bool = False
    family: str = ""
    is_exact: bool = False
    category: str = ""
    side: str = ""


@lru_cache(maxsize=_KEPT)
def read_statement(text: str) -> tuple[Reading, ...]:
    """Return what a statement says, a reading for each of its clauses.

    Args:
        text: A sentence, or a few.
    """
    told = (told_of(clause) for clause in clauses_of(text))
    return tuple(_read(each) for each in told if each)


def subject_slot(text: str) -> tuple[str, str]:
    """Return whom and what a statement is about, equal for statements that may take each other's place.

    Args:
        text: A sentence.

    Returns:
        Subject and slot; two empty strings where nothing was read.
    """
    readings = read_statement(text)
    return (readings[0].subject, readings[0].slot) if readings else ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filled:
    """A slot as a clause fills it."""

    told: Told
    slot: Slot
    value: tuple[str, ...]
    topic: frozenset[str] = frozenset()
    kind: frozenset[str] = frozenset()
    weight: float = 0.0
    is_known: bool = True
    is_negation_used: bool = False


def _read(readings: Sequence[Told]) -> Reading:
    found = [filled for told in readings for filled in _fillings(told)]
    best = next((filled for told in readings for filled in _liked_best(told)), None)
    if best is not None:
        return _reading(best)
    if found:
        return _reading(max(found, key=lambda filled: filled.weight))
    trades = [filled for told in readings for filled in _trade(told)]
    return _reading(trades[0] if trades else _open(readings[0]))


def _fillings(told: Told) -> Iterator[_Filled]:
    known = slots()
    for anchor in dict.fromkeys(told.words):
        for frame in known.by_anchor.get(anchor, ()):
            if frame.slot is not None and (told.is_negative or not frame.needs_negation):
                yield from _filled(told, frame, frame.slot, told.sentence)
    for marked, noun, slot in _marked(told.words, NOUN, known.nouns):
        for frame in known.noun_frames:
            if frame.is_for_people or not slot.is_person:
                yield from _filled(told, frame, slot, marked, noun=noun)
    yield from _fillings_by_use(told)


def _fillings_by_use(told: Told) -> Iterator[_Filled]:
    """Yield slots as what somebody does with their value, or the value itself, tells them."""
    known = slots()
    for marked, act, slot in _marked(told.words, ACT, known.acts):
        for frame in known.act_frames:
            yield from _filled(told, frame, slot, marked, noun=act, bonus=_FOR_USE)
    for kind in dict.fromkeys(word for word in told.words if word in known.kinds):
        for frame in known.kind_frames:
            yield from _filled(told, frame, known.kinds[kind], told.sentence)


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
    sentence: str,
    *,
    noun: Sequence[str] = (),
    bonus: float = 0.0,
) -> Iterator[_Filled]:
    match = frame.pattern.fullmatch(sentence)
    if match is None:
        return
    groups = match.groupdict(default="")
    raw = groups.get("v", "").split()
    value = _value(raw)
    if slot.is_person and noun and not _is_person(value, told):
        return
    if slot.is_thing and noun and not _is_name(raw, told):
        return
    if not _fits(value, slot):
        return
    topic = (
        frozenset(groups.get("t", "").split())
        - lexicon().light
        - _GENERIC_TOPICS
        - {SUBJECT, NOUN, ACT}
    )
    if slot.is_when is not None and (
        not topic or _is_time(value) != slot.is_when or len(topic) > _LONGEST_NOUN
    ):
        return
    yield _Filled(
        told=told, slot=slot, value=value, topic=topic, kind=frozenset(noun) if slot.is_apart else frozenset(),
        is_negation_used=frame.needs_negation,
        weight=1 + bonus - 3 * (slot.is_when is not None) + frame.weight + len(noun) + (frame.slot is not None) + 0.2 * bool(slot.has_digits) + 0.7 * (slot.is_person and bool(noun)) + 0.5 * (told.subject != ME) - 0.01 * len(value) - 0.1 * len(topic),
    )  # fmt: skip


_CLOCK = re.compile(r"\d{1,2}(?::\d\d|[ap]m|h)")
_FOR_USE = 1.5
_FAVOURITE = canon_of("favourite")


def _value(words: Sequence[str]) -> tuple[str, ...]:
    """Return what a value says, up to where another clause begins."""
    end = next((place for place, word in enumerate(words) if word in _STOPS and place), len(words))
    dropped = lexicon().light | _NOBODY | {SUBJECT, NOUN, ACT}
    return tuple(word for word in words[:end] if word not in dropped and word[0].isalnum())


def _fits(value: Sequence[str], slot: Slot) -> bool:
    if slot.is_number:
        return all(word.isdigit() for word in value)
    has_digits = any(sign.isdigit() for word in value for sign in word)
    return slot.has_digits is None or not value or slot.has_digits == has_digits


def _is_time(value: Sequence[str]) -> bool:
    known = lexicon()
    named = known.times - known.units
    return any(word in named or _CLOCK.fullmatch(word) for word in value) and all(
        word in known.times or word[0].isdigit() for word in value
    )


def _is_person(value: Sequence[str], told: Told) -> bool:
    return not value or value[0] in told.clause.names or value[0] in first_names()


def _is_name(raw: Sequence[str], told: Told) -> bool:
    return (
        not raw
        or any(word in told.clause.names for word in raw)
        or any(sign.isdigit() or sign == "@" for sign in raw[0])
    )


def _trade(told: Told) -> Iterator[_Filled]:
    """Yield the job of whoever "is a carpenter"."""
    if told.words[:2] != (SUBJECT, "be"):
        return
    value = _value(told.words[2:])
    end = next(
        (
            at
            for at, word in enumerate(told.words[2:])
            if word in {"of", "in", "at", "for", "with", "from"}
        ),
        None,
    )
    head = _value(told.words[2:][:end])
    if head and (head[-1] in lexicon().trades or head[-1].endswith(_TRADE_ENDINGS)):
        yield _Filled(told=told, slot=slots().by_name["job"], value=value)


def _liked_best(told: Told) -> Iterator[_Filled]:
    """Yield the favourite that somebody tells without calling it so."""
    for turn in _LIKED_BEST:
        if found := turn.fullmatch(told.sentence):
            noun = (_FAVOURITE, *_value(found["n"].split()))
            yield _of_thing(told, noun, found["v"].split())


def _open(told: Told) -> _Filled:
    """Return what a clause says where no slot is known: its thing, else its verb, stands for the slot."""
    words, verbs = told.words, lexicon().verbs
    if turned := _INVERTED.fullmatch(told.sentence) or _ROLE.fullmatch(told.sentence):
        return _of_thing(told, _value(turned["n"].split()), turned["v"].split())
    verb = next((at for at, word in enumerate(words) if at and word in verbs), None)
    start = 1 if words[:1] == (SUBJECT,) else 0
    is_thing = verb is not None and SUBJECT not in words[start:verb]
    if is_thing and (noun := _value(words[start:verb])):
        return _of_thing(told, noun, words[verb:])
    verb = start if verb is None else verb
    key = words[verb] if verb < len(words) else ""
    slot = Slot(name=key, is_single=False, category="")
    return _Filled(told=told, slot=slot, value=_value(words[verb + 1 :]), is_known=False)


def _of_thing(told: Told, noun: Sequence[str], value: Sequence[str]) -> _Filled:
    """Return what is told of a thing; of a property or a favourite there is one value at a time."""
    is_single = bool(noun) and (noun[-1] in lexicon().properties or _FAVOURITE in noun)
    slot = Slot(name=" ".join(noun), is_single=is_single, category="")
    return _Filled(told=told, slot=slot, value=_value(value), is_known=False)


# "green is my favourite colour"
_INVERTED = re.compile(
    rf"(?P<v>(?:(?!{SUBJECT} )\S+ ){{1,4}}?)be {SUBJECT} (?P<n>(?:(?!{SUBJECT} )\S+ ){{1,3}})"
)
# "we switched to Dana for the taxes"
_ROLE = re.compile(
    rf"{SUBJECT} (?:switch|chang|reloc|go|go over) to (?P<v>(?:\S+ ){{1,4}}?)for (?:{SUBJECT} )?(?P<n>(?:\S+ ){{1,2}})"
)
# "the colour I like best is green"; "I like green best of all colours"; "of all colours I like green best"
_LIKED_BEST = (
    re.compile(rf"(?P<n>(?:\S+ ){{1,2}}?){SUBJECT} like (?:best|most|more) be (?P<v>.+)"),
    re.compile(
        rf"{SUBJECT} like (?P<v>(?:\S+ ){{1,4}}?)(?:best|most|more) (?:than )?(?:of |out of |among |any |other )+(?P<n>(?:\S+ ){{1,2}})"
    ),
    re.compile(rf"of (?P<n>(?:\S+ ){{1,2}}?){SUBJECT} like (?P<v>(?:\S+ ){{1,4}}?)(?:best |most )"),
    re.compile(rf"{SUBJECT} like (?P<v>(?:\S+ ){{1,4}}?)(?:best|most) of (?P<n>(?:\S+ ){{1,2}})"),
)


def _reading(filled: _Filled) -> Reading:
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
    replaced = _REPLACED.search(clause.text)
    return Reading(
        subject=subject, slot=slot.name, is_known=filled.is_known, is_single=slot.is_single,
        topic=topic | kind, value=filled.value, words=(*named, *said), names=clause.names,
        replaced=frozenset(word.canon for word in words_of(replaced[1])) if replaced else frozenset(),
        is_negative=is_negative,
        is_retraction=clause.is_ended or Framing.RETRACTION in clause.framings,
        is_change=clause.is_new or Framing.CHANGE in clause.framings,
        is_past=told.is_former or Framing.PAST in clause.framings or (clause.is_past and not told.is_event),
        is_hypothetical=clause.is_modal or Framing.HYPOTHETICAL in clause.framings,
        is_added=clause.is_added, is_passive=_BY in told.words, is_fixed=slot.is_fixed, family=slot.family or slot.name,
        is_exact=slot.is_exact, category=slot.category if filled.is_known else "", side=slot.side,
    )  # fmt: skip


_BY = "by"
_WHEN = "when"
_OTHER_SIDE = {"like": "dislike", "dislike": "like"}


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
    people = frozenset(word for word in topic if word in names or word in _kin_canons())
    if subject != ME or not people:
        return subject, topic
    return " ".join(sorted(people)), topic - people


@lru_cache(maxsize=1)
def _kin_canons() -> frozenset[str]:
    return frozenset(canon_of(word) for word in kin())
