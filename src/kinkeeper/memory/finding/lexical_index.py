"""Texts found by their words: BM25 over each text together with its neighbours in its session.

What somebody says is understood from what was said around it; so are the words of a search. A term
counts in a text fully, and in part where it stands in the text before, the one before that, or the
one after. Postings hold each text's own words only; what the neighbours add is worked out while
searching, so that a text may come or go anywhere in a session at the cost of its own words.
"""

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinkeeper.memory.finding.arrays import (
    Allowing,
    Posting,
    Postings,
    Slots,
    best,
    counts_in,
    foremost,
    foremost_allowed,
    grown,
)
from kinkeeper.memory.finding.terms import Vocabulary

# Which text came before and after which in its session, whatever the order in which they arrive.

NOWHERE = 0
"""The place that no text has: what comes before the first of a session, and after the last."""
_ALONE = -1


class Neighbours:
    """Texts of sessions, chained in the order in which they were said."""

    def __init__(self) -> None:
        self._before = np.zeros(1, np.int32)
        self._after = np.zeros(1, np.int32)
        self._said_at = np.zeros(1)
        self._arrival = np.zeros(1, np.int64)
        self._session = np.full(1, _ALONE, np.int32)
        self._numbers: dict[Hashable, int] = {}
        self._sessions: list[list[int]] = []

    def grow(self, size: int) -> None:
        """Make room for places below `size`; none of the new ones has neighbours.

        Args:
            size: > 0.
        """
        self._before, self._after = grown(self._before, size), grown(self._after, size)
        self._said_at, self._arrival = grown(self._said_at, size), grown(self._arrival, size)
        self._session = grown(self._session, size, fill=_ALONE)

    def insert(self, slot: int, session: Hashable, *, said_at: float, arrival: int) -> None:
        """Put a text between its neighbours.

        Args:
            slot: Its place, below what there is room for.
            session: Whose texts are each other's neighbours.
            said_at: When, in seconds.
            arrival: Orders what was said at the same time.
        """
        number = self._numbers.setdefault(session, len(self._sessions))
        if number == len(self._sessions):
            self._sessions.append([])
        self._said_at[slot], self._arrival[slot], self._session[slot] = said_at, arrival, number
        slots, key = self._sessions[number], (said_at, arrival)
        index = len(slots)
        # Most come in order, or, read back, in the opposite one.
        if slots and self._key(slots[-1]) > key:
            index = 0 if self._key(slots[0]) > key else bisect_left(slots, key, key=self._key)
        before = slots[index - 1] if index else NOWHERE
        after = slots[index] if index < len(slots) else NOWHERE
        slots.insert(index, slot)
        self._chain(before, slot)
        self._chain(slot, after)

    def remove(self, slot: int) -> None:
        """Take a text out, if it is in a session; its neighbours become each other's."""
        number = int(self._session[slot])
        if number == _ALONE:
            return
        slots = self._sessions[number]
        del slots[slots.index(slot, bisect_left(slots, self._key(slot), key=self._key))]
        self._chain(int(self._before[slot]), int(self._after[slot]))
        self._before[slot] = self._after[slot] = NOWHERE
        self._session[slot] = _ALONE

    def before(self, slots: Slots) -> Slots:
        """Return the place before each, NOWHERE where there is none."""
        return self._before[slots].astype(np.int64)

    def after(self, slots: Slots) -> Slots:
        """Return the place after each, NOWHERE where there is none."""
        return self._after[slots].astype(np.int64)

    def around(self, slots: Slots) -> Slots:
        """Return the places whose surroundings change with these: themselves, one before, two after."""
        after = self.after(slots)
        found: Slots = np.unique(
            np.concatenate([slots, self.before(slots), after, self.after(after)])
        )
        around: Slots = found[found != NOWHERE]
        return around

    def _key(self, slot: int) -> tuple[float, int]:
        return float(self._said_at[slot]), int(self._arrival[slot])

    def _chain(self, before: int, after: int) -> None:
        if before != NOWHERE:
            self._after[before] = after
        if after != NOWHERE:
            self._before[after] = before


_OWN, _BEFORE, _SECOND_BEFORE, _AFTER = 1.0, 0.5, 0.2, 0.2
_PARTS = np.array([_OWN, _BEFORE, _SECOND_BEFORE, _AFTER], np.float32)
_K1, _B = 0.9, 0.4
_AS_MANY = 300
"""Fewer texts tell little about how rare a word is: it is as rare as if there were so many."""
_MOST_POSTINGS = 60_000
_SHORTLIST = 2_000
_FIRST_ROOM = 1_024
_REMEMBERED_TERMS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedText:
    """A text, and where it belongs.

    Attributes:
        session: Whose texts are each other's neighbours; None where it stands alone.
        said_at: When, in seconds.
        arrival: Orders what was said at the same time.
    """

    text: str
    session: Hashable = None
    said_at: float = 0.0
    arrival: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TermMatches:
    """How terms occur in texts.

    Attributes:
        rarity: Of each term (its inverse document frequency): shape (terms,).
        counts: How often it occurs in the text itself, in the one before, the one before that, and the
            one after: shape (4, texts, terms).
        own_scores: What each term adds to a text's BM25 by itself: shape (texts, terms).
        scores: What each adds with the neighbours: shape (texts, terms).
    """

    rarity: NDArray[np.float32]
    counts: NDArray[np.float32]
    own_scores: NDArray[np.float32]
    scores: NDArray[np.float32]


