"""Buttons that cannot be forged: what a press gives back is a secret that fits one thing in one place once.

The secret exists only in the message. Its hash is bound to the action as it was shown, to chat and message,
and to who may press. A press that does not agree with all of it changes nothing and is counted. Only the
message's id may be learnt from a press: when a process dies between the sending and the noting of it.
"""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import Connection, Row, and_, delete, func, insert, select, update

from kinkeeper.actions import receipts
from kinkeeper.actions.action_retention import RESTORABLE
from kinkeeper.actions.authority import is_anothers, is_own
from kinkeeper.actions.model import ActionStatus, PendingAction, is_due
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.tables import press_refusals, press_tokens
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.time import as_utc
from kinkeeper.household.model import Household, Member
from kinkeeper.messaging import outbox
from kinkeeper.messaging.addresses import current_chat
from kinkeeper.messaging.outbound import OF_WORDS, PressButton, StoredOutbound, Verb

PREFIX = "k1:"
_SECRET_BYTES = 24

_tokens = press_tokens.c
_refusals = press_refusals.c


class PressRefusal(StrEnum):
    """Why a press on a button changed nothing."""

    FORGED = "forged"  # no button of this household gives that back
    FOREIGN_CHAT = "foreign_chat"
    FOREIGN_MESSAGE = "foreign_message"
    FOREIGN_MEMBER = "foreign_member"  # nobody known, or not the one it was shown to
    NOT_ADULT = "not_adult"
    REPLAYED = "replayed"  # somebody else pressed it before
    CHANGED = "changed"  # what is stored is not what was shown
    SETTLED = "settled"  # decided otherwise in between
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class PressedButton:
    """What a channel says about a press.

    Attributes:
        data: What the button gave back.
        chat_id: Where the message stands.
        message_key: Its id there; the ephemeral id where only one member sees it.
        member: Who pressed, as the channel identified them; None: nobody known.
    """

    data: str
    chat_id: str
    message_key: str
    member: Member | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Redeemed:
    """A press that is to be carried out, or was before.

    Attributes:
        action: What it is about, as it stands now.
        choice: Which choice or reason, where the verb needs one.
        answer: Of a press that the same person made before, what they were told.
    """

    digest: str
    member: Member
    action: PendingAction
    verb: Verb
    choice: str | None
    answer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RedeemedWords:
    """A press about something that was said, to be carried out, or carried out before.

    Attributes:
        answer: Of a press that was made before, what they were told.
    """

    digest: str
    member: Member
    episode_id: str
    verb: Verb
    answer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A press that changed nothing.

    Attributes:
        reason: Why.
        message: One line for who pressed.
    """

    reason: PressRefusal
    message: str


_MESSAGES: Mapping[PressRefusal, str] = {
    PressRefusal.FORGED: "This button no longer works; nothing was changed.",
    PressRefusal.FOREIGN_CHAT: "This belongs to another chat; nothing was changed.",
    PressRefusal.FOREIGN_MESSAGE: "This belongs to another message; nothing was changed.",
    PressRefusal.FOREIGN_MEMBER: "This is for somebody else; nothing was changed.",
    PressRefusal.NOT_ADULT: "Only an adult in the household can decide this.",
    PressRefusal.CHANGED: "You were shown something else, so nothing was changed. Please check it again.",
    PressRefusal.EXPIRED: "This has expired; nothing was changed. You can restore it.",
}


def mint(conn: Connection, row: StoredOutbound, now: datetime) -> tuple[PressButton, ...]:
    """Make what the buttons of a message give back, for one attempt to send it.

    Args:
        conn: In the write transaction that marks the message as being sent.

    Returns:
        Its buttons, without those whose time is over: the action was settled in between.
    """
    message = row.message
    if message.action_id is None:
        return _mint_of_words(conn, row, now)
    if not message.buttons:
        return ()
    action = load_action(conn, row.household, message.action_id)
    target = None if message.edits is None else outbox.load(conn, row.household, message.edits)
    shown = []
    for button in message.buttons:
        if not _is_possible(action, button.verb, now):
            continue
        data = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        stands_for = _LATER.get(button.verb)
        conn.execute(
            insert(press_tokens).values(
                household=row.household,
                digest=_digest(data),
                action_id=action.id,
                payload_hash=action.payload_hash,
                version=action.version,
                verb=button.verb.value,
                choice=button.choice,
                channel=message.channel,
                chat_id=message.chat_id,
                outbox_id=row.id,
                attempt=row.attempts,
                message_key=target.message_key if target else None,
                member=message.audience,
                created_at=now,
                expires_at=action.expires_at if stands_for is None else now + stands_for,
            )
        )
        shown.append(PressButton(label=button.label, data=data))
    return tuple(shown)


def _mint_of_words(conn: Connection, row: StoredOutbound, now: datetime) -> tuple[PressButton, ...]:
    """Make what buttons about something that was said give back; no action stands behind them."""
    message, shown = row.message, []
    for button in message.buttons:
        if button.verb not in OF_WORDS:
            continue
        data = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        conn.execute(
            insert(press_tokens).values(
                household=row.household,
                digest=_digest(data),
                action_id="",
                payload_hash="",
                version=0,
                verb=button.verb.value,
                choice=button.choice,
                channel=message.channel,
                chat_id=message.chat_id,
                outbox_id=row.id,
                attempt=row.attempts,
                member=message.audience,
                created_at=now,
                expires_at=now + _OF_WORDS_WITHIN,
            )
        )
        shown.append(PressButton(label=button.label, data=data))
    return tuple(shown)


def redeem(
    conn: Connection, pressed: PressedButton, *, household: Household, now: datetime
) -> Redeemed | RedeemedWords | Refused:
    """Accept a press once, or say why not; a refused one changes nothing and is counted.

    Args:
        conn: In a write transaction, in which the caller also does what was asked.
        pressed: As the channel tells it.
        household: Whose chat it happened in.

    Returns:
        What to do, or what was answered when the same person pressed it before; or the refusal.
    """
    token = _find(conn, household.id, pressed.data)
    if token is None:
        return _refuse(conn, household, pressed, None, reason=PressRefusal.FORGED, now=now)
    if Verb(token.verb) in OF_WORDS:
        return _redeem_words(conn, token, pressed, household=household, now=now)
    action = load_action(conn, household.id, token.action_id, for_update=True)
    reason = (
        _misplaced(conn, token, pressed)
        or _unauthorised(token, action, pressed, household)
        or _outdated(token, pressed, action, now)
    )
    if reason is not None:
        return _refuse(conn, household, pressed, action, reason=reason, now=now)
    if pressed.member is None:
        raise InvariantError("a button press without a person was accepted")
    if token.used_at is None:
        _use(conn, token, pressed, now)
    return Redeemed(
        digest=token.digest,
        member=pressed.member,
        action=action,
        verb=Verb(token.verb),
        choice=token.choice,
        answer=token.answer,
    )


def _redeem_words(
    conn: Connection,
    token: Row[tuple[object, ...]],
    pressed: PressedButton,
    *,
    household: Household,
    now: datetime,
) -> RedeemedWords | Refused:
    """Accept a press about something that was said: whoever did not say it changes nothing by it later on."""
    member = pressed.member
    reason = _misplaced(conn, token, pressed) or _not_of(token, member, household, now)
    if reason is not None or member is None:
        refused = reason or PressRefusal.FOREIGN_MEMBER
        return _refuse(conn, household, pressed, None, reason=refused, now=now)
    if token.used_at is None:
        _use(conn, token, pressed, now)
    return RedeemedWords(
        digest=token.digest,
        member=member,
        episode_id=str(token.choice),
        verb=Verb(token.verb),
        answer=token.answer,
    )


def _not_of(
    token: Row[tuple[object, ...]], member: Member | None, household: Household, now: datetime
) -> PressRefusal | None:
    """Return why somebody may not press a button about something that was said, or None."""
    is_known = member is not None and household.member(member.id) == member
    if member is None or not is_known or {token.member, token.used_by} - {None, member.id}:
        return PressRefusal.FOREIGN_MEMBER
    if not member.is_adult:
        return PressRefusal.NOT_ADULT
    is_late = token.used_at is None and token.expires_at <= now
    return PressRefusal.EXPIRED if is_late else None


def is_button_of(conn: Connection, household: str, data: str) -> bool:
    """Whether a button of this household, wherever it stands, gives that back."""
    return _find(conn, household, data) is not None


def note_answer(
    conn: Connection, household: str, redeemed: Redeemed | RedeemedWords, answer: str
) -> None:
    """Keep what a press was answered with, for the same press coming twice."""
    mine = and_(_tokens.household == household, _tokens.digest == redeemed.digest)
    conn.execute(update(press_tokens).where(mine).values(answer=answer))


def count_refused(
    conn: Connection, household: str, *, since: datetime | None = None
) -> dict[PressRefusal, int]:
    """Return how many presses on buttons changed nothing, by reason; from `since` on where given."""
    query = select(_refusals.reason, func.count()).where(_refusals.household == household)
    if since is not None:
        query = query.where(_refusals.at >= since)
    counted = conn.execute(query.group_by(_refusals.reason))
    return {PressRefusal(reason): count for reason, count in counted}


def purge_tokens(conn: Connection, household: str, *, before: datetime) -> int:
    """Delete buttons that expired before then, on which a press counts as forged, and refusals. Returns how many buttons."""
    conn.execute(
        delete(press_refusals).where(
            press_refusals.c.household == household, press_refusals.c.at < before
        )
    )
    old = and_(_tokens.household == household, _tokens.expires_at < before)
    return conn.execute(delete(press_tokens).where(old)).rowcount


_LATER: Mapping[Verb, timedelta] = {
    Verb.UNDO: timedelta(hours=24),
    Verb.REASON: timedelta(hours=24),
    Verb.RESTORE: RESTORABLE,
}
"""What can be pressed after an action is over, and for how long."""

_OF_WORDS_WITHIN = timedelta(hours=24)


def _is_possible(action: PendingAction, verb: Verb, now: datetime) -> bool:
    match verb:
        case Verb.UNDO:
            return action.status is ActionStatus.DONE and action.undone_at is None
        case Verb.REASON:
            return action.status is ActionStatus.REJECTED
        case Verb.RESTORE:
            return action.status is ActionStatus.EXPIRED
        case _:
            return action.status is ActionStatus.PENDING and not is_due(action, now)


def _digest(data: str) -> str:
    return hashlib.sha256(data.encode()).hexdigest()


def _find(conn: Connection, household: str, data: str) -> Row[tuple[object, ...]] | None:
    if not data.startswith(PREFIX):
        return None
    statement = select(press_tokens).where(
        _tokens.household == household, _tokens.digest == _digest(data)
    )
    return conn.execute(statement).first()


def _misplaced(
    conn: Connection, token: Row[tuple[object, ...]], pressed: PressedButton
) -> PressRefusal | None:
    here = current_chat(conn, token.household, token.channel, token.chat_id)
    if pressed.chat_id not in {token.chat_id, here}:
        return PressRefusal.FOREIGN_CHAT
    expected = _expected_message(conn, token)
    if expected is not None and pressed.message_key != expected:
        return PressRefusal.FOREIGN_MESSAGE
    return None


def _expected_message(conn: Connection, token: Row[tuple[object, ...]]) -> str | None:
    """Return the message a button stands under; None while nobody knows its id."""
    if token.message_key is not None:
        return str(token.message_key)
    row = outbox.load(conn, token.household, token.outbox_id)
    return row.message_key if row is not None and row.attempts == token.attempt else None


def _unauthorised(
    token: Row[tuple[object, ...]],
    action: PendingAction,
    pressed: PressedButton,
    household: Household,
) -> PressRefusal | None:
    member = pressed.member
    if member is None or household.member(member.id) != member:
        return PressRefusal.FOREIGN_MEMBER
    if token.member not in {None, member.id}:
        return PressRefusal.FOREIGN_MEMBER
    if not member.is_adult and not is_own(action, member, household):
        return PressRefusal.NOT_ADULT
    # Refused here, it does not use up the button of whose it is.
    return PressRefusal.FOREIGN_MEMBER if is_anothers(action, member, household) else None


def _outdated(
    token: Row[tuple[object, ...]], pressed: PressedButton, action: PendingAction, now: datetime
) -> PressRefusal | None:
    if (token.payload_hash, token.version) != (action.payload_hash, action.version):
        return PressRefusal.CHANGED
    if token.used_at is not None:
        is_same = pressed.member is not None and token.used_by == pressed.member.id
        return None if is_same else PressRefusal.REPLAYED
    verb = Verb(token.verb)
    # A decision can be made for as long as the action waits, also where that became longer since.
    if token.expires_at <= now if verb in _LATER else is_due(action, now):
        return PressRefusal.EXPIRED
    return None if _is_possible(action, verb, now) else PressRefusal.SETTLED


def _use(
    conn: Connection, token: Row[tuple[object, ...]], pressed: PressedButton, now: datetime
) -> None:
    member = pressed.member
    mine = and_(_tokens.household == token.household, _tokens.digest == token.digest)
    used = {"used_at": now, "used_by": member.id if member else None}
    conn.execute(update(press_tokens).where(mine).values(used))
    if _expected_message(conn, token) is not None:
        return
    beside = and_(
        _tokens.household == token.household,
        _tokens.outbox_id == token.outbox_id,
        _tokens.attempt == token.attempt,
    )
    conn.execute(update(press_tokens).where(beside).values(message_key=pressed.message_key))
    outbox.note_arrival(conn, token.household, token.outbox_id, pressed.message_key, now=now)


def _refuse(
    conn: Connection,
    household: Household,
    pressed: PressedButton,
    action: PendingAction | None,
    *,
    reason: PressRefusal,
    now: datetime,
) -> Refused:
    conn.execute(
        insert(press_refusals).values(
            household=household.id,
            reason=reason.value,
            at=as_utc(now),
            action_id=action.id if action else None,
            by_member=pressed.member.id if pressed.member else None,
        )
    )
    message = _MESSAGES.get(reason)
    if message is None and action is not None:
        message = receipts.settled(action, household).message
    return Refused(reason=reason, message=message or _MESSAGES[PressRefusal.FORGED])
