"""What the words for one thing have in common: for a deed and who does it, or what it is done to. Pure."""

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

from Stemmer import Stemmer

_STEMMER = Stemmer("english")
_WORDS = tomllib.loads((files("kinkeeper.reading.data") / "roots.toml").read_text(encoding="utf-8"))
_NO_DOERS = frozenset(_STEMMER.stemWords(_WORDS["no_doers"].split()))
_DOER = re.compile(r"(?:eri|er|or|ist|ian|ment|(?<=\w{5})i)$")
"""How a stem ends that says who does something, or that it is done: "tuner", "inspector", "deliveri"."""

_OFTEN_DOUBLE = frozenset("sl")
_SHORTEST_ROOT = 3


@lru_cache(maxsize=8192)
def root_of(stem: str) -> str:
    """Return what the words for one thing have in common: "tun" of "tuner" and of "tune", "dent" of "teeth".

    Args:
        stem: Of a word.
    """
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
