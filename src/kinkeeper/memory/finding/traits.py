"""What kind of text it is: whether it asks or tells, and whether it names numbers, times, people, places. Pure."""

import re
from collections import defaultdict
from enum import IntEnum

_MOST = 3


class Trait(IntEnum):
    """One thing a text may have; the value is its column."""

    ENDS_ASKING = 0
    ASKS = 1
    EXCLAIMS = 2
    IS_REPLY = 3
    SPEAKS_OF_SELF = 4
    TIMES = 5
    NUMBERS = 6
    NAMES = 7
    PLACES = 8
    REASONS = 9


_WORDS = {
    Trait.TIMES: (
        "yesterday today tonight tomorrow last next ago since until soon recently morning day days week weeks weekend"
        " month months year years monday tuesday wednesday thursday friday saturday sunday january february march"
        " april june july august september october november december summer winter spring autumn fall christmas"
        " easter birthday"
    ),
    Trait.NUMBERS: (
        "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand"
        " once twice first second third few several half"
    ),
    Trait.REASONS: "because since so due reason help helps to",
}
_SELF = frozenset({"I", "my", "me", "we", "our", "us"})
_PLACED = frozenset({"in", "at", "to", "from", "near", "on"})
_REPLY = re.compile(
    r"(?:wow|oh|that's|thanks|thank|awesome|great|cool|congrat|nice|haha|yeah|yes|yay|sounds|really|aw|amazing|glad"
    r"|no way|hey|hi|hello)\b",
    re.IGNORECASE,
)
_SIGNS = ".,;:!?…\"'()[]*-–—"
_GOES_ON = ",;"
_YEAR_DIGITS = 4
_ORDINALS = ("st", "nd", "rd", "th")


def traits_of(text: str) -> tuple[int, ...]:
    """Return how much of each trait a text has, in the order of `Trait`: 0, 1, and up to 3 of what is counted.

    Args:
        text: Any.
    """
    plain = text.replace("’", "'")
    found = [0] * len(Trait)
    found[Trait.ENDS_ASKING] = int(plain.rstrip().endswith("?"))
    found[Trait.ASKS] = int("?" in plain)
    found[Trait.EXCLAIMS] = int("!" in plain)
    found[Trait.IS_REPLY] = int(_REPLY.match(plain) is not None)
    found[Trait.NAMES] = plain.count('"') // 2
    last, last_word, placed = "", "", False
    for token in plain.split():
        # Letters before an apostrophe tell: "I'm" speaks of oneself, "week's" of a time.
        word = token.strip(_SIGNS).partition("'")[0]
        for trait in _TRAITS_OF.get(word.lower(), ()):
            found[trait] += 1
        if word in _SELF:
            found[Trait.SPEAKS_OF_SELF] += 1
        elif word[:1].isdigit():
            found[Trait.NUMBERS] += 1
            found[Trait.TIMES] += word.endswith(_ORDINALS) or (
                len(word) == _YEAR_DIGITS and word.isdigit()
            )
        elif word[:1].isupper():
            found[Trait.PLACES] += placed
            is_within = last.islower() or last in _GOES_ON
            found[Trait.NAMES] += bool(last) and is_within and word[1:2].islower()
        placed = word in _PLACED or (word == "the" and last_word in _PLACED)
        last, last_word = token[-1], word
    return tuple(min(_MOST, count) for count in found)


def _by_word() -> dict[str, list[Trait]]:
    traits: dict[str, list[Trait]] = defaultdict(list)
    for trait, known in _WORDS.items():
        for word in known.split():
            traits[word].append(trait)
    return dict(traits)


_TRAITS_OF = _by_word()
