"""A card for one person alone: what was quietly understood, with a button for yes and one for no.

Only where the channel can show it to nobody else: within the group, or in a private chat the person
has opened. It makes no sound and is never the only copy: the pending list always has it.
"""

from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.household.model import Household, Member
from kinkeeper.messaging import outbox
from kinkeeper.messaging.addresses import address_for
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.messaging.outbound import Button, Outbound, Verb
from kinkeeper.observer.quiet_requests import quiet_until

NOT_RIGHT = "Not right"
_CONFIRM = "Confirm"


def offer(
    conn: Connection,
    household: Household,
    stored: StoredMessage,
    action: PendingAction,
    *,
    now: datetime,
) -> int:
    """Put a card for every adult concerned who can be reached alone; once a person and action.

    Args:
        stored: The message that led to the action.

    Returns:
        How many cards there are.
    """
    if action.status is not ActionStatus.PENDING or quiet_until(conn, household.id, now=now):
        return 0
    message = stored.message
    reached = [
        member
        for member in concerned(household, stored, action)
        if address_for(conn, household.id, message.channel, message.chat_id, member=member.id)
    ]
    for member in reached:
        card = Outbound(
            channel=message.channel,
            chat_id=message.chat_id,
            body=action.proposal.summary,
            dedupe_key=f"card:{action.id}:{member.id}",
            audience=member.id,
            buttons=card_buttons(action),
            action_id=action.id,
            deliver_by=action.expires_at,
            is_soundless=True,
        )
        outbox.put(conn, household.id, card, now=now)
    return len(reached)


def concerned(household: Household, stored: StoredMessage, action: PendingAction) -> list[Member]:
    """Return the adults an action gives something to do; where it names none, its sender if adult."""
    assigned = action.proposal.extraction.get("assigned_to") or ()
    named = [member for member in household.adults if member.id in assigned]
    if named:
        return named
    return [member for member in household.adults if member.id == stored.message.sender]


def card_buttons(action: PendingAction) -> tuple[Button, ...]:
    """Return the buttons under a card: its ways, or a plain yes; and a no."""
    proposal = action.proposal
    if proposal.effects or not proposal.choices:
        ways = [Button(label=_CONFIRM, verb=Verb.CONFIRM)]
    else:
        ways = [
            Button(label=each.label, verb=Verb.CHOOSE, choice=each.label)
            for each in proposal.choices
        ]
    return (*ways, Button(label=NOT_RIGHT, verb=Verb.REJECT))
