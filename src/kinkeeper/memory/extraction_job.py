"""Reads statements out of what was said in sessions, in the background: a turn at a time, each once.

Statements of a turn that a person has to confirm are proposed; those of all others become facts.

A turn counts as read in the transaction that writes what was found in it, so a process that is
killed leaves it either unread or done.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from zoneinfo import ZoneInfo

import structlog
from sqlalchemy import Connection

from kinkeeper.core.beside import beside
from kinkeeper.core.time import Clock
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.memory.concepts import follow_all_facts, is_behind
from kinkeeper.memory.episodes import (
    claim_reading,
    episodes_by_id,
    neighbours,
    reply_id,
    unread_episodes,
    unread_of,
)
from kinkeeper.memory.ingest import remember
from kinkeeper.memory.memory_rows import TOPIC
from kinkeeper.memory.model import Episode, Observation
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.observability.failures import count_failure, repeat
from kinkeeper.store.commits import AFTERWARDS
from kinkeeper.store.store import Store

log = structlog.get_logger()

PIECE = 4_096
"""Most characters that are read at once; a longer text is read in pieces, cut between sentences."""

MOST_READ = 262_144
"""Most characters of a turn that are read; the rest of a longer one is kept and found as it is."""

_NAME = "memory.reading"
_EARLIER_TURNS = 6
_LONGEST_READING = 60.0  # seconds
Propose = Callable[[Connection, Episode, Sequence[Observation]], None]
"""Asks a person about statements of an episode, in the transaction that marks it as read."""

_ENDS = ("\n", ". ", "! ", "? ", " ")


class SessionReading:
    """Reads statements out of one household's sessions.

    Args:
        people: Member ids by folded name or alias.
        guardians: By member id of a child, whose word about it counts.
        locale: Of the household; decides how dates are read.
        clock: Tells when something is stored.
        propose: Asks a person about the statements of turns that need a confirmation.
    """

    def __init__(
        self,
        store: Store,
        household: str,
        *,
        people: Mapping[str, str],
        guardians: Mapping[str, Sequence[str]],
        zone: ZoneInfo,
        locale: str,
        clock: Clock,
        propose: Propose,
    ) -> None:
        self._store = store
        self._household = household
        self._propose = propose
        self._people = people
        self._guardians = guardians
        self._zone = zone
        self._locale = locale
        self._clock = clock

    async def run(self, every: timedelta = timedelta(seconds=30)) -> None:
        """Read what is unread, as soon as it is there, until cancelled.

        Args:
            every: Longest wait between looks for what other processes stored, > 0.
        """
        with self._store.watch((TOPIC, self._household), after=AFTERWARDS) as watch:
            rest = partial(watch.wait, every.total_seconds())
            await repeat(self._read_all, rest, name=_NAME)

    async def _read_all(self) -> None:
        """Read until nothing is unread, resting as long as it works: a large import holds up nobody."""
        now = asyncio.get_running_loop().time
        begun = now()
        while await self.run_once():
            await asyncio.sleep(now() - begun)
            begun = now()

    async def run_once(self) -> int:
        """Read some of what is unread, and bring the map of concepts up to date.

        Returns:
            How many turns were read.
        """
        waiting = await self._store.read(lambda conn: unread_episodes(conn, self._household))
        for episode in waiting:
            await self._read(episode)
        if not waiting and await self._store.read(self._is_behind):
            await follow_all_facts(self._store, self._household)
        return len(waiting)

    def _is_behind(self, conn: Connection) -> bool:
        return is_behind(conn, self._household)

    async def _read(self, episode: Episode) -> None:
        previous = await self._store.read(lambda conn: _earlier(conn, episode))
        try:
            async with asyncio.timeout(_LONGEST_READING):
                found = await beside(lambda: self._observed(episode, previous))
        except Exception as error:  # noqa: BLE001 - one turn that cannot be read must not keep all others waiting
            count_failure(_NAME, error, episode=episode.id)
            found = []
        await self._store.write(lambda conn: self._written(conn, episode, found))
        await self._read_again(episode)

    async def _read_again(self, episode: Episode) -> None:
        """Read later turns again that were read before this one arrived: they may set right what it says."""
        later = await self._store.read(lambda conn: _read_after(conn, episode))
        for each in later:
            previous = await self._store.read(lambda conn, turn=each: _earlier(conn, turn))  # type: ignore[misc]
            found = await beside(partial(self._observed, each, previous))
            if corrections := [one for one in found if one.correction is not None]:
                await self._store.write(
                    lambda conn, turn=each, known=corrections: self._written(conn, turn, known)  # type: ignore[misc]
                )

    def _written(self, conn: Connection, read: Episode, found: Sequence[Observation]) -> None:
        """Write what was found, for those who may see the turn now: a person may have changed that meanwhile.

        A turn whose words changed meanwhile stays unread.
        """
        episode = _present(conn, read)
        if episode is None or episode.text != read.text:
            return
        if episode.asked_scope is not None:
            if claim_reading(conn, self._household, episode.id):
                self._propose(conn, episode, found)
            return
        if not found:
            claim_reading(conn, self._household, episode.id)
            return
        remember(
            conn,
            episode,
            found,
            at=self._clock.now(),
            people=self._people,
            guardians=self._guardians,
        )

    def _observed(self, episode: Episode, previous: Sequence[str]) -> list[Observation]:
        said_at = episode.said_at.astimezone(self._zone)
        return [
            replace(each, start=each.start + start, end=each.end + start)
            for start, piece in pieces(episode.text[:MOST_READ])
            for each in observe(
                piece, said_at=said_at, previous=previous, locale=self._locale, people=self._people
            )
        ]


def pieces(text: str, size: int = PIECE) -> Iterator[tuple[int, str]]:
    """Yield a text in pieces, each with where it starts.

    Args:
        size: Most characters of a piece, > 0.
    """
    start = 0
    while start < len(text):
        end = start + size
        if end < len(text):
            cuts = (
                text.rfind(mark, start, end) + len(mark)
                for mark in _ENDS
                if mark in text[start:end]
            )
            end = next(cuts, end)
        yield start, text[start:end]
        start = end


def _present(conn: Connection, episode: Episode) -> Episode | None:
    """Return an episode as it is stored now; None if it was erased."""
    return episodes_by_id(conn, episode.household, [episode.id]).get(episode.id)


def _around(conn: Connection, episode: Episode, *, before: int, after: int) -> list[Episode]:
    """Return the turns about an episode that are for the same people now, with what was answered to them."""
    now = _present(conn, episode)
    if now is None:
        return []
    answered = frozenset() if now.member is None else frozenset({person_scope(now.member)})
    viewer = Viewer(now.household, frozenset({now.scope}) | answered)
    turns = neighbours(conn, viewer, now.id, before=before, after=after)
    said = {turn.id for turn in turns if turn.scope == now.scope}
    said |= {reply_id(now.household, each) for each in said}
    return [turn for turn in turns if turn.id in said]


def _read_after(conn: Connection, episode: Episode) -> list[Episode]:
    """Return the turns after one that may refer to it and were read already."""
    turns = _around(conn, episode, before=0, after=_EARLIER_TURNS)[1:]
    unread = unread_of(conn, episode.household, [turn.id for turn in turns])
    return [turn for turn in turns if not turn.is_assistant and turn.id not in unread]


def _earlier(conn: Connection, episode: Episode) -> list[str]:
    turns = _around(conn, episode, before=_EARLIER_TURNS, after=0)
    return [turn.text[:PIECE] for turn in turns[:-1]]
