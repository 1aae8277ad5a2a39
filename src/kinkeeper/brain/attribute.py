"""Which attribute of whom a question asks for: told with a made-up answer, it is read as statements are. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from kinkeeper.household.member_names import members_by_name
from kinkeeper.household.model import Household
from kinkeeper.memory.statement_match import subject_of
from kinkeeper.memory.statements.canonical_words import lexicon
from kinkeeper.memory.statements.statement_reader import read_statement

_KEPT = 4_096
_ANSWERS: Final[Mapping[str, Sequence[str]]] = {
    "who": ("Zoltan",), "what": ("Zoltan", "something"), "which": ("Zoltan",), "where": ("in Zoltanville", "at Zoltan"),
    "when": ("on Monday at 5",), "how much": ("50",), "how many": ("5",), "how old": ("5 years old",),
    "how": ("Zoltan",), "how often": ("every Monday",), "what time": ("at 5",), "whose": ("Zoltan",),
}  # fmt: skip
_WH = r"^(?P<wh>what time|how much|how many|how old|how often|what|which|who|whose|where|when|how)"
_WHO = r"(?P<who>(?:(?:my|our|the) )?(?:[\w.'’-]+ ){0,3}?[\w.'’-]+?)"
_IS = re.compile(
    rf"{_WH}(?: (?P<kind>(?!(?:is|are|was|were|do|does|did)\b)[\w-]+))?(?: (?:is|are|was|were)|['’](?:s|re)) (?P<rest>.+)$", re.IGNORECASE
)  # fmt: skip
_DOES = re.compile(
    rf"{_WH}(?: (?P<kind>[\w -]+?))? (?:do|does|did|can|will|must|should) {_WHO} (?P<does>[\w-]+)(?P<rest>.*)$", re.IGNORECASE
)  # fmt: skip
_SUBJECT = re.compile(r"^(?:who|what) (?P<rest>\w.+)$", re.IGNORECASE)
_WHETHER = re.compile(
    rf"^(?P<aux>is|are|was|were|does|do|did|can|may|has|have|had) {_WHO} (?P<rest>[\w'’ -]+)$", re.IGNORECASE
)  # fmt: skip
_TAIL = re.compile(
    r"^(?P<who>.+?) (?P<tail>\w+ (?:to|of|about|in|on|at|with|for|from)|called|named|\w{2,}ing)$", re.IGNORECASE
)  # fmt: skip
_LED = re.compile(
    r"^(?:(?:so|and|but|please|hey|ok|can you tell me|do you know|remind me|tell me)[ ,]+)+",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\b(?:now|again|these days|at the moment|currently|exactly|please|still)\b", re.IGNORECASE
)


_COUNTED = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|hundred|thousand|dozen|half|both|twice|once|first|second|third|\w+th|free|nothing|no)\b"
)
_TIMED = (
    rf"{_COUNTED}|\b(?:\w+days?|noon|midnight|morning|afternoon|evening|night|nights|week|weekend|month|year|daily|weekly|monthly|yearly|today"
    r"|tomorrow|tonight|jan\w*|feb\w*|march|april|may|june|july|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|spring|summer|autumn|winter|easter|christmas"
    r"|holidays?|always|never|every|after|before|until|when|soon|now|lunch\w*|dinner|breakfast|bedtime|always|often|usually|sometimes)\b"
)
_COLOURED = (
    r"\b(?:red|blue|green|yellow|white|black|gr[ea]y|brown|pink|purple|orange|beige|cream|navy|teal|turquoise|gold\w*|silver"
    r"|violet|maroon|lilac|ivory|magnolia|dark|light|pale|colou?r\w*|paint\w*)\b"
)
_KINDS = tuple(
    (re.compile(wants, re.IGNORECASE), re.compile(names, re.IGNORECASE))
    for wants, names in (
        (r"^\W*(?:so |and |but )?(?:when|what time|how often|which day|what day)\b", _TIMED),
        (r"^\W*(?:so |and |but )?(?:how (?:much|many|old|tall|big|far|long)|what (?:number|size|age)|what (?:did|do|does|will|would) .{1,60} (?:charge|cost|pay|weigh|owe))\b", _COUNTED),
        (r"\b(?:number|pin)\W*$", r"\d"),
        (r"\b(?:what|which) colou?r\b", _COLOURED),
    )
)  # fmt: skip


class Attribute(NamedTuple):
    """An attribute of somebody or something.

    Attributes:
        subject: Whose: a member id, a name, or "" where nobody tells.
        slot: Its key.
        topic: Words that tell it from others in the same slot.
    """

    subject: str
    slot: str
    topic: frozenset[str]


def is_same(asked: Attribute, told: Attribute) -> bool:
    """Whether what is told is what is asked for.

    Args:
        asked: Of a question.
        told: Of a statement.
    """
    is_of_it = not asked.topic or not told.topic or not asked.topic.isdisjoint(told.topic)
    return asked[:2] == told[:2] and is_of_it


def is_anothers(asked: Attribute, told: Attribute) -> bool:
    """Whether what is told is what is asked for, but of somebody else.

    Args:
        asked: Of a question.
        told: Of a statement.
    """
    is_other = bool(asked.subject and told.subject) and asked.subject != told.subject
    return is_other and is_same(asked, told._replace(subject=asked.subject))


@lru_cache(maxsize=_KEPT)
def asked_of(text: str, household: Household, asker: str | None) -> frozenset[Attribute]:
    """Return what a question may ask for, in several readings; nothing where it is no question we can turn.

    Args:
        text: As asked.
        household: Whose names count.
        asker: Member id of who asks, if known.
    """
    told = (sentence for each in _questions(text) for sentence in _told(each))
    return frozenset(
        found for sentence in told for found in attributes_of(sentence, household, asker)
    )


def attributes_of(text: str, household: Household, speaker: str | None) -> Iterator[Attribute]:
    """Yield what the first clause of a statement tells.

    Args:
        text: A sentence.
        household: Whose names count.
        speaker: Member id of who says it, if known.
    """
    subject, _ = subject_of(
        text, speaker=speaker, people=_people(household), guardians=household.guardians
    )
    for reading in read_statement(text)[:1]:
        # What somebody is or has may be anything; only a noun says what.
        if reading.is_known or (reading.slot and reading.slot not in lexicon().verbs):
            yield Attribute(
                subject, reading.family if reading.is_known else reading.slot, reading.topic
            )


@lru_cache(maxsize=64)
def _people(household: Household) -> Mapping[str, str]:
    return members_by_name(household)


def lacks_answer(question: str, known: str) -> bool:
    """Whether a question wants a time or an amount, and a text names none.

    Args:
        question: As asked.
        known: Something remembered.
    """
    return any(
        wants.search(question) is not None and names.search(known) is None
        for wants, names in _KINDS
    )


def _questions(text: str) -> Iterator[str]:
    """Yield the questions of a text without what leads them in."""
    for part in re.split(r"[?!.]+(?:\s+|$)", text):
        if plain := " ".join(_NOW.sub(" ", _LED.sub("", part.strip())).split()):
            yield plain


def _told(question: str) -> Iterator[str]:
    """Yield a question as statements with a made-up answer."""
    if found := _DOES.match(question):
        kind = f" {found['kind']}" if found["kind"] else ""
        for answer in _ANSWERS[found["wh"].lower()]:
            yield f"{found['who']} {found['does']}{kind} {answer}{found['rest']}"
    elif found := _IS.match(question):
        for answer in _ANSWERS[found["wh"].lower()]:
            yield from _being(found["rest"], found["kind"] or "", answer)
    elif found := _WHETHER.match(question):
        is_being = found["aux"].lower() in {"is", "are", "was", "were"}
        yield f"{found['who']} {'is ' if is_being else ''}{found['rest']}"
    elif found := _SUBJECT.match(question):
        yield f"Zoltan {found['rest']}"


def _being(rest: str, kind: str, answer: str) -> Iterator[str]:
    """Yield what somebody or something is, as statements: "is Ida allergic to", "is Ida's teacher", "size is Ida"."""
    tail = _TAIL.match(rest)
    if tail is not None:
        yield f"{tail['who']} is {tail['tail']} {answer}"
    elif kind:
        yield f"{rest} is {kind} {answer}"
        yield f"{rest}'s {kind} is {answer}"
    else:
        yield f"{rest} is {answer}"
