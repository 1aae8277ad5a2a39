"""What a run made different, told fact by fact out of the images of its change. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from kinkeeper.memory.journal import ARITHMETIC, Image
from kinkeeper.memory.model import Category, Fact, FactStatus
from kinkeeper.memory.upkeep.report import ChangeKind, Difference

_LOST = {
    FactStatus.SUPERSEDED: ChangeKind.SUPERSEDED,
    FactStatus.MERGED_INTO: ChangeKind.MERGED,
    FactStatus.RETRACTED: ChangeKind.SUPERSEDED,
}
_EVIDENCE = frozenset({"derived_from", "evidence_count"})


def differences(images: Iterable[Image], facts: Mapping[str, Fact]) -> Sequence[Difference]:
    """Return what became different about facts; a confidence that only counts on is no difference.

    Args:
        images: Of a change, those of facts only.
        facts: As they are now, by id.
    """
    found = []
    for image in images:
        fact = facts.get(image.row_id)
        kind = fact and _kind(image, fact)
        if fact and kind:
            found.append(
                Difference(
                    kind=kind, fact=fact.id, other=fact.merged_into_id or fact.superseded_by,
                    before=None if image.before is None else image.before.get("confidence"),
                    after=fact.confidence,
                )
            )  # fmt: skip
    return tuple(found)


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
        return ChangeKind.CHANGED
    if columns & _EVIDENCE:
        return ChangeKind.SUPPORTED
    return ChangeKind.CHANGED if columns else None
