"""Presses on buttons: carried out, and answered with a line that only who pressed sees."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.press_tokens import PressedButton
from kinkeeper.channels.telegram.families import CHANNEL, Family
from kinkeeper.channels.telegram.updates import Pressed
from kinkeeper.household.model import Member
from kinkeeper.messaging import outbox
from kinkeeper.messaging.outbound import Outbound, OutboundKind
from kinkeeper.observer.button_presses import press
from kinkeeper.observer.cards.private_cards import card_buttons

# After about this long Telegram takes no answer to a press any more.
_ANSWER_WITHIN = timedelta(seconds=150)


def carry_out(conn: Connection, family: Family, pressed: Pressed, *, now: datetime) -> None:
    """Carry out a press and put its answer; a press that is refused changes nothing and is told why.

    Args:
        conn: In a write transaction.
        family: In whose name the button was shown.
        pressed: As Telegram tells it.
        now: Aware.
    """
    button = PressedButton(
        data=pressed.data, chat_id=pressed.chat.id, message_key=pressed.message_key,
        member=family.member(pressed.account),
    )  # fmt: skip
    answer = press(conn, button, household=family.household, now=now)
    notice = Outbound(
        channel=CHANNEL, chat_id=pressed.chat.id, body=answer.message,
        dedupe_key=f"press:{pressed.query_id}", kind=OutboundKind.NOTICE,
        answer_to=pressed.query_id, deliver_by=now + _ANSWER_WITHIN, is_unprompted=False,
        is_soundless=True,
    )  # fmt: skip
    outbox.put(conn, family.household.id, notice, now=now)
    if answer.restored is not None and button.member is not None:
        _show_again(conn, family, pressed, button.member, answer.restored, now=now)


def _show_again(  # noqa: PLR0917 - one card and who gets it
    conn: Connection,
    family: Family,
    pressed: Pressed,
    member: Member,
    action: PendingAction,
    *,
    now: datetime,
) -> None:
    """Put the card of what was brought back, with its buttons, for who pressed alone."""
    card = Outbound(
        channel=CHANNEL, chat_id=pressed.chat.id, body=action.proposal.summary,
        dedupe_key=f"restored:{action.id}:{member.id}", audience=member.id,
        buttons=card_buttons(action), action_id=action.id, deliver_by=action.expires_at,
        is_unprompted=False, is_soundless=True,
    )  # fmt: skip
    outbox.put(conn, family.household.id, card, now=now)
