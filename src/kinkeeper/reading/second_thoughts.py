"""Replies that mean nothing without the statement before them, and set it right: "no wait she can't", "sorry, that was Leo". Pure."""

import re
import tomllib
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from kinkeeper.language.text import tokenise
from kinkeeper.reading.coreference import roots_of
from kinkeeper.reading.phrases import everyday_spellings
from kinkeeper.reading.replies import is_question

_LONGEST = 240
_LONGEST_VALUE, _LONGEST_NARROWING = 4, 10  # words
_LONGEST_TEXT = 2_000
_END = re.compile(r"[.!?…]+\s+|\n+|\s[–—-]+\s")
_CLAUSE = re.compile(r"[,;.]\s+")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_NEGATED = re.compile(r"\b(?:\w+n't|not|never|cannot|no longer)\b")
_SAYS_NO = re.compile(r"\b(?:says?|said) no\b")
_BARE_NOT = re.compile(
    r"\b(is|are|was|were|does?|did|has|have|had|could|should|would|must|ca|wo)nt\b"
)
_BARE_IS = re.compile(r"\b(he|she|that|it)s (?=not\b)|\b(they)re (?=not\b)")
_POINTS_BACK = re.compile(r"\b(?:it|them|that|any)\b")
_GENDERED = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
_IN_FULL = {"'s": "is", "'re": "are", "'m": "am", "ca": "can", "cannot": "can", "wo": "will"}
_AMOUNT = re.compile(r"\b(\d+(?:[.,]\d+)?) ?([a-z]+)\b")
_CAPITAL = re.compile(r"\b[A-Z](?=[a-z])")
_IT_IS = re.compile(
    r"(?:it|that|this)(?:'s| is| was| isn't| wasn't)(?: (?:not|actually|really|just|only|all))* (?P<who>[^\W_]+)"
)
_OF_IT = re.compile(r"(?:it|that|this)(?:'s| is| was|n't)?\b")


class _Reply(NamedTuple):
    """A reply without what leads it in.

    Attributes:
        rest: In lower case, as it is spelt in full.
        is_signed: Whether its lead says that something before was wrong, or may be.
        is_strong: Whether it says that it was.
        is_taken: Whether it takes that back, whatever follows.
        is_instead: Whether another value follows, or a name that is written as one.
        is_plain: Whether its lead is a mere "no".
    """

    rest: str
    is_signed: bool
    is_strong: bool
    is_taken: bool
    is_instead: bool
    is_plain: bool


def sets_right(said: str, told: str, names: Collection[str] = ()) -> bool:
    """Whether a reply denies, narrows or replaces what the statement right before it told.

    Args:
        said: A message or sentence, verbatim; one of more than 240 characters means something by itself.
        told: The statement, verbatim.
        names: Words for people who are known, in small letters.
    """
    if len(said) > _LONGEST or is_question(tokenise(said), said, names):
        return False
    reply, before = _reply(said), {*_WORD.findall(_plain(told))}
    if not reply.rest:
        return takes_back(said)
    if (verb := _forms()["ellipsis"].fullmatch(reply.rest)) is not None:
        is_denied = is_negated(verb["verb"])
        is_other = any(is_denied != is_negated(each) for each in _CLAUSE.split(told))
        return is_other and (is_denied or reply.is_signed)
    if _forms()["narrowing"].match(reply.rest):
        return len(reply.rest.split()) <= _LONGEST_NARROWING
    return (
        says_otherwise(reply.rest, told)
        or _has_grown(reply, before, names)
        or _replaces(reply, before, names)
        or _goes_on(reply, before)
    )


def is_negated(text: str) -> bool:
    """Whether a statement has a "not" or "never"."""
    return _NEGATED.search(_plain(text)) is not None


def says_otherwise(said: str, told: str) -> bool:
    """Whether one of two statements has all that the other is about, and denies it."""
    if is_negated(said) == is_negated(told):
        return False
    words, others = _about(_plain(said)), _about(_plain(told))
    return min(len(words), len(others)) > 1 and (words <= others or others <= words)


