"""A run of the upkeep told to people: each change with the words of its facts, as far as the reader may see them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.model import Fact
from kinkeeper.memory.upkeep.report import ChangeKind, Difference
from kinkeeper.memory.upkeep.runs import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One change.

    Attributes:
        difference: What it is.
        fact: As it is now; None where it was taken back or forgotten since, or is only planned.
        other: The fact that took its place, if one did and is still there.
    """

    difference: Difference
    fact: Fact | None
    other: Fact | None


def tell(
    conn: Connection,
    run: Run,
    *,
    viewer: Viewer | None,
    kinds: Collection[ChangeKind] = tuple(ChangeKind),
    limit: int = 200,
) -> Sequence[Told]:
    """Return what a run changes with the facts it is about.

    Args:
        conn: In a transaction.
        run: Done, or asking.
        viewer: Who reads; None shows all. Changes of facts that they may not see are left out.
        kinds: Only these.
        limit: Most changes that are told, > 0.
    """
    wanted = [each for each in run.report.differences if each.kind in kinds]
    ids = {key for each in wanted for key in (each.fact, each.other) if key}
    facts = facts_by_id(conn, run.household, ids)
    seen = {key: fact for key, fact in facts.items() if viewer is None or viewer.sees(fact.scope)}
    told = [
        Told(difference=each, fact=seen.get(each.fact), other=seen.get(each.other or ""))
        for each in wanted
        if viewer is None or each.fact in seen
    ]
    return told[:limit]
