"""What people do to single memories themselves: at once, journaled, and but for forgetting with a way back."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.effects.memory import (
    EditFact,
    EndFact,
    ForgetFact,
    MarkWrong,
    SetScope,
    SettleDoubt,
    SettleQuestion,
    SetToldScope,
    TakeBack,
)
from kinkeeper.actions.model import ActionType, Proposal
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.core.errors import ConflictError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_scope
from kinkeeper.language.text import shorten
from kinkeeper.memory.corrections import check_may_set_scope, turns_of
from kinkeeper.memory.episodes import episodes_by_id
from kinkeeper.memory.erasure import preview_forget
from kinkeeper.memory.facts import load_fact
from kinkeeper.memory.model import Fact
from kinkeeper.memory.undecided import load_undecided
from kinkeeper.memory.undo import check_may_take_back
from kinkeeper.memory.upkeep.questions import Answer

_SOURCE = "MEMORY_PAGE"
_LONGEST_SUMMARY = 140


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRight:
    """One person's changes of what is remembered.

    Attributes:
        household: Theirs, as its file has it now.
        member: Who does it; only adults may.
    """

    household: Household
    member: Member
    now: datetime

    def edit(self, conn: Connection, fact_id: str, text: str) -> Receipt:
        """Put a fact in a person's own words.

        Args:
            text: As it shall be, not blank.

        Raises:
            NotFoundError: There is no such fact that this person may see.
        """
        fact = self._fact(conn, fact_id)
        effect = EditFact(fact_id=fact.id, narrative=fact.narrative, scope=fact.scope, text=text)
        return self._request(conn, effect, f"Corrected: {text}")

    def wrong(self, conn: Connection, fact_id: str) -> Receipt:
        """Take a fact out of use, because it never was true.

        Raises:
            NotFoundError: There is no such fact that this person may see.
        """
        fact = self._fact(conn, fact_id)
        effect = MarkWrong(fact_id=fact.id, narrative=fact.narrative, scope=fact.scope)
        return self._request(conn, effect, f"Marked as incorrect: {fact.narrative}")

    def over(self, conn: Connection, fact_id: str) -> Receipt:
        """Take a fact out of use, because it is so no more.

        Raises:
            NotFoundError: There is no such fact that this person may see.
        """
        fact = self._fact(conn, fact_id)
        effect = EndFact(fact_id=fact.id, narrative=fact.narrative, scope=fact.scope)
        return self._request(conn, effect, f"Marked as outdated: {fact.narrative}")

    def settle(self, conn: Connection, fact_id: str, *, is_changed: bool) -> Receipt:
        """Say whether a doubted fact holds, or what was said otherwise.

        Raises:
            ConflictError: Nobody doubts it, or not any more.
            NotFoundError: There is no such fact that this person may see.
        """
        fact = self._fact(conn, fact_id)
        if fact.doubted_by is None:
            raise ConflictError(f"fact {fact_id!r} is no longer in doubt; reload it")
        otherwise = self._fact(conn, fact.doubted_by)
        effect = SettleDoubt(
            fact_id=fact.id,
            narrative=fact.narrative,
            scope=fact.scope,
            otherwise=otherwise.narrative,
            is_changed=is_changed,
        )
        holds = otherwise if is_changed else fact
        return self._request(conn, effect, f"This is true: {holds.narrative}")

    def settle_question(
        self,
        conn: Connection,
        question_id: str,
        answer: Literal[Answer.KEEP_BOTH, Answer.NEWER, Answer.OLDER],
    ) -> Receipt:
        """Say which of two things hold that may not both be true.

        Raises:
            NotFoundError: It was answered, or is no question any more.
        """
        pair = load_undecided(conn, self._viewer, question_id, now=self.now)
        effect = SettleQuestion(
            fact_id=pair.older.id,
            narrative=pair.older.narrative,
            scope=pair.older.scope,
            other_id=pair.newer.id,
            otherwise=pair.newer.narrative,
            question_id=pair.id,
            answer=answer,
        )
        holds = {Answer.NEWER: pair.newer.narrative, Answer.OLDER: pair.older.narrative}
        both = f"Both are true: {pair.older.narrative}; {pair.newer.narrative}"
        told = f"This is true: {holds[answer]}" if answer in holds else both
        return self._request(conn, effect, told)

    def set_scope(self, conn: Connection, fact_id: str, *, is_private: bool) -> Receipt:
        """Keep a fact to oneself, or let the household see it; what another member told of it stays as it is.

        Raises:
            NotFoundError: There is no such fact that this person may see.
            DeniedError: Only others told it.
        """
        fact = self._fact(conn, fact_id)
        check_may_set_scope(conn, self._viewer, fact_id)
        # Whoever may not see it before or after must not read of it here either.
        effect = SetScope(
            fact_id=fact.id,
            narrative=fact.narrative,
            scope=person_scope(self.member.id),
            new_scope=person_scope(self.member.id) if is_private else HOUSEHOLD_SCOPE,
            episodes=turns_of(conn, self._viewer, fact_id),
        )
        seen = "only to one person" if is_private else "to the household"
        return self._request(conn, effect, f"Visible {seen}: {fact.narrative}")

    def set_told_scope(
        self, conn: Connection, episode_id: str, *, is_private: bool
    ) -> Receipt | None:
        """Keep to oneself, or let the household see, what this person said, with all facts out of it.

        Args:
            is_private: Whether only they shall see it.

        Returns:
            The receipt; None where it is so already, or gone.
        """
        said = episodes_by_id(conn, self.household.id, [episode_id]).get(episode_id)
        new_scope = person_scope(self.member.id) if is_private else HOUSEHOLD_SCOPE
        if said is None or said.member != self.member.id or said.scope == new_scope:
            return None
        effect = SetToldScope(
            episode_id=episode_id,
            text=said.text,
            new_scope=new_scope,
            scope=person_scope(self.member.id),
        )
        seen = "only to one person" if is_private else "to the household"
        return self._request(conn, effect, f"Visible {seen}: {said.text}")

    def forget(self, conn: Connection, fact_id: str) -> Receipt:
        """Erase a fact for good, with the words it rests on and what proposed it.

        The person must have been asked before. The caller folds the store's log afterwards, so that the
        words are gone from the files too.

        Raises:
            NotFoundError: There is no such fact that this person may see.
        """
        fact = self._fact(conn, fact_id)
        effect = forgetting_of(conn, self._viewer, fact)
        receipt = self._request(conn, effect, "Forget something that was remembered")
        if receipt.outcome is Outcome.ASKED:
            receipt = approvals.confirm(
                conn, receipt.action.id, member=self.member, household=self.household, now=self.now
            )
        return receipt

    def take_back(self, conn: Connection, change_set: str) -> Receipt:
        """Undo a memory change as a whole.

        Raises:
            NotFoundError: There is no such change, or it is nobody's but another's own.
            DeniedError: It also changed what only others recall.
        """
        check_may_take_back(conn, self._viewer, change_set)
        return self._request(conn, TakeBack(change_set=change_set), "Undo a memory change")

    @property
    def _viewer(self) -> Viewer:
        return Viewer.of(self.household.id, self.member.id)

    def _fact(self, conn: Connection, fact_id: str) -> Fact:
        return load_fact(conn, self._viewer, fact_id)

    def _request(self, conn: Connection, effect: Effect, summary: str) -> Receipt:
        frozen = effect.frozen()
        proposal = Proposal(
            household=self.household.id,
            type=ActionType.MEMORY_FACT,
            source_type=_SOURCE,
            source_id=stable_id(self.member.id, self.now.isoformat(), sorted(frozen.items())),
            slot="0",
            chat_id=None,
            extraction={},
            extraction_confidence=1.0,
            summary=shorten(summary, _LONGEST_SUMMARY),
            effects=(frozen,),
            choices=(),
            merge_key=None,
            origin=Origin.SAID,
        )
        return approvals.request(
            conn, proposal, member=self.member, household=self.household, now=self.now
        )


def forgetting_of(conn: Connection, viewer: Viewer, fact: Fact) -> ForgetFact:
    """Return the effect that erases a fact."""
    erasure = preview_forget(conn, viewer, fact.id)
    return ForgetFact(
        fact_id=fact.id,
        narrative=fact.narrative,
        scope=fact.scope,
        episodes=tuple(each.id for each in erasure.episodes),
    )
