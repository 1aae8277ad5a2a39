"""What is looked up for a turn before it is planned: memories, open tasks, one's own list, and what takes place soon."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Connection

from kinkeeper.actions.expected import expected_between, given_to
from kinkeeper.actions.readers import Reader, waiting_for
from kinkeeper.actions.requests.event_views import occurrence_json
from kinkeeper.actions.requests.model import Asked
from kinkeeper.actions.requests.notes import note_json
from kinkeeper.conversation.model import LONGEST_READ
from kinkeeper.conversation.turn import Turn
from kinkeeper.core.time import Clock, Interval, midnight
from kinkeeper.goals.model import UNFINISHED
from kinkeeper.goals.repository import list_goals
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.memory.context.context_builder import told
from kinkeeper.memory.context.prefetch import Streaming, Thread
from kinkeeper.memory.finding.search import PASSIVE_CONFIDENCE, Finder, Search
from kinkeeper.memory.finding.visible_results import Hit, HitKind
from kinkeeper.notes.model import entries, is_list
from kinkeeper.notes.repository import list_notes
from kinkeeper.reading.own_lists import OWN_LIST
from kinkeeper.tasks.repository import open_tasks

# What memory brings to a turn unasked: what was looked up ahead for the thread, and what the
# message calls for.

_MOST = 5
_STRONG = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """Memories for a turn.

    Attributes:
        lines: Best first, each with who said it and when.
        strong: How many of them are sure enough to speak of knowing.
    """

    lines: Sequence[str] = ()
    strong: int = 0


NOTHING = Brought()


class Memories:
    """Brings memories to the turns of one household.

    Args:
        streaming: Looks ahead, in this process; None where that is switched off.
        household: Whose memory; tells names, and which day it was.
        searches: Whether to search for each message, too: worth its time where a model reads what is found.
    """

    def __init__(
        self,
        finder: Finder,
        streaming: Streaming | None,
        clock: Clock,
        *,
        household: Household,
        searches: bool,
    ) -> None:
        self._finder = finder
        self._streaming = streaming
        self._clock = clock
        self._household = household
        self._searches = searches

    async def bring(self, turn: Turn, viewer: Viewer) -> Brought:
        """Return what there is for a turn.

        Raises:
            UnavailableError: The database cannot be reached.
        """
        hits: list[Hit] = []
        if self._streaming is not None:
            ahead = await self._streaming.take(Thread(viewer, turn.thread_id))
            hits += [*ahead.facts, *ahead.episodes]
        if self._searches:
            hits += await self._found(turn, viewer)
        best = list({hit.id: hit for hit in hits}.values())[: 2 * _MOST]
        strong = sum(hit.kind is HitKind.FACT and hit.confidence >= _STRONG for hit in best)
        people = self._household
        return Brought(lines=[told(hit, people.names, people.zone) for hit in best], strong=strong)

    def turn_ended(self, turn: Turn, viewer: Viewer, answer: str) -> None:
        """Have memories looked up for the next turn of a thread."""
        if self._streaming is not None:
            self._streaming.turn_ended(
                Thread(viewer, turn.thread_id), asked=turn.text[:LONGEST_READ], answered=answer
            )

    async def _found(self, turn: Turn, viewer: Viewer) -> Sequence[Hit]:
        found = await self._finder.search(
            Search(
                text=turn.text[:LONGEST_READ],
                viewer=viewer,
                now=self._clock.now(),
                limit=_MOST,
                min_confidence=PASSIVE_CONFIDENCE,
            )
        )
        return found.hits


# What a planner may want to know before it plans: what is open, and what takes place soon.

IN_VIEW: Final = timedelta(days=14)
"""How far ahead the events are known before a request is planned."""

_OWN_IN_VIEW: Final = timedelta(days=90)
"""How far ahead those of the asker are: they may say long before that they cannot come."""

_MOST_KNOWN = 100


def fetch(conn: Connection, asked: Asked) -> Mapping[str, Any]:
    """Return open tasks and goals, the asker's own list, names of lists, the events of the next two weeks and the asker's later ones, as JSON by name."""
    ahead, notes = Interval(asked.now, asked.now + IN_VIEW), list_notes(conn, asked.viewer)
    zone, me = asked.household.zone, asked.member.id
    later = Interval(ahead.end, asked.now + _OWN_IN_VIEW)
    reader = Reader(
        member=asked.member,
        household=asked.household,
        viewer=asked.viewer,
        is_shared=asked.is_shared,
    )
    return {
        "tasks": open_tasks(conn, asked.viewer)[:_MOST_KNOWN],
        "notes": [
            note_json(each)
            for each in notes
            if each.title == OWN_LIST and each.scope == person_scope(asked.member.id)
        ],
        "goals": [
            {"id": each.id, "title": each.text}
            for each in list_goals(conn, asked.viewer)
            if each.status in UNFINISHED
        ],
        "lists": [each.title for each in notes if is_list(each.body)],
        "lines": [
            {"title": each.title, "entries": entries(each.body)[:_MOST_KNOWN]}
            for each in notes
            if is_list(each.body)
        ],
        "events": [
            occurrence_json(each, asked)
            for each in expected_between(conn, asked.viewer, ahead, now=asked.now)[:_MOST_KNOWN]
        ],
        "later": [
            occurrence_json(each, asked)
            for each in expected_between(conn, asked.viewer, later, now=asked.now, member=me)
        ][:_MOST_KNOWN],
        "cards": [each.id for each in waiting_for(conn, reader, now=asked.now)],
        "given": given_to(
            conn, asked.viewer, me, since=midnight(asked.now.date(), zone), now=asked.now
        ),
    }
