"""Which lines of a page bear on a goal: by its words, and within its limits of price and day. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, Self

from kinkeeper.background.outside import Hit, Page, PageLine
from kinkeeper.language.name_match import content_stems
from kinkeeper.language.text import TokenKind, tokenise
from kinkeeper.reading.bounds import Bounds, bounds_of, days_in, without_bounds

MOST_LINES: Final = 8
_MOST_ALLOWED: Final = 20
_SHARE: Final = 0.5
"""Of the words of a goal, how many a line must have, its heading and the page's title included."""

_SHORTEST_LINE: Final = 3
_FIGURES: Final = frozenset({TokenKind.NUMBER, TokenKind.TIME})


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for on a page.

    Attributes:
        stems: Of the words that say what it is.
    """

    stems: frozenset[str]
    bounds: Bounds

    @classmethod
    def of(cls, wish: str) -> Self:
        """Return what a wish is for.

        Args:
            wish: Without addresses and names of people.
        """
        return cls(content_stems(without_bounds(wish)), bounds_of(wish))

    def lines_of(self, page: Page) -> Sequence[str]:
        """Return the lines of a page that bear on it, those that say most first, else in their order."""
        title = content_stems(page.title) & self.stems
        found = [(self._score(each, title), at) for at, each in enumerate(page.lines)]
        best = sorted((each for each in found if each[0]), key=lambda each: (-each[0], each[1]))
        lines = dict.fromkeys(_shown(page.lines[at]) for _, at in best)
        return [*lines][:MOST_LINES]

    def allowed_lines(self, page: Page) -> Sequence[str]:
        """Return the lines of a page that keep to its limits: those that bear on it, then the others in their order."""
        others = (_shown(each) for each in page.lines if self._may_be(each))
        return [*dict.fromkeys((*self.lines_of(page), *others))][:_MOST_ALLOWED]

    def allows(self, hit: Hit) -> bool:
        """Whether a result of a search bears on it."""
        said = f"{hit.title}. {hit.text}"
        return self._is_enough(content_stems(said) & self.stems) and self.bounds.allow(said)

    def _score(self, line: PageLine, title: frozenset[str]) -> int:
        """Return how much a line says of it, 0 for nothing.

        A line that has none of its words counts where its heading has them, and it gives a figure or a day.
        """
        if not self._may_be(line):
            return 0
        own = content_stems(line.text) & self.stems
        heading = content_stems(line.heading) & self.stems
        if self._is_enough(own):
            return 2 + len(own)
        is_of_it = self._is_enough(own | heading | title) and bool(own or heading)
        return 1 if is_of_it and (_has_figure(line.text)) else 0

    def _may_be(self, line: PageLine) -> bool:
        return len(line.text) >= _SHORTEST_LINE and self.bounds.allow(line.text)

    def _is_enough(self, shared: frozenset[str]) -> bool:
        return bool(shared) and len(shared) >= ceil(_SHARE * len(self.stems))


def _has_figure(text: str) -> bool:
    return any(each.kind in _FIGURES for each in tokenise(text)) or bool(days_in(text))


def _shown(line: PageLine) -> str:
    return (
        f"{line.heading}: {line.text}"
        if line.heading and len(line.text) < len(line.heading) * 2
        else line.text
    )
