"""What memory knows about a question, each with how well it bears on it."""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.brain.answer_text import BEARS, quote, statement
from kinkeeper.brain.model import Source, SourceKind
from kinkeeper.brain.question import (
    Attribute,
    Question,
    asked_of,
    attributes_of,
    is_anothers,
    is_same,
    lacks_answer,
)
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import Viewer
from kinkeeper.language.text import tokenise
from kinkeeper.memory.context.session_facts import name_of
from kinkeeper.memory.episodes import list_episodes, neighbours
from kinkeeper.memory.finding.search import Finder, Search
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.finding.visible_results import Hit, HitKind, Key, shown
from kinkeeper.memory.model import Episode, EpisodeKind
from kinkeeper.memory.statement_match import is_of_speaker, is_shared
from kinkeeper.memory.statements.sentences import parts_of
from kinkeeper.reading.asked import general_words
from kinkeeper.reading.coreference import root_of, speaks_of_other
from kinkeeper.reading.replies import is_question
from kinkeeper.reading.second_thoughts import as_set_right, has_grown, says_otherwise
from kinkeeper.store.store import Store

# How well something remembered bears on a question. Pure.

# Fitted to evals/data/memory/brain and evals/data/memory/months/mkhize (docs/history/evaluation.md): from one half on, a question's best
# source bears on it.
_RELEVANCE, _COVERED, _ATTRIBUTE, _BASE = 1.0, 5.1, 2.5, -2.35
_SOMEBODY_ELSE, _SOMEBODY, _NO_ANSWER, _OTHER_THING = -5.5, -2.0, -5.0, -2.5
_PRONOUN = re.compile(r"\b(?:he|she|him|his|her|they)\b", re.IGNORECASE)


def bearing(
    question: Question,
    hit: Hit,
    *,
    speaker: str,
    asked: Collection[Attribute] = (),
    told: Collection[Attribute] = (),
) -> float:
    """Return the chance, in [0, 1], that something remembered bears on a question.

    It counts how relevant the search found it, how many of the question's words it holds, whether it tells the very
    attribute that is asked for, or tells it of another where the asker's own is wanted, whether it speaks of none of the
    members whom the question names, or not of the thing that it names as a known one ("the fence"), and whether it names
    no time or number where one is wanted.

    Args:
        speaker: All words for who said it; empty where nobody knows.
    """
    said = {*stems(hit.text), *stems(speaker), *stems(general_words(hit.text))}
    held = said | {stem.removesuffix("er") for stem in said}
    is_told = any(is_same(one, other) for one in asked for other in told)
    is_of_other = not is_told and _is_anothers(question, hit, asked, told)
    weighed = (
        _RELEVANCE * hit.relevance
        + _COVERED * _covered(question, held)
        + (0.0 if is_told else _of_others(question, hit, held))
        + _SOMEBODY_ELSE * is_of_other
        + (0.0 if is_told else _OTHER_THING * _is_of_other_thing(question, hit))
        + _ATTRIBUTE * is_told
        + _NO_ANSWER * lacks_answer(question.text, hit.text)
        + _BASE
    )
    return 1 / (1 + math.exp(-weighed))


def _of_others(question: Question, hit: Hit, held: Collection[str]) -> float:
    """Return what it weighs that a text names none of the members whom the question names; a pronoun may mean them."""
    called = question.people or question.called
    if not called or not called.isdisjoint(held):
        return 0.0
    return _SOMEBODY if _PRONOUN.search(hit.text) else _SOMEBODY_ELSE


def _is_of_other_thing(question: Question, hit: Hit) -> bool:
    """Whether a text speaks of another thing than the known one that a question names; a pronoun may mean it."""
    names = {*map(root_of, question.names | question.called)}
    return _PRONOUN.search(hit.text) is None and speaks_of_other(
        question.text, hit.text, lambda text: [*map(root_of, stems(text))], ignored=names
    )


