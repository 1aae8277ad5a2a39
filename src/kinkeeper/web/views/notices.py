"""What became of a decision, as it is told to whoever made it. Pure."""

from dataclasses import dataclass

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.receipts import Outcome, failure
from kinkeeper.household.model import Household

_MESSAGES = {
    Outcome.DENIED: "Only an adult in the household can decide this. Nothing was changed.",
    Outcome.CHANGED: "The card has changed in the meantime; nothing was saved. Please check it again.",
    Outcome.CHOOSE: "Nothing has been changed yet. Choose one of the options on the card.",
    Outcome.NOT_UNDOABLE: "This can't be undone.",
    Outcome.ALREADY_DONE: "That was already approved; nothing changed.",
    Outcome.ALREADY_UNDONE: "That was already undone; nothing changed.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What became of the last decision.

    Attributes:
        text: One line.
        undo_id: Action that can be taken back; empty where there is nothing.
        is_good: Whether the person's wish came true.
    """

    text: str
    undo_id: str = ""
    is_good: bool = True


def notice_of(
    outcome: Outcome, action: PendingAction, household: Household, *, is_change: bool
) -> Notice:
    """Return what became of a decision, told from the stored action.

    Args:
        outcome: Of the person's press.
        action: As it stands now.
        household: Whose it is.
        is_change: Whether that very press changed anything.
    """
    summary = action.proposal.summary
    is_done = action.status is ActionStatus.DONE and action.undone_at is None
    if outcome is Outcome.DONE and is_done:
        chosen = [each.result for each in action.proposal.choices if each.label == action.choice]
        return Notice(text=f"Saved: {(chosen or [summary])[0]}", undo_id=action.id)
    if outcome is Outcome.RESTORED and action.status is ActionStatus.PENDING:
        return Notice(text=f"Waiting for approval again: {summary}", undo_id=action.id)
    is_expired = action.status is ActionStatus.EXPIRED
    if outcome is Outcome.UNDONE and (is_expired or action.undone_at is not None):
        return Notice(text=f"{'Expired again' if is_expired else 'Undone'}: {summary}")
    if outcome is Outcome.REJECTED and is_change and action.status is ActionStatus.REJECTED:
        return Notice(text=f"Dismissed: {summary}")
    if action.status is ActionStatus.FAILED:
        return Notice(text=f"{failure(action)}.", is_good=False)
    if action.status is ActionStatus.EXECUTING:
        return Notice(text=f"In progress: {summary}")
    if outcome in _MESSAGES:
        undo_id = action.id if outcome is Outcome.ALREADY_DONE and is_done else ""
        return Notice(text=_MESSAGES[outcome], undo_id=undo_id, is_good=False)
    return Notice(text=f"{_stands(action, household)} Nothing changed.", is_good=False)


def _stands(action: PendingAction, household: Household) -> str:
    member = household.member(action.decided_by) if action.decided_by else None
    by = f" by {member.name}" if member else ""
    match action.status:
        case ActionStatus.DONE | ActionStatus.CONFIRMED:
            return f"Already approved{by}."
        case ActionStatus.REJECTED:
            return f"Already dismissed{by}."
        case ActionStatus.EXPIRED:
            return "This had expired; you can restore it below."
        case ActionStatus.SUPERSEDED:
            return "It was replaced by something newer."
        case ActionStatus.WITHDRAWN:
            return "This was withdrawn in the chat."
        case _:
            return "This is still waiting."