class LexicalIndex:
    """Words of texts. Places begin at 1, are given in the order of arrival, and never again."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self._postings = Postings()
        # Of the terms asked for since the last change: each search asks three times.
        self._asked: dict[int, Posting] = {}
        self._neighbours = Neighbours()
        self._next = NOWHERE + 1
        self._alive = np.zeros(1, np.bool_)
        self._length = np.zeros(1, np.float32)
        self._length_around = np.zeros(1, np.float32)
        # Of one search, all 0 between two: the parts of a term, and the sum of terms.
        self._parts = np.zeros(1, np.float32)
        self._sums = np.zeros(1, np.float32)
        self._count = 0
        self._total_length = 0.0
        self._total_around = 0.0
        self._dead = 0

    def __len__(self) -> int:
        """Return how many texts there are."""
        return self._count

    @property
    def room(self) -> int:
        """Places are below this."""
        return self._next

    def add(self, texts: Sequence[IndexedText]) -> Slots:
        """Add texts; returns their places.

        Args:
            texts: Any number; many at once cost less each.
        """
        self._asked.clear()
        slots = np.arange(self._next, self._next + len(texts), dtype=np.int64)
        self._make_room(self._next + len(texts))
        terms = [self.vocabulary.learn(each.text) for each in texts]
        for slot, each in zip(slots.tolist(), texts, strict=True):
            if each.session is not None:
                self._neighbours.insert(
                    slot, each.session, said_at=each.said_at, arrival=each.arrival
                )
        self._next += len(texts)
        self._alive[slots] = True
        self._length[slots] = [len(each) for each in terms]
        self._count += len(texts)
        self._total_length += float(self._length[slots].sum())
        self._remeasure(self._neighbours.around(slots))
        self._postings.add(int(slots[0]) if len(slots) else 0, terms, is_alive=self._alive)
        return slots

    def remove(self, slot: int) -> None:
        """Remove a text; its place stays empty."""
        self._asked.clear()
        around = self._neighbours.around(np.array([slot]))
        self._neighbours.remove(slot)
        self._alive[slot] = False
        self._total_length -= float(self._length[slot])
        self._length[slot] = 0
        self._count -= 1
        self._dead += 1
        self._remeasure(around)

    def search(
        self,
        terms: Sequence[int],
        *,
        limit: int,
        is_allowed: Allowing | None = None,
        most_postings: int = _MOST_POSTINGS,
    ) -> tuple[Slots, NDArray[np.float32]]:
        """Return the places of the best texts, best first, and their scores.

        Rare terms go first. Once as many postings were read as may be, the remaining, most frequent
        terms only tell the best texts so far apart: they cannot bring in another one.

        Args:
            terms: Numbers of the vocabulary, each once.
            limit: Most of them, > 0.
            is_allowed: Tells which places may be found; all where None.
            most_postings: How many are read before terms only tell the best apart.
        """
        found = sorted(
            ((posting, term) for term in terms if len((posting := self._posting(term)).slots)),
            key=lambda each: len(each[0].slots),
        )
        read, late = 0, []
        for posting, _ in found:
            if read and read + len(posting.slots) > most_postings:
                late.append(posting)
            else:
                read += len(posting.slots)
                self._add_up(posting)
        touched = np.flatnonzero(self._sums[: self._next] > 0)
        scores = self._sums[touched]
        self._sums[: self._next] = 0
        allowing = self._allowing(is_allowed)
        if not late:
            return best(*foremost_allowed(touched, scores, limit, allowing), limit)
        most = max(limit, _SHORTLIST)
        touched, scores = foremost(*foremost_allowed(touched, scores, most, allowing), most)
        return best(touched, scores + sum(self._late_scores(each, touched) for each in late), limit)

    def _allowing(self, is_allowed: Allowing | None) -> Allowing:
        """Return what tells which places hold a text that may be found."""
        # The neighbours of a text that is gone were given nothing; it itself may have been given something.
        if is_allowed is None:
            return lambda slots: self._alive[slots]
        return lambda slots: self._alive[slots] & is_allowed(slots)

    def matches(self, terms: Sequence[int], slots: Slots) -> TermMatches:
        """Return how terms occur in texts, exactly."""
        postings = [self._posting(term) for term in terms]
        rarity = np.array([self._rarity(posting) for posting in postings], np.float32)
        counts = np.zeros((len(_PARTS), len(slots), len(terms)), np.float32)
        for column, posting in enumerate(postings):
            counts[:, :, column] = self._counts(posting, slots)
        length, length_around = self._length[slots], self._length_around[slots]
        around = np.tensordot(_PARTS, counts, axes=1)
        return TermMatches(
            rarity=rarity,
            counts=counts,
            own_scores=rarity
            * _saturated(counts[0], length[:, None], self._mean(self._total_length)),
            scores=rarity
            * _saturated(around, length_around[:, None], self._mean(self._total_around)),
        )

    def before(self, slots: Slots) -> Slots:
        """Return the place before each in its session, NOWHERE where there is none."""
        return self._neighbours.before(slots)

    def after(self, slots: Slots) -> Slots:
        """Return the place after each in its session, NOWHERE where there is none."""
        return self._neighbours.after(slots)

    def rarities(self, terms: Sequence[int]) -> NDArray[np.float32]:
        """Return the inverse document frequency of each term."""
        return np.array([self._rarity(self._posting(term)) for term in terms], np.float32)

    def highest(self, rarities: NDArray[np.float32], *, unknown: int) -> float:
        """Return a score that no text exceeds that holds terms of these rarities, and some that none holds.

        Args:
            unknown: How many terms do not.
        """
        rarest = float(np.log1p((max(self._count, _AS_MANY) + 0.5) / 0.5))
        return (_K1 + 1) * (float(rarities.sum()) + unknown * rarest)

    def _posting(self, term: int) -> Posting:
        if term in self._asked:
            return self._asked[term]
        posting = self._postings.find(term)
        if self._dead:
            alive = self._alive[posting.slots]
            if not alive.all():
                posting = Posting(posting.slots[alive], posting.counts[alive])
        if len(self._asked) >= _REMEMBERED_TERMS:
            self._asked.clear()
        self._asked[term] = posting
        return posting

    def _rarity(self, posting: Posting) -> float:
        holding = len(posting.slots)
        return float(np.log1p((max(self._count, _AS_MANY) - holding + 0.5) / (holding + 0.5)))

    def _mean(self, total: float) -> float:
        return max(total, 1.0) / max(self._count, 1)

    def _add_up(self, posting: Posting) -> None:
        """Add what a term gives to every text that holds it, or whose neighbour does."""
        rarity, mean = self._rarity(posting), self._mean(self._total_around)
        own = posting.slots.astype(np.int64)
        after = self._neighbours.after(own)
        places = (own, after, self._neighbours.after(after), self._neighbours.before(own))
        counts = posting.counts.astype(np.float32)
        # What stands here counts in the text after as what was before it, and the other way round.
        for where, part in zip(places, _PARTS, strict=True):
            # No place but NOWHERE occurs twice among the places of one kind.
            self._parts[where] += part * counts
        self._parts[NOWHERE] = 0
        for where in places:
            # A place that was counted before has nothing left.
            counted = self._parts[where]
            self._parts[where] = 0
            self._sums[where] += rarity * _saturated(counted, self._length_around[where], mean)

    def _late_scores(self, posting: Posting, slots: Slots) -> NDArray[np.float32]:
        around = np.tensordot(_PARTS, self._counts(posting, slots), axes=1)
        mean = self._mean(self._total_around)
        return self._rarity(posting) * _saturated(around, self._length_around[slots], mean)

    def _counts(self, posting: Posting, slots: Slots) -> NDArray[np.float32]:
        """Return how often a term occurs in texts, before them, and after: shape (4, texts)."""
        before, after = self._neighbours.before(slots), self._neighbours.after(slots)
        return counts_in(posting, np.stack([slots, before, self._neighbours.before(before), after]))

    def _remeasure(self, slots: Slots) -> None:
        """Measure texts with their neighbours again, after what is around them changed."""
        self._total_around -= float(self._length_around[slots].sum())
        before, after = self._neighbours.before(slots), self._neighbours.after(slots)
        self._length_around[slots] = self._alive[slots] * (
            self._length[slots]
            + _BEFORE * self._length[before]
            + _AFTER * self._length[after]
            + _SECOND_BEFORE * self._length[self._neighbours.before(before)]
        )
        self._total_around += float(self._length_around[slots].sum())

    def _make_room(self, size: int) -> None:
        if size <= len(self._alive):
            return
        size = max(size, 2 * len(self._alive), _FIRST_ROOM)
        self._neighbours.grow(size)
        self._alive = grown(self._alive, size)
        self._length, self._length_around = (
            grown(self._length, size),
            grown(self._length_around, size),
        )
        self._parts, self._sums = np.zeros(size, np.float32), np.zeros(size, np.float32)


def _saturated(
    counts: NDArray[np.float32], lengths: NDArray[np.float32], mean: float
) -> NDArray[np.float32]:
    """Return what counts are worth: each further one less, and the less the longer the text."""
    damping = np.float32(_K1 * (1 - _B)) + np.float32(_K1 * _B / mean) * lengths
    return np.asarray(counts * np.float32(_K1 + 1) / (counts + damping), np.float32)
