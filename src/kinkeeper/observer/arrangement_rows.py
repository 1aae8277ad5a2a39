"""What a chat has arranged, as rows: its state after each message, and what a correction can be about.

A row keeps what it was after each message that decided it, so that records can be taken back to any message.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

from pydantic import TypeAdapter
from sqlalchemy import Connection, Row, Select, delete, func, insert, select, true, update

from kinkeeper.actions.repository import find_by_source
from kinkeeper.arrangements import Absence, Arrangement, State, When
from kinkeeper.arrangements.model import Told
from kinkeeper.calendar.model import SourceType
from kinkeeper.household.model import Household
from kinkeeper.observer.model import Extraction, Tier1Decision, extraction_from_record
from kinkeeper.observer.tables import arrangements, observer_messages

_PLAN: Final = TypeAdapter(Arrangement)
_ABSENCE: Final = TypeAdapter(Absence)
_TOLD: Final = TypeAdapter(tuple[Told, ...])
_SPOKEN_OF_FOR: Final = timedelta(days=21)
_REMEMBERED: Final = 32
"""Messages of a chat that later ones can answer."""
_MOST: Final = 128
"""Arrangements of a chat that a message can speak of; the latest."""
_IS_ABSENCE: Final = "absence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The state of a chat, with the card of each arrangement that has one.

    Attributes:
        state: All that is known of the chat's arrangements.
        cards: Action ids by arrangement id.
    """

    state: State
    cards: Mapping[str, str] = field(default_factory=dict)

    def is_taken(self, message_id: str, household: Household) -> bool:
        """Tell whether all that a message asked for is somebody's by now, off or done; a child takes no job of others."""
        children = {each.id for each in household.children}
        asked = [each for each in self.state.arrangements if message_id in each.evidence]
        return bool(asked) and all(
            not each.status.is_open or bool({*each.who_does} - children) for each in asked
        )


@dataclass(frozen=True, slots=True)
class ChatRows:
    """The arrangements of one chat."""

    conn: Connection
    household: str
    chat_id: str

    def load(self, now: datetime) -> Kept:
        """Return what the chat has arranged and may still speak of."""
        found = self.conn.execute(self._spoken_of(now)).all()
        rows = sorted(found, key=_place)
        plans = [_PLAN.validate_python(_latest(row)) for row in rows if row.kind != _IS_ABSENCE]
        absent = [_ABSENCE.validate_python(_latest(row)) for row in rows if row.kind == _IS_ABSENCE]
        state = State(arrangements=tuple(plans), absences=tuple(absent), recent=self._recent())
        return Kept(state=state, cards={row.id: row.action_id for row in rows if row.action_id})

    def save(self, row_id: int, *, before: Kept, after: Kept, now: datetime) -> None:
        """Keep what a message made of the chat's state.

        Args:
            row_id: Id of the message's rows.
        """
        known: dict[str, Arrangement | Absence] = {
            each.id: each for each in before.state.arrangements
        }
        known |= {each.id: each for each in before.state.absences}
        current: list[Arrangement | Absence] = [*after.state.arrangements, *after.state.absences]
        for each in current:
            card = after.cards.get(each.id)
            if known.get(each.id) != each or before.cards.get(each.id) != card:
                self._put(each, _version(row_id, each, card), now)

    def remember(self, row_id: int, told: Sequence[Told]) -> None:
        """Keep what a message says, for those that answer it.

        Args:
            row_id: Id of the message's rows; of an edit, of what it edits.
        """
        self.conn.execute(
            update(observer_messages)
            .where(
                observer_messages.c.household == self.household,
                observer_messages.c.id == str(row_id),
            )
            .values(told=_sorted(_TOLD.dump_python(tuple(told), mode="json")) or None)
        )

    def forget_message(self, row_id: int, now: datetime) -> None:
        """Take back what one message decided, and what it says; what later ones decided stays.

        Args:
            row_id: Id of the message's rows.
            now: Aware; what nothing speaks of any more stays.
        """
        rows = self.conn.execute(self._spoken_of(now)).all()
        _forget(self.conn, rows, lambda message: message == row_id)
        self.remember(row_id, ())

    def _spoken_of(self, now: datetime) -> Select[Any]:
        """Return the query of what the chat may still speak of, the latest first."""
        column = arrangements.c
        return (
            select(arrangements)
            .where(
                column.household == self.household,
                column.chat_id == self.chat_id,
                column.until >= now,
            )
            .order_by(column.changed_at.desc(), column.id)
            .limit(_MOST)
        )

    def _recent(self) -> Mapping[str, tuple[Told, ...]]:
        column = observer_messages.c
        rows = self.conn.execute(
            select(column.id, column.message_id, column.told)
            .where(column.household == self.household, column.chat_id == self.chat_id)
            .order_by(column.sent_at.desc())
            .limit(_REMEMBERED)
        ).all()
        found = sorted((row for row in rows if row.told), key=lambda row: int(row.id))
        return {row.message_id: _TOLD.validate_python(row.told) for row in found}

    def _put(self, value: Arrangement | Absence, version: Mapping[str, Any], now: datetime) -> None:
        key = (
            arrangements.c.household == self.household,
            arrangements.c.chat_id == self.chat_id,
            arrangements.c.id == value.id,
        )
        columns = {
            "status": _status(value),
            "action_id": version["action_id"],
            "changed_at": now,
            "until": _until(value.when, now),
        }
        known = self.conn.execute(select(arrangements.c.versions).where(*key)).scalar()
        if known is None:
            kind = value.predicate.value if isinstance(value, Arrangement) else _IS_ABSENCE
            self.conn.execute(
                insert(arrangements).values(
                    household=self.household,
                    id=value.id,
                    chat_id=self.chat_id,
                    kind=kind,
                    versions=[version],
                    **columns,
                )
            )
            return
        kept = [each for each in known if each["message"] != version["message"]]
        self.conn.execute(
            update(arrangements).where(*key).values(**columns, versions=[*kept, dict(version)])
        )


