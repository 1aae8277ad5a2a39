"""The values that pass between the stages of a turn: frozen, no I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Protocol

from kinkeeper.actions.consent import Origin
from kinkeeper.actions.requests.model import ActionResult, Asked

LONGEST_READ: Final = 2_000
"""Characters of a message to the assistant that are read for what it asks; the rest is kept but not acted on."""


TAKE_BACK: Final = ("thread", "take_back")
"""The planned request to drop or undo something of its thread: carried out by the turn, whose "action_id" names it."""


class TurnType(StrEnum):
    """What a message is, by and large."""

    CHAT = "chat"
    ACTION = "action"
    FOLLOWUP = "followup"


class Branch(StrEnum):
    """Which way a turn goes after triage."""

    SOCIAL = "social"
    RESPOND = "respond"
    CLARIFY = "clarify"
    ACT = "act"


class Mode(StrEnum):
    """How a turn is answered."""

    RESPOND = "RESPOND"
    CLARIFY = "CLARIFY"
    ACT = "ACT"
    ACKNOWLEDGE = "ACKNOWLEDGE"
    IGNORE = "IGNORE"
    CANCEL = "CANCEL"


class Social(StrEnum):
    """What a wholly social message comes to."""

    ACKNOWLEDGE = "ACKNOWLEDGE"
    CANCEL = "CANCEL"
    IGNORE = "IGNORE"


class Confirmation(StrEnum):
    """What a message says to an open question of the assistant."""

    YES = "yes"
    NO = "no"
    EDIT = "edit"


class Source(StrEnum):
    """What decided."""

    RULES = "rules"
    MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An earlier turn of the thread.

    Attributes:
        text: What the person said.
        mode: How it was answered.
        results: What was done then; "it", "that" and "him" may mean one of these.
        partial: What was asked for then as far as it was known, where a question was left open (see `Plan`).
        clarification: The question that was asked back, if any.
        used: What the answer rested on, each {"kind", "id", "text"}.
    """

    text: str
    answer: str
    at: datetime
    mode: Mode
    results: tuple[ActionResult, ...] = ()
    partial: Mapping[str, Any] | None = None
    clarification: str | None = None
    used: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """Where a message goes; routing only, nothing is read out of it here.

    Attributes:
        branch: Which way it goes.
        mode: How it would be answered.
        domains: Parts of the assistant that are meant, likeliest first; none for talk.
        tools: Up to three requests that may be called for, as "domain.name".
        skills: Up to three of the built-in skills.
        is_followup: Whether it continues what was said before.
        confidence_internal: That what is known suffices, in [0, 1].
        confidence_tool_need: That something has to be looked up or done, in [0, 1].
        freshness_risk: That what is known may be stale, in [0, 1].
        social: Set where the whole message is social.
        confirmation: What it says to an open question, where there is one.
    """

    type: TurnType
    branch: Branch
    mode: Mode
    domains: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    is_followup: bool = False
    confidence_internal: float = 0.0
    confidence_tool_need: float = 0.0
    freshness_risk: float = 0.0
    social: Social | None = None
    confirmation: Confirmation | None = None
    source: Source = Source.RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAction:
    """One request the planner wants carried out.

    Attributes:
        action: Its name.
        params: For its typed parameters.
        reasoning: One line for the trace.
        is_offer: Whether nobody asked for it: it might be wanted, so the person is asked.
        is_unsaid: Whether only a model wants it so: until it is confirmed, nobody else is shown it.
        is_further: Whether it is wanted beside what waits, and takes the place of nothing.
        confidence: How sure the trained reader is that it is wanted, in [0, 1]; 1 of what it did not read.
    """

    domain: str
    action: str
    params: Mapping[str, Any]
    reasoning: str = ""
    is_offer: bool = False
    is_unsaid: bool = False
    is_further: bool = False
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done.

    Attributes:
        actions: In order; none where nothing is (or nothing more).
        clarification: A question to the person, where something is missing or several could be meant; asked after
            the actions.
        partial: What the question is about, as JSON: {"domain", "action", "params", "missing"}, the last the name of
            the parameter that is asked for. Given back with the history, the next message completes it.
        is_said: Whether a model made it that was shown no words but the person's own: what it wants, they said.
        is_whole: Whether it is all that is asked for, so that nobody need be asked what comes after it.
        unread: Clauses that ask for something as well, and that nothing was made of.
        held: How sure the trained reader was of what it was not sure enough of to offer; None where there is nothing.
    """

    actions: tuple[PlannedAction, ...] = ()
    clarification: str | None = None
    partial: Mapping[str, Any] | None = None
    source: Source = Source.RULES
    is_said: bool = False
    is_whole: bool = False
    unread: tuple[str, ...] = ()
    held: float | None = None

    def origin_of(self, action: PlannedAction, said: Origin = Origin.SAID) -> Origin:
        """Return how one of its requests came to be wanted.

        A model that has read what others wrote may want what they want; then a person is asked first.

        Args:
            said: How what the person says comes here.
        """
        if action.is_offer:
            return Origin.INFERRED
        return said if self.source is Source.RULES or self.is_said else Origin.MODEL


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningContext:
    """What a planner may look at.

    Attributes:
        text: The message as typed, cut after `LONGEST_READ` characters.
        history: Earlier turns of the thread, oldest first.
        open_edit: Results that await a yes and that the message wants changed ("yes, but at five").
        results: Of earlier steps of this turn.
        fetched: What was looked up ahead, as JSON by name ("events", "tasks", "memories", ...).
        offset: How much surer than by default the trained reader must be to offer something.
    """

    asked: Asked
    text: str
    triage: Triage
    history: Sequence[Exchange] = ()
    open_edit: Sequence[ActionResult] = ()
    results: Sequence[ActionResult] = ()
    fetched: Mapping[str, Any] = field(default_factory=dict)
    offset: float = 0.0


class Planner(Protocol):
    """Decides what is to be done next."""

    async def plan(self, context: PlanningContext) -> Plan:
        """Return the next requests; an empty plan ends the turn's acting.

        Raises:
            UnavailableError: It cannot say; another planner may.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The open thing that a message names best, though nothing was done about it.

    Attributes:
        kind: "card" for what waits for a yes, "event", "task", or "line" of a list.
        title: What it is called.
        start: Of an event, ISO 8601.
        where: Of a line, the title of its list.
        id: Of an event or a task.
        original_start: Of an event that repeats, when this time of it was to be, ISO 8601.
        words: That name it and others of its kind as well; empty where they name it alone.
    """

    kind: str
    title: str
    start: str = ""
    where: str = ""
    id: str = ""
    original_start: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContext:
    """What an answer may be made of.

    Attributes:
        text: The message, verbatim.
        triage: Where the message went.
        history: Earlier turns, oldest first.
        results: What was done, in order; the only ground for saying that something was done.
        memories: What memory brought unasked, best first, as lines.
        clarification: A question to ask, where the planner has one.
        is_stopped: Whether the person said stop, in this message or while it was worked on.
        called: What the person wants to be called, where they said so.
        gists: What the last exchanges on this topic came to, newest first, as lines.
        known: What was said about this topic within a day, by what it is about.
        said_in: In which turn that was said, by what it is about.
        world: What the present moment is like, as lines.
        told: What memory reads of the message: all of it, or what it tells beside its requests.
        set_right: The statement before it that it sets right; empty where it means something by itself.
        unread: Requests of the message that nobody understood.
        nearest: What the message may have meant, where nothing was done about it.
    """

    asked: Asked
    text: str
    mode: Mode
    triage: Triage
    history: Sequence[Exchange] = ()
    results: Sequence[ActionResult] = ()
    memories: Sequence[str] = ()
    clarification: str | None = None
    is_stopped: bool = False
    called: str = ""
    gists: Sequence[str] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    said_in: Mapping[str, str] = field(default_factory=dict)
    world: Sequence[str] = ()
    told: str = ""
    set_right: str = ""
    unread: Sequence[str] = ()
    nearest: Nearest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is said.

    Attributes:
        text: For the person; empty where nothing is to be said.
        confidence: In [0, 1].
        source: Templates or a model.
        used: What it rests on, for "what did you use to answer this?": each {"kind", "id", "text"}.
        relevance: Where a model wrote it, how much each part of what was at hand mattered, in [0, 1].
    """

    text: str
    mode: Mode
    confidence: float
    source: Source
    used: tuple[Mapping[str, Any], ...] = ()
    relevance: Mapping[str, float] = field(default_factory=dict)


class EventName(StrEnum):
    """What a stream tells about a turn."""

    STATUS = "status"
    TOKEN = "token"  # noqa: S105 - a piece of text, no secret
    CARD = "card"
    CONFIRM = "confirm"
    ERROR = "error"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEvent:
    """One event of a turn's stream.

    Attributes:
        number: Position within the thread, from 1; a client that was cut off resumes after it.
        turn_id: The turn it belongs to.
        data: As JSON. status {stage, text}; token {text}; card {kind, title, items}; confirm {action: public
            record of the pending action, message}; error {stage, message, retry}; done {turn_id, trace_id,
            mode, text, used, replies: what can be said next with one tap}.
    """

    number: int
    turn_id: str
    name: EventName
    data: Mapping[str, Any]
