"""Which category of memory a statement about a person's life belongs to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kinkeeper.language.sorting.sorter import Sorter
from kinkeeper.models.embedding.embedder import Embedder

KIND = "category"


class Category(StrEnum):
    """What a fact is about; it decides how long it lives and what it supersedes."""

    IDENTITY = "identity"
    PREFERENCE = "preference"
    RELATIONSHIP = "relationship"
    EMOTIONAL = "emotional"
    PROJECT_ACTIVE = "project-active"
    GOAL = "goal"
    CONSTRAINT = "constraint"
    TECHNICAL = "technical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Categorised:
    """What a statement is about.

    Attributes:
        category: The likeliest one.
        chances: Of each category; they add up to 1.
        stage: What gave them (see `Sorted`).
    """

    category: Category
    chances: Mapping[Category, float]
    stage: str


class Categoriser:
    """Finds the categories of statements.

    Args:
        embedder: None judges by cues alone.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._sorter = Sorter(KIND, embedder)

    async def categorise(self, texts: Sequence[str]) -> list[Categorised]:
        """Return the category of each statement.

        Args:
            texts: One statement each.
        """
        return [
            Categorised(
                category=Category(found.best), stage=found.stage,
                chances={category: found.chances[category] for category in Category},
            )
            for found in await self._sorter.sort(texts)
        ]  # fmt: skip
