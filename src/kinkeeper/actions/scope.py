"""Which open actions a message can be about: those on its days, of its activities, or named. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from kinkeeper.actions.model import Proposal
from kinkeeper.actions.payload import plain

_DAY = timedelta(days=1)
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d(?=T|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a message is about; an action that names no day can be about anything.

    Attributes:
        first_day: Local.
        last_day: Local, not before `first_day`.
        subjects: Activities; actions about them count whatever their day.
        action_ids: Actions that count in any case.
    """

    first_day: date
    last_day: date
    subjects: frozenset[str]
    action_ids: frozenset[str]


def days_of(proposal: Proposal) -> tuple[str, str] | None:
    """Return the first and last day that a proposal can touch, as ISO text.

    Every day that its payload names counts, and one more on both sides, since an instant stands on
    different days in different zones.

    Returns:
        None where it, or one of its effects, names no day: it can touch any.
    """
    effects = [*proposal.effects, *(e for choice in proposal.choices for e in choice.effects)]
    extraction = proposal.extraction
    parts = [{key: extraction.get(key) for key in ("dates", "moved_from")}] if not effects else []
    named = [set(_days(plain(part))) for part in (*effects, *parts)]
    if not all(named):
        return None
    days = set().union(*named, _days([extraction.get("dates"), extraction.get("moved_from")]))
    return (min(days) - _DAY).isoformat(), (max(days) + _DAY).isoformat()


def _days(value: Any) -> Iterator[date]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _days(item)
    elif isinstance(value, str) and (found := _ISO_DAY.match(value)):
        yield date.fromisoformat(found[0])
