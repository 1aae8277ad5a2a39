"""The tripwire's pattern families and linear model: what of a message counts, and how much.

A message is its respelled words and the pattern families found in them. Features are sequences of
one to three words, the spelling of each word, families, pairs of families, and the shape of the
whole. The score is the logistic function of the sum of their weights.
"""

import json
import math
import tomllib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, combinations, groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import re2

from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.language.compact import Memo, TextRow, WordPlaces
from kinkeeper.language.lexicon import Mention
from kinkeeper.language.text import Token, TokenKind, tokenise

SHIPPED_WEIGHTS = Path(__file__).with_name("weights.json")

_SPELLING_LENGTHS = (3, 4)
_START, _END = "^", "$"


def word_sequences(words: Sequence[str]) -> list[str]:
    """Return words and runs of two and three neighbours, with "^" and "$" as the ends of runs."""
    framed = [_START, *words, _END]
    pairs = [f"{first} {second}" for first, second in pairwise(framed)]
    triples = [f"{pair} {third}" for pair, third in zip(pairs, framed[2:], strict=False)]
    return [*words, *pairs, *triples]


def spelling_parts(word: str) -> list[str]:
    """Return the runs of three and four letters of a word, with "<" and ">" as its ends.

    Marks of the household ("_child_") have none.
    """
    if word.startswith("_"):
        return []
    framed = f"<{word}>"
    return [
        framed[start : start + size]
        for size in _SPELLING_LENGTHS
        for start in range(len(framed) - size + 1)
    ]


def shape(words: Sequence[str]) -> Iterator[str]:
    """Yield what is notable about a message as a whole: its length class and marks."""
    yield f"length {min(9, int(2 * math.log2(len(words) + 1)))}"
    if any("?" in word for word in words[-2:]):
        yield "ends in a question mark"
    text = " ".join(words)
    if "?" in text:
        yield "question mark"
    if "!" in text:
        yield "exclamation mark"


def family_pairs(families: Sequence[str]) -> Iterator[str]:
    """Yield the pairs of families found together."""
    for first, second in combinations(families, 2):
        yield f"{first}+{second}"


class Contribution(NamedTuple):
    """What one feature adds to the log-odds (a named tuple: dozens are made per message).

    Attributes:
        kind: Of the feature: words, spelling, pattern, patterns or shape.
    """

    weight: float
    kind: str
    name: str


# One for all words that begin no run: it stays in the processor's cache, which thousands would not.
_NO_RUNS: Mapping[str, Any] = {}


class _Known(NamedTuple):
    """All that the weights hold of one word, in one place: looking it up costs more than adding it.

    Attributes:
        alone: Weights of the word by itself: as a word, if it has one.
        spelling: Of its letter runs together.
        seconds: Runs of two that it begins, by their second word.
        thirds: Runs of three that it begins, by their second and third word.
    """

    alone: Contribution | None
    spelling: Contribution
    seconds: Mapping[str, Contribution]
    thirds: Mapping[str, Mapping[str, Contribution]]


