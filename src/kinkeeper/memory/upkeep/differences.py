"""What a run made different, told fact by fact out of the images of its change. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from kinkeeper.memory.confidence import confidence_now
from kinkeeper.memory.journal import ARITHMETIC, Image
from kinkeeper.memory.memory_rows import fact_from_row, fact_row, row_of
from kinkeeper.memory.model import Category, Fact, FactStatus
from kinkeeper.memory.tables import facts as facts_table
from kinkeeper.memory.upkeep.report import ChangeKind, Difference

_LOST = {
    FactStatus.SUPERSEDED: ChangeKind.SUPERSEDED,
    FactStatus.MERGED_INTO: ChangeKind.MERGED,
    FactStatus.RETRACTED: ChangeKind.SUPERSEDED,
}
_EVIDENCE = frozenset({"derived_from", "evidence_count"})


def differences(
    images: Iterable[Image], facts: Mapping[str, Fact], *, now: datetime
) -> Sequence[Difference]:
    """Return what became different about facts; a confidence that only counts on is no difference.

    Args:
        images: Of a change, those of facts only.
        facts: As they are now, by id.
        now: Up to when the silence of both confidences is charged, aware.
    """
    found = []
    for image in images:
        fact = facts.get(image.row_id)
        kind = fact and _kind(image, fact)
        if fact and kind:
            found.append(
                Difference(
                    kind=kind, fact=fact.id, other=fact.merged_into_id or fact.superseded_by,
                    before=_confidence_before(image, fact, now),
                    after=confidence_now(fact, now),
                )
            )  # fmt: skip
    return tuple(found)


def _confidence_before(image: Image, fact: Fact, now: datetime) -> float | None:
    """Return how sure one was of a fact before, as if nothing had been changed up to now."""
    if image.before is None:
        return None
    before = fact_from_row({**fact_row(fact), **row_of(facts_table, image.before)})
    return confidence_now(before, now)


def _kind(image: Image, fact: Fact) -> ChangeKind | None:
    if image.before is None:
        return ChangeKind.LEARNED
    was_active = FactStatus(image.before.get("status", fact.status)).is_active
    if was_active and not fact.status.is_active:
        if fact.status is FactStatus.DEPRECATED:
            is_feeling = fact.category is Category.EMOTIONAL
            return ChangeKind.ENDED if is_feeling else ChangeKind.FADED
        return _LOST[fact.status]
    if image.after.get("is_contradicted") or image.after.get("doubted_by"):
        return ChangeKind.DOUBTED
    columns = image.before.keys() - ARITHMETIC
    if not was_active and fact.status.is_active:
        return ChangeKind.RESTORED
    if columns & _EVIDENCE:
        return ChangeKind.SUPPORTED
    return ChangeKind.CHANGED if columns else None
