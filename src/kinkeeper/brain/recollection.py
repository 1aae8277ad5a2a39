"""What memory knows about a question: facts and what was said, each with how well it bears on it."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.brain.answer_text import BEARS, quote, statement
from kinkeeper.brain.attribute import asked_of, attributes_of
from kinkeeper.brain.model import Source, SourceKind
from kinkeeper.brain.question import Question
from kinkeeper.brain.relevance import bearing
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.context.attribution import name_of
from kinkeeper.memory.episodes import neighbours
from kinkeeper.memory.finding.search import Finder, Search
from kinkeeper.memory.finding.visible_results import Hit, HitKind, Key, shown
from kinkeeper.store.store import Store

_MOST_HITS = 8
_ASKS = "?"


class Recollection:
    """Recalls what one household's memory knows about questions.

    Args:
        store: Where memory is.
        household: As its file describes it.
        finder: Searches its memory.
    """

    def __init__(self, store: Store, household: Household, finder: Finder) -> None:
        self._store = store
        self._household = household
        self._finder = finder

    async def of(self, question: Question, viewer: Viewer, *, now: datetime) -> list[Source]:
        """Return what is remembered, best first; what does not bear on the question is among it.

        Args:
            question: As read.
            viewer: On whose behalf.
            now: Aware.
        """
        found = await self._finder.search(
            Search(
                text=question.text,
                viewer=viewer,
                now=now,
                limit=_MOST_HITS,
            )
        )
        told = _told_once(
            replace(hit, relevance=self._bearing(question, hit, viewer)) for hit in found.hits
        )
        asking = [hit for hit in told if _is_question(hit) and hit.relevance >= BEARS]
        answers = await self._store.read(
            lambda conn: {hit.id: _answer(conn, viewer, hit, now=now) for hit in asking}
        )
        sources = [
            self._source(each)
            for hit in told
            for each in (answers.get(hit.id), hit)
            if each is not None
        ]
        return sorted(sources, key=lambda source: -source.relevance)

    def _bearing(self, question: Question, hit: Hit, viewer: Viewer) -> float:
        member = self._household.member(hit.speaker) if hit.speaker else None
        words = (member.id, member.name, *member.aliases) if member else (hit.speaker or "",)
        return bearing(
            question, hit, speaker=" ".join(words),
            asked=asked_of(question.text, self._household, viewer.member),
            told=[*attributes_of(hit.text, self._household, hit.speaker)],
        )  # fmt: skip

    def _source(self, hit: Hit) -> Source:
        zone = self._household.zone
        speaker = name_of(hit.speaker, self._household.names)
        if hit.kind is HitKind.FACT:
            kind, sentence = SourceKind.FACT, statement(hit.text, speaker=speaker)
        else:
            kind = SourceKind.EPISODE
            sentence = quote(hit.text, speaker=speaker, said_at=hit.at, zone=zone)
        return Source(
            id=hit.id, kind=kind, text=hit.text, sentence=sentence,
            speaker=speaker, relevance=round(hit.relevance, 3), at=hit.at,
        )  # fmt: skip


def _told_once(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits without episodes of which a fact among them says as well what bears on the question."""
    every = list(hits)
    told = {
        episode
        for hit in every
        if hit.kind is HitKind.FACT and hit.relevance >= BEARS
        for episode in hit.provenance
    }
    return [hit for hit in every if hit.kind is HitKind.FACT or hit.id not in told]


def _is_question(hit: Hit) -> bool:
    return hit.kind is HitKind.EPISODE and hit.text.rstrip().endswith(_ASKS)


def _answer(conn: Connection, viewer: Viewer, asked: Hit, *, now: datetime) -> Hit | None:
    """Return what was said next, where somebody asked something."""
    *_, following = neighbours(conn, viewer, asked.id, before=0, after=1)
    if following.id == asked.id or following.is_assistant:
        return None
    key = Key(HitKind.EPISODE, following.id)
    hit = shown(conn, viewer, [key], now=now).get(key)
    return None if hit is None else replace(hit, relevance=asked.relevance)
