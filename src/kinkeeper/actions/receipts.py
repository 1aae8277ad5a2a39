"""What became of a press, as a value: replies are made from it and from nothing else. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.states import Refusal
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of a press.

    Attributes:
        action: The action as it stands now.
        outcome: What became of it.
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
    Refusal.DENIED: (Outcome.DENIED, "Only an adult of the household can decide this."),
    Refusal.NOT_YOURS: (
        Outcome.DENIED,
        "Somebody else asked for this in their own name, so only they can decide it.",
    ),
    Refusal.WRONG_CHAT: (Outcome.DENIED, "This belongs to another chat; nothing was changed."),
    Refusal.STALE_CARD: (
        Outcome.CHANGED,
        "This is not what the card showed; nothing was changed. Please look at it again.",
    ),
}


_LAPSED = {
    ActionStatus.EXPIRED: (Outcome.EXPIRED, "This has expired; nothing was changed."),
    ActionStatus.SUPERSEDED: (
        Outcome.SUPERSEDED,
        "Something newer took its place; nothing was changed.",
    ),
    ActionStatus.WITHDRAWN: (
        Outcome.WITHDRAWN,
        "This was taken back in the chat; nothing was changed.",
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
        message=f"Waiting for a yes: {action.proposal.summary}",
    )


def choose(action: PendingAction) -> Receipt:
    """Return the receipt of a plain yes to something that has several ways."""
    labels = tuple(choice.label for choice in action.proposal.choices)
    return Receipt(
        action=action,
        outcome=Outcome.CHOOSE,
        message=f"Nothing was changed yet. Which one: {', '.join(labels)}?",
        choices=labels,
    )


def executed(action: PendingAction) -> Receipt:
    """Return the receipt of an execution that has just ended, or of one that a worker goes on with."""
    if action.status is ActionStatus.EXECUTING:
        message = f"Under way: {action.proposal.summary}"
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
        return f"Nobody can tell whether this was done: {reason}"
    return f"Could not be done, nothing was changed: {reason}"


def _settled(action: PendingAction, household: Household) -> tuple[Outcome, str]:
    person = _name(household, action.decided_by)
    match action.status:
        case ActionStatus.DONE if action.undone_at is not None:
            taker = _name(household, action.undone_by)
            return Outcome.ALREADY_UNDONE, f"Already taken back by {taker}."
        case ActionStatus.EXECUTING:
            return Outcome.UNDER_WAY, f"Confirmed by {person}, and under way."
        case ActionStatus.DONE | ActionStatus.CONFIRMED:
            return Outcome.ALREADY_DONE, f"Already confirmed by {person}."
        case ActionStatus.FAILED:
            return Outcome.FAILED, f"{person} confirmed this. {failure(action)}."
        case ActionStatus.REJECTED:
            return Outcome.REJECTED, f"Already declined by {person}."
        case ActionStatus.EXPIRED | ActionStatus.SUPERSEDED | ActionStatus.WITHDRAWN:
            return _LAPSED[action.status]
        case ActionStatus.PENDING:
            return Outcome.ASKED, f"Waiting for a yes: {action.proposal.summary}"


def _name(household: Household, member_id: str | None) -> str:
    member = household.member(member_id) if member_id is not None else None
    return "somebody" if member is None else member.name
