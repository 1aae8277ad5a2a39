"""What is stored of a calendar server and its objects, and how the server stands, for people who ask."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import (
    Column,
    Connection,
    Index,
    Integer,
    String,
    Table,
    Text,
    delete,
    insert,
    or_,
    select,
    update,
)

from kinkeeper.connectors.caldav.wire import Delta, Mark
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.store.schema import Instant, metadata

# Tables of the calendar server: how far it is known, and how each of its objects stands to ours.

calendars = Table(
    "caldav_calendars",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("url", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("sync_token", Text),
    Column("ctag", Text),
    Column("synced_at", Instant),
    Column("failing_since", Instant),
    Column("failure", Text),
    Column("waiting", Integer, nullable=False),
    Column("claimed_until", Instant),
)

# `etag` is of the latest version known on the server, none where the object is gone; `handled` of the
# version that was dealt with, "" before any was. `agreed`, `offered` and `trying` are digests of what both
# sides have words for: last equal on both, asked about, being written. `pushed` is one of all of ours.
objects = Table(
    "caldav_objects",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("path", String(1024), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("local_id", String(128)),
    Column("state", String(16), nullable=False),
    Column("etag", Text),
    Column("handled", Text),
    Column("agreed", String(64), nullable=False),
    Column("offered", String(64), nullable=False),
    Column("trying", String(64), nullable=False),
    Column("pushed", String(64), nullable=False),
    Column("action_id", String(36)),
    Column("note", Text),
    Index("ix_caldav_objects_local", "household", "local_id"),
)


NEVER = ""
"""Stands for a version that was never dealt with, and for a digest that is not known."""

_columns = objects.c


class ObjectState(StrEnum):
    """How an object on the server stands to ours."""

    NEW = "new"  # seen there, nothing done yet
    CREATING = "creating"  # being put there by us
    SYNCED = "synced"
    ASKED = "asked"  # its pending action awaits a person
    UNDECIDED = "undecided"  # nobody decided in time; both sides stay as they are
    APART = "apart"  # a person, or what it is, keeps it out
    REFUSED = "refused"  # the server does not take ours


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRow:
    """One object.

    Attributes:
        kind: What it holds ("VEVENT"); "" before it was looked into.
        local_id: Of ours, where there is one.
        state: How it stands.
        etag: Of the latest version known; None where it is gone.
        handled: Of the version that was dealt with.
        agreed: Digest of what was last equal on both sides.
        offered: Digest of what a person is asked about.
        trying: Digest of what is being written there.
        pushed: Digest of all of ours at that time.
        action_id: That asks, or asked last.
        note: Why it is kept out or refused, for people.
    """

    path: str
    kind: str = ""
    local_id: str | None = None
    state: ObjectState = ObjectState.NEW
    etag: str | None = None
    handled: str | None = NEVER
    agreed: str = NEVER
    offered: str = NEVER
    trying: str = NEVER
    pushed: str = NEVER
    action_id: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarRow:
    """How far a household's calendar on the server is known.

    Attributes:
        mark: State up to which it is known.
        synced_at: When both sides were last gone through; None before the first time.
        failing_since: Since when that has failed; None while it works.
        failure: Why, for people.
        waiting: How many of ours have not reached the server yet.
    """

    url: str
    name: str
    mark: Mark
    synced_at: datetime | None = None
    failing_since: datetime | None = None
    failure: str | None = None
    waiting: int = 0


def find_calendar(conn: Connection, household: str) -> CalendarRow | None:
    """Return how far the calendar is known; None where there is none."""
    query = select(calendars).where(calendars.c.household == household)
    row = conn.execute(query).mappings().one_or_none()
    if row is None:
        return None
    return CalendarRow(
        url=row["url"],
        name=row["name"],
        mark=Mark(token=row["sync_token"], ctag=row["ctag"]),
        synced_at=row["synced_at"],
        failing_since=row["failing_since"],
        failure=row["failure"],
        waiting=row["waiting"],
    )


def claim(conn: Connection, household: str, *, now: datetime, lasts: timedelta) -> bool:
    """Take the right to go through the calendar; whether nobody else has it.

    Args:
        lasts: After how long it lapses if it is not given back.
    """
    if find_calendar(conn, household) is None:
        conn.execute(insert(calendars).values(household=household, url="", name="", waiting=0))
    is_free = or_(calendars.c.claimed_until.is_(None), calendars.c.claimed_until <= now)
    taken = (
        update(calendars)
        .where(calendars.c.household == household, is_free)
        .values(claimed_until=now + lasts)
    )
    return conn.execute(taken).rowcount == 1


def settle(
    conn: Connection, household: str, *, now: datetime, failure: str | None, waiting: int | None
) -> None:
    """Give back the right, and note how it went.

    Args:
        failure: Why it failed, for people; None where it did not.
        waiting: How many of ours have not reached the server; None where that is not known.
    """
    known = find_calendar(conn, household)
    since = None if failure is None else (known and known.failing_since) or now
    values: dict[str, object] = {"claimed_until": None, "failure": failure, "failing_since": since}
    if failure is None:
        values["synced_at"] = now
    if waiting is not None:
        values["waiting"] = waiting
    conn.execute(update(calendars).where(calendars.c.household == household).values(**values))


def turn_to(conn: Connection, household: str, *, url: str, name: str) -> None:
    """Note which collection it is; of another one than before nothing is known."""
    known = find_calendar(conn, household)
    values = {"url": url, "name": name}
    if known is None or known.url != url:
        conn.execute(delete(objects).where(_columns.household == household))
        values |= {"sync_token": None, "ctag": None, "synced_at": None}  # type: ignore[dict-item]  # columns without a value
    conn.execute(update(calendars).where(calendars.c.household == household).values(**values))


def note_delta(conn: Connection, household: str, delta: Delta) -> None:
    """Note which versions stand on the server, and up to which state that is known."""
    known = {row.path: row for row in list_objects(conn, household)}
    gone = known.keys() - delta.etags.keys() if delta.is_complete else set()
    for path, etag in (*delta.etags.items(), *((path, None) for path in gone)):
        row = known.get(path)
        if row is None and etag is not None:
            put_object(conn, household, ObjectRow(path=path, etag=etag))
        elif row is not None and row.etag != etag and row.state is not ObjectState.CREATING:
            change_object(conn, household, path, etag=etag)
    conn.execute(
        update(calendars)
        .where(calendars.c.household == household)
        .values(sync_token=delta.mark.token, ctag=delta.mark.ctag)
    )


def list_objects(conn: Connection, household: str) -> Sequence[ObjectRow]:
    """Return what is known of all objects, by path."""
    query = select(objects).where(_columns.household == household).order_by(_columns.path)
    names = ObjectRow.__dataclass_fields__
    return [
        ObjectRow(**{name: row[name] for name in names} | {"state": ObjectState(row["state"])})
        for row in conn.execute(query).mappings()
    ]


def put_object(conn: Connection, household: str, row: ObjectRow) -> None:
    """Write what is known of an object, in the place of what was known."""
    forget_objects(conn, household, [row.path])
    conn.execute(insert(objects).values(household=household, **asdict(row)))


def change_object(conn: Connection, household: str, path: str, **values: object) -> None:
    """Write some columns of an object."""
    mine = (_columns.household == household, _columns.path == path)
    conn.execute(update(objects).where(*mine).values(**values))


def ids_from_there(conn: Connection, household: str) -> frozenset[str]:
    """Return the ids of what others put on the server, and not we: ours stands there under its own id."""
    return frozenset(
        row.local_id
        for row in list_objects(conn, household)
        if row.local_id is not None and not row.path.endswith(f"/{row.local_id}.ics")
    )


def forget_objects(conn: Connection, household: str, paths: Iterable[str]) -> None:
    """Forget objects that are on neither side any more."""
    for path in paths:
        mine = (_columns.household == household, _columns.path == path)
        conn.execute(delete(objects).where(*mine))


# How a household's calendar server stands: for checks, and for people who ask.

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
    """Let what nobody decided on be asked about anew the next time; returns how much that is."""
    undecided = load_standing(conn, household).noted(ObjectState.UNDECIDED)
    for row in undecided:
        change_object(conn, household, row.path, handled=NEVER)
    return len(undecided)


def findings(standing: Standing, *, host: str, now: datetime) -> list[Finding]:
    """Return what a check of it finds."""
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
