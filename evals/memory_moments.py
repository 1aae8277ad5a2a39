"""What held at every moment of a chain, as it was planted and as memory tells it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from evals.memory_chains import FURTHER, Claim, Told
from kinkeeper.memory.confidence import FEELINGS_LAST
from kinkeeper.memory.model import Category, Fact, Observation

_JUST = timedelta(microseconds=1)
# What adds up is outdated by nothing; its categories say so.
_ADDS_UP = frozenset(name for name, slot in FURTHER.items() if slot.category is Category.TECHNICAL)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Planted:
    """One claim of a chain, with the time it speaks of.

    Attributes:
        held_from: Since when.
        said_at: When it was said.
        place: In its turn.
        member: Who says it.
        claim: What.
        ends_at: When it ends by itself; None where it does not.
    """

    held_from: datetime
    said_at: datetime
    place: int
    member: str
    claim: Claim
    ends_at: datetime | None


Held = frozenset[tuple[str, str, str]]
"""Who, what about them, and which value."""


def planted(turns: Iterable[Told]) -> list[Planted]:
    """Return the claims of a chain in the order of what they speak of.

    Args:
        turns: The chain; nothing in it is set right.
    """
    found = [
        Planted(
            held_from=said.valid_from or turn.at,
            said_at=turn.at,
            place=place,
            member=turn.member,
            claim=claim,
            ends_at=_end(said, turn.at),
        )
        for turn in turns
        for place, (said, claim) in enumerate(zip(turn.observations, turn.claims, strict=True))
    ]
    return sorted(found, key=lambda each: (each.held_from, each.said_at, each.place))


def moments(claims: Sequence[Planted]) -> list[datetime]:
    """Return every instant at which something may begin or end, and right before it."""
    found = {each.held_from for each in claims} | {each.ends_at for each in claims if each.ends_at}
    return sorted({each - before for each in found for before in (_JUST, timedelta(0))})


def held_at(claims: Sequence[Planted], instant: datetime) -> Held:
    """Return what was planted to hold at an instant: of each slot the value told last, unless that has ended.

    Args:
        claims: Of one chain, in order.
        instant: Aware.
    """
    slots: defaultdict[tuple[str, str], dict[str, Planted]] = defaultdict(dict)
    for each in claims:
        values, value = slots[each.member, each.claim.of], each.claim.value
        if each.held_from > instant:
            continue
        if not each.claim.holds:
            values.pop(value, None)
            continue
        if each.claim.of not in _ADDS_UP:
            values.clear()
        values[value] = each
    return frozenset(
        (*slot, value)
        for slot, values in slots.items()
        for value, each in values.items()
        if each.ends_at is None or instant < each.ends_at
    )


def told_by(facts: Iterable[Fact], turns: Iterable[Told]) -> Held:
    """Return what facts tell of a chain, without what they only say to be over.

    Args:
        facts: That hold.
        turns: The chain.
    """
    claims = {
        said.text: claim
        for turn in turns
        for said, claim in zip(turn.observations, turn.claims, strict=True)
    }
    return frozenset(
        (str(fact.speaker), claims[fact.narrative].of, claims[fact.narrative].value)
        for fact in facts
        if claims[fact.narrative].holds
    )


def _end(said: Observation, at: datetime) -> datetime | None:
    return at + FEELINGS_LAST if said.category is Category.EMOTIONAL else said.valid_to
