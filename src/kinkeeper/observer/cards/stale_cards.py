"""Which open proposals a message makes stale: claims restated, taken over or given up, plans changed. Pure."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from kinkeeper.actions.model import PendingAction
from kinkeeper.observer.answers.attribution import are_compatible
from kinkeeper.observer.extraction_json import extraction_from_record
from kinkeeper.observer.model import Extraction, Stance, Task

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


def is_same_day(one: Extraction, other: Extraction) -> bool:
    """Whether two extractions can be the same job and name a day that both have."""
    return are_compatible(one, other) and bool(set(one.dates) & set(other.dates))


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


def claim_given_up(
    extraction: Extraction, pending: Sequence[PendingAction], *, people: Collection[str]
) -> PendingAction | None:
    """Return the open claim that a refusal or a release is about: the newest that it can mean.

    Args:
        extraction: What the message says.
        pending: Open proposals, oldest first.
        people: Whose claim it can be.
    """
    return _newest(extraction, pending, lambda job: any(person in people for person in job.owners))


def claim_taken_over(
    extraction: Extraction, pending: Sequence[PendingAction], *, since: datetime
) -> PendingAction | None:
    """Return another's open claim that a message takes over, though it may not say which: the newest it can mean.

    Args:
        extraction: What the message says.
        pending: Open proposals, oldest first.
        since: A message that names no day only takes over what was claimed since then.
    """
    if not extraction.owners or not extraction.yields:
        return None
    if not extraction.named_dates:
        pending = [action for action in pending if action.created_at >= since]
    return _newest(extraction, pending, lambda job: bool(set(job.owners) - set(extraction.owners)))


def claim_corrected(
    extraction: Extraction, pending: Sequence[PendingAction], *, sender: str, since: datetime
) -> PendingAction | None:
    """Return the sender's own claim that they now say is another's ("I mean Sam does"), if it was the last.

    Args:
        extraction: What the message says.
        pending: Open proposals, oldest first.
        sender: Who wrote it.
        since: What was claimed earlier is not meant.
    """
    if extraction.stance is not Stance.ASSIGNS or extraction.activity or extraction.named_dates:
        return None
    last = next((action for action in reversed(pending) if action.created_at >= since), None)
    if last is None or extraction_from_record(last.proposal.extraction).owners != (sender,):
        return None
    return last


def is_left_open(extraction: Extraction, pending: Sequence[PendingAction]) -> bool:
    """Whether somebody's stepping back from the job waits among the open proposals already."""
    says_which = extraction.named_dates or extraction.child or extraction.activity
    return bool(says_which) and (
        _newest(extraction, pending, lambda job: not job.owners and job.stance is Stance.DECLINES)
        is not None
    )


def _newest(
    extraction: Extraction,
    pending: Sequence[PendingAction],
    is_wanted: Callable[[Extraction], bool],
) -> PendingAction | None:
    found = [
        (action, other)
        for action in reversed(pending)
        if is_wanted(other := extraction_from_record(action.proposal.extraction))
        and are_compatible(extraction, other)
        and not _is_another_day(extraction, other)
    ]
    # What shares the activity or day that is named comes before what merely does not contradict.
    return next(
        (action for action, other in found if _shares_what_is_named(extraction, other)),
        found[0][0] if found else None,
    )


def _is_another_day(extraction: Extraction, other: Extraction) -> bool:
    """Whether an hour is named that can only be today's, and the job is not."""
    if not (extraction.is_day_implied and extraction.times and other.dates):
        return False
    return not set(extraction.dates) & set(other.dates)


def _shares_what_is_named(extraction: Extraction, other: Extraction) -> bool:
    is_same_thing = extraction.activity is not None and extraction.activity == other.activity
    return is_same_thing or bool(set(extraction.named_dates) & set(other.dates))


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