def _about(plain: str) -> frozenset[str]:
    """Return the roots of the words that tell what a statement is about."""
    said = {_bare(each) for each in _WORD.findall(plain) if not each.endswith("n't")}
    return roots_of(said - _light())


def _has_grown(reply: _Reply, before: AbstractSet[str], names: Collection[str]) -> bool:
    """Whether a reply tells another number of now of whom the statement has one: "she's a 36 now"."""
    words = {_bare(each) for each in _WORD.findall(reply.rest)}
    said, told = (words & {*names}, {_bare(each) for each in before})
    if not (said <= told if said else _GENDERED.search(reply.rest.replace("'", " "))):
        return False
    one, other = ({each for each in some if each[0].isdigit()} for some in (before, words))
    is_now = _forms()["grown"].search(reply.rest) is not None
    return len(one) == len(other) == 1 and one != other and is_now


def has_grown(said: str, told: str, names: Collection[str]) -> bool:
    """Whether a statement tells another amount of now, in the same unit and of the same people: "Leo is 43kg now".

    Args:
        names: Words for people who are known, in small letters.
    """
    one, other = (dict(map(reversed, _AMOUNT.findall(_plain(each)))) for each in (said, told))
    who, whose = (
        {_bare(each) for each in _WORD.findall(_plain(text))} & {*names} for text in (said, told)
    )
    is_now = _forms()["grown"].search(_plain(said)) is not None
    return (
        is_now
        and len(one) == 1
        and one.keys() == other.keys()
        and one != other
        and who == whose != set()
    )


def takes_back(said: str) -> bool:
    """Whether a reply says that the statement before it is wrong, and nothing else; a mere "no" may be about anything."""
    reply = _reply(said)
    return not reply.rest and reply.is_strong and not reply.is_plain


def _replaces(reply: _Reply, before: AbstractSet[str], names: Collection[str]) -> bool:
    """Whether a reply names another person or value: "it was Leo", "not Mia, Leo", "sorry, 36"."""
    words = [each.removesuffix("'s") for each in _WORD.findall(reply.rest)]
    is_of_it = _OF_IT.match(reply.rest) is not None
    is_clause = not is_of_it and (
        _forms()["auxiliary"].search(reply.rest) is not None
        or _forms()["subject"].match(reply.rest) is not None
    )
    if is_clause or len(words) > 2 * _LONGEST_VALUE:
        return False
    people = {each for each in words if each in names}
    others = people - before
    if is_of_it:
        is_of_same = is_negated(reply.rest) and not before.isdisjoint({*words} - _light())
        named = _IT_IS.match(reply.rest)
        return is_of_same or (named is not None and named["who"] in others)
    if (old := value_left(reply.rest)) is not None:
        return old in before
    if is_negated(reply.rest):
        return bool(others) and not before.isdisjoint({*words} - _light())
    is_value = reply.is_instead or bool(others) or any(map(str.isdigit, reply.rest))
    is_value = is_value and people <= others  # else whoever was told of does something else
    return reply.is_signed and is_value and len(words) <= _LONGEST_VALUE


def _goes_on(reply: _Reply, before: AbstractSet[str]) -> bool:
    """Whether a reply tells something of whom or what was told of, in the place of that."""
    is_of_somebody = _forms()["subject"].match(reply.rest) is not None
    is_of_same = not before.isdisjoint({*_WORD.findall(reply.rest)} - _light())
    if reply.is_taken:
        return is_of_somebody or is_of_same or _GENDERED.search(reply.rest) is not None
    if reply.is_strong and (is_negated(reply.rest) or _SAYS_NO.search(reply.rest)):
        return True
    is_of_it = _POINTS_BACK.search(reply.rest.partition(" ")[2]) is not None
    is_about_it = is_of_it or is_of_same or _OF_IT.match(reply.rest) or is_negated(reply.rest)
    return is_of_somebody and reply.is_signed and bool(reply.is_strong or is_about_it)