class _Runs:
    """Weights of words and of runs of two and three, read out by their first word.

    Kept as letters and numbers in a row: as objects they are ten times as large, and a family says few of them.

    Args:
        weights: By run, its words joined by spaces.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        by_first = [
            (first, list(runs))
            for first, runs in groupby(sorted(weights, key=_first_word), key=_first_word)
        ]
        self._firsts = WordPlaces([first for first, _ in by_first])
        self._runs = TextRow(["\n".join(runs) for _, runs in by_first])
        self._starts = array("I", accumulate((len(runs) for _, runs in by_first), initial=0))
        self._weights = array("d", (weights[run] for _, runs in by_first for run in runs))

    def of(self, first: str) -> Iterator[Contribution]:
        """Yield what a word adds by itself and in runs that it begins."""
        place = self._firsts.find(first)
        if place is None:
            return
        weights = self._weights[self._starts[place] : self._starts[place + 1]]
        for run, weight in zip(self._runs[place].split("\n"), weights, strict=True):
            yield Contribution(weight, "words", run)


def _first_word(run: str) -> str:
    return run.partition(" ")[0]


class Weights:
    """Fitted weights, in log-odds.

    Args:
        bias: Of a message without any feature.
        spelling: Of letter runs; each counts once for every word that has it.
    """

    def __init__(
        self,
        *,
        bias: float,
        words: Mapping[str, float],
        spelling: Mapping[str, float],
        families: Mapping[str, float],
        pairs: Mapping[str, float],
        shape: Mapping[str, float],
    ) -> None:
        self.bias = bias
        self._words = _Runs(words)
        self._spelling = spelling
        self._known = Memo(self._look_up)
        self._named = {
            kind: {name: Contribution(weight, kind, name) for name, weight in weights.items()}
            for kind, weights in (("pattern", families), ("patterns", pairs), ("shape", shape))
        }

    def contributions(self, words: Sequence[str], families: Sequence[str]) -> list[Contribution]:
        """Return what adds to or takes from the log-odds of a message.

        Args:
            families: Found in it, in file order.

        Returns:
            Features with their weights; those without a fitted weight are left out.
        """
        known = list(map(self._known.__getitem__, words))
        distinct = dict(zip(words, known, strict=True)).values()
        found = [each.alone for each in distinct if each.alone]
        found += dict.fromkeys(self._runs(words, known))
        found += [each.spelling for each in distinct]
        for kind, names in (
            ("pattern", families),
            ("patterns", family_pairs(families)),
            ("shape", shape(words)),
        ):
            weights = self._named[kind]
            found += [weights[name] for name in names if name in weights]
        return found

    def _runs(self, words: Sequence[str], known: Sequence[_Known]) -> list[Contribution]:
        """Return the known runs of two, then those of three, both in the order of the text."""
        framed = [self._known[_START], *known]
        following = [*words, _END]
        runs = [
            each.seconds[second]
            for each, second in zip(framed, following, strict=True)
            if second in each.seconds
        ]
        runs += [
            thirds[third]
            for each, second, third in zip(framed, words, following[1:], strict=False)
            if (thirds := each.thirds.get(second)) and third in thirds
        ]
        return runs

    def _look_up(self, word: str) -> _Known:
        known = self._spelling
        spelling = math.fsum([known[part] for part in set(spelling_parts(word)) if part in known])
        alone: Contribution | None = None
        seconds: dict[str, Contribution] = {}
        thirds: dict[str, dict[str, Contribution]] = {}
        for each in self._words.of(word):
            _, *rest = each.name.split(" ")
            if not rest:
                alone = each
            elif len(rest) == 1:
                seconds[rest[0]] = each
            else:
                thirds.setdefault(rest[0], {})[rest[1]] = each
        return _Known(
            alone=alone,
            spelling=Contribution(spelling, "spelling", word),
            seconds=seconds or _NO_RUNS,
            thirds=thirds or _NO_RUNS,
        )


@cache
def load_weights(path: Path = SHIPPED_WEIGHTS) -> Weights:
    """Read fitted weights from JSON."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return Weights(**document)


# The tripwire's pattern file: respelling of chat words, and families of patterns in one RE2 set.
#
# A set whose automaton outgrows its memory reports no match at all, so every pattern is tried on
# its own example after compiling.

SHIPPED_PATTERNS = Path(__file__).with_name("patterns.toml")

