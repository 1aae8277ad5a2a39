"""The chance of each label of a kind for a text, by cues in a data file and, with an embedder, by meaning."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

import numpy as np
import structlog

from kinkeeper.core.errors import InvariantError, UnavailableError
from kinkeeper.models.embedding.embedder import Embedder, HashingEmbedder, LinearHead, Vectors

# Hints at the kind of a text, as patterns in a data file: which of them a text shows. Pure.

_WORD_LIST = re.compile(r"@(\w+)")
_LONGEST = 2_000
_CURLY = str.maketrans("’‘", "''")


@dataclass(frozen=True, slots=True)
class Cues:
    """Named patterns.

    Attributes:
        patterns: By name, compiled.
    """

    patterns: Mapping[str, re.Pattern[str]]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all of them, in the order of the file."""
        return (*self.patterns,)

    def seen_in(self, text: str) -> dict[str, float]:
        """Return 1 for each cue that a text shows; the others are left out.

        Args:
            text: Any; of a very long one the first 2,000 characters are read.
        """
        plain = text[:_LONGEST].translate(_CURLY).lower().strip()
        return {name: 1.0 for name, pattern in self.patterns.items() if pattern.search(plain)}


@cache
def load_cues(name: str, package: str = "kinkeeper.language.sorting") -> Cues:
    """Return the cues of a data file, read once.

    Args:
        name: Of the file, without its ending.
        package: Whose folder `data` it lies in.
    """
    path = files(package) / "data" / f"{name}.toml"
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    words: Mapping[str, str] = content["words"]
    return Cues(
        {cue: _compiled(alternatives, words) for cue, alternatives in content["cues"].items()}
    )


def _compiled(alternatives: Sequence[str], words: Mapping[str, str]) -> re.Pattern[str]:
    joined = "|".join(alternatives)
    expanded = _WORD_LIST.sub(lambda found: words[found[1]], joined)
    return re.compile(rf"(?<!\w)(?:{expanded})(?!\w)")


log = structlog.get_logger()

CUES_ALONE = "cues"
"""Stands in a head's name for "no model": it reads the cues and nothing else."""

_NO_VECTOR = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One way to sort texts.

    Attributes:
        name: "domain" or "category"; its heads' files are called so.
        package: In whose folder `data` they lie.
        cues_of: Gives the cues that a text shows, 1 each.
    """

    name: str
    package: str
    cue_names: tuple[str, ...]
    cues_of: Callable[[str], Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """What a text was taken for.

    Attributes:
        chances: Of each label, in [0, 1].
        stage: What gave them: "cues" alone, or the model whose vectors were read beside the cues.
    """

    chances: Mapping[str, float]
    stage: str

    @property
    def best(self) -> str:
        """The likeliest label; of equal ones the first."""
        return max(self.chances, key=lambda label: self.chances[label])


class Sorter:
    """Sorts texts into labels of one kind.

    A model whose vectors no head was fitted to is not asked: hashing, which needs nothing, stands in
    for it, as it does when the model cannot be reached.

    Args:
        kind: Whose cues and heads are read.
        embedder: None sorts by cues alone.
    """

    def __init__(self, kind: Kind, embedder: Embedder | None) -> None:
        self._kind = kind
        self._embedder = embedder
        if embedder is not None and load_head(kind, embedder.model) is None:
            log.warning("sorting.unfitted", kind=kind.name, model=embedder.model)
            self._embedder = HashingEmbedder()

    async def sort(self, texts: Sequence[str]) -> list[Sorted]:
        """Return what each text is taken for."""
        model, vectors = await self._vectors(texts)
        return list(self._sorted(texts, model, vectors))

    async def _vectors(self, texts: Sequence[str]) -> tuple[str, Sequence[Vectors]]:
        if self._embedder is None:
            return CUES_ALONE, [_NO_VECTOR] * len(texts)
        try:
            return self._embedder.model, [*await self._embedder.embed(texts)]
        except UnavailableError as error:
            log.warning("sorting.fallback", kind=self._kind.name, reason=str(error))
            fallback = HashingEmbedder()
            return fallback.model, [*await fallback.embed(texts)]

    def _sorted(
        self, texts: Sequence[str], model: str, vectors: Sequence[Vectors]
    ) -> Iterator[Sorted]:
        for text, vector in zip(texts, vectors, strict=True):
            yield sorted_by(self._kind, model, text, vector)


def sorted_by_cues(kind: Kind, text: str) -> Sorted:
    """Return what a text is taken for by its cues alone.

    Args:
        kind: Whose cues and head are read.
    """
    return sorted_by(kind, CUES_ALONE, text, _NO_VECTOR)


def sorted_by(kind: Kind, model: str, text: str, vector: Vectors) -> Sorted:
    """Return what a text is taken for.

    Args:
        kind: Whose cues and head are read.
        model: Whose vector it is, or `CUES_ALONE`.
        vector: Of the text, shape (dimension,); empty for cues alone.

    Raises:
        InvariantError: No head is shipped for the model.
    """
    head = load_head(kind, model)
    if head is None:
        raise InvariantError(f"no head of {kind.name} is shipped for {model}")
    return Sorted(chances=head.predict(kind.cues_of(text), vector), stage=model)


@cache
def load_head(kind: Kind, model: str) -> LinearHead | None:
    """Return the head fitted to a model's vectors, read once; None where there is none.

    Args:
        model: As an embedder names it, or `CUES_ALONE`.
    """
    name = head_file(kind, model)
    shipped = {path.name: path for path in (files(kind.package) / "data").iterdir()}
    if name not in shipped:
        return None
    with as_file(shipped[name]) as path:
        return LinearHead.load(path)


def head_file(kind: Kind, model: str) -> str:
    """Return the name of the file that holds a head.

    Args:
        model: As an embedder names it, or `CUES_ALONE`.
    """
    safe = "".join(sign if sign.isalnum() or sign in "-." else "_" for sign in model)
    return f"{kind.name}_head.{safe}.npz"