def forget_from(conn: Connection, household: str, row_id: int) -> None:
    """Take arrangements back to what they were before a message.

    Args:
        row_id: Id of the message's rows.
    """
    rows = conn.execute(select(arrangements).where(arrangements.c.household == household)).all()
    _forget(conn, rows, lambda message: message >= row_id)


def _forget(conn: Connection, rows: Sequence[Row[Any]], is_gone: Callable[[int], bool]) -> None:
    for row in rows:
        kept = [each for each in row.versions if not is_gone(each["message"])]
        if len(kept) < len(row.versions):
            _replace_versions(conn, row, kept)


def purge(conn: Connection, household: str, *, before: datetime) -> None:
    """Remove the words of arrangements that no message has decided for long; who, when and how far stay.

    Args:
        before: Age up to which words are kept.
    """
    column = arrangements.c
    conn.execute(delete(arrangements).where(column.household == household, column.until < before))
    old = select(arrangements).where(column.household == household, column.changed_at < before)
    for row in conn.execute(old).all():
        last = row.versions[-1]
        blank = {**last, "value": {**last["value"], "what": "", "stems": [], "where": ""}}
        if row.versions != [blank]:
            _replace_versions(conn, row, [blank])
    conn.execute(
        update(observer_messages)
        .where(
            observer_messages.c.household == household,
            observer_messages.c.sent_at < before,
            observer_messages.c.told.is_not(None),
        )
        .values(told=None)
    )


def _replace_versions(conn: Connection, row: Row[Any], versions: Sequence[Any]) -> None:
    key = (
        arrangements.c.household == row.household,
        arrangements.c.chat_id == row.chat_id,
        arrangements.c.id == row.id,
    )
    if not versions:
        conn.execute(delete(arrangements).where(*key))
        return
    last = versions[-1]
    kept = _ABSENCE if row.kind == _IS_ABSENCE else _PLAN
    conn.execute(
        update(arrangements)
        .where(*key)
        .values(
            versions=list(versions),
            action_id=last["action_id"],
            status=_status(kept.validate_python(last["value"])),
        )
    )


def _latest(row: Row[Any]) -> Mapping[str, Any]:
    return dict(row.versions[-1]["value"])


