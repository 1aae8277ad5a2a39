"""What a clause says that fills no slot of the data file: its own words stand for the slot."""

import re
from collections.abc import Sequence

from kinkeeper.memory.statements.canonical_words import canon_of, lexicon
from kinkeeper.memory.statements.slot_filler import Filling, value_of
from kinkeeper.memory.statements.slots import SUBJECT, Slot, slots
from kinkeeper.memory.statements.subjects import Told

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
