"""Words for a person or a pet of somebody's: "sister", "puppy"."""

from functools import cache

from kinkeeper.language.dictionary import word_ranks
from kinkeeper.memory.statements.canonical_words import canon_of
from kinkeeper.memory.statements.slots import slots

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
def kin_canons() -> frozenset[str]:
    """The same words as they are compared."""
    return frozenset(canon_of(word) for word in kin())
