"""A small pattern language over tokens: rules are one line of pattern and one small function.

A pattern is words separated by spaces. A lower-case word (or sign) matches itself, an UPPER-CASE one matches
a token that has this category and hands its value to the function. `a|b` matches either, a trailing `?` may
be absent (an absent category is handed over as None), a leading `~` asks that no space stands before.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from kinkeeper.reading.times.partial import Partial
from kinkeeper.reading.times.tokens import Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What rules may know beside the words.

    Attributes:
        reference: When the text was written, aware, in the zone to read in.
        is_day_first: Whether 3/4 is the third of April.
        week_start: First weekday of the calendar week, 0 is Monday.
    """

    reference: datetime
    is_day_first: bool
    week_start: int


class Element(NamedTuple):
    """One place of a pattern."""

    words: frozenset[str]
    categories: tuple[str, ...]
    is_optional: bool
    is_glued: bool


class Rule(NamedTuple):
    """A pattern and what it means.

    Attributes:
        elements: Matched in order.
        produce: Makes a reading of what the categories caught.
        second: What the second token of a match can be; None where one token may be all of it.
    """

    elements: tuple[Element, ...]
    produce: Callable[..., Partial | None]
    second: frozenset[str] | None


Production = Callable[..., Partial | None]


class Grammar:
    """Rules, indexed by what their first token can be."""

    def __init__(self) -> None:
        self.by_key: dict[str, list[Rule]] = {}

    @classmethod
    def joined(cls, *grammars: "Grammar") -> "Grammar":
        """Return all rules together; where two read as far, the one that stands first wins."""
        whole = cls()
        for grammar in grammars:
            for key, rules in grammar.by_key.items():
                whole.by_key.setdefault(key, []).extend(rules)
        return whole

    def rule(self, *patterns: str) -> Callable[[Production], Production]:
        """Register a function for patterns; it gets the scope and the pattern's values."""

        def register(produce: Production) -> Production:
            for pattern in patterns:
                elements = tuple(_element(word) for word in pattern.split())
                self._add(Rule(elements, produce, _second(elements)))
            return produce

        return register

    def _add(self, rule: Rule) -> None:
        for element in rule.elements:
            for key in (*element.words, *element.categories):
                self.by_key.setdefault(key, []).append(rule)
            if not element.is_optional:
                return

    def longest(
        self, tokens: Sequence[Token], index: int, scope: Scope
    ) -> tuple[Partial, int] | None:
        """Return the longest reading that begins at a token, and where it ends; None where nothing does."""
        best: Partial | None = None
        best_end = index
        token = tokens[index]
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        after = () if following is None else (following.text, *following.meanings)
        for key in (token.text, *token.meanings):
            for rule in self.by_key.get(key, ()):
                if rule.second is not None and rule.second.isdisjoint(after):
                    continue
                values: list[Any] = []
                end = _match(rule.elements, tokens, index, values=values)
                if end > best_end:
                    partial = rule.produce(scope, *values)
                    if partial is not None:
                        best, best_end = partial, end
        return None if best is None else (best, best_end)


def _element(word: str) -> Element:
    is_glued = word.startswith("~")
    word = word.removeprefix("~")
    is_optional = word.endswith("?") and len(word) > 1
    choices = (word[:-1] if is_optional else word).split("|")
    categories = tuple(choice for choice in choices if choice.isalnum() and choice.isupper())
    words = frozenset(choice for choice in choices if choice not in categories)
    return Element(words, categories, is_optional, is_glued)


def _second(elements: Sequence[Element]) -> frozenset[str] | None:
    """Return what the second token of a match can be; None where a match of one token is possible."""
    found: set[str] = set()
    for place, first in enumerate(elements):
        for second in elements[place + 1 :]:
            found.update(second.words, second.categories)
            if not second.is_optional:
                break
        else:
            return None
        if not first.is_optional:
            break
    return frozenset(found)


def _match(
    elements: tuple[Element, ...], tokens: Sequence[Token], index: int, *, values: list[Any]
) -> int:
    """Return the end of the match or -1; `values` grows by what categories caught."""
    if not elements:
        return index
    element, rest = elements[0], elements[1:]
    kept = len(values)
    if index < len(tokens) and _accepts(element, tokens[index], values):
        end = _match(rest, tokens, index + 1, values=values)
        if end >= 0:
            return end
        del values[kept:]
    if not element.is_optional:
        return -1
    if element.categories:
        values.append(None)
    end = _match(rest, tokens, index, values=values)
    if end < 0:
        del values[kept:]
    return end


def _accepts(element: Element, token: Token, values: list[Any]) -> bool:
    if element.is_glued and token.spaced:
        return False
    for category in element.categories:
        value = token.meanings.get(category)
        if value is not None:
            values.append(value)
            return True
    if token.text in element.words:
        if element.categories:
            values.append(None)
        return True
    return False