_MEMORY_LIMIT = 64 << 20
_MARKS = {"child": "_child_", "adult": "_adult_", "activity": "_activity_", "place": "_place_"}
_WORD = TokenKind.WORD  # looking an enum's member up costs as much as the rest of a token
_FIGURES = {TokenKind.TIME: "_time_", TokenKind.NUMBER: "_num_", TokenKind.LINK: "https://"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One pattern of the file.

    Attributes:
        family: Name of its family.
        match: RE2 syntax, over respelled words.
        example: A message that it must match; "{child}" and the like stand for household words.
    """

    family: str
    match: str
    example: str


class PatternSet:
    """Families of patterns, compiled once and matched together.

    Attributes:
        families: Family names, in file order.
    """

    def __init__(self, spellings: Mapping[str, str], patterns: Sequence[Pattern]) -> None:
        """Compile patterns.

        Args:
            spellings: Folded word to the word it is read as.
            patterns: At least one.

        Raises:
            ConfigError: A pattern is no valid RE2 expression or misses its own example.
        """
        self._spellings = dict(spellings)
        self._patterns = tuple(patterns)
        self.families = tuple(dict.fromkeys(pattern.family for pattern in patterns))
        options = re2.Options()
        options.max_mem = _MEMORY_LIMIT
        options.log_errors = False
        self._set = re2.Set.SearchSet(options)
        problems = [problem for pattern in patterns if (problem := self._add(pattern))]
        if problems:
            raise ConfigError(problems)
        self._set.Compile()
        self._prove_examples()

    def _add(self, pattern: Pattern) -> Problem | None:
        try:
            self._set.Add(pattern.match)
        except re2.error as exc:
            return _problem(pattern, f"is not valid RE2: {exc}")
        return None

    def _prove_examples(self) -> None:
        problems = []
        for index, pattern in enumerate(self._patterns):
            text = pattern.example.replace("{", "_").replace("}", "_")
            words = text.split() if "_" in text else self.respell(tokenise(text))
            if index not in self.scan(" ".join(words)):
                problems.append(
                    _problem(pattern, f"does not match its example {pattern.example!r}")
                )
        if problems:
            raise ConfigError(problems)

    def respell(self, tokens: Iterable[Token]) -> list[str]:
        """Return each token as the patterns know it: chat spellings undone, figures as marks."""
        spellings = self._spellings
        return [
            spellings.get(token.text, token.text) if token.kind is _WORD else _mark_of(token)
            for token in tokens
        ]

    def matched(self, respelled: str) -> list[str]:
        """Return the families that have a pattern in a respelled message, in file order."""
        hits = {self._patterns[index].family for index in self.scan(respelled)}
        return [family for family in self.families if family in hits]

    def scan(self, respelled: str) -> Sequence[int]:
        """Return the indexes of the patterns that match, without further work."""
        found: Sequence[int] = self._set.Match(respelled) or ()
        return found


def _mark_of(token: Token) -> str:
    return _FIGURES.get(token.kind, token.text)


def _problem(pattern: Pattern, message: str) -> Problem:
    return Problem(
        where="tripwire patterns",
        line=None,
        message=f"family {pattern.family!r}, pattern {pattern.match!r} {message}",
    )


@cache
def load_patterns(path: Path | None = None) -> PatternSet:
    """Read and compile a pattern file.

    Args:
        path: TOML file; None means the one shipped with the program.

    Returns:
        The compiled set.

    Raises:
        ConfigError: The file is missing or no TOML, lacks a table, or a pattern is wrong.
    """
    source = path or SHIPPED_PATTERNS
    try:
        document = tomllib.loads(source.read_text(encoding="utf-8"))
        spellings = {
            form: word for word, forms in document.get("spellings", {}).items() for form in forms
        }
        patterns = [
            Pattern(family=family, match=entry["match"], example=entry["example"])
            for family, table in document["families"].items()
            for entry in table["patterns"]
        ]
    except (OSError, tomllib.TOMLDecodeError) as exc:
        raise ConfigError([Problem(where=str(source), line=None, message=str(exc))]) from exc
    except (KeyError, TypeError, AttributeError) as exc:
        message = f"lacks {exc}: each [families.NAME] needs patterns = [{{match, example}}]"
        raise ConfigError([Problem(where=str(source), line=None, message=message)]) from exc
    return PatternSet(spellings, patterns)


def household_words(
    patterns: PatternSet, mentions: Sequence[Mention], tokens: Sequence[Token]
) -> list[str]:
    """Respell a message, with the household's own words replaced by marks of their kind.

    Words that every family uses stay themselves, with typing slips undone.

    Args:
        mentions: The household's words found in it.

    Returns:
        Words as patterns and weights know them, in order; a name of several words is one mark.
    """
    words = patterns.respell(tokens)
    replacements = {
        mention.start: (mention.end, mark)
        for mention in reversed(mentions)
        if (mark := _mark(mention))
    }
    if not replacements:
        return words
    marked: list[str] = []
    covered = -1
    for token, word in zip(tokens, words, strict=True):
        if token.start < covered:
            continue
        if token.start in replacements:
            covered, mark = replacements[token.start]
            marked.append(mark)
        else:
            marked.append(word)
    return marked


def _mark(mention: Mention) -> str | None:
    mark = _MARKS.get(mention.kind)
    if mark is None and mention.is_misspelt and mention.kind == "generic_activity":
        return mention.id
    return mark
