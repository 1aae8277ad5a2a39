"""How a new statement relates to an older one, and how likely a change is where that stays open."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from kinkeeper.memory.statements.canonical_words import lexicon
from kinkeeper.memory.statements.comparison import (
    carried,
    has_same_value,
    holds_again,
    is_about_the_same,
    is_changed,
    is_number,
    is_of_same_subject,
    is_over_by_name,
    is_succeeded,
    is_turned_round,
    may_be_about_the_same,
    says_the_same,
    says_the_same_of_it,
    takes_over,
    wording_of,
)
from kinkeeper.memory.statements.second_opinion import (
    LIKENESS,
    OPEN,
    SAME,
    UPDATE,
    Pair,
    Traits,
    chance_of,
    found_by_traits,
    is_unlikely_update,
    side_by_side,
    traits_of,
)
from kinkeeper.memory.statements.slots import slots
from kinkeeper.memory.statements.statement_reader import Reading, read_statement


class Relation(StrEnum):
    """What a statement is to another."""

    SAME = "same"
    UPDATE = "update"
    CONTRADICTION = "contradiction"
    OTHER = "other"


class Effect(StrEnum):
    """What becomes of the two."""

    MERGE = "MERGE"
    SUPERSEDE = "SUPERSEDE"
    KEEP_BOTH = "KEEP_BOTH"


_EFFECTS = {Relation.SAME: Effect.MERGE, Relation.UPDATE: Effect.SUPERSEDE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """How two statements relate.

    Attributes:
        relation: What the new one is to the old one.
        why: The reason, as a plain sentence.
    """

    relation: Relation
    why: str

    @property
    def effect(self) -> Effect:
        """What becomes of the two."""
        return _EFFECTS.get(self.relation, Effect.KEEP_BOTH)


def relate(
    old: str, new: str, *, old_at: datetime | None = None, new_at: datetime | None = None
) -> Related:
    """Tell how a new statement relates to an old one.

    Both are read as said by the same person.

    Args:
        old_at: When the old statement holds from; aware.
        new_at: When the new one does. Without both times the old one counts as older.

    Returns:
        The relation. A statement that turns out to be the older one never updates the other; of equal
        times, neither does: such two contradict each other.
    """
    found = by_rules(old, new, old_at=old_at, new_at=new_at)
    is_in_order = old_at is None or new_at is None or old_at < new_at
    return _looked_at_again(found, old, new) if is_in_order else found


def _looked_at_again(found: Related, old: str, new: str) -> Related:
    """Return what the rules found, or what the words of both show besides."""
    if found.relation is Relation.UPDATE and is_unlikely_update(old, new):
        return _other("They are unlikely to be about the same thing.")
    if found.relation is not Relation.OTHER:
        return found
    shown = found_by_traits(old, new)
    return Related(relation=Relation(shown), why=_SHOWN[shown]) if shown else found


_SHOWN = {
    UPDATE: "The new statement changes the old one.",
    SAME: "Both say nearly the same thing in different words.",
}


def by_rules(
    old: str, new: str, *, old_at: datetime | None = None, new_at: datetime | None = None
) -> Related:
    """Tell how a new statement relates to an old one by the rules alone.

    Args:
        old_at: When the old statement holds from; aware.
        new_at: When the new one does. Without both times the old one counts as older.
    """
    if _plain(old) == _plain(new):
        return Related(relation=Relation.SAME, why="Both use the same words.")
    return relate_readings(read_statement(old), read_statement(new), old_at=old_at, new_at=new_at)


def relate_readings(
    old: Sequence[Reading],
    new: Sequence[Reading],
    *,
    old_at: datetime | None = None,
    new_at: datetime | None = None,
) -> Related:
    """Tell how two statements relate that were read before.

    Args:
        new: Of what is said now.
        old_at: When the old statement holds from; aware.
        new_at: When the new one does. Without both times the old one counts as older.

    Returns:
        The relation, as `relate` gives it.
    """
    found = _compared(old, new)
    if old_at is None or new_at is None or old_at < new_at:
        return found
    if found.relation is Relation.SAME:
        return found
    backwards = _compared(new, old)
    if old_at == new_at:
        return _unordered(found, backwards)
    if backwards.relation is Relation.UPDATE:
        return _other("The statement given as new is the older of the two.")
    return backwards


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".! ")


def _unordered(one: Related, other: Related) -> Related:
    if Relation.UPDATE in {one.relation, other.relation}:
        return Related(
            relation=Relation.CONTRADICTION,
            why="One replaces the other, but both are from the same time.",
        )
    return max(one, other, key=lambda each: each.relation is Relation.CONTRADICTION)


_GOAL = "goal"
_WHEN = frozenset(("when", "routine"))
_NOONS = frozenset(("noon", "midnight"))
_SPOKEN = {"when": "time", "routine": "time", "party": "time", "like": "taste", "sitter": "helper"}
_RANK = (Relation.UPDATE, Relation.CONTRADICTION, Relation.SAME, Relation.OTHER)


def _compared(old: Sequence[Reading], new: Sequence[Reading]) -> Related:
    """Return the strongest relation of any two clauses; all of them must be the same for a restatement."""
    before, after = carried(old), carried(new)
    pairs = [_pair(one, other) for one in before for other in after]
    if not pairs:
        return Related(relation=Relation.OTHER, why="One of them could not be read.")
    found = min(pairs, key=lambda found: _RANK.index(found.relation))
    return found if found.relation is not Relation.OTHER else _freely(before, after) or found


def _freely(old: Sequence[Reading], new: Sequence[Reading]) -> Related | None:
    """Return how two statements relate by all their words, where no slot told."""
    is_news = any(each.is_change for each in new)
    for one in old:
        for other in new:
            if related := _freely_paired(one, replace(other, is_change=is_news)):
                return related
    return None


def _freely_paired(old: Reading, new: Reading) -> Related | None:
    if old.is_hypothetical or new.is_hypothetical or old.is_retraction:
        return None
    is_same = is_of_same_subject(old.subject, new.subject) or may_be_about_the_same(old, new)
    if takes_over(old, new) or is_succeeded(old, new) or (is_same and is_over_by_name(old, new)):
        return Related(relation=Relation.UPDATE, why="It has ended, or something has replaced it.")
    if not is_same:
        return None
    if holds_again(old, new):
        return Related(relation=Relation.UPDATE, why="Something impossible is possible again.")
    if old.is_past or new.is_past or (new.is_retraction and not new.is_change):
        return None
    if new.is_change and is_changed(old, new):
        return Related(relation=Relation.UPDATE, why="The same thing has changed.")
    if says_the_same(old, new) and not is_turned_round(old, new):
        return Related(relation=Relation.SAME, why="Both say the same thing.")
    return None


def _are_other_amounts(old: Reading, new: Reading) -> bool:
    """Whether both tell numbers, and none of them is the same: that 175 is over ends no 140."""
    one, other = ({word for word in each.words if is_number(word)} for each in (old, new))
    return bool(one) and bool(other) and one.isdisjoint(other)


def _pair(old: Reading, new: Reading) -> Related:
    if old.is_hypothetical or new.is_hypothetical:
        return _other("One of them is hypothetical, wished for or only likely.")
    if new.is_retraction:
        return _retracted(old, new)
    if old.is_past != new.is_past:
        return _other("One of them is about the past.")
    is_same = is_of_same_subject(old.subject, new.subject)
    is_said_again = says_the_same_of_it(old, new)
    if old.is_retraction and (is_said_again or (is_same and is_about_the_same(old, new))):
        return Related(relation=Relation.UPDATE, why="Something that had ended is true again.")
    if is_said_again:
        return _of_same_words(old, new)
    if not is_same:
        return _other("They are about different people.")
    if new.replaced and set(old.value) and set(old.value) <= new.replaced | set(new.value):
        return Related(relation=Relation.UPDATE, why="The new statement replaces the old one.")
    return _in_slot(old, new)


def _other(why: str) -> Related:
    return Related(relation=Relation.OTHER, why=why)


def _retracted(old: Reading, new: Reading) -> Related:
    if old.is_retraction:
        if says_the_same_of_it(old, new):
            return _of_same_words(old, new)
        return _other("Both are about something that has ended.")
    if old.is_past and not new.is_past:
        return _other("The old one is about the past.")
    if says_the_same_of_it(old, new) or (
        is_about_the_same(old, new)
        and is_of_same_subject(old.subject, new.subject)
        and (not new.value or has_same_value(old, new))
    ):
        return Related(relation=Relation.UPDATE, why="It is no longer true.")
    if _ends(old, new) and not _are_other_amounts(old, new):
        return Related(relation=Relation.UPDATE, why="It has ended.")
    return _other("What has ended is something else.")


def _ends(old: Reading, new: Reading) -> bool:
    """Whether what is said to be over, without a word for the slot, is what was told."""
    known = lexicon()
    gone = set(new.words) - known.ending_verbs - known.times
    if (
        old.is_known
        and _names_slot(gone, old.slot)
        and is_of_same_subject(old.subject, new.subject)
    ):
        return True
    subject = set(new.subject.replace("/", " ").split())
    if gone and gone <= set(old.words):
        return bool(gone - subject) or bool(gone & set(old.value))
    is_weak = new.slot in known.weak_verbs and (old.is_known or old.slot in known.weak_verbs)
    return (
        is_weak
        and bool(new.value)
        and set(new.value) <= set(old.value)
        and is_of_same_subject(old.subject, new.subject)
    )


def _names_slot(words: Collection[str], slot: str) -> bool:
    """Whether nothing but the noun of a slot is said to be over ("I sold the car")."""
    nouns = slots().nouns
    return any((found := nouns.get(word)) is not None and found.name == slot for word in words)


def _of_same_words(old: Reading, new: Reading) -> Related:
    if old.is_negative and not new.is_negative and (new.is_again or new.is_able):
        return Related(relation=Relation.UPDATE, why="Something that was not true is true again.")
    if new.is_negative and not old.is_negative and new.replaced and new.replaced <= set(old.words):
        return Related(relation=Relation.UPDATE, why="It has ended.")
    if old.is_negative != new.is_negative:
        return Related(relation=Relation.CONTRADICTION, why="One denies the other.")
    return Related(relation=Relation.SAME, why="Both say the same thing.")


def _in_slot(old: Reading, new: Reading) -> Related:
    if {old.side, new.side} == {"like", "dislike"} and has_same_value(old, new):
        return Related(relation=Relation.UPDATE, why="The preference has changed.")
    if not is_about_the_same(old, new) or not old.value or not new.value:
        return _other("They are about different things.")
    if old.is_negative or new.is_negative:
        return _other("The denial is about something else.")
    if new.is_added:
        return _other("The new one is an addition.")
    if not new.is_change and (related := _told_as_no_news(old, new)):
        return related
    is_new_aim = old.family == _GOAL and new.is_change
    if old.is_single or is_new_aim or (not old.is_known and _changes(old, new)):
        return Related(relation=Relation.UPDATE, why=f"{_spoken(old)} has changed.")
    return _other("Both can be true.")


def _told_as_no_news(old: Reading, new: Reading) -> Related | None:
    """Return what another value is that is not told as a change, where it takes no place."""
    if old.is_fixed or (old.is_past and old.family in _WHEN):
        return Related(
            relation=Relation.CONTRADICTION,
            why=f"{_spoken(old)} cannot change, yet the two differ.",
        )
    if old.family == _GOAL and old.slot != new.slot:
        return _other("Somebody can want both.")
    if _differ_in_all(old, new):
        return _other("They are different things at different times.")
    if old.is_past:
        return _other("Both are about the past.")
    return _other("The new one is an exception for one day.") if _is_exception(old, new) else None


def _is_exception(old: Reading, new: Reading) -> bool:
    """Whether an hour that was told of every day is told for a day ("dinner at 7", "at 8 on New Year's Eve")."""
    is_at_hour = all(is_number(word) or word in _NOONS for word in old.value)
    days = {word for word in new.value if not is_number(word) and word not in _NOONS}
    return is_at_hour and len(days) < len(new.value) and not lexicon().times.isdisjoint(days)


def _differ_in_all(old: Reading, new: Reading) -> bool:
    """Whether another value goes with another time: "to the pool on Mondays", "to church on Sundays"."""
    times = lexicon().times
    one, other = set(old.value), set(new.value)
    return bool(one & times and other & times and one - times and other - times) and not one & other


def _spoken(reading: Reading) -> str:
    """Return a slot's own name, where it is a word for people."""
    if not reading.is_known:
        return "It"
    return f"The {_SPOKEN.get(reading.slot, reading.slot)}"


