"""What a statement says: whom it is about, which slot it fills with which value, and how it is told."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kinkeeper.language.dictionary import first_names
from kinkeeper.memory.statements.canonical_words import canon_of, lexicon
from kinkeeper.memory.statements.clauses import Framing, clauses_of
from kinkeeper.memory.statements.names import kin_canons
from kinkeeper.memory.statements.slots import ACT, NOUN, SUBJECT, Slot, SlotFrame, slots
from kinkeeper.memory.statements.subjects import ME, Told, told_of

# Which slot a clause fills, with which value: the slots of the data file, and how well each
# sentence fits.

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
        told=told,
        slot=slot,
        value=value,
        topic=topic,
        weight=weight,
        kind=frozenset(noun) if slot.is_apart else frozenset(),
        is_negation_used=frame.needs_negation,
    )


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


# What a clause says that fills no slot of the data file: its own words stand for the slot.

_FAVOURITE = canon_of("favourite")
_TRADE_ENDINGS = tuple(
    "ologist grapher therapist ician eer keeper worker smith maker manager engineer designer".split()  # noqa: SIM905
)
_AFTER_TRADE = frozenset(("of", "in", "at", "for", "with", "from"))
_CALLED = frozenset((canon_of("called"), canon_of("named")))
_UP_TO_FOUR = r"(?P<v>(?:\S+ ){1,4}?)"
# "green is my favourite colour"
_INVERTED = re.compile(
    rf"(?P<v>(?:(?!{SUBJECT} )\S+ ){{1,4}}?)be {SUBJECT} (?P<n>(?:(?!{SUBJECT} )\S+ ){{1,3}})"
)
# "we switched to Dana for the taxes"
_ROLE = re.compile(
    rf"{SUBJECT} (?:switch|chang|reloc|go|go over) to {_UP_TO_FOUR}for (?:{SUBJECT} )?(?P<n>(?:\S+ ){{1,2}})"
)
# "the colour I like best is green"; "I like green best of all colours"; "of all colours I like green best"
# "she likes the red scooter best"
_BEST = re.compile(rf"{SUBJECT} like {_UP_TO_FOUR}best ")
_LIKED_BEST = (
    re.compile(rf"(?P<n>(?:\S+ ){{1,2}}?){SUBJECT} like (?:best|most|more) be (?P<v>.+)"),
    re.compile(
        rf"{SUBJECT} like {_UP_TO_FOUR}(?:best|most|more) (?:than )?(?:of |out of |among |any |other )+(?P<n>(?:\S+ ){{1,2}})"
    ),
    re.compile(rf"of (?P<n>(?:\S+ ){{1,2}}?){SUBJECT} like {_UP_TO_FOUR}(?:best |most )"),
    re.compile(rf"{SUBJECT} like {_UP_TO_FOUR}(?:best|most) of (?P<n>(?:\S+ ){{1,2}})"),
)


def favourite_of(told: Told) -> Filling | None:
    """Return the favourite that somebody tells without calling it so, if they do.

    Args:
        told: The clause, as told of one subject.
    """
    if found := _BEST.fullmatch(told.sentence):
        return _of_thing(told, (_FAVOURITE,), found["v"].split())
    for pattern in _LIKED_BEST:
        if found := pattern.fullmatch(told.sentence):
            noun = (_FAVOURITE, *value_of(found["n"].split()))
            return _of_thing(told, noun, found["v"].split())
    return None


def trade_of(told: Told) -> Filling | None:
    """Return the job of whoever "is a carpenter"; None where it is none.

    Args:
        told: The clause, as told of one subject.
    """
    if told.words[:2] != (SUBJECT, "be"):
        return None
    said = told.words[2:]
    end = next((at for at, word in enumerate(said) if word in _AFTER_TRADE), None)
    head = value_of(said[:end])
    if head and (head[-1] in lexicon().trades or head[-1].endswith(_TRADE_ENDINGS)):
        return Filling(told=told, slot=slots().by_name["job"], value=value_of(said))
    return None


def own_words_of(told: Told) -> Filling:
    """Return what a clause says of its thing, else by its verb.

    Args:
        told: The clause, as told of one subject.
    """
    words, verbs = told.words, lexicon().verbs
    if turned := _INVERTED.fullmatch(told.sentence) or _ROLE.fullmatch(told.sentence):
        return _of_thing(told, value_of(turned["n"].split()), turned["v"].split())
    verb = next((at for at, word in enumerate(words) if at and word in verbs), None)
    start = 1 if words[:1] == (SUBJECT,) else 0
    is_thing = verb is not None and SUBJECT not in words[start:verb]
    if is_thing and (noun := value_of(words[start:verb])):
        return _of_thing(told, noun, words[verb:])
    verb = start if verb is None else verb
    key = words[verb] if verb < len(words) else ""
    slot = Slot(name=key, is_single=False, category="")
    return Filling(told=told, slot=slot, value=value_of(words[verb + 1 :]), is_known=False)


def _of_thing(told: Told, noun: Sequence[str], value: Sequence[str]) -> Filling:
    """Return what is told of a thing; of a property or a favourite there is one value at a time."""
    said = value_of(value)
    if tuple(noun) == (_FAVOURITE,) and len(said) > 1:
        # "Her favourite is the red scooter": of scooters.
        noun, said = (_FAVOURITE, said[-1]), said[:-1]
    is_single = bool(noun) and (noun[-1] in lexicon().properties or _FAVOURITE in noun)
    slot = Slot(name=" ".join(noun), is_single=is_single, category="")
    if len(said) > 1 and said[0] in _CALLED:
        said = said[1:]
    return Filling(told=told, slot=slot, value=said, is_known=False)


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
        subject=subject,
        slot=slot.name,
        is_known=filled.is_known,
        is_single=slot.is_single,
        topic=topic | kind,
        value=filled.value,
        words=(*named, *said),
        names=clause.names,
        replaced=clause.replaced,
        succeeded=clause.succeeded,
        is_negative=is_negative,
        is_retraction=clause.is_ended or Framing.RETRACTION in clause.framings,
        is_change=clause.is_new or Framing.CHANGE in clause.framings,
        is_past=told.is_former
        or Framing.PAST in clause.framings
        or (clause.is_past and not told.is_event),
        is_hypothetical=clause.is_modal or Framing.HYPOTHETICAL in clause.framings,
        is_added=clause.is_added,
        is_again=clause.is_again,
        is_able=clause.is_able,
        is_passive=_BY in told.words,
        is_fixed=slot.is_fixed,
        family=slot.family or slot.name,
        is_exact=slot.is_exact,
        category=slot.category if filled.is_known else "",
        side=slot.side,
    )


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
