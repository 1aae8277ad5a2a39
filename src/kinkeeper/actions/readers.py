"""Which actions a person may read, and where: every channel lists what waits through here."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.actions.authority import is_anothers, is_own
from kinkeeper.actions.model import TOLD_TO_THE_ASSISTANT, ActionType, PendingAction
from kinkeeper.actions.repository import open_actions
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer

_OWN = frozenset({ActionType.EMAIL, ActionType.MEMORY_FACT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads actions, and where.

    Attributes:
        member: With the rights of their login.
        viewer: On whose behalf rows are read.
        is_shared: Whether others read along, in a group.
    """

    member: Member
    household: Household
    viewer: Viewer
    is_shared: bool = False

    def may_read(self, action: PendingAction) -> bool:
        """Whether they may read an action here: what was said to the assistant only who may say yes to it, a child their own.

        The mail of another adult is theirs. Where others read along, only what was overheard there is told.
        """
        proposal = action.proposal
        is_told = proposal.source_type in TOLD_TO_THE_ASSISTANT
        if self.is_shared:
            return proposal.scope == HOUSEHOLD_SCOPE and not is_told and proposal.type not in _OWN
        if is_anothers(action, self.member, self.household):
            return False
        if is_own(action, self.member, self.household):
            return True
        return self.member.is_adult or not is_told


def waiting_for(conn: Connection, reader: Reader, *, now: datetime) -> list[PendingAction]:
    """Return what awaits a yes, as far as somebody may read it where they are, oldest first.

    Args:
        now: Aware; what has run out by then is left out.
    """
    found = open_actions(conn, reader.viewer, now=now)
    return [action for action in found if reader.may_read(action)]
