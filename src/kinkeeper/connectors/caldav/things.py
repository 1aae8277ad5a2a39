"""What is kept in step with a calendar server, and what is to be done by how both sides stand."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol, Self

from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import ActionType
from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.connectors.caldav.sync_records import ObjectRow, ObjectState


class Thing(Protocol):
    """One of ours, or what an object of the server stands for."""

    @property
    def id(self) -> str:
        """Of ours; of one from the server, the id it would have here."""
        ...

    @property
    def foreign_id(self) -> str:
        """Id that it would have if it came from the server now: where it came in a file, not its own."""
        ...

    @property
    def title(self) -> str:
        """For people."""
        ...

    @property
    def scope(self) -> str:
        """Who may see it here."""
        ...

    @property
    def is_cancelled(self) -> bool:
        """Whether it takes place no more."""
        ...

    def fingerprint(self) -> str:
        """Return a digest of all that is stored of it, except why it is there."""
        ...

    def shared(self) -> str:
        """Return a digest of what both sides have words for; equal where they agree."""
        ...

    def is_over(self, now: datetime) -> bool:
        """Whether it has been over for so long that it is no longer taken to the other side."""
        ...

    def completed(self, ours: Any) -> Self:
        """Return this, as read from the server, with what only we know of it."""
        ...


class Things(Protocol):
    """One kind of thing; its methods are only given things of that kind."""

    @property
    def component(self) -> str:
        """Name of its objects: "VEVENT"."""
        ...

    @property
    def noun(self) -> str:
        """What one is called."""
        ...

    @property
    def adding(self) -> ActionType:
        """What it is to take in new ones."""
        ...

    @property
    def changing(self) -> ActionType:
        """What it is to change one."""
        ...

    def load(self, conn: Connection) -> Mapping[str, Thing]:
        """Return all of ours by id."""
        ...

    def write(self, thing: Any, *, over: bytes | None) -> bytes:
        """Return one of ours as an object; what stands in `over` and is theirs alone is kept."""
        ...

    def read(self, data: bytes) -> Thing:
        """Return what an object stands for.

        Raises:
            InputError: Nothing that can be taken over; the message says why.
        """
        ...

    def count(self, thing: Any, limit: ImportLimit) -> int:
        """Count it; returns how many rows of occurrences it takes.

        Raises:
            InputError: With it there is too much.
        """
        ...

    def to_add(self, thing: Any) -> list[Effect]:
        """Return what takes it in."""
        ...

    def to_change(self, thing: Any, ours: Any) -> list[Effect]:
        """Return what makes ours like it."""
        ...

    def to_cancel(self, ours: Any) -> list[Effect]:
        """Return what lets ours take place no more."""
        ...

    def line(self, thing: Any) -> str:
        """Return it in one line for people: what and when."""
        ...


# What is to be done about an object of the server, by how both sides stand. Pure.


class Verdict(StrEnum):
    """What is to be done."""

    FORGET = "forget"  # it is on neither side
    LEAVE_OUT = "leave_out"  # over, cancelled, or kept out before
    AGREE = "agree"  # both sides say the same
    WRITE = "write"  # the server has what we wrote before; ours is newer
    ASK_ADD = "ask_add"
    ASK_CHANGE = "ask_change"
    ASK_CANCEL = "ask_cancel"
    CLASH = "clash"  # both sides changed, each its own way
    CLASH_GONE = "clash_gone"  # changed here, gone there


def decide(row: ObjectRow, theirs: Thing | None, ours: Thing | None, *, now: datetime) -> Verdict:
    """Return what is to be done about a version that was not dealt with yet.

    Args:
        row: What is known of the object.
        theirs: What it stands for now, completed by ours; None where it is gone.
    """
    if theirs is None:
        return _gone(row, ours)
    if ours is None:
        return Verdict.LEAVE_OUT if theirs.is_over(now) or theirs.is_cancelled else Verdict.ASK_ADD
    mine, other = ours.shared(), theirs.shared()
    if mine == other:
        return Verdict.AGREE
    if other in {row.agreed, row.trying}:
        return Verdict.WRITE
    return Verdict.ASK_CHANGE if mine == row.agreed else Verdict.CLASH


def _gone(row: ObjectRow, ours: Thing | None) -> Verdict:
    is_ours_alone = row.state in {ObjectState.NEW, ObjectState.APART}
    if ours is None or ours.is_cancelled or is_ours_alone:
        return Verdict.FORGET
    return Verdict.ASK_CANCEL if ours.shared() == row.agreed else Verdict.CLASH_GONE
