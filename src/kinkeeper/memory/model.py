"""Values of memory: episodes, statements, facts, verdicts, and whose word settles what. Frozen, no I/O."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any, Final

from kinkeeper.household.viewers import HOUSEHOLD_SCOPE

# Whose word settles what: one's own about oneself, a parent's about a child. Pure.


class Standing(IntEnum):
    """How far somebody's word counts about whom it is about, against another's."""

    OF_OTHERS = 0
    CHILDS_OWN = 1
    FULL = 2


def standing_of(
    speaker: str | None,
    subject: str,
    *,
    members: Collection[str],
    guardians: Mapping[str, Collection[str]],
) -> Standing:
    """Return how far a statement counts about whom it is about.

    About things, and about people who are no members, everybody's word counts alike.

    Args:
        speaker: Member id, else the name at the source; None where unknown.
        subject: Whom it is about: member id, else anything.
        members: Ids of the members that may be meant.
        guardians: By member id of a child, whose word about it counts.
    """
    voice = (speaker or "").casefold()
    is_own = voice == subject.casefold()
    if subject in guardians:
        if voice in {each.casefold() for each in guardians[subject]}:
            return Standing.FULL
        return Standing.CHILDS_OWN if is_own else Standing.OF_OTHERS
    return Standing.OF_OTHERS if subject in members and not is_own else Standing.FULL


class Origin(StrEnum):
    """Where a row comes from; only what was said, observed or imported may become a fact."""

    SAID = "said"
    OBSERVED = "observed"
    IMPORTED = "imported"
    INFERRED = "inferred"
    DRIFT = "drift"
    SYSTEM = "system"

    @property
    def may_become_fact(self) -> bool:
        """Whether facts may rest on it."""
        return self in {Origin.SAID, Origin.OBSERVED, Origin.IMPORTED}


class Category(StrEnum):
    """What a fact is about; decides how it is updated and recalled."""

    IDENTITY = "identity"
    PREFERENCE = "preference"
    RELATIONSHIP = "relationship"
    EMOTIONAL = "emotional"
    PROJECT_ACTIVE = "project-active"
    GOAL = "goal"
    CONSTRAINT = "constraint"
    TECHNICAL = "technical"


class StatementType(StrEnum):
    """What kind of sentence a statement is."""

    STATEMENT = "statement"
    PREFERENCE = "preference"
    EVENT = "event"
    PLAN = "plan"
    FEELING = "feeling"
    RULE = "rule"
    NOTE = "note"


class FactStatus(StrEnum):
    """Whether a fact holds."""

    PENDING_EMBED = "pending_embed"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    MERGED_INTO = "merged_into"
    DEPRECATED = "deprecated"
    RETRACTED = "retracted"

    @property
    def is_active(self) -> bool:
        """Whether it may be recalled."""
        return self in {FactStatus.PENDING_EMBED, FactStatus.ACTIVE}


ACTIVE_STATUSES: Final = tuple(status.value for status in FactStatus if status.is_active)
"""As they are stored."""


class EpisodeKind(StrEnum):
    """What an episode is."""

    TURN = "turn"
    SUMMARY = "summary"


class EmbedState(StrEnum):
    """Whether the dense leg knows an episode; the lexical leg knows it at once."""

    PENDING = "pending_embed"
    ACTIVE = "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One thing that happened, in its own words.

    Attributes:
        id: Given by whoever brought it, else made from its session, time and text.
        scope: Who may recall it: HOUSEHOLD_SCOPE, "person:<member id>" or "project:<name>".
        session: Orders it among its neighbours; None where it stands alone.
        kind: A turn of a talk, or a summary of one.
        speaker: As named at the source; need not be a member.
        member: Member id of the speaker, if they are one.
        is_assistant: Whether the assistant said it; never evidence.
        text: Verbatim.
        title: One line, for summaries.
        topic: What it was about, if known.
        participants: Names of those involved.
        salience: In [0, 1].
        source: Program or client that brought it.
        channel: Where it was said.
        embed_state: Whether the dense leg knows it.
        seq: Change number of its household when it last changed; 0 before it is stored.
        asked_scope: Scope of the facts that are proposed from it; a person has to confirm each. None where its
            statements become facts without a question.
        asked_origin: How it came to be known, as the proposals tell it; None where `asked_scope` is.
    """

    household: str
    id: str
    scope: str = HOUSEHOLD_SCOPE
    session: str | None = None
    kind: EpisodeKind = EpisodeKind.TURN
    speaker: str | None = None
    member: str | None = None
    is_assistant: bool = False
    text: str
    title: str | None = None
    topic: str | None = None
    participants: Sequence[str] = ()
    said_at: datetime
    salience: float = 0.5
    origin: Origin
    source: str = "unknown"
    channel: str = "unknown"
    embed_state: EmbedState = EmbedState.PENDING
    seq: int = 0
    asked_scope: str | None = None
    asked_origin: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What a sentence sets right.

    Attributes:
        corrects: Words that hold no more, where it is told which.
        is_retraction: Whether it only takes something back and says nothing in its place.
    """

    corrects: str | None = None
    is_retraction: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One durable sentence found in a text.

    Attributes:
        start: Index of its first character in the text.
        end: Index after its last.
        title: One line.
        narrative: The sentence as it may be told to others.
        confidence: How sure it is that this is what was meant, in [0, 1].
        valid_from: Since when it holds, where the text says so; aware.
        valid_to: Until when, where the text says so; aware.
        correction: What it sets right, if it does.
    """

    text: str
    start: int
    end: int
    category: Category
    type: StatementType = StatementType.STATEMENT
    title: str
    narrative: str
    confidence: float = 1.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    correction: Correction | None = None

    @property
    def stands_alone(self) -> bool:
        """Whether it tells something by itself, and not only what is wrong with a sentence before it."""
        return self.correction is None or self.correction == Correction()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One durable sentence read out of an episode: evidence. Only its fact may change.

    Attributes:
        id: Made from its episode and place, so that reading the episode again makes no second one.
        episode_id: Where it was said.
        start: Index of its first character in the episode's text.
        end: Index after its last.
        speaker: Who said it: member id, else the name at the source; None where unknown.
        subject: Whom or what it is about, normalised.
        slot: Which attribute of the subject, normalised; None where it names none.
        title: One line.
        narrative: The sentence as it may be told to others.
        confidence: How far it is believed by itself, in [0, 1].
        is_correction: Whether it sets something right explicitly.
        is_retraction: Whether it only takes something back and says nothing in its place.
        corrects: Words that hold no more, where it is told which.
        valid_from: Since when it holds, where the text says so.
        valid_to: Until when, where the text says so.
        standing: How far its speaker's word counts about its subject, against another's.
        strand: Shared by all statements that may bear on each other.
        fact_id: The fact it supports; None where it only takes something back.
    """

    household: str
    id: str
    episode_id: str
    scope: str
    start: int
    end: int
    text: str
    speaker: str | None
    subject: str
    slot: str | None = None
    title: str
    narrative: str
    category: Category
    type: StatementType = StatementType.STATEMENT
    confidence: float
    is_correction: bool = False
    is_retraction: bool = False
    corrects: str | None = None
    said_at: datetime
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    origin: Origin
    standing: Standing = Standing.FULL
    strand: str
    fact_id: str | None = None

    @property
    def held_from(self) -> datetime:
        """Since when it holds: as it says, else since it was said."""
        return self.valid_from or self.said_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What statements about one thing amount to.

    Attributes:
        id: Stable; never reused.
        scope: Who may recall it.
        category: Decides how it is updated and recalled.
        subject: Whom or what it is about, normalised.
        slot: Attribute of the subject, normalised, if any.
        title: One line.
        subtitle: One more, if any.
        narrative: The sentence itself, as its speaker says it.
        speaker: Who speaks in it: member id, else the name at the source; None where unknown.
        origin: Weakest origin among its evidence.
        source: Where its first statement comes from: a message, episode or session id.
        confidence: In [0, 1].
        evidence_count: Number of distinct episodes it rests on.
        derived_from: Their ids.
        status: Whether it holds.
        superseded_by: The fact that took its place.
        is_contradicted: Whether something that cannot hold beside it is remembered, undecided.
        doubted_by: The fact in which somebody says otherwise whose word does not settle it; None where nobody
            does, or where it was decided.
        is_edited: Whether a person wrote its words; upkeep leaves those alone.
        is_transient: Whether it fades when nobody repeats it.
        held_from: Since when it is taken to hold: as the text says, else since it was first said.
        valid_from: Since when it holds, where the text says so.
        valid_to: Until when, where known.
        said_at: When its words were said last.
        created_at: When it was stored.
        last_evidence_at: When it was supported last.
        decayed_until: Until when its silence was charged.
        archived_at: When it left retrieval.
        seq: Change number of its household when it last changed; 0 before it is stored.
    """

    household: str
    id: str
    scope: str = HOUSEHOLD_SCOPE
    category: Category
    type: StatementType = StatementType.STATEMENT
    subject: str
    slot: str | None = None
    title: str
    subtitle: str | None = None
    narrative: str
    speaker: str | None = None
    details: Sequence[str] = ()
    origin: Origin
    source: str = "unknown"
    confidence: float
    evidence_count: int = 1
    derived_from: Sequence[str] = ()
    status: FactStatus = FactStatus.PENDING_EMBED
    superseded_by: str | None = None
    merged_into_id: str | None = None
    is_contradicted: bool = False
    doubted_by: str | None = None
    is_edited: bool = False
    is_transient: bool = False
    held_from: datetime
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    said_at: datetime
    created_at: datetime
    last_evidence_at: datetime
    decayed_until: datetime
    archived_at: datetime | None = None
    seq: int = 0

    def is_current(self, now: datetime) -> bool:
        """Whether it may be recalled as what holds now: active, begun, and not at its end."""
        return self.status.is_active and self.held_at(now)

    def held_at(self, instant: datetime) -> bool:
        """Whether it held at an instant, as far as is known now: begun, not at its end, not out of use."""
        if self.status is FactStatus.MERGED_INTO:
            return False
        ends = [self.valid_to]
        if self.status is FactStatus.DEPRECATED:
            ends.append(self.archived_at)
        is_over = any(end is not None and end <= instant for end in ends)
        return self.held_from <= instant and not is_over


Row = Mapping[Any, Any]
"""A row of a table, by column name."""


# What can be found about statements: by their words, or by somebody who judges them. Frozen, no
# I/O.


class Ruling(StrEnum):
    """What was found about two statements, or about one."""

    SAME = "same"
    UPDATE = "update"
    CONTRADICTION = "contradiction"
    OTHER = "other"
    ENDED = "ended"
    NEVER = "never"
    SUPPORT = "support"

    @property
    def is_of_two(self) -> bool:
        """Whether it is about two statements."""
        return self not in {Ruling.ENDED, Ruling.NEVER, Ruling.SUPPORT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a person, a model or the nightly pass found; it outranks what is read from words.

    Attributes:
        older: Statement it is about; of an update, the one that holds no more.
        newer: The other statement; of SUPPORT the episode that supports; None where it is about one.
        ruling: What was found. ENDED: holds no more since `made_at`; NEVER: never held.
        made_by: Member id, "model" or "upkeep".
    """

    household: str
    id: str
    older: str
    newer: str | None = None
    ruling: Ruling
    made_by: str
    made_at: datetime
