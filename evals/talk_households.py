"""The household of a labelled talk, with the words a household file would have for its people."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from evals.coordination import household_of
from kinkeeper.household.model import Household
from training.corpus import Talk

_AGE: Final = re.compile(r"\b(\d{1,2})\b")
_ADULT_AGE: Final = 18
_APART: Final = re.compile(r",\s*(?![^(]*\))|\s+and\s+(?![^(]*\))")
_PERSON: Final = re.compile(r"(?P<name>[^(\d]+?)\s*(?P<age>\d{1,3})?\s*(?:\((?P<told>[^)]*)\))?$")
_OF_FAMILY: Final = re.compile(r"^(?:(?:lone|single|step)\s*)?(?P<kin>\w+)\b(?!\s+of\b)")
_CALLED: Final[Mapping[str, str]] = {
    "mother": "mum mom mam mama mammy mummy mommy ma",
    "mum": "mum mom mam mama mammy mummy mommy ma",
    "father": "dad daddy papa pa da",
    "dad": "dad daddy papa pa da",
    "grandmother": "gran granny grandma nan nana gma",
    "gran": "gran granny grandma nan nana gma",
    "grandfather": "grandad granda grandpa gramps",
}
"""What families call them: a household file has such words among a member's aliases."""


def household_in(talk: Talk) -> Household:
    """Return the household of a talk: its people by name and by what families call them, children by age."""
    people = [*_people(talk.people)]
    claimed = Counter(word for _, words in people for word in {*map(str.casefold, words)})
    entries: dict[str, list[dict[str, object]]] = {"adult": [], "child": []}
    for kind, words in people:
        own = [words[0], *(each for each in words[1:] if claimed[each.casefold()] == 1)]
        name = re.sub(r"\W+", "-", words[0].casefold()).strip("-")
        entries[kind].append({"id": name, "words": own})
    household = household_of(entries)
    return replace(household, locale="en-US" if talk.place.endswith("USA") else "en-GB")


def _people(told: str) -> Iterator[tuple[str, Sequence[str]]]:
    for part in _APART.split(told):
        found = _PERSON.match(part.strip())
        if found is None:
            continue
        name, about = found["name"].strip(), found["told"] or ""
        age = found["age"] or (_AGE.match(about) or [None])[0]
        is_child = age is not None and int(age) < _ADULT_AGE
        words = [name, *name.split()[-1:], *_kin(about)]
        yield "child" if is_child else "adult", [*dict.fromkeys(words)]


def _kin(about: str) -> Sequence[str]:
    first = about.split(",", maxsplit=1)[0].strip()
    found = _OF_FAMILY.match(first)
    own = _CALLED.get(found["kin"], "").split() if found else []
    is_name = first[:1].isupper() and first.isalpha()
    return [*own, *([first] if is_name else ())]