def _version(row_id: int, each: Arrangement | Absence, card: str | None) -> dict[str, Any]:
    return {"message": row_id, "action_id": card, "value": _value(each)}


def _value(each: Arrangement | Absence) -> dict[str, Any]:
    if isinstance(each, Absence):
        return dict(_ABSENCE.dump_python(each, mode="json"))
    return _sorted([_PLAN.dump_python(each, mode="json")])[0]


def _sorted(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return records whose sets are in order, so that the same talk leaves the same rows."""
    return [{**each, "stems": sorted(each["stems"])} for each in records]


def _status(each: Arrangement | Absence) -> str:
    if isinstance(each, Arrangement):
        return each.status.value
    return "off" if each.is_over else "agreed"


def _until(when: When, now: datetime) -> datetime:
    last = datetime.combine(when.days[-1], time(), tzinfo=UTC) if when.days else now
    return max(last, now) + _SPOKEN_OF_FOR


def _place(row: Row[Any]) -> tuple[int, list[int]]:
    """Return what tells in which order arrangements were opened: the message, and the clause of it."""
    return row.versions[0]["message"], [int(e) for e in row.id.rpartition(":")[2].split(".")]


# What a chat has arranged lately, message by message, as it was decided: what a correction can be
# about.

_MOST_ARRANGED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Arranged:
    """A message that arranged something.

    Attributes:
        sender: Member id, or the name as sent.
        jobs: What it arranged, completed; of a list of jobs each.
        answers: The channel's id of the message it answers, if any.
    """

    row_id: int
    message_id: str
    sender: str
    sent_at: datetime
    jobs: tuple[Extraction, ...]
    answers: str | None


def arranged_in(
    conn: Connection, household: str, chat_id: str, *, since: datetime, before: datetime
) -> Sequence[Arranged]:
    """Return the latest messages of a chat in [since, before] that arranged something, newest first."""
    table = observer_messages.c
    rows = conn.execute(
        select(
            table.id,
            table.message_id,
            table.sender,
            table.sent_at,
            table.extraction,
            table.attribution_source,
        )
        .where(
            table.household == household,
            table.chat_id == chat_id,
            table.sent_at >= since,
            table.sent_at <= before,
            table.redline_decision.is_not(None),
        )
        .order_by(table.sent_at.desc(), func.length(table.id).desc(), table.id.desc())
        .limit(_MOST_ARRANGED)
    )
    return [
        Arranged(
            row_id=int(row.id),
            message_id=row.message_id,
            sender=row.sender,
            sent_at=row.sent_at,
            jobs=_jobs(conn, household, row.id, row.extraction),
            answers=row.attribution_source,
        )
        for row in rows
        if row.extraction
    ]


def has_planning(
    conn: Connection,
    household: str,
    chat_id: str,
    *,
    sender: str | None,
    since: datetime,
    before: datetime,
) -> bool:
    """Tell whether somebody sent something to a chat in [since, before] that looked like planning.

    It rests on tier 1 alone, so that it says the same whether or not the words were understood by then.

    Args:
        sender: Member id, or the name as sent; None for anybody.
    """
    table = observer_messages.c
    found = conn.execute(
        select(table.id)
        .where(
            table.household == household,
            table.chat_id == chat_id,
            true() if sender is None else table.sender == sender,
            table.sent_at >= since,
            table.sent_at <= before,
            table.tier1_decision == Tier1Decision.QUEUE.value,
        )
        .limit(1)
    )
    return found.first() is not None


def _jobs(
    conn: Connection, household: str, row_id: str, record: Mapping[str, Any]
) -> tuple[Extraction, ...]:
    """What each of a message's own proposals says; what was decided of it as a whole where it has one at most."""
    found = find_by_source(conn, household, SourceType.OBSERVER.value, row_id)
    # A card of a conversation that the message joined has no extraction.
    own = [action for action in found if action.proposal.extraction]
    if len(own) < 2:  # noqa: PLR2004 - a list of jobs has two at least
        return (extraction_from_record(record),)
    return tuple(extraction_from_record(action.proposal.extraction) for action in own)
