"""One arrangement of one message while it is being settled."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.actions.model import PendingAction
from kinkeeper.observer.extraction.prepared import Part, Prepared
from kinkeeper.observer.model import Decision, Extraction, OpenQuestion
from kinkeeper.observer.redline.case import Case
from kinkeeper.observer.settling.prior_claims import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One arrangement of one message while it is being settled.

    Attributes:
        conn: In a write transaction.
        prepared: The message.
        part: The words that make the arrangement, and what they say by themselves.
        slot: Tells apart what one message proposes.
        number: Which of the message's arrangements it is.
        case: The arrangement before the rules.
        question: The open question it answers, if any.
        standing: The claim that it gives up, takes over or corrects, if any.
        pending: The household's open proposals, oldest first.
        now: Aware.
        base: What is decided about it so far.
    """

    conn: Connection
    prepared: Prepared
    part: Part
    slot: str
    number: int
    case: Case
    question: OpenQuestion | None
    standing: Standing
    pending: Sequence[PendingAction]
    now: datetime
    base: Decision

    def after(self, withdrawn: Sequence[str]) -> "Turn":
        """Return the same once these actions are gone.

        Args:
            withdrawn: Their ids.
        """
        return replace(
            self,
            pending=[action for action in self.pending if action.id not in withdrawn],
            case=replace(self.case, schedule=self.case.schedule.without(withdrawn)),
        )

    @property
    def extraction(self) -> Extraction:
        """What it says, completed from the household's days."""
        return self.case.extraction

    @property
    def sender(self) -> str:
        """Member id, or the name as sent."""
        return self.prepared.stored.message.sender

    @property
    def source(self) -> str:
        """Id of the message's rows."""
        return str(self.prepared.stored.id)
