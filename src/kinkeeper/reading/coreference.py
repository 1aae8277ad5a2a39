"""Whether words speak of one thing: common roots, and things spoken of as known. Pure."""

import re
import tomllib
from collections.abc import Callable, Collection, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

from Stemmer import Stemmer

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
