"""Working on a goal without a model: what there is at home, pages that its person named, and a search of the web.

What pages and search engines say is shown with its source, and nothing of it is followed. What is asked of them is made
of the goal's own words only.
"""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlsplit

from kinkeeper.background.home_search import HomeSearch
from kinkeeper.background.model import Outcome, WebUse
from kinkeeper.background.outside import Page, PageReader, WebSearch
from kinkeeper.background.page_match import MOST_LINES, Sought
from kinkeeper.background.web_query import addresses_in, is_public_name, public_words
from kinkeeper.core.errors import DeniedError, InputError, KinkeeperError, UnavailableError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import Clock
from kinkeeper.goals.model import Goal, GoalKind, Source, Step
from kinkeeper.household.model import Household

_MOST_PAGES: Final = 3
_MOST_HITS: Final = 5
_MOST_TRIES: Final = 3
"""How often a step is tried again because the web cannot be reached, before that is told."""

_PAGE = "page"
_WEB = "the web"


class OutsideSearch:
    """Does the steps of goals at home and on the web.

    Args:
        home: Looks through what there is at home.
        pages: Reads pages; None where the settings let none be read.
        engine: Searches the web; None where none is set up.
    """

    def __init__(
        self,
        home: HomeSearch,
        household: Household,
        clock: Clock,
        *,
        pages: PageReader | None,
        engine: WebSearch | None,
    ) -> None:
        self._home = home
        self._household = household
        self._clock = clock
        self._pages = pages
        self._engine = engine

    @property
    def limits(self) -> str:
        """What of the web it cannot look at; empty where there is nothing."""
        if self._engine is not None:
            return (
                ""
                if self._pages is not None
                else "I can search the web here, but not read its pages."
            )
        if self._pages is not None:
            return "No web search is set up here: besides pages that you name, I look only at what we have at home."
        return self._home.limits

    async def run(self, goal: Goal, step: Step) -> Outcome:
        """Return what there is at home and on the web that bears on a step.

        Raises:
            UnavailableError: The web could not be reached, and a later try may find more.
        """
        now = self._clock.now()
        words = public_words(goal.text, self._household, now=now)
        at_home = await self._home.run(goal, replace(step, description=_without_addresses(step)))
        found = _Found(Sought.of(words))
        # Only what the person themself wrote names a page: steps may be a model's.
        addresses = addresses_in(goal.text)[:_MOST_PAGES]
        allowed = goal.progress.allowed_pages
        for each in (*addresses, *allowed) if self._pages is not None else ():
            await self._read(each, found)
        is_read = bool(addresses) and self._pages is not None
        if not is_read and self._engine is not None and words:
            await self._search(self._engine, words, goal, found)
        if found.is_away and not found.lines and step.iterations < _MOST_TRIES:
            raise UnavailableError("; ".join(found.is_away))
        return found.joined(at_home, is_watched=goal.kind is GoalKind.WATCH)

    async def _read(self, address: str, found: "_Found") -> None:
        if self._pages is None:
            return
        found.tried.add(address)
        try:
            page = await self._pages.read(address)
        except (DeniedError, InputError, UnavailableError) as error:
            found.miss(address, error)
        else:
            await asyncio.to_thread(found.take, address, page)

    async def _search(self, engine: WebSearch, words: str, goal: Goal, found: "_Found") -> None:
        member = self._household.member(goal.member)
        is_strict = member is None or not member.is_adult
        try:
            hits = await engine.search(words, is_strict=is_strict)
        except UnavailableError as error:
            found.miss("", error)
            return
        found.searches += 1
        fitting = [each for each in hits if found.sought.allows(each)][:_MOST_HITS]
        listed = [
            each.address
            for each in fitting
            if self._pages is not None
            and self._pages.may_read(each.address)
            and each.address not in found.tried
        ]
        for each in listed[:_MOST_PAGES]:
            await self._read(each, found)
        # A page that nobody named is read only once somebody did, and only where what may be read does not say it.
        if self._pages is not None and not found.has_answer:
            unread = (each.address for each in fitting if each.address not in found.tried)
            found.unnamed += [each for each in unread if is_public_name(each)]
        for hit in fitting:
            if hit.address not in found.read:
                line = f"{hit.title or host_of(hit.address)}: {hit.text}" if hit.text else hit.title
                # The words that an engine shows differ from day to day; the page is what is new.
                found.add(hit.address, line, digest=stable_id("hit", hit.address))


@dataclass(slots=True, kw_only=False)
class _Found:
    """What the web came to for one step."""

    sought: Sought
    lines: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    whole: dict[str, str] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    unnamed: list[str] = field(default_factory=list)
    has_answer: bool = False
    failed: list[tuple[str, str]] = field(default_factory=list)
    is_away: list[str] = field(default_factory=list)
    searches: int = 0

    def add(self, address: str, line: str, *, digest: str) -> None:
        """Take a line of a page."""
        self.lines.append(f"{line} ({host_of(address)})")
        self.sources.append(Source(kind=_PAGE, id=address, text=line))
        self.digests.append(digest)

    def take(self, address: str, page: Page) -> None:
        """Take what of a page bears on the goal; that nothing does, too."""
        self.read.add(address)
        mark = stable_id(_PAGE, address)
        self.whole[mark] = f"Something that stood at {host_of(address)} is no longer there."
        lines = self.sought.lines_of(page)
        for each in lines:
            self.add(address, each, digest=f"{mark}:{stable_id(each)}")
        self.has_answer = self.has_answer or bool(lines)
        if not lines:
            title = f" (“{page.title}”)" if page.title else ""
            self.add(address, f"The page{title} says nothing about it", digest=f"{mark}:nothing")

    def miss(self, address: str, error: KinkeeperError) -> None:
        """Take that a page could not be read, or nothing be searched for."""
        self.failed.append((address, str(error)))
        if isinstance(error, UnavailableError):
            self.is_away.append(str(error))

    def joined(self, home: Outcome, *, is_watched: bool) -> Outcome:
        """Return it with what there is at home: the web first, where something is watched there."""
        for address, why in self.failed:
            what = (
                f"The page {address} could not be read" if address else "I could not search the web"
            )
            self.lines.append(f"{what}: {why}.")
            self.sources.append(Source(kind=_PAGE, id=address or _WEB, text=""))
            self.digests.append(stable_id("failed", address, why))
        is_used = bool(self.read or self.searches)
        most = MOST_LINES * _MOST_PAGES
        mine = (self.lines[:most], self.sources[:most], self.digests[:most])
        at_home = (home.lines, home.sources, home.digests)
        # Whoever names a page wants to know what it says.
        first, then = (mine, at_home) if self.read or is_watched else (at_home, mine)
        return Outcome(
            lines=[*first[0], *then[0]],
            sources=[*first[1], *then[1]],
            digests=[*first[2], *then[2]],
            places=(*home.places, _WEB) if is_used else home.places,
            whole=self.whole,
            web=WebUse(reads=len(self.read), searches=self.searches, refused=len(self.failed)),
            pages=tuple(self.unnamed),
        )


def host_of(address: str) -> str:
    """Return the host of an address, as people name it."""
    return (urlsplit(address).hostname or address).removeprefix("www.")


def _without_addresses(step: Step) -> str:
    text = step.description
    for each in addresses_in(text):
        text = text.replace(each, "").replace(each.removeprefix("https://"), "")
    return " ".join(text.split()) or step.description
