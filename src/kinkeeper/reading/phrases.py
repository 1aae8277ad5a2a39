"""Chat spellings and phrases as data: words made canonical, and the longest phrase that starts at one."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from itertools import count, product
from typing import Any

from kinkeeper.language.compact import Memo
from kinkeeper.language.dictionary import Misspellings, first_names, word_ranks
from kinkeeper.language.lexicon import Mention
from kinkeeper.language.text import Folded, Token, TokenKind

# Chat spellings and contractions, one table for all readers. Pure.


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


@cache
def denials() -> Mapping[str, str]:
    """Return contractions with "not" by how they are written without the apostrophe ("hasnt")."""
    found = [each for each in _data()["contractions"] if each.endswith("n't")]
    return {each.replace("'", ""): each for each in found}


_SPELLED = re.compile(r"[^\W\d_]+(?:['‘’ʼ]+[^\W\d_]*)*|[^\s,'‘’ʼ]")
"""A word, or a mark that may end a sentence."""
_APOSTROPHES = str.maketrans("‘’ʼ", "'''")
_SHORTEST_SLIP = 3
_ENDINGS = frozenset({"", "s", "ll", "d", "re", "ve", "m"})
"""What is said after an apostrophe behind a whole word ("Gran's")."""


class Speller:
    """Writes the words of a short list as they are meant where they are misspelt; any other word stays.

    A slip is a letter missing, doubled or swapped with its neighbour, in words of five letters or more also one added or
    changed, and an apostrophe that is missing. Ordinary words and names of people are no slips.

    Args:
        words: Those that come first are preferred.
        contractions: Of which none is another word without its apostrophe.
    """

    def __init__(self, words: Sequence[str], contractions: Sequence[str]) -> None:
        bare = {each.replace("'", ""): each for each in contractions}
        self._plain: Mapping[str, str] = {**everyday_spellings(), **bare}
        self._meant = {**{each.lower(): each for each in words}, **bare}
        self._slips: dict[str, str] = {}
        for word in (*contractions, *self._meant):
            for slip in _slips_of(word):
                self._slips.setdefault(slip, word.replace("'", ""))
        self._near = Misspellings(words=(), names=self._meant)
        self._memo = Memo(self._nearest)

    def spelled(self, text: str, names: Collection[str] = ()) -> Folded:
        """Return a text without such slips and with plain apostrophes, and from where its characters are.

        Args:
            names: Words for people, in small letters.
        """
        parts: list[str] = []
        origins: list[tuple[int, int]] = []
        end, begins = 0, True
        for found in _SPELLED.finditer(text):
            word = found[0].translate(_APOSTROPHES)
            meant = word if word.lower() in names else self._read(word, begins=begins)
            begins = not word[0].isalpha()
            if meant != word:
                start = found.start()
                parts += [text[end:start].translate(_APOSTROPHES), meant]
                origins += [(at, at + 1) for at in range(end, start)]
                end = found.end()
                origins += [(start, end)] * len(meant)
        parts.append(text[end:].translate(_APOSTROPHES))
        origins += [(at, at + 1) for at in range(end, len(text))]
        return Folded(text="".join(parts), original=text, origins=tuple(origins) if end else None)

    def _read(self, word: str, *, begins: bool) -> str:
        folded = word.lower()
        is_name = word[0].isupper() and not (begins or word.isupper())
        meant = self._plain.get(folded)
        if meant is None:
            meant = self._memo[folded]
            if meant is None or (is_name and meant.islower()):
                return word
        return meant.capitalize() if word.istitle() else meant

    def _nearest(self, word: str) -> str | None:
        bare = word.replace("'", "")
        if self._meant.get(bare) == word:
            return None
        near = self._slips.get(word)
        if "'" not in word or near is None:
            stem, _, ending = word.partition("'")
            listed = stem if ending in _ENDINGS else bare
            if len(bare) < _SHORTEST_SLIP or listed in word_ranks() or listed in first_names():
                return None
            near = (
                bare if bare in self._meant else self._slips.get(bare) or self._near.nearest(bare)
            )
        return self._plain.get(bare) if near is None else self._meant[near]


def _slips_of(word: str) -> Iterator[str]:
    """Yield a word with a letter doubled, swapped with its neighbour or missing."""
    for at in range(len(word)):
        yield word[: at + 1] + word[at:]
        yield word[:at] + word[at : at + 2][::-1] + word[at + 2 :]
        yield word[:at] + word[at + 1 :]


def _by_spelling(section: str) -> Mapping[str, str]:
    return {
        spelling: plain
        for plain, spellings in _data()[section].items()
        for spelling in spellings.split()
    }


@cache
def _data() -> Mapping[str, Any]:
    path = files(__package__).joinpath("data/spellings.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


STOP = "."
"""Stands for the end of a clause."""

ASKED = "?"
"""Stands for the end of a clause that asks."""

ENDS = frozenset({STOP, ASKED})
_NUMBER, _NAME, _ADULT, _LINK = "<number>", "<name>", "<adult>", "<link>"
_UNKNOWN = "<unknown>"
_CLOSED = "$"
_DOUBLED = re.compile(r"(.)\1")
_DETERMINERS = frozenset({"the", "my", "our", "your"})
_CONJUNCTIONS = frozenset({"but", "because", "if", "when", "so", "unless", "since"})
_PREPOSITIONS = frozenset({"at", "on", "for"})
_MOST_SKIPPED = 3
_NEW_STARTS = frozenset({"i'll", "i", "i'm", "i've", "don't-worry", "you", "let", "no"})
_MERGED: Mapping[tuple[str, ...], str] = {
    ("i", "will"): "i'll",
    ("i", "am"): "i'm",
    ("we", "will"): "we'll",
    ("can", "not"): "can't",
    ("do", "not"): "don't",
    ("will", "not"): "won't",
    ("could", "not"): "couldn't",
    ("school", "run"): "school-run",
    ("drop", "offs"): "drop-off",
    ("don't", "worry"): "don't-worry",
    ("not", "to", "worry"): "don't-worry",
    ("who", "is"): "who's",
    ("i'm", "going", "to"): "i'll",
    ("one", "of", "you"): "anyone",
    ("any", "of", "you"): "anyone",
    ("either", "of", "you"): "anyone",
    ("some", "one"): "someone",
    ("any", "one"): "anyone",
}


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase found in canonical words: `words[start:end]`.

    Attributes:
        group: Name of the phrase's list in the data.
        order: Place of its line in the data; of equally long phrases the first wins.
        start: Index of its first word.
        end: Index past its last word.
    """

    group: str
    order: int
    start: int
    end: int


