"""What kind of text it is: whether it asks or tells, and whether it names numbers, times, people, places. Pure."""

import re
from enum import IntEnum

_MOST = 3
_TIMES = (
    "yesterday|today|tonight|tomorrow|last|next|ago|week|weekend|month|year|morning|since|until|soon|recently"
    "|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october"
    "|november|december|days|weeks|months|years|summer|winter|spring|autumn|fall|christmas|easter|birthday"
    r"|\d{4}|\d{1,2}(?:st|nd|rd|th)"
)
_NUMBERS = (
    r"\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred"
    "|thousand|once|twice|first|second|third|few|several|half"
)
_REPLIES = (
    "wow|oh|that's|thanks|thank|awesome|great|cool|congrat|nice|haha|yeah|yes|yay|sounds|really|aw|amazing|glad"
    "|no way|hey|hi|hello"
)


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


_PATTERNS = {
    Trait.SPEAKS_OF_SELF: re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|me|we|we're|we've|our|us)\b"),
    Trait.TIMES: re.compile(rf"\b(?:{_TIMES})\b", re.IGNORECASE),
    Trait.NUMBERS: re.compile(rf"\b(?:{_NUMBERS})\b", re.IGNORECASE),
    Trait.NAMES: re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+|\"[^\"]+\""),
    Trait.PLACES: re.compile(r"\b(?:in|at|to|from|near|on) (?:the )?[A-Z]"),
    Trait.REASONS: re.compile(
        r"\b(?:because|since|so|due|reason|helps?|want(?:ed)? to|to)\b", re.IGNORECASE
    ),
}
_REPLY = re.compile(rf"(?:{_REPLIES})\b", re.IGNORECASE)


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
    for trait, pattern in _PATTERNS.items():
        found[trait] = min(_MOST, sum(1 for _ in pattern.finditer(plain)))
    return tuple(found)
