"""For whom deeds that are over were done, as somebody tells them: for children, pets and the house, or for themselves. Pure."""

from kinkeeper.household.model import Household
from kinkeeper.language.text import tokenise
from kinkeeper.memory.statements.absences import tells_of_time
from kinkeeper.memory.statements.canonical_words import canon_of
from kinkeeper.memory.statements.names import kin, kin_canons, person_canons
from kinkeeper.reading.deeds import Deed, clauses_of, deeds_told, is_all_children
from kinkeeper.reading.replies import releases


def deeds_of(text: str, household: Household) -> tuple[Deed, ...]:
    """Return the deeds that a message tells; what it asks, of whomever of the household or the kin, is none."""
    return deeds_told(text, kin().union(household.members_by_word))


def is_report(text: str, household: Household) -> bool:
    """Return whether a message tells what was done for a child, a pet or the house, or need not be, or who has time when.

    Who minds them next asks for it.

    Args:
        text: The whole message, verbatim.
    """
    if frees_others(text, household) or tells_of_time(text, household):
        return True
    return any(
        not each.is_mine and (each.is_chore or _is_of_charge(each, household))
        for each in deeds_of(text, household)
    )


def frees_others(text: str, household: Household) -> bool:
    """Return whether a message says that others need not do something for a child, as somebody else may."""
    children = {each.id for each in household.children}
    return releases(text) and not children.isdisjoint(people_in(text, household))


def is_told_of_self(text: str, household: Household) -> bool:
    """Return whether a message tells what its teller took, or did not: that is theirs alone."""
    told = deeds_of(text, household)
    return any(
        each.is_taken and not each.points_back and not people_in(each.text, household)
        for each in told
    )


def only_denies(text: str, household: Household) -> bool:
    """Return whether a message tells of deeds, and of none that was done."""
    told = deeds_of(text, household)
    return bool(told) and all(each.is_denied for each in told)


def without_care(text: str, household: Household) -> str:
    """Return a message without the clauses that tell of care for a child or a pet: they are no affairs of its teller's."""
    told = {
        each.text
        for each in deeds_of(text, household)
        if each.is_care and not each.is_mine and _is_of_charge(each, household)
    }
    return " ".join(
        each for each in clauses_of(text) if not (each in told or frees_others(each, household))
    )


def _is_of_charge(deed: Deed, household: Household) -> bool:
    """Whether a deed is about a child or a pet."""
    children = {each.id for each in household.children}
    is_of_pet = not {*map(canon_of, _words(deed.text))}.isdisjoint(kin_canons() - person_canons())
    return is_of_pet or not children.isdisjoint(people_in(deed.text, household))


def people_in(text: str, household: Household) -> frozenset[str]:
    """Return the ids of members whom a text names, also among all the children, and also without the mark of a possessive."""
    said = _words(text)
    bare = {*said, *(each.removesuffix("s") for each in said)}
    named = {
        each.id
        for each in household.members
        if any(bare.issuperset(_words(name)) for name in (each.name, *each.aliases))
    }
    if any(map(is_all_children, said)):
        named.update(each.id for each in household.children)
    return frozenset(named)


def _words(text: str) -> list[str]:
    return [each.text.casefold().partition("'")[0] for each in tokenise(text.replace("’", "'"))]
