"""Finds where a text says that something was done, is being done or will be. Pure; when in doubt, it does.

A model that never did anything can say so in any words, so what is recognised is not the lie but the harmless: after
"I" every verb claims something unless it is listed; a sentence that begins with a deed, a deed in the passive, and
states that only a deed brings about are claims. Questions, offers, conditions and denials are none.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from kinkeeper.language.text import mask_stops
from kinkeeper.memory.finding.terms import stems

_SENTENCE = re.compile(r"[^.!?…\n]+(?:[.!?…]+[\"'”’)\]]*|\n+|$)")
_CLAUSE = re.compile(
    r"[,;:–—()]+\s*|\s-\s|\b(?:and|but|so|then|plus|because|since|while|which)\b\s*", re.IGNORECASE
)
_NO_DENIALS = {
    ("no", "problem"),
    ("no", "worries"),
    ("not", "only"),
    ("no", "longer"),
    ("no", "more"),
}
_DONE_TO = frozenset(("has", "was", "is", "have", "will"))
_TIME = re.compile(r"\d{1,2}(?:am|pm|h|ish)|\d{1,2}h\d\d")
_MARKS = re.compile(
    "[\N{WHITE HEAVY CHECK MARK}\N{HEAVY CHECK MARK}\N{CHECK MARK}\N{BALLOT BOX WITH CHECK}\N{ROCKET}]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of an answer.

    Attributes:
        text: As written, with what follows it up to the next.
        clauses: Its clauses that assert something, each as its words in small letters.
        stated: All clauses that are more than an opinion, advice, a wish or a condition; none of a question.
        disowns: Whether it says that the assistant did not, or cannot, or that nothing was done.
    """

    text: str
    clauses: tuple[tuple[str, ...], ...]
    stated: tuple[tuple[str, ...], ...]
    disowns: bool

    @property
    def stems(self) -> frozenset[str]:
        """Stems of all its words but those of grammar."""
        return frozenset(stems(self.text))


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text in order; joined they are the text."""
    for match in _SENTENCE.finditer(mask_stops(text)):
        yield _read(text[slice(*match.span())])


def is_complete(text: str) -> bool:
    """Whether the last sentence of a text under way has come to its end.

    Args:
        text: The beginning of an answer.
    """
    return re.search(r"[.!?…\n][\"'”’)\]]*\s+$", mask_stops(text)) is not None


def deeds_of(sentence: Sentence) -> frozenset[str]:
    """Return the stems of what a sentence claims to be done; "?" stands for a state that names no deed."""
    found: set[str] = {"?"} if _MARKS.search(sentence.text) else set()
    for clause in sentence.clauses:
        found |= _by_me(clause) | _begun(clause) | _passive(clause)
        said = " ".join(clause).replace("'", " ")
        if any(state.search(said) for state in _lists().states):
            found.add("?")
    return frozenset(found)


def request_deed(text: str) -> bool:
    """Whether a message asks for a deed: it begins with one, or with words that lead to one."""
    return _lists().request.search(" ".join(_words(text.replace("’", "'")))) is not None


def refers(sentence: Sentence) -> bool:
    """Whether a clause speaks of "it", "everything", "they" or "you": of something without naming it."""
    return any({*clause} & _lists().referring and len(clause) > 1 for clause in sentence.stated)


def continues(sentence: Sentence) -> bool:
    """Whether a sentence goes on with what was said before it: begins with "they", "it", "some"."""
    return bool(sentence.stated) and sentence.stated[0][0] in _lists().continuing


def is_personal(text: str) -> bool:
    """Whether a message speaks of its person or of their plans: says "I" or "my", or names a day or time."""
    lists = _lists()
    said = _words(text.replace("’", "'"))
    personal = lists.first_person | lists.personal | lists.affairs
    return any(word in personal or _TIME.fullmatch(word) for word in said)


def names_affairs(sentence: Sentence) -> bool:
    """Whether a sentence asserts something about a day or time of day, the calendar, or what is "yours"."""
    affairs = _lists().affairs
    named = any(
        word.removesuffix("'s") in affairs or _TIME.fullmatch(word)
        for clause in sentence.clauses
        for word in clause
    )
    return named or any(clause[0] in {"your", "yours"} for clause in sentence.clauses)


def _read(text: str) -> Sentence:
    is_asked = text.rstrip().rstrip("\"'”’)]").endswith("?")
    plain = text.replace("’", "'").replace("‘", "'")
    clauses = [tuple(_words(part)) for part in _CLAUSE.split(plain)]
    asserted = [
        clause
        for clause in clauses
        if clause
        and not (is_asked and clause[0] in _lists().asking and not _presumes(clause))
        and clause[0] not in _lists().conditions
        and not _is_offer(clause)
        and not _is_denied(clause)
    ]
    stated = [
        clause
        for clause in clauses
        if clause and not _is_offer(clause) and not _disowns(clause) and not _is_opinion(clause)
    ]
    is_question = is_asked and bool(clauses[0]) and clauses[0][0] in _lists().asking
    return Sentence(
        text=text,
        clauses=tuple(asserted),
        stated=() if is_question else tuple(stated),
        disowns=any(_disowns(clause) for clause in clauses),
    )


def _presumes(clause: tuple[str, ...]) -> bool:
    """Whether a question takes a deed of the assistant for granted: "do you like that I booked it"."""
    lists = _lists()
    mine = [at for at, word in enumerate(clause) if word in lists.first_person]
    return any(clause[at - 1] not in lists.leading for at in mine if at)


def _disowns(clause: tuple[str, ...]) -> bool:
    """Whether a clause says that the assistant does or did not, or that nothing was done."""
    if not _is_denied(clause):
        return False
    by_me = clause[0] in _lists().first_person
    return by_me or bool(clause[0] in {"nothing", "none"} and clause[1:2] and clause[1] in _DONE_TO)


def _is_opinion(clause: tuple[str, ...]) -> bool:
    said = " ".join(clause)
    return clause[0] in _lists().conditions or any(
        opinion.match(said) for opinion in _lists().opinions
    )


def _is_offer(clause: tuple[str, ...]) -> bool:
    """Whether a clause says what the assistant could do: "I can add it"."""
    lists = _lists()
    return clause[0] in lists.first_person and {*clause[:2]} & lists.possibilities != set()


def _words(text: str) -> list[str]:
    """Return words with their contractions whole; the word `words` cuts "s" off keeps it here."""
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower())


def _is_denied(clause: tuple[str, ...]) -> bool:
    """Whether the clause's first verb is denied: "I have not sent it", "nothing was sent"."""
    place = next((at for at, word in enumerate(clause) if word in _lists().denials), None)
    if place is None or clause[place : place + 2] in _NO_DENIALS:
        return False
    before = clause[:place]
    return not any(_verb(word) in _lists().deeds for word in before if word not in _lists().passing)