def value_left(said: str) -> str | None:
    """Return which value a reply replaces, and does nothing else: "carrots" of "not carrots, peas"; None where it does not."""
    value = _forms()["instead_of"].fullmatch(_reply(said).rest)
    return value["old"] if value is not None else None


def put_right(told: str, said: str, names: Collection[str] = ()) -> str | None:
    """Return a statement as a reply sets it right; None where only both together tell it.

    Args:
        told: The statement, verbatim.
        said: The reply, verbatim.
        names: Words for people who are known, in small letters.
    """
    reply = _reply(said)
    if (verb := _forms()["ellipsis"].fullmatch(reply.rest)) is not None:
        return _turned(told, verb)
    if says_otherwise(reply.rest, told) and _about(_plain(told)) <= _about(reply.rest):
        return _as_written(said)
    is_other = _replaces(reply, {*_WORD.findall(_plain(told))}, names)
    return _of_another(told, reply.rest, names) if is_other else None


def as_set_right(text: str, names: Collection[str] = ()) -> str:
    """Return a text with each statement as it is set right in what follows it, where it is sure how.

    Args:
        text: A message, verbatim.
        names: Words for people who are known, in small letters.
    """
    told = list[str]()
    for said in _sentences(text):
        if told and sets_right(said, told[-1], names):
            told[-1] = put_right(told[-1], said, names) or f"{told[-1]}. {said}"
        else:
            told.append(said)
    return ". ".join(told)


def is_set_right(text: str) -> bool:
    """Whether a text goes back on what it tells itself, so that its parts do not hold alone."""
    said = _sentences(text)
    return any(sets_right(each, before) for before, each in pairwise(said))


def _sentences(text: str) -> list[str]:
    return [each for part in _END.split(text[:_LONGEST_TEXT]) if (each := part.strip(" .!?"))]


def without_lead(said: str) -> str:
    """Return a reply in small letters without what leads it in; empty where it says nothing else."""
    return _reply(said).rest


def is_of_another(said: str) -> bool:
    """Whether a reply only says of whom or what the statement is: "it was Leo", "that wasn't Mia"."""
    return _OF_IT.match(_reply(said).rest) is not None


def _as_written(said: str) -> str:
    """Return a reply as it is written without what leads it in."""
    lead = _forms()["lead"].match(said.lower().replace("’", "'"))
    return said[lead.end() :] if lead is not None else said


def is_denial(said: str) -> bool | None:
    """Whether a reply says that something is not so; None where it says of it neither that nor the opposite."""
    rest = _reply(said).rest
    verb = _forms()["ellipsis"].fullmatch(rest)
    if verb is None:
        is_clause = _forms()["subject"].match(rest) is not None and not is_of_another(said)
        return True if is_clause and is_negated(rest) else None
    return is_negated(verb["verb"])


def _turned(told: str, verb: re.Match[str]) -> str | None:
    """Return a statement with its one auxiliary denied, or no longer, and what the reply adds."""
    said = verb["verb"].removesuffix(" not").removesuffix("n't")
    name = _IN_FULL.get(said, said)
    found = [
        *re.finditer(
            rf"\b{_denied(name)}|\b{name}\b(?: not\b)?", told.replace("’", "'"), re.IGNORECASE
        )
    ]
    if len(found) != 1:
        return None
    is_denied = is_negated(verb["verb"])
    new = _denied(name) if is_denied else name
    right = f"{told[: found[0].start()]}{new}{told[found[0].end() :]}".rstrip(" .!")
    more = (verb["more"] or "").strip(" ,;.–-")
    return f"{right}, {more}" if more else right


def _denied(name: str) -> str:
    return {"can": "can't", "will": "won't", "am": "am not", "may": "may not"}.get(
        name, f"{name}n't"
    )


