"""Effects on memory: what a person wants remembered, or said yes to. Journaled there, and can be taken back."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect, Execution
from kinkeeper.core.errors import InputError
from kinkeeper.memory.model import HOUSEHOLD_SCOPE, Category, Episode, Origin, StatementType


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
        scope: Who may recall it.
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
    scope: str = HOUSEHOLD_SCOPE
    origin: Literal[Origin.SAID, Origin.OBSERVED]

    def episode(self, household: str) -> Episode:
        """Return the episode that these words are."""
        return Episode(
            household=household, id=self.id, scope=self.scope, session=self.session,
            speaker=self.speaker, member=self.member, text=self.text, said_at=self.said_at,
            origin=self.origin, source="action", channel=self.channel,
        )  # fmt: skip


class Sentence(BaseModel):
    """What was read out of the words.

    Attributes:
        start: Index of its first character.
        end: Index after its last.
        category: What it is about.
        type: What kind of sentence it is.
        title: One line.
        narrative: As it may be told to others.
        confidence: In [0, 1].
        valid_from: Since when it holds, where the words say so.
        valid_to: Until when, where the words say so.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    category: Category
    type: StatementType
    title: str
    narrative: str = Field(min_length=1)
    confidence: float = Field(ge=0, le=1)
    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None


class RememberFact(Effect):
    """Remember what somebody said.

    Attributes:
        words: Where it was said.
        sentences: What is to be remembered of it, at least one.
    """

    effect: Literal["memory.remember_fact"] = "memory.remember_fact"
    words: Words
    sentences: tuple[Sentence, ...] = Field(min_length=1)

    def check(self, household: str) -> None:
        """Refuse sentences that are not within the words."""
        length = len(self.words.text)
        if any(not each.start < each.end <= length for each in self.sentences):
            raise InputError("a sentence to be remembered lies outside the words it was read from")

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        raise InputError("memory cannot be written yet")


def remembered_lines(effects: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return what frozen effects would have remembered, a line each."""
    return tuple(
        sentence["narrative"]
        for effect in effects
        if effect.get("effect") == RememberFact.model_fields["effect"].default
        for sentence in effect["sentences"]
    )
