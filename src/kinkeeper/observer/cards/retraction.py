"""Which proposals a message makes stale, and taking back what a message had caused.

A card whose ground is gone must never be confirmable, so this runs in the transaction that learns of it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, select

from kinkeeper.actions import proposals
from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.calendar.model import SourceType
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.language.name_match import telling_stems
from kinkeeper.messaging import inbox
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer import repository
from kinkeeper.observer.answers import questions
from kinkeeper.observer.answers.attribution import are_compatible
from kinkeeper.observer.arrangement_rows import ChatRows
from kinkeeper.observer.model import (
    UNSPECIFIED,
    Extraction,
    OpenQuestion,
    Stance,
    Task,
    extraction_from_record,
)
from kinkeeper.observer.tables import observer_messages

SOURCE = SourceType.OBSERVER.value
_LAST_WORD_STANDS = timedelta(hours=12)


def retract_message(
    conn: Connection, household: str, stored: StoredMessage, *, now: datetime
) -> tuple[str, ...]:
    """Take back everything that a message, and the answers to it, had proposed.

    Returns:
        Ids of the actions withdrawn.
    """
    message = stored.message
    repository.drop_unfinished(conn, household, str(stored.id), reason="edited")
    own = [
        action.id
        for action in action_rows.find_by_source(conn, household, SOURCE, str(stored.id))
        if action.status is ActionStatus.PENDING
    ]
    answers = repository.answers_to(conn, household, message.chat_id, message.message_id)
    close_question(conn, household, stored.id, status=questions.WITHDRAWN, by=None, now=now)
    return withdraw_all(conn, household, [*own, *answers], by_source=message.message_id, now=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakingBack:
    """A "never mind", as it was said.

    Attributes:
        sender: Who takes something back.
        answers: The channel's id of the message they mean, if they reply to one.
        window: How long ago what they take back may be.
        only_questions: Whether they only say that what they asked is settled; what they took on stays.
        words: Those that may name what they take back.
        points: Whether they mean what was said last, whoever said it.
    """

    sender: str
    family: Household
    chat_id: str
    answers: str | None
    sent_at: datetime
    window: timedelta
    only_questions: bool = False
    words: str = ""
    points: bool = False

    def may_mean(self, message_id: str) -> bool:
        """Whether a message may be what is taken back."""
        return self.answers in {None, message_id}


def may_withdraw(conn: Connection, action: PendingAction, sender: str, family: Household) -> bool:
    """Tell whether somebody's word alone takes a card away: an adult's of the household any, others' what they said or do alone.

    Args:
        action: The card's.
        sender: Member id, or the name as sent.
    """
    member = family.member(sender)
    if member is not None and member.is_adult:
        return True
    if extraction_from_record(action.proposal.extraction).owners == (sender,):
        return True
    said = inbox.load(conn, family.id, int(action.proposal.source_id))
    return said is not None and said.message.sender == sender


def retract_latest(
    conn: Connection, household: str, said: TakingBack, *, now: datetime
) -> tuple[str, ...]:
    """Take back what a person names, else what was said last where they point at it, else what they last asked or proposed.

    What they asked goes with the answers it got. An open question of theirs counts however old, what they
    proposed for half a day where they have said nothing since, else within the window.

    Args:
        said: Who takes back, and what they may mean.

    Returns:
        Ids of the actions withdrawn.
    """
    if (named := _named(conn, household, said, now=now)) is not None:
        _close_question_of(conn, household, said, named, now=now)
        return withdraw_all(
            conn, household, [named.id], by_source=named.proposal.source_id, now=now
        )
    if not said.only_questions and _drop_unfinished(conn, household, said, now=now):
        return ()
    asked, claim = _last_asked(conn, household, said), _last_claim(conn, household, said)
    last = _last_of_others(conn, household, said) if said.points else None
    if last is not None and (asked is None or last.attribution_source != asked.message_id):
        is_late = last.sent_at < said.sent_at - said.window
        return (
            ()
            if is_late
            else release(
                conn,
                said.family,
                chat_id=said.chat_id,
                message_id=last.message_id,
                by=said.sender,
                now=now,
            )
        )
    if claim is not None and (asked is None or claim.sent_at > asked.asked_at):
        _reopen(conn, household, claim, window=said.window)
        return withdraw_all(conn, household, [claim.action_id], by_source=claim.message_id, now=now)
    return _withdraw_question(conn, household, said, asked, now=now) if asked else ()


def _named(
    conn: Connection, household: str, said: TakingBack, *, now: datetime
) -> PendingAction | None:
    """Return the card that waits in the chat and shares most words with what is taken back, the newest of equals; None where none shares any."""
    stems = telling_stems(said.words)
    if not stems or said.answers is not None or said.only_questions:
        return None
    kept = ChatRows(conn, household, said.chat_id).load(now)
    best, most = None, 0
    for plan in kept.state.arrangements:
        if plan.id not in kept.cards:
            continue
        card = action_rows.load_action(conn, household, kept.cards[plan.id])
        is_seen = card.proposal.scope == HOUSEHOLD_SCOPE
        if card.status is not ActionStatus.PENDING or not is_seen:
            continue
        if not may_withdraw(conn, card, said.sender, said.family):
            continue
        count = len(stems & (plan.stems | telling_stems(card.proposal.summary)))
        if count and count >= most:
            best, most = card, count
    return best


def _close_question_of(
    conn: Connection, household: str, said: TakingBack, card: PendingAction, *, now: datetime
) -> None:
    """Let nobody be asked for what a card asks."""
    for question, _ in questions.answerable(
        conn, household, said.chat_id, at=said.sent_at, answered_within=_LAST_WORD_STANDS
    ):
        if question.action_id == card.id:
            close_question(
                conn,
                household,
                question.id,
                status=questions.WITHDRAWN,
                by=said.sender,
                now=now,
                part=question.part,
            )


def _last_of_others(conn: Connection, household: str, said: TakingBack) -> Row[Any] | None:
    """Return the message that proposed something last, if another sent it and it is no claim of theirs."""
    last = repository.latest_with_action(
        conn,
        household,
        said.chat_id,
        sender=None,
        since=said.sent_at - _LAST_WORD_STANDS,
        message_id=said.answers,
    )
    if last is None or last.sender == said.sender:
        return None
    return None if extraction_from_record(last.extraction).owners == (last.sender,) else last


def _drop_unfinished(conn: Connection, household: str, said: TakingBack, *, now: datetime) -> bool:
    """Drop what they said last where nobody has understood it yet; returns whether there was something."""
    unfinished = repository.latest_unfinished(
        conn, household, said.chat_id, sender=said.sender, since=said.sent_at - said.window
    )
    if unfinished is None or not said.may_mean(unfinished.message_id):
        return False
    repository.drop_unfinished(conn, household, unfinished.id, reason="withdrawn")
    close_question(
        conn, household, int(unfinished.id), status=questions.WITHDRAWN, by=said.sender, now=now
    )
    return True


def _withdraw_question(
    conn: Connection, household: str, said: TakingBack, asked: OpenQuestion, *, now: datetime
) -> tuple[str, ...]:
    """Close a question, and withdraw what it and the answers to it had proposed."""
    found = questions.answerable(
        conn, household, said.chat_id, at=said.sent_at, answered_within=_LAST_WORD_STANDS
    )
    ids = [q.action_id for q, _ in found if q.id == asked.id and q.action_id]
    close_question(conn, household, asked.id, status=questions.WITHDRAWN, by=said.sender, now=now)
    given = repository.answers_to(conn, household, said.chat_id, asked.message_id)
    return withdraw_all(conn, household, [*ids, *given], by_source=asked.message_id, now=now)


def _last_claim(conn: Connection, household: str, said: TakingBack) -> Row[Any] | None:
    """Return the message with what a person last proposed, if it can still be meant."""
    if said.only_questions:
        return None
    latest = repository.latest_with_action(
        conn,
        household,
        said.chat_id,
        sender=said.sender,
        since=said.sent_at - _LAST_WORD_STANDS,
        message_id=said.answers,
    )
    is_meant = said.answers is not None
    if latest is None or is_meant or latest.sent_at >= said.sent_at - said.window:
        return latest
    is_past = _has_spoken(
        conn, household, said.chat_id, latest.sender, after=latest.sent_at, before=said.sent_at
    )
    return None if is_past else latest


def _has_spoken(
    conn: Connection,
    household: str,
    chat_id: str,
    sender: str,
    *,
    after: datetime,
    before: datetime,
) -> bool:
    """Whether somebody wrote anything in a chat between two moments."""
    table = observer_messages.c
    found = select(table.id).where(
        table.household == household,
        table.chat_id == chat_id,
        table.sender == sender,
        table.sent_at > after,
        table.sent_at < before,
    )
    return conn.execute(found.limit(1)).first() is not None


def _last_asked(conn: Connection, household: str, said: TakingBack) -> OpenQuestion | None:
    """Return what a person last asked, still open or answered not long ago, if it can still be meant."""
    within = timedelta(0) if said.only_questions else _LAST_WORD_STANDS
    found = questions.answerable(
        conn, household, said.chat_id, at=said.sent_at, answered_within=within
    )
    asked = next(
        (
            question
            for question, _ in found
            if question.asker == said.sender and said.may_mean(question.message_id)
        ),
        None,
    )
    is_implied = said.answers is None and not said.only_questions
    if asked is None or not is_implied or _stands(conn, household, said, asked):
        return asked
    return None


def _stands(conn: Connection, household: str, said: TakingBack, asked: OpenQuestion) -> bool:
    """Whether what was asked is still meant: lately, or it is open, or its asker has been silent since."""
    if asked.asked_at >= said.sent_at - said.window:
        return True
    found = questions.answerable(
        conn, household, asked.chat_id, at=said.sent_at, answered_within=said.window
    )
    if any(question.id == asked.id for question, _ in found):
        return True
    return not _has_spoken(
        conn, household, asked.chat_id, asked.asker, after=asked.asked_at, before=said.sent_at
    )


def release(
    conn: Connection, family: Household, *, chat_id: str, message_id: str, by: str, now: datetime
) -> tuple[str, ...]:
    """Take back what a message proposed because somebody answered that it is not needed, an adult or whoever sent it.

    Args:
        message_id: The channel's id of the message.
        by: Who says so: member id, or the name as sent.

    Returns:
        Ids of the actions withdrawn.
    """
    found = inbox.find_by_message_id(conn, family.id, message_id, chat_id=chat_id)
    member = family.member(by)
    may = bool(found) and (
        found[-1].message.sender == by or (member is not None and member.is_adult)
    )
    return retract_message(conn, family.id, found[-1], now=now) if may else ()


def _reopen(conn: Connection, household: str, latest: Row[Any], *, window: timedelta) -> None:
    """A claim taken back leaves its job open: whoever says "I'll do it" next means that one."""
    job = extraction_from_record(latest.extraction)
    if not job.owners:
        return
    question = OpenQuestion(
        id=int(latest.id),
        chat_id=latest.chat_id,
        message_id=latest.message_id,
        thread_id=latest.thread_id,
        asker=latest.sender,
        asked_at=latest.sent_at,
        until=latest.sent_at + 2 * window,
        action_id=None,
        extraction=replace(
            job, assigned_to=(UNSPECIFIED,), stance=Stance.ASKS, addressee=None, attribution=None
        ),
    )
    questions.put(conn, household, question)


def close_question(
    conn: Connection,
    household: str,
    question_id: int,
    *,
    status: str,
    by: str | None,
    now: datetime,
    part: int | None = None,
) -> None:
    """Close what a message asked, or one part of it, and end its grace once nothing is left of it."""
    questions.close(conn, household, question_id, status=status, by=by, at=now, part=part)
    left = questions.find(conn, household, question_id)
    if left is not None and left[1] == questions.OPEN:
        return
    repository.cancel_deferred(conn, household, str(question_id), reason=f"question_{status}")


def withdraw_all(
    conn: Connection, household: str, action_ids: Iterable[str], *, by_source: str, now: datetime
) -> tuple[str, ...]:
    """Withdraw those of these actions that are still pending.

    Returns:
        Ids of those that were.
    """
    return tuple(
        action_id
        for action_id in dict.fromkeys(action_ids)
        if proposals.withdraw(conn, action_id, household=household, now=now, by_source=by_source)
    )


# Which open proposals a message makes stale: claims restated, taken over or given up, plans
# changed. Pure.

CHANGES = frozenset({Task.CANCEL, Task.MOVE})


def is_restated(one: Extraction, other: Extraction) -> bool:
    """Whether two extractions are surely the same job: they agree, and share a day and what or whom it is for."""
    if not are_compatible(one, other):
        return False
    shares_day = bool(set(one.dates) & set(other.dates)) or not (one.dates or other.dates)
    shares_object = (
        (one.activity and one.activity == other.activity)
        or (one.task and one.task == other.task)
        or (one.child and set(one.child) & set(other.child))
    )
    return shares_day and bool(shares_object)


def is_same_day(one: Extraction, other: Extraction) -> bool:
    """Whether two extractions can be the same job and name a day that both have."""
    return are_compatible(one, other) and bool(set(one.dates) & set(other.dates))


def replaced_claims(
    extraction: Extraction, pending: Sequence[PendingAction]
) -> list[PendingAction]:
    """Return earlier claims on the same job: one's own always, another's where this one takes over."""
    if not extraction.owners:
        return []
    replaced = []
    for action in pending:
        other = extraction_from_record(action.proposal.extraction)
        is_own = set(other.owners) == set(extraction.owners)
        if other.owners and (is_own or extraction.yields) and is_restated(extraction, other):
            replaced.append(action)
    return replaced


def claim_given_up(
    extraction: Extraction, pending: Sequence[PendingAction], *, people: Collection[str]
) -> PendingAction | None:
    """Return the open claim that a refusal or a release is about: the newest that it can mean.

    Args:
        pending: Open proposals, oldest first.
    """
    return _newest(extraction, pending, lambda job: any(person in people for person in job.owners))


def claim_taken_over(
    extraction: Extraction, pending: Sequence[PendingAction], *, since: datetime
) -> PendingAction | None:
    """Return another's open claim that a message takes over, though it may not say which: the newest it can mean.

    Args:
        pending: Open proposals, oldest first.
        since: A message that names no day only takes over what was claimed since then.
    """
    if not extraction.owners or not extraction.yields:
        return None
    if not extraction.named_dates:
        pending = [action for action in pending if action.created_at >= since]
    return _newest(extraction, pending, lambda job: bool(set(job.owners) - set(extraction.owners)))


def claim_corrected(
    extraction: Extraction, pending: Sequence[PendingAction], *, sender: str, since: datetime
) -> PendingAction | None:
    """Return the sender's own claim that they now say is another's ("I mean Sam does"), if it was the last.

    Args:
        pending: Open proposals, oldest first.
        sender: Who wrote it.
        since: What was claimed earlier is not meant.
    """
    if extraction.stance is not Stance.ASSIGNS or extraction.activity or extraction.named_dates:
        return None
    last = next((action for action in reversed(pending) if action.created_at >= since), None)
    if last is None or extraction_from_record(last.proposal.extraction).owners != (sender,):
        return None
    return last


def is_left_open(extraction: Extraction, pending: Sequence[PendingAction]) -> bool:
    """Whether somebody's stepping back from the job waits among the open proposals already."""
    says_which = extraction.named_dates or extraction.child or extraction.activity
    return bool(says_which) and (
        _newest(extraction, pending, lambda job: not job.owners and job.stance is Stance.DECLINES)
        is not None
    )


