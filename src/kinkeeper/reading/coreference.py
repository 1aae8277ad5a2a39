"""Whether words speak of one thing or person: names however typed, common roots, and things spoken of as known. Pure."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from Stemmer import Stemmer

from kinkeeper.language.dictionary import names_also_words
from kinkeeper.language.text import unaccented

# The names of people who are known, however they were typed. Pure.

_NAME = re.compile(r"[^\W\d_]+")
_NO_NAME = re.compile(
    r"\b(?:the|an?|my|our|your|his|her|its|their|this|that|these|those|some|any|no|which|what|each|every)\s+$",
    re.IGNORECASE,
)
_SURE_NAME = re.compile(
    r"(?:^|[.!?,:;–—(]\s*|\b(?:and|but|so|or|because|as|that|when|if|while|of|for|to|with|about|from|is|was|has|did|does|gave|give|fed|took|put|told|says?|said)\s+)$",
    re.IGNORECASE,
)
_OWNS = re.compile(r"['’]s\b")


def names_written(text: str, names: Collection[str]) -> str:
    """Return a text in which the names of known people are written as names; every character keeps its place.

    A name that is an ordinary word as well ("kit") is one where a sentence begins with it, or says so by its form.

    Args:
        names: In small letters, without accents.
    """
    written = list(text)
    for found in _NAME.finditer(text):
        capital, word = found[0][0].upper(), unaccented(found[0].lower())
        if found[0] != found[0].lower() or word not in names or len(capital) != 1:
            continue
        is_sure = word not in names_also_words() or _OWNS.match(text, found.end())
        if not _NO_NAME.search(text[: found.start()]) and (
            is_sure or _SURE_NAME.search(text[: found.start()])
        ):
            written[found.start()] = capital
    return "".join(written)


# Whether a text speaks of the thing that a question speaks of as a known one: "the fence", "our
# alarm code". Pure.

_DEFINITE = re.compile(
    r"\b(?:the|my|our|your|his|her|their|this|that|[^\W\d_]+'s)\s+(?P<words>[^\W\d_]+(?:[ -]+[^\W\d_]+){0,2})",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_MOST = 2


def speaks_of_other(
    question: str,
    known: str,
    roots: Callable[[str], Sequence[str]],
    *,
    ignored: Collection[str] = (),
) -> bool:
    """Return whether a text holds no word of such a thing, or its kind with another word before it ("wifi code").

    Args:
        known: A text that may answer it.
        roots: Returns the roots of the content words of a text, in order.
        ignored: Roots of names, which are no things.
    """
    said = [next(iter(roots(word)), "") for word in _WORD.findall(known.replace("’", "'"))]
    beside = set(pairwise(["", *said]))
    for found in _DEFINITE.finditer(question.replace("’", "'")):
        first, *more = [each for each in roots(found["words"]) if each not in ignored][:_MOST] or [
            ""
        ]
        if not first or first in said:
            continue
        if not any(each in said for each in more):
            return True
        if any(other and kind in more for other, kind in beside):
            return True
    return False


# Persons and animals that a sentence speaks of, whom a pronoun behind it may mean. Pure.

_SAID = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_DETERMINERS = frozenset("the a an my our your his her their this that another".split())  # noqa: SIM905
_NEW = frozenset({"a", "an", "another"})
_NAMING = frozenset({"name", "names", "called", "named"})
_IS = tuple([word] for word in "is was as be been".split())  # noqa: SIM905
_MOST_BEFORE_NOUN = 4


class Being(NamedTuple):
    """Words for somebody.

    Attributes:
        words: As written: "the babysitter", "our neighbour's dog", "my friend Bo", "Bo".
        is_new: Whether they are only now spoken of ("a friend"), and not who somebody is ("is a friend").
        is_sure: Whether it is surely they whom the sentence is about, and not somebody of theirs.
    """

    words: str
    is_new: bool
    is_sure: bool


def beings_in(
    text: str, *, is_noun: Callable[[str], bool], is_name: Callable[[str], bool]
) -> list[Being]:
    """Return the persons and animals of a sentence in order; where one is named in small letters, it is not sure who.

    Args:
        is_noun: Whether a word, in small letters, is one for a person or an animal.
        is_name: The same of a name.
    """
    said = [*_SAID.finditer(text)]
    bare = [_OWNS.sub("", each[0]).lower() for each in said]
    found: list[Being] = []
    place = 0
    while place < len(said):
        is_led = bare[place] in _DETERMINERS or _OWNS.search(said[place][0]) is not None
        end = _noun_after(bare, place, is_noun) if is_led else None
        if end is None and (is_noun(bare[place]) or is_name(bare[place])):
            end = place
        if end is None:
            place += 1
            continue
        while end + 1 < len(said) and said[end + 1][0].istitle() and is_name(bare[end + 1]):
            end += 1
        stop = said[end].start() + len(_OWNS.sub("", said[end][0]))
        is_sure = stop == said[end].end() and bare[end + 1 : end + 2] != ["name"]
        is_new = bare[place] in _NEW and bare[place - 1 : place] not in _IS
        found.append(Being(text[said[place].start() : stop], is_new, is_sure))
        place = end + 1
    if not found and not _NAMING.isdisjoint(bare):
        return [Being(text, is_new=True, is_sure=False)]
    return found


def _noun_after(bare: Sequence[str], place: int, is_noun: Callable[[str], bool]) -> int | None:
    """Return where the last noun for somebody stands within a few words of what leads it in, before the next such word."""
    near = range(place + 1, min(len(bare), place + 1 + _MOST_BEFORE_NOUN))
    stop = next((each for each in near if bare[each] in _DETERMINERS), len(bare))
    return max((each for each in near if each < stop and is_noun(bare[each])), default=None)


@cache
def words_for_people() -> frozenset[str]:
    """Return further words for persons and animals, in small letters, in one number."""
    return frozenset(_WORDS["people"].split())


# Things that a sentence speaks of, whatever they are. Pure.


class Thing(NamedTuple):
    """Words for something.

    Attributes:
        words: Of it and before it, in small letters: "drum", "kit".
        is_new: Whether it is only now spoken of ("a kit").
    """

    words: tuple[str, ...]
    is_new: bool


def things_in(
    text: str, *, people: Collection[str], is_apart: Callable[[str, bool], bool]
) -> list[Thing]:
    """Return what may be the things of a text, in order: words that stand together, up to a pause or a word of another kind.

    What nothing leads in and something led in follows is a deed ("wrap the kit").

    Args:
        people: Words for people who are known, in small letters: they lead in what is theirs.
        is_apart: Whether a word, in small letters, is of another kind; and whether "the", or the like, stands right before it.
    """
    text = text.replace("’", "'")
    found: list[Thing] = []
    words: tuple[str, ...] = ()
    lead, end = "", 0
    for each in _SAID.finditer(text):
        word = _OWNS.sub("", each[0]).lower()
        if text[end : each.start()].strip():
            found += [Thing(words, lead in _NEW)] if words else []
            lead, words = "", ()
        end = each.end()
        leads_in = word in _DETERMINERS or word in people or len(word) < len(each[0])
        if not leads_in and not is_apart(word, bool(lead) and not words):
            words += (word,)
            continue
        found += [Thing(words, lead in _NEW)] if words and (lead or not leads_in) else []
        lead, words = word if leads_in else "", ()
    return [*found, Thing(words, lead in _NEW)] if words else found


# What the words for one thing have in common: for a deed and who does it, or what it is done to.
# Pure.

_STEMMER = Stemmer("english")
_WORDS = tomllib.loads((files("kinkeeper.reading.data") / "roots.toml").read_text(encoding="utf-8"))
_NO_DOERS = frozenset(_STEMMER.stemWords(_WORDS["no_doers"].split()))
_DOER = re.compile(r"(?:eri|er|or|ist|ian|ment|(?<=\w{5})i)$")
"""How a stem ends that says who does something, or that it is done: "tuner", "inspector", "deliveri"."""

_OFTEN_DOUBLE = frozenset("sl")
_SHORTEST_ROOT = 3


@lru_cache(maxsize=8192)
def root_of(stem: str) -> str:
    """Return what the words for one thing have in common: "tun" of "tuner" and of "tune", "dent" of "teeth"."""
    root = _root(stem)
    return _kin().get(root, root)


def roots_of(words: Iterable[str]) -> frozenset[str]:
    """Return the roots of words in small letters, the same for all forms of a word."""
    return frozenset(map(root_of, _STEMMER.stemWords([*words])))


@cache
def _kin() -> dict[str, str]:
    families = (
        [_root(stem) for stem in _STEMMER.stemWords(each.split())] for each in _WORDS["kin"]
    )
    return {root: first for first, *others in families for root in others}


def _root(stem: str) -> str:
    root = stem if stem in _NO_DOERS else _DOER.sub("", stem)
    root = root.removesuffix("e")
    is_doubled = root != stem and root[-1:] == root[-2:-1] and root[-1:] not in _OFTEN_DOUBLE
    root = root[:-1] if is_doubled else root
    return root if len(root) >= _SHORTEST_ROOT else stem
