"""The packaged model, really run: what it gives, and what keeps a wrong one out."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kinkeeper.core.errors import UnavailableError
from kinkeeper.models.embedding.minilm import DIMENSION, MiniLm, shared_minilm, weights_path

WEIGHTS = weights_path()

pytestmark = pytest.mark.skipif(
    WEIGHTS is None, reason="NOT TESTED: the extra `embedder` is not installed"
)

TEXTS = (
    "Who is picking up the kids tomorrow?",
    "Somebody has to fetch the children tomorrow.",
    "The oven is broken again.",
    "ok",
)


@pytest.fixture(scope="module")
def model() -> MiniLm:
    assert WEIGHTS is not None
    return shared_minilm(WEIGHTS)


def test_texts_of_one_meaning_are_close_and_others_are_not(model: MiniLm) -> None:
    vectors = asyncio.run(model.embed(TEXTS))

    assert vectors.shape == (4, DIMENSION)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1] * 4, abs=1e-5)
    assert float(vectors[0] @ vectors[1]) > 0.6
    assert float(vectors[0] @ vectors[2]) < 0.2


def test_known_pairs_have_the_published_model_s_cosines(model: MiniLm) -> None:
    # The model card's own example sentences of this family of models, rounded.
    vectors = asyncio.run(
        model.embed(
            ["That is a happy person", "That is a very happy person", "Today is a sunny day"]
        )
    )

    assert float(vectors[0] @ vectors[1]) == pytest.approx(0.94, abs=0.03)
    assert float(vectors[0] @ vectors[2]) == pytest.approx(0.26, abs=0.06)


def test_a_vector_does_not_depend_on_the_batch(model: MiniLm) -> None:
    texts = [f"{'very ' * (n % 20)}long line number {n}" for n in range(36)]
    together = asyncio.run(model.embed(texts))
    alone = np.stack([asyncio.run(model.embed([text]))[0] for text in texts[::9]])

    assert float((together[::9] * alone).sum(axis=1).min()) > 0.999


def test_no_text_gives_no_vector_and_any_length_gives_one(model: MiniLm) -> None:
    assert asyncio.run(model.embed([])).shape == (0, DIMENSION)
    assert np.isfinite(asyncio.run(model.embed(["", "word " * 5000]))).all()


def test_the_event_loop_goes_on_meanwhile(model: MiniLm) -> None:
    async def both() -> int:
        task = asyncio.ensure_future(model.embed(["a rather long sentence " * 4] * 16))
        turns = 0
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
        return turns

    assert asyncio.run(both()) > 5


def test_there_is_one_a_process(model: MiniLm) -> None:
    assert WEIGHTS is not None
    assert shared_minilm(WEIGHTS) is model


def test_other_weights_are_refused_before_they_are_run(tmp_path: Path) -> None:
    assert WEIGHTS is not None
    changed = bytearray(WEIGHTS.read_bytes())
    changed[-1] ^= 1
    path = tmp_path / "model.onnx"
    path.write_bytes(changed)

    with pytest.raises(UnavailableError, match="expected weights"):
        asyncio.run(MiniLm(path).embed(["hello"]))


def test_its_library_keeps_no_log_of_its_use(tmp_path: Path) -> None:
    """The runtime would note an id of the machine and what it does, to be sent."""
    code = (
        "from kinkeeper.models.embedding.minilm import shared_minilm, weights_path\n"
        "shared_minilm(weights_path()).embed_now(['a'])"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, env=os.environ | {"HOME": str(tmp_path)}
    )
    assert list(tmp_path.iterdir()) == []