@dataclass(slots=True)
class _Node:
    children: dict[str, "_Node"] = field(default_factory=dict)
    opened: tuple[str, int] | None = None
    closed: tuple[str, int] | None = None


class PhraseBook:
    """The phrases, spellings and word classes of the data file, compiled for matching."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        own = data["spellings"]
        self.spellings: Mapping[str, tuple[str, ...]] = {
            spelling: tuple(" ".join(own.get(word, word) for word in plain.split()).split())
            for spelling, plain in {**talk_spellings(), **own}.items()
        }
        classes = {name: frozenset(words.split()) for name, words in data["classes"].items()}
        self.requests = {name: frozenset(words.split()) for name, words in data["requests"].items()}
        self.acts = classes["take"] | classes["go"]
        self.tasks = self.acts - self.requests["no_task"]
        self.doings = classes["taking"]
        self.emoji = {
            symbol: group for group, symbols in data["emoji"].items() for symbol in symbols.split()
        }
        self._adverbs = classes["adverb"]
        self.closing = classes["filler"] | classes["time"] | {_NUMBER, _ADULT}
        self.tolerated = self.closing | classes["tail"] | classes["adverb"]
        self._classes: dict[str, set[str]] = defaultdict(set)
        for name, words in classes.items():
            for word in words:
                self._classes[word].add(f"<{name}>")
        self._classes[_NUMBER].add("<time>")
        self._classes[_NAME] |= {"<object>"}
        self._classes[_ADULT] |= {"<object>", _NAME}
        self._root = _Node()
        orders = count()
        for group, lines in data["phrases"].items():
            for line in lines.strip().splitlines():
                self._add(group, next(orders), line.split(), data["macros"])
        self._vocabulary = frozenset(self._root.children) | set(self.spellings) | set(self._classes)

    def _add(
        self, group: str, order: int, words: Sequence[str], macros: Mapping[str, Sequence[str]]
    ) -> None:
        choices = [
            macros[word[1:-1]] if word.startswith("{") else word.split("|") for word in words
        ]
        for choice in product(*choices):
            spoken = " ".join(choice).split()
            is_closed = spoken[-1] == _CLOSED
            node = self._root
            for word in spoken[:-1] if is_closed else spoken:
                node = node.children.setdefault(word, _Node())
            if is_closed:
                node.closed = node.closed or (group, order)
            else:
                node.opened = node.opened or (group, order)

    def respell(self, token: Token) -> tuple[str, ...]:
        """Return the canonical words of a word token; elongated words shrink to a known one."""
        text = token.text
        if len(text) < token.end - token.start and text not in self._vocabulary:
            plain = _DOUBLED.sub(r"\1", text)
            text = plain if plain in self._vocabulary else text
        if text.endswith("'s") and self.is_class(text[:-2], "time"):
            return text[:-2], "is"
        return self.spellings.get(text, (text,))

    def is_class(self, word: str, name: str) -> bool:
        """Tell whether a canonical word belongs to a class of the data."""
        return f"<{name}>" in self._classes.get(word, ())

    def is_vocabulary(self, word: str) -> bool:
        """Tell whether the data knows a word."""
        return word in self._vocabulary

    def longest(self, words: Sequence[str], start: int) -> Match | None:
        """Return the longest phrase that starts at a word; the first of the data among equals."""
        found = self._walk(self._root, words, start, skipped=0)
        best = max(found, key=lambda end: (end[0], -end[1][1]), default=None)
        return None if best is None else Match(*best[1], start, best[0])

    def _walk(
        self, node: _Node, words: Sequence[str], at: int, *, skipped: int
    ) -> Iterator[tuple[int, tuple[str, int]]]:
        if node.opened:
            yield at, node.opened
        if node.closed and self._is_closed(words, at):
            yield at, node.closed
        if at >= len(words):
            return
        word = words[at]
        for key in (word, *self._classes.get(word, (_UNKNOWN,))):
            child = node.children.get(key)
            if child is not None:
                yield from self._walk(child, words, at + 1, skipped=0)
        if node is not self._root and skipped < _MOST_SKIPPED and self._is_skipped(word, node):
            yield from self._walk_on(node, words, at + 1, skipped=skipped + 1)

    def _walk_on(
        self, node: _Node, words: Sequence[str], at: int, *, skipped: int
    ) -> Iterator[tuple[int, tuple[str, int]]]:
        """Go on after a skipped word; a phrase never ends with one."""
        inner = _Node({word: child for word, child in node.children.items() if word not in ENDS})
        yield from self._walk(inner, words, at, skipped=skipped)

    def _is_skipped(self, word: str, node: _Node) -> bool:
        if word in self._adverbs:
            return True
        return "<object>" in node.children and (word in _DETERMINERS or self.is_class(word, "time"))

    def _is_closed(self, words: Sequence[str], at: int) -> bool:
        while at < len(words) and (words[at] in self.closing or words[at] in _PREPOSITIONS):
            at += 1
        if at >= len(words):
            return True
        return words[at] in ENDS or words[at] in _CONJUNCTIONS or words[at] in _NEW_STARTS


@cache
def phrase_book() -> PhraseBook:
    """Return the phrases of the data file; read once."""
    raw = files(__package__).joinpath("data/replies.toml").read_text(encoding="utf-8")
    return PhraseBook(tomllib.loads(raw))


def canonical(tokens: Sequence[Token], mentions: Sequence[Mention] = ()) -> tuple[str, ...]:
    """Write a message in canonical words.

    Args:
        mentions: Household words in it; each becomes one "<name>", an adult "<adult>".

    Returns:
        Words; numbers and times as "<number>", clause ends as "." and "?", the last one ".". Emoji
        end a clause.
    """
    return _canonical(tuple(tokens), tuple(mentions))


# One message is read for its reply, its question and its claims in turn.
@lru_cache(maxsize=64)
def _canonical(tokens: tuple[Token, ...], mentions: tuple[Mention, ...]) -> tuple[str, ...]:
    words: list[str] = []
    for word in _spoken(tokens, mentions):
        words.append(word)
        for length in (3, 2):
            merged = _MERGED.get(tuple(words[-length:]))
            if merged:
                words[-length:] = [merged]
    return (*words, STOP)


def _spoken(tokens: Sequence[Token], mentions: Sequence[Mention]) -> Iterator[str]:
    book = phrase_book()
    # Of two things that one word names ("Marco" and "Marco's", a house), the person is meant.
    people = {m.start: m for m in sorted(mentions, key=lambda mention: mention.kind == "adult")}
    covered = 0
    for place, token in enumerate(tokens):
        if place and "\n" in token.source[tokens[place - 1].end : token.start]:
            yield STOP
        mention = people.get(token.start)
        if token.start < covered:
            continue
        if mention is not None:
            covered = mention.end
            yield _ADULT if mention.kind == "adult" else _NAME
            if mention.kind == "adult" and mention.surface.endswith(("'s", "’s")):
                yield "is"
        elif token.kind is TokenKind.WORD:
            yield from _words_of(book, tokens, place)
        else:
            yield from _sign(token)


def _sign(token: Token) -> tuple[str, ...]:
    if token.kind is TokenKind.PUNCTUATION:
        if token.text[0] == "?":
            return (ASKED,)
        return ("and",) if token.text == "&" else (STOP,) if token.text[0] in ".,!;:-/()…" else ()
    if token.kind is TokenKind.EMOJI:
        return (STOP,)
    return (_LINK,) if token.kind is TokenKind.LINK else (_NUMBER,)


def _words_of(book: PhraseBook, tokens: Sequence[Token], place: int) -> tuple[str, ...]:
    token = tokens[place]
    if token.text == "ill" and not _is_future(book, tokens, place):
        return ("ill",)
    words = book.respell(token)
    if len(words) > 1 or book.is_vocabulary(words[0]):
        return words
    name = words[0].removesuffix("'s")
    is_capital = place > 0 and token.surface.istitle() and name not in word_ranks()
    return (_NAME,) if is_capital or name in first_names() else words


def _is_future(book: PhraseBook, tokens: Sequence[Token], place: int) -> bool:
    """Tell "ill do it" from "he is ill": a verb or an adverb follows."""
    following = tokens[place + 1].text if place + 1 < len(tokens) else ""
    return following in book.acts or following in {
        "be",
        "just",
        "also",
        "swing",
        "pop",
        "look",
        "step",
    }


# Patterns that name classes of words.

_CLASS = re.compile(r"@([a-z]+)")


def expanded(form: str, words: Mapping[str, str]) -> str:
    """Return a pattern with each `@name` replaced by the pattern of that class, which may name further classes.

    Args:
        words: Patterns by the names of classes.
    """
    while (wider := _CLASS.sub(lambda each: words[each[1]], form)) != form:
        form = wider
    return form
