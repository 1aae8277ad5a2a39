"""Looks at the web for one household's goals, and what they come to: lines of pages and results, each with its source.

Pages and search engines are asked by the address and the words that the caller gives; who calls sees to it that those
are the person's own.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from kinkeeper.background.model import WebUse
from kinkeeper.background.outside import Hit, Page, PageReader, WebSearch
from kinkeeper.background.page_match import Sought
from kinkeeper.background.web_query import addresses_in, is_public_name
from kinkeeper.core.errors import DeniedError, InputError, KinkeeperError, UnavailableError
from kinkeeper.core.ids import stable_id
from kinkeeper.goals.model import Goal, Source, Step
from kinkeeper.household.model import Household

MOST_PAGES: Final = 3
MOST_HITS: Final = 5
MOST_TRIES: Final = 3
"""How often a step is tried again because the web cannot be reached, before that is told."""

PAGE: Final = "page"
WEB: Final = "the web"

Line = tuple[str, Source, str]
"""A line as it is told, what it rests on, and its fingerprint."""


@dataclass(slots=True, kw_only=True)
class WebFound:
    """What the web came to for one step.

    Attributes:
        sought: What is looked for.
        lines: What was found, in order.
        whole: See `Outcome`.
        tried: Addresses of the pages that were asked for.
        read: Addresses of those that answered.
        unnamed: Addresses of results that bear on it, and that nobody named.
        has_answer: Whether a page said something that bears on it.
        failed: Addresses that came to nothing, empty for a search, each with why.
        is_away: Why some could not be reached now.
        searches: How many were answered.
    """

    sought: Sought
    lines: list[Line] = field(default_factory=list)
    whole: dict[str, str] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    unnamed: list[str] = field(default_factory=list)
    has_answer: bool = False
    failed: list[tuple[str, str]] = field(default_factory=list)
    is_away: list[str] = field(default_factory=list)
    searches: int = 0

    @property
    def use(self) -> WebUse:
        """How often the web was used."""
        return WebUse(reads=len(self.read), searches=self.searches, refused=len(self.failed))

    @property
    def failures(self) -> Iterator[Line]:
        """What could not be looked at, in sentences."""
        for address, why in self.failed:
            what = (
                f"The page {address} could not be read" if address else "I could not search the web"
            )
            source = Source(kind=PAGE, id=address or WEB, text="")
            yield f"{what}: {why}.", source, stable_id("failed", address, why)

    def take(self, address: str, page: Page, *, with_others: bool) -> None:
        """Take what of a page bears on the goal; that nothing does, too."""
        self.read.add(address)
        mark = stable_id(PAGE, address)
        self.whole[mark] = f"Something that stood at {host_of(address)} is no longer there."
        bearing = self.sought.lines_of(page)
        for each in self.sought.allowed_lines(page) if with_others else bearing:
            self._add(address, each, digest=f"{mark}:{stable_id(each)}")
        self.has_answer = self.has_answer or bool(bearing)
        if not bearing and not with_others:
            title = f" (“{page.title}”)" if page.title else ""
            self._add(address, f"The page{title} says nothing about it", digest=f"{mark}:nothing")

    def take_hit(self, hit: Hit) -> None:
        """Take a result of a search."""
        line = f"{hit.title or host_of(hit.address)}: {hit.text}" if hit.text else hit.title
        # The words that an engine shows differ from day to day; the page is what is new.
        self._add(hit.address, line, digest=stable_id("hit", hit.address))

    def leave_to_person(self, hits: Sequence[Hit]) -> None:
        """Note the pages among these results that their person would have to allow."""
        unread = (each.address for each in hits if each.address not in self.tried)
        self.unnamed += [each for each in unread if is_public_name(each)]

    def require_reached(self, step: Step) -> None:
        """Leave a step for a later try where the web could not be reached and said nothing.

        Raises:
            UnavailableError: It may say more then.
        """
        if self.is_away and not self.lines and step.iterations < MOST_TRIES:
            raise UnavailableError("; ".join(self.is_away))

    def miss(self, address: str, error: KinkeeperError) -> None:
        """Take that a page could not be read, or nothing be searched for."""
        self.failed.append((address, str(error)))
        if isinstance(error, UnavailableError):
            self.is_away.append(str(error))

    def _add(self, address: str, line: str, *, digest: str) -> None:
        source = Source(kind=PAGE, id=address, text=line)
        self.lines.append((f"{line} ({host_of(address)})", source, digest))


class WebLooks:
    """Reads pages and asks a search engine.

    Args:
        pages: Reads pages; None where the settings let none be read.
        engine: Searches the web; None where none is set up.
    """

    def __init__(
        self, household: Household, *, pages: PageReader | None, engine: WebSearch | None
    ) -> None:
        self._household = household
        self._pages = pages
        self._engine = engine

    @property
    def can_read(self) -> bool:
        """Whether pages may be read at all."""
        return self._pages is not None

    @property
    def can_search(self) -> bool:
        """Whether there is a search engine."""
        return self._engine is not None

    def is_listed(self, address: str) -> bool:
        """Whether a page may be read although nobody named it."""
        return self._pages is not None and self._pages.may_read(address)

    async def read_named(self, goal: Goal, found: WebFound, *, with_others: bool = False) -> bool:
        """Read the pages that a goal's person named, and those that they allowed; return whether they named any.

        Only what they themselves wrote names a page: steps may be a model's.

        Args:
            with_others: See `read`.
        """
        if self._pages is None:
            return False
        named = addresses_in(goal.text)[:MOST_PAGES]
        for each in (*named, *goal.progress.allowed_pages):
            await self.read(each, found, with_others=with_others)
        return bool(named)

    async def read(self, address: str, found: WebFound, *, with_others: bool = False) -> None:
        """Read a page that its person named or allowed, or that the settings list.

        Args:
            with_others: Whether the lines that have none of the goal's words are taken, too.
        """
        if self._pages is None:
            return
        found.tried.add(address)
        try:
            page = await self._pages.read(address)
        except (DeniedError, InputError, UnavailableError) as error:
            found.miss(address, error)
        else:
            await asyncio.to_thread(found.take, address, page, with_others=with_others)

    async def search(self, words: str, goal: Goal, found: WebFound) -> Sequence[Hit]:
        """Return what a search for a goal finds; nothing where the engine cannot be asked.

        Args:
            words: Of the goal, without what is nobody else's business; see `web_query`.
        """
        if self._engine is None:
            return ()
        member = self._household.member(goal.member)
        is_strict = member is None or not member.is_adult
        try:
            hits = await self._engine.search(words, is_strict=is_strict)
        except UnavailableError as error:
            found.miss("", error)
            return ()
        found.searches += 1
        return hits


def host_of(address: str) -> str:
    """Return the host of an address, as people name it."""
    return (urlsplit(address).hostname or address).removeprefix("www.")