def _is_anothers(
    question: Question, hit: Hit, asked: Collection[Attribute], told: Collection[Attribute]
) -> bool:
    """Whether somebody asks for something of their own, and a text tells just that of somebody else."""
    if not is_of_speaker(question.text) or is_shared(hit.text):
        return False
    return any(is_anothers(one, other) for one in asked for other in told)


def _covered(question: Question, held: Collection[str]) -> float:
    """Return the share, in [0, 1], of what is asked about somebody that a text holds; of names alone, whether it holds one."""
    content = question.weights.keys() - question.names
    content = content or {*stems(question.text)} - question.names - question.called
    if not content:
        return float(not question.called.isdisjoint(held))
    roots = {*map(root_of, held)}
    return sum(each in held or root_of(each) in roots for each in content) / len(content)


_MOST_HITS = 8
_MOST_SAID = 20
_MOST_READ, _LATELY = 500, timedelta(days=14)
"""Of what was said lately, so much is read for deeds."""


class Recollection:
    """Recalls what one household's memory knows about questions.

    Args:
        household: As its file describes it.
    """

    def __init__(self, store: Store, household: Household, finder: Finder) -> None:
        self._store = store
        self._household = household
        self._finder = finder

    async def of(self, question: Question, viewer: Viewer, *, now: datetime) -> list[Source]:
        """Return what is remembered, best first; what does not bear on the question is among it."""
        found = await self._finder.search(
            Search(text=question.text, viewer=viewer, now=now, limit=_MOST_HITS)
        )
        told = _told_once(
            replace(hit, relevance=self._bearing(question, hit, viewer)) for hit in found.hits
        )
        asking = [hit for hit in told if self._is_question(hit) and hit.relevance >= BEARS]
        answers = await self._store.read(
            lambda conn: {hit.id: _answer(conn, viewer, hit, now=now) for hit in asking}
        )
        sources = [
            self._source(each)
            for hit in told
            for each in (answers.get(hit.id), hit)
            if each is not None
        ]
        return sorted(self._with_denials(sources), key=lambda source: -source.relevance)

    async def said(
        self, question: Question, viewer: Viewer, *, name: str, member: Member | None, now: datetime
    ) -> list[Source]:
        """Return what somebody said that bears on something, in their words, the newest first.

        What one who is no member said may have been told by others, who name them.

        Args:
            question: Of what; where it only names a time, all that they told then.
            name: Whose words; empty for anybody's.
        """
        called = {*stems(name)}
        is_of_all = not question.weight
        search = Search(
            text=f"{name} {question.text}",
            viewer=viewer,
            now=now,
            limit=_MOST_SAID,
            kinds=(HitKind.FACT,) if is_of_all else (HitKind.FACT, HitKind.EPISODE),
            speakers=None if member is None else frozenset({member.id, member.name.casefold()}),
        )
        hits = (await self._finder.search(search)).hits
        period = question.period
        told = [
            replace(hit, relevance=1.0 if is_of_all else self._bearing(question, hit, viewer))
            for hit in hits
            if not self._is_question(hit)
            and (member or called <= {*stems(hit.text), *stems(hit.speaker or "")})
            and (period is None or not is_of_all or period.start <= hit.at < period.end)
        ]
        bearing = [hit for hit in _told_once(told) if hit.relevance >= BEARS]
        bearing.sort(key=lambda hit: hit.at, reverse=True)
        return [self._quoted(hit) for hit in bearing]

    async def lately(self, viewer: Viewer, *, now: datetime) -> Sequence[Episode]:
        """Return what people said in the last two weeks, the newest first."""
        told = await self._store.read(
            lambda conn: list_episodes(conn, viewer, kind=EpisodeKind.TURN, limit=_MOST_READ)
        )
        return [each for each in told if not each.is_assistant and now - each.said_at <= _LATELY]

    def told(self, episode: Episode) -> Source:
        """Return what somebody said as a source, with who said it and when."""
        speaker = name_of(episode.member or episode.speaker, self._household.names)
        at = episode.said_at.astimezone(self._household.zone)
        sentence = quote(
            episode.text, speaker=speaker, said_at=at, zone=self._household.zone, has_clock=True
        )
        return Source(
            id=episode.id,
            kind=SourceKind.EPISODE,
            text=episode.text,
            sentence=f"{sentence}.",
            speaker=speaker,
            relevance=1.0,
            at=episode.said_at,
        )

    def sources(self, hits: Iterable[Hit]) -> list[Source]:
        """Return what was found as sources, each sure to bear on what was asked."""
        return self._with_denials([self._source(replace(each, relevance=1.0)) for each in hits])

    def quotes(self, hits: Iterable[Hit]) -> list[Source]:
        """Return what people said as sources that quote it, with who said it and when."""
        return [self._quoted(replace(each, relevance=1.0)) for each in hits]

    def _with_denials(self, sources: Sequence[Source]) -> list[Source]:
        """Return sources without what its teller denied or outdated later; what somebody else did is told with that."""
        kept = list(sources)
        for old in sorted(sources, key=lambda source: source.at):
            new = next((each for each in reversed(kept) if self._is_denial(each, old)), None)
            if new is None or old not in kept:
                continue
            kept.remove(old)
            is_same = new.speaker == old.speaker
            told = new.sentence if is_same else f"{self._in_words(old)} {self._in_words(new)}"
            most = max(old.relevance, new.relevance)
            kept[kept.index(new)] = replace(new, sentence=told, relevance=most)
        return kept

    def _is_denial(self, new: Source, old: Source) -> bool:
        names = self._household.members_by_word
        said, told = (as_set_right(each.text, names) for each in (new, old))
        is_other = says_otherwise(said, told) or has_grown(said, told, names)
        return new.at > old.at and is_other

    def _in_words(self, source: Source) -> str:
        zone = self._household.zone
        return f"{quote(source.text, speaker=source.speaker, said_at=source.at, zone=zone, has_clock=True)}."

    def _is_question(self, hit: Hit) -> bool:
        """Whether it is what somebody said, and that ends with a question."""
        last = parts_of(hit.text)[-1:]
        people = self._household.members_by_word
        is_asked = any(
            each.mark == "?" or is_question(tokenise(each.text), each.text, people) for each in last
        )
        return hit.kind is HitKind.EPISODE and is_asked

    def _quoted(self, hit: Hit) -> Source:
        source = self._source(hit)
        sentence = quote(
            hit.text, speaker=source.speaker, said_at=hit.at, zone=self._household.zone
        )
        return replace(source, sentence=f"{sentence}.")

    def _bearing(self, question: Question, hit: Hit, viewer: Viewer) -> float:
        member = self._household.member(hit.speaker) if hit.speaker else None
        words = (member.id, member.name, *member.aliases) if member else (hit.speaker or "",)
        return bearing(
            question,
            hit,
            speaker=" ".join(words),
            asked=asked_of(question.text, self._household, viewer.member),
            told=[*attributes_of(hit.text, self._household, hit.speaker)],
        )

    def _source(self, hit: Hit) -> Source:
        zone = self._household.zone
        speaker = name_of(hit.speaker, self._household.names)
        if hit.kind is HitKind.FACT:
            kind, sentence = SourceKind.FACT, statement(hit.text, speaker=speaker)
        else:
            kind = SourceKind.EPISODE
            sentence = quote(hit.text, speaker=speaker, said_at=hit.at, zone=zone)
        return Source(
            id=hit.id,
            kind=kind,
            text=hit.text,
            sentence=sentence,
            speaker=speaker,
            relevance=round(hit.relevance, 3),
            at=hit.at,
        )


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


def _answer(conn: Connection, viewer: Viewer, asked: Hit, *, now: datetime) -> Hit | None:
    """Return what was said next, where somebody asked something."""
    *_, following = neighbours(conn, viewer, asked.id, before=0, after=1)
    if following.id == asked.id or following.is_assistant:
        return None
    key = Key(HitKind.EPISODE, following.id)
    hit = shown(conn, viewer, [key], now=now).get(key)
    return None if hit is None else replace(hit, relevance=asked.relevance)
