"""What was told again and again: episodes that crowd together, and the fact that they amount to."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np
from sqlalchemy import Connection, select

from kinkeeper.core.errors import UnavailableError
from kinkeeper.memory.confidence import recurring_id
from kinkeeper.memory.evidence import out_of, verdicts_on
from kinkeeper.memory.finding.vectors import VectorKind
from kinkeeper.memory.ingest import speaker_of
from kinkeeper.memory.memory_rows import episode_from_row
from kinkeeper.memory.model import Category, Episode, EpisodeKind, Origin, Ruling, Statement
from kinkeeper.memory.statement_match import subject_of
from kinkeeper.memory.statements.statement_reader import Reading, read_statement
from kinkeeper.memory.tables import episodes
from kinkeeper.memory.upkeep.neighbourhood import Neighbourhood
from kinkeeper.memory.upkeep.pair_search import may_support
from kinkeeper.memory.upkeep.questions import QuestionKind, known_ids, question_id
from kinkeeper.models.embedding.embedder import Vectors
from kinkeeper.store.store import Store

# Episodes that crowd together, found by density; the library for it is loaded only when it is used.

SMALLEST = 3
"""Fewer than this is no habit."""

MOST_AT_ONCE = 2_000
"""Distances are compared pairwise, so what is looked at together has an end."""


def clusters(vectors: Vectors, *, floor: float) -> list[Sequence[int]]:
    """Return the dense groups among vectors, the most central member of each first.

    Args:
        vectors: Shape (at most `MOST_AT_ONCE`, dimension), each of length 1.
        floor: Cosine to the most central member from which a member stays.

    Returns:
        Indices of the members; of each group at least `SMALLEST`. Groups come in the order of their
        first members.
    """
    if len(vectors) < SMALLEST:
        return []
    cosines = np.clip(vectors @ vectors.T, -1, 1).astype(np.float64)
    labels = _labels(1 - cosines)
    groups = [np.flatnonzero(labels == label) for label in range(int(labels.max()) + 1)]
    found = [_around_the_middle(members, cosines, floor) for members in groups]
    return sorted((each for each in found if len(each) >= SMALLEST), key=min)


def _labels(distances: np.ndarray) -> np.ndarray:
    try:
        from sklearn.cluster import HDBSCAN  # noqa: PLC0415 - large, and only a night needs it
    except ImportError as error:
        raise UnavailableError(
            "repeated statements are not detected, because scikit-learn is not installed; install kinkeeper[embedder]"
        ) from error
    found = HDBSCAN(
        min_cluster_size=SMALLEST,
        min_samples=2,
        metric="precomputed",
        cluster_selection_method="leaf",
        allow_single_cluster=False,
        copy=True,
    ).fit(distances)
    return np.asarray(found.labels_)


def _around_the_middle(members: np.ndarray, cosines: np.ndarray, floor: float) -> list[int]:
    among = cosines[np.ix_(members, members)]
    middle = int(members[int(np.argmax(among.sum(axis=1)))])
    near = [int(each) for each in members if each != middle and cosines[middle, each] >= floor]
    return [middle, *near]


# What somebody told again and again in other words, as a fact that nobody stated in so many words.
# Pure.
#
# The fact is told by the most central of the episodes, verbatim: nothing is composed. What was only
# overheard makes a proposal that a person decides on.

BELIEVED = 0.5
"""By itself; each of the other episodes supports it."""

LONGEST = 240
"""Characters of a sentence that can stand for a habit."""

_FEWEST_WORDS = 2
_WEAKEST_FIRST = (Origin.OBSERVED, Origin.IMPORTED, Origin.SAID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """What a group of episodes amounts to.

    Attributes:
        statement: Tells it; of the most central episode.
        evidence: Ids of the other episodes.
        origin: The weakest of its episodes'.
    """

    statement: Statement
    evidence: tuple[str, ...]
    origin: Origin

    @property
    def episodes(self) -> tuple[str, ...]:
        """Ids of all its episodes."""
        return self.statement.episode_id, *self.evidence


Propose = Callable[[Connection, Theme], None]
"""Asks a person, in the transaction of the run, about what was only overheard."""


def theme_of(
    episodes: Sequence[Episode], *, people: Mapping[str, str], zone: ZoneInfo
) -> Theme | None:
    """Return what a dense group of episodes of one scope and speaker amounts to, if it is anything.

    Args:
        episodes: The most central one first.
        people: Member ids by folded name or alias.
    """
    middle, *others = episodes
    main = _told_by(middle)
    if main is None:
        return None
    agreeing = [each for each in others if _agrees(main, each)]
    days = {each.said_at.astimezone(zone).date() for each in (middle, *agreeing)}
    if len(days) < SMALLEST:
        return None
    return Theme(
        statement=_statement(middle, people),
        evidence=tuple(each.id for each in agreeing),
        origin=min((each.origin for each in (middle, *agreeing)), key=_WEAKEST_FIRST.index),
    )


def _told_by(episode: Episode) -> Reading | None:
    """Return what an episode tells, where it is one plain sentence that may be quoted."""
    if "?" in episode.text or len(episode.text) > LONGEST:
        return None
    readings = read_statement(episode.text)
    if len(readings) != 1:
        return None
    reading = readings[0]
    is_plain = not (reading.is_hypothetical or reading.is_retraction or reading.is_negative)
    return reading if is_plain and len(reading.words) >= _FEWEST_WORDS else None


def _agrees(main: Reading, episode: Episode) -> bool:
    """Whether an episode speaks of the same person and shares a word that matters."""
    return "?" not in episode.text and any(
        each.subject == main.subject
        and not (each.is_hypothetical or each.is_retraction or each.is_negative)
        and set(each.words) & set(main.words)
        for each in read_statement(episode.text)
    )


def _statement(episode: Episode, people: Mapping[str, str]) -> Statement:
    speaker = speaker_of(episode)
    subject, slot = subject_of(episode.text, speaker=speaker, people=people)
    slot_category = read_statement(episode.text)[0].category
    identity = recurring_id(episode.household, episode.id)
    return Statement(
        household=episode.household,
        id=identity,
        episode_id=episode.id,
        scope=episode.scope,
        start=0,
        end=len(episode.text),
        text=episode.text,
        speaker=speaker,
        subject=subject,
        slot=slot,
        title=episode.text,
        narrative=episode.text,
        category=Category(slot_category) if slot_category else Category.PREFERENCE,
        confidence=BELIEVED,
        said_at=episode.said_at,
        origin=episode.origin,
        strand=identity,
    )


# Recent episodes that no fact rests on yet. Statements only.

_columns = episodes.c
_ORIGINS = [origin.value for origin in Origin if origin.may_become_fact]


def recent_unused(conn: Connection, household: str, *, limit: int) -> list[Episode]:
    """Return the latest episodes that could become a fact, support none, and are in no question, oldest change first."""
    query = (
        select(episodes)
        .where(
            _columns.household == household,
            _columns.kind == EpisodeKind.TURN.value,
            _columns.is_assistant.is_(False),
            _columns.origin.in_(_ORIGINS),
        )
        .order_by(_columns.seq.desc())
        .limit(limit)
    )
    found = [episode_from_row(dict(row)) for row in conn.execute(query).mappings()]
    ids = [each.id for each in found]
    used = {each.episode_id for each in out_of(conn, household, ids) if each.fact_id}
    # A verdict of support names the episode where others name a statement.
    used |= {
        str(each.newer)
        for each in verdicts_on(conn, household, ids)
        if each.ruling is Ruling.SUPPORT
    }
    asked = {question_id(QuestionKind.LEARN, [each]): each for each in ids}
    used |= {asked[each] for each in known_ids(conn, household, asked)}
    return [each for each in reversed(found) if each.id not in used]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurring:
    """What was found.

    Attributes:
        themes: That nobody has decided on yet.
        clusters: Number of dense groups that were looked at.
        remark: Why nothing could be looked for, if so.
    """

    themes: Sequence[Theme] = ()
    clusters: int = 0
    remark: str | None = None


class Recurrence:
    """Looks for it.

    Args:
        neighbourhood: Knows vectors.
        people: Member ids by folded name or alias.
    """

    def __init__(
        self,
        store: Store,
        household: str,
        neighbourhood: Neighbourhood,
        *,
        people: Mapping[str, str],
        zone: ZoneInfo,
    ) -> None:
        self._store = store
        self._household = household
        self._neighbourhood = neighbourhood
        self._people = people
        self._zone = zone

    async def among(self, new: Sequence[Episode]) -> Recurring:
        """Return what new episodes, with recent ones, amount to.

        Args:
            new: What a run looks at.
        """
        fresh = {each.id for each in new if may_support(each)}
        if not fresh:
            return Recurring()
        unused = await self._store.read(
            lambda conn: recent_unused(conn, self._household, limit=MOST_AT_ONCE)
        )
        ids = [each.id for each in unused]
        vectors = await self._neighbourhood.vectors(VectorKind.EPISODE, ids)
        by_person: defaultdict[tuple[str, str | None], list[Episode]] = defaultdict(list)
        for each in unused:
            if each.id in vectors:
                by_person[each.scope, speaker_of(each)].append(each)
        found = Recurring()
        for own in by_person.values():
            if len(own) >= SMALLEST and any(each.id in fresh for each in own):
                try:
                    crowds = await asyncio.to_thread(self._crowds, own, vectors)
                except UnavailableError as error:
                    return Recurring(remark=str(error))
                found = self._with(found, crowds, fresh)
        return found

    def _crowds(
        self, episodes: Sequence[Episode], vectors: Mapping[str, Vectors]
    ) -> list[list[Episode]]:
        matrix = np.stack([vectors[each.id] for each in episodes])
        dense = clusters(matrix, floor=self._neighbourhood.floor)
        return [[episodes[member] for member in members] for members in dense]

    def _with(
        self, found: Recurring, crowds: Sequence[Sequence[Episode]], fresh: set[str]
    ) -> Recurring:
        themes = [
            theme_of(crowd, people=self._people, zone=self._zone)
            for crowd in crowds
            if not fresh.isdisjoint(each.id for each in crowd)
        ]
        return Recurring(
            themes=(*found.themes, *filter(None, themes)), clusters=found.clusters + len(crowds)
        )
