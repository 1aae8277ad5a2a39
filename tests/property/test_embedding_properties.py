"""Laws of vectors, likenesses and heads, for any input."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.core.errors import InputError
from kinkeeper.language.sorting.domains import ANY_CHANCE, Domain, DomainRouter, meant_by
from kinkeeper.memory.statements.classification import StatementClassifier
from kinkeeper.models.embedding.calibration import fit_calibration, shipped_calibrations
from kinkeeper.models.embedding.embedder import HashingEmbedder, WithWords
from kinkeeper.models.embedding.minilm import shipped_vocabulary

COSINES = st.floats(-1, 1)
TEXTS = st.text(max_size=200)


@given(TEXTS)
def test_any_text_has_numbers_within_the_vocabulary(text: str) -> None:
    numbers = shipped_vocabulary().numbers(text, 64)

    assert 2 <= len(numbers) <= 64
    assert all(0 <= number < 30_522 for number in numbers)


@given(st.lists(TEXTS, max_size=5))
def test_vectors_have_length_one_or_nothing_and_do_not_depend_on_their_neighbours(
    texts: list[str],
) -> None:
    embedder = HashingEmbedder()
    together = asyncio.run(embedder.embed(texts))

    for vector, text in zip(together, texts, strict=True):
        assert np.array_equal(vector, asyncio.run(embedder.embed([text]))[0])
        assert np.linalg.norm(vector) == pytest.approx(1 if vector.any() else 0, abs=1e-4)


@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2-int8", "hashing-1"])
@given(COSINES, COSINES)
def test_a_closer_pair_is_never_less_alike(model: str, first: float, second: float) -> None:
    calibration = shipped_calibrations()[model]
    low, high = calibration.likeness(sorted((first, second)))

    assert 0 < low <= high < 1


@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2-int8", "hashing-1"])
@given(st.floats(0.05, 0.95))
def test_a_likeness_has_the_cosine_that_has_that_likeness(model: str, likeness: float) -> None:
    calibration = shipped_calibrations()[model]

    assert float(calibration.likeness(calibration.cosine(likeness))) == pytest.approx(likeness)


@given(st.lists(st.tuples(COSINES, st.booleans()), min_size=2, max_size=40))
def test_a_fitted_curve_rises_or_there_is_none(pairs: list[tuple[float, bool]]) -> None:
    cosines, alike = zip(*pairs, strict=True)
    try:
        calibration = fit_calibration("any", cosines, alike)
    except InputError:
        return

    assert calibration.slope > 0
    assert np.isfinite([calibration.slope, calibration.midpoint]).all()


def test_a_curve_needs_both_kinds_of_pairs_and_the_right_way_round():
    with pytest.raises(InputError, match="both similar and dissimilar"):
        fit_calibration("any", [0.1, 0.9], [True, True])
    with pytest.raises(InputError, match="dissimilar texts are closer"):
        fit_calibration("any", [0.1, 0.2, 0.8, 0.9], [True, True, False, False])


@given(st.dictionaries(st.sampled_from(Domain), st.floats(0, 1)))
def test_what_is_meant_is_likelier_than_what_is_not(chances: dict[Domain, float]) -> None:
    meant = meant_by(chances)
    others = chances.keys() - set(meant)

    assert [*meant] == sorted(meant, key=lambda domain: -chances[domain])
    assert all(chances[domain] >= chances[other] for domain in meant for other in others)
    assert bool(meant) == (sum(chances.values()) >= ANY_CHANCE)


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_words_stand_beside_the_meaning_with_equal_weight(texts: list[str]) -> None:
    words = HashingEmbedder()
    joined = WithWords(words)
    vectors = asyncio.run(joined.embed(texts))
    alone = asyncio.run(words.embed(texts))

    assert vectors.shape == (len(texts), joined.dimension)
    assert vectors[:, words.dimension :] == pytest.approx(alone / 2**0.5)
    assert vectors[:, : words.dimension] == pytest.approx(alone / 2**0.5)


@given(TEXTS, st.booleans())
def test_any_text_is_sorted(text: str, has_embedder: bool) -> None:
    embedder = HashingEmbedder() if has_embedder else None
    (route,) = asyncio.run(DomainRouter(embedder).route([text]))
    (statement,) = asyncio.run(StatementClassifier(embedder).classify([text]))

    assert set(route.chances) == set(Domain)
    assert all(0 <= chance <= 1 for chance in route.chances.values())
    assert bool(route.domains) == (sum(route.chances.values()) >= ANY_CHANCE)
    assert sum(statement.chances.values()) == pytest.approx(1)
    assert statement.chances[statement.category] == max(statement.chances.values())
