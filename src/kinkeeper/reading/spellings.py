"""Chat spellings and contractions, one table for all readers. Pure."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def everyday_spellings() -> Mapping[str, str]:
    """Return plain words by chat spellings that stand for nothing else, even in a title or a name."""
    return _by_spelling("everyday")


@cache
def talk_spellings() -> Mapping[str, str]:
    """Return plain words by all chat spellings, also those that only talk is free to respell ("aye", "cos")."""
    return {**_by_spelling("talk"), **everyday_spellings()}


@cache
def words_written_out() -> Mapping[str, str]:
    """Return words by contractions and by chat spellings, with no contraction left ("cant" is "can not")."""
    contractions: Mapping[str, str] = _data()["contractions"]
    spelled = {
        spelling: " ".join(contractions.get(word, word) for word in plain.split())
        for spelling, plain in talk_spellings().items()
    }
    return {**spelled, **contractions}


def _by_spelling(section: str) -> Mapping[str, str]:
    return {
        spelling: plain for plain, spellings in _data()[section].items() for spelling in spellings.split()
    }  # fmt: skip


@cache
def _data() -> Mapping[str, Any]:
    path = files(__package__).joinpath("data/spellings.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
