"""What is to be done about an object of the server, by how both sides stand. Pure."""

from datetime import datetime
from enum import StrEnum

from kinkeeper.connectors.caldav.sync_records import ObjectRow, ObjectState
from kinkeeper.connectors.caldav.things import Thing


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
        ours: Of ours, where there is one.
        now: Aware.
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
