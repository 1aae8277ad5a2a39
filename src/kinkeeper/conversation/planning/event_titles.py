"""What an event may be called, and what is none. Pure."""

import re

from kinkeeper.conversation.planning.case import Case
from kinkeeper.conversation.planning.named import content_words
from kinkeeper.household.vocabulary import WordKind

POINTS_BACK = re.compile(
    r"^(?:it|that|this|them|those|everything|something|one|him|her|the (?:time|date)|time|date|up|(?:the )?(?:things?|stuff|rest|other(?: one)?))$",
    re.IGNORECASE,
)
"""Words that name nothing by themselves."""

DETERMINER = re.compile(
    r"^(?:(?:the|my|our|a|an|another|new|this|that|any|next)\s+)+", re.IGNORECASE
)
NO_EVENT = re.compile(
    r"\b(?:list|lists|to-do|note|notes|email|mail|alarm|reminder|timer|music|song|request|action|command|order|item|file|account|card|subscription|line|lines|message|messages|file|light|lights|volume|playlist|radio|podcast|taxi|uber|cab|pizza(?! (?:night|party|evening|lunch|dinner|making)))\b",
    re.IGNORECASE,
)
"""What lists, mails, devices and orders are made of, and no event."""


def is_appointment(title: str, case: Case) -> bool:
    """Whether a title speaks of something that stands in calendars."""
    if case.grammar.said["appointment"].search(title):
        return True
    words = title.lower().split()
    kinds = (WordKind.ACTIVITY, WordKind.GENERIC_ACTIVITY)
    parts = {
        " ".join(words[i:j])
        for i in range(len(words))
        for j in range(i + 1, min(i + 4, len(words) + 1))
    }
    return any(word.kind in kinds for part in parts for word in case.vocabulary.meanings(part))


def lowered(title: str) -> str:
    """Return a title as it stands in the middle of a sentence."""
    first = title.split(maxsplit=1)[0] if title else ""
    return title if first.isupper() or not content_words(title) else title[0].lower() + title[1:]