def _changes(old: Reading, new: Reading) -> bool:
    """Whether a statement of no known slot takes the place of one like it: another number, or news of the same thing."""
    known = lexicon()
    gone, come = set(old.value) - set(new.value), set(new.value) - set(old.value)
    if new.is_change and come and all(is_number(word) or word in known.times for word in come):
        return True
    if not gone or not come or old.is_past or _are_both_joined(old, new):
        return False
    if all(is_number(word) for word in gone) and any(is_number(word) for word in come):
        return set(old.value) - gone != set() or new.is_change
    if not new.is_change:
        return False
    return old.slot in known.standing_verbs or " " in old.slot or old.slot not in known.verbs


def _are_both_joined(old: Reading, new: Reading) -> bool:
    """Whether both tell of what one can be part of beside others: "in the choir", "in the chess club"."""
    joinable = lexicon().activities
    return bool(joinable & {*old.value}) and bool(joinable & {*new.value})


# How likely something has changed where neither rules nor trees are sure of it: what a person can
# be asked. Pure.

WORTH_ASKING = 0.5
"""From this chance on two statements are put to a person."""

_CLOSED = (
    "new: thought",
    "new is_hypothetical",
    "old is_hypothetical",
    "old: thought",
    "old is_past",
    "old is_retraction",
)


def chance_left_open(old: str, new: str, *, likeness: float | None) -> float:
    """Return how likely the new one ends or changes what the old one tells, where that was not decided.

    Args:
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
    """Whether two statements may be asked about: both tell how things are, and they share a word."""
    return bool(pair.shared) and not any(traits[each] for each in _CLOSED)
