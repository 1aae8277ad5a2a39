"""What tells beside the legs which candidates answer: shares of the query held, and what the texts are like."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinkeeper.memory.finding.fusion import Scores
from kinkeeper.memory.finding.lexical_index import TermMatches
from kinkeeper.memory.finding.postings import Slots
from kinkeeper.memory.finding.shelf import Shelf
from kinkeeper.memory.finding.traits import Trait
from kinkeeper.memory.finding.wants import wants_of

OWN_SHARE, MATCHED, RAREST, WINDOW_SHARE = "own_share", "matched", "rarest", "window_share"
PLAIN_OF_MOST, OWN_OF_MOST, AFTER_QUESTION = "plain_of_most", "own_of_most", "after_question"
_SHARES = (OWN_SHARE, "before_share", "second_before_share", "after_share")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a query is like.

    Attributes:
        wants: Which kinds of answers it wants: shape (kinds,).
        terms: How many stems it has that are known and name nobody.
        rarity: Their mean rarity.
        names: How many words of it name somebody who speaks.
    """

    wants: NDArray[np.bool_]
    terms: int
    rarity: float
    names: int


def asked(text: str, matches: TermMatches, is_name: NDArray[np.bool_]) -> Asked:
    """Return what a query is like.

    Args:
        text: The query.
        matches: How its terms occur.
        is_name: Whether each names somebody who speaks: shape (terms,).
    """
    rarities = matches.rarity[~is_name]
    return Asked(
        wants=wants_of(text), terms=len(rarities), names=int(is_name.sum()),
        rarity=float(rarities.mean()) if len(rarities) else 0.0,
    )  # fmt: skip


def clues(
    shelf: Shelf, slots: Slots, matches: TermMatches, *, is_name: NDArray[np.bool_], most: float
) -> dict[str, Scores]:
    """Return clues by name, each of shape (candidates,).

    Args:
        shelf: Where the candidates stand.
        slots: Their places.
        matches: How the query's terms occur in them.
        is_name: Whether each term names somebody who speaks: shape (terms,).
        most: The highest score such a query can have.
    """
    held = matches.counts[:, :, ~is_name] > 0
    rarity = matches.rarity[~is_name].astype(np.float64)
    total = float(rarity.sum()) or 1.0
    shares = held @ rarity / total
    own = matches.own_scores[:, ~is_name].sum(axis=1, dtype=np.float64)
    plain = matches.scores[:, ~is_name].sum(axis=1, dtype=np.float64)
    found: dict[str, Scores] = dict(zip(_SHARES, shares, strict=True))
    found[WINDOW_SHARE] = held.any(axis=0) @ rarity / total
    found[MATCHED] = held[0].sum(axis=1).astype(np.float64)
    found[RAREST] = (held[0] * rarity).max(axis=1, initial=0.0) / (rarity.max(initial=0.0) or 1.0)
    found[OWN_OF_MOST], found[PLAIN_OF_MOST] = own / (most or 1.0), plain / (most or 1.0)
    traits = shelf.traits(slots)
    found |= {trait.name: traits[:, trait].astype(np.float64) for trait in Trait}
    before = shelf.traits(shelf.words.before(slots))
    found[AFTER_QUESTION] = before[:, Trait.ENDS_ASKING].astype(np.float64)
    return found


def of_neighbours(scores: Mapping[str, Scores], shelf: Shelf, slots: Slots) -> dict[str, Scores]:
    """Return what the texts before and after have on each leg; 0 of those that are no candidates.

    Args:
        scores: By leg, each of shape (candidates,).
        shelf: Where the candidates stand.
        slots: Their places, in rising order.
    """
    found: dict[str, Scores] = {}
    for side, beside in (
        ("before", shelf.words.before(slots)),
        ("after", shelf.words.after(slots)),
    ):
        places = np.minimum(np.searchsorted(slots, beside), max(len(slots) - 1, 0))
        is_here = slots[places] == beside
        found |= {
            f"{name}_{side}": np.where(is_here, values[places], 0.0)
            for name, values in scores.items()
        }
    return found
