"""For whom deeds that are over were done, as somebody tells them: for children, pets and the house, or for themselves. Pure."""

from collections.abc import Collection
from datetime import UTC, datetime
from functools import lru_cache

from kinkeeper.household.model import Household
from kinkeeper.language.text import tokenise
from kinkeeper.memory.statements.absences import tells_of_time
from kinkeeper.memory.statements.canonical_words import canon_of
from kinkeeper.memory.statements.discretion import (
    concerns_others,
    is_health_of_other,
    speaks_of_health,
)
from kinkeeper.memory.statements.names import kin, kin_canons, person_canons
from kinkeeper.memory.statements.slots import slots
from kinkeeper.reading.asked import LimitKind, bars, forbids, general_words, reacts
from kinkeeper.reading.deeds import (
    Deed,
    NextDose,
    clauses_of,
    deeds_told,
    is_all_children,
    next_dose,
    says_done,
)
from kinkeeper.reading.replies import is_question, releases
from kinkeeper.reading.ruled_out import Ban, ban_told
from kinkeeper.reading.second_thoughts import value_left

_ANY_TIME = datetime(2026, 1, 1, 12, tzinfo=UTC)
_CHILD = "child"
"""Slot of who is somebody's child."""


def deeds_of(text: str, household: Household) -> tuple[Deed, ...]:
    """Return the deeds that a message tells; what it asks, of whomever of the household or the kin, is none."""
    return deeds_told(text, kin().union(household.members_by_word))


def is_report(text: str, household: Household) -> bool:
    """Return whether a message tells what was done for a child, a pet or the house, or need not be, or who has time when.

    Who minds them next asks for it.

    Args:
        text: The whole message, verbatim.
    """
    if (
        frees_others(text, household)
        or tells_of_time(text, household)
        or tells_dose(text, household)
    ):
        return True
    return any(
        not each.is_mine and (each.is_chore or _is_of_charge(each.text, household))
        for each in deeds_of(text, household)
    )


def frees_others(text: str, household: Household) -> bool:
    """Return whether a message says that others need not do something for a child, as somebody else may."""
    children = {each.id for each in household.children}
    return releases(text) and not children.isdisjoint(people_in(text, household))


def tells_dose(text: str, household: Household) -> bool:
    """Return whether a message tells of a dose that was given, and asks to be reminded of the next one."""
    return _dose_in(text, household) is not None


def _dose_in(text: str, household: Household) -> NextDose | None:
    return next_dose(text, _ANY_TIME, kin().union(household.members_by_word))


def is_for_home(text: str, household: Household) -> bool:
    """Return whether a message is kept as it was said for those at home: a report, or what somebody must not have or do."""
    return (
        is_report(text, household)
        or tells_limit(text, household)
        or childs_ban(text, household) is not None
    )


def childs_ban(text: str, household: Household, *, is_known: bool = False) -> Ban | None:
    """Return what a message tells that a child is not to do for a while, or may do once more; None where it tells of neither.

    Args:
        text: The whole message, verbatim.
        is_known: Whether it is known to be about a child, although it names nobody.
    """
    named = people_in(text, household)
    if not named and not is_known:
        return None
    ban = ban_told(text, doings_of(household))
    is_question_of_it = ban is not None and is_question(
        tokenise(text), text, kin().union(household.members_by_word)
    )
    if ban is None or is_question_of_it:
        return None
    return ban if not named or not named.isdisjoint(_children(household)) else None


@lru_cache(maxsize=64)
def doings_of(household: Household) -> frozenset[str]:
    """Return the words for what a household does, in small letters, without what its teams and clubs are called."""
    names = (name for each in household.activities for name in (each.name, *each.aliases))
    return frozenset(name.casefold() for name in names if len(_words(name)) == 1)


def _children(household: Household) -> Collection[str]:
    return {each.id for each in household.children}


def tells_limit(text: str, household: Household) -> bool:
    """Return whether a message tells what somebody at home or a pet must not get or come near, or may be allergic to."""
    people = kin().union(household.members_by_word)
    is_told = bars(text) or (
        (reacts(text) or forbids(text, LimitKind.DIET))
        and not is_question(tokenise(text), text, people)
    )
    return is_told and bool(people_in(text, household) or _is_of_charge(text, household))


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


def is_done_after_all(said: str, told: str, household: Household) -> bool:
    """Return whether a reply says no more than that what a message told as not done was done: "ok given now"."""
    return says_done(said, deeds_of(told, household), kin().union(household.members_by_word))


def only_sets_right(said: str, told: str, household: Household) -> bool:
    """Return whether a reply says no more than that a deed was done after all, or which thing it was: it tells nothing of its teller."""
    is_value = value_left(said) is not None and is_report(told, household)
    return is_value or is_done_after_all(said, told, household)


def without_care(text: str, household: Household) -> str:
    """Return a message without the clauses that tell of care for a child or a pet, done or needed: they are no affairs of its teller's."""
    dose = _dose_in(text, household)
    text = text if dose is None else dose.told
    done = _care_done(text, household)
    return " ".join(
        each
        for each in clauses_of(text)
        if not (
            any(each in one or one in each for one in done)
            or _is_health(each, household)
            or tells_limit(each, household)
            or frees_others(each, household)
        )
    )


def tells_of_care(text: str, household: Household) -> bool:
    """Whether a message tells of care for a child or a pet, of their health, or of what those around have to know of anybody's."""
    return (
        concerns_others(text)
        or bool(_care_done(text, household))
        or (speaks_of_health(text) and _is_of_charge(text, household))
    )


def _care_done(text: str, household: Household) -> frozenset[str]:
    """Return what tells of care that a child or a pet got, or of how they are."""
    told = deeds_of(text, household)
    return frozenset(
        each.text
        for each in told
        if (each.is_care or general_words(each.text))
        and not each.is_mine
        and _is_of_charge(each.text, household)
    )


def _is_health(text: str, household: Household) -> bool:
    """Whether a text that is about a child or a pet tells of health, and names no adult whose it may be."""
    adults = {each.id for each in household.adults}
    is_theirs = _is_of_charge(text, household) and is_health_of_other(text)
    return is_theirs and adults.isdisjoint(people_in(text, household))


def _is_of_charge(text: str, household: Household) -> bool:
    """Whether a text is about a child or a pet."""
    children = {each.id for each in household.children}
    said = {*map(canon_of, _words(text))}
    is_of_kind = not said.isdisjoint(kin_canons() - person_canons()) or any(
        (slot := slots().nouns.get(each)) is not None and slot.name == _CHILD for each in said
    )
    return is_of_kind or not children.isdisjoint(people_in(text, household))


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
