"""English words made comparable: contractions opened, forms and synonyms brought to one word."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import Stemmer

from kinkeeper.language.compact import Memo
from kinkeeper.language.text import fold, unaccented

_TOKEN = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|'s(?!\w)|[$£€₹₦]?\d+(?:[.,:/-]\d+)*(?:%|[a-z]+\d*)?|[^\W\d_]+\d+\w*|[^\W_]+(?:['-][^\W_]+)*|[^\w\s]"
)
_CURRENCIES = {"$": "dollar", "£": "pound", "€": "euro", "₹": "rupee", "₦": "naira"}
# "Ida's gone vegan", "Tom's changed his mind": what nobody says of themselves with "is".
_HAS_DONE = (
    r"(?:(?:just|now|already|since|finally|recently) )?(?:(?:gone|been|had|got|come|become|begun|left|quit|decided|joined|retired|passed|started|stopped|taken|given|moved|switched|outgrown|grown)\b|"
    r"(?:changed|put|sold|swapped|dropped|bought|found|lost|finished|made|let|raised|cancelled|booked|broken|hurt)(?= (?:his|her|the|my|our|their|its|an?|up|off|out|to|into)\b))"
)
_CONTRACTIONS = tuple(
    (re.compile(pattern), full)
    for pattern, full in (
        (r"\bcan't\b|\bcannot\b|\bcant\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"\bain't\b", "is not"),
        (r"\b(\w+)n't\b", r"\1 not"),
        (r"\b(do|does|did|is|are|was|were|has|have|would|could|should)nt\b", r"\1 not"),
        (r"\bi'?m\b", "i am"),
        (r"\bive\b", "i have"),
        (r"\b(\w+)'re\b", r"\1 are"),
        (r"\b(\w+)'ve\b", r"\1 have"),
        (r"\b(\w+)'ll\b", r"\1 will"),
        (r"\b(i|you|he|she|we|they|it|who)'d\b", r"\1 would"),
        (rf"(?<=[a-z])'s (?={_HAS_DONE})", " has "),
        (
            r"\b(he|she|it|that|there|here|what|who|where|how|everything|nobody|someone|everyone)'s\b",
            r"\1 is",
        ),
        (r"\blet's\b", "let us"),
        (r"\bgonna\b", "going to"),
        (r"\bgotta\b", "have to"),
        (r"\bwanna\b", "want to"),
        (
            (
                r"(?<=\w)'s (?=(?:an?|the|not|now|no|really|very|also|still|just|called|named|been|got|going|moved|started|changed|allergic|in|at|on|from|"
                r"back|vegan|vegetarian|pregnant|sick|ill|engaged|married|due|over|off|gone|\w{3,}ing)\b)"
            ),
            " is ",
        ),
        (r"\b(?:have|has|is)( not)? got\b(?! to)", r"have\1"),
        (r"(?<=\w)'s(?=\s)|(?<=s)'(?=\s)", " 's"),
    )
)
_MAY_CONTRACT = re.compile(r"'|\b(?:cannot|cant|im|ive|gonna|gotta|wanna|got|\w+nt)\b")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
# "R450", "Rs500": an amount, its money before it in letters.
_AMOUNT = re.compile(r"(?:rs|r|n|ksh|kes|zar|ngn|inr|usd)(\d{2,}(?:[.,]\d+)*|\d)")
_PRESENT_FORMS = frozenset(["am", "is", "are", "has", "does", "goes"])
_NOUNS = frozenset(
    (
        "man",
        "woman",
        "child",
        "person",
        "foot",
        "tooth",
        "mouse",
        "goose",
        "wife",
        "knife",
        "leaf",
        "half",
    )
)
_STEMMER = Stemmer.Stemmer("english", 0)


class Word(NamedTuple):
    """One word of a statement.

    Attributes:
        text: In lower case, contractions opened.
        canon: What stands for it and all that means the same.
    """

    text: str
    canon: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """What the word list knows.

    Attributes:
        canon: By form or stem, what stands for it.
        numbers: Digits of a number word.
        light: Words that no comparison rests on.
        negations: Words that turn a statement round.
        altering: Canonical words that make another value of a noun.
        opposites: By canonical word, what it excludes.
        past_forms: Irregular forms that tell of the past.
        verbs: Canonical verbs.
        trades: Canonical words for what somebody works as.
        times: Canonical words for when something is.
        properties: Canonical nouns of which there is one value at a time.
        weak_verbs: Canonical verbs that only say that somebody has to do with something.
        standing_verbs: Canonical verbs of being somewhere or at some time.
        activities: Canonical words that only say that something is an activity.
        ending_verbs: Canonical words that say that something is over, and nothing of what it is.
        units: Canonical words that count time and name none.
        fillers: Words and marks that add nothing to what is told.
        events: Canonical verbs of what comes about and may last.
        bland: Canonical words that add nothing to what else is said of a thing.
        changing_verbs: Canonical verbs that say that something is elsewhere or otherwise now.
        conditions: Canonical words for what somebody has who may not have something.
        permitted: Canonical words that follow what is possible or allowed.
        measures: Canonical words for what amounts are counted in.
        bars: Slots of what somebody may not have.
    """

    canon: Mapping[str, str]
    numbers: Mapping[str, str]
    light: frozenset[str]
    negations: frozenset[str]
    altering: frozenset[str]
    opposites: Mapping[str, frozenset[str]]
    past_forms: frozenset[str]
    verbs: frozenset[str]
    trades: frozenset[str]
    times: frozenset[str]
    properties: frozenset[str]
    weak_verbs: frozenset[str]
    standing_verbs: frozenset[str]
    activities: frozenset[str]
    ending_verbs: frozenset[str]
    units: frozenset[str]
    fillers: frozenset[str]
    events: frozenset[str]
    bland: frozenset[str]
    changing_verbs: frozenset[str]
    bars: frozenset[str]
    conditions: frozenset[str]
    permitted: frozenset[str]
    measures: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """Return the word list, read once."""
    raw = tomllib.loads(files(__package__).joinpath("data/words.toml").read_text(encoding="utf-8"))
    numbers = {word: line[0] for line in _lines(raw["numbers"]) for word in line[1:]}
    synonyms = _synonyms(raw["synonyms"])
    forms = list(_lines(raw["irregular"]))

    exact = {form: line[0] for line in _lines(raw["exact"]) for form in line}

    def canon(word: str) -> str:
        if word in exact:
            return exact[word]
        stem = _stem(word)
        return numbers.get(word, synonyms.get(stem, stem))

    def canons(block: str) -> frozenset[str]:
        return frozenset(map(canon, block.split()))

    opposites: dict[str, set[str]] = {}
    for one, other in _lines(raw["opposites"]):
        opposites.setdefault(canon(one), set()).add(canon(other))
        opposites.setdefault(canon(other), set()).add(canon(one))
    return Lexicon(
        canon={**synonyms, **{form: canon(line[0]) for line in forms for form in line}, **exact},
        numbers=numbers,
        light=frozenset(raw["light"].split()),
        negations=frozenset(raw["negations"].split()),
        altering=canons(raw["altering"]),
        opposites={word: frozenset(others) for word, others in opposites.items()},
        past_forms=frozenset(
            form
            for first, *others in forms
            for form in others
            if not form.endswith("ing") and form not in _PRESENT_FORMS and first not in _NOUNS
        ),
        verbs=canons(raw["verbs"]),
        trades=canons(raw["trades"]),
        times=canons(raw["times"]),
        properties=canons(raw["properties"]),
        weak_verbs=canons(raw["weak_verbs"]),
        standing_verbs=canons(raw["standing_verbs"]),
        activities=canons(raw["activities"]),
        ending_verbs=canons(raw["ending_verbs"]),
        units=canons(raw["units"]),
        fillers=frozenset(raw["fillers"].split()),
        events=canons(raw["events"]),
        bland=canons(raw["bland"]),
        changing_verbs=canons(raw["changing_verbs"]),
        bars=frozenset(raw["bars"].split()),
        conditions=canons(raw["conditions"]),
        permitted=canons(raw["permitted"]),
        measures=canons(raw["measures"]),
    )


def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word))


def _synonyms(block: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _lines(block):
        stems = [_stem(word) for word in line]
        head = found.get(stems[0], stems[0])
        for stem in stems:
            found.setdefault(stem, head)
    return found


def _lines(block: str) -> Iterator[list[str]]:
    for line in block.splitlines():
        if line.strip():
            yield line.split()


def opened(text: str) -> str:
    """Return a text in lower case with its contractions opened and possessives set apart ("anna 's")."""
    plain = unaccented(fold(text).text)
    if _MAY_CONTRACT.search(plain) is None:
        return plain
    for pattern, full in _CONTRACTIONS:
        plain = pattern.sub(full, plain)
    return plain


def words_of(plain: str) -> tuple[Word, ...]:
    """Return the words and marks of a text.

    Args:
        plain: In lower case, contractions opened.
    """
    spoken = (word for found in _TOKEN.findall(plain) for word in _as_spoken(found))
    return tuple(Word(word, canon_of(word)) for word in spoken)


def _as_spoken(token: str) -> tuple[str, ...]:
    """Return an amount as it is read aloud ("£140" as 140 pound), anything else as it stands."""
    currency = _CURRENCIES.get(token[0]) if len(token) > 1 else None
    return (token,) if currency is None else (token[1:], currency)


def canon_of(word: str) -> str:
    """Return what stands for a word and its synonyms.

    Args:
        word: In lower case.
    """
    return _CANON[word]


def _canon(word: str) -> str:
    known = lexicon()
    for table in (known.numbers, known.canon):
        if word in table:
            return table[word]
    if number := _ORDINAL.fullmatch(word) or _AMOUNT.fullmatch(word):
        return number[1]
    stem = _stem(word)
    return known.canon.get(stem, stem)


_CANON = Memo(_canon)
