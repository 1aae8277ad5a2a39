"""Hashing sees what is written alike, always in the same way."""

import asyncio

import numpy as np
import pytest

from kinkeeper.models.embedding.embedder import DIMENSION, HashingEmbedder


def embedded(*texts: str) -> np.ndarray:
    return asyncio.run(HashingEmbedder().embed(texts))


def test_a_text_gets_one_vector_of_length_one():
    vectors = embedded("Leo has chess at 4", "who picks up Mia?")

    assert vectors.shape == (2, DIMENSION)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-5)


def test_a_text_without_words_gets_none_and_likes_nothing():
    vectors = embedded("", "😂!!", "hello")

    assert not vectors[:2].any()
    assert float(vectors[0] @ vectors[2]) == 0


def test_case_and_form_of_letters_do_not_matter():
    first, second = embedded("CAFÉ at Ｎoon", "café at noon")

    assert float(first @ second) == pytest.approx(1, abs=1e-5)


def test_a_misspelling_is_closer_than_another_word():
    meant, misspelt, other = embedded("orchestra rehearsal", "orchestra rehersal", "dentist visit")

    assert float(meant @ misspelt) > float(meant @ other) + 0.4


def test_the_order_of_words_counts_a_little():
    first, second = embedded("dog bites man", "man bites dog")

    assert 0.5 < float(first @ second) < 0.99
