"""Which open proposals a message makes stale: claims restated, taken over or given up, plans changed. Pure."""

from collections.abc import Sequence

from kinkeeper.actions.model import PendingAction
from kinkeeper.observer.attribution import are_compatible, are_same_task
from kinkeeper.observer.model import Extraction, Stance, Task
from kinkeeper.observer.records import extraction_from_record

CHANGES = frozenset({Task.CANCEL, Task.MOVE})


def is_restated(one: Extraction, other: Extraction) -> bool:
    """Whether two extractions are surely the same job: they agree, and share a day and what or whom it is for."""
    if not are_compatible(one, other):
        return False
    shares_day = bool(set(one.dates) & set(other.dates)) or not (one.dates or other.dates)
    shares_object = (
        (one.activity and one.activity == other.activity)
        or (one.task and one.task == other.task)
        or (one.child and set(one.child) & set(other.child))
    )
    return shares_day and bool(shares_object)


def replaced_claims(
    extraction: Extraction, pending: Sequence[PendingAction]
) -> list[PendingAction]:
    """Return earlier claims on the same job: one's own always, another's where this one takes over."""
    if not extraction.owners:
        return []
    replaced = []
    for action in pending:
        other = extraction_from_record(action.proposal.extraction)
        is_own = set(other.owners) == set(extraction.owners)
        if other.owners and (is_own or extraction.yields) and is_restated(extraction, other):
            replaced.append(action)
    return replaced


def refuser(extraction: Extraction, sender: str) -> str:
    """Return who steps back: the adult named ("John can't make it"), else the sender."""
    return extraction.addressee or sender


def claims_of(
    person: str, extraction: Extraction, pending: Sequence[PendingAction]
) -> list[PendingAction]:
    """Return the open claims of a person that a refusal can be about, oldest first."""
    found = []
    for action in pending:
        other = extraction_from_record(action.proposal.extraction)
        if (
            person in other.owners
            and are_compatible(extraction, other)
            and are_same_task(extraction.task, other.task)
        ):
            found.append(action)
    return found


def undone_by_change(
    extraction: Extraction, pending: Sequence[PendingAction]
) -> list[PendingAction]:
    """Return the open proposals whose ground a cancellation or move takes away."""
    if extraction.task not in CHANGES or extraction.stance is Stance.ASKS:
        return []
    return [action for action in pending if _is_undone(action, extraction)]


def _is_undone(action: PendingAction, extraction: Extraction) -> bool:
    other = extraction_from_record(action.proposal.extraction)
    if extraction.activity is None or other.activity != extraction.activity:
        return False
    if other.task in CHANGES:
        return False
    if extraction.child and other.child and not set(extraction.child) & set(other.child):
        return False
    days = {extraction.moved_from} if extraction.moved_from else set(extraction.named_dates)
    if not days or not other.dates or days & set(other.dates):
        return True
    return extraction.task is Task.MOVE and extraction.moved_from is None
