"""Effects on memory: what a person wants remembered, or said yes to. Journaled there, and can be taken back."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect, Execution, Told, Touched
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import as_utc, day_over
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    Viewer,
    is_project,
    kept_to,
    person_of,
    person_scope,
)
from kinkeeper.memory import corrections, erasure
from kinkeeper.memory.ingest import remember
from kinkeeper.memory.model import Category, Correction, Episode, Observation, Origin, StatementType
from kinkeeper.memory.undecided import settle_doubt, settle_undecided
from kinkeeper.memory.undo import check_may_take_back
from kinkeeper.memory.undo import undo as undo_change
from kinkeeper.memory.upkeep.questions import Answer
from kinkeeper.memory.upkeep.rollback import revert
from kinkeeper.memory.upkeep.runs import latest_runs

_A_FACT_WAITS = timedelta(days=14)
_MOST_NIGHTS = 500  # more than can still be taken back


class Words(BaseModel):
    """Where it was said: an episode to be.

    Attributes:
        id: Of the episode; the same words are one episode however often this is written.
        text: Verbatim.
        speaker: As named at the source.
        member: Member id of the speaker, if they are one.
        said_at: With offset.
        channel: Where it was said.
        session: Orders it among its neighbours, if it has any.
        origin: How it was learnt.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    speaker: str | None = None
    member: str | None = None
    said_at: AwareDatetime
    channel: str = "unknown"
    session: str | None = None
    origin: Literal[Origin.SAID, Origin.OBSERVED]

    def episode(self, household: str, scope: str) -> Episode:
        """Return the episode that these words are."""
        return Episode(
            household=household,
            id=self.id,
            scope=scope,
            session=self.session,
            speaker=self.speaker,
            member=self.member,
            text=self.text,
            said_at=self.said_at,
            origin=self.origin,
            source="action",
            channel=self.channel,
        )


class Sentence(BaseModel):
    """What was read out of the words.

    Attributes:
        start: Index of its first character.
        end: Index after its last.
        category: What it is about.
        type: What kind of sentence it is.
        title: One line.
        narrative: As it may be told to others.
        completed: The sentence in full where the words only give a part of it ("to nuts, not to milk"); else empty.
        confidence: In [0, 1].
        valid_from: Since when it holds, where the words say so.
        valid_to: Until when, where the words say so.
        is_correction: Whether it sets something right explicitly.
        is_retraction: Whether it only takes something back.
        corrects: Words that are no longer true, where said.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    category: Category
    type: StatementType
    title: str
    narrative: str = Field(min_length=1)
    completed: str = ""
    confidence: float = Field(ge=0, le=1)
    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None
    is_correction: bool = False
    is_retraction: bool = False
    corrects: str | None = None

    def observation(self, text: str) -> Observation:
        """Return it as it was read out of a text."""
        return Observation(
            text=self.completed or text[self.start : self.end],
            start=self.start,
            end=self.end,
            category=self.category,
            type=self.type,
            title=self.title,
            narrative=self.narrative,
            confidence=self.confidence,
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            correction=Correction(corrects=self.corrects, is_retraction=self.is_retraction)
            if self.is_correction
            else None,
        )


class MemoryEffect(Effect):
    """Something done to memory.

    Attributes:
        scope: Who may see it, before it is done and afterwards.
    """

    scope: str = HOUSEHOLD_SCOPE

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return what it concerns: words of one's own that wait for a yes are nobody else's to read."""
        return (_touched(self.scope),)

    def check(self, household: str) -> None:
        """Accept it; whether what it concerns is there shows when it is written."""


