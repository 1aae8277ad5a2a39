"""The indexes of memory against plain computation over all texts, after any texts came and went."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.finding.arrays import Slots, widened
from kinkeeper.memory.finding.lexical_index import IndexedText, LexicalIndex
from kinkeeper.memory.finding.shelf import Admission, Entry, Shelf
from kinkeeper.memory.finding.vector_index import VectorIndex

_WORDS = ("apple", "river", "stone", "garden", "piano", "window", "bridge", "candle")
_PARTS = {0: 1.0, -1: 0.5, -2: 0.2, 1: 0.2}
_K1, _B = 0.9, 0.4


@dataclass(frozen=True)
class _Text:
    words: tuple[str, ...]
    session: int | None
    said_at: int


_texts = st.builds(
    _Text,
    words=st.lists(st.sampled_from(_WORDS), max_size=6).map(tuple),
    session=st.sampled_from([None, 1, 2]),
    said_at=st.integers(0, 5),
)
_steps = st.lists(st.one_of(st.lists(_texts, max_size=5), st.integers(0, 30)), max_size=12)


def _filled(steps: Sequence[list[_Text] | int]) -> tuple[LexicalIndex, dict[int, _Text]]:
    """Add lists of texts, remove texts by their number, and tell which remain, by place."""
    index, here = LexicalIndex(), dict[int, _Text]()
    for step in steps:
        if isinstance(step, int):
            if here:
                gone = sorted(here)[step % len(here)]
                index.remove(gone)
                del here[gone]
            continue
        slots = index.add(
            [
                IndexedText(
                    text=" ".join(each.words),
                    session=each.session,
                    said_at=each.said_at,
                    arrival=index.room + place,
                )
                for place, each in enumerate(step)
            ]
        )
        here |= dict(zip(slots.tolist(), step, strict=True))
    return index, here


def _plain_scores(here: Mapping[int, _Text], query: Sequence[str]) -> dict[int, float]:
    """Score every text by the definition: its own words, and parts of its neighbours'."""
    counts = {}
    for slot, text in here.items():
        counted: Counter[str] = Counter()
        line = [slot]
        if text.session is not None:
            line = [each for each in here if here[each].session == text.session]
            line.sort(key=lambda each: (here[each].said_at, each))
        for offset, part in _PARTS.items():
            place = line.index(slot) + offset
            if 0 <= place < len(line):
                for word in here[line[place]].words:
                    counted[word] += part
        counts[slot] = counted
    mean = max(sum(each.total() for each in counts.values()), 1) / max(len(here), 1)
    scores = dict.fromkeys(here, 0.0)
    for word in set(query):
        holding = sum(word in text.words for text in here.values())
        rarity = math.log1p((max(len(here), 300) - holding + 0.5) / (holding + 0.5))
        for slot, counted in counts.items():
            damping = _K1 * (1 - _B + _B * counted.total() / mean)
            scores[slot] += rarity * counted[word] * (_K1 + 1) / (counted[word] + damping)
    return scores


@settings(max_examples=60)
@given(steps=_steps, query=st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4))
def test_scores_are_those_of_the_definition(steps: list[list[_Text] | int], query: list[str]):
    index, here = _filled(steps)
    terms = [*index.vocabulary.known(" ".join(query)).values()]
    slots, scores = index.search(terms, limit=100)
    expected = {slot: score for slot, score in _plain_scores(here, query).items() if score > 0}
    assert dict(zip(slots.tolist(), scores.tolist(), strict=True)) == pytest.approx(
        expected, rel=1e-4
    )
    assert list(scores) == sorted(scores, reverse=True)
    exact = index.matches(terms, slots).scores.sum(axis=1)
    assert exact.tolist() == pytest.approx(scores.tolist(), rel=1e-4)


@settings(max_examples=60)
@given(steps=_steps, query=st.lists(st.sampled_from(_WORDS), min_size=2, max_size=4, unique=True))
def test_frequent_words_left_for_later_only_tell_found_texts_apart(
    steps: list[list[_Text] | int], query: list[str]
):
    index, here = _filled(steps)
    terms = [*index.vocabulary.known(" ".join(query)).values()]
    slots, scores = index.search(terms, limit=100, most_postings=1)
    expected = _plain_scores(here, query)
    assert scores.tolist() == pytest.approx([expected[slot] for slot in slots.tolist()], rel=1e-4)


