"""What the work on goals may know of the web: pages that it reads, and hits of a search. Values and protocols."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLine:
    """One line of a page as people see it.

    Attributes:
        heading: Of the part it stands in; empty where there is none.
    """

    text: str
    heading: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The text of a page: data, whatever it says.

    Attributes:
        address: Where it was found in the end.
        title: Its own; empty where it has none.
    """

    address: str
    title: str
    lines: Sequence[PageLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result of a search: data, whatever it says.

    Attributes:
        address: Begins with http:// or https://.
        text: The lines that the search engine shows of it.
    """

    address: str
    title: str
    text: str


class PageReader(Protocol):
    """Reads single pages."""

    def may_read(self, address: str) -> bool:
        """Whether the household's settings list an address, so that nobody need name it."""
        ...

    async def read(self, address: str) -> Page:
        """Return a page that a person named or the settings list.

        Raises:
            DeniedError: It must not be read, or leads to one that must not be.
            InputError: It is no page of text, or too long.
            UnavailableError: It cannot be reached now.
        """
        ...


class WebSearch(Protocol):
    """Searches the web."""

    async def search(self, query: str, *, is_strict: bool) -> Sequence[Hit]:
        """Return what there is, best first.

        Args:
            is_strict: Whether only what suits children is to be shown.

        Raises:
            UnavailableError: The search engine cannot be asked now.
        """
        ...
