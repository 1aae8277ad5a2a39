"""Gathers what a turn begins with, in one reading, and keeps what is left of it, in the transaction that ends it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection

from kinkeeper.actions.expected import expected_between
from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.calendar.model import Occurrence
from kinkeeper.conversation.context import repository
from kinkeeper.conversation.context.gist import gist_of
from kinkeeper.conversation.context.identity import read_focus, read_identity
from kinkeeper.conversation.context.model import (
    CommittedTurn,
    Gloss,
    TopicRef,
    TurnContext,
)
from kinkeeper.conversation.context.repository import Lasting
from kinkeeper.conversation.context.topics import (
    gloss_of,
    grown,
    knowing,
    topic_of,
)
from kinkeeper.conversation.context.volatile import facts_of
from kinkeeper.conversation.context.world import AHEAD, World, world_at
from kinkeeper.conversation.looking_back import cut_turns, looked_back
from kinkeeper.conversation.model import LONGEST_READ, Exchange, Mode
from kinkeeper.conversation.routing.signals import Signals
from kinkeeper.conversation.turn import Turn
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock, Interval
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import Viewer
from kinkeeper.messaging.quiet_hours import QuietHours
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.store.store import Store

log = structlog.get_logger()

FIRST_STAGE = "gist"

_ABOUT_NOTHING = frozenset({Mode.ACKNOWLEDGE, Mode.CANCEL, Mode.IGNORE})
_TURNS, _TURNS_LAST = 4, timedelta(hours=24)
_EMBEDDING_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the database holds for a turn."""

    topic: TopicRef
    gists: Sequence[str]
    known: Sequence[Lasting]
    called: str
    coming: Sequence[Occurrence]
    history: Sequence[Exchange]


class ContextGatherer:
    """Knows what was said before, for the turns of one household.

    Args:
        store: Its database.
        household: As its file has it.
        clock: Tells what is over.
        embedder: Tells what messages mean; by their words alone where None, or where it takes too long.
        quiet: When messages come without a sound.
    """

    def __init__(
        self,
        store: Store,
        household: Household,
        *,
        clock: Clock,
        embedder: Embedder | None = None,
        quiet: QuietHours | None = None,
    ) -> None:
        self._store = store
        self._household = household
        self._clock = clock
        self._embedder = embedder
        self._quiet = quiet

    async def gather(
        self,
        *,
        thread_id: str,
        member: Member,
        viewer: Viewer,
        text: str,
        earlier: Sequence[Turn],
        now: datetime,
    ) -> TurnContext:
        """Return what a turn begins with; writes nothing.

        Args:
            thread_id: Its thread.
            member: Its person.
            viewer: On whose behalf calendar and memory are read.
            text: What they say.
            earlier: Turns of the thread before it, oldest first.
            now: Aware, in the household's zone.

        Raises:
            UnavailableError: The database cannot be read.
        """
        gloss = await self._gloss(text)
        kept = await self._store.read(
            lambda conn: self._kept(
                conn, thread_id, viewer, gloss, member=member, earlier=earlier, now=now
            )
        )
        ref = kept.topic
        lately = [each for each in kept.history if now - each.at <= _TURNS_LAST][-_TURNS:]
        world = world_at(now, kept.coming, self._household, self._quiet)
        return TurnContext(
            topic=ref, gloss=gloss,
            signals=signals_of(
                ref, lately, gists=len(kept.gists), facts=len(kept.known), world=world, now=now
            ),
            gists=kept.gists, known={each.about: each.value for each in kept.known},
            said_in={each.about: each.turn for each in kept.known}, world=world.lines,
            called=read_identity(text) or kept.called, history=kept.history,
        )  # fmt: skip

    def commit(self, conn: Connection, turn: CommittedTurn, context: TurnContext) -> None:
        """Keep what is left of a turn, and have it encoded.

        Args:
            conn: In the write transaction that ends the turn.
            turn: The turn.
            context: What it began with.
        """
        household, ref, read = turn.household, context.topic, turn.text[:LONGEST_READ]
        if ref.id and turn.mode not in _ABOUT_NOTHING:
            topic = grown(
                ref, context.gloss, at=turn.at, recalled=turn.recalled,
                is_focus=read_focus(read),
            )  # fmt: skip
            repository.put_topic(conn, household, turn.thread_id, topic)
            facts = facts_of(read, turn.results)
            repository.put_facts(
                conn, household, ref.id, facts, turn=turn.turn_id, at=turn.at
            )  # fmt: skip
        if not turn.is_said:
            return
        if name := read_identity(read):
            repository.set_called(conn, household, turn.member, name, at=turn.at)
        now = self._clock.now()
        repository.add_encoding(conn, turn, FIRST_STAGE, ref.id, due_at=now)

    def _kept(
        self, conn: Connection, thread_id: str, viewer: Viewer, gloss: Gloss, *,
        member: Member, earlier: Sequence[Turn], now: datetime,
    ) -> _Kept:  # fmt: skip
        household = self._household.id
        ref = topic_of(
            gloss, repository.topics_of(conn, household, thread_id, now=now), now=now,
            thread=thread_id, household=household,
        )  # fmt: skip
        gists, known = (
            _still_true(conn, household, ref.id, member=member.id, thread=thread_id, now=now)
            if ref.known
            else ([], [])
        )
        coming = expected_between(conn, viewer, Interval(now, now + AHEAD), now=now)
        return _Kept(
            topic=ref, gists=gists, known=known,
            called=repository.called(conn, household, member.id),
            coming=[each for each in coming if each.interval.start >= now],
            history=looked_back(conn, viewer, earlier, now=now),
        )  # fmt: skip

    async def _gloss(self, text: str) -> Gloss:
        if self._embedder is None:
            return gloss_of(text)
        try:
            async with asyncio.timeout(_EMBEDDING_SECONDS):
                vectors = await self._embedder.embed([text])
        except (TimeoutError, UnavailableError) as error:
            log.debug("conversation.topic.by_words", reason=type(error).__name__)
            return gloss_of(text)
        return gloss_of(text, vector=vectors[0], model=self._embedder.model)