def _by_me(clause: tuple[str, ...]) -> set[str]:
    """Return the verbs after "I" that do something."""
    found = set()
    for at, word in enumerate(clause):
        if word in _lists().first_person and (verb := _after_me(word, clause[at + 1 :])):
            found.add(verb)
    return found


def _after_me(pronoun: str, rest: tuple[str, ...]) -> str | None:
    lists = _lists()
    if pronoun in _lists().possibilities or (
        rest and rest[0] in _lists().possibilities | _lists().denials
    ):
        return None
    is_state = pronoun in {"i'm", "im", "we're"} or bool(
        rest and rest[0] in {"am", "are", "was", "were"}
    )
    for word in rest:
        if word in _lists().denials:
            return None
        if is_state and word in lists.harmless_states:
            return None
        if word not in _lists().passing:
            verb = _verb(word)
            return None if verb in lists.harmless else verb
    return None


def _begun(clause: tuple[str, ...]) -> set[str]:
    """Return the deed that a clause without a subject begins with: "booked for Friday", "all sorted"."""
    for word in clause:
        if word not in _lists().openers:
            return {_verb(word)} if _is_participle(word) else set()
    return set()


def _passive(clause: tuple[str, ...]) -> set[str]:
    """Return the deeds that were done to something: "is now booked", "got moved", and whatever "has been"."""
    found, follows = set(), False
    for before, word in zip(("", *clause), clause, strict=False):
        if before in _lists().perfect and word == "been":
            found.add("be")
        elif word in _lists().being:
            follows = True
        elif follows and _is_participle(word):
            found.add(_verb(word))
            follows = False
        elif follows and word not in _lists().passing and not word.endswith("ly"):
            follows = False
    return found


def _is_participle(word: str) -> bool:
    verb = _verb(word)
    is_form = word.endswith(("ed", "ing")) or word in _lists().irregular
    return verb in _lists().deeds and is_form


@lru_cache(maxsize=8192)
def _verb(word: str) -> str:
    base = _lists().irregular.get(word, word)
    return next(iter(stems(base)), base)


@dataclass(frozen=True, slots=True)
class _Lists:
    asking: frozenset[str]
    conditions: frozenset[str]
    first_person: frozenset[str]
    denials: frozenset[str]
    possibilities: frozenset[str]
    passing: frozenset[str]
    openers: frozenset[str]
    being: frozenset[str]
    referring: frozenset[str]
    affairs: frozenset[str]
    perfect: frozenset[str]
    personal: frozenset[str]
    continuing: frozenset[str]
    leading: frozenset[str]
    harmless: frozenset[str]
    harmless_states: frozenset[str]
    deeds: frozenset[str]
    states: tuple["re.Pattern[str]", ...]
    opinions: tuple["re.Pattern[str]", ...]
    irregular: dict[str, str]
    request: "re.Pattern[str]"


@cache
def _lists() -> _Lists:
    data = tomllib.loads((files(__package__) / "data" / "claims.toml").read_text(encoding="utf-8"))
    return _Lists(
        **{name: frozenset(text.split()) for name, text in data["words"].items()},
        harmless=_stems_of(data["harmless"]),
        deeds=_stems_of(data["deeds"]),
        states=tuple(map(re.compile, data["states"])),
        opinions=tuple(map(re.compile, data["opinions"])),
        irregular=data["irregular"],
        request=re.compile(
            data["request"].strip().replace("<deed>", "(?:" + "|".join(data["deeds"].split()) + ")")
        ),
    )


def _stems_of(text: str) -> frozenset[str]:
    return frozenset(next(iter(stems(word)), word) for word in text.split())