@given(
    entries=st.lists(
        st.builds(
            Entry,
            id=st.integers(0, 6).map(str),
            text=st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4).map(" ".join),
            scope=st.sampled_from(["household", "person:a", "person:b"]),
            said_at=st.floats(0, 100),
            arrival=st.integers(0, 9),
            is_assistant=st.booleans(),
            shown_from=st.floats(0, 100),
            shown_until=st.floats(0, 100),
            confidence=st.floats(0, 1),
            faded_since=st.just(0.0),
        ),
        max_size=12,
    ),
    scopes=st.frozensets(st.sampled_from(["household", "person:a", "person:c"])),
    now=st.floats(0, 100),
    above=st.floats(0, 1),
    without=st.frozensets(st.integers(0, 6).map(str), max_size=2),
)
def test_only_what_is_admitted_is_found(
    entries: list[Entry], scopes: frozenset[str], now: float, above: float, without: frozenset[str]
):
    shelf, last = Shelf(), dict[str, Entry]()
    for entry in entries:
        shelf.put([entry])
        last[entry.id] = entry
    asked = Admission(viewer=Viewer("h", scopes), now=now, above=above, without=without)
    terms = [*shelf.words.vocabulary.known(" ".join(_WORDS)).values()]
    slots, _ = shelf.words.search(terms, limit=100, is_allowed=shelf.admitted(asked))
    expected = {
        entry.id
        for entry in last.values()
        if entry.scope in scopes
        and not entry.is_assistant
        and entry.shown_from <= now < entry.shown_until
        and entry.confidence * math.exp(-0.01 * now / 86_400) > above
        and entry.id not in without
    }
    assert set(shelf.ids(slots)) == expected


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    gone=st.sets(st.integers(1, 300), max_size=300),
    limit=st.sampled_from([1, 20, 400]),
)
def test_the_nearest_by_signs_are_found_whoever_left(seed: int, gone: set[int], limit: int):
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(300, 130)).astype(np.float32)
    index, slots = VectorIndex(), np.arange(1, 301)
    index.put(slots[:200], vectors[:200])
    index.put(slots[150:], vectors[150:])
    index.remove(np.array(sorted(gone), np.int64))
    query = random.normal(size=130).astype(np.float32)
    differing = ((vectors > 0) != (query > 0)).sum(axis=1)

    def is_even(places: Slots) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        return places % 2 == 0

    here = [slot for slot in slots.tolist() if slot not in gone and slot % 2 == 0]
    here.sort(key=lambda slot: (differing[slot - 1], -slot))
    assert index.search(query, limit=limit, is_allowed=is_even).tolist() == here[:limit]
    assert len(index) == 300 - len(gone)
    kept = index.kept(np.arange(1, 303))
    assert kept is not None
    there = np.array([slot not in gone for slot in slots.tolist()])
    assert np.allclose(kept[:300], vectors * there[:, None], atol=2e-3)
    assert not kept[300:].any()


@pytest.mark.parametrize("limit", [3, 50])
def test_those_who_may_be_found_are_found_however_many_nearer_ones_may_not(limit: int):
    random = np.random.default_rng(3)
    near = random.normal(size=64) + random.normal(scale=0.1, size=(6_000, 64))
    far = random.normal(size=(100, 64))
    index, slots = VectorIndex(), np.arange(1, 6_101)
    index.put(slots, np.concatenate([near, far]).astype(np.float32))

    def is_far(places: Slots) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        return places > 6_000

    found = index.search(near[0].astype(np.float32), limit=limit, is_allowed=is_far)
    assert len(found) == limit
    assert (found > 6_000).all()


def test_numbers_of_half_precision_stay_the_same_numbers() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)

    for halves in (every, every.astype(">f2")):
        assert np.array_equal(widened(halves), every.astype(np.float32), equal_nan=True)
