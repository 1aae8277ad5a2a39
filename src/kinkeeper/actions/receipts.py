"""What became of a press, as a value: replies are made from it and from nothing else. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from kinkeeper.actions.model import ActionStatus, PendingAction, Refusal
from kinkeeper.household.model import Household


class Outcome(StrEnum):
    """What became of a press."""

    DONE = "done"  # written now
    FAILED = "failed"  # tried now, nothing was written
    UNDER_WAY = "under_way"  # confirmed; what it does outside the database is not over yet
    REJECTED = "rejected"
    UNDONE = "undone"
    CHOOSE = "choose"  # nothing yet: one of the choices must be named
    ASKED = "asked"  # nothing yet: it awaits a person
    ALREADY_DONE = "already_done"
    ALREADY_UNDONE = "already_undone"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    CHANGED = "changed"  # the card is not what is stored, or the graph moved on
    DENIED = "denied"
    NOT_UNDOABLE = "not_undoable"
    RESTORED = "restored"  # had expired, and waits again as a new action


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of a press.

    Attributes:
        action: The action as it stands now.
        message: One line for the person.
        is_change: Whether this very press changed anything.
        choices: Labels to choose from, where the outcome is CHOOSE.
    """

    action: PendingAction
    outcome: Outcome
    message: str
    is_change: bool = False
    choices: tuple[str, ...] = ()


_REFUSED = {
    Refusal.DENIED: (Outcome.DENIED, "Only an adult in the household can decide this."),
    Refusal.NOT_YOURS: (
        Outcome.DENIED,
        "Somebody else asked for this, so only they can decide it.",
    ),
    Refusal.WRONG_CHAT: (Outcome.DENIED, "This belongs to another chat; nothing was changed."),
    Refusal.STALE_CARD: (
        Outcome.CHANGED,
        "The card showed something else, so nothing was changed. Please check it again.",
    ),
}


_LAPSED = {
    ActionStatus.EXPIRED: (
        Outcome.EXPIRED,
        "This has expired; nothing was changed. You can restore it.",
    ),
    ActionStatus.SUPERSEDED: (
        Outcome.SUPERSEDED,
        "Something newer replaced it; nothing was changed.",
    ),
    ActionStatus.WITHDRAWN: (
        Outcome.WITHDRAWN,
        "This was called off in the chat; nothing was changed.",
    ),
}


def refused(action: PendingAction, reason: Refusal) -> Receipt:
    """Return the receipt of a press that was not let through to the action."""
    outcome, message = _REFUSED[reason]
    return Receipt(action=action, outcome=outcome, message=message)


def settled(action: PendingAction, household: Household) -> Receipt:
    """Return the receipt of a press on an action that was settled before; nothing was changed."""
    outcome, message = _settled(action, household)
    return Receipt(action=action, outcome=outcome, message=message)


def asked(action: PendingAction) -> Receipt:
    """Return the receipt of a request that awaits a person."""
    return Receipt(
        action=action,
        outcome=Outcome.ASKED,
        message=f"Waiting for approval: {action.proposal.summary}",
    )


def restored(action: PendingAction) -> Receipt:
    """Return the receipt of bringing back what had expired."""
    message = f"Waiting for approval again: {action.proposal.summary}"
    return Receipt(action=action, outcome=Outcome.RESTORED, message=message, is_change=True)


def choose(action: PendingAction) -> Receipt:
    """Return the receipt of a plain yes to something that has several ways."""
    labels = tuple(choice.label for choice in action.proposal.choices)
    return Receipt(
        action=action,
        outcome=Outcome.CHOOSE,
        message=f"Nothing has been changed yet. Which one: {', '.join(labels)}?",
        choices=labels,
    )


def executed(action: PendingAction) -> Receipt:
    """Return the receipt of an execution that has just ended, or of one that a worker goes on with."""
    if action.status is ActionStatus.EXECUTING:
        message = f"In progress: {action.proposal.summary}"
        return Receipt(action=action, outcome=Outcome.UNDER_WAY, message=message, is_change=True)
    if action.status is ActionStatus.FAILED:
        message = f"{failure(action)}."
        return Receipt(action=action, outcome=Outcome.FAILED, message=message, is_change=True)
    results = [each.result for each in action.proposal.choices if each.label == action.choice]
    message = results[0] if results else f"Done: {action.proposal.summary}"
    return Receipt(action=action, outcome=Outcome.DONE, message=message, is_change=True)


def failure(action: PendingAction) -> str:
    """Return in words why a failed action failed, and whether it may have had an effect all the same."""
    receipt = action.receipt or {}
    reason = receipt.get("reason", "")
    if receipt.get("outcome") == "unknown":
        return f"I can't tell whether this was done: {reason}"
    return f"This couldn't be done, and nothing was changed: {reason}"


def _settled(action: PendingAction, household: Household) -> tuple[Outcome, str]:
    person = _name(household, action.decided_by)
    match action.status:
        case ActionStatus.DONE if action.undone_at is not None:
            taker = _name(household, action.undone_by)
            return Outcome.ALREADY_UNDONE, f"Already undone by {taker}."
        case ActionStatus.EXECUTING:
            return Outcome.UNDER_WAY, f"Approved by {person} and in progress."
        case ActionStatus.DONE | ActionStatus.CONFIRMED:
            return Outcome.ALREADY_DONE, f"Already approved by {person}."
        case ActionStatus.FAILED:
            return Outcome.FAILED, f"{person} approved this. {failure(action)}."
        case ActionStatus.REJECTED:
            return Outcome.REJECTED, f"Already dismissed by {person}."
        case ActionStatus.EXPIRED | ActionStatus.SUPERSEDED | ActionStatus.WITHDRAWN:
            return _LAPSED[action.status]
        case ActionStatus.PENDING:
            return Outcome.ASKED, f"Waiting for approval: {action.proposal.summary}"


def _name(household: Household, member_id: str | None) -> str:
    member = household.member(member_id) if member_id is not None else None
    return "somebody" if member is None else member.name