class RememberFact(MemoryEffect):
    """Remember what somebody said.

    Attributes:
        words: Where it was said.
        sentences: What is to be remembered of it, at least one.
        people: Member ids by the names that occur in the words, folded.
        guardians: By member id of a child, whose word about it counts.
        is_wanted: Whether somebody asks for it by name, so that it counts also if it was forgotten once.
    """

    effect: Literal["memory.remember_fact"] = "memory.remember_fact"
    words: Words
    sentences: tuple[Sentence, ...] = Field(min_length=1)
    people: Mapping[str, str] = Field(default_factory=dict)
    guardians: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    is_wanted: bool = False

    @property
    def told(self) -> Told:
        """The words."""
        return Told(self.words.text)

    def narrowed(self, conn: Connection, household: str, scope: str) -> Self:
        """Return it for fewer people; what is a project's stays there."""
        kept = self.scope if is_project(self.scope) else kept_to(self.scope, scope)
        return self.model_copy(update={"scope": kept})

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return who reads the question: what is for a project's adults, only who said it."""
        if is_project(self.scope) and self.words.member is not None:
            return (_touched(person_scope(self.words.member)),)
        return (_touched(self.scope),)

    def check(self, household: str) -> None:
        """Refuse sentences that are not within the words."""
        length = len(self.words.text)
        if any(not each.start < each.end <= length for each in self.sentences):
            raise InputError("a sentence to remember is not part of the text it came from")

    def over_at(
        self, conn: Connection, household: Household, *, after: datetime
    ) -> datetime | None:
        """Return the end of the last day that the words name; what holds without an end is asked about for two weeks."""
        named = [each for said in self.sentences for each in (said.valid_from, said.valid_to)]
        days = [each.astimezone(household.zone).date() for each in named if each is not None]
        ends = [day_over(max(days), household.zone)] if days else []
        if any(each.valid_to is None for each in self.sentences):
            ends.append(as_utc(after) + _A_FACT_WAITS)
        return max(ends)

    def apply(self, conn: Connection, execution: Execution) -> str | None:
        """Write it."""
        scope = kept_to(self.scope, execution.scope)
        said = self.words.episode(execution.household, scope)
        done = remember(
            conn,
            said,
            [each.observation(said.text) for each in self.sentences],
            at=execution.at,
            by=execution.decided_by,
            people=self.people,
            guardians=self.guardians,
            is_wanted=self.is_wanted,
        )
        return done.change_set


class _FactEffect(MemoryEffect):
    """Something done to one fact.

    Attributes:
        fact_id: Which.
        narrative: Its words, for people.
    """

    fact_id: str = Field(min_length=1)
    narrative: str


