"""One arrangement while it is being settled, and what it does to cards and events of earlier messages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.repository import find_by_source
from kinkeeper.calendar.model import Event, SourceType
from kinkeeper.calendar.repository import list_events
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.messaging import inbox
from kinkeeper.observer.answers.attribution import fetches_from
from kinkeeper.observer.cards import retraction
from kinkeeper.observer.cards.retraction import replaced_claims, undone_by_change
from kinkeeper.observer.extraction.prepared import Part, Prepared
from kinkeeper.observer.model import (
    Decision,
    Extraction,
    OpenQuestion,
    RedlineOutcome,
    RedlineRule,
    extraction_from_record,
)
from kinkeeper.observer.redline.case import Case
from kinkeeper.observer.settling.prior_claims import Standing

# One arrangement of one message while it is being settled.


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One arrangement of one message while it is being settled.

    Attributes:
        part: The words that make the arrangement, and what they say by themselves.
        slot: Tells apart what one message proposes.
        number: Which of the message's arrangements it is.
        case: The arrangement before the rules.
        question: The open question it answers, if any.
        standing: The claim that it gives up, takes over or corrects, if any.
        pending: The household's open proposals, oldest first.
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


_CONFLICTS = frozenset({RedlineRule.TEMPORAL_CONFLICT, RedlineRule.RESOURCE_CONFLICT})


def withdraw_stale(turn: Turn, family: Household) -> tuple[str, ...]:
    """Withdraw proposals that this message makes untrue: cancelled, moved, or no longer possible.

    Returns:
        Ids of the actions withdrawn.
    """
    stale = undone_by_change(turn.part.extraction, turn.pending)
    if turn.standing.action is not None and not turn.extraction.owners:
        stale.append(turn.standing.action)
    stale = [
        each for each in stale if retraction.may_withdraw(turn.conn, each, turn.sender, family)
    ]
    return retraction.withdraw_all(
        turn.conn, family.id, [action.id for action in stale], by_source=turn.source, now=turn.now
    )


def retract_corrected(
    conn: Connection, household: str, part: Part, *, now: datetime
) -> tuple[str, ...]:
    """Take back what the messages had proposed that a part sets right.

    Returns:
        Ids of the actions withdrawn.
    """
    withdrawn: list[str] = []
    for row_id in part.corrects:
        own = [
            action
            for action in find_by_source(conn, household, retraction.SOURCE, str(row_id))
            if action.status is ActionStatus.PENDING
        ]
        stale = [action.id for action in own if _is_of(action, part.corrected)]
        said = inbox.load(conn, household, row_id)
        if len(stale) < len(own):
            # Of a list of jobs the others stand.
            withdrawn += retraction.withdraw_all(
                conn, household, stale, by_source=str(row_id), now=now
            )
        elif said is not None:
            withdrawn += retraction.retract_message(conn, household, said, now=now)
    return tuple(withdrawn)


def _is_of(action: PendingAction, job: Extraction | None) -> bool:
    said = extraction_from_record(action.proposal.extraction)
    return job is None or (said.child, said.activity, said.times) == (
        job.child,
        job.activity,
        job.times,
    )


def absorbed(turn: Turn, verdict: RedlineOutcome) -> list[PendingAction]:
    """Return the open proposals a conflict is with: their content moves into its choices."""
    if verdict.rule not in _CONFLICTS:
        return []
    other = verdict.facts.get("booked") or verdict.facts.get("slot") or {}
    return [action for action in turn.pending if action.id == other.get("action_id")]


def supersede_stale(
    turn: Turn, household: str, taken_in: Sequence[PendingAction], *, by_action_id: str
) -> None:
    """Let a new proposal take the place of those it makes stale: taken in, restated, or asked for.

    Args:
        turn: The arrangement that is proposed.
        taken_in: Proposals whose content moved into the new one.
    """
    stale = [*taken_in, *replaced_claims(turn.extraction, turn.pending)]
    if turn.standing.action is not None:
        stale.append(turn.standing.action)
    if turn.question and not fetches_from(turn.extraction, turn.question.extraction):
        stale += [a for a in turn.pending if a.id == turn.question.action_id]
    for action_id in {action.id for action in stale} - {by_action_id}:
        proposals.supersede(
            turn.conn, action_id, household=household, by_action_id=by_action_id, now=turn.now
        )


def written_before(turn: Turn, household: str) -> tuple[str, ...]:
    """Return the events that a person confirmed from the text that this message edits or sets right."""
    original = turn.prepared.original
    sources = {str(original.id)} if original else set()
    sources |= {str(row_id) for row_id in turn.part.corrects}
    if not sources:
        return ()
    return tuple(
        event.id
        for event in list_events(turn.conn, Viewer.of(household))
        if event.provenance.source_type is SourceType.OBSERVER
        and event.provenance.source_id in sources
        and _may_be_event_of(event, turn.part.corrected)
    )


def _may_be_event_of(event: Event, job: Extraction | None) -> bool:
    """Whether an event can come from the job that is set right, and not from another of the same message."""
    return job is None or not job.child or not event.who or bool(set(job.child) & set(event.who))
