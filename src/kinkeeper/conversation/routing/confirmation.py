"""What a message says to an open question: yes, no, yes-but, or nothing that counts as a decision. Pure."""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files
from itertools import product

from kinkeeper.conversation.model import Confirmation
from kinkeeper.conversation.routing.clause_words import Clause, clauses_of, social_head, word_lists
from kinkeeper.language.text import TokenKind, tokenise
from kinkeeper.reading.phrases import ASKED, phrase_book

# The words of consent and refusal, and what they make of a clause. Pure.


class Said(StrEnum):
    """What a phrase says; `OTHER` is a word of no phrase."""

    YES = "yes"
    WEAK = "weak"
    NO = "no"
    UNDO = "undo"
    HOLD = "hold"
    CORRECTS = "corrects"
    DIFFERS = "differs"
    FILLER = "filler"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentWords:
    """What people answer when they are asked whether something is to be done.

    Attributes:
        said: What each phrase says.
        closed: Those that count only where a clause ends with them.
        longest: Words of the longest phrase.
        fillers: Say nothing either way.
        changing: Verbs that change what is waiting.
        leading: Stand before a value: "at", "to".
        values: Mean a person or a moment without a name or number.
        including: Verbs that change it with a value alone.
        curt: As they are spelled, before they are read: a yes of these alone is a weak one.
        kind: Make a clause a kindness, if it is a courtesy at all.
    """

    said: Mapping[Clause, Said]
    closed: frozenset[Clause]
    longest: int
    fillers: frozenset[str]
    changing: frozenset[str]
    changed: frozenset[str]
    leading: frozenset[str]
    values: frozenset[str]
    including: frozenset[str]
    curt: frozenset[str]
    kind: frozenset[str]


_CLOSED = "$"
_ORDER = (Said.CORRECTS, Said.HOLD, Said.NO, Said.UNDO, Said.YES, Said.WEAK, Said.DIFFERS)


@cache
def consent_words() -> ConsentWords:
    """Return the words of the data file; read once."""
    raw = tomllib.loads(
        files(__package__).joinpath("data/confirmation.toml").read_text(encoding="utf-8")
    )
    said: dict[Clause, Said] = {}
    closed: set[Clause] = set()
    for kind in reversed(_ORDER):
        for phrase, is_closed in _spelled_out(raw[kind.value]):
            said[phrase] = kind
            (closed.add if is_closed else closed.discard)(phrase)
    lists = {
        name: frozenset(raw[name].split())
        for name in ("changing", "changed", "leading", "values", "including", "curt", "kind")
    }
    return ConsentWords(
        said=said,
        closed=frozenset(closed),
        longest=max(map(len, said)),
        fillers=frozenset(raw["filler"].split()),
        **lists,
    )


def _spelled_out(lines: str) -> Iterator[tuple[Clause, bool]]:
    for line in lines.strip().splitlines():
        words = line.split()
        is_closed = words[-1] == _CLOSED
        choices = [_choices(word) for word in (words[:-1] if is_closed else words)]
        for phrase in product(*choices):
            yield tuple(" ".join(phrase).split()), is_closed


def _choices(word: str) -> list[str]:
    """Return what a word of a line stands for; one in brackets may be left out."""
    chosen = [each.replace("_", " ") for each in word.strip("()").split("|")]
    return [*chosen, ""] if word.startswith("(") else chosen


def read_clause(clause: Clause) -> Iterator[Said]:
    """Yield what the phrases of a clause say, and each word of none.

    Args:
        clause: Canonical words.
    """
    for _, said in spoken(clause[:-1] if clause[-1] == ASKED else clause):
        yield said


def spoken(words: Clause) -> Iterator[tuple[Clause, Said]]:
    """Yield the phrases of a clause, and each word of none, with what they say.

    Args:
        words: Of the clause, without its mark of a question.
    """
    at = 0
    while at < len(words):
        length, said = _longest(words, at)
        yield words[at : at + length], said
        at += length


