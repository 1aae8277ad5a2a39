"""Words for people and pets: kin, and which words of a statement are names."""

import re
from collections.abc import Iterator
from functools import cache

from kinkeeper.language.dictionary import first_names, may_be_name, names_also_words, word_ranks
from kinkeeper.language.text import mask_stops, unaccented
from kinkeeper.memory.statements.canonical_words import canon_of, lexicon
from kinkeeper.memory.statements.slots import slots
from kinkeeper.reading.coreference import words_for_people

# Words for a person or a pet of somebody's: "sister", "puppy".

_PET = "pet"
_RARE_KIN = [
    "mum",
    "mummy",
    "mommy",
    "auntie",
    "nan",
    "nana",
    "hubby",
    "bestie",
    "stepmum",
    "stepdad",
    "twins",
    "kids",
    "parents",
    "grandparents",
]

_FOREBEARS = frozenset(map(canon_of, ("mother", "father", "grandmother", "grandfather")))


@cache
def kin() -> frozenset[str]:
    """Words for a person or a pet, in every number."""
    known = slots()
    own = {noun.split()[-1] for noun, slot in known.nouns.items() if slot.is_person}
    listed = {word for word in word_ranks() if word and canon_of(word) in own}
    return frozenset(listed | set(_RARE_KIN))


@cache
def person_canons() -> frozenset[str]:
    """The words for a person, as they are compared; a pet may be "it"."""
    named = slots().nouns.items()
    pets = {noun for noun, slot in named if slot.name == _PET}
    people = {noun.split()[-1] for noun, slot in named if slot.is_person} - pets
    return frozenset(people | {canon_of(word) for word in _RARE_KIN})


@cache
def _beings() -> frozenset[str]:
    """The words for a person or an animal that are one by themselves, as they are compared."""
    nouns = {noun for noun, slot in slots().nouns.items() if slot.is_person and " " not in noun}
    return frozenset(nouns | {canon_of(word) for word in (*_RARE_KIN, *words_for_people())})


def is_being(word: str) -> bool:
    """Whether a word, in lower case, is one for a person or an animal."""
    return canon_of(word) in _beings()


def is_forebear(word: str) -> bool:
    """Whether a word, in lower case, stands for a parent or grandparent."""
    return canon_of(word) in _FOREBEARS


@cache
def kin_canons() -> frozenset[str]:
    """The same words as they are compared."""
    return frozenset(canon_of(word) for word in kin())


_NAMED_FIRST = re.compile(r"([A-Z][\w-]+) (?:is (?:my|our)|and (?:I|me)|\w+s (?:me|us|my|our))\b")
_TITLED = re.compile(r"\b(Mr|Mrs|Ms|Miss|Dr|Prof|Madam|Sir|Pastor|Father|Sister)\.? (?=[A-Z][a-z])")
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+)[\W_]*$")
_CAPITALISED = re.compile(r"[^\W\d_][\w-]*")
# "when is iris's birthday": who has what only somebody has, without an article or "my", is called so.
_OWNER = re.compile(
    r"(?:^|[.!?,:;]\s+|\b(?:is|are|was|were|when|what|who|for|of|at|to|about|that|and|remember|know|from|in|on|near|after|since|because)\s+)"
    r"([^\W\d_][\w-]*)(?:['’]s|(?<=s)['’])\s+((?:[\w-]+\s*){1,3})",
    re.IGNORECASE,
)
# "Jack has a nut allergy", "Daisy's got a cold": a bare noun does not do such things.
_DOER = re.compile(
    r"(?:^|[.!?:]\s+)([A-Z][\w-]+)(?:['’]s\b|\s+(?:is|has|was|had|isn['’]?t|hasn['’]?t|doesn['’]?t|didn['’]?t|can|can['’]?t|will|won['’]?t|says|does|and [A-Z]\w+|[a-z]{2,}(?:s|ed)|got|went|left|took|gave|quit)\b)"
)

_NOBODY = frozenset(
    "today tomorrow yesterday tonight everyone everybody someone somebody nobody anyone anybody it that this there here what who one".split()  # noqa: SIM905
)
_HAS_BEEN = frozenset(
    [
        "been",
        "got",
        "gone",
        "not",
        "now",
        "just",
        "moved",
        "had",
        "done",
        "a",
        "an",
        "the",
        "in",
        "at",
        "on",
        "off",
        "out",
        "up",
        "back",
        "over",
    ]
)
_KIN_CATEGORY = "relationship"


def names_in(text: str) -> frozenset[str]:
    """Return the canonical words of a text that are names."""
    names = {canon_of(word) for word in _by_form(text)}
    masked = mask_stops(text)
    for found in _CAPITALISED.finditer(text):
        word = unaccented(found[0].lower())
        if (
            any(sign.isdigit() for sign in word)
            or word in lexicon().light
            or canon_of(word) in lexicon().times
        ):
            continue
        is_sure = found[0][0].isupper() and not (
            not may_be_name(word) and _SENTENCE_START.search(masked[: found.start()])
        )
        if is_sure or word in first_names():
            names.add(canon_of(word))
    return frozenset(names)


def _by_form(text: str) -> Iterator[str]:
    """Yield ordinary words that what stands around them makes names."""
    for titled in _TITLED.finditer(text):
        yield titled[1].lower()
    if begun := _NAMED_FIRST.match(text):
        yield unaccented(begun[1].lower())
    for found in _DOER.finditer(mask_stops(text)):
        word = unaccented(found[1].lower())
        if word in names_also_words():
            yield word
    for found in _OWNER.finditer(text):
        word = unaccented(found[1].lower())
        if _may_be_called(word) and _begins_with_attribute(found[2].lower().split()):
            yield word


def _may_be_called(word: str) -> bool:
    is_common = word in _NOBODY or canon_of(word) in lexicon().times | _people()
    return not is_common and (word not in lexicon().light or word in names_also_words())


def _begins_with_attribute(words: list[str]) -> bool:
    """Whether words begin with what somebody has: "birthday", "new shoe size", "piano teacher"."""
    canons = [canon_of(word) for word in words]
    if words[0] in _HAS_BEEN:
        return False
    return any(
        " ".join(canons[start:end]) in slots().nouns
        for start in range(min(2, len(canons)))
        for end in range(start + 1, len(canons) + 1)
    )


@cache
def _people() -> frozenset[str]:
    """Canonical words for somebody's people, who are told of as theirs: "mum's birthday"."""
    return frozenset(noun for noun, slot in slots().nouns.items() if slot.category == _KIN_CATEGORY)