def _still_true(
    conn: Connection, household: str, topic: str, *, member: str, thread: str, now: datetime
) -> tuple[Sequence[str], Sequence[Lasting]]:
    """Return what is left of a topic: gists and what was said for a day, each without what holds no more."""
    gists = repository.gists_of(conn, household, topic, now=now)
    facts = repository.facts_of(conn, household, topic, now=now)
    named = {*gists, *(each.turn for each in facts)}
    cut = cut_turns(conn, household, named, member=member, thread=thread, now=now)
    gists |= {key: gist_of(cut[key].text, cut[key].results) for key in cut.keys() & gists.keys()}
    left = {key: facts_of(turn.text, turn.results) for key, turn in cut.items()}
    known = [
        each
        for each in facts
        if each.turn not in left or left[each.turn].get(each.about) == each.value
    ]
    return [text for text in gists.values() if text], known


def signals_of(
    ref: TopicRef,
    lately: Sequence[Exchange],
    *,
    gists: int,
    facts: int,
    world: World,
    now: datetime,
) -> Signals:
    """Return what the mode router counts. Pure.

    Args:
        ref: The topic of the message.
        lately: The last turns, oldest first.
        gists: How many there are of the topic.
        facts: How many were said on the topic.
        world: What the moment is like.
        now: Aware.
    """
    last = lately[-1] if lately else None
    return Signals(
        turns=len(lately), gists=gists, facts=facts, has_world=world.has_content,
        fok=float(knowing(ref.known, now=now)), topic_confidence=ref.confidence,
        is_new_topic=ref.is_new, previous_mode=last.mode if last else None,
        previous_tools=_tools(last.results) if last else (),
    )  # fmt: skip


def _tools(results: Sequence[ActionResult]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{done.domain}.{done.action}" for done in results))