class EditFact(_FactEffect):
    """Put a fact in a person's own words.

    Attributes:
        text: As it shall be.
        new_scope: Of those who may see it afterwards, where they are fewer.
    """

    effect: Literal["memory.edit_fact"] = "memory.edit_fact"
    text: str = Field(min_length=1)
    new_scope: str | None = None

    @property
    def told(self) -> Told:
        """The new words."""
        return Told(self.text, self.narrative)

    def narrowed(self, conn: Connection, household: str, scope: str) -> Self:
        """Return it with the new words for fewer people."""
        return self.model_copy(update={"new_scope": kept_to(self.scope, scope)})

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return the fact."""
        return (_touched(self.scope, self.new_scope),)

    def apply(self, conn: Connection, execution: Execution) -> str | None:
        """Write it."""
        return corrections.edit_fact(
            conn,
            _viewer(execution),
            self.fact_id,
            self.text,
            by=execution.decided_by,
            at=execution.at,
            scope=self.new_scope,
        ).change_set


class MarkWrong(_FactEffect):
    """Take a fact out of use: it never was true."""

    effect: Literal["memory.mark_wrong"] = "memory.mark_wrong"

    def apply(self, conn: Connection, execution: Execution) -> str | None:
        """Write it."""
        return corrections.mark_wrong(
            conn, _viewer(execution), self.fact_id, by=execution.decided_by, at=execution.at
        ).change_set


class EndFact(_FactEffect):
    """Take a fact out of use: it was so, and is so no more."""

    effect: Literal["memory.end_fact"] = "memory.end_fact"

    def apply(self, conn: Connection, execution: Execution) -> str | None:
        """Write it."""
        return corrections.retract_fact(
            conn, _viewer(execution), self.fact_id, by=execution.decided_by, at=execution.at
        ).change_set


class SettleDoubt(_FactEffect):
    """Say whether a fact holds of which somebody said otherwise.

    Attributes:
        otherwise: What was said otherwise, for people.
        is_changed: Whether that takes its place.
    """

    effect: Literal["memory.settle_doubt"] = "memory.settle_doubt"
    otherwise: str
    is_changed: bool

    def apply(self, conn: Connection, execution: Execution) -> str | None:
        """Write it."""
        return settle_doubt(
            conn,
            _viewer(execution),
            self.fact_id,
            is_changed=self.is_changed,
            by=execution.decided_by,
            at=execution.at,
        ).change_set


class SettleQuestion(_FactEffect):
    """Say which of two facts hold that may not both be true.

    Attributes:
        other_id: The newer one; `fact_id` is the older one.
        otherwise: Its words, for people.
        question_id: What was asked.
        answer: KEEP_BOTH, NEWER or OLDER.
    """

    effect: Literal["memory.settle_question"] = "memory.settle_question"
    other_id: str = Field(min_length=1)
    otherwise: str
    question_id: str = Field(min_length=1)
    answer: Literal[Answer.KEEP_BOTH, Answer.NEWER, Answer.OLDER]

    def apply(self, conn: Connection, execution: Execution) -> str | None:
        """Write it."""
        return settle_undecided(
            conn,
            _viewer(execution),
            self.question_id,
            self.answer,
            by=execution.decided_by,
            at=execution.at,
        ).change_set


class SetScope(_FactEffect):
    """Change who may see a fact.

    Attributes:
        new_scope: Of those who may see it afterwards.
        is_private: As actions stored it before `new_scope`: whether only who decides may see it.
        episodes: Ids of the turns it was said in: earlier actions hold their words, too.
    """

    effect: Literal["memory.set_scope"] = "memory.set_scope"
    new_scope: str | None = None
    is_private: bool = False
    episodes: tuple[str, ...] = ()

    @property
    def words_hidden(self) -> Collection[str]:
        """Ids of the fact and of what tells it, unless it becomes everybody's."""
        is_shared = self.new_scope == HOUSEHOLD_SCOPE or not (self.new_scope or self.is_private)
        return () if is_shared else (self.fact_id, *self.episodes)

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return the fact: what becomes everybody's is nobody's own affair."""
        return (_touched(self.scope, self.new_scope),)

    def apply(self, conn: Connection, execution: Execution) -> str | None:
        """Write it."""
        viewer, by, at = _viewer(execution), execution.decided_by, execution.at
        usual = person_scope(by) if self.is_private else HOUSEHOLD_SCOPE
        done = corrections.set_scope(
            conn, viewer, self.fact_id, self.new_scope or usual, by=by, at=at
        )
        return done.change_set


class SetToldScope(MemoryEffect):
    """Change who may see what somebody said, with all facts out of it.

    Attributes:
        episode_id: Of what was said.
        text: Its words, for people.
        new_scope: Of those who may see it afterwards.
    """

    effect: Literal["memory.set_told_scope"] = "memory.set_told_scope"
    episode_id: str = Field(min_length=1)
    text: str
    new_scope: str

    @property
    def words_hidden(self) -> Collection[str]:
        """Id of what was said, unless it becomes everybody's."""
        return () if self.new_scope == HOUSEHOLD_SCOPE else (self.episode_id,)

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return what was said: what becomes everybody's is nobody's own affair."""
        return (_touched(self.scope, self.new_scope),)

    def apply(self, conn: Connection, execution: Execution) -> str | None:
        """Write it."""
        viewer, by, at = _viewer(execution), execution.decided_by, execution.at
        return corrections.set_told_scope(
            conn, viewer, self.episode_id, self.new_scope, by=by, at=at
        ).change_set


class ForgetFact(_FactEffect):
    """Erase a fact, the words it rests on, and what proposed it; for good.

    Attributes:
        episodes: Ids of the episodes out of which words are cut.
    """

    effect: Literal["memory.forget_fact"] = "memory.forget_fact"
    episodes: tuple[str, ...] = ()

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        erasure.forget(
            conn, _viewer(execution), self.fact_id, by=execution.decided_by, at=execution.at
        )


class TakeBack(MemoryEffect):
    """Take back a change of memory as a whole.

    Attributes:
        change_set: Its id.
    """

    effect: Literal["memory.take_back"] = "memory.take_back"
    change_set: str = Field(min_length=1)

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it; what a night did, the next nights do not do again."""
        household, by, at = execution.household, execution.decided_by, execution.at
        check_may_take_back(conn, _viewer(execution), self.change_set)
        nights = latest_runs(conn, household, limit=_MOST_NIGHTS)
        night = next((each for each in nights if each.change_set == self.change_set), None)
        if night is None:
            undo_change(conn, household, self.change_set, by=by, at=at)
        else:
            revert(conn, household, night.id, by=by, at=at)


def undo(conn: Connection, execution: Execution) -> None:
    """Restore exactly what was before the change that `execution` names.

    Raises:
        ConflictError: It was changed again since.
        NotFoundError: There was no such change.
        DeniedError: It also changed what only others recall.
    """
    check_may_take_back(conn, _viewer(execution), execution.change_id)
    undo_change(
        conn, execution.household, execution.change_id, by=execution.decided_by, at=execution.at
    )


def remembered_lines(effects: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return what frozen effects would have remembered, a line each."""
    return tuple(
        sentence["narrative"]
        for effect in effects
        if effect.get("effect") == RememberFact.model_fields["effect"].default
        for sentence in effect["sentences"]
    )


def told_by(effects: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the member id of who said what frozen effects would remember, if they are one."""
    return next((each["words"]["member"] for each in effects if "words" in each), None)


def _touched(scope: str, after: str | None = None) -> Touched:
    """Return what is remembered, or to be: whose it is who alone may see it, before and after."""
    owner = person_of(scope) if after in {None, scope} else None
    return Touched(id=None, before=scope, after=after or scope, whose=owner)


def _viewer(execution: Execution) -> Viewer:
    return Viewer.of(execution.household, execution.decided_by)
