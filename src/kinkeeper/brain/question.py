"""What a question asks for: the words it is about, the time, and which attribute of whom. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

from kinkeeper.core.time import Interval
from kinkeeper.household.model import Household, members_by_name
from kinkeeper.language.dictionary import word_ranks
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.statement_match import subject_of
from kinkeeper.memory.statements.canonical_words import lexicon
from kinkeeper.memory.statements.names import kin
from kinkeeper.memory.statements.statement_reader import read_statement
from kinkeeper.reading.coreference import names_written, root_of
from kinkeeper.reading.times.model import SpanKind, TimeSpan, without_spans
from kinkeeper.reading.times.reader import read

ASPECTS = frozenset(
    stems(
        """
        time day date hour minute start begin finish end hold held take takes taken bring drive collect pick pickup drop
        dropoff fetch get go happen due schedule next place long often usually lesson practice class training course
        session appointment know tell remember say said still need one many much kind sort called name thing
        event events plan planned done family our mr mrs ms anyone anybody someone somebody everyone everybody
        """
    )
)
"""Words that ask for a side of something, or stand beside its name, and do not tell it from anything else."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_OF_A_NAME = 0.5
"""Weight of a member's name: most of what a household knows is about its few members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a question asks for.

    Attributes:
        without_times: Its text without the times in it.
        weights: What it is about: each stem with its weight.
        names: Those of them that are members' names.
        people: Stems of all words for the members it names.
        called: The same, and stems of other names in it.
        period: The days it asks about, if it names any.
    """

    text: str
    without_times: str
    weights: Mapping[str, float]
    names: frozenset[str]
    people: frozenset[str]
    called: frozenset[str]
    spans: Sequence[TimeSpan]
    period: Interval | None

    @property
    def weight(self) -> float:
        """Weight of all it is about; 0 where it only names a time."""
        return sum(self.weights.values())

    def coverage(self, known: Iterable[str]) -> float:
        """Return the share, in [0, 1], of what it is about that words cover, a deed and its doer alike; 0 where it only names a time."""
        if not (weight := self.weight):
            return 0.0
        roots = {*map(root_of, known)}
        return sum(each for stem, each in self.weights.items() if root_of(stem) in roots) / weight


def read_question(text: str, household: Household, *, now: datetime) -> Question:
    """Return what a question asks for.

    Args:
        household: Whose names and zone count.
    """
    local = now.astimezone(household.zone)
    spans = read(text, local, locale=household.locale)
    members = [
        frozenset(stem for word in (each.id, each.name, *each.aliases) for stem in stems(word))
        for each in household.members
    ]
    names = frozenset[str]().union(*members)
    rest = without_spans(text, spans)
    about = [stem for stem in dict.fromkeys(stems(rest)) if stem not in ASPECTS]
    people = frozenset[str]().union(*(each for each in members if each.intersection(about)))
    return Question(
        text=text,
        without_times=rest,
        weights={stem: _OF_A_NAME if stem in names else 1.0 for stem in about},
        names=names.intersection(about),
        people=people,
        called=_other_names(rest) | people,
        spans=spans,
        period=next((_period(span) for span in spans if span.has_date), None),
    )


def _other_names(text: str) -> frozenset[str]:
    """Return the stems of words that are written as names, or stand in no dictionary."""
    found = [*_WORD.finditer(text)]
    return frozenset(
        stem
        for place, word in enumerate(found)
        if (place and word[0][0].isupper()) or word[0].lower() not in word_ranks()
        for stem in stems(word[0])
        if stem not in ASPECTS
    )


def _period(span: TimeSpan) -> Interval:
    """Return the time a span names; of something recurring, of an instant, or of a time of day, its whole day."""
    begin = span.begin.replace(hour=0, minute=0, second=0, microsecond=0)
    if span.kind in {SpanKind.DATE, SpanKind.RANGE} and span.until > span.begin:
        return Interval(span.begin, span.until)
    return Interval(begin, begin.replace(hour=23, minute=59, second=59))


# Which attribute of whom a question asks for: told with a made-up answer, it is read as statements
# are. Pure.