def _of_another(told: str, rest: str, names: Collection[str]) -> str | None:
    """Return a statement told of another person; None where it names several, or a pronoun in it means the first."""
    found = [each for each in _WORD.finditer(told) if _bare(each[0]) in names]
    others = {_bare(each) for each in _WORD.findall(rest)} & {*names} - {
        _bare(each[0]) for each in found
    }
    if len(found) != 1 or len(others) != 1 or _GENDERED.search(told):
        return None
    (new,), (old,) = others, found
    return f"{told[: old.start()]}{new.title()}{told[old.start() + len(_bare(old[0])) :]}"


def _bare(word: str) -> str:
    return word.lower().replace("’", "'").removesuffix("'s")


@lru_cache(maxsize=256)
def _reply(said: str) -> _Reply:
    plain, forms = _plain(said), _forms()
    lead = forms["lead"].match(plain)
    begun = lead[0] if lead is not None else ""
    is_taken = forms["taken"].search(begun) is not None
    is_strong = is_taken or forms["strong"].search(begun) is not None
    return _Reply(
        rest=plain[len(begun) :].strip(" ,.!;:–—-"),
        is_signed=is_strong or forms["weak"].search(begun) is not None,
        is_strong=is_strong,
        is_taken=is_taken,
        is_instead=forms["instead"].search(begun) is not None
        or _CAPITAL.search(_as_written(said)) is not None,
        is_plain=forms["plain"].fullmatch(begun) is not None,
    )


def _plain(text: str) -> str:
    spellings, said = everyday_spellings(), " ".join(text.lower().replace("’", "'").split())
    spelt = _WORD.sub(lambda found: spellings.get(found[0], found[0]), said)
    return _BARE_IS.sub(
        lambda found: f"{found[1]}'s " if found[1] else f"{found[2]}'re ",
        _BARE_NOT.sub(r"\1n't", spelt),
    )


@cache
def _light() -> frozenset[str]:
    return frozenset(_data()["light"].split())


@cache
def _data() -> Mapping[str, str]:
    path = files("kinkeeper.reading.data") / "retraction.toml"
    data: Mapping[str, str] = tomllib.loads(path.read_text(encoding="utf-8"))["reply"]
    return data


@cache
def _forms() -> Mapping[str, re.Pattern[str]]:
    data = {name: "".join(each.strip("\n").split("\n")) for name, each in _data().items()}
    verb = rf"(?:(?:{data['auxiliary']})(?: not|n't)?|(?:ca|wo)n't|cannot|'(?:s|re|m)(?: not)?)"
    tail = (
        rf"(?:\W+(?:{data['closing']}))*(?P<more>\W+(?:{data['condition']})\b.*|\s*[,;.–—-]+ .*)?"
    )
    return {
        "lead": re.compile(
            rf"\W*(?:(?:{data['taken']}|{data['filler']}|{data['strong']}|{data['weak']})(?:[\s,.:;!?–—-]+|$))*"
        ),
        "taken": re.compile(rf"\b(?:{data['taken']})\b"),
        "strong": re.compile(rf"\b(?:{data['strong']})\b"),
        "plain": re.compile(r"\W*(?:no+|nope|nah)\W*"),
        "instead": re.compile(rf"\b(?:{data['instead']})\b"),
        "weak": re.compile(rf"\b(?:{data['weak']})\b"),
        "ellipsis": re.compile(rf"(?:{data['subject']})(?: |(?='))(?P<verb>{verb}){tail}\W*"),
        "auxiliary": re.compile(rf"\b(?:{data['auxiliary']}|cannot|ca|wo)(?:n't)?\b"),
        "narrowing": re.compile(rf"{data['narrowing']}\b"),
        "instead_of": re.compile(
            r"not (?:the |a |an )?(?P<old>[\w'-]+)(?:,| but|, but) (?!and\b|or\b|that\b|yet\b)\w[\w' -]*"
        ),
        "grown": re.compile(rf"\b(?:{data['grown']})\b"),
        "subject": re.compile(rf"(?:{data['subject']})\b"),
    }
