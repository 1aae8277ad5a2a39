"""Words that stand for people without naming them: a closed class."""

import tomllib
from collections.abc import Sequence
from enum import StrEnum
from importlib.resources import files

from kinkeeper.language.text import Token


class Pronoun(StrEnum):
    """Whom such a word stands for, seen from who says it."""

    SPEAKER = "speaker"
    SPEAKERS = "speakers"
    ADDRESSEE = "addressee"
    ADDRESSEES = "addressees"
    OTHERS = "others"
    EVERYBODY = "everybody"
    NOBODY = "nobody"


_TABLE = {
    word: Pronoun(name)
    for name, words in tomllib.loads(
        (files("kinkeeper.language.data") / "pronouns.toml").read_text(encoding="utf-8")
    ).items()
    for word in words.split()
}


def pronouns_among(tokens: Sequence[Token]) -> tuple[Pronoun, ...]:
    """Return what the pronouns among tokens stand for, in their order."""
    return tuple(_TABLE[each.text] for each in tokens if each.text in _TABLE)
