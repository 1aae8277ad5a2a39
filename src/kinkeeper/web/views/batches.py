"""Cards that may be confirmed together. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from kinkeeper.web.views.cards import Card, Way


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Cards of one kind that can be confirmed together and taken back one by one.

    Attributes:
        kind: In words.
        cards: At least two.
    """

    kind: str
    cards: tuple[Card, ...]


def batches(cards: Iterable[Card]) -> tuple[Batch, ...]:
    """Return the cards that can be confirmed together: one kind, one plain way, easily taken back."""
    plain = [
        card
        for card in cards
        if card.may_decide and len(card.ways) == 1 and _is_plain(card.ways[0])
    ]
    counted = Counter(card.kind for card in plain)
    return tuple(
        Batch(kind=kind, cards=tuple(card for card in plain if card.kind == kind))
        for kind, count in counted.items()
        if count > 1
    )


def _is_plain(way: Way) -> bool:
    return not way.choice and not way.is_grave and bool(way.changes or way.remembers)
