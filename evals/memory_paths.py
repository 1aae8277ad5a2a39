"""Everything that any path says of memory, in one text: contexts, searches, answers, pages, exports."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.brain.model import BrainQuery
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.browser import evidence_of
from kinkeeper.memory.concepts import concept_map
from kinkeeper.memory.context.context_builder import assembled
from kinkeeper.memory.context.prefetch import Streaming, Thread
from kinkeeper.memory.context.session_facts import as_markdown, as_record, injected
from kinkeeper.memory.episodes import list_episodes, outdated_spans
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.finding.search import Finder, HitKind, Order, Search
from kinkeeper.memory.memory_export import Exported, exported_lines
from kinkeeper.memory.model import FactStatus
from kinkeeper.observer.redline.phrase_templates import Limits, Phrasing
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.store.store import Store
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.known import Recollection, days_of
from kinkeeper.web.views.people import people_of

_MOST = 20
_BUDGET = 5_000
_SEARCHES: tuple[Mapping[str, Any], ...] = (
    {},
    {"kinds": (HitKind.FACT,)},
    {"kinds": (HitKind.EPISODE,), "is_diverse": False},
    {"order": Order.CONTEXT},
    {"as_of": ...},
)


class Paths:
    """Asks one household's memory on behalf of one member, by every path there is.

    Args:
        store: The database.
        people: The household, with the id under which it was told.
        member: On whose behalf.
        clock: Tells what holds.
        finder: Searches its memory.
        streaming: What was looked up ahead.
        participants: The household, for its pages.
    """

    def __init__(
        self,
        store: Store,
        people: Household,
        member: str,
        *,
        clock: Clock,
        finder: Finder,
        streaming: Streaming,
        participants: Participants,
    ) -> None:
        self._store = store
        self._people = people
        self._viewer = Viewer.of(people.id, member)
        self._clock = clock
        self._finder = finder
        self._streaming = streaming
        self._participants = participants

    async def says(self, sentences: Iterable[str], sessions: Iterable[str]) -> dict[str, str]:
        """Return by path all that it says.

        Args:
            sentences: What to ask about.
            sessions: Talks whose next turn is prepared.
        """
        now = self._clock.now()
        said = await self._store.read(lambda conn: self._pages(conn, now))
        said["begin"] = await self._begin(None, now)
        said["context"] = "\n".join([await self._context(each, now) for each in sessions])
        asked = list(sentences)
        said["begin with a query"] = "\n".join([await self._begin(each, now) for each in asked])
        said["search"] = "\n".join([await self._search(each, now) for each in asked])
        said["brain"] = "\n".join([await self._brain(each) for each in asked])
        return said

    async def _context(self, session: str, now: datetime) -> str:
        turn = await assembled(
            self._store,
            self._streaming,
            Thread(self._viewer, session),
            now=now,
            budget=_BUDGET,
            names=self._people.names,
            zone=self._people.zone,
        )
        fitted = turn.fitted
        return "\n".join(
            [*fitted.recent, *(each.text for each in (*fitted.facts, *fitted.episodes))]
        )

    async def _begin(self, query: str | None, now: datetime) -> str:
        begun = await injected(self._store, self._finder, self._viewer, query=query, now=now)
        names = self._people.names
        return as_markdown(begun, self._people.zone, names) + json.dumps(as_record(begun, names))

    async def _search(self, text: str, now: datetime) -> str:
        lines = []
        for wanted in _SEARCHES:
            as_of = {"as_of": now} if "as_of" in wanted else {}
            asked = Search(
                text=text, viewer=self._viewer, now=now, limit=_MOST, **{**wanted, **as_of}
            )
            lines += [hit.text for hit in (await self._finder.search(asked)).hits]
        return "\n".join(lines)

    async def _brain(self, text: str) -> str:
        brain = HouseholdBrain(self._store, self._people, self._finder, self._clock)
        known = await brain.know(BrainQuery(text=text), self._viewer)
        told = [source.text + source.sentence for source in known.sources]
        return "\n".join(
            [known.answer, *told, *(f"{time.context} {time.value}" for time in known.times)]
        )

    def _pages(self, conn: Connection, now: datetime) -> dict[str, str]:
        viewer = self._viewer
        phrasing = Phrasing(participants=self._participants, limits=Limits())
        words = Recollection(people_of(self._people), Wording(phrasing=phrasing, now=now))
        facts = list_facts(conn, viewer, now=now)
        evidence = evidence_of(conn, viewer, [fact.id for fact in facts])
        known = [words.known(fact, evidence.get(fact.id, ())) for fact in facts]
        # What the assistant answered then is no claim of what holds: the page shows it as said.
        episodes = [each for each in list_episodes(conn, viewer) if not each.is_assistant]
        spans = outdated_spans(conn, viewer.household, [each.id for each in episodes], at=now)
        days = days_of(episodes, spans, words)
        relations = concept_map(conn, viewer, now=now).relations
        return {
            "page of facts": "\n".join(
                f"{each.line} {each.details} {each.because and each.because.text}" for each in known
            ),
            "page of what was said": "\n".join(
                piece.text
                for day in days
                for turn in day.turns
                for piece in (*turn.pieces, *turn.rest)
                if not piece.is_outdated
            ),
            "map": "\n".join(f"{each.source} {each.type} {each.target}" for each in relations),
            "export": "\n".join(_held(conn, viewer, now)),
        }


def _held(conn: Connection, viewer: Viewer, now: datetime) -> Iterator[str]:
    """Yield the text of exported facts that are told to hold."""
    for line in exported_lines(conn, viewer.household, Exported.FACTS, names={}, viewer=viewer):
        record = json.loads(line)
        ends = record["valid_to"]
        if FactStatus(record["status"]).is_active and not (
            ends and datetime.fromisoformat(ends) <= now
        ):
            yield record["text"]
