"""What held at some time, and how a fact became what it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, or_, select

from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.fact_rows import FACTS
from kinkeeper.memory.facts import load_fact
from kinkeeper.memory.journal import ChangeSet, images_of_row
from kinkeeper.memory.memory_rows import fact_from_row, fact_row, row_of
from kinkeeper.memory.model import Fact, FactStatus
from kinkeeper.memory.tables import facts
from kinkeeper.store.visibility import in_own_scope

_columns = facts.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A fact as one change left it.

    Attributes:
        change: Who changed it, when and why; None for how it was before anything that is still kept.
        fact: As it was from then on.
    """

    change: ChangeSet | None
    fact: Fact


def as_of(conn: Connection, viewer: Viewer, instant: datetime) -> list[Fact]:
    """Return what held at an instant, as far as is known now, oldest first.

    Args:
        conn: Open connection.
        viewer: Who asks.
        instant: Aware.
    """
    query = (
        select(facts)
        .where(
            _columns.household == viewer.household,
            in_own_scope(_columns.scope),
            _columns.status != FactStatus.MERGED_INTO.value,
            _columns.held_from <= instant,
            or_(_columns.valid_to.is_(None), _columns.valid_to > instant),
            # What faded was held until it had faded.
            or_(
                _columns.status != FactStatus.DEPRECATED.value,
                and_(_columns.archived_at.is_not(None), _columns.archived_at > instant),
            ),
        )
        .params(viewer.parameters)
        .order_by(_columns.held_from, _columns.id)
    )
    return [fact_from_row(row) for row in conn.execute(query).mappings()]


def history(conn: Connection, viewer: Viewer, fact_id: str) -> list[Version]:
    """Return the versions of a fact that a viewer may see, newest first; changes that were taken back are left out.

    What a fact said before it was shared stays with those who could see it then.

    Args:
        conn: Open connection.
        viewer: Who asks.
        fact_id: The fact.

    Raises:
        NotFoundError: There is no such fact for this viewer.
    """
    versions = _versions(conn, load_fact(conn, viewer, fact_id))
    return [each for each in versions if viewer.sees(each.fact.scope)]


def _versions(conn: Connection, fact: Fact) -> Iterator[Version]:
    for change, image in images_of_row(conn, fact.household, FACTS, fact.id):
        yield Version(change=change, fact=fact)
        if image.before is None:
            return
        fact = fact_from_row({**fact_row(fact), **row_of(facts, image.before)})
    yield Version(change=None, fact=fact)
