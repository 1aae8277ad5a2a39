"""How likely something has changed where neither rules nor trees are sure of it: what a person can be asked. Pure."""

from kinkeeper.memory.statements.pair_traits import Pair, Traits, side_by_side, traits_of
from kinkeeper.memory.statements.relation import Relation, by_rules, relate
from kinkeeper.memory.statements.second_opinion import LIKENESS, OPEN, UPDATE, chance_of
from kinkeeper.memory.statements.surface_cues import wording_of

WORTH_ASKING = 0.5
"""From this chance on two statements are put to a person."""

_CLOSED = ("new: thought", "new is_hypothetical", "old is_hypothetical", "old: thought", "old is_past", "old is_retraction")  # fmt: skip


def chance_left_open(old: str, new: str, *, likeness: float | None) -> float:
    """Return how likely the new one ends or changes what the old one tells, where that was not decided.

    Args:
        old: What was said.
        new: What was said later, by the same person or for all.
        likeness: Of what both mean, between 0 and 1; None where nothing tells it.

    Returns:
        Between 0 and 1; 0 where their relation is clear.
    """
    pair = side_by_side(wording_of(old), wording_of(new))
    traits = traits_of(pair)
    if not may_be_open(pair, traits) or relate(old, new).relation is not Relation.OTHER:
        return 0.0
    if by_rules(old, new).relation is Relation.UPDATE:
        return 1.0  # the trees speak against it
    if likeness is None:
        return chance_of(UPDATE, traits)
    return chance_of(OPEN, {**traits, LIKENESS: likeness})


def may_be_open(pair: Pair, traits: Traits) -> bool:
    """Whether two statements may be asked about: both tell how things are, and they share a word.

    Args:
        pair: The two.
        traits: Theirs.
    """
    return bool(pair.shared) and not any(traits[each] for each in _CLOSED)