_KEPT = 4_096
_ANSWERS: Final[Mapping[str, Sequence[str]]] = {
    "who": ("Zoltan",),
    "what": ("Zoltan", "something"),
    "which": ("Zoltan",),
    "where": ("in Zoltanville", "at Zoltan"),
    "when": ("on Monday at 5",),
    "how much": ("50",),
    "how many": ("5",),
    "how old": ("5 years old",),
    "how": ("Zoltan",),
    "how often": ("every Monday",),
    "what time": ("at 5",),
    "whose": ("Zoltan",),
}
_WH = r"^(?P<wh>what time|how much|how many|how old|how often|what|which|who|whose|where|when|how)"
_WHO = r"(?P<who>(?:(?:my|our|the) )?(?:[\w.'’-]+ ){0,3}?[\w.'’-]+?)"
_IS = re.compile(
    rf"{_WH}(?: (?P<kind>(?!(?:is|are|was|were|do|does|did)\b)[\w-]+))?(?: (?:is|are|was|were)|['’](?:s|re)) (?P<rest>.+)$",
    re.IGNORECASE,
)
_DOES = re.compile(
    rf"{_WH}(?: (?P<kind>[\w -]+?))? (?:do|does|did|can|will|must|should) {_WHO} (?P<does>[\w-]+)(?P<rest>.*)$",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"^(?:who|what) (?P<rest>\w.+)$", re.IGNORECASE)
_WHETHER = re.compile(
    rf"^(?P<aux>is|are|was|were|does|do|did|can|may|has|have|had) {_WHO} (?P<rest>[\w'’ -]+)$",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"^(?P<who>.+?) (?P<tail>\w+ (?:to|of|about|in|on|at|with|for|from)|called|named|\w{2,}ing)$",
    re.IGNORECASE,
)
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
        (
            r"^\W*(?:so |and |but )?(?:how (?:much|many|old|tall|big|far|long)|what (?:number|size|age)|what (?:did|do|does|will|would) .{1,60} (?:charge|cost|pay|weigh|owe))\b",
            _COUNTED,
        ),
        (r"\b(?:number|pin)\W*$", r"\d"),
        (r"\b(?:what|which) colou?r\b", _COLOURED),
    )
)


class Attribute(NamedTuple):
    """An attribute of somebody or something.

    Attributes:
        subject: Whose: a member id, a name, or "" where nobody tells.
        topic: Words that tell it from others in the same slot.
    """

    subject: str
    slot: str
    topic: frozenset[str]


def is_same(asked: Attribute, told: Attribute) -> bool:
    """Whether what is told is what is asked for."""
    is_of_it = not asked.topic or not told.topic or not asked.topic.isdisjoint(told.topic)
    return asked[:2] == told[:2] and is_of_it


def is_anothers(asked: Attribute, told: Attribute) -> bool:
    """Whether what is told is what is asked for, but of somebody else."""
    is_other = bool(asked.subject and told.subject) and asked.subject != told.subject
    return is_other and is_same(asked, told._replace(subject=asked.subject))


@lru_cache(maxsize=_KEPT)
def asked_of(text: str, household: Household, asker: str | None) -> frozenset[Attribute]:
    """Return what a question may ask for, in several readings; nothing where it is no question we can turn.

    Args:
        asker: Member id of who asks, if known.
    """
    told = (sentence for each in _questions(text) for sentence in _told(each))
    return frozenset(
        found for sentence in told for found in attributes_of(sentence, household, asker)
    )


def attributes_of(text: str, household: Household, speaker: str | None) -> Iterator[Attribute]:
    """Yield what the first clause of a statement tells.

    Args:
        speaker: Member id of who says it, if known.
    """
    subject, _ = subject_of(
        text, speaker=speaker, people=_people(household), guardians=household.guardians
    )
    for reading in read_statement(names_written(text, _people(household).keys() - kin()))[:1]:
        # What somebody is or has may be anything; only a noun says what.
        if reading.is_known or (reading.slot and reading.slot not in lexicon().verbs):
            yield Attribute(
                subject, reading.family if reading.is_known else reading.slot, reading.topic
            )


@lru_cache(maxsize=64)
def _people(household: Household) -> Mapping[str, str]:
    return members_by_name(household)


def lacks_answer(question: str, known: str) -> bool:
    """Whether a question wants a time or an amount, and a text names none."""
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
