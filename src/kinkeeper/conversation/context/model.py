"""What a turn begins with and what is kept of it: frozen values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.model import Exchange, Mode
from kinkeeper.conversation.routing.signals import Signals

Vector = NDArray[np.float32]
"""Of length 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gloss:
    """What a message is about, as far as topics are compared.

    Attributes:
        words: Stems with how often they are said.
        surfaces: The words themselves, in order, each once.
        vector: What it means; None where nothing tells.
        model: Whose vector it is.
        refers: Whether it speaks of "it" or "that": of what was said before.
    """

    words: Mapping[str, int] = field(default_factory=dict)
    surfaces: Sequence[str] = ()
    vector: Vector | None = None
    model: str | None = None
    refers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What a thread talks about.

    Attributes:
        id: Of the topic; "" where there is none.
        words: Stems with how often they were said.
        vector: Middle of the vectors of what was said.
        model: Whose vectors they are.
        exchanges: How many there were.
        streak: How many of them in a row, none two hours after the one before.
        recalls: When memory lately brought something it is sure of.
        is_focus: Whether its person wants to stay with it.
        last_at: When it was last spoken of, aware.
    """

    id: str
    label: str
    words: Mapping[str, int]
    vector: Vector | None
    model: str | None
    exchanges: int
    streak: int
    recalls: Sequence[datetime]
    is_focus: bool
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRef:
    """The topic of a message.

    Attributes:
        id: Of the topic; "" where the message is about nothing.
        is_new: Whether it begins with this message.
        confidence: How sure it is, in [0, 1].
        streak: Exchanges on it in a row, with this one.
        known: The topic as stored, unless it is new.
    """

    id: str = ""
    label: str = ""
    is_new: bool = False
    confidence: float = 0.0
    streak: int = 0
    known: Topic | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    """What a turn begins with.

    Attributes:
        topic: What the message is about.
        gloss: What that was found by.
        signals: Counted for the mode router; the margins of earlier decisions are the caller's to fill in.
        gists: What the last exchanges on the topic came to, newest first.
        known: What was said on the topic within a day, by what it is about.
        world: What the moment is like, as lines.
        called: What the person wants to be called; "" where they never said.
        history: The thread's last turns, oldest first, without what holds no more.
    """

    topic: TopicRef = field(default_factory=TopicRef)
    gloss: Gloss = field(default_factory=Gloss)
    signals: Signals = field(default_factory=Signals)
    gists: Sequence[str] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    said_in: Mapping[str, str] = field(default_factory=dict)
    world: Sequence[str] = ()
    called: str = ""
    history: Sequence[Exchange] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedTurn:
    """A turn that is over.

    Attributes:
        member: Id of its person.
        text: What the person said.
        at: When it was said, aware.
        recalled: How many memories it had that memory is sure of.
        is_said: Whether the person said it to us; what a program passes on is kept for the talk alone.
    """

    household: str
    member: str
    thread_id: str
    turn_id: str
    text: str
    answer: str
    mode: Mode
    results: Sequence[ActionResult]
    at: datetime
    recalled: int = 0
    is_said: bool = True
