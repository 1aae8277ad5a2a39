"""The tripwire's pattern file: respelling of chat words, and families of patterns in one RE2 set.

A set whose automaton outgrows its memory reports no match at all, so every pattern is tried on its
own example after compiling.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import re2

from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.language.lexicon import Mention
from kinkeeper.language.text import Token, TokenKind, tokenise

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
        patterns: Where the respelling comes from.
        mentions: The household's words found in it.
        tokens: Of the message.

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
