"""Working on a goal without a model: what there is at home, pages that its person named, and a search of the web.

What pages and search engines say is shown with its source, and nothing of it is followed. What is asked of them is made
of the goal's own words only.
"""

from dataclasses import replace

from kinkeeper.background.home_search import HomeSearch
from kinkeeper.background.model import Outcome
from kinkeeper.background.page_match import MOST_LINES, Sought
from kinkeeper.background.web_looks import MOST_HITS, MOST_PAGES, WEB, WebFound, WebLooks
from kinkeeper.background.web_query import public_words, without_addresses
from kinkeeper.core.time import Clock
from kinkeeper.goals.model import Goal, GoalKind, Step
from kinkeeper.household.model import Household


class OutsideSearch:
    """Does the steps of goals at home and on the web.

    Args:
        home: Looks through what there is at home.
        web: Looks at the web, as far as the settings let it.
    """

    def __init__(self, home: HomeSearch, web: WebLooks, household: Household, clock: Clock) -> None:
        self._home = home
        self._household = household
        self._clock = clock
        self._web = web

    @property
    def limits(self) -> str:
        """What of the web it cannot look at; empty where there is nothing."""
        if self._web.can_search:
            return (
                "" if self._web.can_read else "I can search the web here, but not read its pages."
            )
        if self._web.can_read:
            return "No web search is set up here: besides pages that you name, I look only at what we have at home."
        return self._home.limits

    async def run(self, goal: Goal, step: Step) -> Outcome:
        """Return what there is at home and on the web that bears on a step.

        Raises:
            UnavailableError: The web could not be reached, and a later try may find more.
        """
        words = public_words(goal.text, self._household, now=self._clock.now())
        said = without_addresses(step.description)
        at_home = await self._home.run(goal, replace(step, description=said))
        found = WebFound(sought=Sought.of(words))
        is_named = await self._web.read_named(goal, found)
        if not is_named and words:
            await self._search(words, goal, found)
        found.require_reached(step)
        return _joined(found, at_home, is_watched=goal.kind is GoalKind.WATCH)

    async def _search(self, words: str, goal: Goal, found: WebFound) -> None:
        hits = await self._web.search(words, goal, found)
        fitting = [each for each in hits if found.sought.allows(each)][:MOST_HITS]
        listed = [
            each.address
            for each in fitting
            if self._web.is_listed(each.address) and each.address not in found.tried
        ]
        for each in listed[:MOST_PAGES]:
            await self._web.read(each, found)
        # A page that nobody named is read only once somebody did, and only where what may be read does not say it.
        if self._web.can_read and not found.has_answer:
            found.leave_to_person(fitting)
        for hit in fitting:
            if hit.address not in found.read:
                found.take_hit(hit)


def _joined(found: WebFound, home: Outcome, *, is_watched: bool) -> Outcome:
    """Return what the web came to with what there is at home: the web first, where something is watched there."""
    mine = [*found.lines, *found.failures][: MOST_LINES * MOST_PAGES]
    at_home = [*zip(home.lines, home.sources, home.digests, strict=True)]
    # Whoever names a page wants to know what it says.
    lines = [*mine, *at_home] if found.read or is_watched else [*at_home, *mine]
    return Outcome(
        lines=[line for line, _, _ in lines],
        sources=[source for _, source, _ in lines],
        digests=[digest for _, _, digest in lines],
        places=(*home.places, WEB) if found.read or found.searches else home.places,
        whole=found.whole,
        web=found.use,
        pages=tuple(found.unnamed),
    )
