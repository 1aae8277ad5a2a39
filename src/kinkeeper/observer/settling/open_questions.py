"""Keeps the open questions of a chat in step with what its messages ask and answer."""

from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions.model import PendingAction
from kinkeeper.household.model import Household
from kinkeeper.observer import repository
from kinkeeper.observer.answers import questions
from kinkeeper.observer.answers.attribution import fetches_from
from kinkeeper.observer.cards import retraction
from kinkeeper.observer.cards.card_builder import Ground, Proposer
from kinkeeper.observer.cards.retraction import CHANGES, is_restated
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.extraction.prepared import Prepared
from kinkeeper.observer.model import OpenQuestion, Stance
from kinkeeper.observer.redline.case import Case
from kinkeeper.observer.redline.redline_rules import first_instant, needs_owner


class QuestionTracker:
    """Opens, narrows and closes the questions of one household.

    Args:
        proposer: Builds the card of what is left of a question.
        config: How long questions can be answered.
    """

    def __init__(self, household: Household, proposer: Proposer, config: ObserverConfig) -> None:
        self._family = household
        self._household = household.id
        self._proposer = proposer
        self._config = config

    def track(
        self,
        conn: Connection,
        prepared: Prepared,
        case: Case,
        *,
        answered: OpenQuestion | None,
        ground: Ground,
        action: PendingAction | None,
        part: int,
        now: datetime,
    ) -> None:
        """Close what a message answers, and open what it asks.

        Args:
            answered: Question it answers, if any.
            ground: What its proposals rest on.
            action: What it proposed, if anything.
            part: Which of the message's arrangements it is.
        """
        extraction = case.extraction
        if extraction.owners or extraction.task in CHANGES:
            self._answer(conn, prepared, case, answered=answered, ground=ground, now=now)
        is_refusal = extraction.stance is Stance.DECLINES and answered is not None
        is_over = extraction.stance is Stance.WITHDRAWS
        if is_refusal and answered is not None:
            self._open_to_all(conn, answered, refused_by=prepared.stored.message.sender)
        if needs_owner(extraction) and not is_refusal and not is_over:
            self._open(conn, prepared, case, action, part)

    def _open_to_all(self, conn: Connection, question: OpenQuestion, *, refused_by: str) -> None:
        """Where the one who was asked declines, a yes of anybody counts from then on."""
        if question.extraction.addressee != refused_by:
            return
        questions.narrow(
            conn,
            self._household,
            question,
            action_id=question.action_id,
            extraction=replace(question.extraction, addressee=None),
        )

    def _open(  # noqa: PLR0917 - what is asked, and where it is kept
        self,
        conn: Connection,
        prepared: Prepared,
        case: Case,
        action: PendingAction | None,
        part: int,
    ) -> None:
        stored = prepared.stored
        until = stored.message.sent_at + self._config.open_question_window
        starts_at = first_instant(case, self._config.rules.default_duration)
        if starts_at is not None and starts_at > stored.message.sent_at:
            until = min(until, starts_at)
        question = OpenQuestion(
            id=stored.id,
            chat_id=stored.message.chat_id,
            message_id=stored.message.message_id,
            thread_id=stored.thread_id,
            asker=stored.message.sender,
            asked_at=stored.message.sent_at,
            until=until,
            extraction=case.extraction,
            action_id=action.id if action else None,
            part=part,
        )
        questions.put(conn, self._household, question)
        self._renew_grace(conn, question)

    def _renew_grace(self, conn: Connection, asked: OpenQuestion) -> None:
        """What is asked again gets its chance again: the earlier question for the same job waits no longer."""
        found = questions.answerable(
            conn, self._household, asked.chat_id, at=asked.asked_at, answered_within=timedelta(0)
        )
        for earlier, answered_by in found:
            if (
                answered_by is None
                and earlier.id != asked.id
                and is_restated(asked.extraction, earlier.extraction)
            ):
                repository.cancel_deferred(
                    conn, self._household, str(earlier.id), reason="asked_again"
                )

    def _answer(
        self,
        conn: Connection,
        prepared: Prepared,
        case: Case,
        *,
        answered: OpenQuestion | None,
        ground: Ground,
        now: datetime,
    ) -> None:
        extraction, stored = case.extraction, prepared.stored
        sender = stored.message.sender
        is_of_adult = prepared.member is not None and prepared.member.is_adult
        found = questions.answerable(
            conn,
            self._household,
            stored.message.chat_id,
            at=stored.message.sent_at,
            answered_within=timedelta(0),
            late=questions.LATE,
        )
        for question, answered_by in found:
            is_meant = answered is not None and (question.id, question.part) == (
                answered.id,
                answered.part,
            )
            if answered_by is not None or question.id == stored.id:
                continue
            if not (is_meant or is_restated(extraction, question.extraction)):
                continue
            if extraction.task in CHANGES and not (is_of_adult or question.asker == sender):
                continue
            rest = tuple(c for c in question.extraction.child if c not in extraction.child)
            if rest and extraction.child and extraction.task not in CHANGES:
                self._narrow(conn, question, rest, ground=ground, now=now)
            else:
                retraction.close_question(
                    conn,
                    self._household,
                    question.id,
                    status=questions.ANSWERED,
                    by=stored.message.sender,
                    now=now,
                    part=question.part,
                )
            if not fetches_from(extraction, question.extraction):
                self._withdraw_card(conn, question, ground, now=now)

    def _withdraw_card(
        self, conn: Connection, question: OpenQuestion, ground: Ground, *, now: datetime
    ) -> None:
        if question.action_id:
            retraction.withdraw_all(
                conn, self._household, [question.action_id], by_source=ground.row_id, now=now
            )

    def _narrow(
        self,
        conn: Connection,
        question: OpenQuestion,
        rest: tuple[str, ...],
        *,
        ground: Ground,
        now: datetime,
    ) -> None:
        """Part of what was asked is taken; the rest stays open as a card of its own."""
        extraction = replace(question.extraction, child=rest)
        left = replace(
            ground,
            row_id=f"{question.id}:{'+'.join(rest)}",
            replaces=(),
            case=replace(ground.case, extraction=extraction),
        )
        result = proposals.propose(
            conn, self._proposer.remainder(left, extraction), household=self._family, now=now
        )
        questions.narrow(
            conn, self._household, question, extraction=extraction, action_id=result.action.id
        )
