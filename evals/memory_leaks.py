"""Whether what holds no more comes out of memory by any path: random chains of statements.

Each chain is told in several talks, in any order of what it speaks of; one member's turns are turns with the assistant.
Half way through, the next turn's memories are looked up, and the assistant is asked something; then the rest is told, a person may set something right by hand, and a night may pass. At the end every
path is asked about what is outdated: the sentences themselves, and the values that nothing that holds names.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, select

from evals.memory_chains import Draws, Told, chain, draws_of, in_files, values
from evals.memory_paths import Paths
from evals.memory_talks import Talks
from evals.report import Floor, Report, Table
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory import tables
from kinkeeper.memory.concepts import follow_all_facts
from kinkeeper.memory.context.prefetch import Streaming, Thread
from kinkeeper.memory.corrections import edit_fact, mark_wrong, retract_fact
from kinkeeper.memory.episodes import insert_episodes, reply_id
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.finding.search import Finder
from kinkeeper.memory.ingest import remember
from kinkeeper.memory.memory_rows import fact_from_row
from kinkeeper.memory.model import Episode, Fact, FactStatus, Origin
from kinkeeper.memory.sessions import ASSISTANT, turn_key
from kinkeeper.memory.undo import undo
from kinkeeper.memory.upkeep.consolidation import consolidate
from kinkeeper.memory.upkeep.planner import Tools
from kinkeeper.observer.wording.participants import Participants, compile_participants
from kinkeeper.store.store import Store

SAMPLE, FULL = 40, 10_000
"""How many chains are told: by default, and in full."""

_FAMILY = Path("examples") / "miller" / "household.toml"
_SEED = 3
_A_FILE = 250
_ASKED = 3
_ASKER = "john"
_QUESTIONS = ("Where do I live?", "Who do I work for?", "What is my car?", "Where is my desk?")
_SOON = timedelta(hours=1)
_ASKED_AFTER = (0, 0, 0, 2, 20)
_ONE_NIGHT_IN, _ONE_CHANGE_IN, _ONE_TAKEN_BACK_IN = 6, 3, 4


@dataclass(slots=True)
class Leaks:
    """What came out though it holds no more.

    Attributes:
        found: A line each: chain, path, words.
        tried: Outdated sentences and values that were looked for.
        paths: How often each path leaked.
    """

    found: list[str] = field(default_factory=list)
    tried: int = 0
    paths: Counter[str] = field(default_factory=Counter)


def measure(
    root: Path, *, chains: int = SAMPLE, progress: Callable[[str], None] = lambda _: None
) -> Report:
    """Tell chains, and count what of them comes out though it holds no more.

    Args:
        root: The repository.
        chains: How many, > 0.
        progress: Told how far it is.
    """
    family, leaks = load_household(root / _FAMILY), Leaks()
    for store, numbers in in_files(chains, a_file=_A_FILE):
        asyncio.run(leaking(store, family, numbers, seed=_SEED, into=leaks))
        progress(f"{numbers.stop} of {chains} chains, {len(leaks.found)} leaks")
    return Report(
        suite="memory leaks",
        worst=tuple(leaks.found),
        tables=(
            Table(
                title="Superseded text that reaches a context or an answer",
                columns=("chains of updates", "outdated sentences and values", "leaked"),
                rows=((chains, leaks.tried, len(leaks.found)),),
            ),
        ),
        floors=(
            Floor(
                name="outdated words kept in",
                minimum=1.0,
                value=1 - len(leaks.found) / max(1, leaks.tried),
            ),
            Floor(name="outdated words tried, by chain", value=leaks.tried / chains, minimum=1.0),
        ),
    )


async def leaking(
    store: Store, family: Household, numbers: Iterable[int], *, seed: int, into: Leaks
) -> None:
    """Tell chains, and note what leaks out of them.

    Args:
        store: Holds none of these chains.
        family: Whose members speak.
        numbers: Which chains; each is the same whichever others are told.
        seed: Of all chains.
        into: Is added to.
    """
    participants = compile_participants(family)
    for number in numbers:
        told = _Telling(
            store, replace(family, id=f"h{number}"), draws_of(number, seed=seed), participants
        )
        said, gone = await told.asked()
        into.tried += len(gone)
        for path, text in said.items():
            for each in gone:
                if _holds(text, each):
                    into.found.append(f"chain {number}, {path}: {each}")
                    into.paths[path] += 1


class _Telling:
    """Tells one chain to a household of its own.

    Args:
        store: The database.
        people: The household.
        draws: Decide what happens.
        participants: The household, for its pages.
    """

    def __init__(
        self, store: Store, people: Household, draws: Draws, participants: Participants
    ) -> None:
        self._store = store
        self._participants = participants
        self._people = people
        self._viewer = Viewer.of(people.id, _ASKER)
        self._draws = draws
        self._turns = chain(draws)
        self._now = max(turn.at for turn in self._turns) + _SOON
        self._clock = VirtualClock(self._now)
        self._finder = Finder(store, people.id, zone=people.zone)
        self._streaming = Streaming(store, self._finder, self._clock)
        self._talks = Talks(store, people, _ASKER, clock=self._clock, finder=self._finder)

    async def asked(self) -> tuple[Mapping[str, str], Sequence[str]]:
        """Tell it; return by path what is said of it then, and what is outdated."""
        half = len(self._turns) // 2
        await self._tell(self._turns[:half], 0)
        await self._look_ahead()
        for question in _QUESTIONS:
            await self._talks.ask(self._turns[0].session, question)
        await self._tell(self._turns[half:], half)
        if not self._draws.below(_ONE_CHANGE_IN):
            self._store.write_now(self._set_right)
        await follow_all_facts(self._store, self._people.id)
        if not self._draws.below(_ONE_NIGHT_IN):
            await self._night()
        # What is told to end, and what is felt, ends by itself before any night has looked.
        self._clock.advance_to(self._now + timedelta(days=self._draws.choice(_ASKED_AFTER)))
        now = self._clock.now()
        gone = self._store.read_now(lambda conn: outdated(conn, self._viewer, now))
        paths = Paths(
            self._store,
            self._people,
            _ASKER,
            clock=self._clock,
            finder=self._finder,
            streaming=self._streaming,
            participants=self._participants,
        )
        # Nothing brings a sentence back as surely as itself.
        sentences = [each for each in gone if " " in each][:_ASKED]
        sessions = sorted({turn.session for turn in self._turns})
        said = await paths.says(sentences, sessions)
        begun = [
            await self._talks.begins_with(session, text)
            for session in sessions
            for text in sentences or _QUESTIONS
        ]
        return said | {"talk": "\n".join(begun)}, gone

    async def _tell(self, turns: Sequence[Told], first: int) -> None:
        for number, turn in enumerate(turns, start=first):
            said, key = turn.as_episode(self._people.id, number), None
            if turn.member == _ASKER:
                name = await self._talks.tell(turn.session, turn.text, turn.answered)
                key = {said.id: turn_key(turn.member, turn.session, name)}
            self._store.write_now(partial(self._remember, turn=turn, said=said, key=key))

    def _remember(
        self, conn: Connection, *, turn: Told, said: Episode, key: Mapping[str, str] | None
    ) -> None:
        insert_episodes(conn, [said], at=self._now, keys=key)
        remember(conn, said, turn.observations, at=self._now)
        if turn.answered:
            insert_episodes(conn, [_answer(said, turn)], at=self._now, is_read=True)

    def _set_right(self, conn: Connection) -> None:
        viewer = self._viewer
        facts = list_facts(conn, viewer, now=self._now)
        if not facts:
            return
        fact, how = self._draws.choice(facts), self._draws.below(3)
        if how == 0:
            other = f"{fact.narrative.rstrip('.')} or Nome."
            made = edit_fact(conn, viewer, fact.id, other, by=_ASKER, at=self._now)
        else:
            change = mark_wrong if how == 1 else retract_fact
            made = change(conn, viewer, fact.id, by=_ASKER, at=self._now)
        if made.change_set and not self._draws.below(_ONE_TAKEN_BACK_IN):
            undo(conn, self._people.id, made.change_set, by=_ASKER, at=self._now)

    async def _night(self) -> None:
        tools = Tools(people={}, zone=self._people.zone)
        await consolidate(
            self._store,
            self._people.id,
            tools,
            now=self._now,
            progress=lambda _: None,
            is_agreed=True,
        )

    async def _look_ahead(self) -> None:
        for each in sorted({turn.session for turn in self._turns}):
            self._streaming.turn_ended(Thread(self._viewer, each))
        await self._streaming.catch_up()


def outdated(conn: Connection, viewer: Viewer, now: datetime) -> list[str]:
    """Return sentences and values that were true once or never, or are another's own, and are nowhere said of what holds now.

    Args:
        conn: Open connection.
        viewer: Who is told.
        now: Aware.
    """
    said, facts = tables.statements, tables.facts
    rows = conn.execute(select(facts).where(facts.c.household == viewer.household)).mappings()
    # What has not begun yet is news, not outdated.
    holds = {row["id"]: _may_be_told(fact_from_row(row), now) for row in rows}
    told = conn.execute(
        select(said.c.text, said.c.fact_id, said.c.scope).where(
            said.c.household == viewer.household
        )
    ).all()
    current = {
        row.text
        for row in told
        if viewer.sees(row.scope) and (row.fact_id is None or holds.get(row.fact_id))
    }
    words = {each for each in values() if any(_holds(row.text, each) for row in told)}
    # What a sentence that holds says again, word for word, is not outdated.
    return sorted(
        each
        for each in {row.text for row in told} | words
        if not any(_holds(other, each) for other in current)
    )


def _may_be_told(fact: Fact, now: datetime) -> bool:
    """Whether nothing newer and nobody has ended a fact; what only expired still tells what was said then."""
    if fact.status is FactStatus.DEPRECATED:
        return True
    has_expired = fact.status.is_active and fact.superseded_by is None
    return has_expired or fact.is_current(max(now, fact.held_from))


def _holds(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def _answer(said: Episode, turn: Told) -> Episode:
    return replace(
        said,
        id=reply_id(said.household, said.id),
        member=None,
        speaker=ASSISTANT,
        is_assistant=True,
        text=turn.answered,
        said_at=turn.at + timedelta(microseconds=1),
        origin=Origin.SYSTEM,
    )
