"""How a household's calendar server stands: for checks, and for people who ask."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.connectors.caldav.sync_records import (
    NEVER,
    CalendarRow,
    ObjectRow,
    ObjectState,
    change_object,
    find_calendar,
    list_objects,
)
from kinkeeper.observability.findings import Finding, ok, warning

CHECK = "calendar server"
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How it stands.

    Attributes:
        calendar: How far it is known; None before the first time.
        objects: All that is known of its objects.
    """

    calendar: CalendarRow | None
    objects: tuple[ObjectRow, ...]

    def count(self, state: ObjectState) -> int:
        """Return how many objects stand so."""
        return Counter(row.state for row in self.objects)[state]

    def noted(self, *states: ObjectState) -> tuple[ObjectRow, ...]:
        """Return the objects that stand in one of these ways."""
        return tuple(row for row in self.objects if row.state in states)


def load_standing(conn: Connection, household: str) -> Standing:
    """Return how a household's calendar server stands."""
    return Standing(
        calendar=find_calendar(conn, household), objects=tuple(list_objects(conn, household))
    )


def ask_again(conn: Connection, household: str) -> int:
    """Let what nobody decided on be asked about anew the next time; returns how much that is.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
    """
    undecided = load_standing(conn, household).noted(ObjectState.UNDECIDED)
    for row in undecided:
        change_object(conn, household, row.path, handled=NEVER)
    return len(undecided)


def findings(standing: Standing, *, host: str, now: datetime) -> list[Finding]:
    """Return what a check of it finds.

    Args:
        standing: How it stands.
        host: Of the server.
        now: Aware.
    """
    row = standing.calendar
    if row is None or (row.synced_at is None and row.failure is None):
        return [ok(CHECK, f"{host} has not been checked yet")]
    found = []
    if row.failure is not None:
        since = f" since {row.failing_since:%Y-%m-%d %H:%M} UTC" if row.failing_since else ""
        waits = f"; {row.waiting} changes are waiting to be uploaded" if row.waiting else ""
        remedy = "nothing is lost: it retries automatically; `kinkeeper calendar sync` retries now"
        found.append(warning(CHECK, f"{row.failure}{since}{waits}", remedy))
    refused = standing.noted(ObjectState.REFUSED)
    if refused:
        told = "; ".join(f"{each.path}: {each.note}" for each in refused[:_SHOWN])
        found.append(
            warning(
                CHECK,
                f"the server refused {len(refused)}: {told}",
                "change them here or on the server",
            )
        )
    undecided = standing.count(ObjectState.UNDECIDED)
    if undecided:
        told = f"{undecided} differ between here and the server, and nobody decided in time"
        found.append(warning(CHECK, told, "`kinkeeper calendar sync --ask-again` asks again"))
    return found or [ok(CHECK, _in_order(standing, row, host, now))]


def _in_order(standing: Standing, row: CalendarRow, host: str, now: datetime) -> str:
    minutes = 0 if row.synced_at is None else int((now - row.synced_at).total_seconds() // 60)
    asked = len({each.action_id for each in standing.noted(ObjectState.ASKED)})
    waits = f"; {asked} questions waiting for approval" if asked else ""
    return f"{row.name} at {host}, {standing.count(ObjectState.SYNCED)} in sync, {minutes} min ago{waits}"