def _newest(
    extraction: Extraction,
    pending: Sequence[PendingAction],
    is_wanted: Callable[[Extraction], bool],
) -> PendingAction | None:
    found = [
        (action, other)
        for action in reversed(pending)
        if is_wanted(other := extraction_from_record(action.proposal.extraction))
        and are_compatible(extraction, other)
        and not _is_another_day(extraction, other)
    ]
    # What shares the activity or day that is named comes before what merely does not contradict.
    return next(
        (action for action, other in found if _shares_what_is_named(extraction, other)),
        found[0][0] if found else None,
    )


def _is_another_day(extraction: Extraction, other: Extraction) -> bool:
    """Whether an hour is named that can only be today's, and the job is not."""
    if not (extraction.is_day_implied and extraction.times and other.dates):
        return False
    return not set(extraction.dates) & set(other.dates)


def _shares_what_is_named(extraction: Extraction, other: Extraction) -> bool:
    is_same_thing = extraction.activity is not None and extraction.activity == other.activity
    return is_same_thing or bool(set(extraction.named_dates) & set(other.dates))


def undone_by_change(
    extraction: Extraction, pending: Sequence[PendingAction]
) -> list[PendingAction]:
    """Return the open proposals whose ground a cancellation or move takes away."""
    if extraction.task not in CHANGES or extraction.stance is Stance.ASKS:
        return []
    return [action for action in pending if _is_undone(action, extraction)]


def _is_undone(action: PendingAction, extraction: Extraction) -> bool:
    other = extraction_from_record(action.proposal.extraction)
    if extraction.activity is None or other.activity != extraction.activity:
        return False
    if other.task in CHANGES:
        return False
    if extraction.child and other.child and not set(extraction.child) & set(other.child):
        return False
    days = {extraction.moved_from} if extraction.moved_from else set(extraction.named_dates)
    if not days or not other.dates or days & set(other.dates):
        return True
    return extraction.task is Task.MOVE and extraction.moved_from is None
