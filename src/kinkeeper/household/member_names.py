"""The members of a household by the words they are called."""

from collections import Counter

from kinkeeper.household.model import Household
from kinkeeper.household.name_folding import fold


def members_by_name(household: Household) -> dict[str, str]:
    """Return the members' ids by their folded names and aliases; a word for several of them is left out."""
    named = [
        (fold(word), member.id)
        for member in household.members
        for word in {member.id, member.name, *member.aliases}
    ]
    several = Counter(word for word, _ in set(named))
    return {word: member for word, member in named if several[word] == 1}