def _longest(words: Clause, at: int) -> tuple[int, Said]:
    phrases = consent_words()
    for length in range(min(phrases.longest, len(words) - at), 0, -1):
        phrase = words[at : at + length]
        if phrase in phrases.said and (phrase not in phrases.closed or _ends(words, at + length)):
            return length, phrases.said[phrase]
    return 1, Said.FILLER if words[at] in phrases.fillers else Said.OTHER


def _ends(words: Clause, at: int) -> bool:
    """Whether nothing but fillers follows."""
    return all(word in consent_words().fillers for word in words[at:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a message decides about an open question.

    Attributes:
        kind: Yes, no, or yes with a change.
        is_weak: Whether it may be mere politeness; enough where little is at stake.
    """

    kind: Confirmation
    is_weak: bool = False


_PLACEHOLDERS = frozenset({"<number>", "<name>", "<adult>"})
_POLITE = frozenset({"can", "could", "would", "will"})
_WHY_NOT = ("why", "not")
_DECIDES = frozenset({Said.YES, Said.NO, Said.WEAK})
_EMOJI = {"accept": Said.WEAK, "decline": Said.NO, "doubt": Said.HOLD}
_FRIENDLY, _FRIENDLY_CHANCE = "acknowledge", 0.7
_DENYING = frozenset(
    {
        "not",
        "no",
        "never",
        "nothing",
        "don't",
        "won't",
        "can't",
        "isn't",
        "doesn't",
        "didn't",
        "couldn't",
    }
)
_REACH = 3
"""Words within which a verb's object follows it."""

_SIGNS = frozenset({TokenKind.PUNCTUATION, TokenKind.EMOJI})
_ARTICLES = frozenset({"the", "a", "an", "that", "this", "it", "my", "our"})
_DOUBTFUL = frozenset("🙄😒🤷🤔😏🙃😬")
_SUBJECTS = frozenset(
    {
        "i",
        "i'm",
        "i'll",
        "i've",
        "i'd",
        "we",
        "we're",
        "we'll",
        "we've",
        "she",
        "he",
        "they",
        "it",
        "it's",
        "that",
        "that's",
        "she's",
        "he's",
        "this",
        "my",
        "our",
        "the",
        "they're",
        "no",
    }
)
_QUOTED = re.compile(r"""^\s*(?:>|\|\s|```)|\A\s*["“”„«][^"“”„«»]*["“”»]\W*\Z""", re.MULTILINE)
"""Marks of lines that somebody else wrote, and a message that is nothing but a quotation."""

_WISHES = frozenset({"need", "want", "like", "can", "could", "please"})


def read_confirmation(
    text: str, *, asked: str = "", names: Collection[str] = ()
) -> Decision | None:
    """Return what a message decides about an open question; None where it decides nothing for sure.

    Ambiguity is no consent: a yes with anything beside it that is no filler, a condition, a doubt
    or another wish is no decision, and neither is what is only quoted. The later of two decisions counts where the words say so.

    Args:
        asked: The open question, or a line about what waits; "" where it is not known. A yes may repeat its words.
        names: What the assistant is called.
    """
    if _QUOTED.search(text) is not None:
        return None
    clauses = clauses_of(text, names)
    shown = [token.text for token in tokenise(text) if token.kind is TokenKind.EMOJI]
    if any(sign in _DOUBTFUL for symbol in shown for sign in symbol):
        return None
    if not clauses:
        return _shown(shown)
    agrees = next(read_clause(clauses[0])) is Said.YES
    undoes = agrees or not word_lists()["undoing"].isdisjoint(_question(asked))
    said = [[*_heard(clause, undoes=undoes)] for clause in clauses]
    if agrees and _repeats(text, asked):
        return Decision(kind=Confirmation.YES, is_weak=_is_curt(text))
    if _wants_change(clauses, said):
        return Decision(kind=Confirmation.EDIT)
    if any(_asks(clause) for clause in clauses):
        return None
    decided = _decided([each for own in said for each in own], clauses)
    if decided is not None and decided.kind is Confirmation.YES and _is_curt(text):
        return replace(decided, is_weak=True)
    return decided


def agrees(text: str) -> bool:
    """Return whether a message begins with a plain yes, whatever it wants besides."""
    clauses = clauses_of(text, ())
    return bool(clauses) and next(read_clause(clauses[0])) is Said.YES


def refuses(text: str) -> bool:
    """Return whether a message says no or drops the matter in so many words; hesitating is neither."""
    said = {word for clause in clauses_of(text, ()) for word in clause}
    lists = word_lists()
    is_dropped = not said.isdisjoint(lists["dismissing"] | lists["undoing"])
    return is_dropped or any(Said.NO in read_clause(clause) for clause in clauses_of(text, ()))


def hesitates(text: str) -> bool:
    """Return whether a message only puts an answer off: "hang on", "not yet", "let me think"."""
    said = {each for clause in clauses_of(text, ()) for each in read_clause(clause)}
    return Said.HOLD in said and said.isdisjoint(_DECIDES | {Said.OTHER})


def rethinks(text: str) -> bool:
    """Return whether a message denies or sets right what was said before, whatever else it says."""
    said = {each for clause in clauses_of(text, ()) for each in read_clause(clause)}
    return not said.isdisjoint({Said.NO, Said.CORRECTS, Said.DIFFERS})


def _is_curt(text: str) -> bool:
    words = {token.text for token in tokenise(text) if token.kind not in _SIGNS}
    return words <= consent_words().curt


def _shown(symbols: Sequence[str]) -> Decision | None:
    groups = {_EMOJI.get(phrase_book().emoji.get(symbol, "")) for symbol in symbols}
    if groups == {Said.WEAK}:
        return Decision(kind=Confirmation.YES, is_weak=True)
    return Decision(kind=Confirmation.NO) if groups == {Said.NO} else None


def _question(asked: str) -> frozenset[str]:
    return frozenset(token.text for token in tokenise(asked))


def _heard(clause: Clause, *, undoes: bool) -> Iterator[Said]:
    """Yield what the phrases of a clause say; "cancel it" refuses, unless that may be what was asked."""
    for said in read_clause(clause):
        yield (Said.HOLD if undoes else Said.NO) if said is Said.UNDO else said


def _repeats(text: str, asked: str) -> bool:
    """Whether a message that begins with a yes has no word beside it that is not in the question."""
    known = consent_words()
    single = {
        phrase[0] for phrase, said in known.said.items() if len(phrase) == 1 and said is Said.YES
    }
    allowed = single | known.fillers | _question(asked) | _ARTICLES
    words = [token for token in tokenise(text) if token.kind not in _SIGNS]
    return (
        "?" not in text
        and bool(asked)
        and all(
            token.text in allowed or phrase_book().respell(token)[0] in single for token in words
        )
    )


def _asks(clause: Clause) -> bool:
    return clause[-1] == ASKED and clause[-3:-1] != _WHY_NOT


def _wants_change(clauses: Sequence[Clause], said: Sequence[Sequence[Said]]) -> bool:
    """Whether the message says what should be different about what is waiting."""
    head = said[0][0]
    for number, (clause, own) in enumerate(zip(clauses, said, strict=True)):
        if Said.OTHER not in own and Said.DIFFERS not in own and not _has_value(clause):
            continue
        if _asks_back(clause) or any(
            _is_about_else(each, before)
            for each, before in zip(said[:number], clauses, strict=False)
        ):
            continue
        follows = number > 0 or own[0] in _DECIDES
        if _changes(clause, own, follows=follows and head in _DECIDES):
            return True
    return False


def _asks_back(clause: Clause) -> bool:
    """Whether a clause asks something, and not only politely for a change."""
    if not word_lists()["interrogatives"].isdisjoint(clause):
        return True
    return clause[-1] == ASKED and clause[0] not in _POLITE


def _is_about_else(said: Sequence[Said], clause: Clause) -> bool:
    """Whether a clause before speaks of something else, so that what follows may be about that."""
    return Said.OTHER in said and not _is_value(clause) and not _is_friendly(clause)


def _changes(clause: Clause, own: Sequence[Said], *, follows: bool) -> bool:
    phrases = consent_words()
    words = set(clause)
    if Said.DIFFERS in own and (follows or _has_value(clause)) and Said.HOLD not in own:
        return (clause[-1] != ASKED and Said.OTHER in own) or _has_value(clause)
    if words & phrases.changing and "don't" not in words and _names_part(clause):
        return True
    if follows and words & phrases.including and _is_value(clause, phrases.including):
        return True
    return _is_value(clause) and Said.HOLD not in own


def _names_part(clause: Clause) -> bool:
    """Whether a part of what waits is named, and what it should become: "make it six", "add Bob to it"."""
    phrases = consent_words()
    verb = next(place for place, word in enumerate(clause) if word in phrases.changing)
    reach = range(verb + 1, min(verb + 1 + _REACH, len(clause)))
    near = [place for place in reach if clause[place] in phrases.changed]
    if near and near[0] < len(clause) - 1:
        return True
    return _has_value(clause) and bool(near or clause[-1] in phrases.changed)


def _has_value(clause: Clause) -> bool:
    return any(word in _PLACEHOLDERS or word in consent_words().values for word in clause)


def _is_value(clause: Clause, also: frozenset[str] = frozenset()) -> bool:
    """Whether a clause is a time, a day or a name and nothing else: "at five", "not Friday, Sunday"."""
    phrases = consent_words()
    known = phrases.values | phrases.leading | _PLACEHOLDERS | also
    return clause[-1] != ASKED and _has_value(clause) and all(word in known for word in clause)


def _decided(said: Sequence[Said], clauses: Sequence[Clause]) -> Decision | None:
    decisions = [each for each in said if each in _DECIDES]
    if not decisions or Said.DIFFERS in said:
        return None
    if Said.OTHER in said:
        return _declined(said, clauses)
    last = _latest(said)
    if last is None:
        return None
    if last is Said.NO:
        return Decision(kind=Confirmation.NO)
    return Decision(kind=Confirmation.YES, is_weak=last is Said.WEAK)


def _latest(said: Sequence[Said]) -> Said | None:
    """Return the decision that counts, of several; None where they contradict each other."""
    if Said.CORRECTS in said:
        place = max(number for number, each in enumerate(said) if each is Said.CORRECTS)
        said = said[place + 1 :]
    if Said.HOLD in said:
        return None
    found = {each for each in said if each in _DECIDES}
    if found == {Said.YES, Said.WEAK}:
        return Said.YES
    decisions = [each for each in said if each in _DECIDES]
    if Said.NO in found and len(found) > 1:
        # "yeah no" is a no; "no yes" is anybody's guess.
        return Said.NO if decisions[-1] is Said.NO else None
    return decisions[-1] if decisions else None


def _declined(said: Sequence[Said], clauses: Sequence[Clause]) -> Decision | None:
    """Read a message with words of no phrase: a no may have a reason, a yes must have nothing beside it.

    A clause of its own that is only friendly counts as nothing.
    """
    rest = [
        clause
        for clause in clauses
        if Said.OTHER in read_clause(clause) and not _is_friendly(clause)
    ]
    if not rest:
        return _decided([each for each in said if each is not Said.OTHER], clauses)
    if said[0] is not Said.NO or Said.YES in said or Said.HOLD in said:
        return None
    return Decision(kind=Confirmation.NO) if all(map(_is_reason, rest)) else None


def _is_friendly(clause: Clause) -> bool:
    """Whether a clause decides nothing, denies nothing, and is social."""
    if not _DECIDES.isdisjoint(read_clause(clause)) or not _DENYING.isdisjoint(clause):
        return False
    if consent_words().kind.isdisjoint(clause):
        return False
    return social_head().chances(clause)[_FRIENDLY] > _FRIENDLY_CHANCE


def _is_reason(clause: Clause) -> bool:
    """Whether a clause tells why, and asks for nothing."""
    return clause[0] in _SUBJECTS and not _WISHES & set(clause)
