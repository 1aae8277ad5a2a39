"""A message taken apart into sentences and the parts of long ones, each with its place. Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kinkeeper.language.dictionary import first_names, word_ranks
from kinkeeper.language.sentences import mask_stops

LONGEST_MESSAGE = 20_000
"""Characters of a message that are read."""

_END = re.compile(
    r"(?:[.!?…]+[\"')\]]*(?=\s|$))|[\n\r]+|\s[-–—]+\s|[;](?=\s)|"
    r"[\U0001F300-\U0001FAFF\u2600-\u27BF\u2764\ufe0f]+",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r"(?:,|(?<!\s))\s+(?:btw|by the way|also)\b,?\s+(?=\w)|"
    r",\s+(?:(?:and|but|so|plus|also|then)\s+)?(?=(?:i|i'm|im|i've|i'll|we|we're|we've|my|our|he|she|he's|she's|they|they're|the|it|it's)\b)|"
    r"(?<!\s)\s+(?:and|but|so)\s+(?=(?:i|i'm|im|i've|we|we're|we've)\b\s(?!are a\b|are both\b|are engaged|are married|are a couple))|"
    r"(?<!\s)\s+(?:and|but|so)\s+(?=(?:my|our)\s+(?:[\w-]+\s+){1,3}(?:is|are|was|has|lives?|works?|loves?|likes?|hates?|plays?|goes|wants?|started|moved|turned)\b)|"
    r"(?<!\s)\s+(?:and|but)\s+(?=(?:he|she)\s(?!and\b)[\w']+s\b)|"
    r"(?<!\s)\s+(?:and|but)\s+(?=(?-i:[A-Z])[\w-]+ (?:is|was|has|started|moved|lives|works|loves|likes|hates|plays|goes|wants|turned|got|cannot|can't|doesn't)\b)",
    re.IGNORECASE,
)
_TRIMMED = " \t,;:-–—*•\"'()[]"


class Part(NamedTuple):
    """A sentence, or a part of one that stands by itself.

    Attributes:
        text: As written, without what stands around it.
        start: Index of its first character in the message.
        end: Index after its last.
        mark: The mark it ends with ("?", "!", "."), or nothing.
    """

    text: str
    start: int
    end: int
    mark: str


def parts_of(message: str) -> tuple[Part, ...]:
    """Return the sentences of a message in order; long ones apart where a new subject begins.

    Args:
        message: Any; beyond 20,000 characters it is not read.
    """
    return tuple(_parts(message[:LONGEST_MESSAGE]))


def _parts(message: str) -> Iterator[Part]:
    start = 0
    for end in _END.finditer(mask_stops(message)):
        yield from _split(message, start, end.start(), end[0].strip()[:1])
        start = end.end()
    yield from _split(message, start, len(message), "")


def _split(message: str, start: int, end: int, mark: str) -> Iterator[Part]:
    begin = start
    for joint in _JOINT.finditer(message, start, end):
        if _is_other_half(message[begin : joint.start()], joint[0]):
            continue
        yield from _trimmed(message, begin, joint.start(), ",")
        begin = joint.end()
    yield from _trimmed(message, begin, end, mark)


def _is_other_half(said: str, joint: str) -> bool:
    """Whether what stands before "and I" is only who the rest is told of, too ("Ada and I split up")."""
    name = said.strip(_TRIMMED)
    is_name = name.istitle() and (name.lower() in first_names() or name.lower() not in word_ranks())
    return joint.strip().lower() == "and" and is_name and name.isalpha()


def _trimmed(message: str, start: int, end: int, mark: str) -> Iterator[Part]:
    while start < end and message[start] in _TRIMMED:
        start += 1
    while end > start and message[end - 1] in _TRIMMED:
        end -= 1
    if start < end:
        yield Part(message[start:end], start, end, mark)
