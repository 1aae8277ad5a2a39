"""Whether words of a message are a short noun phrase, and not a sentence that tells or bids somebody something. Pure.

A phrase is told by its form: a determiner opens it, or follows a preposition, and so does a name of the household.
Either of them after a plain word shows that this word was a verb ("assign Leo", "delete the list").
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from kinkeeper.language.dictionary import word_ranks
from kinkeeper.language.lexicon import Mention
from kinkeeper.observer.wording.message_view import Symbol

_MOST: Final = 8
_MOST_SPOKEN: Final = 3
_SIGNLESS: Final = re.compile(
    r"[^\W_]+(?:['’&-]+[^\W_]+)*['’]?(?: (?:[^\W_]+(?:['’&-]+[^\W_]+)*['’]?|&))*"
)
_NUMBERED: Final = re.compile(r"\d{1,4}|[a-z]{0,2}\d{1,2}(?:st|nd|rd|th|s|['’]s)?", re.IGNORECASE)
_HEAD: Final = r"(?:D{1,2}P?)?(?:S?N{1,5}|S)"
_NAMED: Final = rf"(?:{_HEAD}|MN{{0,4}})"
_NOUN_PHRASE: Final = re.compile(rf"{_NAMED}(?:L{_NAMED}){{0,3}}")
_ERRAND: Final = re.compile(rf"(?=.)P?{_NAMED}?(?:L{_NAMED}){{0,3}}P?")


def is_noun_phrase(text: str, symbols: Sequence[Symbol]) -> bool:
    """Return whether a stretch of a message is a noun phrase: at most 8 words, no sign, no clause.

    Args:
        text: The message.
        symbols: The stretch, as read.
    """
    return _is_plain(text, symbols) and _has_form(
        _NOUN_PHRASE, symbols, [_class_of(symbol) for symbol in symbols]
    )


def is_errand(text: str, symbols: Sequence[Symbol]) -> bool:
    """Return whether a stretch of a message is one verb with a short object, and nothing that only machines do.

    Args:
        text: The message.
        symbols: The stretch, as read, from its verb on.
    """
    if not _is_plain(text, symbols) or symbols[0].text in _words()["of_machines"]:
        return False
    classes = [
        "M" if symbol.text in _words()["pronouns"] else _class_of(symbol) for symbol in symbols[1:]
    ]
    return symbols[0].text.isalpha() and _has_form(_ERRAND, symbols[1:], classes)


def may_be_spoken(words: str) -> bool:
    """Return whether own words are plain enough to be said in the group: at most three nouns of the dictionary.

    Args:
        words: Folded, as they name an event.
    """
    each = words.split()
    return 0 < len(each) <= _MOST_SPOKEN and all(
        word in word_ranks() and _class_of_word(word) == "N" for word in each
    )


def _is_plain(text: str, symbols: Sequence[Symbol]) -> bool:
    if not 0 < len(symbols) <= _MOST:
        return False
    stretch = text[symbols[0].start : symbols[-1].end]
    return _SIGNLESS.fullmatch(stretch) is not None and all(
        symbol.item is not None or _is_word(text[symbol.start : symbol.end]) for symbol in symbols
    )


def _is_word(word: str) -> bool:
    """Whether letters make it up, but for what numbers a class or a day ("P2", "70th")."""
    return not any(letter.isdigit() for letter in word) or _NUMBERED.fullmatch(word) is not None


def _has_form(form: re.Pattern[str], symbols: Sequence[Symbol], each: Sequence[str]) -> bool:
    """Whether the classes of some words, one letter each, have a form; "in" and the like are tried as particles, too."""
    classes = "".join(each)
    is_particle = [symbol.text in _words()["particles"] for symbol in symbols]
    tried = {classes}
    if symbols and is_particle[0]:
        tried.add(f"P{classes[1:]}")
    if symbols and is_particle[-1]:
        tried.add(f"{classes[:-1]}P")
    return any(form.fullmatch(one) for one in tried)


def _class_of(symbol: Symbol) -> str:
    if isinstance(symbol.item, Mention) and symbol.item.surface.endswith(("'s", "’s", "s'", "s’")):
        return "S"
    if symbol.text in {"<child>", "<adult>", "<kids>"}:
        return "M"
    if symbol.text == "<childs>":
        return "S"
    return "N" if symbol.item is not None else _class_of_word(symbol.text)


def _class_of_word(word: str) -> str:
    words = _words()
    if word in words["clausal"] or word in words["verbs"]:
        return "X"
    classes = {"determiners": "D", "links": "L", "particles": "P"}
    return next((letter for name, letter in classes.items() if word in words[name]), "N")


@cache
def _words() -> Mapping[str, frozenset[str]]:
    text = files(__package__).joinpath("plain_words.toml").read_text(encoding="utf-8")
    return {name: frozenset(words.split()) for name, words in tomllib.loads(text).items()}
